"""The kind `table` of a policy file: a pure strategy, written out. Networks proper: test_policy.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import save_file

from tests.test_policy import positions
from threeup_env import Rules
from threeup_env.agents import load_policy
from threeup_env.agents.networks import Table, make_table
from threeup_env.agents.policy import METADATA_KEY, PolicyAgent, make_header, save_policy
from threeup_env.errors import InvalidPolicyError

RULES = Rules.mini(2)
Arrays = dict[str, npt.NDArray[np.float32]]


def listed(count: int = 60) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Different observations, their masks, and the last legal action of each."""
    observations, masks = positions(2 * count, RULES)
    _, first = np.unique(observations, axis=0, return_index=True)
    rows = np.sort(first)[:count]
    masks = masks[rows]
    return observations[rows], masks, masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def table(count: int = 60) -> tuple[Table, Arrays]:
    observations, _, actions = listed(count)
    return make_table(observations, actions, RULES.num_actions)


def test_a_file_keeps_a_table(tmp_path: Path) -> None:
    kind, tensors = table()
    save_policy(tmp_path / "table.safetensors", tensors, make_header(RULES, kind, temperature=0.0))
    agent = load_policy(tmp_path / "table.safetensors", RULES)
    observations, masks, actions = listed()
    assert agent.network == kind == Table(rows=60, num_actions=109)
    np.testing.assert_array_equal(agent.act_batch(observations, masks), actions)
    assert [agent.act(*row) for row in zip(observations[:9], masks[:9], strict=True)] == actions[:9].tolist()
    for probabilities in (agent.probabilities(observations, masks), agent.play_probabilities(observations, masks)):
        np.testing.assert_array_equal(probabilities, np.eye(109)[actions])


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_is_not_listed_is_played_at_random(temperature: float) -> None:
    kind, tensors = table(30)
    agent = PolicyAgent(tensors, make_header(RULES, kind, temperature=temperature), kind)
    observations, masks, actions = listed()
    played = agent.act_batch(observations, masks)
    assert masks[np.arange(60), played].all()
    np.testing.assert_array_equal(played[:30], actions[:30])
    np.testing.assert_allclose(
        agent.play_probabilities(observations, masks)[30:], (masks / masks.sum(axis=1, keepdims=True))[30:]
    )


def test_the_order_of_the_list_does_not_matter() -> None:
    observations, _, actions = listed()
    _, tensors = make_table(observations, actions, 109)
    _, turned = make_table(observations[::-1], actions[::-1], 109)
    for name in tensors:
        np.testing.assert_array_equal(tensors[name], turned[name])


def test_an_observation_must_not_come_twice() -> None:
    observations, _, actions = listed()
    with pytest.raises(InvalidPolicyError, match="the same key"):
        make_table(observations[[0, 1, 0]], actions[[0, 1, 0]], 109)


def _put(name: str, place: Any, value: float) -> Callable[[Arrays], None]:
    def change(tensors: Arrays) -> None:
        tensors[name][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_put("action", 3, 109), "'action' holds 109.0; allowed: whole numbers from 0 to 108"),
        (_put("action", 3, -1), "'action' holds -1.0"),
        (_put("action", 3, 1.5), "'action' holds 1.5"),
        (_put("action", 3, np.nan), "'action' holds nan; allowed: finite"),
        (_put("key", (2, 0), 2.0**24), "'key' holds 16777216.0"),
        (_put("key", (2, 1), 0.25), "'key' holds 0.25"),
        (_put("key", 5, 0), "not in rising order"),
        (lambda tensors: tensors.update(key=tensors["key"][:-1]), "shape"),
        (lambda tensors: tensors.pop("action"), "holds the tensors"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, change: Callable[[Arrays], None], message: str) -> None:
    kind, tensors = table()
    header = make_header(RULES, kind, temperature=0.0)
    change(tensors)
    save_file(tensors, tmp_path / "table.safetensors", {METADATA_KEY: header.model_dump_json()})
    with pytest.raises(InvalidPolicyError, match=message):
        load_policy(tmp_path / "table.safetensors")
    with pytest.raises(InvalidPolicyError, match=message):
        save_policy(tmp_path / "other.safetensors", tensors, header)
    assert not (tmp_path / "other.safetensors").exists()


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"rows": 0}, "rows: 0"),
        ({"rows": 60, "num_actions": 144}, "num_actions is 144; allowed: 109"),
        ({"rows": 60, "columns": 2}, "columns"),
    ],
)
def test_a_wrong_shape_is_refused(tmp_path: Path, network: dict[str, Any], message: str) -> None:
    kind, tensors = table()
    header = make_header(RULES, kind, temperature=0.0)
    header.network = {"kind": "table", "num_actions": 109} | network
    with pytest.raises(InvalidPolicyError, match=message):
        save_policy(tmp_path / "table.safetensors", tensors, header)
