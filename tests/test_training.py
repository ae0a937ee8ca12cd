"""Training: settings and their errors, a run from start to end, and going on after a kill."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from tests.test_policy import positions
from threeup_env import Rules
from threeup_env.agents import load_policy
from threeup_env.cards import NUM_KINDS
from threeup_env.errors import InvalidConfigError, ThreeUpError
from threeup_env.evaluate import evaluate
from threeup_env.observation import observation_layout
from threeup_env.registration import rules_of
from training import train as module
from training.checkpoint import load_checkpoint, save_checkpoint
from training.config import Config, Schedule, load_config, make_config
from training.encodings import ENCODINGS
from training.metrics import METRICS
from training.networks import ActorCritic, policy_arguments
from training.ppo import Rollout, draw, forward
from training.train import CHECKPOINT, POLICY, RESULT, choose_folder, main, make_run, train

ROOT = Path(__file__).resolve().parent.parent
SMALL: dict[str, Any] = {
    "env": "ThreeUp/2p-v0",
    "steps": 4_000,
    "threads": 1,
    "games": 16,
    "rollout": 32,
    "batch_size": 128,
    "epochs": 2,
    "learning_rate": {"start": 1e-3, "shape": "linear"},
    "network": {"hidden": [16, 8]},
    "opponents": {"greedy": 1, "random": 1, "self": 1, "past": 1},
    "snapshots": {"every": 1, "keep": 3},
    "evaluation": {"every": 4, "games": 20, "final_games": 40},
    "checkpoint_every": 2,
}


def small(**changes: Any) -> Config:
    return make_config(SMALL | changes)


def metrics(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an unbroken run."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(small(), folder, quiet=True)
    return folder


def test_a_run_leaves_a_policy_that_plays(finished: Path) -> None:
    agent = load_policy(finished / POLICY, rules_of("ThreeUp/2p-v0"))
    observations, masks = positions(50)
    assert masks[np.arange(50), agent.act_batch(observations, masks)].all()
    assert agent.header.training["steps"] == 4_096
    assert agent.header.training["config"]["seed"] == 1


def test_a_run_tells_how_it_went(finished: Path) -> None:
    rows = metrics(finished)
    assert [row["rollout"] for row in rows] == list(range(1, 9))
    assert [row["steps"] for row in rows] == list(range(512, 4_097, 512))
    assert all(np.isfinite([value for value in row.values() if isinstance(value, float)]).all() for row in rows)
    assert [row["rollout"] for row in rows if "win_rate/greedy" in row] == [4, 8]
    assert rows[0]["learning_rate"] == 1e-3
    assert rows[4]["learning_rate"] == pytest.approx(5e-4)
    result = json.loads((finished / RESULT).read_text())
    assert [one["opponent"] for one in result["evaluations"]] == ["greedy", "random"]
    assert [one["games"] for one in result["evaluations"]] == [40, 40]
    again = evaluate("ThreeUp/2p-v0", str(finished / POLICY), "greedy", 40, 1)
    assert result["evaluations"][0]["win_rate"] == again.win_rate
    assert os.listdir(finished / "tensorboard")
    assert make_config(yaml.safe_load((finished / "config.yaml").read_text())) == small()


def test_the_same_settings_give_the_same_policy(finished: Path, tmp_path: Path) -> None:
    assert train(small(), tmp_path, quiet=True).read_bytes() == (finished / POLICY).read_bytes()
    other = train(small(seed=2, steps=512), tmp_path / "other", quiet=True)
    assert other.read_bytes() != (finished / POLICY).read_bytes()


class Killed(BaseException):
    """Stands for the end of the process."""


def train_until_killed(config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, call: int) -> None:
    """Do a run that ends before `Metrics.write` or `save_checkpoint` is called for the `call`-th time."""
    count = 0

    def stop(*_: Any) -> None:
        nonlocal count
        count += 1
        if count == call:
            raise Killed
        original(*_)

    owner: Any = module.Metrics if place == "write" else module
    original = getattr(owner, place)
    with monkeypatch.context() as patch:
        patch.setattr(owner, place, stop)
        with pytest.raises(Killed):
            train(config, folder, quiet=True)


@pytest.mark.parametrize("rollout", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("place", ["write", "save_checkpoint"])
def test_a_run_that_was_stopped_and_resumed_is_the_unbroken_one(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rollout: int, place: str
) -> None:
    """Stopped before the metrics of a rollout are written, and before its checkpoint is."""
    call = rollout if place == "write" else (rollout + 1) // 2
    train_until_killed(small(), tmp_path, monkeypatch, place, call)
    assert train(small(), tmp_path, resume=True, quiet=True).read_bytes() == (finished / POLICY).read_bytes()
    timed = {"seconds", "steps_per_second"}
    for before, after in zip(metrics(finished), metrics(tmp_path), strict=True):
        assert {k: before[k] for k in before.keys() - timed} == {k: after[k] for k in after.keys() - timed}


def test_a_process_that_was_killed_can_be_resumed(finished: Path, tmp_path: Path) -> None:
    config = tmp_path / "small.yaml"
    config.write_text(yaml.safe_dump(SMALL, sort_keys=False))
    command = [sys.executable, "-m", "training.train", str(config), "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and not (tmp_path / "run" / CHECKPOINT).exists():
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    again = subprocess.run([*command, "--resume"], cwd=ROOT, capture_output=True, text=True, check=True)
    policy = tmp_path / "run" / POLICY
    assert again.stdout.strip() == str(policy)
    assert policy.read_bytes() == (finished / POLICY).read_bytes()


def test_a_finished_run_is_only_measured_again(finished: Path) -> None:
    before = (finished / POLICY).read_bytes()
    assert train(small(), finished, resume=True, quiet=True).read_bytes() == before
    assert len(metrics(finished)) == 8


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", [{"kind": "mlp"}, {"kind": "kinds"}, {"kind": "kinds", "sums": True, "outlook": True}])
@pytest.mark.parametrize("env", ["ThreeUp/2p-v0", "ThreeUp/House-3p-v0"])
def test_numpy_plays_what_torch_learnt(env: str, kind: dict[str, Any], shared: bool) -> None:
    run = make_run(small(env=env, network={"units": 5, "hidden": [16, 8], "shared": shared, **kind}))
    run.ppo.collect(run.env.batch, run.league.record)
    run.ppo.train()  # away from the first weights, some of which are zero
    observations, masks = positions(200, rules_of(env))
    agent = module.player(run)
    with torch.no_grad():
        distribution = run.ppo.policy.get_distribution(torch.from_numpy(observations), masks != 0)
    expected = distribution.distribution.probs.numpy()
    np.testing.assert_allclose(agent.probabilities(observations, masks), expected, atol=1e-5)  # type: ignore[attr-defined]


def test_the_lean_update_is_the_one_of_maskable_ppo() -> None:
    """The same estimates and the same weights after a rollout, but for rounding."""
    # One batch, as the two put the rows of a rollout in different orders.
    settings = {"learning_rate": 1e-3, "clip_range": 0.05, "batch_size": 512}
    lean, plain = make_run(small(**settings)), make_run(small(**settings))
    for _ in range(2):
        lean.ppo.collect(lean.env.batch, lean.league.record)
        rollout = lean.ppo.rollout
        with torch.no_grad():
            last_values = plain.ppo.policy.predict_values(torch.from_numpy(lean.env.batch.observation))
        buffer = filled_buffer(plain.ppo, rollout, last_values)
        torch.testing.assert_close(torch.from_numpy(buffer.advantages), rollout.advantages)
        torch.testing.assert_close(torch.from_numpy(buffer.returns), rollout.returns)
        lean.ppo.train()
        MaskablePPO.train(plain.ppo)
        for ours, theirs in zip(lean.ppo.policy.parameters(), plain.ppo.policy.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-4)


def filled_buffer(ppo: module.LeanMaskablePPO, rollout: Rollout, last_values: torch.Tensor) -> MaskableRolloutBuffer:
    """SB3's buffer with the same rollout in it."""
    buffer = ppo.rollout_buffer
    assert isinstance(buffer, MaskableRolloutBuffer)
    buffer.reset()
    starts = np.ones(rollout.ends.shape[1])
    for step in range(len(rollout.actions)):
        buffer.add(
            rollout.observations[step].numpy(),
            rollout.actions[step, :, None].numpy(),
            rollout.rewards[step].numpy(),
            # A game that ended before the rollout began makes no difference to it.
            starts,
            rollout.values[step],
            rollout.log_probs[step],
            action_masks=rollout.masks[step].numpy(),
        )
        starts = rollout.ends[step].numpy()
    buffer.compute_returns_and_advantage(last_values, starts)
    return buffer


def test_a_truncated_game_counts_as_if_it_went_on() -> None:
    """6.3: the reward of a game cut at its limit is 0, and the value of its last position stands for the rest."""
    rules = Rules(2, max_decisions=12, at_limit="truncate")
    env = module.ThreeUpVecEnv(rules, 8, "greedy", seed=1)
    config = small(games=8, batch_size=64)
    ppo = module.LeanMaskablePPO(ActorCritic, env, n_steps=32, policy_kwargs=policy_arguments(config, rules))
    cut = []

    def check(batch: Any) -> None:
        if batch.truncated.any():
            finals = torch.from_numpy(batch.final_observation[batch.truncated])
            cut.append(
                (
                    batch.truncated.copy(),
                    ppo.gamma * forward(ppo.policy, finals, torch.zeros(len(finals), 0), "float32")[1],
                )
            )

    with torch.inference_mode():
        ppo.collect(env.batch, check)
    steps = [step for step in range(32) if ppo.rollout.ends[step].any()]
    assert len(cut) == len(steps) > 0
    for step, (games, values) in zip(steps, cut, strict=True):
        torch.testing.assert_close(ppo.rollout.rewards[step, torch.from_numpy(games)], values)


def test_draws_follow_the_probabilities() -> None:
    torch.manual_seed(1)
    probabilities = torch.tensor([0.0, 0.5, 0.0, 0.3, 0.2, 0.0]).repeat(20_000, 1)
    counts = torch.bincount(draw(probabilities), minlength=6)
    assert counts[[0, 2, 5]].tolist() == [0, 0, 0]
    # Five standard deviations of a share are less than 2 points.
    torch.testing.assert_close(counts / 20_000, probabilities[0], atol=0.02, rtol=0)


def test_a_critic_that_sees_all_hands(tmp_path: Path) -> None:
    """The file holds the policy alone, and says how it was trained."""
    network = {"hidden": [16, 8], "shared": True, "critic_units": 4}
    policy = load_policy(train(small(network=network, steps=1024), tmp_path, quiet=True))
    assert policy.header.observation_size == observation_layout(Rules.standard(2)).size
    assert policy.header.training["config"]["network"]["critic_units"] == 4
    assert policy.header.network == {"kind": "mlp", "hidden": [16, 8]}


def test_the_policy_does_not_see_what_the_critic_sees() -> None:
    run = make_run(small(network={"hidden": [16, 8], "shared": True, "critic_units": 4}))
    observations = torch.from_numpy(run.env.batch.observation)
    hidden = torch.from_numpy(run.env.batch.hidden_cards())
    with torch.no_grad():
        logits, values = forward(run.ppo.policy, observations, hidden, "float32")
        others, judged = forward(run.ppo.policy, observations, hidden.flip(0), "float32")
    torch.testing.assert_close(logits, others, rtol=0, atol=0)
    assert not torch.equal(values, judged)


def test_half_the_digits_train_as_well(tmp_path: Path) -> None:
    policy = train(small(precision="bfloat16"), tmp_path, quiet=True)
    assert load_policy(policy).header.training["config"]["precision"] == "bfloat16"
    assert all(np.isfinite(row["value_loss"]) for row in metrics(tmp_path))


@pytest.mark.parametrize("encoding", ["scaled", "codes", "unary"])
def test_other_encodings_train_but_are_not_saved(tmp_path: Path, encoding: str) -> None:
    assert train(small(encoding=encoding, steps=512), tmp_path, quiet=True) == tmp_path
    assert "win_rate/greedy" in metrics(tmp_path)[-1]
    assert not (tmp_path / POLICY).exists()


@pytest.mark.parametrize("rules", [Rules.standard(3), Rules.geeky(2), Rules.house(2), Rules.match(2)], ids=repr)
def test_encodings_lose_nothing(rules: Rules) -> None:
    observations, _ = positions(400, rules)
    different = len(np.unique(observations, axis=0))
    for make in ENCODINGS.values():
        encoding = make(rules)
        features = encoding(torch.from_numpy(observations).float())
        assert features.shape == (400, encoding.size)
        assert len(np.unique(features.numpy(), axis=0)) == different


def test_encodings_show_counts_as_they_say() -> None:
    rules = Rules.standard(2)
    observations, _ = positions(400, rules)
    hand = observation_layout(rules)["hand"].view(observations)
    features = {name: make(rules)(torch.from_numpy(observations).float()).numpy() for name, make in ENCODINGS.items()}
    np.testing.assert_array_equal(features["default"], observations)
    codes = features["codes"][:, : NUM_KINDS * 4].reshape(-1, NUM_KINDS, 4)
    np.testing.assert_array_equal(codes.sum(axis=2), hand)
    np.testing.assert_array_equal(codes[:, :, :3], np.arange(3) < hand[:, :, None])
    np.testing.assert_allclose(features["scaled"][:, :NUM_KINDS], hand / 7, rtol=1e-6)
    unary = features["unary"][:, : NUM_KINDS * 7].reshape(-1, NUM_KINDS, 7)
    np.testing.assert_array_equal(unary, np.arange(7) < hand[:, :, None])
    assert features["scaled"].max() <= 1
    assert set(np.unique(features["unary"])) == {0, 1}


def test_schedules_go_from_start_to_end() -> None:
    assert [Schedule(start=4)(p) for p in (0, 0.5, 1)] == [4, 4, 4]
    assert [Schedule(start=4, end=2, shape="linear")(p) for p in (0, 0.5, 1)] == [4, 3, 2]
    assert [Schedule(start=4, shape="cosine")(p) for p in (0, 0.5, 1)] == pytest.approx([4, 2, 0])
    assert Schedule(start=4, shape="cosine")(0.25) > 3


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda path: path.name)
def test_the_configs_of_this_repository_are_right(path: Path) -> None:
    assert load_config(path).num_rollouts > 1


def test_overrides_change_single_keys(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(SMALL, sort_keys=False))
    config = load_config(path, ["steps=77", "learning_rate.start=7e-4", "network.hidden=[3]", "entropy=0.1"])
    assert config.steps == 77
    assert config.learning_rate == Schedule(start=7e-4, shape="linear")
    assert config.network.hidden == (3,)
    assert config.entropy == Schedule(start=0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stepz": 3}, r"'stepz' \(here 3\) is no key; allowed: env, seed, threads, precision, steps"),
        (
            {"network": {"hiden": [3]}},
            r"'network.hiden' \(here \[3\]\) is no key; allowed: kind, units, sums, outlook, hidden, shared",
        ),
        ({"learning_rate": {"begin": 3}}, r"learning_rate\.start: missing.*'learning_rate\.begin'"),
        ({"steps": None}, "steps: None is wrong; .*integer"),
        ({"steps": "many"}, "steps: 'many' is wrong"),
        ({"steps": 1.5}, r"steps: 1\.5 is wrong"),
        ({"steps": -1}, "steps: -1 is wrong; .*greater than or equal to 0"),
        ({"seed": -1}, "seed: -1 is wrong"),
        ({"discount": 1.5}, r"discount: 1\.5 is wrong; .*less than or equal to 1"),
        ({"discount": float("nan")}, "discount: nan is wrong"),
        ({"learning_rate": -1}, "learning_rate: .* goes below 0"),
        ({"learning_rate": {"start": 1, "shape": "square"}}, r"learning_rate\.shape: 'square' is wrong; .*'cosine'"),
        ({"encoding": "binary"}, "encoding: 'binary' is wrong; .*'default', 'scaled', 'codes' or 'unary'"),
        ({"network": {"kind": "cnn"}}, r"network\.kind: 'cnn' is wrong"),
        (
            {"network": {"outlook": True}},
            r"network: sums and outlook with kind 'mlp'; allowed: with kind 'kinds' alone",
        ),
        ({"network": {"hidden": [0]}}, r"network\.hidden\.0: 0 is wrong"),
        ({"reward": "money"}, "reward: 'money' is wrong"),
        ({"env": "ThreeUp/9p-v0"}, "env: 'ThreeUp/9p-v0' is not registered; allowed: ThreeUp/2p-v0"),
        ({"opponents": {}}, "opponents: {} is wrong"),
        ({"opponents": {"greedy": 0}}, "opponents: all weights .* are 0"),
        ({"opponents": {"greedy": -1}}, r"opponents\.greedy: -1 is wrong"),
        ({"opponents": {"gredy": 1}}, "opponents: agent 'gredy' is unknown; allowed: .*'greedy'"),
        ({"evaluation": {"opponents": ["gredy"]}}, "evaluation: agent 'gredy' is unknown"),
        ({"batch_size": 10_000}, "batch_size: 10000 is more than a rollout holds; .*512"),
        (
            {"steps": 0, "batch_size": 10_000, "lessons": {"positions": 1, "size": 600}},
            r"batch_size: 10000 is more than a lesson holds; allowed: at most lessons\.size = 600",
        ),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfigError, match=message) as caught:
        small(**changes)
    assert isinstance(caught.value, ThreeUpError)


def test_missing_settings_are_named() -> None:
    with pytest.raises(InvalidConfigError, match="env: missing; it has no default; steps: missing"):
        make_config({})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"a: [", "is not YAML"),
        (b"\xff\xfe\x00", "is not YAML"),
        (b"", "holds None; allowed: a mapping"),
        (b"- 1", r"holds \[1\]; allowed: a mapping"),
        (b"!!python/object/apply:os.getcwd []", "is not YAML"),
    ],
)
def test_files_that_are_no_config_are_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "c.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidConfigError, match=message):
        load_config(path)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("steps", "override 'steps' is wrong; allowed: key=value"),
        ("=3", "override '=3' is wrong"),
        ("steps=[", r"steps: '\[' is not YAML"),
        ("seed.inner=3", "seed.inner: 'seed' is 1 in the file; allowed: a section"),
    ],
)
def test_overrides_that_make_no_sense_are_refused(tmp_path: Path, override: str, message: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(SMALL | {"seed": 1}))
    with pytest.raises(InvalidConfigError, match=message):
        load_config(path, [override])


def test_a_folder_that_holds_a_run_is_not_overwritten(finished: Path) -> None:
    with pytest.raises(InvalidConfigError, match="holds a run; --resume goes on with it"):
        train(small(), finished, quiet=True)
    with pytest.raises(InvalidConfigError, match="seed: 9, but the run has 1; epochs: 3, but the run has 2"):
        train(small(seed=9, epochs=3), finished, resume=True, quiet=True)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidConfigError, match="cannot be used: Not a directory"):
        train(small(), tmp_path / "file" / "run", quiet=True)


def test_each_run_without_a_folder_of_its_own_gets_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = Path("configs/quick.yaml")
    assert choose_folder(config, resume=True) == Path("runs/quick")
    for name in ("quick", "quick-2", "quick-3"):
        folder = choose_folder(config, resume=False)
        assert folder == Path("runs") / name
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text("")
        assert choose_folder(config, resume=True) == folder


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is damaged"),
        (b"\x80\x04K\x01.", "has the format None"),
        (b"text", "is damaged"),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / CHECKPOINT
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidConfigError, match=message):
        load_checkpoint(path)
    save_checkpoint(path, {"rollouts": 3})
    assert load_checkpoint(path)["rollouts"] == 3
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InvalidConfigError, match="is damaged"):
        load_checkpoint(path)
    with pytest.raises(InvalidConfigError, match="cannot be written"):
        save_checkpoint(tmp_path / "no" / CHECKPOINT, {})


def test_killed_runs_leave_one_unfinished_checkpoint_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / CHECKPOINT
    seen = []

    def dump(*arguments: Any) -> None:
        seen.append(os.listdir(tmp_path))
        original(*arguments)

    original = pickle.dump
    monkeypatch.setattr(pickle, "dump", dump)
    save_checkpoint(path, {"rollouts": 1})
    (unfinished,) = seen[0]
    (tmp_path / unfinished).write_bytes(b"what a killed run had written")
    save_checkpoint(path, {"rollouts": 2})
    assert sorted(seen[1]) == sorted([CHECKPOINT, unfinished])
    assert os.listdir(tmp_path) == [CHECKPOINT]
    assert load_checkpoint(path)["rollouts"] == 2


def test_the_command_tells_errors_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(SMALL | {"stepz": 1}))
    assert main([str(path), "--out", str(tmp_path / "run")]) == 1
    assert capsys.readouterr().err.startswith("error: 'stepz' (here 1) is no key")
    assert main([str(tmp_path / "none.yaml"), "--resume", "steps=3"]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
