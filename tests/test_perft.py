"""Perft: how many courses of play there are from fixed positions, against counts kept in golden/perft.json.

A count moves as soon as a legal set or an effect changes anywhere in the tree, so these tell a change of the
rules from a change of the code. `python -m tests.test_perft --write` counts anew, after such a change;
`--deal` also deals new positions.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from threeup_env.actions import ACTIONS
from threeup_env.cards import CARDS
from threeup_env.game import Game
from threeup_env.rules import Rules

from .tables import choose

FILE = Path(__file__).parent / "golden" / "perft.json"
MOST = 60_000
"""Courses of play that one position is counted to."""

CASES: dict[str, tuple[Rules, int, int]] = {
    # Name: rules, seed of the position, decisions before it (below zero: so many before the end).
    "standard for 2, from the deal": (Rules.standard(2), 1, 0),
    "standard for 2": (Rules.standard(2), 2, 40),
    "standard for 4": (Rules.standard(4), 3, 60),
    "standard for 6, late": (Rules.standard(6), 4, -14),
    "gamerules for 3": (Rules.gamerules(3), 5, 30),
    "gamerules for 2, late": (Rules.gamerules(2), 6, -12),
    "geeky for 2": (Rules.geeky(2), 7, 60),
    "geeky for 5, late": (Rules.geeky(5), 8, -14),
    "house for 2, from the deal": (Rules.house(2), 9, 0),
    "house for 3, sabotage": (Rules.house(3), 10, 9),
    "house for 4": (Rules.house(4), 11, 60),
    "house for 6, late": (Rules.house(6), 12, -40),
    "match for 2, over the end of a deal": (Rules.match(2, max_decisions=14), 13, 11),
    "mini for 2": (Rules.mini(2), 14, 0),
    "mini for 4": (Rules.mini(4), 15, 4),
    "clear_sets, refill, each": (
        Rules(2, clear_sets=True, extra_draw="refill", draw_before="each", colors=("g",), hand_size=4),
        16,
        12,
    ),
    "low_third, passing, stay": (
        Rules(2, low_third="taken", extra_mandatory=False, failed_flip="stay", deck="gamerules", colors=("g",)),
        17,
        -14,
    ),
    "play_on, reverse_ones": (Rules(4, play_on=True, reverse_ones=True, hand_size=2, table_cards=2), 18, -25),
    "draw instead of discard": (Rules(3, must_play=False, hand_size=5), 19, 12),
}


def perft(game: Game, depth: int) -> int:
    """The number of courses of exactly `depth` decisions from here; games that are over sooner count for nothing."""
    legal = game.legal_indices()
    if depth == 1:
        return len(legal)
    count = 0
    for action in legal:
        after = game.copy()
        after.play(action)
        count += perft(after, depth - 1)
    return count


def counts(game: Game) -> list[int]:
    """Perft to depth 1, 2, ... while it is at most `MOST`."""
    found = [perft(game, 1)]
    while found[-1] > 0 and len(found) < 12:
        # The next depth costs about as many times more as this one did.
        growth = found[-1] / found[-2] if len(found) > 1 else found[-1]
        if found[-1] * growth > MOST:
            break
        found.append(perft(game, len(found) + 1))
    return found


def deal(rules: Rules, seed: int, opening: int) -> dict[str, Any]:
    """A position: the deals and the actions that lead to it, drawn at random."""
    rng = random.Random(seed)
    decks = []
    for _ in range(rules.rounds):
        deck = [card for card, count in zip(CARDS, rules.deck_counts, strict=True) for _ in range(count)]
        rng.shuffle(deck)
        decks.append(deck)
    pairs = [[rng.sample(range(rules.num_players), 2) for _ in range(rules.pile_swaps)] for _ in decks]
    first_player = rng.randrange(rules.num_players)
    game = Game(rules, 0, decks, first_player, pairs)
    actions = []
    while len(actions) != opening and game.player is not None:
        actions.append(ACTIONS[choose(game, rng, 0.6)])
        game.play(actions[-1])
    if opening < 0:
        del actions[opening:]
    return {
        "rules": rules.to_dict(),
        "decks": [" ".join(deck) for deck in decks],
        "first_player": first_player,
        "pile_swaps": pairs,
        "opening": actions,
    }


def position(case: dict[str, Any]) -> Game:
    """The game at the position of a case."""
    decks = [deck.split() for deck in case["decks"]]
    game = Game(Rules.from_dict(case["rules"]), 0, decks, case["first_player"], case["pile_swaps"])
    for action in case["opening"]:
        game.play(action)
    return game


def read() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return cases


def write(anew: bool) -> None:
    kept = {} if anew else read()
    cases = {name: kept.get(name) or deal(*case) for name, case in CASES.items()}
    for name, case in cases.items():
        case["counts"] = counts(position(case))
        print(f"{name}: {' '.join(map(str, case['counts']))}")
    text = json.dumps(cases, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")


def test_every_case_is_kept() -> None:
    assert list(read()) == list(CASES)
    for name, case in read().items():
        assert Rules.from_dict(case["rules"]) == CASES[name][0]


@pytest.mark.parametrize("name", CASES)
def test_perft(name: str) -> None:
    case = read()[name]
    game = position(case)
    assert [perft(game, depth) for depth in range(1, len(case["counts"]) + 1)] == case["counts"]


def test_perft_by_hand() -> None:
    """Two players lay up one of two kinds each, then play what is left: 2 * 2 courses, all forced afterwards."""
    cards = ["g9", "r9", "g1", "g2", "r3", "r4"]
    rules = Rules(2, deck=dict.fromkeys(cards, 1), table_cards=1, hand_size=1)
    game = Game(rules, decks=[cards], first_player=0)
    assert [perft(game, depth) for depth in range(1, 5)] == [2, 4, 4, 4]


if __name__ == "__main__":
    if not {"--write", "--deal"} & set(sys.argv):
        sys.exit(f"usage: {sys.argv[0]} --write | --deal")
    write(anew="--deal" in sys.argv)
