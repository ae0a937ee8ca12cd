"""Tournaments: balanced tables, the same outcome however it comes about, ratings that mean what they say."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("choix")
pytest.importorskip("threadpoolctl")

from tests.test_cli import one_line, threeup
from threeup_env import Rules
from threeup_env import tournament as module
from threeup_env.agents import GreedyAgent
from threeup_env.duplicate import seat_lineups
from threeup_env.errors import IllegalActionError, InvalidConfigError, UnknownAgentError, UnknownEnvError
from threeup_env.evaluate import evaluate
from threeup_env.registration import rules_of
from threeup_env.tournament import GAMES, Tournament, tournament
from threeup_env.tournament.ratings import ANCHOR, compare, rate
from threeup_env.tournament.standings import resample
from threeup_env.tournament.tables import all_tables, line_up

ROOT = Path(__file__).resolve().parent.parent
MINI = "ThreeUp/Mini-2p-v0"

pytestmark = pytest.mark.optional


class First:
    """Always the first legal action."""

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        return int(action_mask.argmax())


class Last:
    """Always the last legal action."""

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        return int(np.flatnonzero(action_mask)[-1])


def play(env: str = MINI, agents: Any = ("greedy", "random"), games: int = 40, **options: Any) -> Tournament:
    return tournament(env, agents, games, 3, **({"processes": 1} | options))


def win_rates(outcome: Tournament) -> dict[str, float]:
    return {one.agent: one.win_rate for one in outcome.standings}


# Who meets whom


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("agents", [2, 3, 4, 5, 6, 7])
def test_every_two_agents_meet_equally_often(agents: int, players: int) -> None:
    tables = all_tables(agents, players)
    assert len(set(tables)) == len(tables)
    seats: Counter[int] = Counter()
    meetings: Counter[tuple[int, int]] = Counter()
    for table in tables:
        assert len(table) == players
        counts = Counter({agent: table.count(agent) for agent in range(agents)})
        assert max(counts.values()) - min(counts.values()) <= 1
        seats.update(counts)
        meetings.update({(a, b): counts[a] * counts[b] for a, b in combinations(range(agents), 2)})
    assert len(set(seats.values())) == 1
    assert len(meetings) == agents * (agents - 1) // 2
    assert len(set(meetings.values())) == 1
    assert set(meetings.values()) != {0}


def test_for_two_players_every_pairing_is_a_table() -> None:
    assert all_tables(4, 2) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(("players", "orders"), [(2, 1), (3, 2), (4, 6), (5, 24)])
def test_each_side_holds_every_seat_and_follows_every_other(players: int, orders: int) -> None:
    seated = seat_lineups(line_up(0, orders, players))
    assert seated.shape == (orders * players, players)
    for group in range(orders):
        rotations = seated[group * players : (group + 1) * players]
        assert all(sorted(column) == list(range(players)) for column in rotations.T)
    followers = Counter((game[seat], game[(seat + 1) % players]) for game in seated for seat in range(players))
    assert len(followers) == players * (players - 1)
    assert len(set(followers.values())) == 1


def test_line_ups_hang_on_the_number_of_the_group_alone() -> None:
    whole = line_up(0, 40, 4)
    np.testing.assert_array_equal(np.concatenate([line_up(0, 7, 4), line_up(7, 33, 4)]), whole)


# Playing


def test_a_pairing_is_the_evaluation_of_its_agents() -> None:
    outcome = play("ThreeUp/2p-v0", ["greedy", "random", "ppo-2p"], 300, chunk=64)
    for table in outcome.tables:
        agent, opponent = table["agents"]
        assert table["win_rates"][0] == pytest.approx(evaluate("ThreeUp/2p-v0", agent, opponent, 300, 3).win_rate)
    assert outcome.cross_table[0][1] == pytest.approx(evaluate("ThreeUp/2p-v0", "greedy", "random", 300, 3).win_rate)


@pytest.mark.parametrize("env", ["ThreeUp/3p-v0", "ThreeUp/House-4p-v0", "ThreeUp/Match-2p-v0"])
def test_the_figures_agree_with_each_other(env: str) -> None:
    players = rules_of(env).num_players
    outcome = play(env, {"a": "greedy", "b": "random", "c": "greedy"}, 10 * players)
    assert outcome.games == 10 * players
    assert outcome.fair_rate == 1 / players
    for table in outcome.tables:
        assert sum(table["win_rates"]) == pytest.approx(1)
    assert sum(one.games for one in outcome.standings) == len(outcome.tables) * outcome.games * players
    won = sum(one.games * one.win_rate for one in outcome.standings)
    assert won == pytest.approx(len(outcome.tables) * outcome.games)
    for one in outcome.standings:
        assert one.ci_low <= one.win_rate <= one.ci_high
        assert one.rating_low <= one.rating <= one.rating_high
        assert one.mean_place is not None
        assert 1 <= one.mean_place <= players
    for row in range(3):
        assert outcome.cross_table[row][row] is None
        for column in range(row):
            low, rate = outcome.cross_low[row][column], outcome.cross_table[row][column]
            other, high = outcome.cross_table[column][row], outcome.cross_high[row][column]
            assert None not in (low, rate, other, high)
            assert low <= rate <= high  # type: ignore[operator]
            assert rate + other == pytest.approx(1)  # type: ignore[operator]
    assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()


def test_equal_agents_share_all_tables_equally() -> None:
    """Greedy draws no lots: in duplicate, three of it win a third each, to the last game."""
    outcome = play("ThreeUp/3p-v0", {"a": "greedy", "b": "greedy", "c": "greedy"}, 60)
    assert win_rates(outcome) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert [one.rating for one in outcome.standings] == pytest.approx([ANCHOR] * 3)
    assert all(one.rating_high - one.rating_low < 1e-6 for one in outcome.standings)


@pytest.mark.parametrize("env", [MINI, "ThreeUp/House-3p-v0"])
def test_neither_processes_nor_batches_change_the_outcome(env: str) -> None:
    agents = {"greedy": "greedy", "random": "random", "first": First(), "last": "tests.test_tournament:make_last"}
    outcome = play(env, agents, 60, chunk=20)
    assert play(env, agents, 60, chunk=20, processes=2) == outcome
    assert play(env, agents, 60, chunk=1000) == outcome
    assert tournament(env, agents, 60, 4, processes=1) != outcome


def make_last(rules: Rules, seed: int | None) -> Last:
    return Last()


def test_an_object_starts_every_chunk_as_it_was_given() -> None:
    class Counting(First):
        calls = 0

        def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
            self.calls += 1
            assert self.calls < 4000
            return super().act(observation, action_mask)

    agent = Counting()
    assert win_rates(play(MINI, [agent, "random"], 2_000, chunk=50)).keys() == {"Counting", "random"}
    assert agent.calls == 0


def test_an_illegal_action_ends_it_and_keeps_what_was_played(tmp_path: Path) -> None:
    class Cheat(First):
        def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
            return -1

    with pytest.raises(IllegalActionError, match="chose action -1"):
        play(agents={"greedy": "greedy", "random": "random", "cheat": Cheat()}, folder=tmp_path)
    assert len((tmp_path / GAMES).read_text().splitlines()) == 2


# Going on


def test_a_tournament_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = ["greedy", "random"]
    whole = play(agents=agents, games=100, chunk=10, folder=tmp_path / "whole")
    log = (tmp_path / "whole" / GAMES).read_bytes()
    lines = log.splitlines(keepends=True)
    assert len(lines) == 11
    for kept in (b"", lines[0][:9], lines[0], b"".join(lines[:4]), b"".join(lines[:4]) + lines[4][:-1], log):
        folder = tmp_path / str(len(kept))
        folder.mkdir()
        (folder / GAMES).write_bytes(kept)
        assert play(agents=agents, games=100, chunk=10, folder=folder) == whole
        assert (folder / GAMES).read_bytes() == log

    def play_none(jobs: dict[Any, Any], processes: int) -> Any:
        assert not jobs
        return iter(())

    monkeypatch.setattr(module, "play_jobs", play_none)
    assert play(agents=agents, games=100, chunk=10, folder=tmp_path / "whole") == whole


def test_a_command_that_was_killed_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ["--env", "ThreeUp/2p-v0", "--agents", "random,also=random", "--games", "10000", "--chunk", "200"]
    command = [sys.executable, "-m", "threeup_env.cli", "tournament", *options, "--processes", "2", "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        log = out / GAMES
        while process.poll() is None and (not log.exists() or len(log.read_bytes().splitlines()) < 4):
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = log.read_bytes().splitlines(keepends=True)
    assert 4 <= len(done) < 51
    again = threeup("tournament", *options, "--processes", "1", "--out", out, "--json")
    assert again.exit_code == 0
    assert log.read_bytes().startswith(b"".join(done[:-1]))
    whole = tournament("ThreeUp/2p-v0", {"random": "random", "also": "random"}, 10_000, 0, processes=1, chunk=200)
    assert json.loads(again.stdout) == whole.to_dict()


def test_changed_settings_are_named(tmp_path: Path) -> None:
    policy = tmp_path / "p.safetensors"
    shipped = Path(module.__file__).parent.parent / "agents" / "ppo-2p.safetensors"
    policy.write_bytes(shipped.read_bytes())
    agents = {"greedy": "greedy", "policy": str(policy)}
    folder = tmp_path / "run"
    env = "ThreeUp/2p-v0"
    tournament(env, agents, 8, processes=1, folder=folder)
    before = (folder / GAMES).read_bytes()
    for message, arguments, options in (
        ("env: 'ThreeUp/Mini-2p-v0', but .* has 'ThreeUp/2p-v0'", (MINI, ["greedy", "random"], 8), {}),
        ("agents: .*'random'.*, but .* has .*'greedy'", (env, ["greedy", "random"], 8), {}),
        ("games: 10, but the tournament in .* has 8; allowed: its settings", (env, agents, 10), {}),
        ("seed: 5, but .* has 0", (env, agents, 8, 5), {}),
        ("chunk: 4, but .* has 512", (env, agents, 8), {"chunk": 4}),
    ):
        with pytest.raises(InvalidConfigError, match=message):
            tournament(*arguments, processes=1, folder=folder, **options)  # type: ignore[arg-type]
    content = bytearray(policy.read_bytes())
    content[-1] ^= 1
    policy.write_bytes(content)
    with pytest.raises(InvalidConfigError, match=r"agents: .*sha256"):
        tournament(env, agents, 8, processes=1, folder=folder)
    assert (folder / GAMES).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello\n", "line 1 is not JSON"),
        (b"[]\n", r"line 1 holds \[\]; allowed: a JSON object"),
        (b"{}\n", "format: 'threeup-tournament/1', but .* has None"),
        (None, "line 2 is no chunk of games"),
    ],
)
def test_a_log_that_is_none_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    play(folder=tmp_path)
    log = tmp_path / GAMES
    damaged = log.read_bytes().splitlines(keepends=True)[0] + b'{"table": 0}\n' if content is None else content
    log.write_bytes(damaged)
    with pytest.raises(InvalidConfigError, match=message):
        play(folder=tmp_path)
    assert log.read_bytes() == damaged


# Ratings


def simulate(tables: list[tuple[int, ...]], strengths: npt.NDArray[np.float64], games: int) -> npt.NDArray[np.float64]:
    """First places by table and side where agents win in proportion to their strengths."""
    generator = np.random.default_rng(1)
    odds = np.exp(strengths[np.array(tables)])
    return np.array([generator.multinomial(games, row / row.sum()) for row in odds], np.float64)


@pytest.mark.parametrize(("agents", "players"), [(2, 2), (5, 2), (4, 3), (6, 4), (3, 5), (2, 6)])
def test_ratings_are_those_that_games_were_drawn_by(agents: int, players: int) -> None:
    """Elo's scale: 400 points are odds of ten to one, at tables of any size."""
    strengths = np.linspace(0, 1.5, agents)
    tables = all_tables(agents, players)
    ratings = rate(compare(tables, simulate(tables, strengths, 400_000), agents), 0)
    expected = 1000 + 400 / np.log(10) * strengths
    np.testing.assert_allclose(ratings, expected, atol=6)
    centred = rate(compare(tables, simulate(tables, strengths, 400_000), agents), None)
    assert centred.mean() == pytest.approx(1000)
    np.testing.assert_allclose(np.diff(centred), np.diff(ratings), atol=1e-4)


def test_who_wins_always_has_a_rating_all_the_same() -> None:
    ratings = rate(np.array([[0.0, 1000.0], [0.0, 0.0]]), 1)
    assert ratings[1] == 1000
    assert ratings[0] == pytest.approx(1000 + 400 * np.log10(2001))


def test_the_anchor_is_greedy_or_whom_one_names() -> None:
    for agents, anchor, expected in (
        (["random", "greedy"], None, "greedy"),
        (["random", "greedy"], "random", "random"),
        ({"a": "random", "b": "random"}, None, None),
    ):
        outcome = play(agents=agents, anchor=anchor)
        assert outcome.anchor == expected
        ratings = {one.agent: one for one in outcome.standings}
        if expected is None:
            assert sum(one.rating for one in outcome.standings) == pytest.approx(2000)
        else:
            fixed = ratings[expected]
            assert fixed.rating == fixed.rating_low == fixed.rating_high == 1000


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """First places drawn with a known rate: the interval of the bootstrap covers it."""
    generator = np.random.default_rng(5)
    held = 0
    for seed in range(200):
        shares = generator.multinomial(1, (0.3, 0.7), (1, 150)).astype(np.float64)
        low, high = np.percentile(resample(shares, seed)[:, 0, 0] / 150, (2.5, 97.5))
        held += bool(low <= 0.3 <= high)
    assert 180 <= held <= 199


def test_the_bootstrap_draws_the_same_deals_at_all_tables() -> None:
    shares = np.random.default_rng(2).random((1, 50, 2))
    drawn = resample(np.concatenate([shares, 2 * shares]), 1)
    np.testing.assert_allclose(drawn[:, 1], 2 * drawn[:, 0])


# Errors and the command


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("ThreeUp/9p-v0", ["greedy", "random"]), UnknownEnvError, "ThreeUp/9p-v0"),
        ((MINI, ["greedy"]), InvalidConfigError, "greedy cannot play alone; allowed: at least two"),
        ((MINI, []), InvalidConfigError, "nobody cannot play alone"),
        ((MINI, ["greedy", "random", "greedy"]), InvalidConfigError, "greedy stands there twice"),
        ((MINI, ["greedy", "gredy"]), UnknownAgentError, "'gredy' is unknown"),
        ((MINI, [GreedyAgent(Rules.standard(3)), "random"]), UnknownAgentError, "made for these rules"),
        ((MINI, ["greedy", "random"], 0), InvalidConfigError, "games: 0 is wrong"),
        ((MINI, ["greedy", "random"], 10, -1), InvalidConfigError, "seed: -1 is wrong"),
        ((MINI, ["greedy", "random"], 10, 0, "processes", 0), InvalidConfigError, "processes: 0 is wrong"),
        ((MINI, ["greedy", "random"], 10, 0, "chunk", 0), InvalidConfigError, "chunk: 0 is wrong"),
        (
            (MINI, ["greedy", "random"], 10, 0, "anchor", "me"),
            InvalidConfigError,
            "'me' does not take part; allowed: g",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    options = dict([arguments[4:]]) if arguments[4:] else {}
    with pytest.raises(error, match=message):
        tournament(*arguments[:4], **options)


def test_an_agent_that_cannot_leave_the_process_is_refused() -> None:
    class Local(First):
        pass

    with pytest.raises(InvalidConfigError, match=r"cannot be sent to another process: .*; allowed: module:factory"):
        play(agents=[Local(), "random"], games=100, chunk=10, processes=2)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidConfigError, match=r"choix is not installed; pip install 'threeup-env\[tournament\]'"):
        play()


def test_the_command_prints_standings_and_a_cross_table() -> None:
    result = threeup("tournament", "--env", MINI, "--agents", "me=greedy,random", "--games", 20, "--anchor", "random")
    assert result.exit_code == 0
    assert "20 games a table; random is 1000; a fair win rate is 50.0%" in result.stdout
    assert "% won by the row rather than the column" in result.stdout
    assert "│ me " in result.stdout


def test_the_command_writes_a_folder(tmp_path: Path) -> None:
    options = ("tournament", "--env", MINI, "--agents", "greedy,random", "--games", 20, "--out", tmp_path)
    assert threeup(*options).exit_code == 0
    outcome = tournament(MINI, ["greedy", "random"], 20, processes=1)
    assert json.loads((tmp_path / "result.json").read_text()) == outcome.to_dict()
    pytest.importorskip("matplotlib")
    picture = (tmp_path / "plot.svg").read_bytes()
    assert b"greedy" in picture
    assert threeup(*options).exit_code == 0
    assert (tmp_path / "plot.svg").read_bytes() == picture


def test_the_agent_of_the_documentation_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
    code = page.split("```python\n# lowest.py\n")[1].split("```")[0]
    (tmp_path / "lowest.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        lowest = {"a": "lowest:make", "b": "greedy"}
        first = {"a": First(), "b": "greedy"}
        assert play(agents=lowest) == play(agents=first)
    finally:
        del sys.modules["lowest"]


def test_the_command_refuses_two_of_one_name() -> None:
    result = threeup("tournament", "--env", MINI, "--agents", "greedy,a=random,a=greedy")
    assert result.exit_code == 2
    assert "'a' stands there twice; allowed: different names, as in NAME=AGENT" in one_line(result)
