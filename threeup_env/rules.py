"""`Rules`: every switch of the game, checked once (docs/rules.md section 9)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, fields
from typing import Annotated, Any, Final, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from .actions import NUM_ACTIONS, NUM_BASE_ACTIONS
from .cards import CARD_INDEX, CARDS, COLORS, KINDS, MAX_COPIES, NAMED_DECKS, NUM_CARDS, NUM_COLORS
from .errors import InvalidRulesError

MINI_DECISIONS_PER_PLAYER: Final = 8
"""`max_decisions` of `Rules.mini`, for each player: what an exact solver can still walk through for two."""


class CustomDeck(Mapping[str, int]):
    """How many of each card a custom deck holds: an immutable, hashable mapping from card (`"g10"`) to count.

    Iterates in card order (kinds rising, then green, red, blue); cards with a count of zero are left out, so
    that decks of the same cards are equal however they were written.

    Args:
        counts: How many of each card.

    Raises:
        InvalidRulesError: A key is no card, or a count is not an integer of at least 0.
    """

    __slots__ = ("_counts",)
    _counts: dict[str, int]

    def __init__(self, counts: Mapping[str, int]) -> None:
        for card, count in counts.items():
            if card not in CARD_INDEX:
                raise InvalidRulesError(
                    f"deck: {card!r} is not a card; allowed: a colour ({', '.join(COLORS)}) followed by a kind "
                    f"({', '.join(KINDS)}), such as 'g10' or 'rC+1'"
                )
            if not _is_integer(count) or count < 0:
                raise InvalidRulesError(f"deck: the count of {card!r} is {count!r}; allowed: an integer of at least 0")
        self._counts = {card: int(counts[card]) for card in CARDS if counts.get(card)}

    def __getitem__(self, card: str) -> int:
        return self._counts[card]

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __hash__(self) -> int:
        return hash(tuple(self._counts.items()))

    def __repr__(self) -> str:
        return repr(self._counts)

    def __reduce__(self) -> tuple[type[CustomDeck], tuple[dict[str, int]]]:
        return CustomDeck, (dict(self._counts),)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _read_integer(value: object) -> object:
    """NumPy's integers become Python's; all else is left for the strict check."""
    return int(value) if isinstance(value, np.integer) else value


def _read_deck(value: object) -> str | CustomDeck:
    if isinstance(value, str) and value in NAMED_DECKS:
        return str(value)
    if isinstance(value, Mapping):
        return value if isinstance(value, CustomDeck) else CustomDeck(value)
    names = " or ".join(map(repr, NAMED_DECKS))
    raise InvalidRulesError(
        f"deck: {value!r} is not a deck; allowed: {names}, or a mapping from card (such as 'g10') to count"
    )


def _read_colors(value: object) -> tuple[str, ...]:
    # A string or a mapping is iterable too, but hardly meant as a set of colours.
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        chosen = list(value)
        if chosen and all(chosen.count(color) == 1 and color in COLORS for color in chosen):
            return tuple(color for color in COLORS if color in chosen)
    raise InvalidRulesError(
        f"colors: {value!r} is not a set of colours; allowed: one or more of "
        f"{', '.join(map(repr, COLORS))}, each once, as a list, tuple or set"
    )


_T = TypeVar("_T")
_NUMPY_TOO = BeforeValidator(_read_integer)


def _describe(schema: Mapping[str, Any]) -> str:
    """What a JSON schema allows, in words."""
    if "anyOf" in schema:
        return " or ".join(map(_describe, schema["anyOf"]))
    if "const" in schema:
        return repr(schema["const"])
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    if schema.get("type") == "boolean":
        return "True or False"
    if "maximum" in schema:
        return f"an integer from {schema['minimum']} to {schema['maximum']}"
    return f"an integer of at least {schema['minimum']}"


def _explain(error: ValidationError) -> str:
    """Every fault that pydantic found: the switch, its value, and what is allowed."""
    names = [field.name for field in fields(Rules)]
    faults: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        own = fault.get("ctx", {}).get("error")
        place = fault["loc"][0] if fault["loc"] else ""
        name = names[place] if isinstance(place, int) and place < len(names) else str(place)
        if isinstance(own, InvalidRulesError):
            faults[name] = str(own)
        elif fault["type"] == "unexpected_keyword_argument":
            faults[name] = _unknown_switch(name, fault["input"])
        elif name in names and fault["type"] != "unexpected_positional_argument":
            schema = TypeAdapter(Rules).json_schema()["properties"][name]
            faults[name] = f"{name}: {fault['input']!r} is wrong; allowed: {_describe(schema)}"
        else:
            faults[name] = f"{fault['msg']}: {fault['input']!r}; allowed: num_players alone without its name"
    return "; ".join(faults.values())


def _unknown_switch(name: object, value: object) -> str:
    return f"{name!r} (here {value!r}) is no switch; allowed: {', '.join(field.name for field in fields(Rules))}"


def _typed_errors(cls: type[_T]) -> type[_T]:
    """Let the constructor raise `InvalidRulesError` where pydantic would raise its own error."""
    init: Callable[..., None] = cls.__init__

    @functools.wraps(init)
    def checked_init(self: _T, *args: Any, **switches: Any) -> None:
        try:
            init(self, *args, **switches)
        except ValidationError as error:
            raise InvalidRulesError(_explain(error)) from None

    setattr(cls, "__init__", checked_init)  # noqa: B010  (mypy allows no assignment to a method)
    return cls


@_typed_errors
@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Rules:
    """The switches of the game; immutable, hashable and checked when made, by `dataclasses.replace` too.

    Clauses are those of docs/rules.md. All switches but `num_players` are given by name.

    Attributes:
        num_players: How many play, 2 to 6 (2.1).
        deck: `"standard"`, `"gamerules"` or a mapping from card (`"g10"`) to count, stored as a `CustomDeck`
            (1.2-1.4).
        colors: The colours left in the deck: one or more of `"g"`, `"r"`, `"b"` in any iterable but a string;
            stored as a tuple in that order (1.4).
        table_cards: 3DOWN cards, and as many 3UP cards, of each player, 1 to 3 (2.2).
        hand_size: Cards in the hand after set-up, and what players draw up to, 1 to 6 (2.2, 3.5).
        first_player: The seat that starts (the first deal), or `"random"` (2.4).
        must_play: Whether who can discard must; if False they may draw one card instead (3.4, 8.2).
        clear_sets: Whether several Clears of one kind may be played at once (3.2).
        failed_flip: Where a 3DOWN card turned in vain goes: `"hand"`, or `"stay"` in its slot (3.3).
        extra_draw: The optional draw before an extra: `"one"` card, `"refill"` up to `hand_size`, `"none"` (5.3).
        draw_before: Whether that draw is offered before the `"first"` extra or before `"each"` (5.3).
        extra_mandatory: Whether extras must be taken; if False they may be passed (5.4).
        low_third: Whether a 3UP card too low for the last extra `"stays"` or is `"taken"` up with the pile (5.7).
        play_on: Whether the others play on for places when one is out; only where `rounds` is 1 (6.2).
        reverse_ones: Whether 1s turn the direction of play (8.3).
        color_swap: Whether the fourth card of one colour in a row lets its player exchange two cards (8.4).
        pile_swaps: How many times two players drawn at random exchange their table cards, 0 to 15 (8.5).
        sabotage: Whether each player may exchange a hand card with another's 3UP card after set-up (8.6).
        rounds: Deals in a match, 1 to 100 (8.7).
        score_table_cards: Whether 3UP and 3DOWN cards score too, not the hand alone (8.7).
        max_decisions: Decisions after which a deal ends undecided, at least 1 (6.3).
        at_limit: Whether such a deal is placed by `"points"`, or is a `"truncate"`d one without outcome (6.3).

    Raises:
        InvalidRulesError: A name or a value is wrong, or values do not go together (1.4, 2.4, 8.7); the message
            names the switch, the value and what is allowed.
    """

    num_players: Annotated[int, Field(ge=2, le=6), _NUMPY_TOO] = 2
    _: KW_ONLY
    deck: Annotated[str | Mapping[str, int], PlainValidator(_read_deck)] = "standard"
    colors: Annotated[Collection[str], PlainValidator(_read_colors)] = COLORS
    table_cards: Annotated[int, Field(ge=1, le=3), _NUMPY_TOO] = 3
    hand_size: Annotated[int, Field(ge=1, le=6), _NUMPY_TOO] = 3
    first_player: Literal["random"] | Annotated[int, Field(ge=0, le=5), _NUMPY_TOO] = "random"
    must_play: bool = True
    clear_sets: bool = False
    failed_flip: Literal["hand", "stay"] = "hand"
    extra_draw: Literal["one", "refill", "none"] = "one"
    draw_before: Literal["first", "each"] = "first"
    extra_mandatory: bool = True
    low_third: Literal["stays", "taken"] = "stays"
    play_on: bool = False
    reverse_ones: bool = False
    color_swap: bool = False
    pile_swaps: Annotated[int, Field(ge=0, le=15), _NUMPY_TOO] = 0
    sabotage: bool = False
    rounds: Annotated[int, Field(ge=1, le=100), _NUMPY_TOO] = 1
    score_table_cards: bool = False
    max_decisions: Annotated[int, Field(ge=1), _NUMPY_TOO] = 1000
    at_limit: Literal["points", "truncate"] = "points"

    def __post_init__(self) -> None:
        """Check what the switches must hold together."""
        if self.first_player != "random" and self.first_player >= self.num_players:
            raise InvalidRulesError(
                f"first_player: {self.first_player!r} is no seat where num_players={self.num_players}; "
                f"allowed: 'random' or an integer from 0 to {self.num_players - 1}"
            )
        if self.play_on and self.rounds > 1:
            raise InvalidRulesError(
                f"play_on: True does not go with rounds={self.rounds}; allowed: play_on=False, or rounds=1"
            )
        for kind, copies in enumerate(self._count_kinds()):
            if copies > MAX_COPIES:
                raise InvalidRulesError(
                    f"deck: {self.deck!r} with colors={self.colors!r} holds {copies} cards of kind {KINDS[kind]}; "
                    f"allowed: at most {MAX_COPIES} of one kind"
                )
        dealt = self.num_players * (2 * self.table_cards + self.hand_size)
        if self.deck_size < dealt:
            raise InvalidRulesError(
                f"deck: {self.deck!r} with colors={self.colors!r} holds {self.deck_size} cards; allowed: at least "
                f"{dealt}, which num_players={self.num_players}, table_cards={self.table_cards} and "
                f"hand_size={self.hand_size} deal out"
            )

    def _count_cards(self) -> list[int]:
        deck = NAMED_DECKS[self.deck] if isinstance(self.deck, str) else self.deck
        return [deck.get(card, 0) if card[0] in self.colors else 0 for card in CARDS]

    def _count_kinds(self) -> list[int]:
        counts = self._count_cards()
        return [sum(counts[first : first + NUM_COLORS]) for first in range(0, NUM_CARDS, NUM_COLORS)]

    @property
    def deck_counts(self) -> NDArray[np.int8]:
        """How many of each card are in play, after `colors` (1.2-1.4): int8 `(39,)` by card, a new array."""
        return np.array(self._count_cards(), dtype=np.int8)

    @property
    def copies(self) -> NDArray[np.int8]:
        """How many cards of each kind are in play, after `colors`: int8 `(13,)`, each 0 to 7, a new array."""
        return np.array(self._count_kinds(), dtype=np.int8)

    @property
    def deck_size(self) -> int:
        """How many cards are in play, after `colors`."""
        return sum(self._count_cards())

    @property
    def num_actions(self) -> int:
        """The size of the action space: 144 where players may pass, give, want, target or say a colour, else 109."""
        return NUM_ACTIONS if not self.extra_mandatory or self.color_swap or self.sabotage else NUM_BASE_ACTIONS

    def to_dict(self, defaults: bool = False) -> dict[str, Any]:
        """Write the switches as plain JSON values, for `from_dict`.

        Args:
            defaults: Write every switch; if False, those at their default are left out, `num_players` excepted.

        Returns:
            Switch to value: `colors` as a list, a custom deck as a dict from card to count in card order.
        """
        switches: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if defaults or field.name == "num_players" or value != field.default:
                if isinstance(value, Mapping):
                    value = dict(value)
                switches[field.name] = list(value) if isinstance(value, tuple) else value
        return switches

    @classmethod
    def from_dict(cls, switches: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; switches left out take their default.

        Raises:
            InvalidRulesError: As the constructor, and where `switches` is no mapping.
        """
        if not isinstance(switches, Mapping):
            raise InvalidRulesError(f"rules: {switches!r} is not a mapping; allowed: a mapping from switch to value")
        known = {field.name for field in fields(cls)}
        for name, value in switches.items():
            if name not in known:
                raise InvalidRulesError(_unknown_switch(name, value))
        return cls(**switches)

    @classmethod
    def _preset(cls, num_players: int, overrides: dict[str, Any], **switches: Any) -> Self:
        return cls(num_players, **switches | overrides)

    @classmethod
    def standard(cls, num_players: int = 2, **switches: Any) -> Self:
        """Every switch at its default, except (as in all presets) those given by name."""
        return cls._preset(num_players, switches)

    @classmethod
    def gamerules(cls, num_players: int = 2, **switches: Any) -> Self:
        """The game as the gamerules.com article has it."""
        return cls._preset(num_players, switches, deck="gamerules", extra_mandatory=False)

    @classmethod
    def geeky(cls, num_players: int = 2, **switches: Any) -> Self:
        """The game as the Geeky Hobbies article has it."""
        return cls._preset(num_players, switches, draw_before="each", failed_flip="stay")

    @classmethod
    def house(cls, num_players: int = 2, **switches: Any) -> Self:
        """All optional rules of section 8 that go with a single deal."""
        return cls._preset(
            num_players,
            switches,
            must_play=False,
            play_on=True,
            reverse_ones=True,
            color_swap=True,
            pile_swaps=1,
            sabotage=True,
        )

    @classmethod
    def match(cls, num_players: int = 2, **switches: Any) -> Self:
        """A match of three deals."""
        return cls._preset(num_players, switches, rounds=3)

    @classmethod
    def mini(cls, num_players: int = 2, **switches: Any) -> Self:
        """A game that is small enough for two players to be solved exactly.

        For n players the deck holds n + 1 cards of kind 1 (so that three of a number can meet, 4.1) and n of
        each of the kinds 2, 3 and `C`, their colours dealt out in turn: green, red, blue, green and so on.
        """
        n = cls(num_players).num_players
        copies = {"1": n + 1, "2": n, "3": n, "C": n}
        return cls._preset(
            n,
            switches,
            deck={
                COLORS[i % NUM_COLORS] + kind: len(range(i % NUM_COLORS, count, NUM_COLORS))
                for kind, count in copies.items()
                for i in range(count)
            },
            table_cards=1,
            hand_size=1,
            max_decisions=MINI_DECISIONS_PER_PLAYER * n,
        )
