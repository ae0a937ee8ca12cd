"""`training.examples.sb3_maskable_ppo`: both forms, the saved model, the reward of the loser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from sb3_contrib import MaskablePPO

from threeup_env import Rules, SelfPlayBatch
from threeup_env.evaluate import evaluate
from threeup_env.sb3 import ThreeUpVecEnv
from training.examples import sb3_maskable_ppo as module
from training.examples.sb3_maskable_ppo import ModelAgent, main, make_clock, make_env, parse, train

pytestmark = pytest.mark.optional

SMALL = ["--env", "ThreeUp/Mini-2p-v0", "--num-envs", "4", "--num-steps", "64"]
FORMS: list[list[str]] = [[], ["--batched"]]


@pytest.mark.parametrize("form", FORMS, ids=["make", "batched"])
def test_it_trains_and_says_what_it_won(form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*SMALL, *form, "--steps", "512", "--games", "100", "--out", str(tmp_path)])
    assert "512 decisions" in capsys.readouterr().out.splitlines()[-1]
    assert list(tmp_path.glob("*/events.out.tfevents.*"))


@pytest.mark.parametrize("form", FORMS, ids=["make", "batched"])
def test_rollouts_are_legal_and_pay_the_loser(form: list[str], tmp_path: Path) -> None:
    model = train(parse([*SMALL, *form, "--steps", "256", "--out", str(tmp_path)]))
    buffer: Any = model.rollout_buffer  # with SB3's order: after training games come first, then steps
    masks = buffer.action_masks.reshape(256, -1)
    assert masks.any(axis=1).all()
    assert not masks.all()
    assert masks[np.arange(256), buffer.actions.reshape(256).astype(int)].all()
    assert set(np.unique(buffer.rewards)) == {-1.0, 0.0, 1.0}


def test_a_saved_model_plays_the_same(tmp_path: Path) -> None:
    model = train(parse([*SMALL, "--batched", "--steps", "256", "--out", str(tmp_path)]))
    again = MaskablePPO.load(tmp_path / "model.zip", device="cpu")
    batch = SelfPlayBatch(Rules.mini(2), 32, seed=1)
    for one, other in zip(model.policy.parameters(), again.policy.parameters(), strict=True):
        assert (one == other).all()
    actions = again.predict(batch.observation, action_masks=batch.action_mask, deterministic=True)[0]
    expected = model.predict(batch.observation, action_masks=batch.action_mask, deterministic=True)[0]
    np.testing.assert_array_equal(actions, expected)


def test_it_learns(tmp_path: Path) -> None:
    arguments = ["--env", "ThreeUp/Mini-2p-v0", "--num-envs", "32", "--steps", "32768", "--out", str(tmp_path)]
    model = train(parse([*arguments, "--batched"]))
    assert evaluate("ThreeUp/Mini-2p-v0", ModelAgent(model), "random", games=2000, seed=1).ci_low > 0.55


def test_the_two_forms() -> None:
    assert isinstance(make_env(parse([*SMALL, "--batched"])), ThreeUpVecEnv)
    plain = make_env(parse([*SMALL, "--opponent", "random"]))
    assert plain.num_envs == 4
    assert plain.get_attr("spec")[0].kwargs["opponent"] == "random"


def test_the_clock_runs_down(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    left = make_clock(2)
    shares = []
    for now[0] in (100, 130, 219, 230):
        shares.append(left())
    assert shares == pytest.approx([1, 0.75, 1 / 120, 0])
