"""Tables that people play at: one game each, its agents, and what every person's seat has been shown.

A person holds a seat by its **token**, an unguessable word that is told to nobody else. Everything a seat is sent
comes from the frames of that seat (`frames.py`), so it may know all of it. Sessions live in memory: a table that
nobody uses for a while is closed, and so are all of them when the server stops.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..actions import ACTIONS
from ..agents import Agent, act_game, agent_seeds, make_agent
from ..errors import BusyServerError, InvalidConfigError, NotNowError, ThreeUpError, UnknownSeatError
from ..game import Game
from ..record import GameRecord
from ..render.table import look
from ..rules import Rules
from .frames import Json, describe, first_frame, next_frame, write_outcome, write_rules

PERSON: Final = "human"
"""What stands for a person where agents are named."""
KEPT_FRAMES: Final = 2000
"""Frames that a seat can be shown again, as after reloading a page; older ones are forgotten."""
MOST_DECISIONS: Final = 10_000
"""Decisions that a game on the web may take: `rules.rounds * rules.max_decisions` at most."""
OPENINGS_A_MINUTE: Final = 60


class GameSession:
    """One game between people and agents; safe to call from several threads.

    Args:
        game: The game, from here on the session's own.
        agents: Who plays each seat; None for a person.
        names: What the players are called, by seat.

    Attributes:
        people: The seats that people hold, rising.
        names: What the players are called, by seat.
    """

    def __init__(self, game: Game, agents: Sequence[Agent | None], names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.people = tuple(seat for seat, agent in enumerate(agents) if agent is None)
        self._game = game
        self._agents = tuple(agents)
        self._lock = threading.Lock()
        self._made = dict.fromkeys(self.people, 0)
        self._frames = {seat: deque([first_frame(game, seat)], maxlen=KEPT_FRAMES) for seat in self.people}
        self._shown = dict.fromkeys(self.people, 1)

    def view(self, seat: int, after: int = 0) -> Json:
        """What a person's seat may see.

        Args:
            seat: The seat.
            after: How many frames it has been shown already.

        Returns:
            `frames` since then, `next` for the next call, `made`: decisions this seat has made, which `act` asks
            for, and what does not change: `seat`, `names`, `people`, `rules`. `outcome` once the game is over.
        """
        with self._lock:
            self._let_agents_play()
            frames, shown = self._frames[seat], self._shown[seat]
            new = min(max(shown - after, 0), len(frames))
            return {
                "seat": seat,
                "names": self.names,
                "people": self.people,
                "rules": write_rules(self._game),
                "made": self._made[seat],
                "next": shown,
                "frames": list(frames)[len(frames) - new :],
                "outcome": write_outcome(self._game.outcome),
            }

    def act(self, seat: int, made: int, action: int | str) -> None:
        """Make a decision for a person's seat.

        Args:
            seat: The seat.
            made: Decisions it has made before this one; so a request that comes twice is played once.
            action: Index or written form.

        Raises:
            NotNowError: It is another's turn, the game is over, or `made` is not the number of decisions made.
            IllegalActionError: The action is not legal; nothing has changed.
        """
        with self._lock:
            self._let_agents_play()
            self._check_turn(seat)
            if made != self._made[seat]:
                raise NotNowError(
                    f"decision {made} of seat {seat} has been made or is yet to come; now decision "
                    f"{self._made[seat]} is asked for"
                )
            self._play(seat, action)
            self._made[seat] += 1

    def _check_turn(self, seat: int) -> None:
        if self._game.player is None:
            raise NotNowError("the game is over: nobody has a decision to make")
        if self._game.player != seat:
            raise NotNowError(f"seat {self._game.player} is to decide, not seat {seat}")

    def advise(self, seat: int, coach: Callable[[Game, int], Json]) -> Json:
        """What a coach says of the decision that a person's seat has to make.

        Raises:
            NotNowError: It is another's turn, or the game is over.
        """
        with self._lock:
            self._let_agents_play()
            self._check_turn(seat)
            game, made = self._game.copy(), self._made[seat]
        # Outside the lock: a search takes its time.
        return coach(game, seat) | {"made": made}

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._game.rules

    def record(self) -> GameRecord:
        """The record of the game, which tells every card.

        Raises:
            NotNowError: The game is not over.
        """
        with self._lock:
            if self._game.player is not None:
                raise NotNowError("the game is not over: its record holds hidden cards")
            return self._game.record(self.names)

    def _let_agents_play(self) -> None:
        game = self._game
        while game.player is not None:
            agent = self._agents[game.player]
            if agent is None:
                return
            self._play(game.player, act_game(agent, game))

    def _play(self, seat: int, action: int | str) -> None:
        before = {person: look(self._game, person) for person in self.people}
        self._game.play(action)
        written = action if isinstance(action, str) else ACTIONS[action]
        decision = describe(self._game, seat, written)
        for person in self.people:
            frame = next_frame(self._game, decision, before[person], person)
            if frame is not None:
                self._frames[person].append(frame)
                self._shown[person] += 1


@dataclass
class _Place:
    """A person's place at a table."""

    session: GameSession
    seat: int


@dataclass
class _Open:
    """A table that is open, with the tokens of its people."""

    tokens: dict[int, str]
    used: float


@dataclass
class Sessions:
    """All tables of a server; safe to call from several threads.

    Attributes:
        agents: Agents that may be named: name to what `make_agent` takes. A request cannot name a file.
        most: Most tables at once.
        idle_seconds: A table is closed after this long without a request.
        clock: Seconds; only differences count.
    """

    agents: dict[str, str]
    most: int = 100
    idle_seconds: float = 1800.0
    clock: Callable[[], float] = time.monotonic
    _places: dict[str, _Place] = field(default_factory=dict)
    _open: dict[GameSession, _Open] = field(default_factory=dict)
    _openings: deque[float] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, rules: Rules, players: Sequence[str], seed: int | None = None) -> dict[int, str]:
        """Open a table.

        Args:
            rules: The rules.
            players: For each seat the name of an agent, or `PERSON`.
            seed: Seeds the deals and the agents as `threeup record --seed` does; None draws from the system.

        Returns:
            The token of each person's seat.

        Raises:
            InvalidConfigError: Not one player a seat, nobody is a person, or a game would take too long.
            UnknownAgentError, InvalidPolicyError: An agent is unknown or cannot play under these rules.
            BusyServerError: There are too many tables, or too many were opened in the last minute.
        """
        if len(players) != rules.num_players:
            raise InvalidConfigError(f"players: {len(players)} named; allowed: {rules.num_players}, one a seat")
        if PERSON not in players:
            raise InvalidConfigError(f"players: {list(players)!r} has no {PERSON!r}; allowed: at least one person")
        if rules.rounds * rules.max_decisions > MOST_DECISIONS:
            raise InvalidConfigError(
                f"max_decisions: {rules.max_decisions} in each of {rules.rounds} deals is too many here; allowed: "
                f"rounds * max_decisions up to {MOST_DECISIONS}"
            )
        self._check_room()
        # As `threeup record` does for its first game.
        sequence = np.random.SeedSequence(seed).spawn(1)[0]
        game = Game(rules, sequence)
        seeds = agent_seeds(sequence, len(players))
        agents = [self._make(name, rules, seed) for name, seed in zip(players, seeds, strict=True)]
        return self.add(GameSession(game, agents, players))

    def _make(self, name: str, rules: Rules, seed: int) -> Agent | None:
        if name == PERSON:
            return None
        if name not in self.agents:
            raise InvalidConfigError(f"agent {name!r} is unknown; allowed: {', '.join((PERSON, *self.agents))}")
        return make_agent(self.agents[name], rules, seed)

    def fitting(self, rules: Rules) -> list[str]:
        """The names among `agents` that can play under `rules`."""
        names = []
        for name, spec in self.agents.items():
            try:
                make_agent(spec, rules, seed=0)
            except ThreeUpError:
                continue
            names.append(name)
        return names

    def add(self, session: GameSession) -> dict[int, str]:
        """Open a table for a session; the token of each person's seat.

        Raises:
            BusyServerError: There are too many tables.
        """
        with self._lock:
            self._sweep()
            if len(self._open) >= self.most:
                raise BusyServerError(f"all {self.most} tables are taken; try again when one is closed")
            self._openings.append(self.clock())
            tokens = {seat: secrets.token_urlsafe(24) for seat in session.people}
            self._places.update({token: _Place(session, seat) for seat, token in tokens.items()})
            self._open[session] = _Open(tokens, self.clock())
            return tokens

    def _check_room(self) -> None:
        with self._lock:
            while self._openings and self.clock() - self._openings[0] > 60:
                self._openings.popleft()
            if len(self._openings) >= OPENINGS_A_MINUTE:
                raise BusyServerError(f"more than {OPENINGS_A_MINUTE} tables in a minute; try again in a minute")

    def find(self, token: str) -> tuple[GameSession, int]:
        """The session and the seat of a token; the table counts as used now.

        Raises:
            UnknownSeatError: There is no such seat, or its table is closed.
        """
        with self._lock:
            self._sweep()
            place = self._places.get(token)
            if place is None:
                raise UnknownSeatError("there is no such seat: its table was closed, or never was")
            self._open[place.session].used = self.clock()
            return place.session, place.seat

    def close(self, token: str) -> None:
        """Close the table of a token."""
        session, _ = self.find(token)
        with self._lock:
            self._drop(session)

    def _sweep(self) -> None:
        now = self.clock()
        for session in [session for session, table in self._open.items() if now - table.used > self.idle_seconds]:
            self._drop(session)

    def _drop(self, session: GameSession) -> None:
        table = self._open.pop(session, None)
        for token in table.tokens.values() if table is not None else ():
            del self._places[token]

    def __len__(self) -> int:
        """How many tables are open."""
        with self._lock:
            self._sweep()
            return len(self._open)
