"""`Game`: the interface for people. The rules themselves are tested by clause elsewhere."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threeup_env import Game, Rules, snapshot
from threeup_env.actions import ACTIONS, NUM_ACTIONS
from threeup_env.cards import CARDS
from threeup_env.errors import IllegalActionError, InvalidRecordError, InvalidSnapshotError
from threeup_env.learner import LearnerBatch
from threeup_env.observation import observation_layout
from threeup_env.threeup_v0 import raw_env

from .strategies import rules_strategy

COPIES: dict[str, Callable[[Game], Game]] = {
    "Game.copy": Game.copy,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
    "bytes": lambda game: Game.from_bytes(game.to_bytes()),
    "old pickle": lambda game: pickle.loads(pickle.dumps(game, protocol=2)),
}


def play_on(game: Game, seed: int, stop: int | None = None) -> Game:
    """Play legal actions at random, `stop` of them or to the end."""
    generator = np.random.default_rng(seed)
    made = 0
    while game.player is not None and made != stop:
        game.play(int(generator.choice(game.legal_indices())))
        made += 1
    return game


def picture(game: Game) -> tuple[Any, ...]:
    """Everything that a game is."""
    return (
        game.player,
        game.state.tobytes(),
        game.record(),
        game.legal_actions,
        [game.observation(seat).tobytes() for seat in range(game.rules.num_players)],
    )


def test_defaults() -> None:
    game = Game(seed=1)
    assert game.rules == Rules.standard(2)
    assert game.outcome is None
    assert (game.deal, game.decision) == (0, 0)


def test_seeds_fix_everything() -> None:
    games = [Game(Rules.match(3), seed) for seed in (4, 4, np.random.SeedSequence(4), 5)]
    decks = [game.record().deals[0].deck for game in games]
    assert decks[0] == decks[1] == decks[2] != decks[3]
    first, second, *_ = [play_on(game, 0) for game in games]
    assert picture(first) == picture(second)
    assert Game().record().deals != Game().record().deals  # the system's, once in 84! the same


def test_the_mask_and_the_lists_agree() -> None:
    game = Game(Rules.house(3), seed=2)
    generator = np.random.default_rng(0)
    while game.player is not None:
        mask = game.action_mask
        assert mask.dtype == np.int8
        assert mask.shape == (game.rules.num_actions,)
        assert np.flatnonzero(mask).tolist() == game.legal_indices()
        assert [ACTIONS[action] for action in game.legal_indices()] == game.legal_actions
        assert mask.any()
        game.play(int(generator.choice(game.legal_indices())))
    assert not game.action_mask.any()
    assert game.legal_actions == []
    assert game.legal_indices() == []


def test_index_and_written_form_are_one() -> None:
    written, index = Game(seed=3), Game(seed=3)
    while written.player is not None:
        action = written.legal_indices()[-1]
        written.play(ACTIONS[action])
        index.play(np.int64(action))  # type: ignore[arg-type]
        assert picture(written) == picture(index)


ILLEGAL: list[Any] = [
    -1,
    NUM_ACTIONS,
    10**30,
    0.0,
    96.0,
    float("nan"),
    float("inf"),
    True,
    False,
    None,
    "",
    "up",
    "UP 7",
    "play 7x1",
    "color g",
    b"up 7",
    [96],
    (),
    np.array([96]),
    np.float32(96),
    np.bool_(True),
]


@pytest.mark.parametrize("action", ILLEGAL, ids=repr)
def test_an_illegal_action_changes_nothing(action: Any) -> None:
    game = play_on(Game(seed=1), 0, 2)
    before = picture(game)
    with pytest.raises(IllegalActionError) as error:
        game.play(action)
    assert picture(game) == before
    assert repr(action) in str(error.value)
    assert str(error.value).endswith(f"legal: {', '.join(game.legal_actions)}")


@settings(max_examples=30, deadline=None)
@given(rules_strategy(), st.integers(0, 2**32), st.integers(0, 80))
def test_every_action_that_is_not_listed_is_refused(rules: Rules, seed: int, stop: int) -> None:
    game = play_on(Game(rules, seed), seed, stop)
    before = picture(game)
    legal = set(game.legal_indices())
    for action in range(NUM_ACTIONS):
        if action not in legal:
            with pytest.raises(IllegalActionError, match=f"action {action} "):
                game.play(action)
    assert picture(game) == before


def test_after_the_end_every_action_is_illegal() -> None:
    game = play_on(Game(Rules.mini(2), seed=1), 0)
    before = picture(game)
    with pytest.raises(IllegalActionError, match=r"'take'.* the game is over"):
        game.play("take")
    assert picture(game) == before
    assert game.outcome is not None


@pytest.mark.parametrize("seat", [-1, 2, 0.5, float("nan"), True, None, "0"])
def test_there_is_no_other_seat(seat: Any) -> None:
    with pytest.raises(ValueError, match=r"seats are 0\.\.1"):
        Game(seed=1).observation(seat)


def test_observations_and_masks_are_the_callers() -> None:
    game = Game(seed=1)
    before = picture(game)
    observation, mask = game.observation(0), game.action_mask
    assert observation.dtype == np.int8
    assert observation.shape == (observation_layout(game.rules).size,)
    observation[:] = 7
    mask[:] = 7
    assert picture(game) == before


def test_the_state_cannot_be_written() -> None:
    game = Game(seed=1)
    with pytest.raises(ValueError, match="read-only"):
        game.state.player = 1
    with pytest.raises(ValueError, match="read-only"):
        game.state.hand[0, 0] = 1


# Copies.


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("rules", [Rules.match(3), Rules.house(4)], ids=["match", "house"])
def test_copies_are_exact_and_independent(how: str, rules: Rules) -> None:
    for stop in (0, 1, 40, 150):
        game = play_on(Game(rules, seed=8), 1, stop)
        before = picture(game)
        twin = COPIES[how](game)
        assert picture(twin) == before
        ended = picture(play_on(twin, 2))
        assert picture(game) == before
        # The generator is copied too: further deals of a match are the same.
        assert picture(play_on(game, 2)) == ended


@pytest.mark.parametrize("how", COPIES)
def test_copies_keep_what_was_fixed(how: str) -> None:
    rules = Rules.match(2)
    decks = [Game(rules, seed=seed).record().deals[0].deck for seed in (1, 2, 3)]
    twin = COPIES[how](Game(rules, seed=9, decks=decks))
    assert [deal.deck for deal in play_on(twin, 0).record().deals] == decks


def test_copies_of_a_finished_game() -> None:
    game = play_on(Game(Rules.mini(2), seed=1), 0)
    for make in COPIES.values():
        assert picture(make(game)) == picture(game)
        assert make(game).outcome == game.outcome


# Fixed deals.


def test_a_fixed_deck_is_dealt_as_2_2_says() -> None:
    rules = Rules.mini(2)
    deck = ("g1", "gC", "r1", "g2", "b1", "g3", "r2", "r3", "rC")
    game = Game(rules, seed=1, decks=[deck], first_player=1)
    assert game.record().deals[0].deck == deck
    assert [CARDS[game.state.down[seat, 0]] for seat in range(2)] == ["g1", "gC"]
    hands = [[card for card, count in zip(CARDS, game.state.hand_card[s], strict=True) if count] for s in range(2)]
    assert hands == [["r1", "g2"], ["b1", "g3"]]
    assert game.player == 1


def test_what_is_not_fixed_is_drawn_as_ever() -> None:
    rules = Rules.match(3, pile_swaps=2)
    drawn = play_on(Game(rules, seed=6), 0).record()
    decks = [deal.deck for deal in drawn.deals]
    swaps = [deal.pile_swaps for deal in drawn.deals]
    for fixed in ({"decks": decks[:1]}, {"pile_swaps": swaps}, {"decks": decks, "pile_swaps": swaps[:2]}):
        game = Game(rules, seed=6, first_player=drawn.deals[0].first_player, **fixed)
        assert play_on(game, 0).record() == drawn


def test_fixed_first_player_and_swaps() -> None:
    rules = Rules.match(4, pile_swaps=1)
    swaps = [[(0, 3)], [(1, 2)], [(3, 0)]]
    game = play_on(Game(rules, seed=6, first_player=3, pile_swaps=swaps), 0)
    assert [deal.first_player for deal in game.record().deals] == [3, 0, 1]
    assert [list(deal.pile_swaps) for deal in game.record().deals] == swaps


DECK = list(Game(seed=0).record().deals[0].deck)
WRONG_DEALS: dict[str, tuple[Rules, dict[str, Any], str]] = {
    "short deck": (Rules(), {"decks": [DECK[:-1]]}, "deal 0: deck: . times"),
    "long deck": (Rules(), {"decks": [[*DECK, "g1"]]}, "deal 0: deck: 4 times 'g1'; the deck of the rules holds 3"),
    "empty deck": (Rules(), {"decks": [[]]}, "deal 0: deck: 0 times 'g1'; the deck of the rules holds 3"),
    "no card": (Rules(), {"decks": [[*DECK[:-1], "g11"]]}, "deal 0: deck: 'g11' is not a card"),
    "index": (Rules(), {"decks": [[*DECK[:-1], 3]]}, "deal 0: deck: '3' is not a card"),
    "second deck": (Rules.match(2), {"decks": [DECK, DECK[1:]]}, "deal 1: deck: . times"),
    "deck of a left out colour": (Rules(colors=["g", "r"]), {"decks": [DECK]}, "deal 0: deck: 2 times 'b1'.*holds 0"),
    "too many decks": (Rules(), {"decks": [DECK, DECK]}, "decks: 2 deals given, but the rules have rounds=1"),
    "no seat": (Rules(), {"first_player": 2}, r"first_player: 2 is no seat; seats are 0\.\.1"),
    "negative seat": (Rules(), {"first_player": -1}, r"first_player: -1 is no seat"),
    "bool seat": (Rules(), {"first_player": True}, r"first_player: True is no seat"),
    "float seat": (Rules(), {"first_player": 0.0}, r"first_player: 0\.0 is no seat"),
    "other seat": (Rules(first_player=0), {"first_player": 1}, "first_player: 1 is wrong; the rules say 0"),
    "no swaps": (Rules(), {"pile_swaps": [[(0, 1)]]}, "deal 0: pile_swaps: 1 pairs given; the rules ask for 0"),
    "few swaps": (Rules(pile_swaps=2), {"pile_swaps": [[(0, 1)]]}, "deal 0: pile_swaps: 1 pairs given; .* for 2"),
    "self swap": (Rules(pile_swaps=1), {"pile_swaps": [[(1, 1)]]}, r"deal 0: pile_swaps: \[1, 1\] is not a pair"),
    "swap of no seat": (Rules(pile_swaps=1), {"pile_swaps": [[(0, 2)]]}, r"\[0, 2\] is not a pair .*0\.\.1"),
    "swap of three": (Rules(pile_swaps=1), {"pile_swaps": [[(0, 1, 0)]]}, r"\[0, 1, 0\] is not a pair"),
    "swap of floats": (Rules(pile_swaps=1), {"pile_swaps": [[(0.0, 1.0)]]}, r"\[0\.0, 1\.0\] is not a pair"),
    "many swaps": (Rules(), {"pile_swaps": [[], []]}, "pile_swaps: 2 deals given, but the rules have rounds=1"),
}


@pytest.mark.parametrize("name", WRONG_DEALS)
def test_wrong_fixed_deals_are_named(name: str) -> None:
    rules, fixed, message = WRONG_DEALS[name]
    with pytest.raises(InvalidRecordError, match=message):
        Game(rules, seed=1, **fixed)


# What it tells.


def test_outcome() -> None:
    game = play_on(Game(Rules.standard(3), seed=4), 0)
    outcome = game.outcome
    assert outcome is not None
    assert sorted(place for place in outcome.places if place is not None) == [1, 2, 2]
    winner = outcome.places.index(1)
    assert outcome.scores[winner] == 0
    assert outcome.rewards[winner] == 1
    assert sum(outcome.rewards) == 0
    assert outcome.ended == "out"
    assert game.rewards().tolist() == list(outcome.rewards)


def test_str_and_repr_tell_nothing_hidden() -> None:
    """Whatever the hands are: games that differ in hidden cards alone are written alike (10.4)."""
    rules = Rules.standard(3, first_player=1)
    written = {(str(game), repr(game)) for game in (Game(rules, seed) for seed in range(20))}
    assert len(written) == 1


def test_nobody_sees_in_set_up_whether_a_colour_is_chosen() -> None:
    """2.3: `up 7` with g7 and r7 in hand asks for a colour, `up 8` does not; others see no difference."""
    rules = Rules.house(2, deck={"g7": 3, "r7": 4, "g8": 7, "g9": 7}, pile_swaps=0)
    deck = ["g9"] * 6 + ["g7", "r7", "g8", "g8", "g8", "g8"] + ["g7", "g7", "r7", "r7", "r7", "g8"] + ["g8", "g8", "g9"]
    game = Game(rules, decks=[deck], first_player=0)
    before = str(game), repr(game)
    game.play("up 7")
    assert game.legal_actions == ["color g", "color r"]
    assert (str(game), repr(game)) == before
    other = Game(rules, decks=[deck], first_player=0)
    game.play("color g")
    other.play("up 8")
    assert (str(game), repr(game)) == (str(other), repr(other))


# A game as bytes


def without_history(rules: Rules, seed: int, decisions: int) -> Game:
    """A game that knows nothing of what was played before."""
    return play_on(Game(rules, seed), seed, decisions).determinize(0, seed)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(rules_strategy(), st.integers(0, 2**32 - 1), st.integers(0, 120), st.booleans())
def test_bytes_are_exact(rules: Rules, seed: int, decisions: int, whole: bool) -> None:
    game = play_on(Game(rules, seed), seed, decisions)
    if not whole:
        game = play_on(game.determinize(seed % rules.num_players, seed), seed, decisions)
    other = Game.from_bytes(game.to_bytes())
    assert other.to_bytes() == game.to_bytes()
    assert other.state.tobytes() == game.state.tobytes()
    assert (other.rules, other.player, other.deal) == (game.rules, game.player, game.deal)
    assert play_on(other, 1).outcome == play_on(game, 1).outcome
    if whole:
        assert other.record() == game.record()


def test_bytes_of_a_game_from_a_batch() -> None:
    """Without colours, as batches play under these rules."""
    batch = LearnerBatch(Rules.standard(3), 4, seed=1)
    for _ in range(10):
        batch.step(batch.action_mask.argmax(axis=1))
    for number in range(4):
        game = batch.game(number)
        other = Game.from_bytes(game.to_bytes())
        assert other.to_bytes() == game.to_bytes()
        assert play_on(other, 1).outcome == play_on(game, 1).outcome
    with pytest.raises(InvalidRecordError, match="this game has no record"):
        batch.game(0).record()


def test_bytes_after_a_second_game_at_the_same_table() -> None:
    """What an earlier game left in fields that nobody reads is no fault."""
    env = raw_env(rules=Rules.house(2))
    for seed in (3, None, None):
        env.reset(seed=seed)
        play_on(env.game, 1, 40)
    assert Game.from_bytes(env.game.to_bytes()).record() == env.game.record()


@pytest.mark.parametrize("whole", [True, False])
def test_changed_bytes_are_refused(whole: bool) -> None:
    game = play_on(Game(seed=1), 1, 30) if whole else without_history(Rules(), 1, 30)
    data = game.to_bytes()
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        with pytest.raises(InvalidSnapshotError):
            Game.from_bytes(bytes(changed))
    for length in range(0, len(data), 23):
        with pytest.raises(InvalidSnapshotError):
            Game.from_bytes(data[:length])
    with pytest.raises(InvalidSnapshotError, match="checksum"):
        Game.from_bytes(data + b"x")


@pytest.mark.parametrize("data", [b"", b"x" * 500, "text", None, 3])
def test_what_is_no_game_is_refused(data: Any) -> None:
    with pytest.raises(InvalidSnapshotError):
        Game.from_bytes(data)


def test_another_version_is_named() -> None:
    data = bytearray(Game(seed=1).to_bytes())
    data[len(snapshot.MAGIC)] = 9
    with pytest.raises(InvalidSnapshotError, match="version 9; allowed: 1"):
        Game.from_bytes(bytes(data))


def forged(game: Game, change: Callable[[Any], None]) -> bytes:
    """The bytes of a game whose record was changed, with a checksum that fits."""
    other = game.copy()
    change(other._states[0])
    return other.to_bytes()


def put(field: str, value: Any, *place: Any) -> Callable[[Any], None]:
    def change(state: Any) -> None:
        if place:
            state[field][place] = value
        else:
            state[field] = value

    return change


IMPOSSIBLE: dict[str, Callable[[Any], None]] = {
    "player": put("player", 5),
    "negative player": put("player", -1),
    "phase": put("phase", 40),
    "between deals": put("phase", 7),
    "exchange without colours": put("phase", 5),
    "asking": put("asking", 1),
    "top": put("top", 11),
    "direction": put("direction", 0),
    "extras": put("extras", -1),
    "still in": put("still_in", 1),
    "unrevealed": put("revealed", 0),
    "drawn": put("drawn", 200),
    "drawn more": lambda state: put("drawn", state["drawn"] + 1)(state),
    "deck size": put("deck_size", 10),
    "hand size": put("hand_size", 9, 1),
    "hand": put("hand", 7, 0, 0),
    "negative hand": put("hand", -1, 0, 0),
    "hand of nobody": put("hand", 1, 4, 0),
    "known": put("known", 7, 0, 3),
    "3DOWN card": put("down", 99, 0, 0),
    "3DOWN card twice": lambda state: put("down", (int(state["down"][0, 0]) + 3) % 39, 0, 0)(state),
    "seen 3DOWN card": put("down_seen", 2, 0, 0),
    "deck": lambda state: put("deck", 255, int(state["drawn"]))(state),
    "victim": put("victim", 6),
    "row": put("row", 9),
    "said": put("said", 9),
    "said more": put("num_said", 9),
    "place": put("place", 9),
    "deal": put("deal", 1),
    "generator": put("rng", 0),
    "ended": put("ended", 1),
    "legal": put("legal", 0),
    "more legal": lambda state: put("legal", state["legal"] | 1 << 62)(state),
    "colours": lambda state: put("hand_card", state["hand_card"][0][::-1].copy(), 0)(state),
    "3UP colours": put("up_card", 255, 0, 0),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_impossible_values_are_refused(what: str) -> None:
    """Whoever changes the record and mends the checksum gets no further, with or without a history."""
    for game in (play_on(Game(seed=1), 1, 30), without_history(Rules(), 1, 30)):
        assert Game.from_bytes(forged(game, lambda state: None)).player == game.player
        with pytest.raises(InvalidSnapshotError):
            Game.from_bytes(forged(game, IMPOSSIBLE[what]))


def test_another_history_is_refused() -> None:
    game = play_on(Game(seed=1), 1, 30)
    game._history[5] ^= 1
    with pytest.raises(InvalidSnapshotError, match=r"does not follow the rules|deals and actions"):
        Game.from_bytes(game.to_bytes())
    game = play_on(Game(seed=1), 1, 30)
    del game._history[-1]
    with pytest.raises(InvalidSnapshotError, match="deals and actions"):
        Game.from_bytes(game.to_bytes())


# What a seat believes (tests/test_belief.py)


def test_a_determinized_game_has_no_record() -> None:
    game = play_on(Game(Rules.match(2), 1), 1, 150)
    other = game.determinize(0, 1)
    assert (other.deal, other.decision, other.player) == (game.deal, game.decision, game.player)
    for copied in (other, other.copy(), pickle.loads(pickle.dumps(other)), play_on(other.copy(), 1)):
        with pytest.raises(InvalidRecordError, match="this game has no record"):
            copied.record()
    assert game.record().deals
    assert str(other) == str(game)
