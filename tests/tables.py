"""Positions to test: games dealt from written cards, what lies where, and what a seat should see of it.

Cards are written as in docs/rules.md (`g10`, `rC`), several of them in one string: `"g7 r7"`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from threeup_env.actions import DRAW, FLIP, GIVE, PASS, TAKE, TARGET, UP, WANT
from threeup_env.cards import CARDS, CLEAR, KINDS, MAX_COPIES, NUM_COLORS, NUM_KINDS
from threeup_env.core import state as core
from threeup_env.game import Game
from threeup_env.observation import LEADS, observation_layout
from threeup_env.rules import Rules

EMPTY = "--"
"""An empty 3DOWN slot."""


# Dealing


def table(
    *seats: str,
    draw: str = "",
    first_player: int = 0,
    lay_up: bool = True,
    pile_swaps: Sequence[tuple[int, int]] = (),
    deals: int | None = None,
    **switches: Any,
) -> Game:
    """A game in which the seats hold the cards written for them.

    Args:
        seats: For each seat its `"3DOWN | 3UP | hand"`, such as `"g9 r9 | g8 r8 | g1"`. The deck is made of
            these cards, the numbers of table and hand cards follow from the first seat.
        draw: The draw pile, front first.
        first_player: Who begins.
        lay_up: Whether the 3UP cards are laid up; otherwise the game stands at the first decision.
        pile_swaps: The pairs of clause 8.5.
        deals: How many deals have this deck; all of `rounds` when left out.
        switches: Of `Rules`.
    """
    cards = [[part.split() for part in seat.split("|")] for seat in seats]
    deck = [card for face_down, _, _ in cards for card in face_down]
    deck += [card for _, face_up, held in cards for card in (*face_up, *held)]
    deck += draw.split()
    table_cards, hand_size = len(cards[0][1]), len(cards[0][2])
    assert all(list(map(len, zones)) == [table_cards, table_cards, hand_size] for zones in cards), "uneven seats"
    if pile_swaps:
        switches["pile_swaps"] = len(pile_swaps)
    rules = Rules(len(seats), deck=Counter(deck), table_cards=table_cards, hand_size=hand_size, **switches)
    decks = [deck] * (rules.rounds if deals is None else deals)
    game = Game(
        rules,
        seed=0,
        decks=decks,
        first_player=first_player,
        pile_swaps=[pile_swaps] * len(decks) if pile_swaps else None,
    )
    if lay_up:
        for distance in range(len(seats)):
            seat = (first_player + distance) % len(seats)
            for card in cards[seat][1]:
                play(game, f"up {card[1:]}")
                if asks_color(game):
                    play(game, f"color {card[0]}")
            if distance < len(seats) - 1:  # after the last, piles may have been swapped (8.5)
                assert sorted(up(game, seat).split()) == sorted(cards[seat][1]), "cards of a kind go green first (7.3)"
    return game


def play(game: Game, *actions: str) -> Game:
    """Play the actions, one decision each; the same game."""
    for action in actions:
        game.play(action)
    return game


def asks_color(game: Game) -> bool:
    """Whether a colour is to be said now (8.4)."""
    return any(action.startswith("color") for action in game.legal_actions)


# What lies where


def state_of(game: Game) -> np.void:
    """The record of the game: what compiled code reads and writes."""
    return game._states[0]


def written(cards: Iterable[int]) -> str:
    """Cards by index, in the given order."""
    return " ".join(CARDS[card] for card in cards)


def counted(counts: Sequence[int]) -> str:
    """Cards from their counts, in card order."""
    return written(card for card, count in enumerate(counts) for _ in range(count))


def hand(game: Game, seat: int) -> str:
    """The hand of a seat, in card order."""
    return counted(state_of(game)["hand_card"][seat])


def up(game: Game, seat: int) -> str:
    """The 3UP cards of a seat, in card order."""
    return written(sorted(card for card in state_of(game)["up_card"][seat].tolist() if card != core.NO_CARD))


def down(game: Game, seat: int) -> str:
    """The 3DOWN cards of a seat, slot by slot."""
    slots = state_of(game)["down"][seat, : game.rules.table_cards].tolist()
    return " ".join(EMPTY if card == core.NO_CARD else CARDS[card] for card in slots)


def pile(game: Game) -> str:
    """The discard pile, in card order (it lies in rising order of kind)."""
    return counted(state_of(game)["pile_card"])


def removed(game: Game) -> str:
    """The removed cards, in card order."""
    return counted(state_of(game)["removed_card"])


def draw_pile(game: Game) -> str:
    """The draw pile, front first."""
    state = state_of(game)
    return written(state["deck"][state["drawn"] : state["deck_size"]].tolist())


def extras(game: Game) -> int:
    """Extra actions owed."""
    return int(state_of(game)["extras"])


# What a seat sees


def decode(game: Game, seat: int) -> dict[str, Any]:
    """The observation of a seat, each slice as plain Python values."""
    observation = game.observation(seat)
    views = {part.name: part.view(observation).astype(int) for part in observation_layout(game.rules)}
    return {name: _DECODERS[name](view) for name, view in views.items()}


def _levels(view: np.ndarray) -> Any:
    for level in range(1, view.shape[-1]):
        assert (view[..., level] <= view[..., level - 1]).all(), "levels fall"
    return view.sum(axis=-1).tolist()


def _digits(view: np.ndarray) -> Any:
    return (view * 8 ** np.arange(view.shape[-1])).sum(axis=-1).tolist()


def _one_hot(view: np.ndarray) -> Any:
    """Index of the one, None where there is none."""
    if view.ndim > 1:
        return [_one_hot(row) for row in view]
    assert view.sum() <= 1
    return int(view.argmax()) if view.any() else None


def _row(view: np.ndarray) -> Any:
    lengths = _levels(view)
    assert sum(length > 0 for length in lengths) <= 1
    return next(((color, length) for color, length in enumerate(lengths) if length), None)


def _said(view: np.ndarray) -> Any:
    colors = _one_hot(view)
    said = [color for color in colors if color is not None]
    assert colors[: len(said)] == said, "colours are said in order"
    return said


def _number(view: np.ndarray) -> Any:
    return int(view[0])


_DECODERS = {
    "hand": np.ndarray.tolist,
    "removed": np.ndarray.tolist,
    "up": np.ndarray.tolist,
    "known": np.ndarray.tolist,
    "hand_size": np.ndarray.tolist,
    "pile": np.ndarray.tolist,
    "top": _one_hot,
    "draw_pile": _number,
    "down": np.ndarray.tolist,
    "down_seen": np.ndarray.tolist,
    "seen_kind": _one_hot,
    "seen_color": _one_hot,
    "to_play": _one_hot,
    "first_player": _one_hot,
    "phase": _one_hot,
    "extras": _number,
    "draw_offered": _number,
    "table_clear_2": _number,
    "decisions_left": _digits,
    "direction": _number,
    "place": _one_hot,
    "deal": _number,
    "total": _digits,
    "lead": np.ndarray.tolist,
    "row": _row,
    "asking": _number,
    "pending_kind": _one_hot,
    "pending_count": _levels,
    "hand_card": np.ndarray.tolist,
    "removed_card": np.ndarray.tolist,
    "pile_card": np.ndarray.tolist,
    "up_card": np.ndarray.tolist,
    "said": _said,
    "give_kind": _one_hot,
    "give_color": _one_hot,
    "want_kind": _one_hot,
    "want_color": _one_hot,
    "victim": _one_hot,
}


def should_see(game: Game, seat: int) -> dict[str, Any]:
    """What clauses 10.1 to 10.3 give a seat to see, in the form of `decode`, from the truth of the state."""
    rules, s = game.rules, state_of(game)
    n, t = rules.num_players, rules.table_cards
    order = [(seat + distance) % n for distance in range(n)]
    revealed, over = bool(s["revealed"]), int(s["phase"]) >= core.BETWEEN_DEALS

    def by_kind(cards: str) -> list[int]:
        return [sum(card[1:] == kind for card in cards.split()) for kind in KINDS]

    def by_card(cards: str) -> list[int]:
        return [cards.split().count(card) for card in CARDS]

    def shown_up(other: int) -> str:
        return up(game, other) if revealed or other == seat else ""

    def relative(other: int) -> int:
        return (int(other) - seat) % n

    top = max((KINDS.index(card[1:]) for card in pile(game).split()), default=None)
    laid_up = sum(len(up(game, other).split()) for other in range(n))
    made = int(s["decisions"]) if revealed else laid_up
    seen: dict[str, Any] = {
        "hand": by_kind(hand(game, seat)),
        "up": [by_kind(shown_up(other)) for other in order],
        "known": s["known"][order].tolist(),
        "removed": by_kind(removed(game)),
        "hand_size": [len(hand(game, other).split()) for other in order],
        "pile": by_kind(pile(game))[:CLEAR],
        "top": top,
        "draw_pile": len(draw_pile(game).split()),
        "down": [[int(slot != EMPTY) for slot in down(game, other).split()] for other in order],
        "to_play": None if over else relative(s["player"]),
        "first_player": relative(s["first_player"]),
        "phase": None if over else _public_phase(rules, int(s["phase"])),
        "extras": extras(game),
        "draw_offered": int(extras(game) > 0 and "draw" in game.legal_actions),
        "table_clear_2": int(s["table_clear_2"]),
        "decisions_left": max(rules.max_decisions - made, 0),
    }
    if over:
        seen |= {"draw_offered": 0, "table_clear_2": 0}
    if rules.failed_flip == "stay":
        seen["down_seen"] = s["down_seen"][order, :t].tolist()
        own = [int(card) if known else None for card, known in zip(s["down"][seat], s["down_seen"][seat], strict=True)]
        seen["seen_kind"] = [None if card is None else card // NUM_COLORS for card in own[:t]]
        if rules.color_swap:
            seen["seen_color"] = [None if card is None else card % NUM_COLORS for card in own[:t]]
    if rules.reverse_ones:
        seen["direction"] = int(s["direction"])
    if rules.play_on:
        seen["place"] = [int(s["place"][other]) - 1 if s["place"][other] else None for other in order]
    if rules.rounds > 1:
        totals = [int(s["total"][other]) for other in order]
        seen["deal"] = int(s["deal"])
        seen["total"] = totals
        seen["lead"] = [[int(total - totals[0] > least) for least in LEADS] for total in totals]
    if rules.color_swap:
        seen["hand_card"] = by_card(hand(game, seat))
        seen["removed_card"] = by_card(removed(game))
        seen["pile_card"] = by_card(pile(game))[: CLEAR * NUM_COLORS]
        seen["up_card"] = [by_card(shown_up(other)) for other in order]
        seen["row"] = (int(s["row_color"]), int(s["row"])) if s["row"] else None
        asking = bool(s["asking"]) and (revealed or seat == s["player"])
        kind, count = _moved(int(s["pending"])) if asking else (None, 0)
        seen["asking"] = int(asking)
        seen["pending_kind"] = kind
        seen["pending_count"] = count
        seen["said"] = s["said"][: s["num_said"]].tolist() if asking else []
        seen["give_kind"], seen["give_color"] = _split(int(s["give_card"]))
    if rules.sabotage:
        seen["want_kind"], color = _split(int(s["want_card"]))
        if rules.color_swap:
            seen["want_color"] = color
        begun = s["phase"] in (core.SABOTAGE_WANT, core.SABOTAGE_GIVE)
        seen["victim"] = relative(s["victim"]) if begun else None
    return seen


def _public_phase(rules: Rules, phase: int) -> int:
    return phase if rules.color_swap or rules.sabotage else int(phase != core.UP_PHASE)


def _split(card: int) -> tuple[int | None, int | None]:
    return (None, None) if card == core.NO_CARD else divmod(card, NUM_COLORS)


def _moved(action: int) -> tuple[int, int]:
    """Kind and count of the cards that a `play`, `up`, `give` or `want` moves."""
    if action < DRAW:
        return action // MAX_COPIES, action % MAX_COPIES + 1
    first = UP if action < PASS else GIVE if action < WANT else WANT
    return action - first, 1


# Playing at random


def choose(game: Game, rng: random.Random, greed: float) -> int:
    """A legal action: drawn uniformly or, with probability `greed`, one that hurries the game on."""
    legal = game.legal_indices()
    if rng.random() < greed:
        plays = [action for action in legal if action < DRAW]
        if plays:
            kind = min(plays) // MAX_COPIES
            return max(action for action in plays if action // MAX_COPIES == kind)
    return rng.choice(legal)


def decisions(game: Game, rng: random.Random, most: int = 10_000) -> Iterator[Game]:
    """Play a game at random; yields it before every decision, and once more when it is over."""
    greed = rng.choice([0.0, 0.5, 0.9, 1.0])
    for _ in range(most):
        yield game
        if game.player is None:
            return
        game.play(choose(game, rng, greed))


class Ledger:
    """The lower bounds of clause 10.2, kept from public events alone: play the game through it."""

    def __init__(self, game: Game) -> None:
        self.known = [[0] * NUM_KINDS for _ in range(game.rules.num_players)]

    def play(self, game: Game, action: int) -> None:
        """Make the decision, and take in what everyone sees of it."""
        before = state_of(game).copy()
        deal = game.deal
        game.play(action)
        after = state_of(game)
        if game.deal != deal:
            self.__init__(game)  # type: ignore[misc]
        elif not after["asking"]:
            self._take_in(before, int(before["pending"]) if before["asking"] else action)

    def _take_in(self, before: np.void, action: int) -> None:
        known = self.known[before["player"]]
        phase, top = before["phase"], before["top"]
        if action < DRAW:
            kind, count = _moved(action)
            if before["hand_size"][before["player"]]:
                self._lower(known, kind, count)
            elif kind < top:
                self._take_pile(known, before)
                known[kind] += 1
        elif action == TAKE:
            self._take_pile(known, before)
        elif FLIP <= action < UP:
            if before["down"][before["player"], action - FLIP] // NUM_COLORS < top:
                self._take_pile(known, before)
        elif WANT <= action < TARGET and phase == core.EXCHANGE_WANT:
            self._lower(known, int(before["give_card"]) // NUM_COLORS, 1)
            known[action - WANT] += 1
        elif GIVE <= action < WANT and phase == core.SABOTAGE_GIVE:
            self._lower(known, action - GIVE, 1)
            known[int(before["want_card"]) // NUM_COLORS] += 1

    @staticmethod
    def _lower(known: list[int], kind: int, count: int) -> None:
        known[kind] = max(known[kind] - count, 0)

    @staticmethod
    def _take_pile(known: list[int], before: np.void) -> None:
        for kind in range(CLEAR):
            known[kind] += int(before["pile"][kind])
