"""Clause 10.4: what is hidden from a seat changes nothing that it is given; and 10.1 to 10.3: what it may know does."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from threeup_env.actions import DRAW, GIVE, PASS, UP, WANT
from threeup_env.cards import MAX_COPIES, NUM_CARDS, NUM_COLORS, NUM_KINDS
from threeup_env.core import single
from threeup_env.core import state as core
from threeup_env.core.legal import find_legal
from threeup_env.game import Game
from threeup_env.rules import Rules

from .strategies import rules_strategy
from .tables import choose, decode, down, draw_pile, hand, play, should_see, state_of, table
from .test_properties import check_cards_are_conserved, check_counts, check_known_bounds, check_legal_set

SEEDS = st.integers(0, 2**32 - 1)
MANY = settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
NOBODY = -1
"""An observer from whom all hands and all 3DOWN cards are hidden."""


# Another state that an observer cannot tell from this one


def twin(game: Game, seat: int, rng: random.Random) -> Game:
    """A copy of `game` in which everything that is hidden from `seat` has been dealt out anew.

    Sizes of hands, known hands (10.2), occupied slots, and slots that their owners have seen stay as they are,
    and so does what was said of an action made in parts.
    """
    other = game.copy()
    s = state_of(other)
    others = [o for o in range(game.rules.num_players) if o != seat]
    unrevealed = [] if s["revealed"] else others
    drawn, size = int(s["drawn"]), int(s["deck_size"])
    slots = [
        (o, slot)
        for o in range(game.rules.num_players)
        for slot in range(game.rules.table_cards)
        if s["down"][o, slot] != core.NO_CARD and not (o == seat and s["down_seen"][o, slot])
    ]

    pool = s["deck"][drawn:size].tolist() + [int(s["down"][slot]) for slot in slots]
    for o in others:
        pool += np.repeat(np.arange(NUM_CARDS), s["hand_card"][o]).tolist()
    for o in unrevealed:
        pool += s["up_card"][o, : s["up_size"][o]].tolist()
    rng.shuffle(pool)

    hands: dict[int, list[int]] = {o: said_of(s, o) for o in others}
    for cards in hands.values():
        for card in cards:
            pool.remove(card)
    for o in others:
        for kind, least in enumerate(least_of(s, o)):
            while sum(card // NUM_COLORS == kind for card in hands[o]) < least:
                hands[o].append(pool.pop(next(i for i, card in enumerate(pool) if card // NUM_COLORS == kind)))
    for o in others:
        while len(hands[o]) < s["hand_size"][o]:
            hands[o].append(pool.pop())
        s["hand_card"][o] = np.bincount(hands[o], minlength=NUM_CARDS)
        s["hand"][o] = s["hand_card"][o].reshape(NUM_KINDS, NUM_COLORS).sum(axis=1)
    for o in unrevealed:
        cards = [pool.pop() for _ in range(s["up_size"][o])]
        s["up_card"][o, : len(cards)] = cards
        s["up"][o] = np.bincount(np.array(cards, int) // NUM_COLORS, minlength=NUM_KINDS)
    for slot in slots:
        s["down"][slot] = pool.pop()
    s["deck"][drawn:size] = pool

    shuffle_traces(s, rng)
    if s["phase"] == core.UP_PHASE and s["player"] != seat:
        shuffle_choice(game.rules, s, rng)
    if s["phase"] < core.BETWEEN_DEALS:
        find_legal(s, other._switches[0])
    return other


def said_of(s: np.void, seat: int) -> list[int]:
    """Cards that `seat` has said it holds, by kind and colour, in an action made in parts (10.1)."""
    if seat != s["player"] or not s["revealed"]:
        return []
    cards = [int(s["give_card"])] if s["give_card"] != core.NO_CARD else []
    if s["asking"] and from_hand(s):
        kind, _ = moved(s)
        cards += [kind * NUM_COLORS + int(color) for color in s["said"][: s["num_said"]]]
    return cards


def least_of(s: np.void, seat: int) -> list[int]:
    """Cards of each kind that `seat` is known to hold, by 10.2 or because it is playing or giving them."""
    least = s["known"][seat].tolist()
    if seat == s["player"] and s["revealed"] and s["asking"] and from_hand(s):
        kind, count = moved(s)
        least[kind] = max(least[kind], count)
    return least


def from_hand(s: np.void) -> bool:
    return bool(s["pending"] < WANT and s["hand_size"][s["player"]] > 0)


def moved(s: np.void) -> tuple[int, int]:
    action = int(s["pending"])
    if action < DRAW:
        return action // MAX_COPIES, action % MAX_COPIES + 1
    return action - (UP if action < PASS else GIVE), 1


def shuffle_traces(s: np.void, rng: random.Random) -> None:
    """What nobody sees: the generator, the order in which cards were dealt, swaps still to come."""
    s["rng"] = [rng.getrandbits(63), rng.getrandbits(63)]
    dealt = s["deck"][: s["drawn"]].tolist()
    rng.shuffle(dealt)
    s["deck"][: s["drawn"]] = dealt
    if not s["revealed"]:
        s["decisions"] += rng.randrange(1000)
        s["swap"] = s["swap"][:, ::-1].copy()


def shuffle_choice(rules: Rules, s: np.void, rng: random.Random) -> None:
    """2.3: others do not see whether a card or its colour is being chosen."""
    s["asking"] = rules.color_swap and rng.random() < 0.5
    s["num_said"] = 0
    s["pending"] = UP + rng.choice(np.flatnonzero(s["hand"][s["player"]]).tolist())


def between_deals(game: Game, action: int) -> Game | None:
    """The state after a deal of a match and before the next, if `action` leads there; a `Game` passes over it."""
    other = game.copy()
    return other if single.play(other._states, other._switches, action) == single.DEAL_OVER else None


def check_hiding(game: Game, rng: random.Random) -> None:
    for seat in range(game.rules.num_players):
        other = twin(game, seat, rng)
        assert other.observation(seat).tolist() == game.observation(seat).tolist()
        if seat == game.player:
            assert other.action_mask.tolist() == game.action_mask.tolist()
            assert other.legal_actions == game.legal_actions


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@settings(MANY, max_examples=60)
@given(data=st.data(), seed=SEEDS)
def test_hidden_cards_change_nothing(players: int, data: st.DataObject, seed: int) -> None:
    rng = random.Random(seed)
    game = Game(data.draw(rules_strategy(num_players=players)), seed)
    greed = rng.choice([0.0, 0.6, 1.0])
    for _ in range(300):
        if game.player is None or rng.random() < 0.3:
            check_hiding(game, rng)
        if game.player is None:
            break
        action = choose(game, rng, greed)
        paused = between_deals(game, action)
        if paused is not None:
            check_hiding(paused, rng)
        game.play(action)


@MANY
@given(rules_strategy(), SEEDS)
def test_twins_are_possible_states(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in range(rng.randrange(150)):
        if game.player is not None:
            game.play(choose(game, rng, 0.6))
    for seat in (NOBODY, *range(rules.num_players)):
        other = twin(game, seat, rng)
        check_cards_are_conserved(other)
        check_counts(other)
        check_known_bounds(other)
        check_legal_set(other)


def test_twins_differ() -> None:
    rng = random.Random(1)
    game = middle(HOUSE)
    twins = [twin(game, 0, rng) for _ in range(20)]
    assert len({hand(other, 1) for other in twins}) > 10
    assert len({down(other, 0) for other in twins}) > 10, "the own 3DOWN cards too"
    assert len({draw_pile(other) for other in twins}) > 10
    assert {hand(other, 0) for other in twins} == {hand(game, 0)}


def test_every_phase_is_met() -> None:
    """The check above, at each kind of position that the rules know, with all options."""
    met: dict[tuple[int, int, int], int] = {}
    rng = random.Random(3)
    rules = {
        "failed_flip": "stay",
        "must_play": False,
        "extra_mandatory": False,
        "color_swap": True,
        "sabotage": True,
        "reverse_ones": True,
        "pile_swaps": 1,
    }
    for seed in range(200):
        more = {"rounds": 2, "max_decisions": 60} if seed % 3 == 0 else {"play_on": True}
        game = Game(Rules(2 + seed % 5, hand_size=1 + seed % 4, table_cards=1 + seed % 3, **rules, **more), seed)
        while game.player is not None:
            s = state_of(game)
            key = (int(s["phase"]), int(s["asking"]), int(s["extras"] > 0))
            met[key] = met.get(key, 0) + 1
            if met[key] <= 40:
                check_hiding(game, rng)
            action = choose(game, rng, 0.6)
            paused = between_deals(game, action)
            if paused is not None:
                check_hiding(paused, rng)
                met[core.BETWEEN_DEALS, 0, 0] = 1
            game.play(action)
        check_hiding(game, rng)
    askable = (core.UP_PHASE, core.SABOTAGE_WANT, core.SABOTAGE_GIVE, core.EXCHANGE_GIVE, core.EXCHANGE_WANT)
    assert {(phase, asking, 0) for phase in askable for asking in (0, 1)} <= met.keys()
    assert {(core.TURN, asking, owed) for asking in (0, 1) for owed in (0, 1)} <= met.keys()
    assert {(core.SABOTAGE_TARGET, 0, 0), (core.BETWEEN_DEALS, 0, 0)} <= met.keys()


@MANY
@given(rules_strategy(), SEEDS)
def test_the_public_table_hides_all_of_it(rules: Rules, seed: int) -> None:
    """`str(game)` is for everybody: neither hands nor 3DOWN cards, not even those their owners have seen."""
    rng = random.Random(seed)
    game = Game(rules, seed)
    while game.player is not None:
        if rng.random() < 0.2:
            assert str(twin(game, NOBODY, rng)) == str(game)
        game.play(choose(game, rng, 0.6))


# What a seat may know changes what it observes

HOUSE = Rules.house(3, failed_flip="stay", pile_swaps=0)
MATCH = Rules.match(3)


def middle(rules: Rules) -> Game:
    """A position in a turn with a pile, cards in every zone, and nothing begun."""
    rng = random.Random(11)
    for seed in range(1000):
        game = Game(rules, seed)
        for _ in range(30):
            if game.player is not None:
                game.play(choose(game, rng, 0.3))
        s = state_of(game)
        quiet = game.player is not None and s["phase"] == core.TURN and not s["asking"] and not s["extras"]
        if quiet and s["pile"].sum() > 2 and s["removed"].any() and s["row"] and s["known"].any():
            return game
    raise AssertionError("no such position")


def put(name: str, *place: int, by: int = 0, value: int | None = None) -> Callable[[np.void], None]:
    """Change one field of the state."""

    def change(s: np.void) -> None:
        at = place if place else ()
        s[name][at] = value if value is not None else s[name][at] + by

    if not place:

        def change_scalar(s: np.void) -> None:
            s[name] = value if value is not None else s[name] + by

        return change_scalar
    return change


def recolored(name: str) -> Callable[[np.void], None]:
    """One card of some zone gets another colour."""

    def change(s: np.void) -> None:
        counts = s[name]
        card = int(np.flatnonzero(counts)[0])
        counts[card] -= 1
        counts[card // NUM_COLORS * NUM_COLORS + (card + 1) % NUM_COLORS] += 1

    return change


def recolored_up(s: np.void) -> None:
    card = int(s["up_card"][1, 0])
    s["up_card"][1, 0] = card // NUM_COLORS * NUM_COLORS + (card % NUM_COLORS + 1) % NUM_COLORS


def another_up(s: np.void) -> None:
    card = int(s["up_card"][1, 0])
    s["up"][1, card // NUM_COLORS] -= 1
    card = (card + NUM_COLORS) % NUM_CARDS
    s["up_card"][1, 0] = card
    s["up"][1, card // NUM_COLORS] += 1


def another_pile(s: np.void) -> None:
    kind = int(np.flatnonzero(s["pile"])[0])
    s["pile"][kind] += 1 if s["pile"][kind] == 1 else -1


def offered_draw(s: np.void) -> None:
    s["extras"], s["draw_open"], s["hand_size"][s["player"]] = 1, 1, 1
    s["drawn"] = s["deck_size"] - 3


def said_more(s: np.void) -> None:
    s["asking"], s["pending"], s["num_said"] = 1, UP + 1, 0


PUBLIC: dict[str, tuple[Rules, Callable[[np.void], None]]] = {
    "player": (MATCH, lambda s: put("player", value=(int(s["player"]) + 1) % 3)(s)),
    "phase": (HOUSE, put("phase", value=core.EXCHANGE_GIVE)),
    "extras": (MATCH, put("extras", by=1)),
    "draw offered": (MATCH, offered_draw),
    "C+2 from the table": (MATCH, put("table_clear_2", value=1)),
    "pile": (MATCH, another_pile),
    "pile colours": (HOUSE, recolored("pile_card")),
    "removed": (MATCH, put("removed", 12, by=1)),
    "removed colours": (HOUSE, recolored("removed_card")),
    "3UP": (MATCH, another_up),
    "3UP colours": (HOUSE, recolored_up),
    "hand size": (MATCH, put("hand_size", 2, by=1)),
    "draw pile": (MATCH, put("drawn", by=1)),
    "decisions left": (MATCH, put("decisions", by=1)),
    "3DOWN slots": (MATCH, put("down", 0, 1, value=core.NO_CARD)),
    "3DOWN slots seen": (HOUSE, put("down_seen", 0, 1, value=1)),
    "direction": (HOUSE, lambda s: put("direction", value=-int(s["direction"]))(s)),
    "first player": (MATCH, lambda s: put("first_player", value=(int(s["first_player"]) + 1) % 3)(s)),
    "places": (HOUSE, put("place", 1, value=1)),
    "deal number": (MATCH, put("deal", by=1)),
    "totals": (MATCH, put("total", 1, by=1)),
    "known hands": (MATCH, put("known", 2, 5, by=1)),
    "row": (HOUSE, put("row", value=0)),
    "row colour": (HOUSE, lambda s: put("row_color", value=(int(s["row_color"]) + 1) % 3)(s)),
    "action in parts": (HOUSE, said_more),
    "card given": (HOUSE, put("give_card", value=4)),
    "card wanted": (HOUSE, put("want_card", value=4)),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_is_seen_by_all(name: str) -> None:
    rules, change = PUBLIC[name]
    game = middle(rules)
    other = game.copy()
    change(state_of(other))
    for seat in range(3):
        assert other.observation(seat).tolist() != game.observation(seat).tolist()


def test_parts_already_said_are_public() -> None:
    """8.4, 8.6: kind, count, each colour, victim, wanted and given card tell positions apart, for every seat."""
    seats = ("g9 r9 | r10 g10 | g7 r7 b7", "b9 b10 | g8 r8 | g1 r1 b1", "g6 r6 | b8 b6 | g2 r2 b2")
    lines = [
        ["pass"],
        ["target 1"],
        ["target 2"],
        ["target 1", "want 8"],
        ["target 1", "want 8", "color g"],
        ["target 1", "want 8", "color r"],
        ["target 2", "want 6"],
        ["target 2", "want 8"],
        ["target 1", "want 8", "color r", "give 7"],
        ["target 1", "want 8", "color r", "give 7", "color g"],
        ["target 1", "want 8", "color r", "give 7", "color b"],
        ["pass", "pass", "pass", "play 7"],
        ["pass", "pass", "pass", "play 7x2"],
        ["pass", "pass", "pass", "play 7x2", "color g"],
        ["pass", "pass", "pass", "play 7x2", "color r"],
        ["pass", "pass", "pass", "play 7x2", "color b"],
    ]
    games = [play(table(*seats, sabotage=True, color_swap=True), *line) for line in lines]
    for seat in range(3):
        assert len({game.observation(seat).tobytes() for game in games}) == len(lines)


def changes_for(game: Game, other: Game) -> list[int]:
    """The seats that observe another thing in the two games."""
    return [seat for seat in range(3) if other.observation(seat).tolist() != game.observation(seat).tolist()]


@pytest.mark.parametrize("rules", [HOUSE, MATCH], ids=["house", "match"])
def test_the_own_hand_is_seen_by_its_owner_alone(rules: Rules) -> None:
    game = middle(rules)
    for seat in range(3):
        other = game.copy()
        s = state_of(other)
        unknown = np.flatnonzero(s["hand"][seat] > s["known"][seat])[0]
        card = next(card for card in range(NUM_CARDS) if card // NUM_COLORS == unknown and s["hand_card"][seat, card])
        new = int(next(card for card in s["deck"][s["drawn"] :] if card // NUM_COLORS != unknown))
        for by, which in ((-1, card), (1, new)):
            s["hand_card"][seat, which] += by
            s["hand"][seat, which // NUM_COLORS] += by
        assert changes_for(game, other) == [seat]


def test_the_colours_of_the_own_hand_are_seen_by_its_owner_alone() -> None:
    game = middle(HOUSE)
    for seat in range(3):
        other = game.copy()
        recolored_hand = state_of(other)["hand_card"][seat]
        card = int(np.flatnonzero(recolored_hand)[0])
        recolored_hand[card] -= 1
        recolored_hand[card // NUM_COLORS * NUM_COLORS + (card + 1) % NUM_COLORS] += 1
        assert changes_for(game, other) == [seat]


def test_the_own_seen_3down_cards_are_seen_by_their_owner_alone() -> None:
    game = middle(HOUSE)
    state_of(game)["down_seen"][1, 2] = 1
    for by in (1, NUM_COLORS):
        other = game.copy()
        state_of(other)["down"][1, 2] = (state_of(game)["down"][1, 2] + by) % NUM_CARDS
        assert changes_for(game, other) == [1]


def test_an_unrevealed_choice_is_seen_by_its_owner_alone() -> None:
    game = Game(Rules(3), seed=2, first_player=1)
    choices = [play(game.copy(), action) for action in game.legal_actions]
    assert len(choices) > 2
    for other in choices[1:]:
        assert changes_for(choices[0], other) == [1]


def test_the_draw_of_8_2_is_seen_by_the_player_to_decide_alone() -> None:
    """The mask of the player to decide tells it; no observation of the others does (10.3)."""
    games = [
        play(table("g9 | g8 | g4 g5", f"r9 | r8 | r2 r{kind}", draw=f"b1 r{9 - kind}", must_play=False), "play 4")
        for kind in (3, 6)
    ]
    assert games[0].action_mask.tolist() != games[1].action_mask.tolist()
    assert games[0].observation(0).tolist() == games[1].observation(0).tolist()
    assert games[0].observation(1).tolist() != games[1].observation(1).tolist()


@MANY
@given(rules_strategy(), SEEDS)
def test_every_item_can_be_read_back(rules: Rules, seed: int) -> None:
    """Each item of 10.1 to 10.3 is in the observation with its value: no two values look the same."""
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in range(200):
        if game.player is None or rng.random() < 0.15:
            for seat in range(rules.num_players):
                seen, truth = decode(game, seat), should_see(game, seat)
                assert {name: seen[name] for name in truth} == truth
        if game.player is None:
            break
        game.play(choose(game, rng, 0.6))
