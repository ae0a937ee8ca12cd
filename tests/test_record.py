"""Records: written and read without loss, and every fault told with its place, its value and what is allowed."""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import stat
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import threeup_env
from threeup_env import Game, Rules
from threeup_env.errors import InvalidRecordError, InvalidRulesError, ThreeUpError
from threeup_env.record import FORMAT, DealRecord, End, GameRecord, Result, Step, read_records, write_records

from .strategies import rules_strategy


def play_out(game: Game, seed: int = 0, stop: int | None = None) -> Game:
    """Play legal actions at random, `stop` of them or to the end."""
    generator = np.random.default_rng(seed)
    made = 0
    while game.player is not None and made != stop:
        game.play(int(generator.choice(game.legal_indices())))
        made += 1
    return game


@cache
def finished() -> GameRecord:
    """A match of two deals with one exchange of piles each (8.5)."""
    rules = Rules.standard(3, rounds=2, pile_swaps=1, hand_size=2)
    return play_out(Game(rules, seed=5)).record(["ann", "bob", "cid"])


def values() -> dict[str, Any]:
    """That record as JSON values, to be spoiled."""
    return copy.deepcopy(finished().to_dict())


def check(record: GameRecord, number: int = 0) -> list[Step | End]:
    return list(record.replay(number))


def test_it_is_exported() -> None:
    assert threeup_env.GameRecord is GameRecord


def test_a_record_holds_what_was_played() -> None:
    record = finished()
    assert record.players == ("ann", "bob", "cid")
    assert [deal.first_player for deal in record.deals] == [
        record.deals[0].first_player,
        (record.deals[0].first_player + 1) % 3,
    ]
    assert record.result is not None
    assert record.result.ended == "match"
    *steps, end = check(record, 7)
    assert end == End(7, record.result)
    assert all(isinstance(step, Step) for step in steps)
    by_deal: list[list[str]] = [[], []]
    for step in steps:
        assert isinstance(step, Step)
        assert step.game == 7
        assert step.decision == len(by_deal[step.deal])
        by_deal[step.deal].append(step.action)
    assert by_deal == [list(deal.actions) for deal in record.deals]


def test_written_form() -> None:
    record = finished().to_dict()
    assert list(record) == ["format", "rules", "players", "deals", "result"]
    assert record["format"] == FORMAT == "threeup-record/1"
    assert record["rules"] == {"num_players": 3, "hand_size": 2, "pile_swaps": 1, "rounds": 2}
    assert list(record["deals"][0]) == ["deck", "first_player", "pile_swaps", "actions"]
    assert list(record["result"]) == ["places", "scores", "ended"]
    text = finished().to_json()
    assert "\n" not in text
    assert json.loads(text) == record


def test_players_may_be_left_out_and_unknown_keys_are_ignored() -> None:
    record = values()
    del record["players"]
    record["group"] = "x"
    record["deals"][0]["note"] = 1
    record["result"]["note"] = 1
    read = GameRecord.from_dict(record)
    assert read.players is None
    assert "players" not in read.to_dict()
    assert read.deals == finished().deals
    assert read.result == finished().result


def test_custom_deck_and_colors_are_written_out() -> None:
    rules = Rules.mini(2, colors={"r", "g"}, deck={"g1": 4, "r2": 4, "b3": 4})
    written = Game(rules, seed=1).record().to_dict()["rules"]
    assert written["deck"] == {"g1": 4, "r2": 4, "b3": 4}
    assert written["colors"] == ["g", "r"]
    assert GameRecord.from_json(Game(rules, seed=1).record().to_json()).rules == rules


@settings(max_examples=40, deadline=None)
@given(rules_strategy(), st.integers(0, 2**32), st.none() | st.integers(0, 60))
def test_any_game_is_read_and_replayed_as_it_was_played(rules: Rules, seed: int, stop: int | None) -> None:
    game = play_out(Game(rules, seed=seed), seed, stop)
    record = GameRecord.from_json(game.record().to_json())
    assert record == game.record()
    end = check(record)[-1]
    assert isinstance(end, End)
    assert (end.result is None) == (game.player is not None)


def test_records_are_immutable_values() -> None:
    record = finished()
    assert GameRecord.from_json(record.to_json()) == record
    assert hash(record) == hash(pickle.loads(pickle.dumps(record)))
    with pytest.raises(AttributeError):
        record.result = None  # type: ignore[misc]


# Faults that reading finds.


def set_deck_card(record: dict[str, Any], card: str) -> None:
    record["deals"][1]["deck"][4] = card


SPOIL: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "format": (lambda r: r.update(format="threeup-record/2"), r"format: 'threeup-record/2' .*'threeup-record/1'"),
    "format type": (lambda r: r.update(format=None), r"format: None .*'threeup-record/1'"),
    "no format": (lambda r: r.pop("format"), "format is missing"),
    "no rules": (lambda r: r.pop("rules"), "rules is missing"),
    "no deals": (lambda r: r.pop("deals"), "deals is missing"),
    "no result": (lambda r: r.pop("result"), "result is missing"),
    "no deck": (lambda r: r["deals"][1].pop("deck"), r"deals\[1\]\.deck is missing"),
    "no actions": (lambda r: r["deals"][1].pop("actions"), r"deals\[1\]\.actions is missing"),
    "no swaps": (lambda r: r["deals"][0].pop("pile_swaps"), r"deals\[0\]\.pile_swaps is missing"),
    "no first player": (lambda r: r["deals"][0].pop("first_player"), r"deals\[0\]\.first_player is missing"),
    "no places": (lambda r: r["result"].pop("places"), r"result\.places is missing"),
    "unknown switch": (lambda r: r["rules"].update(nope=3), r"rules: 'nope' \(here 3\) is no switch; allowed: num_pl"),
    "wrong switch": (lambda r: r["rules"].update(hand_size=9), "rules: hand_size: 9 is wrong; allowed: an integer"),
    "rules type": (lambda r: r.update(rules=[1]), r"rules: \[1\] is wrong; allowed"),
    "deals type": (lambda r: r.update(deals="x"), "deals: 'x' is wrong; allowed: a valid list"),
    "deal type": (lambda r: r["deals"].__setitem__(1, 7), r"deals\[1\]: 7 is wrong; allowed"),
    "deck type": (lambda r: set_deck_card(r, 7), r"deals\[1\]\.deck\[4\]: 7 is wrong; allowed: a valid string"),  # type: ignore[arg-type]
    "unknown card": (lambda r: set_deck_card(r, "y7"), "deal 1: deck: 'y7' is not a card"),
    "no permutation": (lambda r: r["deals"][1]["deck"].pop(), "deal 1: deck: . times '.*the rules holds"),
    "first player type": (lambda r: r["deals"][0].update(first_player=True), r"deals\[0\]\.first_player: True is wr"),
    "first player float": (lambda r: r["deals"][0].update(first_player=1.0), r"deals\[0\]\.first_player: 1.0 is wr"),
    "no seat": (lambda r: r["deals"][0].update(first_player=3), r"deal 0: first_player: 3 is no seat; allowed: 0\.\.2"),
    "too few swaps": (lambda r: r["deals"][1].update(pile_swaps=[]), "deal 1: pile_swaps: 0 pairs given; .* 1"),
    "swap of one": (lambda r: r["deals"][1].update(pile_swaps=[[1, 1]]), r"deal 1: pile_swaps: \[1, 1\] is not a pair"),
    "swap of none": (
        lambda r: r["deals"][1].update(pile_swaps=[[0, 3]]),
        r"deal 1: pile_swaps: \[0, 3\] is not a pair",
    ),
    "swap of three": (lambda r: r["deals"][1].update(pile_swaps=[[0, 1, 2]]), r"deals\[1\]\.pile_swaps\[0\]"),
    "too many deals": (lambda r: r["deals"].append(r["deals"][0]), "deal 2: one of 3 deals; allowed: at most rounds=2"),
    "players": (lambda r: r.update(players=["ann"]), r"players: \['ann'\] names 1; allowed: 3 names"),
    "player type": (lambda r: r.update(players=[1, 2, 3]), r"players\[0\]: 1 is wrong; allowed: a valid string"),
    "action type": (lambda r: r["deals"][0]["actions"].append(3), r"deals\[0\]\.actions\[\d+\]: 3 is wrong"),
    "result type": (lambda r: r.update(result=3), "result: 3 is wrong; allowed"),
    "places": (lambda r: r["result"].update(places=[1, 2]), r"result\.places: \[1, 2\] is wrong; allowed: 3"),
    "place": (lambda r: r["result"].update(places=[0, 1, 2]), r"result\.places\[0\]: 0 is wrong; allowed: greater"),
    "scores": (lambda r: r["result"].update(scores=[1]), r"result\.scores: \[1\] is wrong; allowed: 3"),
    "score type": (lambda r: r["result"].update(scores=[1, 2, "3"]), r"result\.scores\[2\]: '3' is wrong"),
    "ended": (lambda r: r["result"].update(ended="won"), "result.ended: 'won' is wrong; allowed: 'out', 'points'"),
}


@pytest.mark.parametrize("name", SPOIL)
def test_reading_names_the_fault(name: str) -> None:
    spoil, message = SPOIL[name]
    record = values()
    spoil(record)
    with pytest.raises(InvalidRecordError, match=message):
        GameRecord.from_dict(record)
    with pytest.raises(InvalidRecordError, match=message):
        GameRecord.from_json(json.dumps(record))


def test_first_player_moves_one_seat_each_deal() -> None:
    record = values()
    first = record["deals"][0]["first_player"]
    record["deals"][1]["first_player"] = (first + 2) % 3
    with pytest.raises(
        InvalidRecordError, match=f"deal 1: first_player: {(first + 2) % 3} .*allowed: {(first + 1) % 3}"
    ):
        GameRecord.from_dict(record)


def test_first_player_must_be_that_of_the_rules() -> None:
    record = Game(Rules.standard(2, first_player=1), seed=1).record().to_dict()
    record["deals"][0]["first_player"] = 0
    with pytest.raises(InvalidRecordError, match="deal 0: first_player: 0 is wrong; the rules say 1"):
        GameRecord.from_dict(record)


def test_wrong_rules_are_the_cause() -> None:
    record = values()
    record["rules"]["nope"] = 1
    with pytest.raises(InvalidRecordError) as error:
        GameRecord.from_dict(record)
    assert isinstance(error.value.__cause__, InvalidRulesError)


@pytest.mark.parametrize(
    "text", ["", "{", "nope", "\x00", '{"format": "threeup', "[" * 100_000, "1" * 10_000, b"\xff\xfe\x00", "{'a': 1}"]
)
def test_not_json(text: str | bytes) -> None:
    with pytest.raises(InvalidRecordError, match="is not JSON, or cut short"):
        GameRecord.from_json(text)


@pytest.mark.parametrize("text", ["null", "3", "[]", '"x"', "NaN"])
def test_not_an_object(text: str) -> None:
    with pytest.raises(InvalidRecordError, match="is no record; allowed: an object"):
        GameRecord.from_json(text)


def test_constructors_raise_typed_errors_too() -> None:
    with pytest.raises(InvalidRecordError, match="first_player: 'x' is wrong; allowed: a valid integer"):
        DealRecord(deck=(), first_player="x", pile_swaps=(), actions=())  # type: ignore[arg-type]
    with pytest.raises(InvalidRecordError, match="ended: 'x' is wrong"):
        Result(places=(1, 2), scores=(0, 0), ended="x")  # type: ignore[arg-type]
    with pytest.raises(InvalidRecordError, match="deals is missing"):
        GameRecord(rules=Rules(), result=None)  # type: ignore[call-arg]


# Faults that playing finds.


def spoiled(change: Callable[[dict[str, Any]], Any]) -> GameRecord:
    record = values()
    change(record)
    return GameRecord.from_dict(record)


@pytest.mark.parametrize("action", ["play 9x7", "fly", "", "PLAY 9", "up 7 ", "7", "\ud800"])
def test_an_illegal_action_names_place_value_and_legal_ones(action: str) -> None:
    record = spoiled(lambda r: r["deals"][1]["actions"].__setitem__(5, action))
    steps = []
    with pytest.raises(InvalidRecordError) as error:
        for step in record.replay(4):
            steps.append(step)
    message = str(error.value)
    assert message.startswith(f"game 4, deal 1, decision 5: action {action!r} is illegal for player ")
    legal = check(finished())[len(finished().deals[0].actions) + 5]
    assert isinstance(legal, Step)
    assert message.endswith(f"legal: {', '.join(legal.legal)}")
    assert len(steps) == len(record.deals[0].actions) + 5  # all that came before


def test_actions_after_the_end_of_a_deal() -> None:
    count = len(finished().deals[0].actions)
    record = spoiled(lambda r: r["deals"][0]["actions"].append("take"))
    with pytest.raises(
        InvalidRecordError, match=f"game 0, deal 0, decision {count}: .*'take'.*the deal is over; legal"
    ):
        check(record)


def test_actions_after_the_end_of_the_game() -> None:
    count = len(finished().deals[1].actions)
    record = spoiled(lambda r: r["deals"][1]["actions"].append("take"))
    with pytest.raises(
        InvalidRecordError, match=f"game 0, deal 1, decision {count}: .*'take'.*the game is over; legal"
    ):
        check(record)


def test_a_deal_cut_short_that_is_not_the_last() -> None:
    count = len(finished().deals[0].actions) - 1
    record = spoiled(lambda r: r["deals"][0]["actions"].pop())
    with pytest.raises(
        InvalidRecordError, match=f"game 0, deal 0, decision {count}: the actions end here, but deal 1 "
    ):
        check(record)


@pytest.mark.parametrize("change", [{"scores": [1, 2, 3]}, {"places": [1, 1, 1]}, {"ended": "out"}])
def test_another_result_is_an_error_after_the_end(change: dict[str, Any]) -> None:
    replay = spoiled(lambda r: r["result"].update(change)).replay()
    steps: list[Step | End] = []
    with pytest.raises(InvalidRecordError, match=r"game 0: result: .* is wrong; allowed: \{.places.: "):
        for step in replay:
            steps.append(step)  # one by one: what came before the error counts
    assert steps[-1] == End(0, finished().result)


def test_no_result_of_a_finished_game() -> None:
    with pytest.raises(InvalidRecordError, match=r"game 0: result: null is wrong; allowed: \{.places"):
        check(spoiled(lambda r: r.update(result=None)))


def test_a_result_of_an_unfinished_game() -> None:
    record = spoiled(lambda r: r["deals"][1]["actions"].pop())
    with pytest.raises(
        InvalidRecordError, match=r"game 0, deal 1, decision .* result: \{.places.* still .*allowed: null"
    ):
        check(record)


def test_unfinished_games_have_no_result() -> None:
    fewer = spoiled(lambda r: (r["deals"].pop(), r.update(result=None)))
    assert check(fewer)[-1] == End(0, None)
    cut = spoiled(lambda r: (r["deals"][1]["actions"].pop(), r.update(result=None)))
    assert check(cut)[-1] == End(0, None)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_spoiled_record_raises_anything_else(data: st.DataObject) -> None:
    """Whatever one value of a record becomes, it is read and played, or refused with a typed error."""
    record = values()
    place: Any = record
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    junk = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    )
    place[key] = data.draw(junk)
    try:
        check(GameRecord.from_json(json.dumps(record)))
    except ThreeUpError as error:
        assert isinstance(error, InvalidRecordError)


# Files.


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_files_hold_records_one_a_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    records = [finished(), Game(Rules.mini(2), seed=2).record()]
    assert write_records(path, records) == 2
    assert list(read_records(path)) == list(read_records(str(path))) == records
    text = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    assert [json.loads(line) for line in text.splitlines()] == [record.to_dict() for record in records]
    before = path.read_bytes()
    write_records(path, records)
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == [name]


def test_blank_lines_are_left_out_and_the_last_line_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f"\n{finished().to_json()}\n  \n{finished().to_json()}")
    assert list(read_records(path)) == [finished()] * 2


def test_a_fault_names_file_line_and_game(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f"{finished().to_json()}\n\n{finished().to_json()[:-9]}\n")
    records = read_records(path)
    assert next(records) == finished()
    with pytest.raises(InvalidRecordError, match=r"games\.jsonl line 3 \(game 1\): .* is not JSON, or cut short"):
        next(records)


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    write_records(path, [finished()] * 50)
    whole = path.read_bytes()
    spoilt = bytearray(whole)
    spoilt[len(whole) // 2] ^= 0xFF
    for damaged in (whole[:-20], whole[: len(whole) // 2], bytes(spoilt), finished().to_json().encode()):
        path.write_bytes(damaged)
        with pytest.raises(InvalidRecordError, match=r"games\.jsonl\.gz line \d+ \(game \d+\): "):
            list(read_records(path))


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_records(path, [finished()])
    before = path.read_bytes()

    def fail() -> Iterator[GameRecord]:
        yield finished()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_records(path, fail())
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == [name]


def test_an_unwritable_path_names_itself(tmp_path: Path) -> None:
    path = tmp_path / "none" / "games.jsonl"
    with pytest.raises(FileNotFoundError) as error:
        write_records(path, [])
    assert error.value.filename == str(path)
    with pytest.raises(IsADirectoryError):
        write_records(tmp_path, [])


@pytest.mark.skipif(os.name != "posix", reason="modes, links and devices are POSIX's")
def test_modes_links_and_devices_stay(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("")
    path.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    write_records(link, [finished()])
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(read_records(path)) == [finished()]
    write_records("/dev/null", [finished()])
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
