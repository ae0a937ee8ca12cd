"""The outlook: what may become of the pile in one round, against what `greedy` does in games dealt anew."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from tests.test_policy import positions
from threeup_env import Game, Rules
from threeup_env.actions import ACTIONS
from threeup_env.agents import Agent, make_agent
from threeup_env.agents.networks import make_outlook
from threeup_env.cards import KINDS, NUM_KINDS, NUM_NUMBERS
from threeup_env.core.outlook import TOPS, outlook_size
from threeup_env.observation import observation_layout
from threeup_env.registration import rules_of

Seen: TypeAlias = npt.NDArray[np.int8]


def tops_of(outlook: npt.NDArray[np.float32], rules: Rules) -> npt.NDArray[np.float32]:
    """The chances of what lies on top when the turn comes back, `(..., 11)`."""
    first = 2 * (rules.num_players - 1)
    return outlook[..., first : first + TOPS]


@pytest.mark.parametrize("env", ["ThreeUp/2p-v0", "ThreeUp/6p-v0", "ThreeUp/House-4p-v0", "ThreeUp/Mini-2p-v0"])
def test_it_tells_chances(env: str) -> None:
    rules = rules_of(env)
    observations, _ = positions(500, rules)
    outlook = make_outlook(rules, observations)
    assert outlook.shape == (500, NUM_KINDS, outlook_size(rules.num_players))
    assert outlook.dtype == np.float32
    assert outlook.min() >= 0
    assert outlook.max() <= 1 + 1e-5
    np.testing.assert_allclose(tops_of(outlook, rules).sum(-1), 1, atol=1e-4)


def test_rows_do_not_depend_on_each_other() -> None:
    rules = rules_of("ThreeUp/House-3p-v0")
    observations, _ = positions(100, rules)
    together = make_outlook(rules, observations)
    for row in range(0, 100, 7):
        np.testing.assert_array_equal(make_outlook(rules, observations[row : row + 1])[0], together[row])


RULES = Rules.standard(2)
LAYOUT = observation_layout(RULES)


def seen(hand: str = "", other: str = "", hidden: int = 0, face_up: str = "", down: int = 0, unseen: str = "") -> Seen:
    """What a seat sees with an empty draw pile: its hand, what is known of the other seat's hand, how many cards are
    not, the other's 3UP cards and number of 3DOWN cards. The cards of `unseen` are all that nobody has seen.
    """
    counts = {
        name: np.bincount([KINDS.index(kind) for kind in cards.split()], minlength=NUM_KINDS)
        for name, cards in (("hand", hand), ("known", other), ("up", face_up), ("unseen", unseen))
    }
    row = np.zeros(LAYOUT.size, np.int8)
    LAYOUT["hand"].view(row)[:] = counts["hand"]
    LAYOUT["known"].view(row)[:] = counts["hand"], counts["known"]
    LAYOUT["up"].view(row)[1] = counts["up"]
    LAYOUT["removed"].view(row)[:] = RULES.copies - sum(counts.values())
    LAYOUT["hand_size"].view(row)[:] = counts["hand"].sum(), counts["known"].sum() + hidden
    LAYOUT["down"].view(row)[1, :down] = 1
    return row


def chances(observation: Seen, kind: str) -> dict[str, Any]:
    """The outlook of a kind, by name: the other takes the pile, goes out; tops; stuck after all copies, after one."""
    numbers = make_outlook(RULES, observation[None])[0, KINDS.index(kind)]
    return {"takes": numbers[0], "leaves": numbers[1], "tops": numbers[2:13], "all": numbers[13], "one": numbers[14]}


def test_known_cards_are_certain() -> None:
    outlook = chances(seen(hand="5 6", other="4 8", down=1), "5")
    assert (outlook["takes"], outlook["leaves"]) == (0, 0)
    assert outlook["tops"].tolist() == np.eye(TOPS)[8].tolist()
    assert (outlook["all"], outlook["one"]) == (1, 1), "a 6 cannot be laid on an 8 (3.2)"
    outlook = chances(seen(hand="9 6", other="4 8", down=1), "9")
    assert outlook["takes"] == 1
    assert outlook["tops"].tolist() == np.eye(TOPS)[0].tolist()
    assert (outlook["all"], outlook["one"]) == (0, 0)


def test_copies_that_are_kept_can_be_laid_next() -> None:
    outlook = chances(seen(hand="5 9 9", other="9 3", down=1), "9")
    assert outlook["tops"].tolist() == np.eye(TOPS)[9].tolist()
    assert (outlook["all"], outlook["one"]) == (1, 0)


def test_hidden_cards_are_drawn_from_those_not_seen() -> None:
    outlook = chances(seen(hand="5", other="1", hidden=2, down=1, unseen="2 3 4 7 C"), "5")
    # Of five cards two lie in the hand; a 7 is laid before a Clear.
    assert outlook["takes"] == pytest.approx(3 / 10)
    assert outlook["tops"][7] == pytest.approx(4 / 10)
    assert outlook["tops"][0] == pytest.approx(6 / 10)


@pytest.mark.parametrize(
    ("observation", "takes", "leaves"),
    [
        (seen(other="7"), 0, 1),
        (seen(other="7 7"), 0, 1),
        (seen(other="7 8"), 0, 0),
        (seen(other="4"), 1, 0),
        (seen(hidden=1, unseen="2 6 7 C"), 1 / 4, 3 / 4),
        (seen(hidden=1, face_up="9", unseen="2 6 7 C"), 1 / 4, 0),
        (seen(face_up="9 9", unseen="2"), 0, 1),
        (seen(face_up="3 9", unseen="2"), 0, 0),
        (seen(face_up="9", down=1, unseen="2"), 0, 0),
        (seen(down=1, unseen="2 6 7 C"), 1 / 4, 3 / 4),
        (seen(down=2, unseen="2 6 7 C"), 1 / 4, 0),
    ],
)
def test_the_last_cards_of_a_zone(observation: Seen, takes: float, leaves: float) -> None:
    """3.1: from the hand, then from 3UP, then a card turned over; 6.1: who has none left goes out."""
    outlook = chances(observation, "5")
    assert (outlook["takes"], outlook["leaves"]) == pytest.approx((takes, leaves))


def test_the_extra_of_a_clear_is_laid_on_an_empty_pile() -> None:
    outlook = chances(seen(other="2 C+1", down=1), "5")
    assert outlook["takes"] == 0
    assert outlook["tops"].tolist() == np.eye(TOPS)[2].tolist()


def endings(rules: Rules, count: int) -> list[Game]:
    """Games at a decision with an empty draw pile, no extras owed, and a number that can be discarded."""
    greedy = make_agent("greedy", rules)
    found: list[Game] = []
    seed = 0
    while len(found) < count:
        game = Game(rules, seed=seed)
        seed += 1
        while game.player is not None:
            state = game.state
            if state.drawn == state.deck_size and state.extras == 0 and game.legal_indices()[0] < 7 * NUM_NUMBERS:
                found.append(game)
                break
            game.play(greedy.act(game.observation(game.player), game.action_mask))
    return found


def test_it_is_right_on_average() -> None:
    """What it expects of the next two players, of the top and of the own turn, against games dealt anew."""
    rules = Rules.standard(3)
    greedy = make_agent("greedy", rules)
    rng = np.random.default_rng(1)
    expected, happened = [], []
    for game in endings(rules, 120):
        seat = game.player
        assert seat is not None
        action = game.legal_indices()[0]
        kind = action // 7
        outlook = make_outlook(rules, game.observation(seat)[None])[0, kind]
        rounds = []
        for _ in range(100):
            imagined = game.determinize(seat, rng)
            imagined.play(action)
            if imagined.player is not None and imagined.state.top == kind:
                rounds.append(round_of(imagined, seat, greedy))
        if len(rounds) == 100:
            happened.append(np.mean(rounds, axis=0))
            expected.append([*outlook[:4], *np.add.reduceat(tops_of(outlook, rules), [0, 1, 6]), outlook[-1]])
    assert len(happened) > 80
    difference = np.abs(np.mean(happened, axis=0) - np.mean(expected, axis=0))
    assert difference[:2].max() < 0.01, difference
    assert difference[2:].max() < 0.08, difference  # threes that clear the pile are missed
    # Not only on average: game by game the two rise and fall together.
    for figure in (0, 2, 6):
        assert np.corrcoef(np.array(happened)[:, figure], np.array(expected)[:, figure])[0, 1] > 0.6, figure


def round_of(game: Game, seat: int, greedy: Agent) -> npt.NDArray[np.float64]:
    """What happens until the turn comes back: takes and goes out, for each player; kind of top; stuck."""
    figures = np.zeros(8)
    while game.player is not None and game.player != seat:
        player = game.player
        action = greedy.act(game.observation(player), game.action_mask)
        hand = int(game.state.hand_size[player])
        game.play(action)
        at = 2 * ((player - seat) % 3 - 1)
        figures[at] += str(ACTIONS[action]) == "take" or int(game.state.hand_size[player]) > hand
        figures[at + 1] += game.player is None
    top = int(game.state.top)
    figures[4 + (0 if top < 0 else 1 if top < 5 else 2)] = 1
    figures[7] = game.player is not None and str(ACTIONS[game.legal_indices()[-1]]) == "take"
    return figures
