"""`threeup play`: the game behind it, what people are shown and asked, and the command at a real pseudo-terminal."""

from __future__ import annotations

import io
import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from threeup_env import GameRecord, IllegalActionError, Rules
from threeup_env.cli import app
from threeup_env.errors import InvalidConfigError, InvalidRecordError, UnknownAgentError
from threeup_env.play import (
    HUMAN,
    GameFile,
    PlayedGame,
    Sitting,
    read_action,
    seat_players,
    stream_ask,
)
from threeup_env.record import End, read_records
from threeup_env.registration import ENV_RULES

DUEL = Rules.standard(2)


def play_on(played: PlayedGame, decisions: int = 10_000, seed: int = 1) -> PlayedGame:
    """Agents play, and people at random."""
    rng = random.Random(seed)
    for _ in range(decisions):
        if played.game.player is None:
            break
        action: int | str = rng.choice(played.game.legal_actions) if played.human_decides else played.agent_action()
        played.play(action)
    return played


def sit(played: PlayedGame, path: Path, lines: Iterable[str], width: int = 200) -> tuple[bool, str]:
    """A sitting in which a person says `lines`; whether the game is over, and what was shown."""
    file = GameFile(path)
    file.begin(played)
    shown = io.StringIO()
    console = Console(file=shown, width=width, highlight=False)
    over = Sitting(played, file, console, stream_ask(console, lines)).play()
    return over, shown.getvalue()


def forever(line: str) -> Iterable[str]:
    while True:
        yield line


# The game


def test_the_deal_and_the_agents_are_those_of_threeup_record(tmp_path: Path) -> None:
    """The same seed, agents and decisions give the first game of `threeup record`."""
    out = tmp_path / "games.jsonl"
    threeup(
        "record", "--env", "ThreeUp/3p-v0", "--agents", "random,greedy,random", "--games", 1, "--seed", 9, "--out", out
    )
    recorded = next(read_records(out))
    played = PlayedGame(Rules.standard(3), [HUMAN, "greedy", "random"], 9)
    actions = iter(recorded.deals[0].actions)
    while played.game.player is not None:
        action = next(actions)
        if not played.human_decides:
            assert ask_agent_of(played) == action
        played.play(action)
    assert played.game.record().deals == recorded.deals


def ask_agent_of(played: PlayedGame) -> str:
    from threeup_env.actions import ACTIONS

    return ACTIONS[played.agent_action()]


@pytest.mark.parametrize("rules", [DUEL, Rules.house(4), Rules.match(3), Rules.mini(2)], ids=str)
def test_a_saved_game_goes_on_exactly(rules: Rules) -> None:
    """Draws of agents included, wherever it is cut, however often."""
    players = [HUMAN, *["random", "greedy", "random"][: rules.num_players - 1]]
    whole = play_on(PlayedGame(rules, players, 5))
    for cut in (0, 1, 9, 30, whole.num_decisions - 1):
        first = PlayedGame(rules, players, 5)
        rng = random.Random(1)
        parts = 0
        while first.game.player is not None:
            if first.num_decisions == cut or rng.random() < 0.01:
                again = PlayedGame.from_json(first.to_json())
                parts += 1
                assert again.changed == 0
                if first.num_decisions == cut:
                    cut = -1
                assert again.to_json() == first.to_json()
                first = again
            record = whole.game.record()
            action = [one for deal in record.deals for one in deal.actions][first.num_decisions]
            if not first.human_decides:
                assert ask_agent_of(first) == action
            first.play(action)
        assert parts
        assert first.to_json() == whole.to_json()


def test_saved_games_are_records() -> None:
    played = play_on(PlayedGame(Rules.house(3), [HUMAN, "greedy", HUMAN], 2), 40)
    record = GameRecord.from_json(played.to_json())
    assert record.players == (HUMAN, "greedy", HUMAN) and record.result is None
    assert next(step for step in record.replay() if isinstance(step, End)).result is None
    assert record == played.game.record(record.players)
    done = GameRecord.from_json(play_on(played).to_json())
    assert done.result is not None
    list(done.replay())


def test_an_illegal_action_changes_nothing() -> None:
    played = PlayedGame(DUEL, [HUMAN, HUMAN], 1)
    before = played.to_json()
    with pytest.raises(IllegalActionError):
        played.play("play 10x7")
    assert played.to_json() == before and played.num_decisions == 0


def test_what_cannot_be_gone_on_with() -> None:
    values = json.loads(play_on(PlayedGame(DUEL, [HUMAN, "greedy"], 1), 20).to_json())

    def refuse(change: Callable[[dict[str, Any]], Any], message: str) -> None:
        wrong = json.loads(json.dumps(values))
        change(wrong)
        with pytest.raises(InvalidRecordError, match=message):
            PlayedGame.from_json(json.dumps(wrong))

    refuse(lambda wrong: wrong.pop("play"), "play.seed is missing")
    refuse(lambda wrong: wrong.pop("players"), "players")
    refuse(lambda wrong: wrong.update(play={"seed": True}), "play.seed is missing")
    refuse(lambda wrong: wrong.update(play={"seed": -1}), "play.seed is missing")
    refuse(lambda wrong: wrong.update(play={"seed": 2}), "decision|deals")
    refuse(lambda wrong: wrong["deals"][0]["actions"].append("play 1x7"), "illegal")
    with pytest.raises(UnknownAgentError):
        PlayedGame.from_json(json.dumps(values | {"players": [HUMAN, "nobody"]}))


def test_agents_that_have_changed_do_not_end_a_game() -> None:
    values = json.loads(play_on(PlayedGame(DUEL, [HUMAN, "random"], 1), 40).to_json())
    again = PlayedGame.from_json(json.dumps(values | {"players": [HUMAN, "greedy"]}))
    assert again.changed > 0
    assert again.game.record().deals == GameRecord.from_json(json.dumps(values)).deals


def test_players_are_checked() -> None:
    for players in (["greedy", "greedy"], [HUMAN], [HUMAN] * 3):
        with pytest.raises(InvalidConfigError, match="allowed"):
            PlayedGame(DUEL, players, 1)
    with pytest.raises(UnknownAgentError):
        PlayedGame(DUEL, [HUMAN, "nobody"], 1)


def test_who_sits_where() -> None:
    assert seat_players("greedy", None, 4) == [HUMAN, "greedy", "greedy", "greedy"]
    assert seat_players("greedy, random", 1, 3) == ["greedy", HUMAN, "random"]
    assert seat_players("human,greedy,human", None, 3) == [HUMAN, "greedy", HUMAN]
    for agents, seat, players in (
        ("greedy,greedy", None, 2),
        ("human,greedy", 0, 2),
        ("human", None, 3),
        ("greedy", 2, 2),
        ("greedy", -1, 2),
        ("human,greedy", None, 3),
    ):
        with pytest.raises(InvalidConfigError, match="allowed"):
            seat_players(agents, seat, players)


def test_agents_that_search_play_too() -> None:
    """And need not be asked again when a saved game is gone on with."""
    whole = play_on(PlayedGame(DUEL, [HUMAN, "search:8"], 5))
    assert PlayedGame.from_json(whole.to_json()).to_json() == whole.to_json()


# What people say and see


def test_actions_are_read() -> None:
    legal = ["play 7", "play 7x2", "play C+1"]
    assert read_action("1", legal) == "play 7"
    assert read_action("3", legal) == "play C+1"
    assert read_action("Play c+1", legal) == "play C+1"
    assert [read_action(said, legal) for said in ("0", "4", "-1", "7", "play 8", "²", "")] == [None] * 7


def test_a_game_is_played_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    over, shown = sit(PlayedGame(Rules.house(3), ["greedy", HUMAN, "random"], 1), path, forever("1"))
    assert over
    record = next(iter(read_records(path)))
    assert record.result is not None and record.players == ("greedy", HUMAN, "random")
    end = shown.rstrip().splitlines()[-3:]
    for seat, (line, place) in enumerate(zip(end, record.result.places, strict=True)):
        assert line.startswith(f"player {seat} (")
        assert ("wins" if place == 1 else f"place {place}") in line


def test_a_person_sees_only_what_their_seat_may(tmp_path: Path) -> None:
    """Before the end, every card of another hand is a `?` or a kind known to lie there."""
    _, shown = sit(PlayedGame(DUEL, [HUMAN, "greedy"], 3), tmp_path / "a.jsonl", ["1"] * 12)
    rows = [line for line in shown.splitlines() if re.match(r".{2} player 1 \(greedy\)  +\d+:", line)]
    assert len(rows) > 5
    for row in rows:
        hand = row.split(":")[1].split("  ")[0].split()
        assert all(re.fullmatch(r"(\?|10|[1-9]|C(\+[12])?)(x\d+)?", card) for card in hand)
        assert row.rstrip().endswith(("? ? ?", ". ? ?", "? . ?", "? ? ."))


def test_help_hints_and_explanations(tmp_path: Path) -> None:
    says = ["", "?", "hint", "hint random", "hint nobody", "help", "table", "play 3x9", "77", "quit"]
    over, shown = sit(PlayedGame(DUEL, [HUMAN, "greedy"], 3), tmp_path / "a.jsonl", says)
    assert not over
    legal = PlayedGame(DUEL, [HUMAN, "greedy"], 3).game.legal_actions
    for number, action in enumerate(legal, 1):
        assert re.search(rf"^{number} +{re.escape(action)} +lays \S+ face up \(2\.3\)", shown, flags=re.MULTILINE)
    assert f"greedy would {legal[-1]}" in shown
    assert "random would up" in shown
    assert "no hint: agent 'nobody' is unknown" in shown
    assert "'play 3x9' is not legal now; legal: up " in shown and "'77' is not legal now" in shown
    assert shown.count("player 0 decides") == 2
    assert PlayedGame.from_json((tmp_path / "a.jsonl").read_text()).num_decisions == 0


def test_hints_draw_nothing_from_the_opponents(tmp_path: Path) -> None:
    """Asking for hints changes nothing in the game."""
    asked, silent = tmp_path / "asked.jsonl", tmp_path / "silent.jsonl"
    lines = ["hint random", "1", "hint", "?"] * 200
    sit(PlayedGame(DUEL, [HUMAN, "random"], 4), asked, lines)
    sit(PlayedGame(DUEL, [HUMAN, "random"], 4), silent, ["1"] * 200)
    assert asked.read_text() == silent.read_text()


def test_a_game_is_saved_after_every_decision(tmp_path: Path) -> None:
    """So a terminal that closes loses nothing."""
    path = tmp_path / "a.jsonl"
    saved = []

    def lines() -> Iterable[str]:
        for _ in range(5):
            yield "1"
            saved.append(len(GameRecord.from_json(path.read_text()).deals[0].actions))
        raise KeyboardInterrupt

    over, _ = sit(PlayedGame(DUEL, [HUMAN, "greedy"], 3), path, lines())
    assert not over
    assert saved == sorted(set(saved)) and len(saved) == 5
    assert PlayedGame.from_json(path.read_text()).changed == 0


def test_people_who_share_a_screen_do_not_see_each_others_cards(tmp_path: Path) -> None:
    """10.3: the screen is cleared, and nothing is shown before the next person says so."""
    played = PlayedGame(DUEL, [HUMAN, HUMAN], 1)
    file = GameFile(tmp_path / "a.jsonl")
    file.begin(played)
    shown = io.StringIO()
    console = Console(file=shown, width=200, force_terminal=True, highlight=False, color_system=None)
    screens: list[str] = []

    def ask(prompt: str, words: Sequence[str]) -> str:
        screens.append(f"{shown.getvalue()}{prompt}")
        if len(screens) > 40:
            raise EOFError
        return "" if "Enter" in prompt else "1"

    assert not Sitting(played, file, console, ask).play()
    curtains = [screen for screen in screens if "press Enter when nobody else looks" in screen]
    assert len(curtains) > 5
    for screen in curtains:
        cleared = screen.rsplit("\x1b[3J", 1)
        assert len(cleared) == 2 and "player" in cleared[1] and "hand" not in cleared[1]


def test_events_tell_what_others_did(tmp_path: Path) -> None:
    _, shown = sit(PlayedGame(DUEL, [HUMAN, "greedy"], 5), tmp_path / "a.jsonl", ["1"] * 6)
    assert re.search(r"^  player 0 \(you\) lays b2 face up$", shown, flags=re.MULTILINE)
    assert re.search(r"^  player 1 \(greedy\) plays g1 b1; draws 2 cards$", shown, flags=re.MULTILINE)
    assert not re.search(r"greedy\) lays", shown), "2.3"


# The file


def test_games_are_added_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    for seed in (1, 2):
        assert sit(PlayedGame(DUEL, [HUMAN, "greedy"], seed), path, forever("1"))[0]
    first, second = read_records(path)
    assert first.result and second.result and first.deals != second.deals
    sit(PlayedGame(DUEL, [HUMAN, "greedy"], 3), path, ["1"])
    with pytest.raises(InvalidConfigError, match="--continue"):
        GameFile(path).begin(PlayedGame(DUEL, [HUMAN, "greedy"], 4))
    assert [record.result is None for record in read_records(path)] == [False, False, True]
    played = GameFile(path).resume()
    assert played.seed == 3
    file = GameFile(path)
    played = file.resume()
    assert Sitting(played, file, Console(file=io.StringIO()), lambda prompt, words: "1").play()
    assert [record.result is None for record in read_records(path)] == [False, False, False]
    assert next(read_records(path)) == first
    with pytest.raises(InvalidConfigError, match="is over"):
        GameFile(path).resume()


def test_files_that_hold_no_game(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfigError, match="holds no game"):
        GameFile(tmp_path / "none.jsonl").resume()
    for content in (b"\xff\xfe", b"not json\n"):
        (tmp_path / "bad.jsonl").write_bytes(content)
        with pytest.raises(InvalidRecordError):
            GameFile(tmp_path / "bad.jsonl")


def test_files_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    sit(PlayedGame(DUEL, [HUMAN, "greedy"], 1), path, ["1", "1"])
    assert GameFile(path).resume().num_decisions > 1
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(InvalidRecordError, match="damaged"):
        GameFile(path)


# The command


def threeup(*arguments: object, said: str = "") -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=said)


def test_the_command_saves_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    begun = threeup("play", "--seed", 5, "--save", path, said="1\n1\n")
    assert begun.exit_code == 0, begun.output
    assert "unfinished game of seed 5 saved" in begun.output and "--continue --save" in begun.output
    refused = threeup("play", "--seed", 6, "--save", path)
    assert refused.exit_code == 2 and "--continue" in refused.output
    more = threeup("play", "--continue", "--save", path, said="1\n" * 500)
    assert more.exit_code == 0, more.output
    assert "threeup replay" in more.output
    straight = tmp_path / "straight.jsonl"
    threeup("play", "--seed", 5, "--save", straight, said="1\n" * 500)
    assert straight.read_text() == path.read_text()
    assert threeup("replay", path).exit_code == 0


@pytest.mark.parametrize(
    "env", ["ThreeUp/2p-v0", "ThreeUp/GameRules-3p-v0", "ThreeUp/House-6p-v0", "ThreeUp/Mini-2p-v0"]
)
def test_every_kind_of_rules_can_be_played(env: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    result = threeup(
        "play", "--env", env, "--agents", "random", "--seat", 1, "--seed", 1, "--save", path, said="1\n" * 900
    )
    assert result.exit_code == 0, result.output
    assert next(read_records(path)).rules == ENV_RULES[env]


def test_rules_can_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    switches = '{"clear_sets": true, "hand_size": 5}'
    result = threeup("play", "--rules", switches, "--seed", 1, "--save", path, said="1\n")
    assert result.exit_code == 0, result.output
    assert next(read_records(path)).rules == Rules(2, clear_sets=True, hand_size=5)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--agents", "nobody"],
        ["--agents", "greedy,greedy"],
        ["--seat", 2],
        ["--env", "ThreeUp/9p-v0"],
        ["--rules", "{"],
        ["--rules", '{"hand_size": 99}'],
        ["--continue", "--seed", 3],
        ["--continue"],
    ],
)
def test_wrong_options(wrong: list[object], tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    result = threeup("play", "--save", path, *wrong)
    assert result.exit_code == 2
    assert result.output.startswith("error: ") and len(result.output.splitlines()) == 1
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_at_a_real_terminal(tmp_path: Path) -> None:
    """Completion, a number, a slip, Ctrl-C; then the game goes on to Ctrl-D, and the file holds it."""
    pexpect = pytest.importorskip("pexpect")
    path = tmp_path / "games.jsonl"
    environment = dict(os.environ, TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1", COLUMNS="120", LINES="40")

    def start(*arguments: str) -> Any:
        command = ["-m", "threeup_env.cli", "play", "--save", str(path), *arguments]
        return pexpect.spawn(
            sys.executable, command, env=environment, encoding="utf-8", timeout=120, dimensions=(40, 120)
        )

    terminal = start("--env", "ThreeUp/3p-v0", "--agents", "human,greedy,random", "--seed", "5")
    terminal.expect("quit saves and ends")
    terminal.expect(r"\x1b\[\?25h")  # the prompt is drawn, the cursor shown
    terminal.send("hin\t")
    terminal.expect("hint")
    terminal.send("\x15?\r")
    terminal.expect(r"\(2\.3\)")
    terminal.expect(r"\x1b\[\?2004h")
    terminal.send("play 99\r")
    terminal.expect("is not legal now")
    terminal.expect(r"\x1b\[\?2004h")
    terminal.send("1\r")
    terminal.expect("face up")
    terminal.expect(r"\x1b\[\?2004h")
    terminal.send("\x03")
    terminal.expect("unfinished game of seed 5 saved")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert next(read_records(path)).deals[0].actions

    terminal = start("--continue")
    terminal.expect("player 0 .*decides|quit saves and ends")
    terminal.expect(r"\x1b\[\?2004h")
    terminal.send("1\r")
    terminal.expect("face up")
    terminal.expect(r"\x1b\[\?2004h")
    terminal.send("\x04")
    terminal.expect("unfinished game of seed 5 saved")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    mine = [step for step in next(read_records(path)).replay() if not isinstance(step, End) and step.player == 0]
    assert len(mine) == 2
