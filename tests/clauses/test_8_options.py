"""docs/rules.md section 8: options."""

from __future__ import annotations

from collections import Counter

import pytest

from threeup_env import Game, InvalidRulesError, Rules

from ..tables import asks_color, decode, down, draw_pile, extras, hand, pile, play, state_of, table, up

ROW = ("g9 | g10 | g1 g3 r6", "r9 | r10 | g2 g4 b6")
"""Seats 0 and 1 lay the green cards 1, 2, 3, 4 in turn."""
MOVES = ("play 1", "play 2", "play 3", "play 4")


def direction(game: Game) -> int:
    return int(state_of(game)["direction"])


def row(game: Game) -> tuple[str, int]:
    state = state_of(game)
    return ("grb"[state["row_color"]], int(state["row"])) if state["row"] else ("", 0)


# 8.1 and 8.2


def test_8_1_play_on_is_off_by_default() -> None:
    assert not Rules().play_on  # 6.2


def test_8_2_a_player_who_could_discard_may_draw_one_card_instead() -> None:
    game = table("g9 | g8 | g4 g5", "r9 | r8 | r6 r7", draw="b1 b2", must_play=False)
    assert game.legal_actions == ["play 4", "play 5", "draw"]
    play(game, "draw")
    assert (game.player, hand(game, 0), draw_pile(game)) == (1, "b1 g4 g5", "b2")


def test_8_2_must_play_by_default() -> None:
    assert "draw" not in table("g9 | g8 | g4 g5", "r9 | r8 | r6 r7", draw="b1 b2").legal_actions


def test_8_2_not_without_a_draw_pile() -> None:
    assert table("g9 | g8 | g4 g5", "r9 | r8 | r6 r7", must_play=False).legal_actions == ["play 4", "play 5"]


def test_8_2_with_nothing_playable_the_pile_is_taken_as_ever() -> None:
    game = table("g9 | g8 | g4 g5", "r9 | r8 | r1 r2", draw="b1 b2", must_play=False)
    assert play(game, "play 4").legal_actions == ["take"]


def test_8_2_not_while_an_extra_is_owed() -> None:
    game = table("g9 | g8 | gC+1 g5", "r9 | r8 | r1 r2", draw="b1 b2", must_play=False, extra_draw="none")
    assert play(game, "play C+1").legal_actions == ["play 5"]


def test_8_2_that_this_draw_is_open_is_private() -> None:
    games = [
        play(table("g9 | g8 | g4 g5", f"r9 | r8 | r2 r{kind}", draw=f"b1 r{9 - kind}", must_play=False), "play 4")
        for kind in (3, 6)
    ]
    assert [game.legal_actions for game in games] == [["take"], ["play 6", "draw"]]
    assert games[0].observation(0).tolist() == games[1].observation(0).tolist()


# 8.3

TURNING = ("g9 | g8 | g1 r1", "r9 | r8 | r2 b1", "b9 | b8 | b2 g2")


def test_8_3_ones_turn_the_direction_round() -> None:
    game = table(*TURNING, reverse_ones=True)
    assert direction(game) == 1
    play(game, "play 1")
    assert (direction(game), game.player) == (-1, 2)
    play(game, "play 2")
    assert game.player == 1


def test_8_3_however_many_at_once() -> None:
    assert direction(play(table(*TURNING, reverse_ones=True), "play 1x2")) == -1


def test_8_3_and_back_again() -> None:
    game = table("g9 | g8 | g1 r1", "r9 | r8 | r2 b4", "b9 | b8 | b1 g2", reverse_ones=True)
    assert direction(play(game, "play 1", "play 1")) == 1


def test_8_3_off_by_default() -> None:
    assert play(table(*TURNING), "play 1").player == 1


def test_8_3_as_an_extra() -> None:
    game = table("g9 | g8 | gC+1 r1", *TURNING[1:], reverse_ones=True)
    play(game, "play C+1", "play 1")
    assert (direction(game), game.player) == (-1, 2)


def test_8_3_as_a_flip_and_when_it_goes_out() -> None:
    seats = ("g1 | gC | g2", "r9 | r8 | r4", "b9 | bC | b5")
    moves = ("play 2", "play 4", "play 5", "play C", "play 8", "play C")
    game = play(table(*seats, reverse_ones=True, play_on=True), *moves, "flip 0")
    assert state_of(game)["place"][0] == 1
    assert (direction(game), game.player) == (-1, 2), "three were in the game before the discard"


def test_8_3_also_when_the_discard_clears_the_pile() -> None:
    game = table("g9 | g8 | g1 r1 b1", "r9 | r8 | r2 r3 r4", "b9 | b8 | b2 g2 g3", reverse_ones=True)
    play(game, "play 1x3")
    assert (direction(game), pile(game), game.player) == (-1, "", 2)


def test_8_3_with_two_players_it_changes_nothing() -> None:
    game = play(table("g9 | g8 | g1 r1", "r9 | r8 | r2 b1", reverse_ones=True), "play 1")
    assert (direction(game), decode(game, 0)["direction"]) == (1, 1)


def test_8_3_with_two_players_still_in_it_changes_nothing() -> None:
    seats = ("g9 | gC | gC+2", "r10 | r9 | rC", "b9 | b8 | b1")
    game = table(*seats, reverse_ones=True, play_on=True)
    play(game, "play C+2", "play C", "flip 0", "play C")
    assert (game.player, state_of(game)["place"][0]) == (2, 1)
    play(game, "play 1")
    assert (direction(game), decode(game, 0)["direction"], game.player) == (1, 1, 1)


def test_8_3_each_deal_starts_clockwise() -> None:
    game = table(*TURNING, reverse_ones=True, rounds=2, max_decisions=4)
    play(game, "play 1")
    assert (game.deal, direction(game), game.player) == (1, 1, 1)


# 8.4


def test_8_4_the_fourth_card_of_one_colour_in_a_row_offers_an_exchange() -> None:
    game = play(table(*ROW, color_swap=True), *MOVES)
    assert (game.player, game.legal_actions) == (1, ["pass", "give 6"]), "whoever laid the three before"


def test_8_4_off_by_default() -> None:
    assert play(table(*ROW), *MOVES).player == 0


def test_8_4_one_3up_card_for_one_hand_card() -> None:
    game = play(table(*ROW, color_swap=True), *MOVES, "give 6")
    assert game.legal_actions == ["want 10"], "both from the cards before the exchange"
    play(game, "want 10")
    assert (hand(game, 1), up(game, 1), game.player) == ("r10", "b6", 0)


def test_8_4_pass_declines_the_exchange_alone() -> None:
    game = play(table(*ROW, color_swap=True), *MOVES, "pass")
    assert (hand(game, 1), up(game, 1), pile(game), game.player) == ("b6", "r10", "g1 g2 g3 g4", 0)


def test_8_4_before_the_refill() -> None:
    game = play(table(*ROW, draw="b7 b8 b9 r7", color_swap=True), *MOVES)
    assert (hand(game, 1), draw_pile(game)) == ("b6 b8", "r7")
    play(game, "pass")
    assert (hand(game, 1), draw_pile(game)) == ("b6 r7 b8", "")


def test_8_4_the_debt_is_counted_and_stands() -> None:
    seats = ("g9 | g10 | gC+2 rC+2 g2 g2 g3 g3", "r9 | r10 | b1 b2 b3 b4 b5 b6")
    game = table(*seats, draw="b9 b8", color_swap=True)
    play(game, "play C+2", "play C+2", "draw", "play 2x2", "play 3x2")
    assert (extras(game), game.legal_actions) == (1, ["pass", "give 9"])
    play(game, "give 9", "want 10")
    assert (game.player, extras(game), game.legal_actions) == (0, 1, ["play 10"])


def test_8_4_the_fourth_exactly_not_the_fifth() -> None:
    game = table("g9 | g10 | g1 g3 g5", "r9 | r10 | g2 g4 g6", color_swap=True)
    play(game, *MOVES, "pass", "play 5")
    assert (row(game), game.player, game.legal_actions) == (("g", 1), 1, ["play 6"])


def test_8_4_the_count_starts_anew_after_four() -> None:
    game = table("g9 | g10 | g1 g3 g5 g7", "r9 | r10 | g2 g4 g6 g8", color_swap=True)
    play(game, *MOVES, "pass", "play 5", "play 6", "play 7", "play 8")
    # The eighth is a fourth again; seat 1 has no hand card left.
    assert (game.player, row(game)) == (0, ("", 0))


def test_8_4_another_colour_breaks_the_row() -> None:
    game = table("g9 | g10 | g1 r3 r6", "r9 | r10 | g2 g4 b6", color_swap=True)
    for action, length in zip(MOVES, [("g", 1), ("g", 2), ("r", 1), ("g", 1)], strict=True):
        assert row(play(game, action)) == length
    assert game.player == 0


def test_8_4_a_clear_starts_the_count_anew() -> None:
    game = table("g9 | g10 | g1 gC r6", "r9 | r10 | g2 g4 b6", "b9 | b10 | g3 g5 b7", color_swap=True)
    play(game, "play 1", "play 2", "play 3", "play C")
    assert row(game) == ("", 0)
    play(game, "play 4")
    assert (row(game), game.player) == (("g", 1), 2)


def test_8_4_a_taken_pile_starts_the_count_anew() -> None:
    game = table("g9 | g10 | g1 g4 r6", "r9 | r10 | g2 g5 b6", "b9 | b10 | b1 r1 g1", color_swap=True)
    play(game, "play 1", "play 2", "take")
    assert row(game) == ("", 0)


def test_8_4_cards_of_a_set_are_laid_one_after_another() -> None:
    game = table("g9 | g10 | g1 g5 r5", "r9 | r10 | g2 r6 b6", "b9 | b10 | g3 r7 b7", color_swap=True)
    play(game, "play 1", "play 2", "play 3", "play 5x2", "color g")
    assert (game.player, game.legal_actions[0]) == (1, "play 6"), "no hand card is left for an exchange"
    assert row(game) == ("r", 1), "the rest of the set starts the new count"


def test_8_4_the_fourth_may_be_any_card_of_a_set() -> None:
    seats = ("g9 | g10 | g1 g5 r5 b8", "r9 | r10 | g2 r6 b6 b1", "b9 | b10 | g3 r7 b7 b2")
    game = play(table(*seats, color_swap=True), "play 1", "play 2", "play 3", "play 5x2", "color g")
    assert (game.player, game.legal_actions, row(game)) == (0, ["pass", "give 8"], ("r", 1))
    game = play(table(*seats, color_swap=True), "play 1", "play 2", "play 3", "play 5x2", "color r")
    assert (game.player, row(game)) == (1, ("g", 1)), "the red one first broke the row"


def test_8_4_no_exchange_if_the_same_discard_cleared_the_pile() -> None:
    game = table("g9 | g10 | g1 r6 b8", "r9 | r10 | g2 g2 b6", "b9 | b10 | g2 b7 r7", color_swap=True)
    play(game, "play 1", "play 2x2", "play 2")
    assert (pile(game), game.player) == ("", 0), "a green fourth, and a third 2"


def test_8_4_no_exchange_without_a_hand_card() -> None:
    game = table("g9 | g10 | g1 g3", "r9 | r10 | g2 g4", color_swap=True)
    play(game, *MOVES)
    assert (game.player, row(game)) == (0, ("", 0)), "the count starts anew all the same"


def test_8_4_no_exchange_without_a_3up_card() -> None:
    # Seat 0 lays its last 3UP cards and then has neither.
    game = table("g9 b9 | g3 g4 | g1", "r9 r10 | r7 r8 | g2", color_swap=True)
    play(game, "play 1", "play 2", "play 3")
    assert row(game) == ("g", 3)
    play(game, "play 7")
    assert (row(game), game.player) == (("r", 1), 0)


def test_8_4_the_colour_of_each_card_is_said_while_several_are_possible() -> None:
    game = table("g9 | g10 | g7 r7 b1", "r9 | r10 | g8 r8 b8", color_swap=True)
    play(game, "play 7x2")
    assert (game.player, game.legal_actions) == (0, ["color g", "color r"])
    assert (hand(game, 0), pile(game)) == ("b1 g7 r7", ""), "the action takes effect when its last colour is known"
    play(game, "color r")
    assert (game.player, pile(game), row(game)) == (1, "g7 r7", ("g", 1)), "the second follows"
    play(game, "play 8x3")
    assert game.legal_actions == ["color g", "color r", "color b"]
    play(game, "color b")
    assert game.legal_actions == ["color g", "color r"]
    play(game, "color g")
    assert (game.player, pile(game)) == (0, "")


def test_8_4_said_once_per_card() -> None:
    game = table("g9 | g10 | g7 g7 r7", "r9 | r10 | g8 r8 b8", color_swap=True)
    play(game, "play 7", "color g")
    assert (hand(game, 0), game.player) == ("g7 r7", 1)
    game = table("g9 | g10 | g7 g7 r7", "r9 | r10 | g8 r8 b8", color_swap=True)
    play(game, "play 7x2", "color g")
    assert game.legal_actions == ["color g", "color r"]
    assert hand(play(game, "color g"), 0) == "r7"


def test_8_4_no_colour_is_asked_where_only_one_is_possible() -> None:
    game = table("g9 | g10 | g7 g7 r1", "r9 | r10 | g8 r8 b8", color_swap=True)
    assert play(game, "play 7x2").player == 1


def test_8_4_colours_of_up_give_and_want() -> None:
    game = table("g9 b9 | r8 g8 | b8 r7", "r9 r10 | b10 g5 | b5 b4", lay_up=False, color_swap=True, sabotage=True)
    play(game, "up 8")
    assert game.legal_actions == ["color g", "color r", "color b"]
    play(game, "color b", "up 8", "color r")
    assert (up(game, 0), hand(game, 0)) == ("r8 b8", "r7 g8")
    play(game, "up 5", "color g", "up 10")
    play(game, "pass", "target 1", "want 8")
    assert (game.player, game.legal_actions) == (1, ["color r", "color b"])
    play(game, "color b", "give 5")
    assert (hand(game, 1), up(game, 0)) == ("b4 b8", "b5 r8")


def test_8_4_colours_of_the_exchange() -> None:
    game = table("g9 b9 | g10 r10 | g1 g3 r6 g6", "r9 g7 | b10 r10 | g2 g4 b6 r6", color_swap=True)
    play(game, *MOVES, "give 6")
    assert (game.player, game.legal_actions) == (1, ["color r", "color b"])
    play(game, "color b", "want 10")
    assert game.legal_actions == ["color r", "color b"]
    play(game, "color r")
    assert (hand(game, 1), up(game, 1), game.player) == ("r6 r10", "b6 b10", 0)


def test_8_4_a_clears_colour_is_never_asked() -> None:
    game = table("g9 | g10 | gC rC b1", "r9 | r10 | g8 r8 b8", color_swap=True, clear_sets=True)
    assert play(game, "play C").player == 1
    game = table("g9 | gC | rC b1", "r9 | r10 | g8 r8", lay_up=False, color_swap=True)
    assert not asks_color(play(game, "up C"))


# 8.5


def test_8_5_whole_piles_are_exchanged_slot_for_slot() -> None:
    game = table("g9 b9 | g8 b8 | g1", "r10 r9 | r8 r7 | r2", "b10 g10 | b6 b7 | b2", pile_swaps=[(0, 2)])
    assert [up(game, seat) for seat in range(3)] == ["b6 b7", "r7 r8", "g8 b8"]
    assert [down(game, seat) for seat in range(3)] == ["b10 g10", "r10 r9", "g9 b9"]
    assert [hand(game, seat) for seat in range(3)] == ["g1", "r2", "b2"]


def test_8_5_k_times_one_after_another() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2", "b9 | b8 | b2", pile_swaps=[(0, 1), (1, 2)])
    assert [up(game, seat) for seat in range(3)] == ["r8", "b8", "g8"]


def test_8_5_two_different_players_drawn_uniformly() -> None:
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(200):
        counts.update(Game(Rules.mini(3, pile_swaps=6), seed=seed)._deals[0].pile_swaps)
    assert set(counts) == {(one, other) for one in range(3) for other in range(3) if one != other}
    # 5 degrees of freedom: beyond 24 once in 5,000.
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 24


# 8.6


def test_8_6_each_player_once_in_turn_order_from_the_first_player() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2", "b9 | b8 | b2", first_player=2, sabotage=True)
    for seat in (2, 0, 1):
        assert (game.player, game.legal_actions) == (seat, ["pass", "target 1", "target 2"])
        play(game, "pass")
    assert (game.player, game.legal_actions) == (2, ["play 2"])


def test_8_6_a_hand_card_in_the_place_of_anothers_3up_card() -> None:
    game = table("g9 g10 | g8 g7 | g1 g2", "r9 r10 | r8 r7 | r2 r3", "b9 b10 | b8 b7 | b2 b3", sabotage=True)
    play(game, "target 2")
    assert game.legal_actions == ["want 7", "want 8"]
    play(game, "want 8")
    assert game.legal_actions == ["give 1", "give 2"], "from the hand before the exchange"
    play(game, "give 1")
    assert (up(game, 2), hand(game, 0), hand(game, 2)) == ("g1 b7", "g2 b8", "b2 b3")
    assert (up(game, 0), up(game, 1), game.player) == ("g7 g8", "r7 r8", 1)


def test_8_6_target_counts_clockwise() -> None:
    game = table(*[f"g{seat + 1} | r{seat + 1} | b{seat + 1}" for seat in range(6)], sabotage=True)
    play(game, "pass", "pass", "pass", "pass", "target 3")
    assert game.legal_actions == ["want 2"], "of seat 4 + 3 - 6 = 1"


def test_8_6_all_of_it_is_public() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2", "b9 | b8 | b2", sabotage=True)
    play(game, "target 1")
    assert [decode(game, seat)["victim"] for seat in range(3)] == [1, 0, 2]
    play(game, "want 8")
    assert [decode(game, seat)["want_kind"] for seat in range(3)] == [7, 7, 7]
    play(game, "give 1")
    seen = decode(game, 2)
    assert (seen["up"][2], seen["known"][1]) == ([1] + [0] * 12, [0] * 7 + [1] + [0] * 5)


# 8.7


def test_8_7_points_of_the_hand() -> None:
    game = table("g9 | g8 | g1 gC gC+2 r10 b10", "r9 | r8 | r2 r3 r4 r5 r6", max_decisions=2)
    assert game.outcome.scores == (1 + 15 + 25 + 10 + 10, 2 + 3 + 4 + 5 + 6)
    assert table("g9 | g8 | gC+1", "r9 | r8 | r2", max_decisions=2).outcome.scores == (20, 2)


def test_8_7_with_score_table_cards() -> None:
    game = table("g9 | gC | g1", "rC+1 | r8 | r2", max_decisions=2, score_table_cards=True)
    assert game.outcome.scores == (9 + 15 + 1, 20 + 8 + 2)


def test_8_7_when_a_player_goes_out_each_scores() -> None:
    game = play(table("g7 | g4 | g1", "r9 | r2 | b3"), "play 1", "play 3", "play 4", "take", "flip 0")
    assert (game.outcome.ended, game.outcome.scores) == ("out", (0, 1 + 3 + 4))
    assert game.rewards("score").tolist() == [0.08, -0.08]


def match(**switches: object) -> Game:
    return table("g7 | g4 | g1", "r8 | r5 | r2", rounds=2, **switches)


def test_8_7_the_lowest_total_wins() -> None:
    game = play(match(), "play 1", "play 2", "play 4", "play 5", "flip 0")
    assert (game.outcome, game.deal, game.player) == (None, 1, 1), "the first player moves one seat clockwise"
    play(game, "up 5", "up 4", "play 2", "take", "play 5", "take", "flip 0")
    assert (game.outcome.ended, game.outcome.scores, game.outcome.places) == ("match", (8, 0), (2, 1))


def test_8_7_equal_totals_share_the_place() -> None:
    game = table("g7 | g4 | g2", "r8 | r5 | r2", rounds=2, max_decisions=3)
    play(game, "play 2")
    play(game, "up 5", "up 4", "play 2")
    assert (game.outcome.scores, game.outcome.places) == ((2, 2), (1, 1))
    assert game.outcome.rewards == (0.0, 0.0)


def test_8_7_the_totals_of_deals_that_end_by_going_out() -> None:
    moves = ("play 1", "play 2", "play 4", "play 5", "flip 0")
    game = play(match(score_table_cards=True), *moves)
    assert state_of(game)["total"][:2].tolist() == [0, 8]


def test_8_7_a_deal_that_meets_its_limit_scores_as_it_stands() -> None:
    for at_limit in ("points", "truncate"):
        game = play(match(max_decisions=3, at_limit=at_limit), "play 1")
        assert (game.outcome, game.deal, game.player) == (None, 1, 1), "and the match goes on"
        assert state_of(game)["total"][:2].tolist() == [0, 2]
        play(game, "up 5", "up 4", "play 2")
        assert (game.outcome.ended, game.outcome.scores, game.outcome.places) == ("match", (1, 2), (1, 2))


def test_8_7_rounds_exclude_play_on() -> None:
    with pytest.raises(InvalidRulesError, match="play_on"):
        Rules(rounds=2, play_on=True)


def test_8_7_the_scores_of_a_single_deal_are_taken_when_it_ends() -> None:
    seats = ("g9 | gC | gC+2", "r10 | r5 | r3", "b9 | b6 | b4")
    game = play(table(*seats, play_on=True, max_decisions=7), "play C+2", "play C", "flip 0")
    assert (game.outcome, game.player, state_of(game)["place"][0]) == (None, 1, 1)
    play(game, "take")
    assert game.outcome.scores == (0, 3 + 9, 4), "not when the first went out"
