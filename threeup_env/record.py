"""The written record of a game, format `threeup-record/1`: one JSON object a game, one line of a file.

A record holds what chance decided (decks, first player, pairs of 8.5), every action, and the result, so that
`GameRecord.replay` can play the game again and check each of them.

Example:
    >>> from threeup_env import Game, GameRecord, Rules
    >>> game = Game(Rules.mini(2), seed=1)
    >>> while game.player is not None:
    ...     game.play(game.legal_actions[0])
    >>> record = GameRecord.from_json(game.record(["ann", "bob"]).to_json())
    >>> [step.action for step in record.replay() if isinstance(step, Step)] == list(record.deals[0].actions)
    True
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import reprlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass as plain_dataclass
from pathlib import Path
from typing import IO, Annotated, Any, Final, Self, TypeVar

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, ValidationError
from pydantic.dataclasses import dataclass

from .errors import InvalidRecordError, InvalidRulesError, ThreeUpError
from .files import replacing
from .game import Ended, Game, check_deals
from .rules import Rules

FORMAT: Final = "threeup-record/1"
"""What the key `format` of every record says."""


def _read_rules(value: object) -> object:
    return Rules.from_dict(value) if isinstance(value, Mapping) else value


def _explain(error: ValidationError) -> str:
    """The first fault that pydantic found: where, the value, and what is allowed."""
    faults = error.errors(include_url=False)
    fault = faults[0]
    place = ""
    for part in fault["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part}"
    own = fault.get("ctx", {}).get("error")
    if isinstance(own, ThreeUpError):
        message = str(own) if not place or isinstance(own, InvalidRecordError) else f"{place}: {own}"
    elif fault["type"] in ("missing", "missing_keyword_only_argument"):
        message = f"{place} is missing"
    else:
        # What JSON calls a list, pydantic calls a tuple here.
        allowed = fault["msg"].removeprefix("Input should be ").replace("tuple", "list")
        message = f"{place}: {reprlib.repr(fault['input'])} is wrong; allowed: {allowed}"
    return message if len(faults) == 1 else f"{message} (and {len(faults) - 1} further faults)"


_T = TypeVar("_T")


def _typed_errors(cls: type[_T]) -> type[_T]:
    """Let the constructor raise `InvalidRecordError` where pydantic would raise its own error."""
    init: Callable[..., None] = cls.__init__

    @functools.wraps(init)
    def checked_init(self: _T, *args: Any, **values: Any) -> None:
        try:
            init(self, *args, **values)
        except ValidationError as error:
            causes = [fault.get("ctx", {}).get("error") for fault in error.errors(include_url=False)]
            cause = causes[0] if isinstance(causes[0], InvalidRulesError) else None
            raise InvalidRecordError(_explain(error)) from cause

    setattr(cls, "__init__", checked_init)  # noqa: B010  (mypy allows no assignment to a method)
    return cls


@_typed_errors
@dataclass(frozen=True, kw_only=True)
class DealRecord:
    """One deal of a game.

    Attributes:
        deck: The cards in the order of clause 2.2.
        first_player: The seat that began (2.4).
        pile_swaps: Pairs of seats in the order done (8.5), all of them even if the deal stops before the reveal.
        actions: The actions in written form.

    Raises:
        InvalidRecordError: A value has the wrong type.
    """

    deck: tuple[StrictStr, ...]
    first_player: StrictInt
    pile_swaps: tuple[tuple[StrictInt, StrictInt], ...]
    actions: tuple[StrictStr, ...]

    def to_dict(self) -> dict[str, Any]:
        """Write the deal as plain JSON values."""
        return {
            "deck": list(self.deck),
            "first_player": self.first_player,
            "pile_swaps": [list(pair) for pair in self.pile_swaps],
            "actions": list(self.actions),
        }


@_typed_errors
@dataclass(frozen=True, kw_only=True)
class Result:
    """How a game ended.

    Attributes:
        places: Place of each seat, from 1; ties share the better place; None without one (6.3, truncated).
        scores: Points of each seat (8.7).
        ended: `"out"`, `"points"`, `"truncated"`, or `"match"` where the rules have several `rounds`.

    Raises:
        InvalidRecordError: A value has the wrong type or is none of those.
    """

    places: tuple[Annotated[StrictInt, Field(ge=1)] | None, ...]
    scores: tuple[StrictInt, ...]
    ended: Ended

    def to_dict(self) -> dict[str, Any]:
        """Write the result as plain JSON values."""
        return {"places": list(self.places), "scores": list(self.scores), "ended": self.ended}


@_typed_errors
@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game, finished or not: immutable, and checked as far as that goes without playing it.

    Attributes:
        rules: The rules of the game; a mapping is read by `Rules.from_dict`.
        deals: Its deals, as many as were begun.
        result: How it ended; None for an unfinished game.
        players: Names of who played, by seat, or None.

    Raises:
        InvalidRecordError: A value has the wrong type, a deck is no permutation of the rules' deck, there are
            more deals than `rounds`, seats are none, or deal d does not begin d seats after deal 0. The
            message says where, names the value and what is allowed.
    """

    rules: Annotated[Rules, BeforeValidator(_read_rules)]
    deals: tuple[DealRecord, ...]
    result: Result | None
    players: tuple[StrictStr, ...] | None = None

    def __post_init__(self) -> None:
        """Check what the parts must hold together."""
        n = self.rules.num_players
        if self.players is not None and len(self.players) != n:
            raise InvalidRecordError(f"players: {list(self.players)!r} names {len(self.players)}; allowed: {n} names")
        if len(self.deals) > self.rules.rounds:
            raise InvalidRecordError(
                f"deal {self.rules.rounds}: one of {len(self.deals)} deals; allowed: at most rounds={self.rules.rounds}"
            )
        for number, deal in enumerate(self.deals):
            if not 0 <= deal.first_player < n:
                raise InvalidRecordError(
                    f"deal {number}: first_player: {deal.first_player!r} is no seat; allowed: 0..{n - 1}"
                )
            expected = (self.deals[0].first_player + number) % n
            if deal.first_player != expected:
                raise InvalidRecordError(
                    f"deal {number}: first_player: {deal.first_player!r} is wrong; allowed: {expected}, as deal 0 "
                    f"begins with {self.deals[0].first_player} and each deal one seat further on"
                )
        check_deals(self.rules, **self._chance())
        if self.result is not None:
            for name, values in (("places", self.result.places), ("scores", self.result.scores)):
                if len(values) != n:
                    raise InvalidRecordError(f"result.{name}: {list(values)!r} is wrong; allowed: {n} of them")

    def _chance(self) -> dict[str, Any]:
        """What chance decided, as `Game` takes it."""
        return {
            "decks": [deal.deck for deal in self.deals],
            "first_player": self.deals[0].first_player if self.deals else None,
            "pile_swaps": [deal.pile_swaps for deal in self.deals],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; unknown keys are ignored, except in `rules`.

        Raises:
            InvalidRecordError: As the constructor, and where `values` is no mapping, a key is missing, or `format`
                is not `"threeup-record/1"`.
        """
        if not isinstance(values, Mapping):
            raise InvalidRecordError(f"{reprlib.repr(values)} is no record; allowed: an object with the keys of one")
        for name in ("format", "rules", "deals", "result"):
            if name not in values:
                raise InvalidRecordError(f"{name} is missing")
        if values["format"] != FORMAT:
            raise InvalidRecordError(f"format: {reprlib.repr(values['format'])} is unknown; allowed: {FORMAT!r}")
        return cls(rules=values["rules"], players=values.get("players"), deals=values["deals"], result=values["result"])

    def to_dict(self) -> dict[str, Any]:
        """Write the record as plain JSON values; switches at their default are left out."""
        players = {} if self.players is None else {"players": list(self.players)}
        return {
            "format": FORMAT,
            "rules": self.rules.to_dict(),
            **players,
            "deals": [deal.to_dict() for deal in self.deals],
            "result": None if self.result is None else self.result.to_dict(),
        }

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from JSON.

        Raises:
            InvalidRecordError: As `from_dict`, and where `text` is not JSON.
        """
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidRecordError(f"{reprlib.repr(text)} is not JSON, or cut short: {error}") from error
        return cls.from_dict(values)

    def to_json(self) -> str:
        """Write the record as JSON, in one line without its end."""
        return json.dumps(self.to_dict())

    def replay(self, number: int = 0) -> Replay:
        """Play the game again, checking every action and the result.

        Args:
            number: What errors and steps call this game, such as its index in a file.

        Returns:
            An iterator of one `Step` a decision and then the `End`; going on raises `InvalidRecordError` at the
            first thing that does not follow the rules. A stated result that is wrong raises after the `End`.
        """
        return Replay(self, number)


@plain_dataclass(frozen=True, slots=True)
class Step:
    """One decision of a game that is played again.

    Attributes:
        game: Number of the game, as given to `GameRecord.replay`.
        deal: Number of the deal, from 0.
        decision: Number of the decision in the deal, from 0.
        player: The seat that decides.
        legal: Its legal actions in written form, in index order.
        action: The one it takes.
    """

    game: int
    deal: int
    decision: int
    player: int
    legal: tuple[str, ...]
    action: str

    def to_dict(self) -> dict[str, Any]:
        """Write the step as plain JSON values."""
        return {
            "game": self.game,
            "deal": self.deal,
            "decision": self.decision,
            "player": self.player,
            "legal": list(self.legal),
            "action": self.action,
        }


@plain_dataclass(frozen=True, slots=True)
class End:
    """The end of a game that is played again.

    Attributes:
        game: Number of the game, as given to `GameRecord.replay`.
        result: The result as the rules give it; None where the game is unfinished.
    """

    game: int
    result: Result | None

    def to_dict(self) -> dict[str, Any]:
        """Write the end as plain JSON values."""
        return {"game": self.game, "result": None if self.result is None else self.result.to_dict()}


class Replay(Iterator[Step | End]):
    """A record played again, decision by decision; made by `GameRecord.replay`.

    Attributes:
        game: The game as it stands when the action of the last `Step` has been found legal and is not made yet;
            after the `End`, as the record leaves it.
    """

    def __init__(self, record: GameRecord, number: int) -> None:
        self.game = Game(record.rules, seed=0, **record._chance())  # the seed matters only beyond the record
        self._record = record
        self._number = number
        self._steps = self._play()

    def __next__(self) -> Step | End:
        return next(self._steps)

    def _play(self) -> Iterator[Step | End]:
        game = self.game
        for number, deal in enumerate(self._record.deals):
            for decision, action in enumerate(deal.actions):
                player = game.player
                wrong = f"action {reprlib.repr(action)} is illegal"
                if player is None or game.deal != number:
                    over = "game" if player is None else "deal"
                    raise self._error(f"{wrong}: the {over} is over; legal: none", number, decision)
                legal = tuple(game.legal_actions)
                if action not in legal:
                    raise self._error(f"{wrong} for player {player}; legal: {', '.join(legal)}", number, decision)
                yield Step(self._number, number, decision, player, legal, action)
                game.play(action)
            cut_short = game.player is not None and game.deal == number
            if cut_short and number + 1 < len(self._record.deals):
                raise self._error(
                    f"the actions end here, but deal {number + 1} follows; player {game.player} has still to decide, "
                    f"legal: {', '.join(game.legal_actions)}",
                    number,
                    len(deal.actions),
                )
        result = game.record().result
        yield End(self._number, result)
        self._check_result(result)

    def _check_result(self, result: Result | None) -> None:
        stated = self._record.result
        if stated == result:
            return
        said = "null" if stated is None else json.dumps(stated.to_dict())
        if result is None:
            raise self._error(
                f"result: {said} is wrong: player {self.game.player} has still to decide; allowed: null",
                self.game.deal,
                self.game.decision,
            )
        raise self._error(f"result: {said} is wrong; allowed: {json.dumps(result.to_dict())}")

    def _error(self, fault: str, deal: int | None = None, decision: int | None = None) -> InvalidRecordError:
        place = f"game {self._number}" if deal is None else f"game {self._number}, deal {deal}, decision {decision}"
        return InvalidRecordError(f"{place}: {fault}")


def read_records(path: str | os.PathLike[str]) -> Iterator[GameRecord]:
    """Read a file of records one by one: one a line, blank lines left out; compressed where it ends in `.gz`.

    Raises:
        InvalidRecordError: A line is no record, or the compressed file is damaged or cut short; the message names
            file, line (from 1) and game (from 0).
        OSError: The file cannot be read.
    """
    path = Path(path)
    compressed = path.suffix == ".gz"
    game = 0
    number = 0
    with gzip.open(path) if compressed else path.open("rb") as lines:
        while True:
            number += 1
            place = f"{path} line {number} (game {game})"
            try:
                line = lines.readline()
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise InvalidRecordError(f"{place}: not a gzip file, damaged or cut short: {error}") from error
            if not line:
                return
            if not line.strip():
                continue
            try:
                record = GameRecord.from_json(line)
            except InvalidRecordError as error:
                raise InvalidRecordError(f"{place}: {error}") from error
            yield record
            game += 1


def write_records(path: str | os.PathLike[str], records: Iterable[GameRecord]) -> int:
    """Write records to a file, one a line, compressed where it ends in `.gz`.

    An existing file is replaced in one go when the last record is written; if anything fails before that, it
    stays as it was.

    Returns:
        How many records were written.

    Raises:
        OSError: The file cannot be written.
    """
    return write_lines(path, (record.to_json() for record in records))


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a file of records as they stand there, blank ones left out.

    Raises:
        InvalidRecordError: The file is no text, or a compressed one that is damaged.
        OSError: The file cannot be read.
    """
    path = Path(path)
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return [line for line in data.decode().splitlines() if line.strip()]
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise InvalidRecordError(f"{path}: damaged, or no file of records: {error}") from error


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> int:
    """Write lines to a file as `write_records` does, and say how many there were.

    Raises:
        OSError: The file cannot be written.
    """
    count = 0
    with replacing(path) as file, _text_sink(file, Path(path)) as write:
        for line in lines:
            write((line + "\n").encode())
            count += 1
    return count


@contextmanager
def _text_sink(file: IO[bytes], path: Path) -> Iterator[Callable[[bytes], Any]]:
    if path.suffix != ".gz":
        yield file.write
        return
    # No name and no time inside, so that the same records give the same file.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as archive:
        yield archive.write
