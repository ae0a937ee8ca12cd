"""The table as text: it shows what a seat may know, and never what is hidden from it (section 10)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threeup_env import Game, Rules
from threeup_env.cards import CARDS, KINDS, NUM_CARDS, NUM_COLORS, NUM_KINDS
from threeup_env.core.state import NO_CARD
from threeup_env.render.table import HIDDEN, SEEN, look
from threeup_env.render.text import draw_table, write_cards

from .strategies import rules_strategy
from .test_game import play_on


def split_known(hand: list[int], known: list[int]) -> tuple[list[int], list[int]]:
    """The cards of a hand that others know to lie there (10.2), by kind, and the rest."""
    left = Counter({kind: count for kind, count in enumerate(known) if count})
    kept, hidden = [], []
    for card in hand:
        if left[card // NUM_COLORS] > 0:
            left[card // NUM_COLORS] -= 1
            kept.append(card)
        else:
            hidden.append(card)
    return kept, hidden


def permute_hidden(game: Game, viewer: int | None, seed: int) -> Game:
    """A copy in which all cards hidden from `viewer` have changed places at random (10.4)."""
    other = game.copy()
    state: Any = other._states[0]
    others = [seat for seat in range(game.rules.num_players) if seat != viewer]
    hands = {seat: np.repeat(np.arange(NUM_CARDS), state["hand_card"][seat]).tolist() for seat in others}
    kept = {seat: split_known(hand, state["known"][seat].tolist()) for seat, hand in hands.items()}
    downs = [
        (seat, slot)
        for seat, slot in zip(*np.nonzero(state["down"] != NO_CARD), strict=True)
        if seat != viewer or not state["down_seen"][seat, slot]
    ]
    ups = [
        (seat, slot)
        for seat, slot in zip(*np.nonzero(state["up_card"] != NO_CARD), strict=True)
        if seat != viewer and not state["revealed"]
    ]
    draw_pile = slice(int(state["drawn"]), int(state["deck_size"]))
    pool = [card for _, hidden in kept.values() for card in hidden]
    pool += [int(state["down"][place]) for place in downs] + [int(state["up_card"][place]) for place in ups]
    pool += state["deck"][draw_pile].tolist()
    pool = np.random.default_rng(seed).permutation(pool).astype(int).tolist()
    for seat, (known, hidden) in kept.items():
        hand = known + [pool.pop() for _ in hidden]
        state["hand_card"][seat] = np.bincount(hand, minlength=NUM_CARDS)
        state["hand"][seat] = np.bincount(np.array(hand, int) // NUM_COLORS, minlength=NUM_KINDS)
    for place in downs:
        state["down"][place] = pool.pop()
    for seat, slot in ups:
        card = pool.pop()
        state["up"][seat, state["up_card"][seat, slot] // NUM_COLORS] -= 1
        state["up"][seat, card // NUM_COLORS] += 1
        state["up_card"][seat, slot] = card
    state["deck"][draw_pile] = pool
    return other


@settings(max_examples=60, deadline=None)
@given(rules_strategy(), st.integers(0, 2**32), st.integers(0, 120))
def test_hidden_cards_make_no_difference(rules: Rules, seed: int, stop: int) -> None:
    game = play_on(Game(rules, seed), seed, stop)
    for viewer in (None, *range(rules.num_players)):
        other = permute_hidden(game, viewer, seed)
        assert draw_table(other, viewer) == draw_table(game, viewer)
        if viewer is not None:
            assert (other.observation(viewer) == game.observation(viewer)).all()


def test_hidden_cards_do_change_places() -> None:
    game = play_on(Game(Rules.house(3), seed=1), 1, 60)
    for viewer in (None, 0, 1, 2):
        other = permute_hidden(game, viewer, 1)
        assert draw_table(other, "all") != draw_table(game, "all")
        assert all(draw_table(other, seat) != draw_table(game, seat) for seat in range(3) if seat != viewer)


@settings(max_examples=30, deadline=None)
@given(rules_strategy(failed_flip="stay"), st.integers(0, 2**32))
def test_the_same_late_in_a_game(rules: Rules, seed: int) -> None:
    game = play_on(Game(rules, seed), seed)
    length = sum(len(deal.actions) for deal in game.record().deals)
    late = play_on(Game(rules, seed), seed, max(0, length - 5))
    for viewer in (None, *range(rules.num_players)):
        assert draw_table(permute_hidden(late, viewer, seed), viewer) == draw_table(late, viewer)


def test_all_shows_every_card_but_the_draw_pile() -> None:
    game = play_on(Game(Rules.house(3), seed=1), 1, 60)
    table = look(game, "all")
    shown = Counter(table.pile) + Counter(table.removed)
    for seat in table.seats:
        shown += Counter(seat.hand) + Counter(seat.up) + Counter(card for card in seat.down if card in CARDS)
    left = Counter(CARDS[card] for card in game.state.deck[game.state.drawn : game.state.deck_size])
    assert shown + left == Counter(game.record().deals[0].deck)
    assert HIDDEN not in draw_table(game, "all")


def test_a_seat_sees_its_own_hand_and_the_others_sizes() -> None:
    game = play_on(Game(Rules.standard(2), seed=1), 1, 30)
    own, public = look(game, 0), look(game, None)
    assert len(own.seats[0].hand) == len(public.seats[0].hand) == game.state.hand_size[0]
    assert own.seats[0].hand_open
    assert not own.seats[1].hand_open
    assert set(own.seats[0].hand) <= set(CARDS)
    assert set(own.seats[1].hand) <= {*KINDS, HIDDEN}
    assert own.seats[1] == public.seats[1]


def test_set_up_cards_are_shown_when_all_are_chosen() -> None:
    """2.3."""
    game = Game(Rules.standard(2, first_player=0), seed=1)
    play_on(game, 0, 5)
    assert look(game, 1).seats[0].up == (HIDDEN,) * 3
    assert HIDDEN not in look(game, 0).seats[0].up
    assert HIDDEN not in look(game, 1).seats[1].up
    play_on(game, 0, 1)
    assert all(HIDDEN not in seat.up for seat in look(game, None).seats)


def test_a_card_flipped_in_vain_is_known_to_its_owner() -> None:
    """3.3 with `failed_flip="stay"`."""
    rules = Rules.geeky(2)
    for seed in range(200):
        game = Game(rules, seed)
        generator = np.random.default_rng(seed)
        while game.player is not None and not game.state.down_seen.any():
            game.play(int(generator.choice(game.legal_indices())))
        if game.player is not None:
            break
    seat, slot = (int(i[0]) for i in np.nonzero(game.state.down_seen))
    card = CARDS[game.state.down[seat, slot]]
    assert look(game, seat).seats[seat].down[slot] == card
    assert look(game, 1 - seat).seats[seat].down[slot] == look(game, None).seats[seat].down[slot] == SEEN


def test_legal_actions_are_shown_to_whoever_decides() -> None:
    game = Game(Rules.standard(2, first_player=0), seed=1)
    assert "legal: up " in draw_table(game, 0)
    assert "legal" not in draw_table(game, 1)
    assert "legal" not in draw_table(game, None)


def test_drawing_changes_nothing() -> None:
    game = play_on(Game(Rules.house(3), seed=1), 1, 60)
    before = game.state.tobytes()
    for viewer in (None, 0, 1, 2, "all"):
        draw_table(game, viewer)
    assert game.state.tobytes() == before


def test_text() -> None:
    rules = Rules.mini(2)
    deck = ["g1", "gC", "r1", "g2", "b1", "g3", "r2", "r3", "rC"]
    game = Game(rules, decks=[deck], first_player=1)
    for action in ("up 1", "up 1", "play 3"):
        game.play(action)
    assert draw_table(game, 0).splitlines() == [
        "player 1 began; 13 decisions left",
        "pile 1: g3; top 3; draw pile 2",
        "removed 0: -",
        "> player 0  hand 1: g2  3UP: r1  3DOWN: ?",
        "  player 1  hand 1: ?   3UP: b1  3DOWN: ?",
        "player 0 decides: turn",
        "legal: take",
    ]
    assert draw_table(game, None).splitlines()[3:] == [
        "> player 0  hand 1: ?  3UP: r1  3DOWN: ?",
        "  player 1  hand 1: ?  3UP: b1  3DOWN: ?",
        "player 0 decides: turn",
    ]
    assert draw_table(game, "all").splitlines()[4] == "  player 1  hand 1: r2  3UP: b1  3DOWN: gC"
    game.play("take")
    assert draw_table(game, 1).splitlines()[3] == "  player 0  hand 2: 3 ?  3UP: r1  3DOWN: ?"


def test_over() -> None:
    game = play_on(Game(Rules.mini(2), seed=1), 0)
    outcome = game.outcome
    assert outcome is not None
    places = " ".join(map(str, outcome.places))
    scores = " ".join(map(str, outcome.scores))
    assert draw_table(game, None).splitlines()[-1] == f"over ({outcome.ended}); places {places}; scores {scores}"


@pytest.mark.parametrize("seat", [-1, 2, True, "0", "everything", 0.5])
def test_there_is_no_other_viewer(seat: Any) -> None:
    with pytest.raises(ValueError, match=r"seats are 0\.\.1"):
        draw_table(Game(seed=1), seat)


def test_write_cards() -> None:
    assert write_cards([]) == "-"
    assert write_cards(["g7", "g7", "rC", "g7"]) == "g7x2 rC g7"
