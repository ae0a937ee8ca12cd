"""docs/rules.md section 5: extra actions."""

from __future__ import annotations

import pytest

from threeup_env import Game

from ..tables import decode, draw_pile, extras, hand, pile, play, state_of, table, up

OTHER_2 = "r9 | r8 | r4 r5"
OTHER_3 = "r9 | r8 | r4 r5 r6"
OTHER_4 = "r9 | r8 | r4 r5 r6 r7"


def test_5_1_clear_1_gives_one_extra() -> None:
    game = table("g9 | g8 | gC+1 g3", OTHER_2)
    play(game, "play C+1")
    assert (game.player, extras(game)) == (0, 1)
    play(game, "play 3")
    assert (game.player, extras(game)) == (1, 0)


def test_5_1_clear_2_gives_two_extras() -> None:
    game = table("g9 | g8 | gC+2 g3 g4", OTHER_3)
    for action, owed in (("play C+2", 2), ("play 3", 1)):
        play(game, action)
        assert (game.player, extras(game)) == (0, owed)
    play(game, "play 4")
    assert (game.player, extras(game)) == (1, 0)


def test_5_1_a_clear_gives_none() -> None:
    game = play(table("g9 | g8 | gC g3", OTHER_2), "play C")
    assert (game.player, extras(game)) == (1, 0)


def test_5_1_extras_add_up() -> None:
    game = table("g9 | g8 | gC+2 gC+1 g3 g4", OTHER_4)
    owed = []
    for action in ("play C+2", "play C+1", "play 3"):
        assert game.player == 0
        play(game, action)
        owed.append(extras(game))
    assert owed == [2, 2, 1]
    assert play(game, "play 4").player == 1


def test_5_1_a_clear_played_as_an_extra_pays_one() -> None:
    game = play(table("g9 | g8 | gC+1 gC", OTHER_2), "play C+1", "play C")
    assert (game.player, extras(game)) == (1, 0)


@pytest.mark.parametrize(("clear", "bonus"), [("C+1", 1), ("C+2", 2)])
def test_5_1_a_set_gives_its_bonus_once(clear: str, bonus: int) -> None:
    game = table(f"g9 | g8 | g{clear} r{clear} g3 g4", OTHER_4, clear_sets=True)
    assert extras(play(game, f"play {clear}x2")) == bonus


def test_5_2_an_extra_is_a_discard_under_3_2() -> None:
    game = table("g9 | g8 | gC+2 g3 g7 r7", OTHER_4)
    play(game, "play C+2")
    assert game.legal_actions == ["play 3", "play 7", "play 7x2"]
    play(game, "play 7")
    assert game.legal_actions == ["play 7"], "not the 3"


def test_5_2_an_extra_comes_from_whatever_zone_is_then_the_players() -> None:
    game = table("g9 b9 | g3 r3 | gC+1", "r9 b8 | r7 r8 | rC")
    play(game, "play C+1", "play 3", "play C", "play 3")
    # Seat 0 has nothing but 3DOWN cards now.
    game = table("gC+1 b9 | g3 r3 | gC+2", "r9 b8 | r7 r8 | rC")
    play(game, "play C+2", "play 3x2", "flip 0")
    assert (game.player, extras(game), game.legal_actions) == (0, 1, ["flip 1"])


def drawing(extra_draw: str = "one", **switches: object) -> Game:
    return table("g9 | g8 | gC+2 g3 g4", OTHER_3, draw="b6 b7 b8 b9", extra_draw=extra_draw, **switches)


def test_5_3_one_draw_before_the_first_extra() -> None:
    game = play(drawing(), "play C+2")
    assert game.legal_actions == ["play 3", "play 4", "draw"]
    play(game, "draw")
    assert (game.player, extras(game), hand(game, 0)) == (0, 2, "g3 g4 b6"), "it is not an extra"
    assert game.legal_actions == ["play 3", "play 4", "play 6"], "once"


def test_5_3_the_draw_is_optional() -> None:
    game = play(drawing(), "play C+2", "play 3")
    assert (hand(game, 0), extras(game)) == ("g4", 1)


def test_5_3_refill_draws_up_to_the_hand_size() -> None:
    seats = ("g9 | g8 | gC+1 rC+1 g3", OTHER_3)
    for extra_draw, held in (("one", "g3 b6"), ("refill", "g3 b6 b7")):
        game = table(*seats, draw="b6 b7 b8", extra_draw=extra_draw, clear_sets=True)
        play(game, "play C+1x2", "draw")
        assert (hand(game, 0), "draw" in game.legal_actions) == (held, False)


def test_5_3_refill_stops_at_the_end_of_the_draw_pile() -> None:
    game = table("g9 | g8 | gC+1 rC+1 g3", OTHER_3, draw="b6", extra_draw="refill", clear_sets=True)
    assert hand(play(game, "play C+1x2", "draw"), 0) == "g3 b6"


def test_5_3_none() -> None:
    assert play(drawing("none"), "play C+2").legal_actions == ["play 3", "play 4"]
    assert play(drawing("none", draw_before="each"), "play C+2", "play 3").legal_actions == ["play 4"]


def test_5_3_only_while_the_hand_is_short() -> None:
    game = table("g9 | g8 | g4 r5", "r9 | r8 | r1 b1", draw="gC+1 b6 b7", must_play=False)
    play(game, "draw", "play 1", "play C+1")
    assert (hand(game, 0), draw_pile(game)) == ("g4 r5", "b7")
    assert game.legal_actions == ["play 4", "play 5"]


def test_5_3_only_while_there_is_a_draw_pile() -> None:
    game = table("g9 | g8 | gC+1 g3", OTHER_2)
    assert play(game, "play C+1").legal_actions == ["play 3"]


@pytest.mark.parametrize(("draw_before", "legal"), [("first", ["play 4"]), ("each", ["play 4", "draw"])])
def test_5_3_before_later_extras(draw_before: str, legal: list[str]) -> None:
    assert play(drawing(draw_before=draw_before), "play C+2", "play 3").legal_actions == legal
    game = play(drawing(draw_before=draw_before), "play C+2", "draw", "play 3")
    assert game.legal_actions == [*legal[:1], "play 6", *legal[1:]]


def test_5_3_a_clear_played_as_an_extra_renews_the_offer() -> None:
    game = table("g9 | g8 | gC+1 rC+1 g4", OTHER_3, draw="b6 b7 b8")
    play(game, "play C+1", "draw")
    assert "draw" not in game.legal_actions
    assert "draw" in play(game, "play C+1").legal_actions
    assert hand(play(game, "draw"), 0) == "g4 b6 b7"


def test_5_3_never_more_than_one_open_offer() -> None:
    game = table("g9 | g8 | gC+2 rC+1 g4", OTHER_3, draw="b6 b7 b8")
    play(game, "play C+2", "play C+1", "draw")
    assert (hand(game, 0), extras(game)) == ("g4 b6", 2)
    assert game.legal_actions == ["play 4", "play 6"]


def test_5_4_extras_must_be_taken() -> None:
    assert "pass" not in play(drawing(), "play C+2").legal_actions


def test_5_4_or_may_be_passed() -> None:
    game = drawing(extra_mandatory=False)
    assert game.legal_actions == ["play 3", "play 4", "play C+2"], "none is owed yet"
    play(game, "play C+2")
    assert game.legal_actions == ["play 3", "play 4", "draw", "pass"]
    play(game, "pass")
    assert (game.player, extras(game), hand(game, 0)) == (1, 0, "g3 g4 b6"), "the turn ends normally"


def test_5_4_passing_is_offered_beside_taking_the_pile() -> None:
    game = table("g9 | g8 | gC+2 g5 g1", OTHER_3, extra_mandatory=False)
    play(game, "play C+2", "play 5")
    assert game.legal_actions == ["take", "pass"]
    play(game, "pass")
    assert (game.player, hand(game, 0), pile(game)) == (1, "g1", "g5")


def test_5_5_nothing_playable_takes_the_pile() -> None:
    game = table("g9 | g8 | gC+2 g5 g1", OTHER_3, draw="b6 b7")
    play(game, "play C+2", "play 5")
    assert game.legal_actions == ["take"]
    play(game, "take")
    assert (game.player, extras(game), hand(game, 0), pile(game)) == (1, 0, "g1 g5 b6", "")


def test_5_5_the_open_draw_may_be_taken_first() -> None:
    seats = ("g9 | g8 | gC+2 g5 g1", OTHER_3)
    game = table(*seats, draw="b6 b7", draw_before="each")
    play(game, "play C+2", "play 5")
    assert game.legal_actions == ["draw", "take"]
    assert play(game, "draw").legal_actions == ["play 6"]
    game = table(*seats, draw="b2 b7", draw_before="each")
    assert play(game, "play C+2", "play 5", "draw").legal_actions == ["take"]


def test_5_6_with_no_zone_the_open_draw_must_be_taken() -> None:
    game = table("g9 | g8 | gC+1", "r9 | r8 | r2", draw="b6 b7")
    assert play(game, "play C+1").legal_actions == ["draw"]
    game = table("g9 | g8 | gC+1", "r9 | r8 | r2", draw="b6 b7", extra_mandatory=False)
    assert play(game, "play C+1").legal_actions == ["draw", "pass"]


@pytest.mark.parametrize("extra_mandatory", [True, False])
def test_5_6_otherwise_the_debt_lapses_without_a_decision(extra_mandatory: bool) -> None:
    game = table("g9 | g8 | gC+2", "r9 | r8 | r2", draw="b6 b7", extra_mandatory=extra_mandatory)
    play(game, "play C+2", "draw")
    decision = game.decision
    play(game, "play 6")
    assert game.decision == decision + 1
    assert (game.player, extras(game), hand(game, 0), pile(game)) == (1, 0, "b7", "b6"), "with no penalty"


def third(low: str = "g5", draw: str = "", **switches: object) -> Game:
    """Seat 0 has played C+2 and 6 from 3UP, owes one extra and holds one lower 3UP card."""
    game = table(f"g1 r1 b1 | gC+2 g6 {low} | g9", "g2 r2 b2 | r7 r8 r9 | r10", draw=draw, **switches)
    return play(game, "play 9", "play 10", "play C+2", "play 6")


def test_5_7_a_lower_third_stays_by_default() -> None:
    game = third()
    assert game.legal_actions == ["take"]
    play(game, "take")
    assert (hand(game, 0), up(game, 0), game.player) == ("g6", "g5", 1)


def test_5_7_a_lower_third_is_taken() -> None:
    game = third(low_third="taken")
    assert (extras(game), game.legal_actions) == (1, ["play 5"])
    play(game, "play 5")
    assert (hand(game, 0), up(game, 0), pile(game)) == ("g5 g6", "", "")
    assert (game.player, extras(game)) == (1, 0)
    assert decode(game, 1)["known"][1] == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0], "both in the open (10.2)"


def test_5_7_passing_stands_beside_it() -> None:
    game = third(low_third="taken", extra_mandatory=False)
    assert game.legal_actions == ["play 5", "pass"]
    play(game, "pass")
    assert (hand(game, 0), up(game, 0), pile(game)) == ("", "g5", "g6")


def test_5_7_it_is_no_discard() -> None:
    game = table(
        "g3 r3 b3 | gC+2 g6 g1 | g9",
        "g2 r2 b2 | r7 r8 r9 | r10",
        "r4 b4 g4 | b7 b8 b9 | b10",
        low_third="taken",
        reverse_ones=True,
    )
    play(game, "play 9", "play 10", "play 10", "play C+2", "play 6", "play 1")
    assert (game.player, state_of(game)["direction"]) == (1, 1), "the 1 turns nothing round (8.3)"
    assert hand(game, 0) == "g1 g6"


def test_5_7_only_after_a_clear_2_from_the_table() -> None:
    game = table("g1 r1 | g6 g5 | gC+2", "g2 r2 | r7 r8 | r10", low_third="taken")
    play(game, "play C+2", "play 6")
    assert game.legal_actions == ["take"]


def test_5_7_a_playable_third_is_an_extra_as_ever() -> None:
    game = third(low="g7", low_third="taken")
    assert game.legal_actions == ["play 7"]
    play(game, "play 7")
    assert (pile(game), hand(game, 0), game.player) == ("g6 g7", "", 1)
