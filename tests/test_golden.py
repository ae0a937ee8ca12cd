"""The golden games: every player, legal set, action and result, and every decision of `greedy`."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from threeup_env.actions import ACTIONS
from threeup_env.agents import make_agent
from threeup_env.record import End, GameRecord, Step, read_records

GOLDEN = Path(__file__).parent / "golden"
RECORDS = GOLDEN / "records.jsonl.gz"
TRACES = GOLDEN / "traces.jsonl.gz"
GROUPS = {
    "standard": 90,
    "gamerules": 45,
    "geeky": 45,
    "house": 75,
    "match": 30,
    "one-switch": 199,
    "combination": 240,
    "written-out": 10,
    "rare": 164,
    "unfinished": 8,
}
"""How many games each group holds."""
WITHOUT_GREEDY = {"written-out", "unfinished"}
"""Groups in which no seat is greedy."""


@cache
def games_of_groups() -> dict[str, list[tuple[int, GameRecord, list[dict[str, Any]]]]]:
    """Number, record and trace of every game, by group."""
    games = defaultdict(list)
    with gzip.open(RECORDS) as lines, gzip.open(TRACES) as trace_lines:
        traces = map(json.loads, trace_lines)
        for number, line in enumerate(lines):
            trace = list(take_game(traces))
            games[json.loads(line)["group"]].append((number, GameRecord.from_json(line), trace))
    return games


def take_game(traces: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of the next game, the result included."""
    for line in traces:
        yield line
        if "result" in line:
            return


def test_all_groups_are_there() -> None:
    assert {group: len(games) for group, games in games_of_groups().items()} == GROUPS


@pytest.mark.parametrize("group", GROUPS)
def test_replay_agrees_with_the_trace(group: str) -> None:
    for number, record, trace in games_of_groups()[group]:
        assert [step.to_dict() for step in record.replay(number)] == trace


@pytest.mark.parametrize("group", [group for group in GROUPS if group not in WITHOUT_GREEDY])
def test_greedy_seats_decide_as_greedy_does(group: str) -> None:
    decisions = 0
    for number, record, _ in games_of_groups()[group]:
        assert record.players is not None
        greedy = make_agent("greedy", record.rules)
        replay = record.replay(number)
        for step in takewhile(lambda step: isinstance(step, Step), replay):
            assert isinstance(step, Step)
            if record.players[step.player] == "greedy":
                chosen = greedy.act(replay.game.observation(step.player), replay.game.action_mask)
                assert ACTIONS[chosen] == step.action, step
                decisions += 1
    assert decisions > 0


def test_records_are_written_as_they_were_read() -> None:
    for number, record in enumerate(read_records(RECORDS)):
        assert GameRecord.from_json(record.to_json()) == record
        replay = record.replay(number)
        end = [step for step in replay if isinstance(step, End)]
        again = replay.game.record(record.players)
        # A match that stops between two deals has its next one dealt.
        assert again.deals[: len(record.deals)] == record.deals
        assert again.rules == record.rules
        assert [again.result] == [record.result] == [end[0].result]
