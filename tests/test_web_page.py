"""`threeup replay --html` and `threeup serve`, as commands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from threeup_env import Rules
from threeup_env.agents import SHIPPED_POLICIES
from threeup_env.cli import app
from threeup_env.record import read_records
from threeup_env.web.frames import replay_frames
from threeup_env.web.page import write_page

from .test_web import a_game

EMBEDDED = re.compile(r'<script type="application/json" id="embedded">(.*?)</script>', re.DOTALL)


def threeup(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.jsonl"
    assert threeup("record", "--env", "ThreeUp/2p-v0", "--agents", "greedy", "--games", 2, "--out", path).exit_code == 0
    return path


def embedded(page: str) -> Any:
    found = EMBEDDED.findall(page)
    assert len(found) == 1
    return json.loads(found[0])


def test_a_page_holds_the_games(games: Path, tmp_path: Path) -> None:
    policy = next(iter(SHIPPED_POLICIES))
    result = threeup("replay", games, "--html", tmp_path / "out.html", "--policy", policy)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out.html").read_text("utf-8")
    held = embedded(page)["games"]
    for number, record in enumerate(read_records(games)):
        expected = json.loads(json.dumps(replay_frames(record, number)))
        assert held[number]["policy"] == policy
        assert [frame["table"] for frame in held[number]["frames"]] == [frame["table"] for frame in expected["frames"]]
        assert all("advice" in frame for frame in held[number]["frames"][:-1])


def test_a_page_needs_nothing_else(games: Path, tmp_path: Path) -> None:
    assert threeup("replay", games, "--html", tmp_path / "out.html").exit_code == 0
    page = (tmp_path / "out.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.(?!data:)", page)
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)


def test_no_name_ends_the_script() -> None:
    names = ["</script><script>alert(1)</script>", "<!--"]
    page = write_page([replay_frames(a_game(Rules.mini(2), 1).record(names))])
    assert page.count("<script") == 2
    assert embedded(page)["games"][0]["players"] == names


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--policy", "ppo-2p"), 2, "--policy: only a page shows"),
        (("--html", "{out}", "--policy", "greedy"), 2, "'greedy' tells no probabilities"),
        (("--html", "{out}", "--policy", "nobody"), 2, "agent 'nobody' is unknown"),
        (("--html", "{out}/no/such"), 1, "No such file or directory"),
    ],
)
def test_wrong_options(games: Path, tmp_path: Path, more: tuple[str, ...], code: int, message: str) -> None:
    out = tmp_path / "out.html"
    result = threeup("replay", games, *(option.format(out=out) for option in more))
    assert result.exit_code == code
    assert message in result.stderr
    assert not out.exists()


def test_broken_records_write_no_page(games: Path, tmp_path: Path) -> None:
    text = games.read_text().replace('"up ', '"play ', 1)
    games.write_text(text)
    result = threeup("replay", games, "--html", tmp_path / "out.html")
    assert result.exit_code == 1
    assert "is illegal" in result.stderr
    games.write_text("")
    result = threeup("replay", games, "--html", tmp_path / "out.html")
    assert result.exit_code == 1
    assert "no record" in result.stderr
    assert not (tmp_path / "out.html").exists()


# serve


def test_serve_names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.delitem(sys.modules, "threeup_env.web.app", raising=False)
    monkeypatch.delattr("threeup_env.web.app", raising=False)
    result = threeup("serve", "--port", 0)
    assert result.exit_code == 1
    assert "pip install 'threeup-env[serve]'" in result.stderr


def test_serve_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    assert threeup("serve", "--agent", tmp_path / "none.safetensors").exit_code == 1
    assert threeup("serve", "--port", 99999).exit_code == 2
    assert threeup("serve", "--host", "999.1.1.1", "--port", 0).exit_code == 1


def test_serve_serves_until_interrupted() -> None:
    pytest.importorskip("starlette")
    command = [sys.executable, "-m", "threeup_env.cli", "serve", "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.findall(r"http://127\.0\.0\.1:\d+/", line)
        assert len(address) == 1, line
        with urllib.request.urlopen(address[0]) as answer:
            assert b"3UP 3DOWN" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)


def test_the_package_loads_no_web_framework() -> None:
    code = "import sys, threeup_env, threeup_env.cli; print({'starlette', 'uvicorn'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "set()"
