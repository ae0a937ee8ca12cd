"""The table of agents in docs/benchmarks.md, and the figures behind it in docs/agents.json.

    python -m tests.test_benchmark_agents --write [--games N] [ID ...]

plays the tournaments anew, of all environments or of those that are named, and writes both files. Everybody who can
play an environment takes part: the agents that need no training, and the shipped policies that were trained for it.
Slow agents play a tournament of their own with the others, of fewer games.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("choix")
pytest.importorskip("threadpoolctl")

from threeup_env.agents import SHIPPED_POLICIES, load_policy, policy_file
from threeup_env.evaluate import evaluate
from threeup_env.registration import ENV_RULES
from threeup_env.tournament import tournament

pytestmark = pytest.mark.optional

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "benchmarks.md"
FIGURES = DOCS / "agents.json"
SEED = 1
GAMES = 10_000
COMPILED = ["random", "greedy"]
SLOW = ("search:200",)
"""Agents that think for long."""
SLOW_ENVS = ("ThreeUp/2p-v0",)
"""Where they take part: a tournament of theirs takes minutes."""
SLOW_GAMES = 200
SLOW_CHUNK = 20
CHECKED = "ThreeUp/GameRules-3p-v0"
"""The environment whose figures are all recomputed, unless a slow agent plays there."""
KEPT = ("env", "games", "seed", "fair_rate", "anchor", "standings", "agents", "cross_table", "tables")

Figures = dict[str, list[dict[str, Any]]]
"""Tournaments by environment ID."""


def entrants(env: str) -> list[str]:
    """Who can play an environment without being slow about it."""
    rules = ENV_RULES[env]
    trained = [name for name in SHIPPED_POLICIES if load_policy(policy_file(name)).rules == rules]
    return [*COMPILED, *trained]


def slow_entrants(env: str) -> list[str]:
    """Who can play an environment, and is slow about it."""
    return list(SLOW) if env in SLOW_ENVS else []


def measure(env: str, games: int = GAMES) -> list[dict[str, Any]]:
    """The tournaments of an environment."""
    quick = entrants(env)
    # Compiled agents are done before other processes have started.
    processes = 1 if quick == COMPILED else None
    outcomes = [tournament(env, quick, games, SEED, processes=processes, progress=sys.stderr.isatty())]
    if slow_entrants(env):
        everyone = [*quick, *slow_entrants(env)]
        outcomes.append(tournament(env, everyone, SLOW_GAMES, SEED, chunk=SLOW_CHUNK, progress=sys.stderr.isatty()))
    return [{key: value for key, value in outcome.to_dict().items() if key in KEPT} for outcome in outcomes]


def command(outcome: dict[str, Any]) -> str:
    """The command that gives a tournament again."""
    names = ",".join(outcome["agents"])
    return f"threeup tournament --env {outcome['env']} --agents {names} --games {outcome['games']} --seed {SEED}"


def table(figures: Figures) -> str:
    """A row for each agent in each environment, from that of its tournaments which has most games of it."""
    rows = [
        "| ID | agent | rating | % won | fair | rather than `greedy` | rather than `random` | games |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for env in ENV_RULES:
        for number, outcome in enumerate(figures.get(env, ())):
            for one in outcome["standings"]:
                if number == 0 or one["agent"] in SLOW:
                    rows.append(_row(outcome, one))
    return "\n".join(rows)


def _row(outcome: dict[str, Any], one: dict[str, Any]) -> str:
    cells = [f"`{outcome['env']}`", f"`{one['agent']}`"]
    if one["agent"] == outcome["anchor"]:
        cells.append(f"{one['rating']:.0f}")
    else:
        cells.append(f"{one['rating']:.0f} ({one['rating_low']:.0f} to {one['rating_high']:.0f})")
    cells.append(f"{100 * one['win_rate']:.1f} ({100 * one['ci_low']:.1f} to {100 * one['ci_high']:.1f})")
    cells.append(f"{100 * outcome['fair_rate']:.1f}")
    mine = outcome["cross_table"][outcome["agents"].index(one["agent"])]
    for other in ("greedy", "random"):
        rate = mine[outcome["agents"].index(other)]
        cells.append("" if rate is None else f"{100 * rate:.1f}")
    cells.append(f"{one['games']:,}")
    return f"| {' | '.join(cells)} |"


PATTERN = re.compile(r"(<!-- begin: agents -->\n)(.*?)(<!-- end: agents -->)", re.DOTALL)


def stored() -> Figures:
    figures: Figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    return figures


def test_every_environment_has_figures() -> None:
    assert list(stored()) == list(ENV_RULES)


def test_the_page_shows_the_figures() -> None:
    match = PATTERN.search(PAGE.read_text(encoding="utf-8"))
    assert match
    assert match[2].strip() == table(stored())


@pytest.mark.parametrize("env", ENV_RULES)
def test_everybody_takes_part(env: str) -> None:
    quick, *slow = stored()[env]
    assert quick["agents"] == entrants(env)
    assert [name for outcome in slow for name in outcome["agents"] if name in SLOW] == slow_entrants(env)


@pytest.mark.parametrize("env", ["ThreeUp/2p-v0", "ThreeUp/Match-2p-v0"])
def test_evaluation_gives_the_same_win_rates(env: str) -> None:
    quick = stored()[env][0]
    pairing = next(one for one in quick["tables"] if one["agents"] == ["random", "greedy"])
    assert evaluate(env, "random", "greedy", quick["games"], SEED).win_rate == pytest.approx(pairing["win_rates"][0])


def test_the_tournament_gives_the_same_figures_again() -> None:
    quick = stored()[CHECKED][0]
    again = tournament(CHECKED, quick["agents"], quick["games"], quick["seed"], processes=1).to_dict()
    assert again["tables"] == quick["tables"]
    for before, after in zip(quick["standings"], again["standings"], strict=True):
        assert after.pop("agent") == before.pop("agent")
        assert after == pytest.approx(before, rel=1e-6)


def main(arguments: list[str] | None = None) -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.test_benchmark_agents")
    parser.add_argument("--write", action="store_true", required=True, help="play, and write docs/")
    parser.add_argument("--games", type=int, default=GAMES, help=f"games of each table ({GAMES})")
    parser.add_argument("envs", nargs="*", metavar="ID", help="environments; otherwise all")
    options = parser.parse_args(arguments)
    figures = stored()
    for env in options.envs or ENV_RULES:
        figures[env] = measure(env, options.games)
        ordered = {known: figures[known] for known in ENV_RULES if known in figures}
        FIGURES.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
        for outcome in figures[env]:
            print(command(outcome))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PATTERN.sub(lambda m: f"{m[1]}{table(figures)}\n{m[3]}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
