"""Frames: what a page shows after each decision, as plain JSON values.

A **frame** is the table as one viewer sees it and the effects of the decision that led there (`story.tell`). A page
that is played at is sent frames of its own seat alone. A **replay** belongs to someone who has the whole record: its
frames let the page choose between everybody's view, any seat's, and all cards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..actions import ACTION_INDEX
from ..agents.policy import PolicyAgent
from ..errors import InvalidRecordError
from ..game import Game, Outcome
from ..record import End, GameRecord
from ..render.table import SeatTable, Table, Viewer, look
from .story import Decision, Effect, tell, tell_deal

Json = dict[str, Any]
PROBABILITY_DIGITS: Final = 4
_EFFECT_DEFAULTS: Final = {field.name: field.default for field in dataclasses.fields(Effect)}


def write_table(table: Table) -> Json:
    """A table as JSON values; keys as in `render.table.Table`."""
    return dataclasses.asdict(table)


def write_effects(effects: Sequence[Effect]) -> list[Json]:
    """Effects as JSON values; what is at its default is left out."""
    return [
        {name: value for name, value in dataclasses.asdict(effect).items() if value != _EFFECT_DEFAULTS[name]}
        for effect in effects
    ]


def write_outcome(outcome: Outcome | None) -> Json | None:
    """An outcome as JSON values."""
    return None if outcome is None else dataclasses.asdict(outcome)


def write_rules(game: Game) -> Json:
    """The switches of a game, all of them, and the cards of its deck."""
    return game.rules.to_dict(defaults=True) | {"deck_size": game.rules.deck_size}


def first_frame(game: Game, viewer: Viewer) -> Json:
    """The frame of a game that has just begun, or is joined in the middle."""
    table = look(game, viewer)
    return {"player": None, "effects": write_effects([tell_deal(table)]), "table": write_table(table)}


def describe(game: Game, seat: int, action: str) -> Decision:
    """A decision just made in `game`, with what its story needs."""
    pairs = game.state.swap[: game.rules.pile_swaps]
    outcome = game.outcome
    return Decision(seat, action, tuple((int(a), int(b)) for a, b in pairs), None if outcome is None else outcome.ended)


def next_frame(game: Game, decision: Decision, before: Table, viewer: Viewer) -> Json | None:
    """The frame that follows a decision.

    Args:
        game: The game after the decision.
        decision: The decision.
        before: What `viewer` saw before it.
        viewer: Who looks.

    Returns:
        The frame; None where nothing changed that `viewer` may see (2.3: a colour said in another's set-up).
    """
    after = look(game, viewer)
    effects = tell(game.rules, decision, before, after)
    if after == before and not effects:
        return None
    return {"player": decision.seat, "effects": write_effects(effects), "table": write_table(after)}


def replay_frames(record: GameRecord, number: int = 0, policy: PolicyAgent | None = None) -> Json:
    """A record as a page of the replay viewer wants it, every decision checked by playing it again.

    Frame 0 is the deal; frame t the table after t decisions. In each of them `table` is everybody's view, except:

    - `seats`: for each seat `[closed, own, open]`: as others see it, as its owner does, with every card;
    - `said`, `legal`: of whoever decides; `said_closed` as the others see it;
    - `effects` as whoever decided saw them, `effects_closed` as the others did;
    - `action`: what is decided next, `decision` and `deal` its number, and with `policy` `advice`: pairs of a legal
      action and the probability that the policy gives it.

    Args:
        record: The record.
        number: What errors call it.
        policy: Asked at each position, from what the seat to decide may know.

    Raises:
        InvalidRecordError: The record does not follow the rules; or it has no deal.
    """
    if not record.deals:
        raise InvalidRecordError(f"game {number}: there is no deal to show")
    replay = record.replay(number)
    game = replay.game
    frames: list[Json] = []
    seen: list[tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]] = []
    made: _Made | None = None
    finished = False
    for step in replay:
        frame = _replay_frame(game) | _replay_effects(game, made)
        frames.append(frame)
        if isinstance(step, End):
            finished = step.result is not None
            continue  # a result that is stated wrong is found after this
        frame |= {"action": step.action, "decision": step.decision, "deal": step.deal}
        made = _Made(step.player, step.action, look(game, "all"), look(game, None))
        if policy is not None:
            seen.append((game.observation(step.player), game.action_mask))
    if policy is not None and seen:
        _add_advice(frames, policy, seen)
    return {
        "number": number,
        "rules": write_rules(game),
        "players": None if record.players is None else list(record.players),
        "frames": frames,
        "outcome": write_outcome(game.outcome),
        "unfinished": not finished,
    }


class _Made(NamedTuple):
    """A decision that is being made, and the table before it: with all cards, and as everybody sees it."""

    seat: int
    action: str
    opened: Table
    closed: Table


def _replay_effects(game: Game, made: _Made | None) -> Json:
    """Who decided what led to this frame, and its effects as they and as the others saw them."""
    if made is None:
        deal = write_effects([tell_deal(look(game, None))])
        return {"player": None, "effects": deal, "effects_closed": deal}
    decision = describe(game, made.seat, made.action)
    return {
        "player": made.seat,
        "effects": write_effects(tell(game.rules, decision, made.opened, look(game, "all"))),
        "effects_closed": write_effects(tell(game.rules, decision, made.closed, look(game, None))),
    }


def _replay_frame(game: Game) -> Json:
    open_table, closed_table = look(game, "all"), look(game, None)
    own = [look(game, seat).seats[seat] for seat in range(game.rules.num_players)]
    parts = zip(closed_table.seats, own, open_table.seats, strict=True)
    table = write_table(closed_table) | {
        "seats": [list(_distinct(*part)) for part in parts],
        "said": open_table.said,
        "said_closed": closed_table.said,
        "legal": open_table.legal,
    }
    return {"table": table}


def _distinct(closed: SeatTable, own: SeatTable, open_seat: SeatTable) -> Iterator[Json | None]:
    """The three views of a seat; None for one that is the same as the one before it."""
    yield dataclasses.asdict(closed)
    yield None if own == closed else dataclasses.asdict(own)
    yield None if open_seat == own else dataclasses.asdict(open_seat)


def _add_advice(frames: list[Json], policy: PolicyAgent, seen: Sequence[tuple[Any, Any]]) -> None:
    observations, masks = (np.stack(arrays) for arrays in zip(*seen, strict=True))
    probabilities = policy.probabilities(observations, masks)
    # The last frame, after the last decision, has none.
    for frame, row in zip(frames[: len(seen)], probabilities, strict=True):
        legal = frame["table"]["legal"]
        frame["advice"] = [[action, round(float(row[ACTION_INDEX[action]]), PROBABILITY_DIGITS)] for action in legal]


def parse_records(text: bytes, most_games: int) -> list[GameRecord]:
    """Records as a file of them holds them, one a line, blank lines left out.

    Raises:
        InvalidRecordError: A line is no record, or there are none, or too many.
    """
    records: list[GameRecord] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if len(records) == most_games:
            raise InvalidRecordError(f"line {number}: more than {most_games} games; allowed: at most {most_games}")
        try:
            records.append(GameRecord.from_json(line))
        except InvalidRecordError as error:
            raise InvalidRecordError(f"line {number}: {error}") from error
    if not records:
        raise InvalidRecordError("there is no record in this file; allowed: JSON objects, one a line")
    return records
