"""`Rules` against docs/rules.md: section 1 for decks, section 9 for switches and presets."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from threeup_env.cards import CARD_INDEX, CARDS, COLORS, KINDS
from threeup_env.errors import InvalidRulesError
from threeup_env.rules import MINI_DECISIONS_PER_PLAYER, CustomDeck, Rules

from .strategies import custom_decks, rules_strategy

FLAGS = {
    "must_play": True,
    "clear_sets": False,
    "extra_mandatory": True,
    "play_on": False,
    "reverse_ones": False,
    "color_swap": False,
    "sabotage": False,
    "score_table_cards": False,
}
CHOICES = {
    "failed_flip": ("hand", "stay"),
    "extra_draw": ("one", "refill", "none"),
    "draw_before": ("first", "each"),
    "low_third": ("stays", "taken"),
    "at_limit": ("points", "truncate"),
}
"""The first value is the default."""
RANGES = {
    "num_players": (2, 2, 6),
    "table_cards": (3, 1, 3),
    "hand_size": (3, 1, 6),
    "pile_swaps": (0, 0, 15),
    "rounds": (1, 1, 100),
}
"""Default, lowest and highest."""
SWITCHES = {
    **FLAGS,
    **{name: values[0] for name, values in CHOICES.items()},
    **{name: values[0] for name, values in RANGES.items()},
    "deck": "standard",
    "colors": ("g", "r", "b"),
    "first_player": "random",
    "max_decisions": 1000,
}
"""Every switch of section 9 and its default."""
SMALL_DECK = {"rC": 2, "g10": 3, "b1": 0, "g1": 4}
"""Nine cards: enough for two players with one 3UP and one 3DOWN card each and a hand of one or two."""


def rules_with(switches: dict[Any, Any]) -> Rules:
    return Rules(**switches)


def small(**switches: Any) -> Rules:
    return rules_with({"deck": SMALL_DECK, "table_cards": 1, "hand_size": 1} | switches)


def assert_refused(name: str, value: object, *allowed: str, **others: Any) -> None:
    """Assert that a value is refused in a message that has the switch, the value and what is allowed."""
    for make in (Rules, lambda **switches: Rules.from_dict(switches)):
        with pytest.raises(InvalidRulesError) as caught:
            make(**{name: value, **others})
        message = str(caught.value)
        assert message.startswith(f"{name}: ")
        assert repr(value) in message
        assert all(text in message for text in ("allowed: ", *allowed))
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


# Section 9: names, defaults and values


def test_switches_and_defaults_are_those_of_section_9() -> None:
    rules = Rules()
    assert {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules)} == SWITCHES


@pytest.mark.parametrize("name", FLAGS)
def test_flags(name: str) -> None:
    for value in (True, False):
        assert getattr(rules_with({name: value}), name) is value
    for wrong in (0, 1, "true", "True", None, np.True_, [True]):
        assert_refused(name, wrong, "True", "False")


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name: str) -> None:
    for value in CHOICES[name]:
        assert getattr(rules_with({name: value}), name) == value
    for wrong in ("", "nothing", CHOICES[name][0].upper(), 0, True, None, [CHOICES[name][0]]):
        assert_refused(name, wrong, *map(repr, CHOICES[name]))


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name: str) -> None:
    _, low, high = RANGES[name]
    for value in range(low, high + 1):
        rules = rules_with({name: value})
        assert getattr(rules, name) == value
        assert rules_with({name: np.int64(value)}) == rules
        assert type(getattr(rules_with({name: np.uint8(value)}), name)) is int
    for wrong in (low - 1, high + 1, -1, str(low), float(low), True, None, [low], np.float32(low)):
        assert_refused(name, wrong, f"an integer from {low} to {high}")


def test_max_decisions() -> None:
    for value in (1, 2, 1000, 10**9):
        assert Rules(max_decisions=value).max_decisions == value
    assert rules_with({"max_decisions": np.int16(7)}) == Rules(max_decisions=7)
    for wrong in (0, -1, "1", 1.0, True, None):
        assert_refused("max_decisions", wrong, "an integer of at least 1")


def test_first_player() -> None:
    for seat in range(6):
        assert Rules(6, first_player=seat).first_player == seat
        assert rules_with({"num_players": 6, "first_player": np.int8(seat)}) == Rules(6, first_player=seat)
    assert Rules(3, first_player="random").first_player == "random"
    for wrong in ("first", "0", -1, 6, 1.0, False, None):
        assert_refused("first_player", wrong, "'random' or an integer from 0 to 5", num_players=6)
    for players in range(2, 6):
        allowed = f"'random' or an integer from 0 to {players - 1}"
        assert_refused("first_player", players, f"num_players={players}", allowed, num_players=players)


def test_names_that_are_no_switch() -> None:
    makers: list[Callable[..., Rules]] = [Rules, Rules.standard, Rules.house, Rules.mini]
    makers.append(lambda **switches: Rules.from_dict(switches))
    for make in makers:
        with pytest.raises(InvalidRulesError) as caught:
            make(extra_mandatry=False)
        assert all(text in str(caught.value) for text in ("'extra_mandatry'", "False", "allowed: ", *SWITCHES))
    with pytest.raises(InvalidRulesError, match="'no_such'"):
        dataclasses.replace(Rules(), no_such=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidRulesError, match=r"3 .*is no switch"):
        Rules.from_dict({3: 4})  # type: ignore[dict-item]
    with pytest.raises(InvalidRulesError, match="without its name"):
        Rules(2, "standard")  # type: ignore[call-arg]


@pytest.mark.parametrize("wrong", [None, 3, "num_players", [("num_players", 2)]])
def test_from_dict_needs_a_mapping(wrong: Any) -> None:
    with pytest.raises(InvalidRulesError, match="not a mapping"):
        Rules.from_dict(wrong)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InvalidRulesError) as caught:
        Rules(num_players=7, must_play=1, deck="poker", speed=3)  # type: ignore[arg-type, call-arg]
    assert all(text in str(caught.value) for text in ("num_players: 7", "must_play: 1", "deck: 'poker'", "'speed'"))


def test_rounds_exclude_play_on() -> None:
    assert Rules(play_on=True, rounds=1).play_on
    assert not Rules(play_on=False, rounds=2).play_on
    assert_refused("play_on", True, "rounds=2", "play_on=False", "rounds=1", rounds=2)
    with pytest.raises(InvalidRulesError, match="play_on"):
        Rules.house(4, rounds=3)


# Section 1: decks


def test_standard_deck() -> None:
    """1.2: 84 cards; green holds three sets of numbers, the others two."""
    rules = Rules()
    assert rules.deck_size == 84
    assert rules.copies.tolist() == [7] * 10 + [7, 6, 1]
    by_color = rules.deck_counts.reshape(13, 3).T.tolist()
    assert by_color == [[3] * 10 + [3, 2, 1], [2] * 10 + [2, 2, 0], [2] * 10 + [2, 2, 0]]
    assert [sum(counts) for counts in by_color] == [36, 24, 24]


def test_gamerules_deck() -> None:
    """1.3: 74 cards; each colour two of everything, C+2 in green alone."""
    rules = Rules(deck="gamerules")
    assert rules.deck_size == 74
    assert rules.copies.tolist() == [6] * 10 + [6, 6, 2]
    assert rules.deck_counts.reshape(13, 3).T.tolist() == [[2] * 13, [2] * 12 + [0], [2] * 12 + [0]]


@pytest.mark.parametrize(("colors", "size"), [("gr", 60), ("gb", 60), ("rb", 48), ("g", 36), ("r", 24), ("b", 24)])
def test_colors_leave_cards_out(colors: str, size: int) -> None:
    """1.4: whole colours leave the deck; without green there is no C+2."""
    rules = Rules(colors=tuple(colors))
    assert rules.deck_size == size
    assert {CARDS[card][0] for card in np.flatnonzero(rules.deck_counts)} == set(colors)
    assert rules.copies[12] == ("g" in colors)


def test_colors_in_any_order_and_form() -> None:
    for given_colors in (["b", "g"], ("g", "b"), {"g", "b"}, frozenset("bg"), iter("bg"), np.array(["b", "g"])):
        assert Rules(colors=given_colors).colors == ("g", "b")  # type: ignore[arg-type]
    for wrong in ([], "", "g", "gr", None, 3, ["g", "g"], ["green"], ["g", 1], {"g": 1}, ("g", "y"), [["g"]]):
        assert_refused("colors", wrong, "'g', 'r', 'b'")


def test_custom_deck_is_stored_in_card_order_without_zeros() -> None:
    rules = small()
    assert isinstance(rules.deck, CustomDeck)
    assert list(rules.deck.items()) == [("g1", 4), ("g10", 3), ("rC", 2)]
    assert rules.deck == {"g10": 3, "g1": 4, "rC": 2}
    assert "b1" not in rules.deck
    counts = {CARDS[card]: int(rules.deck_counts[card]) for card in np.flatnonzero(rules.deck_counts)}
    assert counts == {"g1": 4, "g10": 3, "rC": 2}
    assert rules.copies.tolist() == [4, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2, 0, 0]


def test_custom_deck_does_not_follow_the_callers_dict() -> None:
    cards = dict(SMALL_DECK)
    rules = small(deck=cards)
    cards["g1"] = 7
    assert rules == small()
    with pytest.raises(TypeError):
        rules.deck["g1"] = 7  # type: ignore[index]


def test_custom_decks_of_the_same_cards_are_equal() -> None:
    same = dict(sorted(SMALL_DECK.items(), reverse=True)) | {"b1": 0, "r7": 0, "g1": np.int64(4)}
    assert small(deck=same) == small()
    assert hash(small(deck=same)) == hash(small())
    assert small(deck={**SMALL_DECK, "g1": 5}) != small()


@pytest.mark.parametrize("card", ["g11", "10", "gc", "Cg", "", "yC", "g1 ", "gC+3", 0, None, ("g", "1")])
def test_custom_deck_of_what_is_no_card(card: object) -> None:
    with pytest.raises(InvalidRulesError) as caught:
        small(deck={"g1": 7, "g2": 7, card: 1})
    assert all(text in str(caught.value) for text in ("deck: ", repr(card), "allowed: ", *COLORS, *KINDS))


@pytest.mark.parametrize("count", [-1, 1.0, "1", True, None, np.True_, np.float64(2)])
def test_custom_deck_with_a_wrong_count(count: object) -> None:
    with pytest.raises(InvalidRulesError) as caught:
        small(deck={"g1": 7, "g2": 7, "r3": count})
    assert all(text in str(caught.value) for text in ("deck: ", "'r3'", repr(count), "allowed: ", "at least 0"))


@pytest.mark.parametrize("deck", ["Standard", "", None, 3, ["g1"], [("g1", 7)], True])
def test_what_is_no_deck(deck: object) -> None:
    assert_refused("deck", deck, "'standard' or 'gamerules'", "mapping from card")


def test_at_most_seven_of_a_kind_after_colors() -> None:
    """1.4: what `colors` leaves out does not count."""
    deck = {"g1": 4, "r1": 3, "b1": 1, "g2": 4}
    assert_refused("deck", deck, "8 cards of kind 1", "at most 7 of one kind", table_cards=1, hand_size=1)
    assert small(deck=deck, colors=("g", "r")).copies[0] == 7
    assert_refused("deck", {"g2": 4, "rC": 100}, "100 cards of kind C", "at most 7", table_cards=1, hand_size=1)
    assert small(deck={"g2": 6, "rC": 100}, colors=["g"]).deck_size == 6


@pytest.mark.parametrize(
    ("players", "table_cards", "hand_size", "least"),
    [(2, 3, 3, 18), (6, 3, 3, 54), (6, 3, 6, 72), (2, 1, 1, 6), (3, 2, 5, 27)],
)
def test_enough_cards(players: int, table_cards: int, hand_size: int, least: int) -> None:
    """1.4: num_players * (2 * table_cards + hand_size)."""
    cards = list(CARDS) * 2
    sizes = {"num_players": players, "table_cards": table_cards, "hand_size": hand_size}
    assert rules_with({"deck": Counter(cards[:least]), **sizes}).deck_size == least
    with pytest.raises(InvalidRulesError) as caught:
        rules_with({"deck": Counter(cards[: least - 1]), **sizes})
    wanted = [f"{name}={value}" for name, value in sizes.items()]
    assert all(
        text in str(caught.value) for text in ("deck: ", f"{least - 1} cards", f"allowed: at least {least}", *wanted)
    )


def test_colors_may_leave_too_few_cards() -> None:
    assert Rules(2, colors=["r"]).deck_size == 24
    with pytest.raises(InvalidRulesError, match=r"colors=\('r',\) holds 24 cards; allowed: at least 27"):
        Rules(3, colors=["r"])
    with pytest.raises(InvalidRulesError, match="holds 0 cards; allowed: at least 18"):
        Rules(deck={"g1": 0})


# What others read from the rules


def test_num_actions() -> None:
    assert Rules().num_actions == 109
    for switch in ({"extra_mandatory": False}, {"color_swap": True}, {"sabotage": True}):
        assert rules_with(switch).num_actions == 144
    assert (
        Rules(6, must_play=False, reverse_ones=True, pile_swaps=3, low_third="taken", play_on=True).num_actions == 109
    )


@given(rules_strategy())
def test_counts_agree(rules: Rules) -> None:
    counts, copies = rules.deck_counts, rules.copies
    assert counts.dtype == copies.dtype == np.int8
    assert (counts.shape, copies.shape) == ((39,), (13,))
    assert counts.sum() == copies.sum() == rules.deck_size
    assert rules.deck_size >= rules.num_players * (2 * rules.table_cards + rules.hand_size)
    assert copies.max() <= 7
    assert (counts.reshape(13, 3).sum(axis=1) == copies).all()
    counts[:] = 0
    assert rules.deck_counts.sum() == rules.deck_size


# Presets


@pytest.mark.parametrize("players", range(2, 7))
def test_presets(players: int) -> None:
    def switches(rules: Rules) -> dict[str, Any]:
        written = rules.to_dict()
        assert written.pop("num_players") == players
        return written

    assert switches(Rules.standard(players)) == {}
    assert switches(Rules.gamerules(players)) == {"deck": "gamerules", "extra_mandatory": False}
    assert switches(Rules.geeky(players)) == {"draw_before": "each", "failed_flip": "stay"}
    assert switches(Rules.house(players)) == {
        "must_play": False,
        "play_on": True,
        "reverse_ones": True,
        "color_swap": True,
        "pile_swaps": 1,
        "sabotage": True,
    }
    assert switches(Rules.match(players)) == {"rounds": 3}
    mini = switches(Rules.mini(players))
    assert set(mini) == {"deck", "table_cards", "hand_size", "max_decisions"}
    assert {card[1:] for card in mini["deck"]} == {"1", "2", "3", "C"}
    assert (mini["table_cards"], mini["hand_size"]) == (1, 1)
    assert mini["max_decisions"] == MINI_DECISIONS_PER_PLAYER * players


def test_mini_is_small_for_two() -> None:
    rules = Rules.mini(2)
    assert rules.deck_size == 9
    assert rules.copies.tolist() == [3, 2, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]
    assert rules.deck_counts.max() == 1


def test_presets_take_other_switches() -> None:
    assert Rules.house(4, must_play=True, reverse_ones=False) == Rules(
        4, play_on=True, color_swap=True, pile_swaps=1, sabotage=True
    )
    assert Rules.match(3, rounds=5).rounds == 5
    assert Rules.mini(2, max_decisions=3) == dataclasses.replace(Rules.mini(2), max_decisions=3)
    for preset in (Rules.standard, Rules.gamerules, Rules.geeky, Rules.house, Rules.match, Rules.mini):
        with pytest.raises(InvalidRulesError, match="num_players: '2'"):
            preset("2")  # type: ignore[arg-type]


# The object


@given(rules_strategy())
def test_round_trips(rules: Rules) -> None:
    for defaults in (False, True):
        written = json.loads(json.dumps(rules.to_dict(defaults=defaults)))
        assert Rules.from_dict(written) == rules
        assert hash(Rules.from_dict(written)) == hash(rules)
        assert Rules.from_dict(written).to_dict(defaults=defaults) == written
    for same in (pickle.loads(pickle.dumps(rules)), copy.copy(rules), copy.deepcopy(rules), dataclasses.replace(rules)):
        assert same == rules
        assert hash(same) == hash(rules)


def test_to_dict() -> None:
    assert Rules().to_dict() == {"num_players": 2}
    assert Rules().to_dict(defaults=True) == SWITCHES | {"colors": ["g", "r", "b"]}
    written = small(colors=("r", "g"), at_limit="truncate").to_dict()
    assert written == {
        "num_players": 2,
        "deck": {"g1": 4, "g10": 3, "rC": 2},
        "colors": ["g", "r"],
        "table_cards": 1,
        "hand_size": 1,
        "at_limit": "truncate",
    }
    assert list(written["deck"]) == ["g1", "g10", "rC"]
    assert Rules.from_dict({}) == Rules()


@given(rules_strategy(), st.data())
def test_rules_that_differ_are_not_equal(rules: Rules, data: st.DataObject) -> None:
    limit = data.draw(st.integers(1, 300))
    other = dataclasses.replace(rules, max_decisions=rules.max_decisions + limit)
    assert other != rules
    assert len({rules, other, dataclasses.replace(rules)}) == 2


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().num_players = 3  # type: ignore[misc]


def test_replace_checks() -> None:
    rules = small()
    assert dataclasses.replace(rules, hand_size=2).hand_size == 2
    with pytest.raises(InvalidRulesError, match="hand_size: 7"):
        dataclasses.replace(rules, hand_size=7)
    with pytest.raises(InvalidRulesError, match="at least 12"):
        dataclasses.replace(rules, hand_size=4)


@given(custom_decks(min_cards=18))
def test_custom_deck_is_a_mapping_in_card_order(deck: dict[str, int]) -> None:
    stored = CustomDeck(deck)
    assert dict(stored) == {card: count for card, count in deck.items() if count}
    assert list(stored) == sorted(stored, key=CARD_INDEX.__getitem__)
    assert Rules(deck=stored).deck is stored
    assert eval(repr(stored)) == stored


@given(rules_strategy(num_players=6, deck="gamerules", extra_draw="refill", play_on=True))
def test_strategy_keeps_what_is_fixed(rules: Rules) -> None:
    assert (rules.num_players, rules.deck, rules.extra_draw, rules.play_on) == (6, "gamerules", "refill", True)


def test_rules_need_no_compiler() -> None:
    """The vocabulary is read without Numba, so that a wrong switch is told at once."""
    code = "import sys; sys.modules['threeup_env'] = type(sys)('threeup_env'); sys.modules['threeup_env'].__path__ = "
    code += f"{[str(path) for path in sys.modules['threeup_env'].__path__]}; import threeup_env.rules; "
    code += "assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
