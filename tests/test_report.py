"""The report of a run: curves and a model card, from the files of the run alone."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("matplotlib")
pytest.importorskip("huggingface_hub")

from threeup_env.errors import InvalidConfigError
from training.files import CARD, CONFIG, CURVES, METRICS, POLICY, RESULT
from training.report import main, write_report

pytestmark = pytest.mark.optional

ENV = "ThreeUp/2p-v0"
SETTINGS = {"env": ENV, "seed": 1, "opponents": {"greedy": 0.5, "self": 0.5}}
ROWS = [
    {"steps": 10, "seconds": 1.5, "entropy": 1.2, "value_loss": 0.3, "steps_per_second": 7.0},
    {
        **{"steps": 20, "seconds": 3.0, "entropy": 1.1, "value_loss": 0.2, "steps_per_second": 8.0},
        **{"win_rate/greedy": 0.4, "win_rate_interval/greedy": [0.3, 0.5], "decisions_per_game": 33.0},
    },
]
EVALUATION = {
    **{"opponent": "greedy", "games": 2_000, "seed": 1, "win_rate": 0.6543, "ci_low": 0.63, "ci_high": 0.68},
    **{"mean_score": 12.3, "limit_games": 4},
}
PNG = b"\x89PNG\r\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a finished run."""
    (tmp_path / CONFIG).write_text(yaml.safe_dump(SETTINGS))
    (tmp_path / METRICS).write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    result = {"steps": 20, "seconds": 3.0, "evaluations": [EVALUATION]}
    (tmp_path / RESULT).write_text(json.dumps(result))
    (tmp_path / POLICY).write_bytes(b"")
    return tmp_path


def test_the_card_is_one_that_hugging_face_reads(run: Path) -> None:
    from huggingface_hub import ModelCard

    assert write_report(run) == run / CARD
    card = ModelCard((run / CARD).read_text())
    assert card.data.library_name == "threeup-env"
    assert ENV in card.data.tags
    (result,) = card.data.eval_results
    assert (result.metric_type, result.metric_value, result.dataset_name) == ("win_rate", 0.6543, ENV)
    assert result.metric_name == "win rate against greedy, 2000 duplicate games, seed 1"


def test_the_card_tells_a_person_what_they_need(run: Path) -> None:
    write_report(run)
    text = (run / CARD).read_text()
    assert "| `greedy` | 65.43 | 63.00 to 68.00 | 2,000 | 1 | 12.3 | 4 |" in text
    assert f"![Curves of the run]({CURVES})" in text
    assert f"threeup evaluate --env {ENV} --agent {POLICY}" in text
    assert yaml.safe_load(text.split("```yaml\n")[1].split("```")[0]) == SETTINGS


def test_the_card_tells_lessons_from_rollouts(run: Path) -> None:
    text = (write_report(run)).read_text()
    assert f"# MaskablePPO for `{ENV}`" in text
    assert "MaskablePPO, 2 rollouts. Opponents by weight: `greedy` 0.5, `self` 0.5." in text
    lesson = {"steps": 5, "seconds": 1.0, "explained": 0.2, "explained_mean": 0.7, "steps_per_second": 9.0}
    for rows, title in (([lesson, *ROWS], "Lessons from search and MaskablePPO"), ([lesson], "Lessons from search")):
        (run / METRICS).write_text("".join(json.dumps(row) + "\n" for row in rows))
        text = write_report(run).read_text()
        assert f"# {title} for `{ENV}`" in text
        assert "Lessons, 1 of them: positions with what each action is worth against `greedy`. " in text
        assert ("2 rollouts" in text) == (len(rows) == 3)


def test_a_run_without_a_policy_file_has_no_use(run: Path) -> None:
    (run / POLICY).unlink()
    write_report(run)
    assert "## Use" not in (run / CARD).read_text()


def test_the_curves_are_a_picture(run: Path) -> None:
    write_report(run)
    assert (run / CURVES).read_bytes().startswith(PNG)


def test_a_run_that_goes_on_has_curves_and_no_card_yet(run: Path) -> None:
    (run / RESULT).unlink()
    assert write_report(run) == run / CURVES
    assert not (run / CARD).exists()


def test_nothing_is_looked_up(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on the network nor in modules that the settings name."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("no network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    (run / CONFIG).write_text(yaml.safe_dump(SETTINGS | {"opponents": {"no_such_module:agent": 1.0}}))
    assert write_report(run) == run / CARD


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (CONFIG, None, "holds no run: config.yaml: .*No such file"),
        (CONFIG, "- 1", r"config.yaml holds \[1\]; allowed: the settings of a run"),
        (CONFIG, "a: [", "holds no run: config.yaml"),
        (METRICS, None, "holds no run: metrics.jsonl: .*No such file"),
        (METRICS, "{", "holds no run: metrics.jsonl"),
        (METRICS, "", "metrics.jsonl is empty; allowed: a run that has done"),
    ],
)
def test_what_is_no_run_is_refused(run: Path, name: str, content: str | None, message: str) -> None:
    if content is None:
        (run / name).unlink()
    else:
        (run / name).write_text(content)
    with pytest.raises(InvalidConfigError, match=message):
        write_report(run)


def test_a_missing_package_is_named(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidConfigError, match=r"matplotlib is not installed; pip install 'threeup-env\[train\]'"):
        write_report(run)


def test_the_command(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(run)]) == 0
    assert capsys.readouterr().out == f"{run / CARD}\n"
    assert main([str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_training_ends_with_a_report(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    from tests.test_training import small
    from training.train import train

    train(small(steps=512), tmp_path, quiet=True)
    assert (tmp_path / CURVES).read_bytes().startswith(PNG)
    assert f"# MaskablePPO for `{ENV}`" in (tmp_path / CARD).read_text()
