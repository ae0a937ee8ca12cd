"""The solution of the mini game: the command that finds it, the file it writes, and `threeup exploit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from threeup_env.agents import load_policy, make_agent
from threeup_env.agents.policy import PolicyAgent
from threeup_env.cli import app
from threeup_env.exploitability import WrittenGame, strategy_of, write_out
from threeup_env.registration import rules_of
from threeup_env.solve import uniform
from training import nash

MINI = "ThreeUp/Mini-2p-v0"


@pytest.fixture(scope="module")
def mini() -> WrittenGame:
    return write_out(rules_of(MINI))


def test_the_command_writes_the_shipped_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same strategy, so that the file in the package is the one that this version would write."""
    out, curve = tmp_path / "nash.safetensors", tmp_path / "curve.json"
    assert nash.main(["--out", str(out), "--curve", str(curve)]) == 0
    assert "value of the first player from -1111/7560 to -1111/7560" in capsys.readouterr().out
    assert out.read_bytes() == nash.FILE.read_bytes()
    points = json.loads(curve.read_text())
    assert [point["iteration"] for point in points] == [1, 2, 5, 10, 20, 50, 100, 200, 500]
    for point in points:
        assert point["value_low"] <= -1111 / 7560 <= point["value_high"]
    gaps = [point["exploitability"] for point in points]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-5


def test_the_file_says_where_it_comes_from() -> None:
    agent = make_agent("nash-mini", rules_of(MINI))
    assert isinstance(agent, PolicyAgent)
    assert agent.temperature == 0
    assert agent.header.training["exploitability"] == 0
    assert agent.header.training["value_of_first_player"] == pytest.approx(-1111 / 7560)


def test_what_was_saved_is_what_is_played(tmp_path: Path, mini: WrittenGame) -> None:
    generator = np.random.default_rng(1)
    starts = mini.form.starts
    strategy = np.zeros(mini.form.num_entries)
    strategy[starts[:-1] + generator.integers(np.diff(starts))] = 1
    nash.save_strategy(tmp_path / "any.safetensors", mini, strategy, {})
    np.testing.assert_array_equal(strategy_of(load_policy(tmp_path / "any.safetensors"), mini), strategy)


def test_a_mixed_strategy_is_not_saved(tmp_path: Path, mini: WrittenGame) -> None:
    with pytest.raises(nash.InvalidPolicyError, match="mixes"):
        nash.save_strategy(tmp_path / "mixed.safetensors", mini, uniform(mini.form), {})
    assert not list(tmp_path.iterdir())


def test_too_few_iterations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "nash.safetensors"
    assert nash.main(["--out", str(out), "--iterations", "2"]) == 1
    assert "iterations: 2 leave an exploitability of" in capsys.readouterr().err
    assert not out.exists()
    with pytest.raises(SystemExit):
        nash.main(["--iterations", "0"])


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nash.main(["--out", str(tmp_path / "no" / "nash.safetensors"), "--iterations", "50"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def exploit(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["exploit", *arguments])


def test_threeup_exploit() -> None:
    result = exploit("--env", MINI, "--agent", "nash-mini", "--json")
    assert result.exit_code == 0
    figures = json.loads(result.stdout)
    assert (figures["env"], figures["agent"]) == (MINI, "nash-mini")
    assert (figures["exploitability"], figures["nash_conv"], figures["of_range"]) == (0, 0, 0)
    assert figures["value_as_first"] == figures["value_of_first_player"] == -figures["value_as_second"]
    assert figures["value_as_first"] == pytest.approx(-0.1470, abs=5e-5)


def test_threeup_exploit_prints_a_table() -> None:
    result = exploit("--env", MINI, "--agent", str(nash.FILE))
    assert result.exit_code == 0
    assert "exploitability" in result.stdout
    assert "-0.146958" in result.stdout


@pytest.mark.parametrize(
    ("env", "agent", "status", "message"),
    [
        ("ThreeUp/2p-v0", "random", 2, "python -m training.exploit"),
        ("ThreeUp/Match-3p-v0", "random", 2, "ThreeUp/Mini-2p-v0"),
        ("ThreeUp/Mini-3p-v0", "random", 2, "no environment ID"),
        (MINI, "nobody", 2, "allowed: 'random'"),
        (MINI, "missing.safetensors", 1, "cannot be read"),
    ],
)
def test_threeup_exploit_says_what_is_wrong(env: str, agent: str, status: int, message: str) -> None:
    result = exploit("--env", env, "--agent", agent)
    assert result.exit_code == status
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
