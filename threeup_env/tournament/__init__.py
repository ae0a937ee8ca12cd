"""Tournaments: many agents, every table of them in duplicate, in parallel, and what comes of it (docs/tournaments.md).

`tables.py` says who meets whom, `play.py` plays chunks of games in processes, `log.py` keeps what is done, so that a
tournament that was stopped goes on, `ratings.py` and `standings.py` say how good everybody is, and `plot.py` draws it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .. import __version__
from ..agents import Agent, AgentSpec, make_agent
from ..duplicate import DuplicateGames, progress_bar
from ..errors import InvalidConfigError
from ..evaluate import integer
from ..registration import rules_of
from ..rules import Rules
from .log import GAMES, Log
from .play import Job, play_jobs, usable_cores
from .ratings import check_installed
from .standings import Standing, Tournament, summarize
from .tables import all_tables

__all__ = ["CHUNK", "GAMES", "Standing", "Tournament", "tournament"]

CHUNK: Final = 512
"""About how many games are played side by side in one process, and written down together."""
MIN_GROUPS: Final = 2
"""One deal alone says nothing of how much luck there is in deals."""


def tournament(
    env: str,
    agents: Sequence[AgentSpec] | Mapping[str, AgentSpec],
    games: int = 10_000,
    seed: int = 0,
    *,
    folder: Path | None = None,
    processes: int | None = None,
    chunk: int = CHUNK,
    anchor: str | None = None,
    progress: bool = False,
) -> Tournament:
    """Let agents play each other, each table of them in duplicate, and rate them.

    The outcome hangs on the arguments alone, not on the number of processes nor on how often the tournament was
    stopped. An agent is made anew for each chunk, with the same seed: what it learns in one it does not take to the
    next. An agent object is copied for each chunk; with more than one process it has to be one that pickle can hold.

    Args:
        env: ID of the environment.
        agents: At least two: names, paths of policy files, Python paths or agents, which are known by their types;
            or a mapping to them from the names that they are to have.
        games: Games of each table, rounded up to whole groups of `num_players`, two at least.
        seed: Seeds deals and agents: a number of at least 0. All tables play the same deals.
        folder: Where games are written down as they are played; a tournament that is there already goes on.
        processes: How many play; None stands for one for each core.
        chunk: About how many games a process plays side by side. Fewer suit slow agents: what is played is written
            down more often.
        anchor: The agent whose rating is fixed, at 1000; None stands for `greedy` where it plays, and otherwise
            fixes the mean of all.
        progress: Draw a progress bar on the error stream.

    Raises:
        UnknownEnvError: There is no such ID.
        UnknownAgentError: An agent is unknown, or for other rules.
        InvalidPolicyError: A policy file cannot be read or is for other rules.
        InvalidConfigError: Any other argument is wrong, `folder` holds a tournament with other settings, or a
            package is missing.
        IllegalActionError: An agent chose an illegal action; what was played before is kept.
    """
    check_installed()
    rules = rules_of(env)
    specs = name_agents(agents)
    games, seed = integer("games", games, 1), integer("seed", seed, 0)
    chunk = integer("chunk", chunk, 1)
    processes = usable_cores() if processes is None else integer("processes", processes, 1)
    if anchor is not None and anchor not in specs:
        raise InvalidConfigError(f"anchor: {anchor!r} does not take part; allowed: {', '.join(specs)}")
    for spec in specs.values():
        # Errors before anything starts, and compiled code that the processes find ready.
        DuplicateGames(rules, [make_agent(spec, rules, seed)] * rules.num_players, seed)

    groups = max(MIN_GROUPS, -(-games // rules.num_players))
    tables = all_tables(len(specs), rules.num_players)
    jobs = _share_out(rules, list(specs.values()), tables, seed, groups, max(1, chunk // rules.num_players))
    settings = {
        "version": __version__,
        "env": env,
        "agents": {name: _describe(spec) for name, spec in specs.items()},
        "games": groups * rules.num_players,
        "seed": seed,
        "chunk": chunk,
    }
    with (
        Log(folder, settings) as log,
        progress_bar(len(tables) * groups * rules.num_players, progress) as advance,
    ):
        played = {key: log.chunks[key] for key in jobs if key in log.chunks}
        advance(sum(jobs[key].groups for key in played) * rules.num_players)
        for key, result in play_jobs({key: job for key, job in jobs.items() if key not in played}, processes):
            log.write(key, result)
            played[key] = result
            advance(jobs[key].groups * rules.num_players)
    return summarize(env, list(specs), tables, groups, seed, [played[key] for key in sorted(played)], anchor)


def name_agents(agents: Sequence[AgentSpec] | Mapping[str, AgentSpec]) -> dict[str, AgentSpec]:
    """The agents by the names they have in the tournament.

    Raises:
        InvalidConfigError: There are fewer than two, or two have one name.
    """
    if isinstance(agents, Mapping):
        pairs = list(agents.items())
    else:
        pairs = [(type(spec).__name__ if isinstance(spec, Agent) else os.fspath(spec), spec) for spec in agents]
    names = [name for name, _ in pairs]
    if len(names) < 2:
        raise InvalidConfigError(f"agents: {', '.join(names) or 'nobody'} cannot play alone; allowed: at least two")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidConfigError(f"agents: {', '.join(twice)} stands there twice; allowed: different names")
    return dict(pairs)


def _share_out(
    rules: Rules,
    specs: Sequence[AgentSpec],
    tables: Sequence[tuple[int, ...]],
    seed: int,
    groups: int,
    chunk: int,
) -> dict[tuple[int, int], Job]:
    """Chunks of games by table and first group; the first ones of all tables come first."""
    return {
        (table, first): Job(
            rules, tuple(specs[agent] for agent in tables[table]), seed, first, min(chunk, groups - first)
        )
        for first in range(0, groups, chunk)
        for table in range(len(tables))
    }


def _describe(spec: AgentSpec) -> dict[str, Any]:
    """What an agent is, as far as that can be told: a policy file by its content too."""
    if isinstance(spec, Agent):
        return {"agent": f"{type(spec).__module__}.{type(spec).__qualname__}"}
    path = Path(spec)
    if path.is_file():
        return {"agent": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return {"agent": str(spec)}
