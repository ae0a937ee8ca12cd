"""Other card-game environments for `threeup bench --peers`: random legal play, one thread, where they are installed.

Every package is imported inside the function that measures it; none is a dependency. Observations and legal actions
are made at every decision, as in the cases of ours that they are compared with. Where actions are not drawn beforehand,
drawing them is part of what is timed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np

from .bench_timing import DECISIONS, GAMES, SEED, Case, Settings, clock, clock_cycle, rates

SCANNED: Final = 64
"""Decisions of each game that JAX makes in one call."""
DRAWN: Final = 64
"""Arrays of actions drawn beforehand."""


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep threads that start meanwhile on one core: not all of these packages let their threads be counted."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _rlcard_uno(settings: Settings) -> Iterator[float]:
    import rlcard

    env: Any = rlcard.make("uno", config={"seed": SEED})
    draw = random.Random(SEED)
    state, _ = env.reset()

    def play(times: int) -> None:
        nonlocal state
        for _ in range(times):
            state, _ = env.step(draw.choice(list(state["legal_actions"])))
            if env.is_over():
                state, _ = env.reset()

    with _one_core():
        yield from rates(settings, clock(play, 1))


def _open_spiel_crazy_eights(settings: Settings) -> Iterator[float]:
    import pyspiel
    from open_spiel.python.observation import make_observation

    game: Any = pyspiel.load_game("crazy_eights(players=2)")
    observation: Any = make_observation(game)
    draw = random.Random(SEED)
    script: list[list[tuple[bool, int]]] = []
    for _ in range(settings.games):
        state = game.new_initial_state()
        script.append([])
        while not state.is_terminal():
            decides = not state.is_chance_node()
            actions, weights = (state.legal_actions(), None) if decides else zip(*state.chance_outcomes(), strict=True)
            script[-1].append((decides, draw.choices(actions, weights)[0]))
            state.apply_action(script[-1][-1][1])

    def replay(times: int) -> None:
        for _ in range(times):
            for moves in script:
                state = game.new_initial_state()
                for decides, action in moves:
                    if decides:
                        observation.set_from(state, state.current_player())
                        state.legal_actions()
                    state.apply_action(action)

    with _one_core():
        yield from rates(settings, clock(replay, sum(decides for moves in script for decides, _ in moves)))


def _connect_four_env(settings: Settings) -> Iterator[float]:
    from pettingzoo.classic import connect_four_v3

    make: Any = connect_four_v3.env
    with _one_core():
        yield from rates(settings, clock_cycle(make(), settings.games))


def _connect_four_raw(settings: Settings) -> Iterator[float]:
    from pettingzoo.classic import connect_four_v3

    make: Any = connect_four_v3.raw_env
    with _one_core():
        yield from rates(settings, clock_cycle(make(), settings.games))


def _pgx(env_id: str, settings: Settings) -> Iterator[float]:
    # JAX starts its threads when it is first used: they must find themselves on one core.
    with _one_core():
        import jax
        import jax.numpy as jnp
        import pgx

        env: Any = pgx.make(env_id)
        init, step = jax.vmap(env.init), jax.vmap(env.step)

        def decide(state: Any, key: Any) -> tuple[Any, None]:
            drawing, playing, dealing = jax.random.split(key, 3)
            actions = jax.random.categorical(drawing, jnp.where(state.legal_action_mask, 0.0, -jnp.inf), axis=-1)
            state = step(state, actions, jax.random.split(playing, GAMES))
            over = state.terminated | state.truncated
            fresh = init(jax.random.split(dealing, GAMES))

            def restart(new: Any, old: Any) -> Any:
                return jnp.where(over.reshape(GAMES, *(1,) * (old.ndim - 1)), new, old)

            return jax.tree_util.tree_map(restart, fresh, state), None

        def decide_often(state: Any, key: Any) -> tuple[Any, Any]:
            key, now = jax.random.split(key)
            state, _ = jax.lax.scan(decide, state, jax.random.split(now, SCANNED))
            return state, key

        decisions: Any = jax.jit(decide_often)
        key = jax.random.PRNGKey(SEED)
        state = jax.jit(init)(jax.random.split(key, GAMES))

        def play(times: int) -> None:
            nonlocal state, key
            for _ in range(times):
                state, key = decisions(state, key)
            jax.block_until_ready(state)

        yield from rates(settings, clock(play, SCANNED * GAMES))


def _pufferlib_triple_triad(settings: Settings) -> Iterator[float]:
    from pufferlib.ocean.tripletriad.tripletriad import TripleTriad

    env: Any = TripleTriad(num_envs=GAMES)
    env.reset()
    draw = np.random.default_rng(SEED)
    drawn = draw.integers(env.single_action_space.n, size=(DRAWN, GAMES))

    def play(times: int) -> None:
        for number in range(times):
            env.step(drawn[number % DRAWN])

    with _one_core():
        yield from rates(settings, clock(play, GAMES))


PEERS: Final = (
    Case("rlcard-uno", DECISIONS, "RLCard, UNO, 2 players: Env.step", _rlcard_uno, nearest="aec-raw"),
    Case(
        "open-spiel-crazy-eights",
        DECISIONS,
        "OpenSpiel, crazy_eights in C++, 2 players: observer, legal_actions and apply_action, drawn beforehand",
        _open_spiel_crazy_eights,
        nearest="game-observe",
    ),
    Case(
        "pettingzoo-connect-four-raw",
        DECISIONS,
        "PettingZoo, connect_four_v3.raw_env, actions drawn beforehand",
        _connect_four_raw,
        nearest="aec-raw",
    ),
    Case(
        "pettingzoo-connect-four-env",
        DECISIONS,
        "PettingZoo, connect_four_v3.env, actions drawn beforehand",
        _connect_four_env,
        nearest="aec-env",
    ),
    Case(
        "pgx-leduc",
        DECISIONS,
        f"Pgx, leduc_holdem: {GAMES} games in one compiled loop",
        partial(_pgx, "leduc_holdem"),
        nearest="selfplay-2p",
    ),
    Case(
        "pgx-sparrow-mahjong",
        DECISIONS,
        f"Pgx, sparrow_mahjong, 3 players: {GAMES} games in one compiled loop",
        partial(_pgx, "sparrow_mahjong"),
        nearest="selfplay-3p",
    ),
    Case(
        "pufferlib-triple-triad",
        DECISIONS,
        f"PufferLib, Triple Triad in C: step of {GAMES} games, actions drawn beforehand, legal or not",
        _pufferlib_triple_triad,
        nearest="selfplay-step-2p",
    ),
)
"""Adding a peer is one function and one entry."""
