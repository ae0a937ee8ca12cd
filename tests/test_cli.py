"""The command `threeup`, in this process and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from threeup_env import Game, GameRecord, Rules, __version__
from threeup_env.cli import app
from threeup_env.observation import observation_layout
from threeup_env.record import read_records, write_records
from threeup_env.registration import ENV_RULES

DUEL = "ThreeUp/2p-v0"


def threeup(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def record(out: Path, env: str = DUEL, agents: str = "greedy,random", games: int = 3, *more: object) -> Result:
    return threeup("record", "--env", env, "--agents", agents, "--games", games, "--out", out, *more)


def one_line(result: Result) -> str:
    """The message of a command that failed: one line on the error stream, and no traceback."""
    assert isinstance(result.exception, SystemExit)
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.jsonl"
    assert record(path, DUEL, "greedy,random", 3, "--seed", 4).exit_code == 0
    return path


# record


@pytest.mark.parametrize("env", ["ThreeUp/House-3p-v0", "ThreeUp/Match-2p-v0", "ThreeUp/Mini-2p-v0"])
def test_record_writes_games_that_replay(tmp_path: Path, env: str) -> None:
    path = tmp_path / "games.jsonl.gz"
    agents = ",".join(["greedy", "random", "random"][: ENV_RULES[env].num_players])
    assert record(path, env, agents, 3).exit_code == 0
    records = list(read_records(path))
    assert [r.rules for r in records] == [ENV_RULES[env]] * 3
    assert all(r.players == tuple(agents.split(",")) and r.result is not None for r in records)
    assert threeup("replay", path).exit_code == 0


def test_a_longer_run_begins_with_a_shorter_one(tmp_path: Path) -> None:
    texts = []
    for name, count, seed in (("a", 2, 7), ("b", 4, 7), ("c", 2, 8)):
        assert record(tmp_path / name, DUEL, "random,random", count, "--seed", seed).exit_code == 0
        texts.append((tmp_path / name).read_text())
    assert texts[1].startswith(texts[0])
    assert not texts[1].startswith(texts[2])


def test_games_are_seeded_by_spawned_sequences(games: Path) -> None:
    for child, written in zip(np.random.SeedSequence(4).spawn(3), read_records(games), strict=True):
        assert Game(Rules.standard(2), child).record().deals[0].deck == written.deals[0].deck


def test_one_agent_holds_all_seats(tmp_path: Path) -> None:
    assert record(tmp_path / "g", "ThreeUp/3p-v0", "random", 1).exit_code == 0
    assert next(read_records(tmp_path / "g")).players == ("random",) * 3


def test_rules_override_switches(tmp_path: Path) -> None:
    switches = '{"max_decisions": 20, "at_limit": "truncate"}'
    assert record(tmp_path / "g", "ThreeUp/Geeky-2p-v0", "random", 1, "--rules", switches).exit_code == 0
    written = next(read_records(tmp_path / "g"))
    assert written.rules == Rules.geeky(2, max_decisions=20, at_limit="truncate")
    assert written.result is not None
    assert written.result.ended == "truncated"


@pytest.mark.parametrize(
    ("env", "agents", "more", "message"),
    [
        ("ThreeUp/9p-v0", "random", (), "'ThreeUp/9p-v0' is no environment ID"),
        (DUEL, "nobody", (), "agent 'nobody' is unknown"),
        (DUEL, "random,random,random", (), "'random,random,random' names 3 agents; allowed: 2"),
        (DUEL, "random", ("--rules", "{"), "--rules: '{' is not JSON"),
        (DUEL, "random", ("--rules", "[]"), r"--rules: '[]' is wrong; allowed: a JSON object"),
        (DUEL, "random", ("--rules", '{"nope": 1}'), "'nope' (here 1) is no switch; allowed: num_players"),
        (DUEL, "random", ("--rules", '{"hand_size": 0}'), "hand_size: 0 is wrong; allowed: an integer from 1 to 6"),
    ],
)
def test_wrong_options(tmp_path: Path, env: str, agents: str, more: tuple[str, ...], message: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("as it was")
    result = record(path, env, agents, 1, *more)
    assert result.exit_code == 2
    assert message in one_line(result)
    assert path.read_text() == "as it was"
    assert [child.name for child in tmp_path.iterdir()] == ["games.jsonl"]


@pytest.mark.parametrize("options", [("--games", "0"), ("--games", "x"), ("--seed", "-1"), ("--nope",)])
def test_options_out_of_range(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = record(tmp_path / "g", DUEL, "random", 1, *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr
    assert isinstance(result.exception, SystemExit)
    assert not (tmp_path / "g").exists()


def test_an_unwritable_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "games.jsonl"):
        result = record(path, DUEL, "random", 1)
        assert result.exit_code == 1
        assert str(path) in one_line(result)


# replay


def test_replay_json_prints_each_decision_and_the_result(games: Path) -> None:
    result = threeup("replay", games, "--json")
    assert result.exit_code == 0
    expected = [step.to_dict() for number, r in enumerate(read_records(games)) for step in r.replay(number)]
    assert [json.loads(line) for line in result.stdout.splitlines()] == expected


def test_replay_prints_games_to_read(games: Path) -> None:
    result = threeup("replay", games)
    assert result.exit_code == 0
    decisions = sum(len(r.deals[0].actions) for r in read_records(games))
    assert "game 0 (greedy, random), rules {" in result.stdout
    assert "    0  player " in result.stdout
    assert "result of game 2: out; places " in result.stdout
    assert result.stdout.splitlines()[-1] == f"3 games, {decisions} decisions; all follow the rules"


def test_replay_of_a_match_names_its_deals(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert record(path, "ThreeUp/Match-2p-v0", "random", 1, "--rules", '{"pile_swaps": 1}').exit_code == 0
    lines = threeup("replay", path).stdout.splitlines()
    first = next(read_records(path)).deals[0].first_player
    deals = [line for line in lines if line.startswith("deal ") and "begins" in line]
    assert [line.split(" begins; swaps ")[0] for line in deals] == [
        f"deal {deal}: player {(first + deal) % 2}" for deal in range(3)
    ]


def spoil(path: Path, number: int, **changes: Any) -> list[GameRecord]:
    """Change keys of one record of a file."""
    records = list(read_records(path))
    values = [r.to_dict() for r in records]
    values[number] |= changes
    path.write_text("".join(json.dumps(v) + "\n" for v in values))
    return records


def test_replay_stops_at_the_first_wrong_decision(games: Path) -> None:
    deal = list(read_records(games))[1].to_dict()["deals"][0]
    deal["actions"][9] = "play 3x7"
    records = spoil(games, 1, deals=[deal])
    result = threeup("replay", games, "--json")
    assert result.exit_code == 1
    message = one_line(result)
    assert "game 1, deal 0, decision 9: action 'play 3x7' is illegal for player " in message
    assert "; legal: " in message
    assert len(result.stdout.splitlines()) == len(records[0].deals[0].actions) + 1 + 9


def test_replay_names_another_result_after_its_line(games: Path) -> None:
    records = spoil(games, 0, result={"places": [1, 1], "scores": [0, 0], "ended": "out"})
    result = threeup("replay", games, "--json")
    assert result.exit_code == 1
    assert "game 0: result: " in one_line(result)
    assert records[0].result is not None
    assert json.loads(result.stdout.splitlines()[-1]) == {"game": 0, "result": records[0].result.to_dict()}


def test_replay_of_what_is_no_record(games: Path, tmp_path: Path) -> None:
    spoil(games, 2, format="x")
    result = threeup("replay", games)
    assert result.exit_code == 1
    assert "games.jsonl line 3 (game 2): format: 'x' is unknown; allowed: 'threeup-record/1'" in one_line(result)
    for path in (tmp_path, tmp_path / "none"):
        result = threeup("replay", path)
        assert result.exit_code == 1
        assert str(path) in one_line(result)


def test_wrong_rules_in_a_file_are_no_wrong_option(games: Path) -> None:
    spoil(games, 0, rules={"num_players": 2, "nope": 1})
    result = threeup("replay", games)
    assert result.exit_code == 1
    assert "line 1 (game 0): rules: 'nope' (here 1) is no switch" in one_line(result)


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    game = Game(Rules.mini(2), seed=1)
    game.play(game.legal_actions[0])
    write_records(path, [game.record(["\x1b[2J", "\ud800"])])
    result = threeup("replay", path)
    assert result.exit_code == 0
    assert r"game 0 ('\x1b[2J', '\ud800'), rules" in result.stdout
    assert "\x1b" not in result.stdout


# evaluate, envs, rules


def test_evaluate() -> None:
    options = ("evaluate", "--env", "ThreeUp/Mini-2p-v0", "--agent", "greedy", "--opponent", "random", "--games", 20)
    result = threeup(*options, "--seed", 3, "--json")
    assert result.exit_code == 0
    figures = json.loads(result.stdout)
    keys = "env agent opponent games seed win_rate ci_low ci_high mean_place mean_score limit_games"
    assert " ".join(figures) == f"{keys} decisions_per_game decisions_per_second"
    assert "win_rate" in threeup(*options).stdout
    wrong = threeup("evaluate", "--env", DUEL, "--agent", "nobody", "--games", 2)
    assert wrong.exit_code == 2
    assert "agent 'nobody' is unknown" in one_line(wrong)


def test_envs() -> None:
    result = threeup("envs", "--json")
    assert result.exit_code == 0
    envs = json.loads(result.stdout)
    assert [env["id"] for env in envs] == list(ENV_RULES)
    for env in envs:
        rules = Rules.from_dict(env["rules"])
        assert rules == ENV_RULES[env["id"]]
        assert env["num_actions"] == rules.num_actions
        assert env["observation_size"] == observation_layout(rules).size
    table = threeup("envs").stdout
    assert all(env in table for env in ENV_RULES)


@pytest.mark.parametrize("preset", ["standard", "gamerules", "geeky", "house", "match", "mini"])
def test_rules(preset: str) -> None:
    result = threeup("rules", preset, "--players", 3, "--json")
    assert result.exit_code == 0
    rules = getattr(Rules, preset)(3)
    assert json.loads(result.stdout) == rules.to_dict(defaults=True)
    table = threeup("rules", preset, "--players", 3).stdout
    assert all(switch in table for switch in rules.to_dict(defaults=True))


def test_rules_by_default_and_wrong() -> None:
    assert json.loads(threeup("rules", "--json").stdout) == Rules.standard(2).to_dict(defaults=True)
    assert threeup("rules", "nope").exit_code == 2
    result = threeup("rules", "--players", 7)
    assert result.exit_code == 2
    assert "num_players: 7 is wrong; allowed: an integer from 2 to 6" in one_line(result)


def test_version() -> None:
    assert threeup("--version").stdout == f"{__version__}\n"


# As a process.


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "threeup_env.cli", *map(str, arguments)]
    root = Path(__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=240)


def test_as_a_process(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    written = run("record", "--env", DUEL, "--agents", "greedy,random", "--games", 2, "--seed", 1, "--out", path)
    assert (written.returncode, written.stderr) == (0, "")
    played = run("replay", path, "--json")
    assert (played.returncode, played.stderr) == (0, "")
    assert json.loads(played.stdout.splitlines()[-1])["game"] == 1
    path.write_text(path.read_text()[:-30])
    failed = run("replay", path, "--json")
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: ")
    assert "line 2 (game 1)" in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_reader_that_stops_early_is_no_error(games: Path) -> None:
    command = [sys.executable, "-m", "threeup_env.cli", "replay", str(games), "--json"]
    root = Path(__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": str(root)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
