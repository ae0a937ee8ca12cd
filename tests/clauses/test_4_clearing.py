"""docs/rules.md section 4: clearing."""

from __future__ import annotations

import pytest

from ..tables import decode, draw_pile, extras, hand, pile, play, removed, table


def test_4_1_three_of_a_number_whoever_played_them() -> None:
    game = table("g9 | g8 | g4 r5", "r9 | r8 | g5 b6", "b9 | b8 | b5 b7")
    play(game, "play 4", "play 5", "play 5")
    assert pile(game) == "g4 g5 b5"
    play(game, "play 5")
    assert (pile(game), removed(game)) == ("", "g4 g5 r5 b5"), "the whole pile"


def test_4_1_two_do_not_clear() -> None:
    game = table("g9 | g8 | g5 r5", "r9 | r8 | r6 b6")
    play(game, "play 5x2")
    assert (pile(game), removed(game)) == ("g5 r5", "")


@pytest.mark.parametrize("count", [3, 4])
def test_4_1_three_or_more_at_once(count: int) -> None:
    game = table("g9 | g8 | g5 r5 b5 g5", "r9 | r8 | r6 b6 r7 b7")
    play(game, f"play 5x{count}")
    assert pile(game) == ""
    assert len(removed(game).split()) == count


def test_4_1_more_than_three_with_those_that_lie_there() -> None:
    game = table("g9 | g8 | g5 r5 b1", "r9 | r8 | r5 b5 r6")
    play(game, "play 5x2", "play 5x2")
    assert (pile(game), removed(game)) == ("", "g5 r5 r5 b5")


def test_4_1_from_the_3up_cards_too() -> None:
    game = table("g9 g8 | g5 r5 | gC", "b4 b9 | g10 r10 | b5")
    play(game, "play C", "play 5", "play 5x2")
    assert (pile(game), removed(game)) == ("", "g5 r5 b5 gC")


def test_4_1_a_flip_can_be_the_third() -> None:
    game = table("g5 b6 | gC rC | gC+1", "b8 b7 | b5 r5 | r4")
    play(game, "play C+1", "play C", "play 4", "play C", "play 5x2")
    assert pile(game) == "r5 b5"
    play(game, "flip 0")
    assert (pile(game), game.player) == ("", 1)


def test_4_1_no_extra_action_arises() -> None:
    game = table("g9 | g8 | g5 r5 b5 b1", "r9 | r8 | r6 b6 r7 b7")
    play(game, "play 5x3")
    assert (game.player, extras(game)) == (1, 0)


def test_4_1_a_debt_of_extras_stands() -> None:
    game = table("g9 | g8 | g5 r5 b5 b1 gC+2", "r9 | r8 | r6 b6 r7 b7 b8")
    play(game, "play C+2", "play 5x3")
    assert (game.player, extras(game), pile(game)) == (0, 1, "")
    assert game.legal_actions == ["play 1"]


@pytest.mark.parametrize("clear", ["C", "C+1", "C+2"])
def test_4_2_a_clear_removes_the_whole_pile_and_itself(clear: str) -> None:
    game = table("g9 | g8 | g4 g6", f"r9 | r8 | r{clear} r5", draw="b6 b7 b8")
    play(game, "play 4", f"play {clear}")
    assert (pile(game), removed(game)) == ("", f"g4 r{clear}")


def test_4_2_a_clear_on_an_empty_pile_is_removed() -> None:
    game = table("g9 | g8 | gC g6", "r9 | r8 | r4 r5")
    play(game, "play C")
    assert (pile(game), removed(game)) == ("", "gC")


def test_4_2_nothing_returns() -> None:
    game = table("g9 | g8 | g4 gC", "r9 | r8 | rC r5", draw="b6")
    play(game, "play 4", "play C", "play C")
    assert (removed(game), draw_pile(game)) == ("g4 gC rC", "")
    assert (hand(game, 0), hand(game, 1)) == ("b6", "r5"), "the draw pile is never refilled"


def test_4_3_removed_cards_are_public() -> None:
    game = table("g9 | g8 | g4 g6", "r9 | r8 | rC r5", "b9 | b8 | b4 b5", draw="b6 b7 g7")
    play(game, "play 4", "play C")
    for seat in range(3):
        assert decode(game, seat)["removed"] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]
