"""Train an agent by self-play with MaskablePPO.

    python -m training.train configs/NAME.yaml [--resume] [--out DIR] [KEY=VALUE ...]

The run's folder, `runs/NAME` unless `--out` names another, holds:

- `config.yaml`: the settings, all of them;
- `metrics.jsonl`: one JSON object a rollout, the evaluations among them, to plot; `tensorboard/`: the same;
- `checkpoint.pkl`: all that `--resume` needs. A run that was killed and resumed writes the same policy, byte for
  byte, as one that was not: what came after the last checkpoint is done again, exactly;
- `policy.safetensors` and `result.json` at the end: the policy, and what it won (`threeup evaluate`);
- `README.md` and `curves.png` at the end: a model card and its picture (`training.report`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sb3_contrib
import torch
import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.logger import Logger

import threeup_env
from threeup_env.agents import Agent
from threeup_env.agents.policy import Header, PolicyAgent, make_header, save_policy
from threeup_env.errors import InvalidConfigError, ThreeUpError
from threeup_env.evaluate import Evaluation, evaluate
from threeup_env.exploitability import exploitability
from threeup_env.registration import rules_of
from threeup_env.sb3 import ThreeUpVecEnv
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import Config, load_config, make_config
from training.files import CHECKPOINT, CONFIG, POLICY, RESULT
from training.league import League, Snapshot
from training.lessons import Lessons, study
from training.metrics import Metrics
from training.networks import ActorCritic, export_weights, exported_network, policy_arguments
from training.ppo import LeanMaskablePPO
from training.report import write_report


@dataclass
class Run:
    """All that changes while a run goes on.

    Attributes:
        config: Its settings.
        ppo: The learner: weights, optimizer, rollout buffer.
        env: The games it plays.
        league: Who it plays against.
        lessons: Where its positions come from; None without lessons.
        rollouts: Rollouts done, lessons among them.
        seconds: Seconds spent on them, evaluations left out.
    """

    config: Config
    ppo: LeanMaskablePPO
    env: ThreeUpVecEnv
    league: League
    lessons: Lessons | None
    rollouts: int = 0
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """Decisions and positions learnt from so far."""
        lessons = min(self.rollouts, self.config.num_lessons)
        return lessons * self.config.lessons.size + (self.rollouts - lessons) * self.config.rollout_steps


def train(config: Config, folder: Path, *, resume: bool = False, quiet: bool = False) -> Path:
    """Do a run, or the rest of one.

    Args:
        config: Its settings.
        folder: Where it goes; made where it is missing.
        resume: Go on from the checkpoint in `folder`, or start where there is none.
        quiet: Draw no progress bar and print nothing.

    Returns:
        The path of the policy file; the folder itself where the encoding cannot be saved as one.

    Raises:
        InvalidConfigError: `folder` holds a run and is not to be resumed, or one with other settings.
    """
    console = Console(stderr=True, quiet=quiet)
    torch.set_num_threads(config.threads)
    run = make_run(config)
    open_folder(folder, config, resume=resume)
    if (folder / CHECKPOINT).exists():
        restore(run, load_checkpoint(folder / CHECKPOINT))
        console.print(f"resumed after rollout {run.rollouts} of {config.num_rollouts}")

    columns = (TextColumn("rollouts"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        Metrics(folder, run.rollouts, run.steps) as metrics,
        Progress(*columns, TextColumn("{task.fields[news]}"), console=console, disable=quiet) as bar,
    ):
        task = bar.add_task("", total=config.num_rollouts, completed=run.rollouts, news="")
        while run.rollouts < config.num_rollouts:
            start, before = time.perf_counter(), run.steps
            row = take_lesson(run) if run.rollouts < config.num_lessons else play_rollout(run)
            seconds = time.perf_counter() - start
            run.seconds += seconds
            row |= {
                "rollout": run.rollouts,
                "steps": run.steps,
                "seconds": run.seconds,
                "steps_per_second": (run.steps - before) / seconds,
            }
            last = run.rollouts == config.num_rollouts
            if last or run.rollouts % config.evaluation.every == 0:
                for opponent in config.evaluation.opponents:
                    figures = measure(run, opponent, config.evaluation.games)
                    row[f"win_rate/{opponent}"] = figures.win_rate
                    row[f"win_rate_interval/{opponent}"] = [figures.ci_low, figures.ci_high]
                won = ", ".join(f"{row[f'win_rate/{name}']:.1%} against {name}" for name in config.evaluation.opponents)
                if config.evaluation.exploitability:
                    row |= measure_exploitability(run)
                    won += f"; exploitability {row['exploitability']:.4f}"
                console.print(f"{run.steps:>11,} steps, {run.seconds:6.0f} s: {won}")
            metrics.write(row)
            if last or run.rollouts % config.checkpoint_every == 0:
                save_checkpoint(folder / CHECKPOINT, capture(run))
            bar.update(task, completed=run.rollouts, news=f"{row['steps_per_second']:,.0f} steps/s")
    return finish(run, folder, console)


def make_run(config: Config) -> Run:
    """The start of a run: new weights, new games, the learner's first snapshot as an opponent."""
    rules = rules_of(config.env)
    learner_seed = np.random.SeedSequence(config.seed)
    env = ThreeUpVecEnv(rules, config.games, reward=config.reward)
    ppo = LeanMaskablePPO(
        ActorCritic,
        env,
        learning_rate=lambda remaining: config.learning_rate(1 - remaining),
        n_steps=config.rollout,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy(0),
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs=policy_arguments(config, rules),
        seed=int(learner_seed.generate_state(1)[0]),  # of the games too
        device="cpu",
        precision=config.precision,
    )
    ppo.set_logger(Logger(None, []))
    league = League(config.opponents, config.snapshots, rules, config.precision)
    league.add_snapshot(ppo.policy, 0, env.batch)
    ppo._setup_learn(config.steps)  # as SB3's learn() begins: a reset of the games, which draw their opponents
    return Run(config, ppo, env, league, Lessons(rules, config) if config.num_lessons else None)


def take_lesson(run: Run) -> dict[str, Any]:
    """Fit the policy to the next positions; what to log of it."""
    config = run.config
    assert run.lessons is not None
    learning_rate = config.lessons.learning_rate(run.rollouts / config.num_lessons)
    run.lessons.draw()
    figures = study(
        run.ppo.policy, run.lessons, config.batch_size, config.lessons.epochs, learning_rate, config.precision
    )
    run.rollouts += 1
    if run.rollouts == config.num_lessons:
        run.league.add_snapshot(run.ppo.policy, run.rollouts, run.env.batch)
    return {"learning_rate": learning_rate, **figures}


def play_rollout(run: Run) -> dict[str, Any]:
    """Play a rollout and learn from it by PPO; what to log of it."""
    config, ppo = run.config, run.ppo
    done = (run.rollouts - config.num_lessons) / (config.num_rollouts - config.num_lessons)
    ppo._current_progress_remaining = 1 - done  # what SB3's schedules go by
    ppo.ent_coef = config.entropy(done)
    ppo.collect(run.env.batch, run.league.record)
    row = describe_rollout(run)
    ppo.train()
    run.rollouts += 1
    if run.rollouts % config.snapshots.every == 0:
        run.league.add_snapshot(ppo.policy, run.rollouts, run.env.batch)
    row |= {
        "learning_rate": config.learning_rate(done),
        "entropy_weight": ppo.ent_coef,
        **{name.removeprefix("train/"): float(value) for name, value in ppo.logger.name_to_value.items()},
    }
    ppo.logger.dump()  # forgets these values
    return row


def describe_rollout(run: Run) -> dict[str, Any]:
    """How the games of the last rollout went, before the update."""
    ended = int(run.ppo.rollout.ends.sum())
    return {
        "games": ended,
        "mean_reward": float(run.ppo.rollout.rewards.sum()) / max(ended, 1),
        "decisions_per_game": run.config.rollout_steps / max(ended, 1),
        **{f"mix/{name}": share for name, share in run.league.mix.items()},
        **{f"won/{member.name}": run.league.win_rate(member) for member in run.league.members},
    }


def measure(run: Run, opponent: str, games: int) -> Evaluation:
    """How the learner does against an opponent."""
    seed = run.config.evaluation.seed
    return evaluate(run.config.env, player(run), opponent, games, seed)


def measure_exploitability(run: Run) -> dict[str, float]:
    """What the best opponent wins from the learner as it plays, and as it draws in training, at a temperature of 1."""
    agent = player(run)
    figures = {"exploitability": exploitability(run.config.env, agent).exploitability}
    if isinstance(agent, PolicyAgent):
        in_training = PolicyAgent(export_weights(run.ppo.policy), agent.header, agent.network, temperature=1.0)
        figures["exploitability_in_training"] = exploitability(run.config.env, in_training).exploitability
    return figures


def player(run: Run) -> Agent:
    """The learner as it plays from a policy file; where no policy file can hold its encoding, in torch."""
    if run.config.encoding != "default":
        return Snapshot(run.ppo.policy, rules_of(run.config.env), run.rollouts, run.config.temperature)
    # With the draws that `threeup evaluate` gives a policy file, so that it finds the same figures.
    seed = run.config.evaluation.seed
    return PolicyAgent(export_weights(run.ppo.policy), header_of(run), seed=seed, name=run.config.env)


def header_of(run: Run) -> Header:
    """The header of the learner's policy file; it holds no times, so that it is the same in every run."""
    training = {
        "config": run.config.model_dump(mode="json"),
        "steps": run.steps,
        "versions": {module.__name__: module.__version__ for module in (threeup_env, np, sb3_contrib)}
        | {"torch": str(torch.__version__)},
    }
    network = exported_network(run.config)
    return make_header(rules_of(run.config.env), network, training, temperature=run.config.temperature)


def finish(run: Run, folder: Path, console: Console) -> Path:
    """Write the policy and what it wins."""
    path = folder
    if run.config.encoding == "default":
        path = folder / POLICY
        save_policy(path, export_weights(run.ppo.policy), header_of(run))
    figures = []
    for opponent in run.config.evaluation.opponents:
        one = measure(run, opponent, run.config.evaluation.final_games)
        console.print(
            f"wins {one.win_rate:.2%} ({one.ci_low:.2%} to {one.ci_high:.2%}) of {one.games:,} games against {opponent}"
        )
        figures.append(one.to_dict() | {"agent": str(path)})
    result = {"steps": run.steps, "seconds": run.seconds, "evaluations": figures}
    (folder / RESULT).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    try:
        write_report(folder)
    except InvalidConfigError as error:  # a package is missing: no reason to lose the run
        console.print(f"no report: {error}")
    console.print(f"{run.steps:,} steps in {run.seconds:.0f} s; the policy is {path}")
    return path


def capture(run: Run) -> dict[str, Any]:
    """All that a resumed run needs to go on as if it had never stopped."""
    return {
        "config": run.config.model_dump(mode="json"),
        "rollouts": run.rollouts,
        "seconds": run.seconds,
        # Together, because the games hold the snapshots of that league.
        "games": (run.env, run.league),
        "lessons": None if run.lessons is None else run.lessons.state_dict(),
        "policy": run.ppo.policy.state_dict(),
        "optimizer": run.ppo.policy.optimizer.state_dict(),
        "updates": run.ppo._n_updates,
        "torch_generator": torch.get_rng_state(),
        "numpy_generator": np.random.get_state(),  # noqa: NPY002  (SB3 shuffles its batches with it)
    }


def restore(run: Run, saved: dict[str, Any]) -> None:
    """Bring a new run to where `capture` saw one."""
    run.rollouts = saved["rollouts"]
    run.seconds = saved["seconds"]
    run.env, run.league = saved["games"]
    run.ppo.env = run.env
    if run.lessons is not None:
        run.lessons.load_state_dict(saved["lessons"])
    run.ppo.policy.load_state_dict(saved["policy"])
    run.ppo.policy.optimizer.load_state_dict(saved["optimizer"])
    run.ppo._n_updates = saved["updates"]
    run.ppo.num_timesteps = run.steps
    torch.set_rng_state(saved["torch_generator"])
    np.random.set_state(saved["numpy_generator"])  # noqa: NPY002


def open_folder(folder: Path, config: Config, *, resume: bool) -> None:
    """Make the folder of a run and write its settings there, or check that it holds the run that is to go on.

    Raises:
        InvalidConfigError: It holds a run and is not to be resumed, or one with other settings, or cannot be written.
    """
    settings = config.model_dump(mode="json")
    path = folder / CONFIG
    try:
        if path.exists():
            if not resume:
                raise InvalidConfigError(f"{folder} holds a run; --resume goes on with it, --out DIR starts another")
            before = make_config(yaml.safe_load(path.read_text(encoding="utf-8"))).model_dump(mode="json")
            changed = [key for key in settings if settings[key] != before[key]]
            if changed:
                raise InvalidConfigError(
                    "; ".join(f"{key}: {settings[key]!r}, but the run has {before[key]!r}" for key in changed)
                    + f"; allowed: the settings of {path}"
                )
        else:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    except OSError as error:
        raise InvalidConfigError(f"folder {str(folder)!r} cannot be used: {error.strerror or error}") from error


def choose_folder(config: Path, *, resume: bool) -> Path:
    """`runs/NAME`, or the first of `runs/NAME-2`, ... that is free; to resume, the last one that is not."""
    number, folder = 1, Path("runs") / config.stem
    last = folder
    while (folder / CONFIG).exists():
        last = folder
        number += 1
        folder = Path("runs") / f"{config.stem}-{number}"
    return last if resume else folder


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.train", description="Train an agent by self-play.")
    parser.add_argument("config", type=Path, help="YAML file with the settings")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="settings that replace those of the file")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the run; otherwise a new one in runs/")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    options = parser.parse_intermixed_args(arguments)
    try:
        config = load_config(options.config, options.overrides)
        folder = options.out or choose_folder(options.config, resume=options.resume)
        print(train(config, folder, resume=options.resume))
    except ThreeUpError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"stopped; --resume goes on from the last checkpoint in {folder}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
