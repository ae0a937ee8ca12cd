"""Solve `ThreeUp/Mini-2p-v0` and write the solution as the agent `nash-mini`.

    python -m training.nash [--iterations N] [--out FILE] [--curve FILE]

CFR+ comes close to an equilibrium, then its strategy is made pure wherever that gives nothing away
(`threeup_env.solve`). The file must be written anew whenever observations or rules of that environment change; the
same version writes the same file, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

import threeup_env
from threeup_env.agents import SHIPPED_POLICIES
from threeup_env.agents.networks import make_table
from threeup_env.agents.policy import make_header, save_policy
from threeup_env.errors import InvalidPolicyError, ThreeUpError
from threeup_env.exploitability import REWARD_RANGE, Exploitability, WrittenGame, exploitability, write_out
from threeup_env.registration import rules_of
from threeup_env.solve import Strategy, purify, response_value, solve

ENV: Final = "ThreeUp/Mini-2p-v0"
AGENT: Final = "nash-mini"
FILE: Final = Path(threeup_env.__file__).parent / "agents" / SHIPPED_POLICIES[AGENT]
ITERATIONS: Final = 500
BOUND: Final = 1e-3 * REWARD_RANGE
"""A strategy of more exploitability is no solution."""


def measure(game: WrittenGame, iteration: int, strategy: Strategy) -> dict[str, Any]:
    """A point of the curve: between what the game is worth to the first player, and the exploitability."""
    low, high = -response_value(game.form, 1, strategy), response_value(game.form, 0, strategy)
    return {"iteration": iteration, "value_low": low, "value_high": high, "exploitability": (high - low) / 2}


def approach(game: WrittenGame, iterations: int) -> tuple[Strategy, list[dict[str, Any]]]:
    """The average strategy of CFR+ after its last iteration, and the curve that leads to it."""
    curve = []
    strategy = None
    for iteration, strategy in solve(game.form, iterations):
        curve.append(measure(game, iteration, strategy))
    assert strategy is not None  # there is at least one iteration
    return strategy, curve


def save_strategy(path: Path, game: WrittenGame, strategy: Strategy, training: dict[str, Any]) -> None:
    """Write a pure strategy as a policy file: the action at every observation that leaves a choice.

    Raises:
        InvalidPolicyError: The strategy is not pure, or `path` cannot be written.
    """
    if not np.isin(strategy, (0.0, 1.0)).all():
        raise InvalidPolicyError("strategy: it mixes actions; allowed: a pure one")
    probabilities = np.zeros(game.action_masks.shape)
    probabilities[game.action_masks != 0] = strategy
    choices = np.flatnonzero(np.diff(game.form.starts) > 1)
    actions = probabilities[choices].argmax(axis=1)
    table, tensors = make_table(game.observations[choices], actions, game.rules.num_actions)
    save_policy(path, tensors, make_header(game.rules, table, training, temperature=0.0))


def solve_mini(path: Path, iterations: int) -> tuple[Exploitability, list[dict[str, Any]]]:
    """Solve the game and write the agent.

    Args:
        path: The policy file.
        iterations: Iterations of CFR+.

    Returns:
        What the file that was written is worth, and the curve of CFR+.

    Raises:
        InvalidPolicyError: What was found is not pure or not close enough to an equilibrium; nothing is written.
    """
    game = write_out(rules_of(ENV))
    average, curve = approach(game, iterations)
    strategy = purify(game.form, average)
    point = measure(game, iterations, strategy)
    if point["exploitability"] > BOUND:
        raise InvalidPolicyError(
            f"iterations: {iterations} leave an exploitability of {point['exploitability']:.2e}; allowed: {BOUND:.0e}"
        )
    training = {"method": "CFR+, then made pure", "iterations": iterations, "exploitability": point["exploitability"]}
    save_strategy(
        path, game, strategy, training | {"value_of_first_player": (point["value_low"] + point["value_high"]) / 2}
    )
    return exploitability(ENV, path), curve


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.nash", description=f"Solve {ENV}.")
    parser.add_argument("--iterations", type=int, default=ITERATIONS, metavar="N", help="iterations of CFR+")
    parser.add_argument("--out", type=Path, default=FILE, metavar="FILE", help=f"policy file; otherwise {AGENT}")
    parser.add_argument("--curve", type=Path, metavar="FILE", help="write how CFR+ got there, as JSON")
    options = parser.parse_args(arguments)
    if options.iterations < 1:
        parser.error(f"--iterations: {options.iterations} is too few; allowed: at least 1")
    try:
        figures, curve = solve_mini(options.out, options.iterations)
        if options.curve is not None:
            options.curve.write_text(json.dumps(curve, indent=1) + "\n", encoding="utf-8")
    except (ThreeUpError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("iterations of CFR+   value of the first player is in   exploitability")
    for point in curve:
        span = f"[{point['value_low']:.7f}, {point['value_high']:.7f}]"
        print(f"{point['iteration']:18,}   {span:>28}   {point['exploitability']:.2e}")
    # A pure strategy wins a whole number of points in each deal, and so do best responses to it.
    deals = write_out(rules_of(ENV)).deals
    low, high = (Fraction(round(value * deals), deals) for value in (figures.value_as_first, -figures.value_as_second))
    print(f"made pure: value of the first player from {low} to {high}, exploitability {figures.exploitability:.2e}")
    print(f"written to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
