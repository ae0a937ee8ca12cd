"""Policy files: what they keep, what loading refuses, and how they are played."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file, save_file

from threeup_env import Game, Rules
from threeup_env.agents import BatchAgent, load_policy, make_agent
from threeup_env.agents.networks import MLP
from threeup_env.agents.policy import METADATA_KEY, Header, PolicyAgent, make_header, save_policy
from threeup_env.errors import InvalidPolicyError, ThreeUpError
from threeup_env.observation import ENCODING, observation_layout

RULES = Rules.standard(2)
NETWORK = MLP(hidden=(16, 8))
SIZE = observation_layout(RULES).size


def random_weights(seed: int = 0, rules: Rules = RULES, network: MLP = NETWORK) -> dict[str, npt.NDArray[np.float32]]:
    generator = np.random.default_rng(seed)
    shapes = network.tensors(observation_layout(rules), rules.num_actions)
    return {name: generator.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def positions(count: int, rules: Rules = RULES) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Observations and masks from random games."""
    agent = make_agent("random", rules, seed=1)
    observations, masks = [], []
    game = Game(rules, 0)
    while len(masks) < count:
        if game.player is None:
            game = Game(rules, len(masks))
        assert game.player is not None
        observations.append(game.observation(game.player))
        masks.append(game.action_mask)
        game.play(agent.act(observations[-1], masks[-1]))
    return np.array(observations), np.array(masks)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "policy.safetensors"
    save_policy(path, random_weights(), make_header(RULES, NETWORK, {"steps": 3, "seed": 1}, temperature=0.5))
    return path


def test_a_file_keeps_weights_and_header(path: Path) -> None:
    agent = load_policy(path, RULES)
    assert agent.rules == RULES
    assert agent.network == NETWORK
    assert agent.header.encoding == ENCODING
    assert agent.header.training == {"steps": 3, "seed": 1}
    kept = load_file(path)
    for name, array in random_weights().items():
        np.testing.assert_array_equal(kept[name], array)


def test_the_same_policy_is_the_same_file(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.safetensors"
    header = make_header(RULES, NETWORK, {"steps": 3, "seed": 1}, temperature=0.5)
    save_policy(again, dict(reversed(random_weights().items())), header)
    assert again.read_bytes() == path.read_bytes()


def test_saving_replaces_the_file_and_leaves_nothing_else(path: Path) -> None:
    before = path.read_bytes()
    save_policy(path, random_weights(1), make_header(RULES, NETWORK))
    assert path.read_bytes() != before
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("rules", [RULES, Rules.house(3), Rules.geeky(4), Rules.mini(2)], ids=repr)
@pytest.mark.parametrize("hidden", [(), (5,), (16, 8, 4)])
def test_every_kind_of_rules_and_depth(tmp_path: Path, rules: Rules, hidden: tuple[int, ...]) -> None:
    network = MLP(hidden=hidden)
    save_policy(tmp_path / "p.safetensors", random_weights(0, rules, network), make_header(rules, network))
    agent = make_agent(tmp_path / "p.safetensors", rules)
    assert isinstance(agent, BatchAgent)
    observations, masks = positions(60, rules)
    actions = agent.act_batch(observations, masks)
    assert masks[np.arange(60), actions].all()


def test_probabilities_are_the_softmax_of_the_legal_logits(path: Path) -> None:
    observations, masks = positions(300)
    weights = {name: array.astype(np.float64) for name, array in random_weights().items()}
    values = observations.astype(np.float64)
    for layer in ("hidden.0", "hidden.1"):
        values = np.maximum(values @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
    logits = values @ weights["action.weight"].T + weights["action.bias"]
    expected = np.exp(logits - logits.max(1, keepdims=True)) * masks
    expected /= expected.sum(1, keepdims=True)

    agent = load_policy(path, temperature=0)
    probabilities = agent.probabilities(observations, masks)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    assert not probabilities[masks == 0].any()
    np.testing.assert_array_equal(agent.act_batch(observations, masks), probabilities.argmax(1))
    np.testing.assert_array_equal(
        [agent.act(*position) for position in zip(observations, masks, strict=True)], probabilities.argmax(1)
    )


@pytest.mark.parametrize("temperature", [None, 1.0])
def test_draws_follow_the_probabilities(path: Path, temperature: float | None) -> None:
    """Over many seeds each action comes as often as it should; the file says 0.5."""
    observations, masks = positions(40)
    row = int(np.argmax(masks.sum(1)))
    position = observations[row : row + 1], masks[row : row + 1]
    agents = [load_policy(path, temperature=temperature, seed=seed) for seed in range(1_000)]
    shares = np.bincount([agent.act_batch(*position)[0] for agent in agents], minlength=RULES.num_actions) / 1_000
    expected = agents[0].probabilities(*position)[0].astype(np.float64) ** (1 / (temperature or 0.5))
    np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.05)
    assert not shares[masks[row] == 0].any()


def test_draws_differ_between_observations(path: Path) -> None:
    observations, _ = positions(4_000)
    draws = load_policy(path)._draws(observations)
    assert len(np.unique(draws)) == len(np.unique(observations, axis=0))
    counts, _ = np.histogram(draws, 10, (0, 1))
    assert (abs(counts - 400) < 100).all()


def test_a_policy_plays_the_same_alone_and_in_any_batch(path: Path) -> None:
    observations, masks = positions(300)
    agent = make_agent(path, RULES)
    assert isinstance(agent, BatchAgent)
    together = agent.act_batch(observations, masks)
    alone = [agent.act(*position) for position in zip(observations, masks, strict=True)]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together[::-2], agent.act_batch(observations[::-2], masks[::-2]))
    other = make_agent(path, RULES, seed=5)
    assert isinstance(other, BatchAgent)
    assert (other.act_batch(observations, masks) != together).any()


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Change header and tensors of a policy file by hand."""
    agent = load_policy(path)
    header, tensors = agent.header.model_dump(mode="json"), dict(load_file(path))
    change(header, tensors)
    save_file(tensors, path, {METADATA_KEY: json.dumps(header)})


def set_header(key: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda header, tensors: header.__setitem__(key, value)


def set_tensor(key: str, value: npt.NDArray[Any]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda header, tensors: tensors.__setitem__(key, value)


def remove_header(key: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda header, tensors: header.__delitem__(key)


def remove_tensor(key: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda header, tensors: tensors.__delitem__(key)


OTHER_RULES = Rules.standard(3).to_dict(defaults=True)
NOT_FINITE = np.full((8,), np.nan, np.float32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_header("format", "threeup-policy/9"), "format 'threeup-policy/9'; allowed: 'threeup-policy/1'"),
        (set_header("encoding", "threeup-observation/0"), f"'threeup-observation/0'; this version has '{ENCODING}'"),
        (set_header("rules", {"num_players": 9}), "rules: num_players: 9 is wrong"),
        (set_header("rules", {"no_switch": 1}), "'no_switch'"),
        (set_header("rules", OTHER_RULES), f"observation_size is {SIZE}; its rules have"),
        (set_header("rules", None), "rules: None"),
        (set_header("observation_size", SIZE + 4), f"observation_size is {SIZE + 4}; its rules have {SIZE}"),
        (set_header("num_actions", 144), "num_actions is 144; its rules have 109"),
        (set_header("num_actions", "109"), "num_actions: '109'"),
        (set_header("network", {"kind": "perceptron"}), "network.kind is 'perceptron'; allowed: mlp"),
        (set_header("network", {"kind": "mlp", "hidden": [0]}), r"network: hidden\.0: 0"),
        (set_header("network", {"kind": "mlp"}), "network: hidden"),
        (set_header("network", {"kind": "mlp", "hidden": [16]}), "holds the tensors"),
        (set_header("network", {"kind": "mlp", "hidden": [16, 9]}), "allowed: float32 of shape"),
        (set_header("temperature", -1), "temperature: -1"),
        (set_header("surprise", 1), "surprise: 1"),
        (remove_header("encoding"), "encoding: .*: Field required"),
        (remove_header("format"), "has the format None"),
        (remove_tensor("action.bias"), "holds the tensors"),
        (set_tensor("extra", np.zeros(1, np.float32)), "holds the tensors"),
        (set_tensor("hidden.1.bias", np.zeros(8)), "'hidden.1.bias' is float64 of shape"),
        (
            set_tensor("hidden.1.bias", np.zeros(9, np.float32)),
            r"float32 of shape \(9,\); allowed: float32 of shape \(8,\)",
        ),
        (set_tensor("hidden.1.bias", NOT_FINITE), "'hidden.1.bias' holds nan; allowed: finite numbers"),
    ],
)
def test_loading_refuses_what_does_not_fit(
    path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], message: str
) -> None:
    rewrite(path, change)
    with pytest.raises(InvalidPolicyError, match=message) as caught:
        load_policy(path)
    assert isinstance(caught.value, ThreeUpError)
    assert path.name in str(caught.value)


def test_loading_refuses_a_policy_for_other_rules(path: Path) -> None:
    with pytest.raises(
        InvalidPolicyError, match=r"is for the rules {'num_players': 2}; the rules here are .*geeky|each"
    ):
        make_agent(str(path), Rules.geeky(2))


def test_loading_refuses_a_file_that_is_missing_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicyError, match="cannot be read: No such file"):
        load_policy(tmp_path / "none.safetensors")
    with pytest.raises(InvalidPolicyError, match="cannot be read: Is a directory"):
        load_policy(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\x80\x04K\x01.", b"\xff" * 100, b"\x10\0\0\0\0\0\0\0not json, no end"]
)
def test_loading_refuses_what_is_no_safetensors_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.safetensors"
    path.write_bytes(content)
    with pytest.raises(InvalidPolicyError, match="is not a safetensors file"):
        load_policy(path)


def test_loading_refuses_a_file_cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InvalidPolicyError, match="is not a safetensors file, or is cut short"):
        load_policy(path)


@pytest.mark.parametrize("metadata", [None, {"other": "1"}])
def test_loading_refuses_a_file_without_a_header(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    save_file(random_weights(), tmp_path / "p.safetensors", metadata)
    with pytest.raises(InvalidPolicyError, match="has no header"):
        load_policy(tmp_path / "p.safetensors")


@pytest.mark.parametrize("header", ["{", "[]", "null", "3"])
def test_loading_refuses_a_header_that_is_no_object(tmp_path: Path, header: str) -> None:
    save_file(random_weights(), tmp_path / "p.safetensors", {METADATA_KEY: header})
    with pytest.raises(InvalidPolicyError, match=r"no JSON|has the format None"):
        load_policy(tmp_path / "p.safetensors")


def test_saving_refuses_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicyError, match="cannot be written: No such file"):
        save_policy(tmp_path / "no" / "folder.safetensors", random_weights(), make_header(RULES, NETWORK))
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidPolicyError, match="cannot be written: Is a directory"):
        save_policy(tmp_path / "folder", random_weights(), make_header(RULES, NETWORK))
    assert os.listdir(tmp_path) == ["folder"]


def test_saving_refuses_weights_that_do_not_fit(tmp_path: Path) -> None:
    weights = random_weights()
    weights["action.bias"][3] = np.inf
    with pytest.raises(InvalidPolicyError, match=r"'action\.bias' holds inf"):
        save_policy(tmp_path / "p.safetensors", weights, make_header(RULES, NETWORK))
    with pytest.raises(InvalidPolicyError, match="allowed: float32 of shape"):
        PolicyAgent(random_weights(), make_header(RULES, MLP(hidden=(16, 9))))
    assert isinstance(make_header(RULES, NETWORK), Header)
    assert not os.listdir(tmp_path)
