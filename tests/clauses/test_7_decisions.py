"""docs/rules.md section 7: decisions."""

from __future__ import annotations

from threeup_env import Game, Rules
from threeup_env.actions import ACTION_INDEX, ACTIONS
from threeup_env.cards import KINDS

from ..tables import hand, pile, play, removed, table, up


def test_7_1_a_forced_move_is_a_decision() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2")
    assert (game.decision, game.legal_actions) == (2, ["play 1"])
    play(game, "play 1")
    assert (game.decision, game.legal_actions) == (3, ["play 2"])


def test_7_1_the_lapse_and_the_reveal_are_none() -> None:
    game = table("g9 | g8 | gC+1", "r9 | r8 | r2", draw="b6", extra_draw="none")
    assert game.decision == 2, "two cards laid up, and the reveal"
    assert play(game, "play C+1").decision == 3, "and a lapse (5.6)"


def test_7_1_the_parts_of_an_action_are_decisions_of_their_own() -> None:
    game = table("g9 | g8 | g7 r7", "r9 | r8 | r4 r5", color_swap=True)
    for number, action in enumerate(("play 7x2", "color r"), start=3):
        assert play(game, action).decision == number
    game = table("g9 | g8 | g7", "r9 | r8 | r4", sabotage=True)
    for number, action in enumerate(("target 1", "want 8", "give 7", "pass"), start=3):
        assert play(game, action).decision == number


def test_7_1_an_action_once_begun_is_finished() -> None:
    game = table("g9 | g8 | g7 r7", "r9 | r8 | r4 r5", color_swap=True, extra_mandatory=False)
    assert play(game, "play 7").legal_actions == ["color g", "color r"]
    game = table("g9 | g8 | g7", "r9 | r8 | r4", sabotage=True)
    assert play(game, "target 1").legal_actions == ["want 8"]
    assert play(game, "want 8").legal_actions == ["give 7"]


def test_7_2_written_forms() -> None:
    assert len(ACTIONS) == len(ACTION_INDEX) == 144
    assert ACTIONS[:7] == ("play 1", "play 1x2", "play 1x3", "play 1x4", "play 1x5", "play 1x6", "play 1x7")
    for kind, name in enumerate(KINDS):
        assert ACTIONS[7 * kind] == f"play {name}", "k = 1 is never written"
        assert [ACTIONS[7 * kind + count - 1] for count in range(2, 8)] == [f"play {name}x{k}" for k in range(2, 8)]
        assert (ACTIONS[96 + kind], ACTIONS[110 + kind], ACTIONS[123 + kind]) == (
            f"up {name}",
            f"give {name}",
            f"want {name}",
        )
    assert ACTIONS[91:96] == ("draw", "take", "flip 0", "flip 1", "flip 2")
    assert ACTIONS[109] == "pass"
    assert ACTIONS[136:141] == tuple(f"target {distance}" for distance in range(1, 6))
    assert ACTIONS[141:] == ("color g", "color r", "color b")


def test_7_2_actions_by_index_and_as_written_are_the_same() -> None:
    one, two = Game(Rules(), seed=4), Game(Rules(), seed=4)
    for _ in range(40):
        action = one.legal_actions[0]
        play(one, action)
        two.play(ACTION_INDEX[action])
        assert (one.player, one.legal_actions) == (two.player, two.legal_actions)


def test_7_3_cards_of_a_kind_leave_in_the_order_green_red_blue() -> None:
    game = table("g9 | g8 | b7 r7 g7", "r9 | r8 | g4 r5 b5", lay_up=False)
    play(game, "up 8", "up 8")
    play(game, "play 7x2")
    assert (hand(game, 0), pile(game)) == ("b7", "g7 r7")


def test_7_3_from_the_3up_cards_and_when_laying_up() -> None:
    game = table("g9 r9 | b8 r8 | g1", "g10 r10 | b7 b6 | g2")
    play(game, "play 1", "play 2", "play 8")
    assert (up(game, 0), pile(game)) == ("b8", "g1 g2 r8")
    game = table("g9 | g8 | r8", "r9 | g7 | r4", lay_up=False)
    play(game, "up 8")
    assert (up(game, 0), hand(game, 0)) == ("g8", "r8")


def test_7_3_in_a_sabotage() -> None:
    game = table("g9 r9 | g3 g4 | r7 g7", "g10 r10 | r8 b8 | g2 g1", sabotage=True)
    play(game, "target 1", "want 8", "give 7")
    assert (hand(game, 0), up(game, 1)) == ("r7 r8", "g7 b8")


def test_7_3_clears_keep_that_order_under_color_swap() -> None:
    game = table("g9 | g8 | rC bC gC", "r9 | r8 | g4 r5 b5", color_swap=True)
    play(game, "play C")
    assert (removed(game), hand(game, 0)) == ("gC", "rC bC")
