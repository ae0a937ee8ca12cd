"""What a seat believes: nothing against what it knows (section 10), all that is possible alike, nothing hidden."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import sqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from threeup_env.cards import CARD_INDEX, NUM_COLORS, NUM_KINDS
from threeup_env.core import single
from threeup_env.core import state as core
from threeup_env.game import Game
from threeup_env.rules import Rules

from .strategies import rules_strategy
from .tables import EMPTY, choose, down, draw_pile, hand, play, state_of, table, up
from .test_hiding import twin
from .test_properties import UntrackedGame, check_cards_are_conserved, check_counts, check_known_bounds, check_legal_set

SEEDS = st.integers(0, 2**32 - 1)
MANY = settings(deadline=None, max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def positions(rules: Rules, seed: int, share: float) -> Iterator[tuple[Game, random.Random]]:
    """Some positions of a game played at random, the last one included."""
    rng = random.Random(seed)
    game = Game(rules, seed)
    while game.player is not None:
        if rng.random() < share:
            yield game, rng
        game.play(choose(game, rng, 0.6))
    yield game, rng


# Nothing against what the seat knows


@MANY
@given(rules_strategy(), SEEDS)
def test_it_never_contradicts_what_the_seat_knows(rules: Rules, seed: int) -> None:
    for game, rng in positions(rules, seed, 0.15):
        before = bytes(game._memory)
        for seat in range(rules.num_players):
            other = game.determinize(seat, rng.getrandbits(32))
            assert other.observation(seat).tolist() == game.observation(seat).tolist()
            assert other.player == game.player
            if seat == game.player:
                assert other.legal_actions == game.legal_actions
            check_cards_are_conserved(other)
            check_counts(other)
            check_known_bounds(other)
            check_legal_set(other)
        assert bytes(game._memory) == before, "the game itself is left as it was"


@MANY
@given(rules_strategy(color_swap=True), SEEDS)
def test_who_is_asked_for_a_colour_has_more_than_one(rules: Rules, seed: int) -> None:
    """8.4: a colour is asked only while more than one is possible; all know that after the reveal."""
    for game, rng in positions(rules, seed, 0.3):
        if state_of(game)["asking"] and state_of(game)["revealed"]:
            for seat in range(rules.num_players):
                assert len(game.determinize(seat, rng.getrandbits(32)).legal_actions) > 1


@settings(MANY, max_examples=40)
@given(rules_strategy(), SEEDS)
def test_it_can_be_played_on_to_the_end(rules: Rules, seed: int) -> None:
    for game, rng in positions(rules, seed, 0.03):
        other = game.determinize(rng.randrange(rules.num_players), rng.getrandbits(32))
        while other.player is not None:
            other.play(choose(other, rng, 0.9))
        assert (other.outcome is None) == (other.player is not None)


@settings(MANY, max_examples=40)
@given(rules_strategy(color_swap=False), SEEDS)
def test_games_without_colours_will_do(rules: Rules, seed: int) -> None:
    """As batches play: every card still lies in one place, by kind."""
    rng = random.Random(seed)
    game = UntrackedGame(rules, seed)
    for _ in range(rng.randrange(80)):
        if game.player is not None:
            game.play(choose(game, rng, 0.6))
    for seat in range(rules.num_players):
        other = game.determinize(seat, seed)
        assert other.observation(seat).tolist() == game.observation(seat).tolist()
        s = state_of(other)
        loose = [s["deck"][int(s["drawn"]) : rules.deck_size], s["down"][s["down"] != core.NO_CARD]]
        kinds = np.bincount(np.concatenate(loose) // NUM_COLORS, minlength=NUM_KINDS)
        kinds = kinds + s["hand"].sum(axis=0) + s["up"].sum(axis=0) + s["pile"] + s["removed"]
        assert kinds.tolist() == rules.copies.tolist()
        assert (s["hand"].sum(axis=1) == s["hand_size"]).all()
        assert (s["known"] <= s["hand"]).all()


# Nothing from what is hidden


@MANY
@given(rules_strategy(), SEEDS)
def test_it_reads_nothing_hidden(rules: Rules, seed: int) -> None:
    """Two games that differ only in what is hidden from a seat become the same game, byte for byte."""
    for game, rng in positions(rules, seed, 0.15):
        for seat in range(rules.num_players):
            other = twin(game, seat, rng)
            words = rng.getrandbits(32)
            assert game.determinize(seat, words)._memory == other.determinize(seat, words)._memory


def test_the_generator_is_another_one() -> None:
    game = Game(Rules.match(2), 1)
    own = [state_of(game.determinize(0, seed))["rng"].tolist() for seed in range(50)]
    assert state_of(game)["rng"].tolist() not in own
    assert len({tuple(words) for words in own}) == 50


def test_deals_that_the_caller_fixed_stay_unknown() -> None:
    decks = [list(Game(Rules.match(2), seed).record().deals[0].deck) for seed in range(3)]
    game = Game(Rules.match(2), 1, decks=decks)
    other = game.determinize(0, 1)
    rng = random.Random(1)
    while other.deal == 0:
        other.play(choose(other, rng, 1.0))
    assert other._deals[1].deck != bytes(CARD_INDEX[card] for card in decks[1])


def test_swaps_to_come_are_drawn_anew() -> None:
    """8.5: nobody knows them before the reveal."""
    game = Game(Rules(4, pile_swaps=1), seed=2)
    pairs = Counter(tuple(state_of(game.determinize(0, seed))["swap"][0].tolist()) for seed in range(600))
    assert set(pairs) == set(itertools.permutations(range(4), 2))
    assert min(pairs.values()) > 20


# Uniform over what is possible

Picture = tuple[str, ...]


def picture(game: Game) -> Picture:
    """Everything that may be hidden: hands, 3UP and 3DOWN cards of all seats, the draw pile."""
    seats = range(game.rules.num_players)
    zones = [zone(game, seat) for seat in seats for zone in (hand, up, down)]
    return (*zones, draw_pile(game))


def written(cards: Iterable[str]) -> str:
    """Cards of a hand in card order."""
    return " ".join(sorted(cards, key=CARD_INDEX.__getitem__))


def check_uniform(game: Game, seat: int, possible: Iterable[Picture], draws: int) -> None:
    """Chi-square of many determinisations against every possible deal, each as likely as it is often in `possible`."""
    chances = Counter(possible)
    total = sum(chances.values())
    rng = np.random.default_rng(7)
    drawn = Counter(picture(game.determinize(seat, rng)) for _ in range(draws))
    assert drawn.keys() <= chances.keys(), "nothing impossible"
    assert picture(game) in chances, "the truth is possible"
    expected = {key: draws * count / total for key, count in chances.items()}
    assert min(expected.values()) > 4, "too few draws to tell"
    square = sum((drawn[key] - mean) ** 2 / mean for key, mean in expected.items())
    freedom = len(expected) - 1
    # Mean and variance of the distribution are freedom and twice that.
    assert abs(square - freedom) < 4 * sqrt(2 * freedom), (square, freedom)


def test_first_turn() -> None:
    """Hidden: both 3DOWN cards, the other hand, the draw pile, all of different cards."""
    game = table("g1 | g2 | g3", "r1 | r2 | r3", draw="b4 b5")
    possible = (
        ("g3", "g2", own, other, "r2", another, f"{first} {second}")
        for own, other, another, first, second in itertools.permutations(["g1", "r1", "r3", "b4", "b5"])
    )
    check_uniform(game, 0, possible, 6000)


def test_known_cards_lie_where_they_are_known_to_lie() -> None:
    """10.2: player 1 has taken up g6."""
    game = play(table("g9 | g8 | g5 g6", "r9 | r8 | r2 b5", draw="b1 b2 b3"), "play 6", "take")
    possible = (
        (written(["g5", "b1"]), "g8", own, written(["g6", one, two]), "r8", other, f"{first} {second}")
        for own, one, two, other, first, second in itertools.permutations(["g9", "r2", "b5", "r9", "b2", "b3"])
    )
    check_uniform(game, 0, possible, 8000)


def test_copies_of_a_known_card() -> None:
    """One of two 5s is known to lie in the other hand, by kind alone: either may be the one, and both may lie there."""
    game = play(table("g9 | g8 | g5 g6", "r9 | r8 | r2 r3", draw="b1 b5 b3"), "play 5", "take")
    assert state_of(game)["known"][1].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    pool = hidden(game, 0)
    possible = (
        (hand(game, 0), "g8", own, written([known, one, two]), "r8", other, f"{first} {second}")
        for known in ("g5", "b5")
        for own, one, two, other, first, second in itertools.permutations([card for card in pool if card != known])
    )
    check_uniform(game, 0, possible, 12000)


def hidden(game: Game, seat: int) -> list[str]:
    """The cards that lie in places hidden from one of two seats."""
    zones = (hand(game, 1 - seat), down(game, 0), down(game, 1), draw_pile(game))
    return " ".join(zones).replace(EMPTY, "").split()


def test_set_up() -> None:
    """2.3: before the reveal the 3UP cards of the other are as unknown as its hand."""
    game = table("g1 | g2 | g3", "r1 | r2 | r3", draw="b4", first_player=1, lay_up=False)
    play(game, "up 2")
    possible = (
        (written(["g2", "g3"]), "", own, held, shown, other, draw)
        for own, held, shown, other, draw in itertools.permutations(["g1", "r1", "r2", "r3", "b4"])
    )
    check_uniform(game, 0, possible, 6000)


def test_own_seen_3down_cards_stay() -> None:
    """3.3, 10.3: a card turned in vain is known to its owner alone."""
    rng = random.Random(1)
    game = Game(Rules(failed_flip="stay"), 1)
    while not state_of(game)["down_seen"].any():
        game = Game(game.rules, rng.getrandbits(32)) if game.player is None else game
        game.play(choose(game, rng, 0.9))
    owner, slot = (int(place[0]) for place in np.nonzero(state_of(game)["down_seen"]))
    seen = down(game, owner).split()[slot]
    assert {down(game.determinize(owner, seed), owner).split()[slot] for seed in range(60)} == {seen}
    strangers = {down(game.determinize(1 - owner, seed), owner).split()[slot] for seed in range(60)}
    assert len(strangers) > 1


def test_named_cards_of_an_action_half_said() -> None:
    """8.4: player 1 is asked for the colour of a 7, so it holds two of different colours; which, nobody else knows."""
    game = table("g9 | g8 | g1 g2", "b9 | b8 | g7 r7", draw="r3 b7 r4", color_swap=True)
    play(game, "play 1", "play 7")
    assert state_of(game)["asking"]
    pool = hidden(game, 0)
    possible = (
        (hand(game, 0), "g8", own, written(held), "b8", other, f"{first} {second}")
        for named in ("g7", "r7", "b7")
        for one, own, other, first, second in itertools.permutations([card for card in pool if card != named])
        for held in [[named, one]]
        if one.endswith("7")
    )
    check_uniform(game, 0, possible, 4000)


def test_a_colour_said_stays() -> None:
    game = table("g9 | g8 | g1 g2 r2", "b9 | b8 | g7 r7 b7", draw="r3 r7 r4", color_swap=True)
    play(game, "play 1", "play 7x2", "color b")
    for seed in range(100):
        other = game.determinize(0, seed)
        sevens = [card for card in hand(other, 1).split() if card.endswith("7")]
        assert "b7" in sevens
        assert len(set(sevens)) == len(sevens) >= 3


# Its callers


@pytest.mark.parametrize("seat", [-1, 2, 0.0, None, True])
def test_there_must_be_such_a_seat(seat: object) -> None:
    with pytest.raises(ValueError, match=r"no seat .*; seats are 0\.\.1"):
        Game(seed=1).determinize(seat)  # type: ignore[arg-type]


SOURCES: dict[str, Callable[[], object]] = {
    "seed": lambda: 3,
    "sequence": lambda: np.random.SeedSequence(3),
    "generator": lambda: np.random.default_rng(3),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_of_chance_will_do(source: str) -> None:
    game = Game(seed=1)
    rng = SOURCES[source]()
    assert picture(game.determinize(0, rng)) == picture(game.determinize(0, 3))  # type: ignore[arg-type]


def test_a_generator_goes_on() -> None:
    game, rng = Game(seed=1), np.random.default_rng(3)
    assert picture(game.determinize(0, rng)) != picture(game.determinize(0, rng))
    assert picture(game.determinize(0)) != picture(game.determinize(0)), "the system's"


def test_between_deals_nothing_breaks() -> None:
    """A match pauses between two deals in compiled code; a batch may look at it then."""
    rng = random.Random(2)
    for seed in range(10):
        game = Game(Rules.match(2), seed)
        while game.deal == 0:
            action = choose(game, rng, 1.0)
            paused = game.copy()
            if single.play(paused._states, paused._switches, action) == single.DEAL_OVER:
                other = paused.determinize(0, 1)
                assert other.observation(0).tolist() == paused.observation(0).tolist()
            game.play(action)
