"""What holds in every game: whole random `Rules`, random play, checked at every decision."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from threeup_env.actions import ACTIONS, NUM_ACTIONS
from threeup_env.cards import CARDS, CLEAR, KINDS, NUM_COLORS, NUM_KINDS, POINTS
from threeup_env.core import single
from threeup_env.core import state as core
from threeup_env.errors import IllegalActionError
from threeup_env.game import REWARDS, Game
from threeup_env.observation import observation_layout
from threeup_env.rules import Rules

from .strategies import rules_strategy
from .tables import EMPTY, Ledger, choose, decisions, decode, down, draw_pile, hand, pile, removed, should_see, up
from .tables import state_of as state

SEEDS = st.integers(0, 2**32 - 1)
MANY = settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
COLOR_FIELDS = {
    "hand_card",
    "up_card",
    "pile_card",
    "removed_card",
    "row",
    "row_color",
    "said",
    "num_said",
    "want_card",
}
"""Fields of a state in which an engine that tracks no colours may differ, unless a rule reads them (8.4)."""


class UntrackedGame(Game):
    """A game without colours where no rule needs them, as batches play it; a `Game` shows them to people."""

    __slots__ = ()

    def _compile_rules(self) -> None:
        super()._compile_rules()
        self._switches = core.pack_rules(self.rules)


# Checks of one position


def check_cards_are_conserved(game: Game) -> None:
    """Every card of the deck lies in exactly one place."""
    places = [pile(game), removed(game), draw_pile(game)]
    for seat in range(game.rules.num_players):
        places += [hand(game, seat), up(game, seat), down(game, seat).replace(EMPTY, "")]
    deck = {card: int(count) for card, count in zip(CARDS, game.rules.deck_counts, strict=True) if count}
    assert Counter(" ".join(places).split()) == deck


def check_counts(game: Game) -> None:
    """Counts are not negative, sizes are those of the counts, and counts by kind those of the cards."""
    s, n = state(game), game.rules.num_players
    for name in ("hand", "up", "pile", "removed", "known", "hand_card", "pile_card", "removed_card", "extras"):
        assert (s[name] >= 0).all(), name
    assert (s["hand_size"] == s["hand"].sum(axis=1)).all()
    assert (s["up_size"] == s["up"].sum(axis=1)).all()
    assert (s["down_size"][:n] == (s["down"][:n] != core.NO_CARD).sum(axis=1)).all()
    by_kind = (NUM_KINDS, NUM_COLORS)
    assert (s["hand_card"].reshape(-1, *by_kind).sum(axis=-1) == s["hand"]).all()
    assert (s["pile_card"].reshape(by_kind).sum(axis=-1) == s["pile"]).all()
    assert (s["removed_card"].reshape(by_kind).sum(axis=-1) == s["removed"]).all()
    for seat in range(n):
        cards = [card for card in s["up_card"][seat].tolist() if card != core.NO_CARD]
        assert np.bincount(np.array(cards, int) // NUM_COLORS, minlength=NUM_KINDS).tolist() == s["up"][seat].tolist()
    held = np.flatnonzero(s["pile"])
    assert s["top"] == (held[-1] if len(held) else core.NO_KIND)
    assert s["pile"].max() <= 2, "three clear the pile (4.1)"
    assert not s["pile"][CLEAR:].any(), "Clears remove themselves (4.2)"
    for name in ("hand", "up", "known", "hand_size", "up_size", "down_size", "total", "place"):
        assert not s[name][n:].any(), f"{name} of a seat that is not there"


def check_known_bounds(game: Game) -> None:
    """10.2: what is known of a hand lies in it."""
    assert (state(game)["known"] <= state(game)["hand"]).all()


def check_legal_set(game: Game) -> None:
    """7.1: never empty before the end; the mask, the list and what `play` accepts are the same."""
    mask, legal = game.action_mask, game.legal_indices()
    assert mask.dtype == np.int8
    assert mask.shape == (game.rules.num_actions,)
    assert np.flatnonzero(mask).tolist() == legal
    assert set(mask.tolist()) <= {0, 1}
    assert [ACTIONS[action] for action in legal] == game.legal_actions
    assert (game.player is None) == (not legal) == (game.outcome is not None)
    bytes_before = game._memory[:]
    for action in range(-2, NUM_ACTIONS + 2):
        if action not in legal:
            assert single.play(game._states, game._switches, action) == single.ILLEGAL
    assert game._memory == bytes_before, "an illegal action changes nothing"


def check_observations(game: Game) -> None:
    """Every seat observes within the bounds of the layout, and exactly what it may know."""
    layout = observation_layout(game.rules)
    for seat in range(game.rules.num_players):
        observation = game.observation(seat)
        assert observation.dtype == np.int8
        assert (observation >= layout.low).all()
        assert (observation <= layout.high).all()
        assert decode(game, seat) == should_see(game, seat)


def check_rewards(game: Game) -> None:
    """Rewards sum to 0, and are 0 before the end and where there is no outcome."""
    for name in REWARDS:
        rewards = game.rewards(name)
        assert rewards.sum() == pytest.approx(0, abs=1e-9)
        if game.outcome is None or game.outcome.ended == "truncated":
            assert not rewards.any()


def check_limit(game: Game) -> None:
    """6.3: a deal ends at the limit, except that an action half made is finished."""
    limit = game.rules.max_decisions
    if game.player is not None and game.decision >= limit:
        half_made = state(game)["asking"] or game.legal_actions[0].startswith(("want", "give"))
        assert half_made
        assert "pass" not in game.legal_actions


CHECKS = (
    check_cards_are_conserved,
    check_counts,
    check_known_bounds,
    check_legal_set,
    check_observations,
    check_rewards,
    check_limit,
)


# Whole games


@MANY
@given(rules_strategy(), SEEDS)
def test_every_position(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    often = rng.choice([0.1, 1.0])
    for game in decisions(Game(rules, seed), rng, most=400):
        check_known_bounds(game)
        check_limit(game)
        if game.player is None or rng.random() < often * 0.3:
            for check in CHECKS:
                check(game)


@MANY
@given(rules_strategy(max_decisions=300), SEEDS)
def test_public_bounds_follow_from_public_events(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    game = Game(rules, seed)
    ledger = Ledger(game)
    while game.player is not None:
        ledger.play(game, choose(game, rng, 0.7))
        assert state(game)["known"][: rules.num_players].tolist() == ledger.known


@MANY
@given(rules_strategy(), SEEDS)
def test_illegal_actions_raise_and_change_nothing(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    wrong = ["play", "", "play 7x1", "fly", -1, NUM_ACTIONS, 1.0, None, True, float("nan"), np.float64(3), [1], b"draw"]
    for game in decisions(Game(rules, seed), rng, most=60):
        if game.player is not None and rng.random() < 0.9:
            continue
        before = (game._memory[:], game.player, game._history[:], game.deal)
        illegal = [action for action in range(NUM_ACTIONS) if action not in game.legal_indices()]
        for action in [*wrong, *rng.sample(illegal, 8), *(ACTIONS[action] for action in rng.sample(illegal, 8))]:
            with pytest.raises(IllegalActionError):
                game.play(action)
        assert before == (game._memory, game.player, game._history, game.deal)


def test_an_illegal_action_names_itself_and_the_legal_ones() -> None:
    game = Game(Rules(), seed=1)
    with pytest.raises(IllegalActionError) as caught:
        game.play("draw")
    assert "draw" in str(caught.value)
    assert all(action in str(caught.value) for action in game.legal_actions)
    while game.player is not None:
        game.play(game.legal_indices()[0])
    with pytest.raises(IllegalActionError, match="over"):
        game.play("draw")


@MANY
@given(rules_strategy(), SEEDS)
def test_copies_are_exact_and_independent(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in decisions(game, rng, most=rng.randrange(200)):
        pass
    other, kept = game.copy(), game._memory[:]
    moves = []
    for _ in range(80):
        if other.player is None:
            break
        moves.append(choose(other, rng, 0.5))
        other.play(moves[-1])
    assert game._memory == kept
    again = game.copy()
    for action in moves:
        again.play(action)
    assert (again._memory, again.player, again.outcome) == (other._memory, other.player, other.outcome)
    assert (again.deal, again._deals, again._history) == (other.deal, other._deals, other._history)


@MANY
@given(rules_strategy(), SEEDS)
def test_an_engine_that_tracks_no_colours_plays_the_same(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    tracked, untracked = Game(rules, seed), UntrackedGame(rules, seed)
    same = [name for name in core.STATE.names if rules.color_swap or name not in COLOR_FIELDS]
    for _ in range(300):
        assert tracked.player == untracked.player
        assert tracked.legal_indices() == untracked.legal_indices()
        assert (tracked.action_mask == untracked.action_mask).all()
        for seat in range(rules.num_players):
            assert (tracked.observation(seat) == untracked.observation(seat)).all()
        for name in same:
            assert (tracked._states[name] == untracked._states[name]).all(), name
        if tracked.player is None:
            assert tracked.outcome == untracked.outcome
            return
        action = choose(tracked, rng, 0.7)
        untracked.play(action)
        tracked.play(action)


@MANY
@given(rules_strategy(), SEEDS)
def test_max_decisions_is_honoured(rules: Rules, seed: int) -> None:
    """No deal is longer than its limit, but for the parts of one action: at most seven colours and three choices."""
    deals: dict[int, int] = {}
    game = Game(rules, seed)
    for _ in decisions(game, random.Random(seed)):
        deals[game.deal] = max(deals.get(game.deal, 0), game.decision)
    assert len(deals) == rules.rounds
    assert max(deals.values()) <= rules.max_decisions + 10


@MANY
@given(rules_strategy(), SEEDS)
def test_outcomes(rules: Rules, seed: int) -> None:
    """Places, scores and rewards of finished games (6.1 to 6.3, 8.7)."""
    game = Game(rules, seed)
    for _ in decisions(game, random.Random(seed)):
        pass
    outcome = game.outcome
    assert outcome is not None
    n = rules.num_players
    out = [not (hand(game, seat) + up(game, seat) + down(game, seat).replace(EMPTY, "").strip()) for seat in range(n)]
    if rules.rounds > 1:
        assert outcome.ended == "match"
        assert outcome.places == tuple(1 + sum(other < score for other in outcome.scores) for score in outcome.scores)
    else:
        cards = [hand(game, seat).split() for seat in range(n)]
        table = [(up(game, seat) + " " + down(game, seat)).replace(EMPTY, "").split() for seat in range(n)]
        points = [[sum(POINTS[KINDS.index(card[1:])] for card in held) for held in zone] for zone in (cards, table)]
        on_table = np.array(points[1]) * rules.score_table_cards
        assert outcome.scores == tuple(np.array(points[0]) + on_table)
        all_points = np.sum(points, axis=0).tolist()
        if outcome.ended == "out":
            assert sum(out) == (n - 1 if rules.play_on else 1)
            if rules.play_on:
                assert sorted(outcome.places) == list(range(1, n + 1))
            else:
                assert outcome.places == tuple(1 if is_out else 2 for is_out in out)
        else:
            assert outcome.ended == ("points" if rules.at_limit == "points" else "truncated")
            assert sorted(place for place, is_out in zip(outcome.places, out, strict=True) if is_out) == list(
                range(1, sum(out) + 1)
            )
            for seat in range(n):
                if not out[seat]:
                    better = sum(all_points[other] < all_points[seat] for other in range(n) if not out[other])
                    place = sum(out) + 1 + better if outcome.ended == "points" else None
                    assert outcome.places[seat] == place
    check_rewards(game)
    if outcome.ended != "truncated":
        first = [seat for seat in range(n) if outcome.places[seat] == 1]
        win = [((n / len(first) if seat in first else 0) - 1) / (n - 1) for seat in range(n)]
        assert outcome.rewards == pytest.approx(win)
        score = [(sum(outcome.scores) - own) / (n - 1) - own for own in outcome.scores]
        assert game.rewards("score").tolist() == pytest.approx([points / 100 for points in score])
        by_place = game.rewards("place")[np.argsort(outcome.places, kind="stable")]
        assert (np.diff(by_place) <= 0).all(), "a better place is never worth less"


# The state machine, which Hypothesis shrinks to the shortest course of play


class Play(RuleBasedStateMachine):
    """A game, and a copy of it that has to stay where it was taken."""

    @initialize(rules=rules_strategy(), seed=SEEDS)
    def deal(self, rules: Rules, seed: int) -> None:
        self.game = Game(rules, seed)
        self.copied = self.game.copy()
        self.bytes = self.copied._memory[:]

    @precondition(lambda self: self.game.player is not None)
    @rule(pick=st.integers(0, 200))
    def decide(self, pick: int) -> None:
        legal = self.game.legal_indices()
        self.game.play(legal[pick % len(legal)])

    @precondition(lambda self: self.game.player is not None)
    @rule(count=st.integers(1, 40), seed=st.integers(0, 99))
    def decide_often(self, count: int, seed: int) -> None:
        for _ in decisions(self.game, random.Random(seed), most=count):
            check_cards_are_conserved(self.game)

    @rule()
    def copy(self) -> None:
        self.copied = self.game.copy()
        self.bytes = self.copied._memory[:]

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "game"):
            for check in CHECKS:
                check(self.game)
            assert self.copied._memory == self.bytes


Play.TestCase.settings = settings(deadline=None, max_examples=40, stateful_step_count=30, derandomize=True)
TestPlay = Play.TestCase
