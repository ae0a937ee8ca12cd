"""docs/rules.md section 10: what each player knows. At random positions: tests/test_hiding.py."""

from __future__ import annotations

from ..tables import decode, play, table


def kinds(**counts: int) -> list[int]:
    """Counts by kind: `kinds(k5=2)` is two 5s; Clears are k11 (`C`) to k13."""
    return [counts.get(f"k{kind}", 0) for kind in range(1, 14)]


def test_10_1_whose_decision_it_is_and_what_it_decides() -> None:
    game = table("g9 | g8 | gC+2 g1", "r9 | r8 | r4 r5", "b9 | b8 | b4 b5", draw="b6 b7", first_player=1, lay_up=False)
    play(game, "up 8")
    assert [decode(game, seat)["to_play"] for seat in range(3)] == [2, 1, 0]
    assert [decode(game, seat)["phase"] for seat in range(3)] == [0, 0, 0]
    play(game, "up 8", "up 8", "play 4", "play 4", "play C+2")
    for seat in range(3):
        seen = decode(game, seat)
        assert (seen["to_play"], seen["phase"], seen["extras"]) == ((0 - seat) % 3, 1, 2)
        assert (seen["draw_offered"], seen["table_clear_2"]) == (0, 0), "b6 and b7 are drawn"


def test_10_1_the_draw_of_5_3_is_public() -> None:
    game = table("g9 | g8 | gC+2 g1", "r9 | r8 | r4 r5", draw="b6 b7")
    assert decode(game, 1)["draw_offered"] == 0
    play(game, "play C+2")
    assert [decode(game, seat)["draw_offered"] for seat in (0, 1)] == [1, 1]
    play(game, "draw")
    assert [decode(game, seat)["draw_offered"] for seat in (0, 1)] == [0, 0]


def test_10_1_a_clear_2_from_the_table_is_public() -> None:
    game = table("g9 | gC+2 | g1", "r9 | r8 | r2")
    play(game, "play 1", "play 2", "play C+2")
    assert [decode(game, seat)["table_clear_2"] for seat in (0, 1)] == [1, 1]


def test_10_1_parts_already_said() -> None:
    game = table("g9 | g10 | g7 r7 b7", "r9 | r10 | g8 r8 b8", color_swap=True)
    play(game, "play 7x3", "color b")
    for seat in (0, 1):
        seen = decode(game, seat)
        assert (seen["asking"], seen["pending_kind"], seen["pending_count"], seen["said"]) == (1, 6, 3, [2])


def test_10_1_pile_removed_cards_and_3up() -> None:
    game = table("g9 | g8 | g4 gC", "r9 | r8 | r4 r5", "b9 | b10 | b5 b6")
    play(game, "play 4", "play 4", "play 5")
    for seat in range(3):
        seen = decode(game, seat)
        assert (seen["pile"], seen["top"]) == (kinds(k4=2, k5=1)[:10], 4)
        assert seen["up"] == [kinds(k8=1), kinds(k8=1), kinds(k10=1)][seat:] + [kinds(k8=1), kinds(k8=1)][:seat]
    play(game, "play C")
    for seat in range(3):
        seen = decode(game, seat)
        assert (seen["removed"], seen["pile"], seen["top"]) == (kinds(k4=2, k5=1, k11=1), [0] * 10, None)


def test_10_1_every_count() -> None:
    game = table("g9 r9 | g8 r8 | g4 gC", "b9 b7 | b8 r7 | r4 r5", draw="b6 b5 g1", max_decisions=100)
    play(game, "play 4", "play 5")
    for seat in (0, 1):
        seen = decode(game, seat)
        assert (seen["hand_size"], seen["draw_pile"], seen["decisions_left"]) == ([2, 2], 1, 94)
        assert seen["down"] == [[1, 1], [1, 1]]


def test_10_1_decisions_left_before_the_reveal_are_the_limit_less_the_cards_laid_up() -> None:
    game = table("g9 | g7 | r7", "r9 | r8 | r1", lay_up=False, color_swap=True, max_decisions=50)
    play(game, "up 7")
    assert [decode(game, seat)["decisions_left"] for seat in (0, 1)] == [50, 50]
    play(game, "color g")
    assert [decode(game, seat)["decisions_left"] for seat in (0, 1)] == [49, 49]
    play(game, "up 8")
    assert [decode(game, seat)["decisions_left"] for seat in (0, 1)] == [47, 47], "revealed: three were made"


def test_10_1_decisions_left_are_never_below_0() -> None:
    game = play(table("g9 | g8 | g1", "r9 | r8 | r2", sabotage=True, max_decisions=3), "target 1", "want 8")
    assert [decode(game, seat)["decisions_left"] for seat in (0, 1)] == [0, 0]


def test_10_1_first_player_places_and_totals() -> None:
    game = table("g7 | g4 | g1", "r8 | r5 | r2", "b9 | b6 | b3", first_player=2, rounds=2, max_decisions=4)
    assert [decode(game, seat)["first_player"] for seat in range(3)] == [2, 1, 0]
    play(game, "play 3")
    for seat in range(3):
        seen = decode(game, seat)
        assert (seen["deal"], seen["first_player"]) == (1, (0 - seat) % 3)
        assert seen["total"] == [[1, 2, 0], [2, 0, 1], [0, 1, 2]][seat]


def test_10_1_cards_are_public_by_kind_and_under_color_swap_with_their_colours() -> None:
    seats = ("g9 | g10 | g1 g3 r6", "r9 | r10 | g2 g4 b6")
    game = play(table(*seats), "play 1", "play 2")
    assert "pile_card" not in decode(game, 0)
    game = play(table(*seats, color_swap=True), "play 1", "play 2")
    for seat in (0, 1):
        seen = decode(game, seat)
        assert [card for card, count in enumerate(seen["pile_card"]) if count] == [0, 3]
        assert seen["row"] == (0, 2)
        assert [row.index(1) for row in seen["up_card"]] == ([27, 28], [28, 27])[seat]


def test_10_2_taking_a_pile_adds_its_cards() -> None:
    game = table("g9 | g8 | g4 r4 b5", "r9 | r8 | r2 r1 b1")
    play(game, "play 4x2", "take")
    assert [decode(game, seat)["known"][(1 - seat) % 2] for seat in (0, 1)] == [kinds(k4=2)] * 2


def test_10_2_discarding_lowers_it_not_below_zero() -> None:
    # Seat 1 takes a 4, and then has three of which one is known.
    game = table("g9 | g8 | g4 r1 b1", "r9 | r8 | r2 b2 r3", draw="g5 r5 b3")
    play(game, "play 4", "take", "play 1")
    assert decode(game, 0)["known"][1] == kinds(k4=1)
    play(game, "play 2x2")
    assert decode(game, 0)["known"][1] == kinds(k4=1), "2s were not known"
    play(game, "play 5")
    assert decode(game, 0)["known"][0] == kinds()
    play(game, "take", "play 1")
    assert decode(game, 0)["known"][1] == kinds(k1=1, k2=2, k4=1, k5=1)
    play(game, "play 4")
    assert decode(game, 0)["known"][1] == kinds(k1=1, k2=2, k5=1)


def test_10_2_a_3up_card_moving_to_a_hand_adds_it() -> None:
    game = table("g9 | g8 | g1", "r9 | r8 | r2", "b9 | b8 | b2", sabotage=True)
    play(game, "target 1", "want 8", "give 1")
    assert [decode(game, seat)["known"][(0 - seat) % 3] for seat in range(3)] == [kinds(k8=1)] * 3


def test_10_2_so_does_a_hand_card_given_in_the_open() -> None:
    # The second saboteur takes back the card it is known to hold.
    game = table("g9 | g8 | g1", "r9 | r8 | r2", sabotage=True)
    play(game, "target 1", "want 8", "give 1")
    assert decode(game, 1)["known"] == [kinds(), kinds(k8=1)]
    play(game, "target 1", "want 8", "give 2")
    assert decode(game, 1)["known"] == [kinds(k8=1), kinds(k8=1)]


def test_10_2_a_flip_in_vain_adds_nothing() -> None:
    game = table("g2 | g5 | g1", "r9 | r8 | r3")
    play(game, "play 1", "play 3", "play 5", "play 8", "flip 0")
    assert decode(game, 1)["known"][1] == kinds(k1=1, k3=1, k5=1, k8=1)


def test_10_2_in_an_exchange_the_given_card_lowers_first() -> None:
    game = table("g9 | g8 | r4 g1", "r9 | r4 | r2 r1", first_player=1, sabotage=True)
    # Seat 0 gives its own 4 for the 4 of seat 1.
    play(game, "pass", "target 1", "want 4", "give 4")
    assert decode(game, 1)["known"][1] == kinds(k4=1)


def test_10_3_the_own_hand_is_private() -> None:
    game = table("g9 | g8 | g4 r4", "r9 | r8 | r1 r2")
    assert [decode(game, seat)["hand"] for seat in (0, 1)] == [kinds(k4=2), kinds(k1=1, k2=1)]


def test_10_3_the_own_unrevealed_3up_choice_is_private() -> None:
    game = table("g9 | g8 | g4", "r9 | r8 | r1", lay_up=False)
    play(game, "up 8")
    assert decode(game, 0)["up"] == [kinds(k8=1), kinds()]
    assert decode(game, 1)["up"] == [kinds(), kinds()]


def test_10_4_hidden_cards_change_nothing() -> None:
    """Seat 0 knows neither the hand of seat 1, nor 3DOWN cards, nor the draw pile."""
    one = play(table("g9 | g8 | g4", "r9 | r8 | r1", draw="b6 b7"), "play 4", "take")
    two = play(table("r9 | g8 | g4", "b7 | r8 | g9", draw="b6 r1"), "play 4")
    assert two.legal_actions == ["play 9"], "this seat 1 could play"
    two = play(table("r9 | g8 | g4", "b7 | r8 | r1", draw="b6 g9"), "play 4", "take")
    assert one.observation(0).tolist() == two.observation(0).tolist()
    assert one.action_mask.tolist() == two.action_mask.tolist()
    assert one.legal_actions == two.legal_actions


def test_10_1_the_draw_is_offered_at_a_decision_that_can_take_it() -> None:
    """Not while colours are said, nor before an exchange is settled, though it is open again afterwards."""
    game = table("g9 | g10 | gC+1 g7 r7", "r9 | r10 | g8 r8 b8", draw="b1 b2 b3", color_swap=True)
    assert decode(play(game, "play C+1"), 1)["draw_offered"] == 1
    assert decode(play(game, "play 7"), 1)["draw_offered"] == 0
    seats = ("g9 | g10 | gC+2 rC+2 g2 g2 g3 g3", "r9 | r10 | b1 b2 b3 b4 b5 b6")
    game = table(*seats, draw="b9 b8 b7", color_swap=True, draw_before="each")
    play(game, "play C+2", "play C+2", "draw", "play 2x2", "play 3x2")
    assert game.legal_actions == ["pass", "give 9"]
    assert decode(game, 1)["draw_offered"] == 0
    play(game, "pass")
    assert (game.legal_actions, decode(game, 1)["draw_offered"]) == (["play 9", "draw"], 1)
