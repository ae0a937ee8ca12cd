"""A game at a terminal: people against agents or each other, saved as a record and gone on with.

`PlayedGame` is the game without a screen: who sits where, whose turn it is, what agents do, and how it is saved.
`Sitting` is what a person sees of it and says to it; the command `threeup play` puts the two together.

A saved game is a record (`threeup-record/1`, its result null) with one key more, `play`, which readers of records
ignore: `{"seed": S}`. The deals and every agent's draws hang on that seed, exactly as for the first game of
`threeup record --seed S`. To go on, the game is dealt and played again as far as it is recorded, and agents are asked
again at each of their decisions, so that what they draw goes on where it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Self

import numpy as np
from rich.console import Console
from rich.text import Text

from .actions import ACTION_INDEX, ACTIONS
from .agents import StateAgent, act_game, agent_names, agent_seeds, make_agent
from .errors import IllegalActionError, InvalidConfigError, InvalidRecordError, ThreeUpError
from .game import Game
from .record import GameRecord, read_lines, write_lines
from .render.events import Event, explain, tell
from .render.table import Viewer
from .render.terminal import draw_choices, draw_event, draw_explanations, draw_game
from .render.text import printable
from .rules import Rules

HUMAN: Final = "human"
"""The name of a player who is a person."""
DEFAULT_FILE: Final = "threeup-games.jsonl"
"""Where games are saved when nobody names a file."""
DEFAULT_HINT: Final = "greedy"

Ask = Callable[[str, Sequence[str]], str]
"""Asks a person for a line: a prompt, and words that may be completed. It raises EOFError or KeyboardInterrupt when
the person has had enough."""


class PlayedGame:
    """A game between people and agents.

    Args:
        rules: The rules.
        players: By seat, `HUMAN` or what `make_agent` knows.
        seed: Seeds the deals and the agents, at least 0.

    Attributes:
        game: The game as it stands.
        rules: Its rules.
        players: Who plays, by seat.
        seed: Its seed.
        changed: Decisions of agents that a game gone on with has, and that the agents would not make now.

    Raises:
        UnknownAgentError: A player is unknown, or cannot play under these rules.
        InvalidConfigError: There are too few or too many players, or none of them is a person.
    """

    def __init__(self, rules: Rules, players: Sequence[str], seed: int) -> None:
        if len(players) != rules.num_players or HUMAN not in players:
            raise InvalidConfigError(
                f"players: {', '.join(players)} is wrong; allowed: {rules.num_players} of them, one at least {HUMAN!r}"
            )
        self.rules = rules
        self.players = tuple(players)
        self.seed = seed
        # As `threeup record --seed` seeds its first game.
        sequence = np.random.SeedSequence(seed).spawn(1)[0]
        self.game = Game(rules, sequence)
        seeds = agent_seeds(sequence, len(players))
        self._agents = [
            None if name == HUMAN else make_agent(name, rules, agent_seed)
            for name, agent_seed in zip(players, seeds, strict=True)
        ]
        self._decisions: list[tuple[Game, int]] = []
        self.changed = 0

    @property
    def humans(self) -> tuple[int, ...]:
        """Seats of people."""
        return tuple(seat for seat, name in enumerate(self.players) if name == HUMAN)

    @property
    def human_decides(self) -> bool:
        """Whether a person is to decide; False when the game is over."""
        return self.game.player in self.humans

    @property
    def num_decisions(self) -> int:
        """Decisions made so far, in all deals."""
        return len(self._decisions)

    def agent_action(self) -> int:
        """What the agent to decide does; it draws, so it is asked once a decision."""
        player = self.game.player
        assert player is not None
        agent = self._agents[player]
        assert agent is not None
        return act_game(agent, self.game)

    def play(self, action: int | str) -> None:
        """Make the decision of the player whose turn it is.

        Raises:
            IllegalActionError: The action is not legal; nothing has changed.
        """
        before = self.game.copy()
        self.game.play(action)
        self._decisions.append((before, ACTION_INDEX[action] if isinstance(action, str) else action))

    def told(self, viewer: Viewer, since: int = 0) -> list[Event]:
        """What `viewer` could see of the decisions from number `since` on."""
        events = (tell(before, action, viewer) for before, action in self._decisions[since:])
        return [event for event in events if event is not None]

    def to_json(self) -> str:
        """The game as a record of one line; one that is not over can be gone on with."""
        values = self.game.record(self.players).to_dict()
        return json.dumps(values | {"play": {"seed": self.seed}})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Go on with a game that `to_json` wrote.

        Raises:
            InvalidRecordError: It is no such game, or does not follow the rules or its seed.
        """
        record = GameRecord.from_json(text)
        extra = json.loads(text).get("play")
        seed = extra.get("seed") if isinstance(extra, dict) else None
        if record.players is None or not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise InvalidRecordError("players or play.seed is missing: the game was not saved by `threeup play`")
        played = cls(record.rules, record.players, seed)
        for action in (action for deal in record.deals for action in deal.actions):
            played._play_again(action)
        if played.game.record(played.players) != record:
            raise InvalidRecordError(f"the deals or the result are not those of play.seed {seed}")
        return played

    def _play_again(self, action: str) -> None:
        """Make a recorded decision, and let the agent draw what it drew for it."""
        player = self.game.player
        agent = None if player is None else self._agents[player]
        # What searches from the game draws from its seed and what it sees alone, so it need not be asked again.
        if agent is not None and not isinstance(agent, StateAgent):
            self.changed += ACTIONS[act_game(agent, self.game)] != action
        try:
            self.play(action)
        except IllegalActionError as error:
            raise InvalidRecordError(f"decision {self.num_decisions}: {error}") from error


class GameFile:
    """The file that games are saved to: one a line, the last one perhaps unfinished.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lines = read_lines(self.path) if self.path.exists() else []
        self._open = bool(self._lines) and GameRecord.from_json(self._lines[-1]).result is None

    def begin(self, played: PlayedGame) -> None:
        """Make room for a new game.

        Raises:
            InvalidConfigError: The last game of the file is not over, and would be lost.
        """
        if self._open:
            raise InvalidConfigError(
                f"--save: {str(self.path)!r} ends in a game that is not over; allowed: --continue, or another file"
            )
        self._lines.append(played.to_json())

    def resume(self) -> PlayedGame:
        """The last game of the file.

        Raises:
            InvalidConfigError: There is none, or it is over.
            InvalidRecordError: It cannot be gone on with.
        """
        if not self._open:
            state = "holds no game" if not self._lines else "ends in a game that is over"
            raise InvalidConfigError(f"--continue: {str(self.path)!r} {state}; allowed: a file with an unfinished game")
        try:
            return PlayedGame.from_json(self._lines[-1])
        except InvalidRecordError as error:
            raise InvalidRecordError(f"{self.path}: {error}") from error

    def save(self, played: PlayedGame) -> None:
        """Put the game as it stands into the last line; the games before it stay as they are."""
        self._lines[-1] = played.to_json()
        write_lines(self.path, self._lines)


class Quit(Exception):  # noqa: N818  (not an error)
    """A person has had enough."""


class Sitting:
    """People at one terminal, playing a game.

    Args:
        played: The game.
        file: Where it is saved after every decision of a person.
        console: What is written to.
        ask: What people are asked by.
    """

    def __init__(self, played: PlayedGame, file: GameFile, console: Console, ask: Ask) -> None:
        self.played = played
        self._file = file
        self._console = console
        self._ask = ask
        # Which decisions each person has been told of; what was played before the sitting is told in short.
        self._seen = dict.fromkeys(played.humans, max(0, played.num_decisions - _TOLD_AT_FIRST))
        self._viewer: int | None = None
        self._helped = False

    def play(self) -> bool:
        """Play until the game is over, or until somebody quits; the game is saved in either case.

        Returns:
            Whether the game is over.
        """
        played = self.played
        try:
            while played.game.player is not None:
                if played.human_decides:
                    played.play(self._ask_person(played.game.player))
                    self._file.save(played)
                else:
                    played.play(played.agent_action())
        except (Quit, EOFError, KeyboardInterrupt):
            self._file.save(played)
            return False
        self._file.save(played)
        self._show_end()
        return True

    def _names(self, viewer: int | None) -> list[str]:
        """What the players are called: by agent, and the viewer as `you`."""
        people = [f"player {seat}" for seat in range(len(self.played.players))]
        agents = [f"{person} ({printable(name)})" for person, name in zip(people, self.played.players, strict=True)]
        return [
            f"{people[seat]} (you)" if seat == viewer else people[seat] if name == HUMAN else agents[seat]
            for seat, name in enumerate(self.played.players)
        ]

    def _ask_person(self, seat: int) -> str:
        """The action of a person, in written form."""
        self._make_private(seat)
        self._show(seat)
        legal = self.played.game.legal_actions
        commands = {"?": self._explain, "table": lambda: self._show(seat), "help": self._help}
        while True:
            said = self._ask(
                "> ", [*legal, "?", "hint", *(f"hint {name}" for name in agent_names()), *commands, "quit"]
            )
            said = " ".join(said.split())
            if said in commands:
                commands[said]()
            elif said == "hint" or said.startswith("hint "):
                self._hint(said.removeprefix("hint").strip() or DEFAULT_HINT)
            elif said in ("quit", "q", "exit"):
                raise Quit
            elif said:
                action = read_action(said, legal)
                if action is not None:
                    return action
                self._console.print(
                    f"{said!r} is not legal now; legal: {', '.join(legal)}, or a number of 1 to {len(legal)}",
                    markup=False,
                )

    def _make_private(self, seat: int) -> None:
        """Where several people share the screen, clear it before the next one looks (10.3)."""
        if len(self.played.humans) > 1 and self._viewer != seat:
            self._console.clear()
            if self._console.is_terminal:
                # What was written before can be scrolled back to, unless it goes too.
                self._console.file.write("\x1b[3J")
            self._ask(f"player {seat}, press Enter when nobody else looks: ", [])
        self._viewer = seat

    def _show(self, seat: int) -> None:
        """What was done since the person looked last, the table, and what may be done."""
        played, names = self.played, self._names(seat)
        events = played.told(seat, self._seen[seat])
        self._seen[seat] = played.num_decisions
        self._console.print()
        for event in events:
            self._console.print(draw_event(event, names))
        if played.rules.rounds > 1:
            self._console.print(f"deal {played.game.deal + 1} of {played.rules.rounds}", markup=False)
        self._console.print(draw_game(played.game, seat, names))
        self._console.print(draw_choices(played.game.legal_actions))
        if not self._helped:
            self._help()

    def _help(self) -> None:
        self._helped = True
        self._console.print(
            "Say a number or an action. ? explains the legal ones, hint (or hint NAME) asks an agent, table shows the "
            "table again, quit saves and ends.",
            style="dim",
            markup=False,
        )

    def _explain(self) -> None:
        game = self.played.game
        legal = game.legal_indices()
        effects = [explain(game, action) for action in legal]
        self._console.print(draw_explanations([ACTIONS[action] for action in legal], effects))

    def _hint(self, name: str) -> None:
        """Ask an agent that plays no seat here, so that nothing is drawn from those that do."""
        game = self.played.game
        try:
            action = act_game(make_agent(name, self.played.rules, self.played.seed), game)
        except (ThreeUpError, OSError) as error:
            self._console.print(f"no hint: {error}", markup=False)
            return
        self._console.print(f"{printable(name)} would {ACTIONS[action]}", markup=False)

    def _show_end(self) -> None:
        """The last decisions, all cards, and who has won."""
        played = self.played
        outcome = played.game.outcome
        assert outcome is not None
        one = played.humans[0] if len(played.humans) == 1 else None
        names = self._names(one)
        self._console.print()
        for event in played.told("all", min(self._seen.values())):
            self._console.print(draw_event(event, names))
        self._console.print(draw_game(played.game, "all", names))
        for seat, (place, score) in enumerate(zip(outcome.places, outcome.scores, strict=True)):
            how = "no place" if place is None else "wins" if place == 1 else f"place {place}"
            self._console.print(Text(f"{names[seat]}: {how}, {score} points", "bold" if place == 1 else ""))


_TOLD_AT_FIRST: Final = 8
"""Decisions told of when a game is gone on with."""


def read_action(said: str, legal: Sequence[str]) -> str | None:
    """A legal action from what a person said, its number from 1 or its written form in any case; None if it is none."""
    if said.isdecimal() and said.isascii():
        return legal[int(said) - 1] if 1 <= int(said) <= len(legal) else None
    return {action.casefold(): action for action in legal}.get(said.casefold())


def seat_players(agents: str, seat: int | None, num_players: int) -> list[str]:
    """Who sits where.

    Args:
        agents: Names with commas between: all seats, `human` among them; or those of the other seats, in order; or
            one for all of these.
        seat: The person's, where `agents` names no `human`; 0 when left out.
        num_players: How many play.

    Raises:
        InvalidConfigError: The names or the seat do not fit.
    """
    names = [name.strip() for name in agents.split(",")]
    if HUMAN in names and len(names) == num_players:
        if seat is not None:
            raise InvalidConfigError(f"--seat: {seat} is wrong; allowed: none beside --agents with {HUMAN!r} in it")
        return names
    if len(names) == 1:
        names *= num_players - 1
    if HUMAN in names or len(names) != num_players - 1:
        raise InvalidConfigError(
            f"--agents: {agents!r} is wrong; allowed: one name for all other seats, {num_players - 1} names, one for "
            f"each of them, or {num_players} names with {HUMAN!r} among them"
        )
    own = 0 if seat is None else seat
    if not 0 <= own < num_players:
        raise InvalidConfigError(f"--seat: {seat} is wrong; allowed: 0..{num_players - 1}")
    return [*names[:own], HUMAN, *names[own:]]


def terminal_ask() -> Ask:
    """A prompt with history and completion, for a person at a terminal."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.shortcuts import CompleteStyle

    session: PromptSession[str] = PromptSession(complete_style=CompleteStyle.READLINE_LIKE)

    def ask(prompt: str, words: Sequence[str]) -> str:
        return session.prompt(prompt, completer=WordCompleter(list(words), sentence=True))

    return ask


def stream_ask(console: Console, lines: Iterable[str]) -> Ask:
    """Reads what a program says in the place of a person, line by line."""
    source = iter(lines)

    def ask(prompt: str, words: Sequence[str]) -> str:
        console.print(prompt, end="", markup=False)
        said = next(source, None)
        if said is None:
            raise EOFError
        console.print(said.rstrip("\n"), markup=False)
        return said

    return ask
