"""RLlib on Ray: PPO with action masks, as self-play of all seats or on a learner's seat, on one machine or on many.

    python -m training.examples.rllib_ppo --form learner --minutes 10
    python -m training.examples.rllib_ppo --form aec --env-runners 2 --minutes 10
    python -m training.examples.rllib_ppo --address auto --env-runners 100 --minutes 60

`--form aec` is RLlib's multi-agent form on the AEC environment: one network plays every seat. `--form learner` is its
single-agent form on the compiled batch, where the other seats are an opponent's. Both use RLlib's action-masking
module, which looks for the observation under `observations`: two small wrappers rename it. docs/scale.md tells of many
machines.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import ray
import torch
from gymnasium import spaces
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space
from pettingzoo.utils.wrappers import BaseWrapper
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from rich.progress import Progress, TextColumn

from threeup_env import threeup_v0
from threeup_env.evaluate import evaluate
from threeup_env.registration import rules_of

CHECKPOINT_SECONDS = 120.0
MODULES = {"learner": DEFAULT_MODULE_ID, "aec": "every_seat"}
"""The network's name in each form; RLlib takes its default name for a single agent's."""


def renamed(values: Any) -> dict[str, Any]:
    """An observation, or the parts of its space, by the names that RLlib's module knows."""
    return {"observations": values["observation"], "action_mask": values["action_mask"]}


class RenamedAEC(BaseWrapper[str, Any, Any]):
    """The AEC environment with its observation under `observations`."""

    def __init__(self, env: Any, worker: int) -> None:
        super().__init__(env)
        self.worker = worker

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game."""
        # RLlib seeds game k of env runner i with s + i + k, so that neighbours would be dealt the same cards.
        if seed is not None:
            seed = int(np.random.SeedSequence((seed, self.worker)).generate_state(1)[0])
        super().reset(seed, options)

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations."""
        return spaces.Dict(renamed(self.env.observation_space(agent)))

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent knows and may do."""
        return renamed(self.env.observe(agent))


class AllSeats(PettingZooEnv):
    """One table, every seat RLlib's. An illegal action would raise: the mask sees to it that there is none."""

    def __init__(self, context: Any) -> None:
        super().__init__(RenamedAEC(threeup_v0.raw_env(rules_of(context["env"])), context.worker_index or 0))


class LearnerSeats(VectorWrapper):
    """The learner's seat at `num_envs` tables, as one compiled batch, with observations under `observations`.

    Infos are left out: they hold the masks a second time, and RLlib would keep them with every step. An illegal action
    raises here too.
    """

    def __init__(self, context: Any) -> None:
        # In an env runner nothing has imported the package that knows the ID.
        env = f"threeup_env:{context['env']}"
        settings = {"opponent": context["opponent"], "illegal_action": "raise", "mask_in_observation": True}
        super().__init__(gymnasium.make_vec(env, context["num_envs"], "vector_entry_point", **settings))
        self.single_observation_space = spaces.Dict(renamed(self.env.single_observation_space))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game at every table."""
        # As above: RLlib gives env runner i the seed s + i, and a batch counts on from there.
        if seed is not None:
            seed = np.random.SeedSequence(seed).generate_state(self.num_envs).tolist()
        observations, _ = self.env.reset(seed=seed, options=options)
        return renamed(observations), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play one action at every table."""
        observations, rewards, terminated, truncated, _ = self.env.step(actions)
        return renamed(observations), rewards, terminated, truncated, {}


class MaskedModule(ActionMaskingTorchRLModule):
    """RLlib's action-masking module for int8 observations, a quarter of the bytes to keep and to send."""

    def _preprocess_batch(self, batch: dict[str, Any], **kwargs: Any) -> tuple[torch.Tensor, dict[str, Any]]:
        action_mask, batch = super()._preprocess_batch(batch, **kwargs)
        batch[Columns.OBS] = batch[Columns.OBS].float()
        return action_mask, batch


def make_config(args: argparse.Namespace) -> PPOConfig:
    """The algorithm's settings."""
    aec = args.form == "aec"
    config = (
        PPOConfig()
        # RLlib's check plays an action of the space, legal or not.
        .environment(
            AllSeats if aec else LearnerSeats,
            env_config={"env": args.env, "opponent": args.opponent},
            disable_env_checking=True,
        )
        .env_runners(
            num_env_runners=args.env_runners,
            num_envs_per_env_runner=args.num_envs,
            gym_env_vectorize_mode="sync" if aec else "vector_entry_point",
            sample_timeout_s=300,  # the first games on a machine wait for the compiler
        )
        .learners(num_learners=args.learners, num_gpus_per_learner=args.gpus_per_learner)
        .training(
            train_batch_size_per_learner=args.batch,
            minibatch_size=min(args.batch, 1024),
            num_epochs=4,
            lr=5e-4,
            gamma=0.995,
            lambda_=0.95,
            entropy_coeff=0.005,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule,
                model_config={"fcnet_hiddens": [256, 256], "fcnet_activation": "relu", "vf_share_layers": False},
            )
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .debugging(seed=args.seed, log_level="ERROR")
    )
    if aec:
        config.multi_agent(policies={MODULES["aec"]}, policy_mapping_fn=lambda agent, episode, **_: MODULES["aec"])
    return config


class ModuleAgent:
    """A trained module as an agent of this project. It draws its actions: the likeliest alone run into cycles."""

    def __init__(self, module: RLModule) -> None:
        self.module = module

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for one observation `(D,)` with its mask `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions, int64 `(N,)`, for observations `(N, D)` with their masks `(N, A)`."""
        seen = {"observations": torch.tensor(observations), "action_mask": torch.tensor(action_masks)}
        output = self.module.forward_inference({Columns.OBS: seen})
        distribution = self.module.get_inference_action_dist_cls().from_logits(output[Columns.ACTION_DIST_INPUTS])
        actions: npt.NDArray[np.int64] = distribution.sample().numpy()
        return actions


def train(algorithm: PPO, args: argparse.Namespace) -> int:
    """Update until the time or the updates are used up; tell how many decisions were learnt from."""
    checkpoint = str(Path(args.out).absolute() / "checkpoint")
    start = saved = time.monotonic()
    update = decisions = 0
    told = TextColumn("{task.fields[update]} updates, {task.fields[decisions]:,} decisions")
    with Progress(*Progress.get_default_columns(), told) as progress:
        task = progress.add_task(f"PPO, {args.form}", total=1.0, update=0, decisions=0)
        while (done := max((time.monotonic() - start) / (60 * args.minutes), update / args.updates)) < 1:
            result = algorithm.train()
            update += 1
            # None where every env runner was lost.
            decisions = int(result["env_runners"].get("num_env_steps_sampled_lifetime", decisions))
            progress.update(task, completed=done, update=update, decisions=decisions)
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                algorithm.save_to_path(checkpoint)
                saved = time.monotonic()
        progress.update(task, completed=1)
    algorithm.save_to_path(checkpoint)
    return decisions


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings that a command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--form", choices=("learner", "aec"), default="learner", help="one seat, or all of them")
    parser.add_argument("--env", default="ThreeUp/2p-v0", help="ID of the environment")
    parser.add_argument("--opponent", default="greedy", help="who plays the other seats of the learner form")
    parser.add_argument("--env-runners", type=int, default=1, help="processes that play; 0: this one does")
    parser.add_argument("--num-envs", type=int, default=64, help="games side by side in each of them")
    parser.add_argument("--batch", type=int, default=8192, help="decisions for an update (of each learner)")
    parser.add_argument("--learners", type=int, default=0, help="processes that learn; 0: this one does")
    parser.add_argument("--gpus-per-learner", type=float, default=0, help="GPUs of each of them")
    parser.add_argument("--address", help="of a Ray cluster (auto on one of its machines); none: this machine alone")
    parser.add_argument("--restore", help="a checkpoint to go on from")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--updates", type=int, default=10**9, help="end after so many updates, if that comes first")
    parser.add_argument("--seed", type=int, default=1, help="seeds the deals, the weights and the draws")
    parser.add_argument("--out", default="runs/rllib_ppo", help="folder for the checkpoint")
    parser.add_argument("--games", type=int, default=10_000, help="duplicate games of the evaluation at the end")
    return parser.parse_args(arguments)


def connect(args: argparse.Namespace) -> None:
    """Join the cluster, or start Ray on this machine with what the run needs."""
    if args.address:
        ray.init(address=args.address)
    else:
        # A CPU for each process whether there are as many or not; an update's decisions take a few megabytes.
        cpus = args.env_runners + args.learners + 1
        ray.init("local", num_cpus=cpus, object_store_memory=512 * 2**20, include_dashboard=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, then measure."""
    args = parse(arguments)
    connect(args)
    algorithm = make_config(args).build_algo()
    if args.restore:
        algorithm.restore_from_path(str(Path(args.restore).absolute()))
    start = time.monotonic()
    decisions = train(algorithm, args)
    seconds = time.monotonic() - start
    result = evaluate(
        args.env, ModuleAgent(algorithm.get_module(MODULES[args.form])), "greedy", games=args.games, seed=1
    )
    print(
        f"{decisions:,} decisions, {decisions / seconds:,.0f} a second; "
        f"against greedy {result.win_rate:.1%} ({result.ci_low:.1%} to {result.ci_high:.1%})"
    )
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
