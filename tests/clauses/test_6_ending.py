"""docs/rules.md section 6: ending."""

from __future__ import annotations

import pytest

from threeup_env import Game, Rules

from ..tables import asks_color, decode, extras, hand, pile, play, state_of, table, up

TWO = ("g9 | g8 | g1", "r9 | r8 | r2")
THREE = ("g7 | g4 | g1", "r8 | r5 | r2", "b9 | b6 | b3")
FOUR = ("g7 | g4 | g1", "r8 | r5 | r2", "b8 | b6 | b3", "b9 | g6 | g3")


def places(game: Game) -> tuple[int | None, ...]:
    assert game.outcome is not None
    return game.outcome.places


def ended(game: Game) -> str:
    assert game.outcome is not None
    return game.outcome.ended


def test_6_1_the_first_without_cards_wins_and_the_game_ends() -> None:
    game = play(table(*THREE), "play 1", "play 2", "play 3", "play 4", "play 5", "play 6", "flip 0")
    assert (game.player, game.legal_actions) == (None, [])
    assert (ended(game), places(game)) == ("out", (1, 2, 2))
    assert game.outcome.rewards == (1.0, -0.5, -0.5)


@pytest.mark.parametrize("clear", ["C", "C+1", "C+2"])
def test_6_1_also_on_a_clear_whatever_was_owed(clear: str) -> None:
    game = play(table(f"g{clear} | g8 | g1", "r9 | r8 | r2"), "play 1", "play 2", "play 8", "play 8", "flip 0")
    assert (ended(game), places(game)) == ("out", (1, 2))


def test_6_1_also_on_a_clearing_three() -> None:
    game = play(table("b8 | g8 | g1", "r9 | r8 | r2"), "play 1", "play 2", "play 8", "play 8", "flip 0")
    assert (ended(game), places(game), pile(game)) == ("out", (1, 2), "")


def test_6_1_also_as_an_extra() -> None:
    game = table("g9 g10 | gC+2 g5 | g1", "r9 b9 | r8 r7 | r2")
    play(game, "play 1", "play 2", "play 5", "play 7", "play C+2", "flip 0")
    assert (game.player, extras(game)) == (0, 1)
    assert places(play(game, "flip 1")) == (1, 2)


def test_6_1_a_failed_flip_never_goes_out() -> None:
    for failed_flip in ("hand", "stay"):
        game = table("g2 | g5 | g1", "r9 | r8 | r3", failed_flip=failed_flip)
        play(game, "play 1", "play 3", "play 5", "play 8", "flip 0")
        assert game.outcome is None
        assert game.player == 1


def test_6_2_without_play_on_the_game_ends() -> None:
    game = play(table(*THREE), "play 1", "play 2", "play 3", "play 4", "play 5", "play 6", "flip 0")
    assert game.player is None


def test_6_2_the_others_play_on_for_places() -> None:
    game = table(*THREE, play_on=True)
    play(game, "play 1", "play 2", "play 3", "play 4", "play 5", "play 6", "flip 0")
    assert (game.outcome, game.player, pile(game)) == (None, 1, "g1 r2 b3 g4 r5 b6 g7"), "the pile stays for the next"
    assert decode(game, 1)["place"] == [None, None, 0]
    play(game, "flip 0")
    assert (ended(game), places(game)) == ("out", (1, 2, 3)), "one is left, who is last"
    assert game.rewards("place").tolist() == [1.0, 0.0, -1.0]


def test_6_2_a_player_who_is_out_is_skipped() -> None:
    game = table(*FOUR, play_on=True)
    play(game, "play 1", "play 2", "play 3", "play 3", "play 4", "play 5", "play 6", "play 6", "flip 0", "flip 0")
    assert (state_of(game)["place"][:4].tolist(), game.player) == ([1, 2, 0, 0], 2)
    play(game, "flip 0")
    assert places(game) == (1, 2, 3, 4)
    game = table("g7 | g4 | g1", "r5 | r5 | r2", "b8 | b6 | b3", play_on=True)
    play(game, "play 1", "play 2", "play 3", "play 4", "play 5", "play 6", "flip 0", "flip 0", "flip 0")
    assert places(game) == (1, 3, 2), "the 5 of seat 1 was too low"


def test_6_3_the_limit_counts_all_decisions_set_up_included() -> None:
    game = table(*TWO, max_decisions=3)
    assert (game.decision, game.player) == (2, 0)
    play(game, "play 1")
    assert (game.decision, ended(game)) == (3, "points")


def test_6_3_the_default_is_a_thousand() -> None:
    assert (Rules().max_decisions, Rules().at_limit) == (1000, "points")


def test_6_3_points_of_all_cards_place_the_players() -> None:
    # Seat 0 keeps 9, 8; seat 1 keeps 9, 8, 2.
    game = play(table(*TWO, max_decisions=3), "play 1")
    assert places(game) == (1, 2)
    assert game.outcome.scores == (0, 2), "scores are of the hand alone (8.7)"
    game = play(table("gC | g8 | g1", "r9 | r10 | r2", max_decisions=3), "play 1")
    assert places(game) == (2, 1), "23 points against 21"


def test_6_3_equal_points_share_the_place() -> None:
    game = play(table("g9 | g8 | g1", "r7 | r8 | r2", "b9 | b7 | b1", max_decisions=4), "play 1")
    assert places(game) == (1, 1, 1)
    assert game.outcome.rewards == (0.0, 0.0, 0.0)
    game = play(table("g9 | g8 | g1", "r6 | r8 | r2", "b6 | b9 | b1", max_decisions=4), "play 1")
    assert places(game) == (3, 1, 1)
    assert game.outcome.rewards == (-0.5, 0.25, 0.25), "a first place shared shares the win"
    game = play(table("g9 | g4 | g1", "r9 | r8 | r2", "b9 | b9 | b1", max_decisions=4), "play 1")
    assert places(game) == (1, 2, 2)


def test_6_3_behind_those_who_are_out() -> None:
    game = table(*FOUR, play_on=True, max_decisions=13)
    play(game, "play 1", "play 2", "play 3", "play 3", "play 4", "play 5", "play 6", "play 6", "flip 0")
    assert (ended(game), places(game)) == ("points", (1, 2, 2, 4))


def test_6_3_truncate() -> None:
    game = play(table(*TWO, max_decisions=3, at_limit="truncate"), "play 1")
    assert (ended(game), places(game)) == ("truncated", (None, None))
    for reward in ("win", "place", "score"):
        assert game.rewards(reward).tolist() == [0.0, 0.0]


def test_6_3_truncate_leaves_their_places_to_those_who_are_out() -> None:
    game = table(*FOUR, play_on=True, max_decisions=13, at_limit="truncate")
    play(game, "play 1", "play 2", "play 3", "play 3", "play 4", "play 5", "play 6", "play 6", "flip 0")
    assert (ended(game), places(game)) == ("truncated", (1, None, None, None))


def test_6_3_a_deal_over_at_the_limit_is_over() -> None:
    moves = ("play 1", "play 2", "play 3", "play 4", "play 5", "play 6", "flip 0")
    assert ended(play(table(*THREE, max_decisions=10, at_limit="truncate"), *moves)) == "out"


def test_6_3_the_last_decision_takes_its_full_effect() -> None:
    game = play(table(*TWO, draw="b7 b6", max_decisions=3), "play 1")
    assert (ended(game), hand(game, 0)) == ("points", "b7"), "the refill of 3.5 included"


def test_6_3_in_set_up() -> None:
    game = table(*TWO, lay_up=False, max_decisions=1)
    play(game, "up 1")
    assert (ended(game), places(game)) == ("points", (1, 2)), "3UP cards not yet revealed count: 18 against 19"
    assert decode(game, 1)["up"] == [[0] * 13] * 2, "and stay unrevealed"
    assert (hand(game, 0), up(game, 0)) == ("g8", "g1")


def test_6_3_extras_owed_are_not_half_made() -> None:
    game = play(table("g9 | g8 | gC+1 g3", "r9 | r8 | r4 r5", max_decisions=3), "play C+1")
    assert (ended(game), hand(game, 0)) == ("points", "g3")


def test_6_3_a_colour_still_to_be_said_is_half_made() -> None:
    game = table("g9 | g8 | g7 r7", "r9 | r8 | r4 r5", max_decisions=3, color_swap=True)
    play(game, "play 7")
    assert (game.player, asks_color(game)) == (0, True)
    play(game, "color r")
    assert (game.decision, ended(game), hand(game, 0)) == (4, "points", "g7")


def test_6_3_a_sabotage_begun_is_finished() -> None:
    game = table(*TWO, max_decisions=3, sabotage=True)
    play(game, "target 1", "want 8")
    assert game.player == 0
    play(game, "give 1")
    assert (game.decision, ended(game), up(game, 1), hand(game, 0)) == (5, "points", "g1", "r8")


def test_6_3_a_sabotage_offered_is_not_half_made() -> None:
    game = table(*TWO, max_decisions=2, sabotage=True)
    assert (game.decision, ended(game)) == (2, "points")


def test_6_3_an_exchange_offered_is_not_half_made_but_one_begun_is() -> None:
    seats = ("g9 | g10 | g1 g3 r5", "r9 | r10 | g2 g4 r6")
    moves = ("play 1", "play 2", "play 3")
    game = table(*seats, color_swap=True, max_decisions=6)
    play(game, *moves, "play 4")
    assert ended(game) == "points"
    game = table(*seats, color_swap=True, max_decisions=7)
    play(game, *moves, "play 4", "give 6")
    assert (game.player, game.legal_actions) == (1, ["want 10"])
    play(game, "want 10")
    assert (ended(game), hand(game, 1), up(game, 1)) == ("points", "r10", "r6")
