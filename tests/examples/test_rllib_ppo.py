import os
import signal
import threading
from collections import defaultdict

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray
import torch
from ray.cluster_utils import Cluster
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

from threeup_env import SelfPlayBatch
from threeup_env.registration import rules_of
from training.examples import rllib_ppo
from training.examples.rllib_ppo import MODULES, AllSeats, LearnerSeats, ModuleAgent, connect, make_config, parse

pytestmark = [
    pytest.mark.optional,
    pytest.mark.slow,
    pytest.mark.timeout(900),  # Ray starts a process for each part
    pytest.mark.filterwarnings("default::ResourceWarning"),  # Ray leaves files and sockets open
    # RLlib registers its environment anew for each env runner in a process.
    pytest.mark.filterwarnings("default:.*Overriding environment rllib:UserWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]

TWO_SEATS = "ThreeUp/2p-v0"
THREE_SEATS = "ThreeUp/3p-v0"


@pytest.fixture(autouse=True)
def one_thread():
    """Small networks on few cores: more threads than one only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two machines with a CPU each, as far as Ray knows."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(**node)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def settings(form, *more):
    return parse(["--form", form, "--env-runners", "0", "--num-envs", "8", "--batch", "256", *more])


def observations_of(env, games=16):
    """Observations and masks in the middle of games."""
    batch = SelfPlayBatch(rules_of(env), games, seed=3)
    generator = np.random.default_rng(3)
    for _ in range(25):
        batch.step((batch.action_mask * generator.random(batch.action_mask.shape)).argmax(axis=1))
    return batch.observation.copy(), batch.action_mask.copy()


def policy_of(algorithm, form):
    """Probabilities of every action in some positions."""
    observations, masks = observations_of(TWO_SEATS)
    seen = {"observations": torch.tensor(observations), "action_mask": torch.tensor(masks)}
    return algorithm.get_module(MODULES[form]).forward_inference({"obs": seen})["action_dist_inputs"].softmax(1)


def assert_legal(episode):
    """Every action of a single-agent episode was allowed by the mask that its agent saw."""
    actions = episode.get_actions()
    masks = episode.get_observations()["action_mask"]
    assert masks[np.arange(len(actions)), actions].all()


@pytest.mark.parametrize(("env", "paid"), [(TWO_SEATS, [-1.0, 1.0]), (THREE_SEATS, [-0.5, -0.5, 1.0])])
def test_in_the_aec_form_every_seat_is_paid_with_its_own_last_action(env, paid):
    config = make_config(settings("aec", "--env", env))
    # So short that games are cut again and again while a seat waits for its next observation.
    config.env_runners(rollout_fragment_length=7)
    runner = MultiAgentEnvRunner(config)
    games, over = defaultdict(lambda: defaultdict(list)), {}
    while len(over) < 12:
        for episode in runner.sample():
            for agent, part in episode.agent_episodes.items():
                if len(part):
                    games[episode.id_][agent].append(part)
                    assert_legal(part)
            if episode.is_done:
                over[episode.id_] = episode.env_t
    for game, decisions in over.items():
        parts = games[game]
        # No decision is lost where a game is cut, and the loser's last one neither.
        assert sum(len(part) for chunks in parts.values() for part in chunks) == decisions
        rewards = {agent: np.concatenate([part.get_rewards() for part in chunks]) for agent, chunks in parts.items()}
        assert sorted(earned[-1] for earned in rewards.values()) == pytest.approx(paid)
        assert all(not earned[:-1].any() for earned in rewards.values())
        for chunks in parts.values():
            assert [part.is_terminated for part in chunks] == [False] * (len(chunks) - 1) + [True]


def test_in_the_learner_form_a_game_pays_once_and_observations_stay_small():
    runner = SingleAgentEnvRunner(config=make_config(settings("learner")))
    over = 0
    while over < 8:
        for episode in runner.sample():
            if not len(episode):
                continue
            assert_legal(episode)
            assert episode.get_observations()["observations"].dtype == np.int8
            rewards = episode.get_rewards()
            assert not rewards[:-1].any()
            assert abs(rewards[-1]) == (1 if episode.is_done else 0)
            over += episode.is_done


@pytest.mark.parametrize("form", ["learner", "aec"])
def test_the_mask_reaches_the_network(form):
    runner_class = {"learner": SingleAgentEnvRunner, "aec": MultiAgentEnvRunner}[form]
    module = runner_class(config=make_config(settings(form))).module
    if form == "aec":
        module = module[MODULES["aec"]]
    observations, masks = observations_of(TWO_SEATS)
    for forward in (module.forward_inference, module.forward_exploration):
        seen = {"observations": torch.tensor(observations), "action_mask": torch.tensor(masks)}
        chances = forward({"obs": seen})["action_dist_inputs"].softmax(1).numpy()
        assert (chances[masks == 0] == 0).all()
        assert (chances[masks == 1] > 0).all()
    actions = ModuleAgent(module).act_batch(observations, masks)
    assert masks[np.arange(len(actions)), actions].all()


def test_env_runners_deal_different_cards():
    seed, env = 5, {"env": TWO_SEATS, "opponent": "greedy"}
    batches = [LearnerSeats({**env, "num_envs": 4}).reset(seed=seed + runner)[0] for runner in (1, 2)]
    hands = [row.tobytes() for batch in batches for row in batch["observations"]]
    assert len(set(hands)) == len(hands)
    # Table k of env runner i gets the seed s + i + k.
    seen = []
    for runner in (1, 2):
        for table in range(4):
            observations, _ = AllSeats(EnvContext(env, worker_index=runner)).reset(seed=seed + runner + table)
            seen += [one["observations"].tobytes() for one in observations.values()]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("form", ["learner", "aec"])
def test_a_checkpoint_restores_the_policy(form, tmp_path, cluster):
    args = settings(form, "--address", cluster.address)
    connect(args)
    try:
        algorithm = make_config(args).build_algo()
        before = policy_of(algorithm, form)
        algorithm.train()
        after = policy_of(algorithm, form)
        assert not torch.equal(after, before)
        algorithm.save_to_path(str(tmp_path))
        algorithm.stop()
        restored = make_config(settings(form, "--seed", "2")).build_algo()
        assert not torch.equal(policy_of(restored, form), after)
        restored.restore_from_path(str(tmp_path))
        assert torch.equal(policy_of(restored, form), after)
        result = restored.train()
        assert result["env_runners"]["num_env_steps_sampled_lifetime"] >= 2 * args.batch
        restored.stop()
    finally:
        ray.shutdown()


def test_a_killed_env_runner_is_replaced_on_a_cluster(cluster):
    args = settings("learner", "--address", cluster.address, "--env-runners", "2", "--batch", "4096")
    connect(args)
    try:
        algorithm = make_config(args).build_algo()
        group = algorithm.env_runner_group
        homes = group.foreach_env_runner(lambda _: ray.get_runtime_context().get_node_id(), local_env_runner=False)
        assert len(set(homes)) == 2
        decisions = algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"]
        victim, survivor = group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
        kill = threading.Timer(0.1, os.kill, (victim, signal.SIGKILL))
        kill.start()
        for _ in range(20):
            algorithm.train()
            pids = group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
            if victim not in pids and len(pids) == 2:
                break
        kill.join()
        assert survivor in pids and victim not in pids and len(pids) == 2
        # The new one plays with the weights of the learner.
        result = algorithm.train()
        assert result["env_runners"]["num_env_steps_sampled_lifetime"] > decisions + args.batch
        weights = group.foreach_env_runner(lambda runner: runner.module.get_state())
        for name, values in weights[0].items():
            for other in weights[1:]:
                np.testing.assert_array_equal(values, other[name])
        algorithm.stop()
    finally:
        ray.shutdown()


@pytest.mark.parametrize("form", ["learner", "aec"])
def test_the_example_runs(form, tmp_path, capsys):
    common = ["--form", form, "--num-envs", "8", "--batch", "512", "--games", "20"]
    rllib_ppo.main([*common, "--updates", "2", "--out", str(tmp_path)])
    assert "against greedy" in capsys.readouterr().out
    assert (tmp_path / "checkpoint" / "rllib_checkpoint.json").is_file()
    if form == "learner":
        again = ["--env-runners", "0", "--updates", "1", "--restore", str(tmp_path / "checkpoint")]
        rllib_ppo.main([*common, *again, "--out", str(tmp_path / "second")])
        assert "1,5" in capsys.readouterr().out  # three updates of 512 decisions
