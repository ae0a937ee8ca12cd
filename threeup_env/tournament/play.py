"""Chunks of duplicate games, played in processes of their own."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..agents import Agent, AgentSpec, make_agent
from ..duplicate import DuplicateGames
from ..errors import InvalidConfigError, ThreeUpError
from ..rules import Rules
from .tables import line_up


@dataclass(frozen=True)
class Job:
    """A chunk of the games of one table.

    Attributes:
        rules: The rules.
        specs: The agent of each side.
        seed: Seeds deals and agents.
        first: Number of the first group.
        groups: How many groups.
    """

    rules: Rules
    specs: tuple[AgentSpec, ...]
    seed: int
    first: int
    groups: int


@dataclass(frozen=True)
class Chunk:
    """What came of a job; lists go by the sides of the table.

    Attributes:
        share: First places of each side in each group, over all its games, `(groups, sides)`.
        place: Sum of the places of each side.
        placed: Games in which it had one.
        score: Sum of the points against it.
        decisions: Decisions of all sides together.
        limit_games: Games in which a deal met its limit.
    """

    share: list[list[float]]
    place: list[int]
    placed: list[int]
    score: list[int]
    decisions: int
    limit_games: int


def play_job(job: Job) -> Chunk:
    """Play the games of a job, with libraries of linear algebra on one thread: the same figures on any machine."""
    from threadpoolctl import threadpool_limits

    players = job.rules.num_players
    agents = [_make(spec, job.rules, job.seed + side) for side, spec in enumerate(job.specs)]
    with threadpool_limits(1):
        games = DuplicateGames(job.rules, agents, job.seed)
        played = games.play(job.first, line_up(job.first, job.groups, players), lambda games: None)
    sides = range(players)
    places = [played.column("place", side) for side in sides]
    shares = [played.column("share", side).reshape(job.groups, players).sum(axis=1) for side in sides]
    return Chunk(
        share=np.stack(shares, axis=1).tolist(),
        place=[int(place.sum()) for place in places],
        placed=[int(np.count_nonzero(place)) for place in places],
        score=[int(played.column("score", side).sum()) for side in sides],
        decisions=int(played.decisions.sum()),
        limit_games=int(played.met_limit.sum()),
    )


def _make(spec: AgentSpec, rules: Rules, seed: int) -> Agent:
    """An agent that knows nothing of the games of other chunks."""
    return make_agent(copy.deepcopy(spec) if isinstance(spec, Agent) else spec, rules, seed)


K = TypeVar("K", bound=Hashable)


def play_jobs(jobs: Mapping[K, Job], processes: int) -> Iterator[tuple[K, Chunk]]:
    """Play jobs in processes; each with its key as soon as it is done.

    Raises:
        InvalidConfigError: Pickle cannot take an agent to another process.
        ThreeUpError: A process was killed; or what an agent raised.
    """
    processes = min(processes, len(jobs))
    if processes <= 1:
        for key, job in jobs.items():
            yield key, play_job(job)
        return
    _check_picklable(jobs)
    # Not forked: compiled code and linear algebra may have threads here, which a fork would lose.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, initializer=_begin_process) as pool:
        futures = {pool.submit(play_job, job): key for key, job in jobs.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise ThreeUpError(
                "a process of the tournament was killed, perhaps for lack of memory; allowed: fewer processes"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _check_picklable(jobs: Mapping[Any, Job]) -> None:
    for spec in {id(spec): spec for job in jobs.values() for spec in job.specs}.values():
        try:
            pickle.dumps(spec)
        except Exception as error:  # whatever the agent does when it is pickled
            raise InvalidConfigError(
                f"agent {spec!r} cannot be sent to another process: {error}; allowed: module:factory, or processes=1"
            ) from None


def _begin_process() -> None:
    """Leave Ctrl-C to the process that waits for this one, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
