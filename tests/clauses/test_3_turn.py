"""docs/rules.md section 3: a turn."""

from __future__ import annotations

import pytest

from threeup_env import Game, IllegalActionError

from ..tables import decode, down, draw_pile, extras, hand, pile, play, state_of, table, up

KNOWN_FAILURE = ("g2 b9 | g1 r1 | gC+2 rC", "r8 b8 | r9 g10 | rC+1 b10")
"""Seat 0 turns over its 2 on a 10, and is to flip again when the top is a 10 once more."""


def before_known_failure(**switches: str) -> Game:
    game = table(*KNOWN_FAILURE, **switches)
    play(game, "play C+2", "play C", "play 1x2")  # hand, hand, 3UP
    return play(game, "play C+1", "play 10")


def test_3_1_the_hand_then_3up_then_3down() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2")
    assert game.legal_actions == ["play 1"]
    play(game, "play 1", "play 2")
    assert game.legal_actions == ["play 8"]
    play(game, "play 8", "play 8")
    assert game.legal_actions == ["flip 0"]


def test_3_1_table_cards_wait_while_the_draw_pile_refills_the_hand() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2", draw="b3 b4 b5")
    play(game, "play 1", "play 2")
    assert game.legal_actions == ["play 3"]
    play(game, "play 3")
    assert game.legal_actions == ["play 4"]


def test_3_1_the_zone_is_decided_afresh_for_an_extra() -> None:
    game = table("g9 b9 | g3 g4 | gC+1", "r9 b8 | r7 r8 | r2")
    play(game, "play C+1")
    assert (game.player, game.legal_actions) == (0, ["play 3", "play 4"])


def test_3_1_an_empty_hand_beside_a_draw_pile_is_no_zone() -> None:
    game = table("g9 | g3 | gC+1", "r9 | r8 | r2", draw="b4")
    assert play(game, "play C+1").legal_actions == ["draw"]


def test_3_1_who_takes_the_pile_is_back_to_their_hand() -> None:
    game = table("g9 b9 | g8 b8 | g5", "r9 b10 | r3 r4 | r6")
    play(game, "play 5", "play 6", "play 8")
    assert game.legal_actions == ["take"]
    play(game, "take", "play 8")
    assert (hand(game, 1), up(game, 1)) == ("g5 r6 g8", "r3 r4")
    assert game.legal_actions == ["play 8"]
    play(game, "play 8")
    assert (hand(game, 1), up(game, 1), pile(game)) == ("g5 r6", "r3 r4", "g8 b8")


def test_3_2_one_or_more_cards_of_one_kind() -> None:
    game = table("g9 | g8 | g4 r4 b4", "r9 | r8 | r5 r3 b3")
    assert game.legal_actions == ["play 4", "play 4x2", "play 4x3"]
    play(game, "play 4x2")
    assert (hand(game, 0), pile(game)) == ("b4", "g4 r4")


def test_3_2_the_kind_must_be_at_least_the_top_of_the_pile() -> None:
    game = table("g9 | g8 | g4 r4 r1", "r9 | r8 | r3 b4 b5")
    assert game.legal_actions == ["play 1", "play 4", "play 4x2"]
    play(game, "play 4")
    assert game.legal_actions == ["play 4", "play 5"]
    with pytest.raises(IllegalActionError):
        play(game, "play 3")


def test_3_2_on_an_empty_pile_anything_may_be_played() -> None:
    game = table("g9 | g8 | g1 r10 bC", "r9 | r8 | r3 b4 b5")
    assert game.legal_actions == ["play 1", "play 10", "play C"]


def test_3_2_all_cards_come_from_the_zone() -> None:
    game = table("g9 | g8 | r8", "r9 | b8 | r2")
    assert game.legal_actions == ["play 8"], "the 8 among the 3UP cards does not count"


@pytest.mark.parametrize("clear", ["C", "C+1", "C+2"])
def test_3_2_clears_can_always_be_played(clear: str) -> None:
    game = table(f"g9 | g8 | r{clear} g10", f"r9 | r8 | b{clear} r2")
    assert f"play {clear}" in game.legal_actions, "on an empty pile"
    assert play(game, "play 10").legal_actions == [f"play {clear}"]


@pytest.mark.parametrize("clear", ["C", "C+1", "C+2"])
def test_3_2_one_clear_at_a_time_unless_clear_sets(clear: str) -> None:
    seats = (f"g9 | g8 | g{clear} r{clear} b{clear}", "r9 | r8 | r1 b1 g1")
    assert table(*seats).legal_actions == [f"play {clear}"]
    assert table(*seats, clear_sets=True).legal_actions == [f"play {clear}", f"play {clear}x2", f"play {clear}x3"]


def test_3_2_from_the_3up_cards() -> None:
    game = table("g9 r9 b9 | g6 r6 b7 | g5", "r10 b10 g10 | r1 b1 r2 | r6")
    play(game, "play 5", "play 6")
    assert game.legal_actions == ["play 6", "play 6x2", "play 7"]
    play(game, "play 6x2")
    assert up(game, 0) == "b7"


def test_3_3_a_flip_in_any_occupied_slot() -> None:
    game = table("g9 r10 b9 | gC rC bC | gC+2", "r1 b1 g1 | r2 b2 g2 | r3", extra_mandatory=False)
    play(game, "play C+2", "play C", "play C", "play 3", "play C")
    # Seat 1 has 2s on the table and the pile is empty.
    play(game, "play 2")
    assert game.legal_actions == ["flip 0", "flip 1", "flip 2"]
    play(game, "flip 1")
    assert (down(game, 0), pile(game)) == ("g9 -- b9", "g2 r10")
    play(game, "take")
    assert game.legal_actions == ["flip 0", "flip 2"]


def test_3_3_a_card_that_may_be_played_is_discarded_alone() -> None:
    game = table("g9 r9 | g8 r8 | g1", "b9 b10 | r2 b8 | r1")
    play(game, "play 1", "play 1", "play 8x2", "play 8")
    # That third 8 cleared the pile: play on it.
    assert pile(game) == ""
    play(game, "flip 0")
    assert (pile(game), down(game, 0)) == ("g9", "-- r9")


def test_3_3_a_failed_flip_goes_to_the_hand() -> None:
    game = table("g2 | g5 | g1", "r9 | r8 | r3")
    play(game, "play 1", "play 3", "play 5", "play 8", "flip 0")
    assert (hand(game, 0), down(game, 0), pile(game)) == ("g1 g2 r3 g5 r8", "--", "")
    assert game.player == 1


def test_3_3_a_failed_flip_goes_to_the_hand_unseen() -> None:
    game = table("g2 | g5 | g1", "r9 | r8 | r3")
    play(game, "play 1", "play 3", "play 5", "play 8", "flip 0")
    seen = decode(game, 1)
    assert seen["known"][1] == [1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0], "no 2"
    assert seen["hand_size"][1] == 5
    assert seen["down"][1] == [0], "which slot was turned is public"


def test_3_3_a_failed_flip_stays_known_to_its_owner() -> None:
    game = before_known_failure(failed_flip="stay")
    play(game, "flip 0")
    assert (hand(game, 0), down(game, 0), pile(game), game.player) == ("b10", "g2 b9", "", 1)
    assert decode(game, 0)["seen_kind"] == [1, None]
    assert decode(game, 0)["down_seen"][0] == decode(game, 1)["down_seen"][1] == [1, 0]
    assert decode(game, 1)["seen_kind"] == [None, None]


def test_3_3_turning_a_card_that_one_knows_will_fail_is_legal() -> None:
    game = play(before_known_failure(failed_flip="stay"), "flip 0", "play 9", "play 10", "play 10")
    assert (game.player, game.legal_actions) == (0, ["flip 0", "flip 1"])
    play(game, "flip 0")
    assert (hand(game, 0), down(game, 0), game.player) == ("r9 g10 b10", "g2 b9", 1)


def test_3_3_a_failed_flip_ends_the_turn_whatever_was_owed() -> None:
    game = table("g9 g2 | g3 gC+2 | gC+1", "r9 b8 | r7 r8 | r4")
    play(game, "play C+1", "play 3", "play 4", "play C+2", "flip 0")
    assert (game.player, extras(game)) == (0, 1)
    play(game, "flip 1")
    assert (game.player, extras(game), hand(game, 0)) == (1, 0, "g2 g9")


def test_3_3_a_failed_flip_is_not_a_discard() -> None:
    game = table("g1 | g7 | g2", "r9 | r8 | r4", "b9 | b8 | b5", reverse_ones=True)
    play(game, "play 2", "play 4", "play 5", "play 7", "play 8", "play 8", "flip 0")
    assert hand(game, 0) == "g1 g2 r4 b5 g7 r8 b8"
    assert (game.player, state_of(game)["direction"]) == (1, 1), "the 1 turned nothing round (8.3)"


def test_3_3_on_an_empty_pile_a_flip_never_fails() -> None:
    game = table("g1 g2 | g3 r3 | rC", "bC b9 | gC rC | r4")
    play(game, "play C", "play 4", "take", "play C")
    play(game, "play 4", "play C", "play 3x2", "flip 0")
    assert (game.player, pile(game)) == (0, ""), "seat 1 turned over a C"
    play(game, "flip 0")
    assert (game.player, pile(game), hand(game, 0)) == (1, "g1", "")


def test_3_4_a_player_who_can_discard_must() -> None:
    game = table("g9 | g8 | g4 r5", "r9 | r8 | r3 b4", draw="b6 b7")
    play(game, "play 4")
    assert game.legal_actions == ["play 4"], "neither taking the pile nor drawing"


def test_3_4_a_player_who_can_flip_must() -> None:
    game = table("g9 | g8 | g1", "r9 | b8 | r2")
    play(game, "play 1", "play 2", "play 8", "play 8")
    assert game.legal_actions == ["flip 0"]


@pytest.mark.parametrize("draw", ["", "b6 b7"])
def test_3_4_with_nothing_playable_the_pile_must_be_taken(draw: str) -> None:
    game = table("g9 | g8 | g4 r5", "r9 | r8 | r3 b2", draw=draw)
    play(game, "play 4")
    assert game.legal_actions == ["take"]
    play(game, "take")
    assert (hand(game, 1), pile(game), game.player) == ("b2 r3 g4", "", 0)


def test_3_4_3up_cards_stay_on_the_table() -> None:
    game = table("g9 | g8 | g4", "r9 | r3 | r5")
    play(game, "play 4", "play 5", "play 8")
    assert game.legal_actions == ["take"]
    play(game, "take")
    assert (hand(game, 1), up(game, 1)) == ("g4 r5 g8", "r3")


def test_3_5_the_hand_is_refilled_at_the_end_of_the_turn() -> None:
    game = table("g9 | g8 | g4 r4 b1", "r9 | r8 | r5 b5 r6", draw="g2 r2 b2 g3")
    play(game, "play 4x2")
    assert (hand(game, 0), draw_pile(game)) == ("b1 g2 r2", "b2 g3")
    play(game, "play 5x2")
    assert (hand(game, 1), draw_pile(game)) == ("b2 g3 r6", "")


def test_3_5_until_the_draw_pile_is_empty() -> None:
    game = table("g9 | g8 | g4 r4 b1", "r9 | r8 | r5 b5 r6", draw="g2")
    play(game, "play 4x2")
    assert (hand(game, 0), draw_pile(game)) == ("b1 g2", "")


def test_3_5_a_player_with_that_many_or_more_draws_nothing() -> None:
    game = table("g9 | g8 | g4 r5", "r9 | r8 | r3 b2", draw="b6 b7")
    play(game, "play 4")  # draws the 6
    play(game, "take")
    assert (hand(game, 1), draw_pile(game)) == ("b2 r3 g4", "b7")
    play(game, "play 5", "take")
    assert (len(hand(game, 1).split()), draw_pile(game)) == (4, ""), "seat 0 drew the 7"


def test_3_5_after_taking_the_pile_too() -> None:
    game = table("g9 | g8 | gC+2 g5 g1", "r9 | r8 | r2 r3 r4", draw="b6 b7", extra_draw="none")
    play(game, "play C+2", "play 5", "take")
    assert (hand(game, 0), draw_pile(game)) == ("g1 g5 b6", "b7")


def test_3_5_after_a_lapse_too() -> None:
    game = table("g9 | g8 | gC+1", "r9 | r8 | r2", draw="b6 b7", extra_draw="none")
    play(game, "play C+1")
    assert (game.player, hand(game, 0), draw_pile(game)) == (1, "b6", "b7")


def test_3_5_then_the_next_player_in_direction_of_play() -> None:
    seats = ("g9 | g8 | g2", "r9 | r8 | r1", "b9 | b8 | b1")
    game = play(table(*seats, reverse_ones=True), "play 2", "take")
    assert game.player == 2
    play(game, "play 1")
    assert game.player == 1, "counter-clockwise now"
