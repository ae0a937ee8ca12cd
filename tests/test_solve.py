"""The solver of small games, on games whose solution is known, and step by step against OpenSpiel's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from threeup_env.solve import (
    NOBODY,
    CFRPlus,
    SequenceForm,
    Strategy,
    exploitability,
    nash_conv,
    purify,
    realize,
    response_value,
    solve,
    uniform,
    value,
)


class Tree:
    """Collects the nodes of a game; what a player sees may be anything that can be a key."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, int, int, int, float]] = []
        self.rows: dict[Any, int] = {}
        self.sizes: list[int] = []

    def add(self, parent: int, branch: int, player: int = NOBODY, sees: Any = None, actions: int = 0) -> int:
        row = -1
        if player != NOBODY:
            row = self.rows.setdefault((player, sees), len(self.rows))
            if row == len(self.sizes):
                self.sizes.append(actions)
            assert self.sizes[row] == actions
        self.nodes.append((parent, branch, player, row, 0.0))
        return len(self.nodes) - 1

    def end(self, parent: int, branch: int, payoff: float) -> None:
        self.nodes.append((parent, branch, NOBODY, -1, payoff))

    def form(self, chance: float = 1.0) -> SequenceForm:
        parent, branch, player, row = (np.array(column, np.int32) for column in list(zip(*self.nodes, strict=True))[:4])
        payoff = np.array([node[4] for node in self.nodes])
        return SequenceForm.from_tree(parent, branch, player, row, payoff, np.array(self.sizes), chance)


def matrix_game(payoffs: list[list[float]]) -> SequenceForm:
    """Both players choose at once: the second does not see what the first has chosen."""
    tree = Tree()
    root = tree.add(-1, 0, 0, "row", len(payoffs))
    for i, line in enumerate(payoffs):
        node = tree.add(root, i, 1, "column", len(line))
        for j, payoff in enumerate(line):
            tree.end(node, j, payoff)
    return tree.form()


def kuhn() -> SequenceForm:
    """Kuhn poker: three cards, an ante of 1, one bet of 1. Each of the six deals has the chance 1."""
    tree = Tree()
    for mine in range(3):
        for other in {0, 1, 2} - {mine}:
            wins = 1.0 if mine > other else -1.0
            root = tree.add(-1, 0, 0, (mine, ""), 2)
            check = tree.add(root, 0, 1, (other, "check"), 2)
            tree.end(check, 0, wins)
            answer = tree.add(check, 1, 0, (mine, "check bet"), 2)
            tree.end(answer, 0, -1.0)
            tree.end(answer, 1, 2 * wins)
            bet = tree.add(root, 1, 1, (other, "bet"), 2)
            tree.end(bet, 0, 1.0)
            tree.end(bet, 1, 2 * wins)
    return tree.form(chance=6.0)


def last(form: SequenceForm, iterations: int) -> Strategy:
    *_, (_, strategy) = solve(form, iterations)
    return strategy


def test_matching_pennies() -> None:
    form = matrix_game([[1, -1], [-1, 1]])
    assert (value(form, uniform(form)), nash_conv(form, uniform(form))) == (0, 0)
    heads = np.array([1.0, 0.0, 1.0, 0.0])
    assert value(form, heads) == 1
    assert (response_value(form, 0, heads), response_value(form, 1, heads)) == (1, 1)
    assert exploitability(form, heads) == nash_conv(form, heads) / 2 == 1
    assert value(form, heads, 1 - heads) == -1


def test_a_skewed_matrix_has_the_equilibrium_of_the_book() -> None:
    """[[3, -1], [-2, 1]] has no saddle: p = 3/7 for the first row, q = 2/7 for the first column, value 1/7."""
    form = matrix_game([[3, -1], [-2, 1]])
    strategy = last(form, 20_000)
    assert strategy == pytest.approx([3 / 7, 4 / 7, 2 / 7, 5 / 7], abs=1e-3)
    assert value(form, strategy) == pytest.approx(1 / 7, abs=1e-4)


def test_kuhn_poker() -> None:
    form = kuhn()
    assert [len(own.row) for own in form.players] == [6, 6]
    assert [own.num_sequences for own in form.players] == [13, 13]
    strategy = last(form, 5_000)
    assert value(form, strategy) == pytest.approx(-1 / 18, abs=1e-4)
    assert 0 <= exploitability(form, strategy) < 1e-4
    assert -response_value(form, 1, strategy) <= -1 / 18 <= response_value(form, 0, strategy)


def test_the_best_response_to_always_betting() -> None:
    """Against a second player who bets and calls with everything, the first wins 1/3: king 2, queen 0, jack -1."""
    form = kuhn()
    bets = np.zeros(form.num_entries)
    bets[form.starts[1:] - 1] = 1
    assert response_value(form, 0, bets) == pytest.approx((2 + 0 - 1) / 3)


def test_sequences_have_the_probability_of_their_own_actions() -> None:
    form = kuhn()
    for player, own in enumerate(form.players):
        weights = realize(form, player, uniform(form))
        assert weights[0] == 1
        for parent, first in zip(own.parent, own.first, strict=True):
            assert weights[first : first + 2].sum() == weights[parent]


def test_players_remember_what_the_row_does_not_say() -> None:
    """Player 1 sees a coin and then, at a row that hides it, guesses it: only a player who forgets would lose half."""
    tree = Tree()
    for coin in range(2):
        look = tree.add(-1, 0, 1, coin, 1)
        guess = tree.add(look, 0, 1, "?", 2)
        for choice in range(2):
            tree.end(guess, choice, -1.0 if choice == coin else 1.0)
    form = tree.form(chance=2.0)
    assert len(form.players[1].row) == 4
    assert response_value(form, 1, uniform(form)) == 1


def test_the_same_row_after_different_numbers_of_own_decisions() -> None:
    tree = Tree()
    root = tree.add(-1, 0, 0, "a", 2)
    again = tree.add(root, 0, 0, "a", 2)
    tree.end(root, 1, 3.0)
    tree.end(again, 0, 5.0)
    tree.end(again, 1, 4.0)
    form = tree.form()
    assert [len(own.row) for own in form.players] == [2, 0]
    assert response_value(form, 0, uniform(form)) == 5
    assert value(form, np.array([0.5, 0.5])) == 0.5 * 3 + 0.25 * 5 + 0.25 * 4


def test_purify_makes_pure_what_is_mixed_without_need() -> None:
    """The third row is as good as the first; the second loses. The columns do not matter."""
    form = matrix_game([[1, 1], [0, 0], [1, 1]])
    mixed = np.array([0.4, 0.0, 0.6, 0.5, 0.5])
    assert purify(form, mixed).tolist() == [0, 0, 1, 1, 0]
    assert mixed.tolist() == [0.4, 0.0, 0.6, 0.5, 0.5]


def test_purify_leaves_mixed_what_has_to_be() -> None:
    form = matrix_game([[1, -1], [-1, 1]])
    assert purify(form, uniform(form)).tolist() == uniform(form).tolist()


def test_what_is_pure_and_what_is_mixed_are_told_apart() -> None:
    """Two games side by side, by a coin: matching pennies, and one with a best row and column."""
    tree = Tree()
    for game, payoffs in (("pennies", [[1, -1], [-1, 1]]), ("saddle", [[2, 3], [1, 0]])):
        root = tree.add(-1, 0, 0, game, 2)
        for i, line in enumerate(payoffs):
            node = tree.add(root, i, 1, game, 2)
            for j, payoff in enumerate(line):
                tree.end(node, j, payoff)
    form = tree.form(chance=2.0)
    strategy = purify(form, np.array([0.5, 0.5, 0.5, 0.5, 0.999, 0.001, 0.999, 0.001]))
    assert strategy.tolist() == [0.5, 0.5, 0.5, 0.5, 1, 0, 1, 0]
    assert exploitability(form, strategy) == 0


def test_points_of_the_curve() -> None:
    assert [iteration for iteration, _ in solve(kuhn(), 120)] == [1, 2, 5, 10, 20, 50, 100, 120]


def from_openspiel(game: Any) -> tuple[SequenceForm, Tree]:
    """A game of OpenSpiel, written out."""
    tree = Tree()

    def walk(state: Any, parent: int, branch: int, chance: float) -> None:
        if state.is_terminal():
            tree.end(parent, branch, chance * state.player_return(0))
            return
        if state.is_chance_node():
            node = tree.add(parent, branch)
            for i, (action, probability) in enumerate(state.chance_outcomes()):
                walk(state.child(action), node, i, chance * probability)
            return
        player, actions = state.current_player(), state.legal_actions()
        node = tree.add(parent, branch, player, state.information_state_string(player), len(actions))
        for i, action in enumerate(actions):
            walk(state.child(action), node, i, chance)

    walk(game.new_initial_state(), -1, 0, 1.0)
    return tree.form(), tree


@pytest.mark.optional
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_every_step_is_that_of_openspiel(name: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    cfr = pytest.importorskip("open_spiel.python.algorithms.cfr")
    peer = pytest.importorskip("open_spiel.python.algorithms.exploitability")

    game = pyspiel.load_game(name)
    form, tree = from_openspiel(game)
    theirs, ours = cfr.CFRPlusSolver(game), CFRPlus(form)
    for _ in range(4):
        policy = theirs.average_policy()
        for (_, information_set), row in tree.rows.items():
            mine = ours.average()[form.starts[row] : form.starts[row + 1]]
            np.testing.assert_allclose(mine, _legal(policy, information_set), atol=1e-12)
        assert exploitability(form, ours.average()) == pytest.approx(peer.exploitability(game, policy), abs=1e-12)
        theirs.evaluate_and_update_policy()
        ours.step()


def _legal(policy: Any, information_set: str) -> Any:
    """The probabilities of the legal actions, in their order."""
    mask = policy.legal_actions_mask[policy.state_lookup[information_set]]
    return policy.policy_for_key(information_set)[mask == 1]
