"""A user's script: what the type checkers of users say of the installed package (see .ci/packages.py)."""

from __future__ import annotations

from typing import assert_type

import numpy as np
import numpy.typing as npt

from threeup_env import Game, GameRecord, IllegalActionError, Rules, SelfPlayBatch, observation_layout, threeup_v0
from threeup_env.agents import Agent, BatchAgent, make_agent
from threeup_env.evaluate import Evaluation, evaluate
from threeup_env.vector import ThreeUpVectorEnv


class First:
    """An agent of the user's own: takes the first legal action."""

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], /) -> int:
        return int(action_mask.argmax())


def one_game() -> GameRecord:
    game = Game(Rules.house(3), seed=1)
    assert_type(game.player, int | None)
    assert_type(game.legal_actions, list[str])
    try:
        game.play("take")
    except IllegalActionError as error:
        print(error)
    game.play(game.legal_actions[0])
    observation = game.observation(0)
    print(observation_layout(game.rules)["hand"].view(observation))
    return game.record()


def batch() -> None:
    games = SelfPlayBatch(Rules.standard(4), num_games=4, seed=1)
    games.step(games.action_mask.argmax(axis=1))
    print(games.player.shape, games.reward.dtype)


def agents() -> None:
    rules = Rules.from_dict({"num_players": 2})
    mine: Agent = First()
    theirs: Agent | BatchAgent = make_agent("greedy", rules, 1)
    print(mine, theirs)
    figures = evaluate("ThreeUp/2p-v0", mine, "random", games=10, seed=1)
    assert_type(figures, Evaluation)
    assert_type(figures.win_rate, float)


def faces() -> None:
    env = threeup_v0.env(Rules.standard(2))
    env.reset(seed=1)
    print(env.agent_selection)
    envs = ThreeUpVectorEnv(num_envs=2)
    print(envs.num_envs)


if __name__ == "__main__":
    print(one_game().to_dict())
    batch()
    agents()
    faces()
