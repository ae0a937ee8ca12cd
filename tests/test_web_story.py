"""What a decision did, in words: `threeup_env.web.story`."""

from __future__ import annotations

from typing import Any

from threeup_env import Game, Rules
from threeup_env.render.table import Viewer, look
from threeup_env.web.frames import describe
from threeup_env.web.story import Effect, tell, write_action

from .tables import play, table


def story(game: Game, action: str, viewer: Viewer) -> list[Effect]:
    """Play an action; what `viewer` is told of it."""
    seat = game.player
    assert seat is not None
    before = look(game, viewer)
    game.play(action)
    return tell(game.rules, describe(game, seat, action), before, look(game, viewer))


def told(game: Game, action: str, viewer: Viewer = "all") -> list[tuple[str, int | None, str]]:
    return [(effect.kind, effect.seat, effect.text) for effect in story(game, action, viewer)]


def test_a_discard_and_the_refill() -> None:
    game = table("g9 | g8 | r5", "b9 | b8 | r4", draw="g1 r1 b1")
    effects = story(game.copy(), "play 5", 0)
    assert effects == [Effect("play", "play 5", 0, ("r5",), 1), Effect("draw", "draw g1", 0, ("g1",), 1)]
    assert story(game, "play 5", 1)[1] == Effect("draw", "draw 1 card", 0, ("?",), 1)


def test_a_card_drawn_that_equals_the_one_played() -> None:
    game = table("g9 | g8 | g5", "b9 | b8 | r4", draw="g5 r1 b1")
    assert told(game, "play 5", 0)[1] == ("draw", 0, "draw g5")


def test_three_of_a_kind_clear() -> None:
    game = table("g9 r9 b9 | g8 r8 b8 | g5 r5 b1", "g7 r7 b7 | g6 r6 b6 | b5 r4 r3")
    play(game, "play 5x2")
    assert told(game, "play 5") == [
        ("play", 1, "play 5"),
        ("clear", None, "three or more 5s lie together: the pile of 3 is removed"),
    ]


def test_a_clear_and_what_it_gives() -> None:
    game = table("g9 r9 | g8 r8 | rC+1 g4", "b9 b7 | b8 g6 | r4 b4", draw="g1 r1 b1")
    assert told(game, "play C+1") == [
        ("play", 0, "play C+1"),
        ("clear", None, "the pile was empty"),
        ("extras", 0, "owe 1 extra"),
    ]
    assert told(game, "draw", 1) == [("draw", 0, "draw 1 card")]


def test_extras_that_lapse() -> None:
    """5.6: no card in any zone, and the draw was not offered."""
    game = table("g9 | g8 | rC+1", "b9 | b8 | r4", draw="g1 r1 b1", extra_draw="none")
    assert [effect.kind for effect in story(game, "play C+1", None)] == ["play", "clear", "lapse", "draw"]


def test_taking_the_pile() -> None:
    game = play(table("g9 | g8 | r5", "b9 | b8 | r4"), "play 5")
    assert told(game, "take") == [("take", 1, "take the pile of 1")]


def last_flip(**switches: Any) -> Game:
    """Seat 0 is to turn over its only card, a 1, with a 10 on the pile."""
    game = table("g1 | gC | rC", "b9 | r10 | r9", **switches)
    return play(game, "play C", "play 9", "play C", "play 10")


def test_a_failed_flip_is_seen_by_its_owner_alone() -> None:
    for failed_flip, goes in (("hand", "goes to the hand"), ("stay", "goes back face down")):
        game = last_flip(failed_flip=failed_flip)
        assert game.legal_actions == ["flip 0"]
        own, others = told(game.copy(), "flip 0", 0), told(game.copy(), "flip 0", 1)
        assert own == [
            ("fail", 0, f"turn over 3DOWN card 1 in vain: g1 {goes}"),
            ("take", 0, "take the pile of 1"),
        ]
        assert others[0] == ("fail", 0, f"turn over 3DOWN card 1 in vain: the card {goes}")
        assert others[1] == own[1]


def test_going_out() -> None:
    game = play(table("gC | gC | rC", "b9 | r10 | r9"), "play C", "play 9", "play C", "play 10")
    assert told(game, "flip 0", None) == [
        ("flip", 0, "turn over 3DOWN card 1: gC"),
        ("clear", None, "the pile of 1 is removed"),
        ("out", 0, "out: no cards left"),
        ("over", None, "the game is over"),
    ]


def test_the_limit() -> None:
    game = table("g9 | g8 | r5", "b9 | b8 | r4", max_decisions=3)
    assert told(game, "play 5")[-1] == ("over", None, "the limit of decisions is met: places go by points")


def test_set_up_is_secret() -> None:
    game = table("g9 | g8 | r5", "b9 | b8 | r4", lay_up=False)
    assert told(game.copy(), "up 5", 0) == [("up", 0, "lay r5 face up")]
    assert told(game.copy(), "up 5", 1) == [("up", 0, "lay a card face up")]
    assert story(game.copy(), "up 5", 1)[0].cards == ("?",)
    play(game, "up 5")
    assert told(game, "up 8", 0)[-1] == ("reveal", None, "all 3UP cards are revealed")


def test_piles_swapped_at_the_reveal() -> None:
    game = table("g9 | g8 | r5", "b9 | b8 | r4", lay_up=False, pile_swaps=[(0, 1)])
    play(game, "up 8")
    assert told(game, "up 8")[-1] == ("swap", None, "seat 0 and seat 1 exchange their 3UP and 3DOWN piles")


def test_sabotage() -> None:
    game = table("g9 | g8 | r5", "b9 | b8 | r4", sabotage=True)
    assert told(game, "target 1", None) == [("say", 0, "target 1")]
    assert told(game, "want 8", None) == [("say", 0, "want b8")]
    text = "put r5 in the place of seat 1's 3UP card b8, which goes to the hand"
    assert told(game, "give 5", None) == [("exchange", 0, text)]
    assert told(game, "pass", None) == [("pass", 1, "pass: no sabotage")]


def test_a_new_deal_of_a_match() -> None:
    game = play(table("gC | gC | rC", "b9 | r10 | r9", rounds=2), "play C", "play 9", "play C", "play 10")
    assert told(game, "flip 0", None) == [
        ("flip", 0, "turn over 3DOWN card 1"),
        ("points", None, "deal 1 is over: seat 0 +0, seat 1 +0"),
        ("deal", None, "deal 2: the cards are dealt, seat 1 begins"),
    ]


def test_the_direction_turns_round() -> None:
    seats = ("g9 | g8 | r1", "b9 | b8 | r4", "r9 | r8 | r3")
    game = table(*seats, reverse_ones=True)
    assert ("turn round", 0, "the direction turns round: counterclockwise") in told(game, "play 1", None)


def test_actions_to_read() -> None:
    assert [write_action(action) for action in ("play 7x2", "play C+1", "take")] == [
        "play 7 ×2",
        "play C+1",
        "take",
    ]


def test_every_decision_of_whole_games_is_told() -> None:
    """Something is said of each decision, to everybody but in another's set-up."""
    for rules in (Rules.house(3), Rules.match(2), Rules.geeky(4)):
        game = Game(rules, seed=6)
        for _ in range(300):
            if game.player is None:
                break
            secret = look(game, None).phase == "set-up"
            effects = story(game, game.legal_actions[-1], None)
            assert effects or secret
            assert all(effect.text for effect in effects)
