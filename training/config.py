"""The settings of a training run: one typed object, read from YAML and checked before anything starts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from threeup_env.agents import make_agent
from threeup_env.errors import GameTooLargeError, InvalidConfigError, ThreeUpError
from threeup_env.exploitability import check_size
from threeup_env.registration import ENV_RULES

SELF: Final = "self"
"""As an opponent: the newest snapshot of the learner."""
PAST: Final = "past"
"""As an opponent: any snapshot that is still kept."""

Number = Annotated[float, Field(strict=False, allow_inf_nan=False)]
"""YAML reads 7e-4 as text; text that is a number is one here."""
Encoding = Literal["default", "scaled", "codes", "unary"]


class _Settings(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Schedule(_Settings):
    """A number that may change while a run goes on; a bare number in the file stays constant."""

    start: Number
    """Its first value."""
    end: Number = 0.0
    """Its last value, where `shape` is not constant."""
    shape: Literal["constant", "linear", "cosine"] = "constant"
    """How it goes from one to the other."""

    def __call__(self, progress: float) -> float:
        """Its value when `progress`, 0 to 1, of the run is done."""
        if self.shape == "constant":
            return self.start
        done = progress if self.shape == "linear" else (1 - math.cos(math.pi * progress)) / 2
        return self.start + done * (self.end - self.start)


def _read_schedule(value: Any) -> Any:
    """A bare number is a constant schedule."""
    return value if isinstance(value, Mapping | Schedule) else {"start": value}


ScheduleOrNumber = Annotated[Schedule, BeforeValidator(_read_schedule)]


Units = Annotated[int, Field(ge=1, le=65_536)]


class NetworkSettings(_Settings):
    """The network of policy and value."""

    kind: Literal["mlp", "kinds"] = "mlp"
    """A kind of `threeup_env.agents.networks`: plain layers, or kinds of card as tokens."""
    units: Units = 16
    """Units of a token (`kinds`)."""
    sums: bool = False
    """Whether a token also reads sums over kinds, sizes of zones and extras owed (`kinds`)."""
    outlook: bool = False
    """Whether it also reads what may become of the pile in a round, by `threeup_env.core.outlook` (`kinds`)."""
    hidden: Annotated[tuple[Units, ...], Field(strict=False, max_length=16)] = (256, 256)
    """Units of each hidden layer."""
    shared: bool = False
    """Whether policy and value have the hidden layers in common, or each its own."""
    critic_units: Annotated[int, Field(ge=0, le=65_536)] = 0
    """Units of a hidden layer of the value alone, which is shown all hands too; 0: it sees what the policy sees."""


class LessonSettings(_Settings):
    """Positions in which search says what each action is worth, to fit the policy to first (`training.lessons`)."""

    positions: Annotated[int, Field(ge=0)] = 0
    """How many, rounded up to whole lessons; 0: none."""
    size: Annotated[int, Field(ge=1)] = 262_144
    """Positions of a lesson, drawn and learnt from together."""
    epochs: Annotated[int, Field(ge=1)] = 2
    """Times each lesson is gone through."""
    games: Annotated[int, Field(ge=1)] = 8
    """Imagined games that each action of a position is tried in."""
    early: Annotated[Number, Field(ge=0, le=1)] = 0.1
    """The share of positions with a draw pile that are learnt from; of those without one it is all."""
    follow: Annotated[Number, Field(ge=0, le=1)] = 0.5
    """How often the learner's seat then does what was worth most; otherwise it does as `greedy`."""
    learning_rate: ScheduleOrNumber = Schedule(start=1e-3, shape="linear")
    """Step size of Adam."""


class SnapshotSettings(_Settings):
    """Copies of the learner that it plays against."""

    every: Annotated[int, Field(ge=1)] = 10
    """Rollouts between two snapshots."""
    keep: Annotated[int, Field(ge=1)] = 10
    """How many of them are kept; the oldest goes first."""
    priority: Literal["uniform", "losing"] = "losing"
    """Whether all of them come equally often as `past`, or those more often that the learner loses to."""
    power: Annotated[Number, Field(ge=0)] = 2.0
    """How much more often: the share of games not won, to this power."""


class EvaluationSettings(_Settings):
    """How the learner is measured: in duplicate games (`threeup evaluate`)."""

    every: Annotated[int, Field(ge=1)] = 20
    """Rollouts between two evaluations."""
    opponents: Annotated[tuple[str, ...], Field(strict=False)] = ("greedy", "random")
    """Against whom."""
    games: Annotated[int, Field(ge=1)] = 2_000
    """Games against each of them while training."""
    final_games: Annotated[int, Field(ge=1)] = 10_000
    """Games against each of them at the end."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Seed of these games."""
    exploitability: bool = False
    """Whether the exact exploitability is measured too, in a game small enough (`threeup exploit`)."""


class Config(_Settings):
    """All settings of a run."""

    env: str
    """ID of the environment."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Seed of weights, games and draws."""
    threads: Annotated[int, Field(ge=1)] = 2
    """Threads of torch: results are the same again only with the same number."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """In what the matrix products of training are computed; bfloat16 is fast where the processor has it (AMX)."""
    steps: Annotated[int, Field(ge=0)]
    """Decisions of the learner to train for by PPO, rounded up to whole rollouts; 0: it learns from lessons alone."""
    lessons: LessonSettings = LessonSettings()

    games: Annotated[int, Field(ge=1)] = 512
    """Games played side by side."""
    rollout: Annotated[int, Field(ge=1)] = 128
    """Decisions of each game between two updates."""
    batch_size: Annotated[int, Field(ge=2)] = 8_192
    """Decisions a gradient is taken from."""
    epochs: Annotated[int, Field(ge=1)] = 3
    """Times each rollout is gone through."""
    learning_rate: ScheduleOrNumber = Schedule(start=7e-4)
    """Step size of Adam."""
    entropy: ScheduleOrNumber = Schedule(start=0.005)
    """Weight of the entropy bonus."""
    discount: Annotated[Number, Field(ge=0, le=1)] = 0.999
    """Discount of later rewards for each decision of the learner."""
    gae_lambda: Annotated[Number, Field(ge=0, le=1)] = 0.95
    """Weight of longer advantage estimates."""
    clip_range: Annotated[Number, Field(gt=0)] = 0.2
    """How far the ratio of new to old probability may go from 1."""
    value_weight: Annotated[Number, Field(ge=0)] = 0.5
    """Weight of the value loss."""
    max_grad_norm: Annotated[Number, Field(gt=0)] = 0.5
    """Longer gradients are cut to this length."""
    reward: Literal["win", "place", "score"] = "win"
    """What is rewarded at the end of a game (docs/environments.md)."""

    temperature: Annotated[Number, Field(ge=0)] = 0.5
    """What the trained policy's logits are divided by in play (`threeup_env.agents.policy`); training has 1."""
    encoding: Encoding = "default"
    """How the network sees counts; only `default` can be saved as a policy file (`training.encodings`)."""
    network: NetworkSettings = NetworkSettings()
    opponents: Annotated[dict[str, Annotated[Number, Field(ge=0)]], Field(min_length=1)] = {"greedy": 0.3, SELF: 0.7}
    """Weight of each opponent: an agent's name, the path of a policy file, `self` or `past`."""
    snapshots: SnapshotSettings = SnapshotSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    checkpoint_every: Annotated[int, Field(ge=1)] = 10
    """Rollouts between two checkpoints: what a killed run may lose."""

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.env not in ENV_RULES:
            raise InvalidConfigError(f"env: {self.env!r} is not registered; allowed: {', '.join(ENV_RULES)}")
        if self.num_rollouts == 0:
            raise InvalidConfigError(
                "steps: 0 without lessons; allowed: at least 1, or lessons.positions of at least 1"
            )
        schedules = {
            "learning_rate": self.learning_rate,
            "entropy": self.entropy,
            "lessons.learning_rate": self.lessons.learning_rate,
        }
        for key, schedule in schedules.items():
            if schedule.start < 0 or schedule.end < 0:
                raise InvalidConfigError(f"{key}: {schedule!r} goes below 0; allowed: numbers of at least 0")
        if not sum(self.opponents.values()) > 0:
            raise InvalidConfigError(f"opponents: all weights of {self.opponents} are 0; allowed: at least one above 0")
        for key, names in (("opponents", self.opponents), ("evaluation", self.evaluation.opponents)):
            for name in names:
                if name not in (SELF, PAST) or key == "evaluation":
                    try:
                        make_agent(name, ENV_RULES[self.env])
                    except ThreeUpError as error:
                        raise InvalidConfigError(f"{key}: {error}") from None
        if self.network.kind != "kinds" and (self.network.sums or self.network.outlook):
            raise InvalidConfigError(
                f"network: sums and outlook with kind {self.network.kind!r}; allowed: with kind 'kinds' alone"
            )
        if self.network.kind == "kinds" and (self.encoding != "default" or not self.network.hidden):
            raise InvalidConfigError(
                f"network.kind: 'kinds' with encoding {self.encoding!r} and hidden {self.network.hidden}; "
                "allowed: encoding 'default' and at least one hidden layer"
            )
        if self.evaluation.exploitability:
            try:
                check_size(ENV_RULES[self.env])
            except GameTooLargeError as error:
                raise InvalidConfigError(f"evaluation.exploitability: {error}") from None
        if self.steps and self.batch_size > self.rollout_steps:
            raise InvalidConfigError(
                f"batch_size: {self.batch_size} is more than a rollout holds; allowed: at most games * rollout = "
                f"{self.rollout_steps}"
            )
        if self.num_lessons and self.batch_size > self.lessons.size:
            raise InvalidConfigError(
                f"batch_size: {self.batch_size} is more than a lesson holds; allowed: at most lessons.size = "
                f"{self.lessons.size}"
            )
        return self

    @property
    def rollout_steps(self) -> int:
        """Decisions in a rollout of all games together."""
        return self.games * self.rollout

    @property
    def num_lessons(self) -> int:
        """Lessons that come before the rollouts."""
        return -(-self.lessons.positions // self.lessons.size)

    @property
    def num_rollouts(self) -> int:
        """Rollouts in the whole run, lessons among them."""
        return self.num_lessons + -(-self.steps // self.rollout_steps)


def make_config(settings: Mapping[str, Any]) -> Config:
    """Check settings.

    Raises:
        InvalidConfigError: A key is unknown or missing, or a value is wrong; the message names the key, the
            value and what is allowed.
    """
    try:
        return Config.model_validate(settings)
    except ValidationError as error:
        raise InvalidConfigError(_explain(error)) from None


def load_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file and let `overrides` change single keys.

    Args:
        path: The file.
        overrides: Texts `key=value`; a dot goes into a section: `learning_rate.start=1e-3`.

    Raises:
        InvalidConfigError: The file cannot be read or is no YAML mapping, or as `make_config`.
    """
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidConfigError(f"config {str(path)!r} cannot be read: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidConfigError(f"config {str(path)!r} is not YAML: {error}") from error
    if not isinstance(settings, dict):
        raise InvalidConfigError(f"config {str(path)!r} holds {settings!r}; allowed: a mapping from key to value")
    for override in overrides:
        _override(settings, override)
    return make_config(settings)


def _override(settings: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise InvalidConfigError(f"override {override!r} is wrong; allowed: key=value, such as steps=1000000")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidConfigError(f"{key}: {text!r} is not YAML: {error}") from None
    *sections, last = key.split(".")
    for section in sections:
        inner = settings.setdefault(section, {})
        if not isinstance(inner, dict):
            raise InvalidConfigError(f"{key}: {section!r} is {inner!r} in the file; allowed: a section with keys")
        settings = inner
    settings[last] = value


def _explain(error: ValidationError) -> str:
    """Every fault that pydantic found: key, value, what is allowed."""
    faults = []
    for fault in error.errors(include_url=False):
        own = fault.get("ctx", {}).get("error")
        key = ".".join(str(part) for part in fault["loc"] if part != "[key]")
        if isinstance(own, InvalidConfigError):
            faults.append(str(own))
        elif fault["type"] == "extra_forbidden":
            allowed = ", ".join(_keys(fault["loc"][:-1]))
            faults.append(f"{key!r} (here {fault['input']!r}) is no key; allowed: {allowed}")
        elif fault["type"] == "missing":
            faults.append(f"{key}: missing; it has no default")
        else:
            faults.append(f"{key}: {fault['input']!r} is wrong; {fault['msg']}")
    return "; ".join(faults)


def _keys(section: tuple[int | str, ...]) -> list[str]:
    """The keys that a section has."""
    model: Any = Config
    for part in section:
        annotation = model.model_fields[part].annotation
        model = next(t for t in (annotation, *get_args(annotation)) if isinstance(t, type) and issubclass(t, BaseModel))
    return list(model.model_fields)
