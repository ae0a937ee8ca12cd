"""Tries an installed threeup-env as a new user would, and prints what was played, which is the same everywhere.

Run by `.ci/packages.py` from an empty folder, in environments that hold the package; nothing else of this repository is
imported.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zlib
from importlib import metadata
from pathlib import Path

import threeup_env

assert not {"torch", "stable_baselines3", "pygame", "PIL", "matplotlib", "pyspiel"} & set(sys.modules)

import gymnasium  # noqa: E402  (after the check of what the package alone loads)
import numpy as np  # noqa: E402
import pettingzoo  # noqa: E402

from threeup_env import Game, Rules, SelfPlayBatch  # noqa: E402
from threeup_env.registration import ENV_RULES  # noqa: E402

SEED = 1
BATCH_STEPS = 200
"""The batch goes on into further games; every other face makes one step, and the evaluation plays whole games."""


def check_installed() -> None:
    """The package comes from this environment, in the version that its metadata state, and nothing else came along."""
    assert metadata.version("threeup-env") == threeup_env.__version__
    package = Path(threeup_env.__file__).parent
    assert package.is_relative_to(sys.prefix), package
    assert (package / "py.typed").exists()
    assert not [name for name in ("tests", "training") if importlib.util.find_spec(name)]


def threeup(*arguments: str) -> str:
    """Run the installed command and return what it prints."""
    command = [str(Path(sys.executable).with_name("threeup")), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def step_faces(env_id: str, rules: Rules) -> list[int]:
    """Make an environment in each face that needs no extra, and step each; return a checksum of what each shows."""
    game = Game(rules, seed=SEED)
    game.play(game.legal_actions[0])
    batch = SelfPlayBatch(rules, num_games=2, seed=SEED)
    for _ in range(BATCH_STEPS):
        batch.step(batch.action_mask.argmax(axis=1))
    single = gymnasium.make(env_id, opponent="greedy")
    _, info = single.reset(seed=SEED)
    shown, *_ = single.step(int(info["action_mask"].argmax()))
    vector = gymnasium.make_vec(env_id, num_envs=2, opponent="greedy")
    _, info = vector.reset(seed=SEED)
    rows, *_ = vector.step(info["action_mask"].argmax(axis=1))
    table = pettingzoo.make("aec", env_id)
    table.reset(seed=SEED)
    table.step(int(table.last()[0]["action_mask"].argmax()))
    arrays = (game.observation(0), batch.observation, shown, rows, table.last()[0]["observation"])
    return [zlib.crc32(np.asarray(array, np.int8).tobytes()) for array in arrays]


def step_optional_faces(rules: Rules) -> None:
    """Step the faces of the extras that are installed; those that are not say which extra they need."""
    if importlib.util.find_spec("stable_baselines3"):
        from threeup_env.sb3 import ThreeUpVecEnv

        envs = ThreeUpVecEnv(rules, 2, "greedy", seed=SEED)
        envs.reset()
        envs.step(envs.action_masks().argmax(axis=1))
    if importlib.util.find_spec("pyspiel"):
        from threeup_env.open_spiel import load_game

        assert load_game(rules).new_initial_state().is_chance_node()
    picture = gymnasium.make("ThreeUp/2p-v0", render_mode="rgb_array") if importlib.util.find_spec("PIL") else None
    if picture is not None:
        picture.reset(seed=SEED)
        assert np.asarray(picture.render()).ndim == 3


def main() -> None:
    """Try everything once."""
    check_installed()
    assert "evaluate" in threeup("--help")
    played = {env_id: step_faces(env_id, rules) for env_id, rules in ENV_RULES.items()}
    step_optional_faces(Rules.standard(2))
    arguments = ("--agent", "ppo-2p", "--opponent", "greedy", "--games", "100", "--seed", str(SEED), "--json")
    evaluation = json.loads(threeup("evaluate", "--env", "ThreeUp/2p-v0", *arguments))
    print(json.dumps({"played": played, "evaluation": [evaluation["games"], evaluation["win_rate"]]}, sort_keys=True))


if __name__ == "__main__":
    main()
