"""What actions do, in words: true, with the clause that says so, and without what the reader may not know."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings

from threeup_env import Game, Rules
from threeup_env.actions import ACTION_INDEX
from threeup_env.render.events import Log, explain, tell
from threeup_env.render.table import look

from .strategies import rules_strategy
from .tables import choose, play, table
from .test_hiding import MANY, SEEDS, twin

CLAUSES = set(
    re.findall(r"^\*\*(\d+\.\d+)\*\*", (Path(__file__).parent.parent / "docs/rules.md").read_text(), flags=re.MULTILINE)
)
FEW = settings(MANY, max_examples=30)
DUEL = ("g9 r9 | g8 r8 | g5 r5", "b9 b10 | r7 b7 | b5 b6")


def told(game: Game, action: str, viewer: Any = "all") -> list[tuple[str, str]]:
    event = tell(game, ACTION_INDEX[action], viewer)
    return [] if event is None else [(effect.text, effect.clause) for effect in event.effects]


def foreseen(game: Game, action: str) -> list[tuple[str, str]]:
    return [(effect.text, effect.clause) for effect in explain(game, ACTION_INDEX[action])]


def test_a_discard_and_the_refill() -> None:
    game = table(*DUEL, draw="g1 g2 g3")
    assert told(game, "play 5x2") == [("plays g5 r5", "3.2"), ("draws g1 g2", "3.5")]
    assert told(game, "play 5x2", 0) == told(game, "play 5x2")
    assert (
        told(game, "play 5x2", 1) == told(game, "play 5x2", None) == [("plays g5 r5", "3.2"), ("draws 2 cards", "3.5")]
    )
    assert foreseen(game, "play 5x2") == [("plays g5 r5", "3.2"), ("draws 2 cards", "3.5")]


def test_a_pile_is_cleared_or_taken() -> None:
    game = table(*DUEL, draw="g1 g2 g3")
    play(game, "play 5x2")
    assert told(game, "play 5") == [
        ("plays b5", "3.2"),
        ("makes 3 of a number: clears the pile of 3", "4.1"),
        ("draws g3", "3.5"),
    ]
    game = table("g9 r9 | g8 r8 | g5 r5", "b9 b10 | r7 b7 | b3 b4", draw="g1")
    play(game, "play 5x2")
    assert told(game, "take") == [("takes the pile of 2", "3.4")]
    game = table("g9 r9 | g8 r8 | gC r5", "b9 b10 | r7 b7 | b3 b4")
    assert told(game, "play C") == [("plays gC", "3.2"), ("clears an empty pile", "4.2")]


def test_extras_are_owed_drawn_for_and_lapse() -> None:
    game = table("g9 r9 | g8 r8 | gC+2 r5", "b9 b10 | r7 b7 | b3 b4", draw="g1 g2")
    assert told(game, "play C+2")[-1] == ("owes 2 extras", "5.1")
    play(game, "play C+2")
    assert told(game, "draw", 0) == [("draws g1", "5.3")]
    assert told(game, "draw", 1) == [("draws 1 card", "5.3")]
    assert told(play(game.copy(), "draw"), "play 1") == [("plays g1", "5.2"), ("owes 1 extra", "5.1")]
    assert told(game, "play 5")[1] == ("has no card for the extra, which lapses", "5.6")
    lapsing = table("g9 | g8 | gC+1", "b9 | r7 | b3", draw="g1", extra_draw="none")
    assert told(lapsing, "play C+1")[2:] == [("has no card for the extra, which lapses", "5.6"), ("draws g1", "3.5")]


def test_passing_drops_extras() -> None:
    game = table("g9 r9 | g8 r8 | gC+2 r5", "b9 b10 | r7 b7 | b3 b4", extra_mandatory=False)
    assert told(play(game, "play C+2"), "pass") == [("passes: 2 extras dropped", "5.4")]


def test_a_flip_in_vain_is_seen_by_its_owner_alone() -> None:
    """3.3, 10.3."""
    game = table("g2 | g8 | g9", "b9 | r7 | b3")
    play(game, "play 9", "take", "play 8", "play 9")
    assert game.legal_actions == ["flip 0"]
    fate = "it goes to the hand"
    mine = [(f"turns over g2 in slot 0 in vain: {fate}", "3.3"), ("takes the pile of 2", "3.3")]
    assert told(game, "flip 0", 0) == told(game, "flip 0") == mine
    assert told(game, "flip 0", 1) == [(mine[0][0].replace("g2", "a card"), "3.3"), mine[1]]
    assert foreseen(game, "flip 0") == [
        ("turns over the card in slot 0, whatever it is", "3.3"),
        ("a 9 or more is discarded; anything less goes to the hand with the pile of 2 taken up", "3.3"),
    ]


def test_going_out_and_the_limit() -> None:
    game = table("g9 | g8 | g9", "b9 | r7 | b3")
    play(game, "play 9", "take", "play 8", "play 9")
    assert told(game, "flip 0")[0] == ("turns over g9 in slot 0", "3.3")
    assert ("goes out", "6.1") in told(game, "flip 0")
    short = table(*DUEL, max_decisions=5)
    assert told(short, "play 5") == [("plays g5", "3.2"), ("meets the limit of decisions", "6.3")]


def test_set_up_is_secret_until_the_reveal() -> None:
    """2.3: neither the card nor that one was laid."""
    game = table("g9 | g8 | g9", "b9 | r7 | b3", lay_up=False)
    assert told(game, "up 8", 0) == told(game, "up 8") == [("lays g8 face up", "2.3")]
    assert told(game, "up 8", 1) == told(game, "up 8", None) == []
    play(game, "up 8")
    assert told(game, "up 7", 1) == [("lays r7 face up", "2.3"), ("all 3UP cards are revealed", "2.3")]
    assert told(game, "up 7", 0) == [("lays the last card; all 3UP cards are revealed", "2.3")]
    assert foreseen(game, "up 7") == [("lays r7 face up", "2.3")]


def test_house_rules() -> None:
    game = table(
        "g9 r9 | r10 g10 | g7 r7",
        "b9 b10 | g8 r8 | g1 r1",
        "g6 r6 | b8 b6 | g2 r2",
        draw="g3 g4 b4",
        color_swap=True,
        sabotage=True,
        must_play=False,
    )
    assert told(game, "target 1") == [("wants a 3UP card of player 1", "8.6")]
    play(game, "target 1")
    assert told(game, "want 8") == [("begins want 8, and has to say colours", "8.4")]
    play(game, "want 8")
    assert told(game, "color r") == [("wants r8 of player 1's 3UP", "8.6")]
    play(game, "color r", "give 7")
    assert told(game, "color r") == [("takes r8 of player 1's 3UP to the hand and lays r7 there", "8.6")]
    play(game, "color r")
    assert told(game, "pass") == [("sabotages nobody", "8.6")]
    play(game, "pass", "pass")
    assert told(game, "draw") == [("draws g3 instead of a discard", "8.2")]


def test_piles_change_places_when_they_are_revealed() -> None:
    """8.5: drawn, so nobody foresees it."""
    game = table("g9 | g8 | g1", "b9 | r7 | b1", pile_swaps=[(0, 1)], lay_up=False)
    play(game, "up 8")
    assert told(game, "up 7", 0)[1] == ("piles change places: players 0 and 1", "8.5")
    assert foreseen(game, "up 7") == [("lays r7 face up", "2.3")]


def test_the_fourth_of_a_colour_allows_an_exchange() -> None:
    """8.4."""
    game = table("r9 b9 | r8 b8 | g1 g3", "r10 b10 | r7 b7 | g2 g4", draw="r5 r6 b5 b6", color_swap=True)
    play(game, "play 1", "play 2", "play 3")
    offer = ("lays the fourth of a colour and may exchange a card", "8.4")
    assert told(game, "play 4")[:2] == [("plays g4", "3.2"), offer]
    play(game, "play 4")
    assert told(game, "pass")[0] == ("declines the exchange", "8.4")
    assert told(game, "give 6") == [("offers r6 of the hand for an own 3UP card", "8.4")]
    assert told(play(game, "give 6"), "want 7")[0] == ("begins want 7, and has to say colours", "8.4")
    assert told(play(game, "want 7"), "color b")[0] == ("exchanges r6 of the hand for b7 of 3UP", "8.4")


def test_ones_turn_play_round() -> None:
    """8.3."""
    game = table("g9 | g8 | g1", "b9 | r7 | b1", "b8 | r6 | r1", draw="g5 g6 g7", reverse_ones=True)
    assert told(game, "play 1")[1] == ("turns play round: counterclockwise now", "8.3")
    assert foreseen(game, "play 1")[1] == ("turns play round: counterclockwise now", "8.3")


def test_a_log_keeps_the_last_decisions_of_one_game() -> None:
    log = Log(length=3)
    game = table(*DUEL, draw="g1 g2 g3")
    for action in ("play 5", "play 6", "play 5"):
        if action not in game.legal_actions:
            action = game.legal_actions[0]
        log.note(game.copy(), ACTION_INDEX[action])
        play(game, action)
    assert [event.seat for event in log.tell("all")] == [0, 1, 0]
    fresh = table(*DUEL, lay_up=False)
    log.note(fresh, ACTION_INDEX["up 8"])
    assert [event.text for event in log.tell("all")] == ["lays g8 face up"]
    assert log.tell(1) == ()


@FEW
@given(rules_strategy(), SEEDS)
def test_every_action_is_explained_and_told_by_the_rules(rules: Rules, seed: int) -> None:
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in range(80):
        if game.player is None:
            break
        before = game.state.tobytes()
        if rng.random() < 0.2:
            for action in game.legal_indices():
                effects = explain(game, action)
                assert effects and {effect.clause for effect in effects} <= CLAUSES
        action = ACTION_INDEX[game.legal_actions[rng.randrange(len(game.legal_actions))]]
        event = tell(game, action, "all")
        assert event is not None and event.seat == game.player
        assert {effect.clause for effect in event.effects} <= CLAUSES
        assert game.state.tobytes() == before
        game.play(action)


@FEW
@given(rules_strategy(), SEEDS)
def test_nothing_hidden_is_told(rules: Rules, seed: int) -> None:
    """10.4: explanations are the same in all games that the player cannot tell apart, and so is what others are told,
    where the same comes of the action."""
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in range(80):
        if game.player is None:
            break
        action = choose(game, rng, 0.6)
        if rng.random() < 0.2:
            check_nothing_hidden_is_told(game, action, rng)
        game.play(action)


def check_nothing_hidden_is_told(game: Game, action: int, rng: random.Random) -> None:
    assert game.player is not None
    other = twin(game, game.player, rng)
    for legal in game.legal_indices():
        assert explain(game, legal) == explain(other, legal)
    for viewer in range(game.rules.num_players):
        other = twin(game, viewer, rng)
        if action not in other.legal_indices():
            continue
        after, other_after = game.copy(), other.copy()
        after.play(action)
        other_after.play(action)
        if look(after, viewer) == look(other_after, viewer):
            assert tell(game, action, viewer) == tell(other, action, viewer)
