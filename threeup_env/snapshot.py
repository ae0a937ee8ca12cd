"""A game as bytes: what `Game.to_bytes` writes and `Game.from_bytes` reads, and every check in between.

| bytes | what |
|---|---|
| 16 | magic: `3UP 3DOWN game`, carriage return, line feed |
| 2 | version of the format, little-endian |
| 4 | length of the header, little-endian |
| | header: a JSON object |
| | record: the `core.state.STATE` of the game, as this version of the format lays it out |
| | history: one byte for each action made since the first deal |
| 32 | BLAKE2b of all bytes before |

The header holds `rules` (all switches), `track_colors`, `recorded` (whether deals and history are those of the whole
game), `deals` (deck as hexadecimal digits, first player, pairs of 8.5, index of the first action) and `fixed` (what the
caller fixed of the deals).

Loading never runs anything from the file, and never hands compiled code a record that it has not checked: every field
must have a value that the rules allow, and every card must lie in one place. A game whose history is known must also
follow from its deals and actions.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .actions import DRAW, GIVE, NUM_ACTIONS, PASS, TARGET, UP, WANT
from .cards import CARDS, CLEAR, MAX_COPIES, NUM_CARDS, NUM_COLORS, NUM_KINDS
from .core import single
from .core import state as core
from .core.colors import ROW_OF_FOUR
from .core.state import pack_rules
from .errors import IllegalActionError, InvalidRecordError, InvalidRulesError, InvalidSnapshotError
from .game import Deal, Game, check_deals
from .rules import Rules

G = TypeVar("G", bound=Game)

MAGIC: Final = b"3UP 3DOWN game\r\n"
VERSION: Final = 1
DIGEST_SIZE: Final = 32
_HEADER_START: Final = len(MAGIC) + 6

Byte = Annotated[int, Field(ge=0, le=255)]
Pair = tuple[Byte, Byte]


class DealPart(BaseModel):
    """One deal in the header."""

    model_config = ConfigDict(extra="forbid")

    deck: str
    first_player: Byte
    pile_swaps: tuple[Pair, ...]
    start: Annotated[int, Field(ge=0)]


class FixedPart(BaseModel):
    """What the caller fixed of the deals."""

    model_config = ConfigDict(extra="forbid")

    decks: tuple[str, ...]
    first_player: Byte | None
    pile_swaps: tuple[tuple[Pair, ...], ...]


class Header(BaseModel):
    """The header; see the module."""

    model_config = ConfigDict(extra="forbid")

    rules: dict[str, Any]
    track_colors: bool
    recorded: bool
    deals: Annotated[tuple[DealPart, ...], Field(min_length=1, max_length=100)]
    fixed: FixedPart


def write(game: Game) -> bytes:
    """The bytes of a game (`Game.to_bytes`)."""
    decks, first_player, swaps = game._fixed
    header = Header(
        rules=game.rules.to_dict(defaults=True),
        track_colors=bool(game._switches["track_colors"][0]),
        recorded=game._recorded,
        deals=tuple(
            DealPart(deck=deal.deck.hex(), first_player=deal.first_player, pile_swaps=deal.pile_swaps, start=deal.start)
            for deal in game._deals
        ),
        fixed=FixedPart(decks=tuple(deck.hex() for deck in decks), first_player=first_player, pile_swaps=swaps),
    )
    text = header.model_dump_json().encode()
    start = MAGIC + VERSION.to_bytes(2, "little") + len(text).to_bytes(4, "little")
    content = start + text + bytes(game._memory) + bytes(game._history)
    return content + _digest(content)


def read(kind: type[G], data: bytes) -> G:
    """The game that `write` wrote, as one of the class `kind` (`Game.from_bytes`).

    Raises:
        InvalidSnapshotError: `data` is no game, cut short, changed, of another version, or no game by the rules.
    """
    header, rules, record, history = _unpack(data)
    state = np.frombuffer(bytearray(record), core.STATE)
    try:
        fixed = check_deals(
            rules, [_read_deck(deck) for deck in header.fixed.decks], header.fixed.first_player, header.fixed.pile_swaps
        )
        _check_record(header, rules, state)
        if header.recorded:
            _check_history(header, rules, record, history)
        else:
            _need(not history, "history")
    except (IllegalActionError, InvalidRecordError) as error:
        raise InvalidSnapshotError(f"the game does not follow the rules: {error}") from None
    over = state["phase"][0] == core.OVER
    player = None if over else int(state["player"][0])
    deals = [Deal(bytes.fromhex(deal.deck), deal.first_player, deal.pile_swaps, deal.start) for deal in header.deals]
    game = kind.__new__(kind)
    parts = (rules, player, fixed, bytearray(record), deals, bytearray(history))
    game.__setstate__((*parts, header.recorded, header.track_colors))
    return game


def _check_history(header: Header, rules: Rules, record: bytes, history: bytes) -> None:
    """Play the game again: it must lead to this record."""
    decks = [_read_deck(deal.deck) for deal in header.deals]
    swaps = [deal.pile_swaps for deal in header.deals]
    again = Game(rules, 0, decks, header.deals[0].first_player, swaps)
    for action in history:
        again.play(action)
    same = [(deal.first_player, deal.start) for deal in again._deals] == [
        (deal.first_player, deal.start) for deal in header.deals
    ]
    if not header.track_colors or not same or _meaning(bytes(again._memory)) != _meaning(record):
        raise InvalidSnapshotError("the game is not what its deals and actions lead to")


def _check_record(header: Header, rules: Rules, state: npt.NDArray[np.void]) -> None:
    """Check every field by itself, and the legal set by making it again."""
    _need(not rules.color_swap or header.track_colors, "track_colors")
    for deal in header.deals:
        _need(deal.first_player < rules.num_players, "first_player")
        _read_deck(deal.deck)
    check_state(state[0], rules, tracks_colors=header.track_colors)
    again = state.copy()
    single.find_legal(again, pack_rules(rules, track_colors=header.track_colors))
    _need(again["legal"] == state["legal"], "legal")
    _need(state["legal"].any() == (state["phase"][0] != core.OVER), "legal")


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST_SIZE).digest()


def _unpack(data: bytes) -> tuple[Header, Rules, bytes, bytes]:
    """Header, rules, record and history of a game, the frame checked, the record not.

    Raises:
        InvalidSnapshotError: `data` is no game, of another version, cut short or changed.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidSnapshotError(f"{type(data).__name__} is no game; allowed: bytes")
    data = bytes(data)
    if not data.startswith(MAGIC):
        raise InvalidSnapshotError(f"the bytes begin with {data[: len(MAGIC)]!r}; a game begins with {MAGIC!r}")
    if len(data) < _HEADER_START + DIGEST_SIZE:
        raise InvalidSnapshotError(f"the game is cut short: {len(data)} bytes")
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 2], "little")
    if version != VERSION:
        raise InvalidSnapshotError(f"the game has the format version {version}; allowed: {VERSION}")
    content, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if _digest(content) != digest:
        raise InvalidSnapshotError("the game is cut short or was changed: its checksum is wrong")
    record_start = _HEADER_START + int.from_bytes(data[_HEADER_START - 4 : _HEADER_START], "little")
    history_start = record_start + core.STATE.itemsize
    if history_start > len(content):
        raise InvalidSnapshotError(
            f"the game is cut short: {len(content)} bytes before the checksum; its header needs {history_start}"
        )
    try:
        header = Header.model_validate_json(content[_HEADER_START:record_start])
        rules = Rules.from_dict(header.rules)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
        raise InvalidSnapshotError(f"the header of the game is wrong: {'; '.join(faults)}") from None
    except InvalidRulesError as error:
        raise InvalidSnapshotError(f"the rules of the game are wrong: {error}") from None
    return header, rules, content[record_start:history_start], content[history_start:]


def _read_deck(text: str) -> list[str]:
    """The cards of a deck in hexadecimal digits, two a card.

    Raises:
        InvalidSnapshotError: It is none.
    """
    try:
        return [CARDS[card] for card in bytes.fromhex(text)]
    except (ValueError, IndexError):
        raise InvalidSnapshotError(f"the deck {text!r} is no list of cards") from None


def _meaning(record: bytes) -> bytes:
    """A record without its generator and without what earlier actions left in fields that nobody reads again."""
    state = np.frombuffer(bytearray(record), core.STATE)[0]
    state["rng"] = 0
    state["said"][int(state["num_said"]) :] = 0
    if not state["asking"]:
        state["pending"] = 0
    if state["row"] == 0:
        state["row_color"] = 0
    if state["deal"] == 0:
        state["score"] = 0
    return bytes(state.tobytes())


def check_state(state: Any, rules: Rules, *, tracks_colors: bool) -> None:
    """Check that every field of a record has a value that it may have, and that every card lies in one place.

    All that compiled code takes for an index is checked, so no record that passes can lead it astray. The legal set
    is left to the caller, who can make it anew.

    Args:
        state: An element of a STATE array.
        rules: The rules of the game.
        tracks_colors: Whether the counts by card are kept.

    Raises:
        InvalidSnapshotError: A value is impossible; the message names the field.
    """
    _check_ranges(state, rules)
    _check_sizes(state, rules)
    _check_cards(state, rules, tracks_colors)
    _check_stage(state, rules)


def _need(holds: Any, field: str) -> None:
    if not np.all(holds):
        raise InvalidSnapshotError(f"the game holds an impossible value: {field}")


def _check_ranges(state: Any, rules: Rules) -> None:
    n = rules.num_players
    most = np.iinfo(np.int32).max
    ranges = {
        "player": (0, n - 1),
        "phase": (0, core.OVER),
        "asking": (0, int(rules.color_swap)),
        "top": (core.NO_KIND, CLEAR - 1),
        "extras": (0, 2 * MAX_COPIES * 3),
        "draw_open": (0, 1),
        "table_clear_2": (0, 1),
        "still_in": (0, n),
        "revealed": (0, 1),
        "first_player": (0, n - 1),
        "drawn": (n * (2 * rules.table_cards + rules.hand_size), rules.deck_size),
        "deck_size": (rules.deck_size, rules.deck_size),
        "decisions": (0, most),
        "hand_size": (0, rules.deck_size),
        "up_size": (0, rules.table_cards),
        "down_size": (0, rules.table_cards),
        "down_seen": (0, 1),
        "pending": (0, NUM_ACTIONS - 1),
        "num_said": (0, MAX_COPIES),
        "said": (0, NUM_COLORS - 1),
        "victim": (core.NO_SEAT, n - 1),
        "saboteurs": (0, n),
        "row_color": (0, NUM_COLORS - 1),
        "row": (0, ROW_OF_FOUR - 1),
        "ended": (core.NOT_ENDED, core.ENDED_MATCH),
        "place": (0, n),
        "deal": (0, rules.rounds),
        "score": (0, np.iinfo(np.int16).max),
        "total": (0, most),
    }
    for field, (low, high) in ranges.items():
        _need((low <= state[field]) & (state[field] <= high), field)
    for field in ("pile", "hand", "up", "known", "removed", "hand_card", "pile_card", "removed_card"):
        _need((state[field] >= 0) & (state[field] <= MAX_COPIES), field)
    _need(abs(int(state["direction"])) == 1, "direction")
    for field in ("down", "up_card", "give_card", "want_card"):
        _need((state[field] < NUM_CARDS) | (state[field] == core.NO_CARD), field)
    _need(state["deck"][: rules.deck_size] < NUM_CARDS, "deck")
    _need(state["swap"][: rules.pile_swaps] < n, "swap")
    _need(state["swap"] >= 0, "swap")
    _need(state["rng"].any(), "rng")


def _check_sizes(state: Any, rules: Rules) -> None:
    for field in ("hand", "up"):
        _need(state[field].sum(axis=1) == state[f"{field}_size"], f"{field}_size")
    for field in ("hand", "up", "known", "down_seen", "place", "score", "total"):
        _need(state[field][rules.num_players :] == 0, field)
    _need(state["down"][rules.num_players :] == core.NO_CARD, "down")
    _need(state["down"][:, rules.table_cards :] == core.NO_CARD, "down")
    lying = state["down"] != core.NO_CARD
    _need(lying.sum(axis=1) == state["down_size"], "down_size")
    _need(lying | (state["down_seen"] == 0), "down_seen")
    _need(state["known"] <= state["hand"], "known")
    held = np.flatnonzero(state["pile"])
    _need(state["top"] == (held[-1] if len(held) else core.NO_KIND), "top")


def _check_cards(state: Any, rules: Rules, tracks_colors: bool) -> None:
    """Every card of the deck lies in one place, by kind, and by colour where colours are kept."""
    loose = [state["deck"][int(state["drawn"]) : rules.deck_size], state["down"][state["down"] != core.NO_CARD]]
    cards = np.bincount(np.concatenate(loose), minlength=NUM_CARDS)
    by_kind = (-1, NUM_KINDS, NUM_COLORS)
    kinds = state["hand"].sum(axis=0) + state["up"].sum(axis=0) + state["pile"] + state["removed"]
    _need(cards.reshape(by_kind)[0].sum(axis=1) + kinds == rules.copies, "the cards of the deck")
    if not tracks_colors:
        return
    cards += state["hand_card"].sum(axis=0) + state["pile_card"] + state["removed_card"]
    cards += np.bincount(state["up_card"][state["up_card"] != core.NO_CARD], minlength=NUM_CARDS)
    _need(cards == rules.deck_counts, "the cards of the deck")
    for counts, field in (
        (state["hand_card"], "hand"),
        (state["pile_card"], "pile"),
        (state["removed_card"], "removed"),
    ):
        _need(counts.reshape(by_kind).sum(axis=2).reshape(state[field].shape) == state[field], f"{field}_card")
    for seat in range(rules.num_players):
        shown = state["up_card"][seat][state["up_card"][seat] != core.NO_CARD]
        _need(np.bincount(shown // NUM_COLORS, minlength=NUM_KINDS) == state["up"][seat], "up_card")


def _check_stage(state: Any, rules: Rules) -> None:
    """The phase, and what is half said in it, go together."""
    phase, player = int(state["phase"]), int(state["player"])
    over = phase == core.OVER
    _need(over or state["ended"] == core.NOT_ENDED, "ended")
    _need(phase != core.BETWEEN_DEALS, "phase")
    _need(over or state["deal"] < rules.rounds, "deal")
    _need((phase == core.UP_PHASE) == (state["revealed"] == 0) or over, "revealed")
    _need(rules.sabotage or phase not in (core.SABOTAGE_TARGET, core.SABOTAGE_WANT, core.SABOTAGE_GIVE), "phase")
    _need(rules.color_swap or phase not in (core.EXCHANGE_GIVE, core.EXCHANGE_WANT), "phase")
    if phase in (core.SABOTAGE_WANT, core.SABOTAGE_GIVE, core.EXCHANGE_WANT):
        _need(state["victim"] >= 0, "victim")
    if phase == core.SABOTAGE_GIVE:
        _need(state["want_card"] != core.NO_CARD, "want_card")
        _need(state["up"][int(state["victim"]), int(state["want_card"]) // NUM_COLORS] > 0, "want_card")
    if phase == core.EXCHANGE_WANT:
        _need(state["victim"] == player, "victim")
        _need(state["give_card"] != core.NO_CARD, "give_card")
        _need(state["hand"][player, int(state["give_card"]) // NUM_COLORS] > 0, "give_card")
    if state["asking"]:
        _check_asking(state)
    if not over:
        still_in = state["hand_size"] + state["up_size"] + state["down_size"] > 0
        _need(still_in[player], "player")
        _need(np.count_nonzero(still_in) == state["still_in"], "still_in")


def _check_asking(state: Any) -> None:
    """The action whose colours are being said moves cards that lie where it takes them from."""
    _need(state["num_said"] < MAX_COPIES, "num_said")
    action, player, victim = int(state["pending"]), int(state["player"]), int(state["victim"])
    hand, up = state["hand"][player], state["up"]
    if action < DRAW:
        zone = hand if state["hand_size"][player] > 0 else up[player]
        _need(zone[action // MAX_COPIES] > action % MAX_COPIES, "pending")
        _need(state["num_said"] <= action % MAX_COPIES, "num_said")
        return
    _need(state["num_said"] == 0, "num_said")
    if UP <= action < PASS:
        _need(hand[action - UP] > 0, "pending")
    elif GIVE <= action < WANT:
        _need(hand[action - GIVE] > 0, "pending")
    else:
        _need(WANT <= action < TARGET and victim >= 0 and up[victim, action - WANT] > 0, "pending")
