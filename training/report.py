"""The report of a run: its curves as a picture, and a model card in Hugging Face's format.

    python -m training.report RUN

`training.train` writes it at the end of a run; this command writes it again, or for a run that still goes on. Into the
folder of the run go `curves.png` and, when the run is finished, `README.md`, the card: what was trained, how, what it
wins and how to use it. Nothing is uploaded or downloaded, and nothing of the run but text and numbers is read.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from threeup_env.errors import InvalidConfigError, ThreeUpError
from training.files import CARD, CONFIG, CURVES, METRICS, POLICY, RESULT

NEEDED: Final = {"matplotlib": "matplotlib", "huggingface_hub": "huggingface-hub"}
"""Modules, and the packages that bring them."""

WIN_RATE: Final = "win_rate/"
INTERVAL: Final = "win_rate_interval/"
PANELS: Final[Mapping[str, str]] = {
    "entropy": "entropy",
    "value_loss": "value loss",
    "mean_reward": "mean reward of a game",
    "steps_per_second": "steps a second",
    "decisions_per_game": "game length, learner's decisions",
    "explained": "lessons: variance of values explained",
    "explained_mean": "lessons: variance of mean values explained",
}
"""Columns of the metrics that have a panel of their own, and its title."""

Row = Mapping[str, Any]


def write_report(folder: Path) -> Path:
    """Write the report of a run.

    Args:
        folder: The folder of the run.

    Returns:
        The path of the card; of the picture where the run is not finished.

    Raises:
        InvalidConfigError: The folder holds no run, a file in it cannot be read, or a package is missing.
    """
    for module, package in NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise InvalidConfigError(f"report: {package} is not installed; pip install 'threeup-env[train]'")
    config = _read_config(folder)
    rows = _read_metrics(folder)
    draw_curves(rows, str(config.get("env", "")), folder / CURVES)
    if not (folder / RESULT).exists():
        return folder / CURVES
    result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    (folder / CARD).write_text(make_card(config, rows, result, has_policy=(folder / POLICY).exists()), encoding="utf-8")
    return folder / CARD


def _read_config(folder: Path) -> dict[str, Any]:
    """The settings as text and numbers: they are shown, not followed, so opponents among them are not made."""
    try:
        config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidConfigError(f"{folder} holds no run: {CONFIG}: {error}") from None
    if not isinstance(config, dict):
        raise InvalidConfigError(f"{folder / CONFIG} holds {config!r}; allowed: the settings of a run")
    return config


def _read_metrics(folder: Path) -> list[dict[str, Any]]:
    try:
        lines = (folder / METRICS).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        raise InvalidConfigError(f"{folder} holds no run: {METRICS}: {error}") from None
    if not rows:
        raise InvalidConfigError(f"{folder / METRICS} is empty; allowed: a run that has done at least one rollout")
    return rows


# Curves


def draw_curves(rows: Sequence[Row], env: str, path: Path) -> None:
    """Draw the win rate against each opponent with its interval, and how training went, by learner's steps."""
    from matplotlib.figure import Figure

    shown = {column: title for column, title in PANELS.items() if any(column in row for row in rows)}
    height = max(2, -(-(1 + len(shown)) // 3))
    figure = Figure(figsize=(12, 3.25 * height), layout="constrained")
    axes = figure.subplots(height, 3).ravel()
    _draw_win_rates(axes[0], rows)
    for panel, (column, title) in zip(axes[1:], shown.items(), strict=False):
        points = [(row["steps"], row[column]) for row in rows if column in row]
        panel.plot(*zip(*points, strict=True), ".-" if len(points) < 30 else "-", color="#2a6f97", linewidth=1)
        panel.set_title(title, fontsize=10)
    for panel in axes[1 + len(shown) :]:
        panel.set_axis_off()
    for panel in axes[: 1 + len(shown)]:
        panel.grid(alpha=0.3)
        panel.set_xlabel("learner's steps", fontsize=8)
        panel.tick_params(labelsize=8)
    figure.suptitle(f"{env}: {rows[-1]['steps']:,} steps in {rows[-1].get('seconds', 0):,.0f} s", fontsize=11)
    figure.savefig(path, dpi=100)


def _draw_win_rates(panel: Any, rows: Sequence[Row]) -> None:
    opponents = list(
        dict.fromkeys(key.removeprefix(WIN_RATE) for row in rows for key in row if key.startswith(WIN_RATE))
    )
    for opponent in opponents:
        measured = [row for row in rows if WIN_RATE + opponent in row]
        steps = [row["steps"] for row in measured]
        (line,) = panel.plot(
            steps, [100 * row[WIN_RATE + opponent] for row in measured], ".-", label=Path(opponent).name
        )
        ends = [row.get(INTERVAL + opponent, [row[WIN_RATE + opponent]] * 2) for row in measured]
        lows, highs = ([100 * end[i] for end in ends] for i in range(2))
        panel.fill_between(steps, lows, highs, alpha=0.2, color=line.get_color(), linewidth=0)
    panel.set_title("% won against (95 %)", fontsize=10)
    if opponents:
        panel.legend(fontsize=8)


# The card


def make_card(config: Mapping[str, Any], rows: Sequence[Row], result: Mapping[str, Any], *, has_policy: bool) -> str:
    """The model card: YAML that Hugging Face reads, then Markdown.

    Args:
        config: The settings of the run.
        rows: Its metrics.
        result: What `training.train` wrote at its end.
        has_policy: Whether there is a policy file beside it.
    """
    from huggingface_hub import EvalResult, ModelCard, ModelCardData

    env = config["env"]
    lessons = sum("explained" in row for row in rows)
    method = " and ".join(["lessons from search"] * (lessons > 0) + ["MaskablePPO"] * (lessons < len(rows)))
    title = method[0].upper() + method[1:]
    learnt_from = " and ".join(["positions"] * (lessons > 0) + ["decisions of the learner"] * (lessons < len(rows)))
    data = ModelCardData(
        model_name=f"{title} for {env}",
        library_name="threeup-env",
        pipeline_tag="reinforcement-learning",
        tags=["reinforcement-learning", "self-play", "card-game", "threeup-env", env],
        eval_results=[
            EvalResult(
                task_type="reinforcement-learning",
                task_name="reinforcement learning",
                dataset_type=env,
                dataset_name=env,
                metric_type="win_rate",
                metric_name=f"win rate against {one['opponent']}, {one['games']} duplicate games, seed {one['seed']}",
                metric_value=round(one["win_rate"], 4),
            )
            for one in result["evaluations"]
        ],
    )
    body = "\n\n".join(
        [
            f"# {title} for `{env}`",
            f"A policy for the card game 3UP 3DOWN, trained with `threeup_env` on the environment `{env}`: "
            f"{result['steps']:,} {learnt_from} in {result['seconds']:,.0f} seconds.",
            "## What it wins",
            _results(result["evaluations"]),
            f"![Curves of the run]({CURVES})",
            *(["## Use", _use(env)] if has_policy else []),
            "## Training",
            _training(config, lessons, len(rows) - lessons)
            + "The same settings, versions and number of threads give the same weights:",
            f"```yaml\n{yaml.safe_dump(dict(config), sort_keys=False).strip()}\n```",
            "## Limits",
            "It plays the rules of its environment and no others. Win rates against fixed opponents do not say how "
            "much a player could gain who knows this policy: `python -m training.exploit` measures that.",
        ]
    )
    return str(ModelCard(f"---\n{data.to_yaml()}\n---\n\n{body}\n"))


def _results(evaluations: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| opponent | % won | 95 % | games | seed | mean points | games at the limit |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in evaluations:
        lines.append(
            f"| `{one['opponent']}` | {100 * one['win_rate']:.2f} | {100 * one['ci_low']:.2f} to "
            f"{100 * one['ci_high']:.2f} | {one['games']:,} | {one['seed']} | {one['mean_score']:.1f} | "
            f"{one['limit_games']:,} |"
        )
    return "\n".join(lines) + (
        "\n\nDuplicate games: each deal is played once from every seat. The same again: "
        "`threeup evaluate --env ID --agent policy.safetensors --opponent NAME --games N --seed S`."
    )


def _use(env: str) -> str:
    return (
        f"```bash\nthreeup evaluate --env {env} --agent {POLICY} --opponent greedy\n```\n\n"
        "```python\nfrom threeup_env.agents import load_policy\n\n"
        f'agent = load_policy("{POLICY}")  # runs in NumPy; agent.act(observation, action_mask)\n```'
    )


def _training(config: Mapping[str, Any], lessons: int, rollouts: int) -> str:
    """How many lessons and rollouts there were, and against whom."""
    text = ""
    if lessons:
        text += f"Lessons, {lessons:,} of them: positions with what each action is worth against `greedy`. "
    if rollouts:
        text += f"MaskablePPO, {rollouts:,} rollouts. Opponents by weight: {_opponents(config.get('opponents'))}. "
    return text


def _opponents(weights: Any) -> str:
    if not isinstance(weights, Mapping):
        return f"{weights}"
    return ", ".join(f"`{name}` {weight:g}" for name, weight in weights.items())


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.report", description="Write the report of a run.")
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run")
    try:
        print(write_report(parser.parse_args(arguments).run))
    except ThreeUpError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
