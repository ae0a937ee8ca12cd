"""`threeup bench`: that it measures and reports, never how fast anything is."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.test_cli import one_line, threeup
from threeup_env import Rules, SelfPlayBatch, bench, bench_report
from threeup_env.bench import CASES, PEERS, make_settings, measure, select_cases
from threeup_env.bench_report import Ratio, compare
from threeup_env.bench_timing import DECISIONS, Case, Result, Settings, clock, rates
from threeup_env.core.batch import random_games
from threeup_env.core.choose import choose_random_batch
from threeup_env.core.state import OVER, STATE
from threeup_env.errors import InvalidConfigError

QUICK = Settings(runs=2, threads=2, seconds=0.001, quick=True)
ROOT = Path(__file__).resolve().parent.parent


def nothing(case: str, runs: int) -> None:
    """A progress bar that is not drawn."""


def steady(settings: Settings) -> Iterator[float]:
    while True:
        yield 3.0


def missing(settings: Settings) -> Iterator[float]:
    import no_such_package  # type: ignore[import-not-found]

    yield no_such_package.speed


def broken(settings: Settings) -> Iterator[float]:
    yield 1.0
    raise AttributeError("another version")


def row(case: str, median: float | None) -> Result:
    values = () if median is None else (median,)
    return Result(case, "", DECISIONS, 1, values, median, median, median, None if median else "not installed: it")


# Cases


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_measures(case: Case) -> None:
    if case.name.startswith("training"):
        pytest.importorskip("sb3_contrib")
    (result,) = measure([case], QUICK, nothing)
    assert result.skipped is None
    assert len(result.values) == 2
    assert all(0 < value < float("inf") for value in result.values)
    assert result.threads == (2 if case.threads is None else 1)


@pytest.mark.parametrize("case", PEERS, ids=lambda case: case.name)
@pytest.mark.optional
def test_every_peer_that_is_installed_measures(case: Case) -> None:
    (result,) = measure([case], QUICK, nothing)
    if result.skipped is not None and result.skipped.startswith("not installed"):
        pytest.skip(result.skipped)
    assert result.skipped is None
    assert len(result.values) == 2


def test_names_are_unique_and_peers_are_compared_with_cases() -> None:
    names = [case.name for case in (*CASES, *PEERS)]
    assert len(set(names)) == len(names)
    ours = {case.name for case in CASES}
    assert all(case.nearest is None for case in CASES)
    assert all(case.nearest in ours for case in PEERS)


def test_every_case_is_documented() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [case.name for case in (*CASES, *PEERS) if f"`{case.name}`" not in page] == []


def test_selecting() -> None:
    assert select_cases([], peers=False) == list(CASES)
    assert select_cases([], peers=True) == [*CASES, *PEERS]
    # In the order of the table, and with what a peer is compared with.
    assert [case.name for case in select_cases(["rlcard-uno", "game-copy"], peers=False)] == [
        "selfplay-step-2p",
        "aec-raw",
        "game-copy",
        "rlcard-uno",
    ]
    with pytest.raises(InvalidConfigError, match="--case: 'nope' is no case; allowed: selfplay-2p, "):
        select_cases(["game-copy", "nope"], peers=False)


# Measuring


def test_a_run_lasts_as_long_as_asked() -> None:
    seconds = 0.0
    runs = []

    def run(times: int) -> tuple[float, float]:
        runs.append(times)
        return 5.0 * times, times * seconds

    seconds = 0.001
    values = rates(Settings(runs=2, threads=1, seconds=0.1), run)
    assert next(values) == pytest.approx(5000)
    assert next(values) == pytest.approx(5000)
    assert runs[0] == 1
    assert runs[-1] == runs[-2] >= 100


def test_a_clock_counts_what_was_done() -> None:
    done: list[int] = []
    amount, seconds = clock(done.append, 7)(3)
    assert done == [3]
    assert amount == 21
    assert seconds >= 0


def test_what_is_not_installed_is_skipped() -> None:
    told: list[tuple[str, int]] = []
    cases = [Case("gone", DECISIONS, "", missing, nearest="aec-raw"), Case("there", DECISIONS, "", steady)]
    gone, there = measure(cases, QUICK, lambda case, runs: told.append((case, runs)))
    assert (gone.values, gone.median, gone.skipped) == ((), None, "not installed: no_such_package")
    assert (there.values, there.median, there.low, there.high, there.skipped) == ((3.0, 3.0), 3.0, 3.0, 3.0, None)
    assert told == [("gone", 0), ("gone", 2), ("there", 0), ("there", 1), ("there", 2)]


def test_what_is_measured_before_ctrl_c_is_kept() -> None:
    def cut_off(settings: Settings) -> Iterator[float]:
        yield 1.0
        raise KeyboardInterrupt

    cases = [
        Case("whole", DECISIONS, "", steady),
        Case("cut", DECISIONS, "", cut_off),
        Case("never", DECISIONS, "", steady),
    ]
    whole, cut, never = measure(cases, QUICK, nothing)
    assert (whole.values, whole.skipped) == ((3.0, 3.0), None)
    assert (cut.values, cut.skipped) == (never.values, never.skipped) == ((), bench.INTERRUPTED)


def test_a_peer_that_fails_is_skipped_and_a_case_of_ours_is_not() -> None:
    (result,) = measure([Case("peer", DECISIONS, "", broken, nearest="aec-raw")], QUICK, nothing)
    assert (result.values, result.skipped) == ((), "AttributeError: another version")
    with pytest.raises(AttributeError, match="another version"):
        measure([Case("ours", DECISIONS, "", broken)], QUICK, nothing)


def test_training_is_skipped_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "training.speed", None)
    (case,) = select_cases(["training-2p-networks"], peers=False)
    (result,) = measure([case], QUICK, nothing)
    assert result.skipped == "not installed: training.speed"


def test_ratios() -> None:
    results = [row("aec-raw", 100.0), row("selfplay-step-2p", 400.0), row("rlcard-uno", 40.0)]
    (ratio,) = compare([*results, row("pgx-leduc", 5.0), row("aec-env", None)])
    assert ratio == Ratio("rlcard-uno", "aec-raw", 2.5, 10.0)


def test_settings() -> None:
    assert make_settings(3, 7, quick=False) == Settings(runs=3, threads=7)
    assert make_settings(3, None, quick=False).threads >= 1
    assert make_settings(3, 7, quick=True).seconds < Settings(runs=3, threads=7).seconds


# The command


def test_the_report_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("an older one")
    result = threeup("bench", "--quick", "--runs", 3, "--case", "game-copy", "--case", "memory-2p", "--out", path)
    assert result.exit_code == 0, result.output
    assert [child.name for child in tmp_path.iterdir()] == ["report.json"]
    report: dict[str, Any] = json.loads(path.read_text())
    assert report["format"] == "threeup-bench/1"
    assert set(report["machine"]) == {"cpu", "cores", "system", "load"}
    assert report["machine"]["cpu"]
    assert {"threeup-env", "python", "numpy", "numba", "gymnasium", "pettingzoo"} <= set(report["versions"])
    assert report["date"].endswith("+00:00")
    assert report["command"].startswith("threeup")
    assert report["settings"]["quick"] is True
    assert report["ratios"] == []
    assert [one["case"] for one in report["results"]] == ["game-copy", "memory-2p"]
    for one in report["results"]:
        assert len(one["values"]) == 3
        assert one["median"] == statistics.median(one["values"])
        assert one["low"] == min(one["values"]) <= max(one["values"]) == one["high"]
        assert one["threads"] == 1
        assert one["skipped"] is None
        assert one["measures"]
    assert report["results"][1]["median"] > STATE.itemsize
    assert "game-copy" in result.stdout
    assert "numba" in result.stdout


def test_peers_that_are_not_installed_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    peers = (
        Case("gone", DECISIONS, "", missing, nearest="memory-2p"),
        Case("there", DECISIONS, "", steady, nearest="memory-2p"),
    )
    for module in (bench, bench_report):
        monkeypatch.setattr(module, "PEERS", peers)
    path = tmp_path / "report.json"
    result = threeup("bench", "--quick", "--case", "memory-2p", "--peers", "--out", path)
    assert result.exit_code == 0, result.output
    report = json.loads(path.read_text())
    assert [one["case"] for one in report["results"]] == ["selfplay-step-2p", "memory-2p", "gone", "there"]
    assert [one["skipped"] for one in report["results"]] == [None, None, "not installed: no_such_package", None]
    batch, memory = (one["median"] for one in report["results"][:2])
    assert report["ratios"] == [
        {"peer": "there", "nearest": "memory-2p", "ratio": memory / 3, "batch_ratio": batch / 3}
    ]
    assert "our nearest case" in result.stdout


def test_an_unknown_case_is_an_error() -> None:
    result = threeup("bench", "--case", "nope")
    assert result.exit_code == 2
    assert "--case: 'nope' is no case; allowed: selfplay-2p, " in one_line(result)


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_file_that_cannot_be_written_is_an_error_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str
) -> None:
    if option == "--plot":
        pytest.importorskip("matplotlib")
    monkeypatch.setattr(bench, "measure", lambda *_: pytest.fail("measured"))
    path = tmp_path / "nowhere" / "report.svg"
    result = threeup("bench", "--case", "memory-2p", option, path)
    assert result.exit_code == 1
    assert str(path) in one_line(result)


def test_files_stay_as_they_were_when_measuring_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "CASES", (Case("broken", DECISIONS, "", broken),))
    path = tmp_path / "report.json"
    path.write_text("an older one")
    result = threeup("bench", "--quick", "--out", path)
    assert isinstance(result.exception, AttributeError)
    assert path.read_text() == "an older one"
    assert [child.name for child in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("options", [("--runs", "0"), ("--threads", "0"), ("--runs", "x")])
def test_options_out_of_range(options: tuple[str, ...]) -> None:
    result = threeup("bench", *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr


@pytest.mark.parametrize("names", [("memory-2p",), ("selfplay-2p", "selfplay-6p", "games-2p")])
def test_the_plot(tmp_path: Path, names: tuple[str, ...]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot.svg"
    options = [option for name in names for option in ("--case", name)]
    result = threeup("bench", "--quick", "--runs", 1, *options, "--plot", path)
    assert result.exit_code == 0, result.output
    text = path.read_text()
    assert "</svg>" in text
    assert [name for name in names if name in text] == [name for name in names if not name.startswith("memory")]


def test_a_plot_of_an_unknown_format_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = threeup("bench", "--plot", tmp_path / "plot.txt")
    assert result.exit_code == 2
    assert "--plot: 'plot.txt' is no picture; allowed: names that end in ." in one_line(result)


def test_a_plot_without_matplotlib_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench_report.importlib.util, "find_spec", lambda name: None)
    result = threeup("bench", "--plot", tmp_path / "plot.svg")
    assert result.exit_code == 2
    assert "--plot: matplotlib is not installed" in one_line(result)


# Compiled code that only the benchmark calls


def test_random_games_are_those_of_the_batch() -> None:
    batch = SelfPlayBatch(Rules.standard(3), 6, seed=1)
    states, choices = batch._states.copy(), batch._choices.copy()
    over = 0
    for _ in range(800):
        batch.random_steps(1)
        random_games(0, 6, 1, states, batch._switches, choices)
        np.testing.assert_array_equal(choices["rng"], batch._choices["rng"])
        np.testing.assert_array_equal(states["phase"] == OVER, batch.terminated)
        going_on = ~batch.terminated
        for field in STATE.names:
            np.testing.assert_array_equal(states[field][going_on], batch._states[field][going_on], err_msg=field)
        over += int(batch.terminated.sum())
    assert over >= 3


def test_random_games_are_the_same_in_longer_runs() -> None:
    batch = SelfPlayBatch(Rules.house(4), 5, seed=2)
    states, choices = batch._states.copy(), batch._choices.copy()
    random_games(0, 5, 300, states, batch._switches, choices)
    batch.random_steps(300)
    np.testing.assert_array_equal(choices["rng"], batch._choices["rng"])
    assert choices["rng"].any()


def test_draws_from_masks_are_uniform_and_legal() -> None:
    masks = np.zeros((4000, 9), np.int8)
    masks[1:, [0, 3, 8]] = 1
    actions = np.full(4000, -1, np.int64)
    rng = np.array([1, 2], np.uint64)
    for _ in range(20):  # the first draws of such a seed are not random yet
        choose_random_batch(masks, rng, actions)
    assert choose_random_batch(masks, rng, actions) == 3999
    assert actions[0] == 0
    counts = np.bincount(actions[1:], minlength=9)
    assert set(np.flatnonzero(counts)) == {0, 3, 8}
    # Five standard deviations of a share of a third.
    np.testing.assert_allclose(counts[[0, 3, 8]] / 3999, 1 / 3, atol=0.04)
