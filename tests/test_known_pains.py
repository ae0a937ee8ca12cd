"""One test for each kind of fault that users of environments like this one have reported; the reports by name.

A report is named by its project and number on GitHub. Other tests go further into most of these; here each report
has its own test, on the forms of environment that it can concern.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import os
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from threeup_env import Game, IllegalActionError, Rules, SelfPlayBatch, threeup_v0
from threeup_env.cards import STANDARD_DECK
from threeup_env.core.state import STATE
from threeup_env.evaluate import evaluate
from threeup_env.observation import observation_layout
from threeup_env.record import GameRecord
from threeup_env.registration import ENV_RULES
from threeup_env.testing import AEC_CHECKS, GYMNASIUM_CHECKS, SELF_PLAY_CHECKS, VECTOR_CHECKS

DOCS = Path(__file__).parent.parent / "docs" / "environments.md"
RULES = Rules.house(3)


def aec() -> Any:
    return threeup_v0.env(RULES, reward="place", render_mode="ansi")


def single() -> Any:
    return gymnasium.make("ThreeUp/House-3p-v0", opponent="random", seat="random", render_mode="ansi")


def vector() -> Any:
    return gymnasium.make_vec("ThreeUp/House-3p-v0", num_envs=2, opponent="random", autoreset_mode="SameStep")


def batch() -> SelfPlayBatch:
    return SelfPlayBatch(RULES, 2, seed=0)


FORMS = {
    "aec": (AEC_CHECKS, aec),
    "single": (GYMNASIUM_CHECKS, single),
    "vector": (VECTOR_CHECKS, vector),
    "self-play": (SELF_PLAY_CHECKS, batch),
}
every_form = pytest.mark.parametrize("form", FORMS)


def check(form: str, *names: str) -> None:
    """Run these parts of the contract on a form."""
    checks, make = FORMS[form]
    for name in names:
        checks[name](make, seed=11)


# Seeds and generators


@every_form
def test_seeding_touches_the_generator_only(form: str) -> None:
    """PettingZoo 1312: a seeded reset rebuilt the environment and lost its settings."""
    check(form, "settings")


def test_a_seeded_reset_keeps_the_reward_and_the_opponent() -> None:
    """PettingZoo 1312, for settings that no attribute shows."""
    env = threeup_v0.env(RULES, reward="score", illegal_reward=-9.0)
    env.reset(seed=1)
    env.reset(seed=2)
    loser = env.agent_selection
    env.step(int(np.argmin(env.last()[0]["action_mask"])))
    assert env.rewards[loser] == -9.0
    learner = gymnasium.make("ThreeUp/2p-v0", opponent="random", seat=1)
    learner.reset(seed=1)
    learner.reset(seed=2)
    assert [type(one).__name__ for one in learner.unwrapped.batch.opponents] == ["RandomAgent"]
    assert learner.unwrapped.seat == 1


def test_games_are_the_same_under_any_hash_seed() -> None:
    """PettingZoo 241: games differed between processes with the hash seed."""
    code = (
        "import hashlib, gymnasium; from threeup_env import Rules, threeup_v0; d = hashlib.sha256()\n"
        "env = threeup_v0.env(Rules.house(3)); env.reset(seed=1)\n"
        "for a in env.agent_iter():\n"
        "    o, r, t, u, i = env.last(); d.update(a.encode() + o['observation'].tobytes())\n"
        "    env.step(None if t or u else int(o['action_mask'].argmax()))\n"
        "env = gymnasium.make('ThreeUp/House-3p-v0', opponent='random', seat='random'); o, i = env.reset(seed=1)\n"
        "for _ in range(40):\n"
        "    o, r, t, u, i = env.step(int(i['action_mask'].argmax())); d.update(o.tobytes())\n"
        "    if t: o, i = env.reset()\n"
        "print(d.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "42")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == hashlib.sha256().digest_size * 2


@every_form
def test_the_seeded_stream_goes_on(form: str) -> None:
    """PettingZoo 1223: `reset(seed)`, then `reset()`, was not reproducible."""
    check(form, "seeds", "stream")


@every_form
def test_no_result_hangs_on_a_global_generator(form: str) -> None:
    """RLCard 125: results hung on a global generator."""
    check(form, "global_generators")


# Copies


@every_form
def test_copies_in_mid_game_are_exact_and_independent(form: str) -> None:
    """PettingZoo 1307, 1186, 1271: a deep copy or a pickle in mid-game lost state, the generator included."""
    check(form, "deepcopy", "pickle")


def test_a_saved_game_goes_on_exactly() -> None:
    """OpenSpiel 276, 778, 1277: saved games lost the turn or the generator."""
    rng = random.Random(4)
    game = Game(Rules.match(3), seed=4)
    # Into the second deal, so that a third is still to be drawn.
    while game.deal == 0 or game.decision < 20:
        game.play(rng.choice(game.legal_actions))
    saved = pickle.loads(pickle.dumps(game))
    assert saved.player == game.player
    while game.player is not None:
        action = rng.choice(game.legal_actions)
        game.play(action)
        saved.play(action)
    assert saved.record() == game.record()
    assert GameRecord.from_json(game.record().to_json()) == game.record()


def test_a_copy_is_one_copy_of_memory() -> None:
    """RLCard PR 41: copying a game cost 120 times as much as a step."""
    game = Game(Rules.house(6), seed=1)
    twin = game.copy()
    assert type(game._memory) is bytearray
    assert len(game._memory) == STATE.itemsize
    # Everything else is shared, or as long as the list of actions so far.
    fields = {name: (getattr(game, name), getattr(twin, name)) for name in Game.__slots__}
    copied = {name for name, (one, other) in fields.items() if one is not other}
    assert copied == {"_memory", "_states", "_deals", "_history"}
    twin.play(twin.legal_actions[0])
    assert twin._memory != game._memory


# Rewards and ends


@pytest.mark.parametrize("form", ["single", "vector"])
def test_the_learner_is_paid_its_own_reward(form: str) -> None:
    """PettingZoo 1147: a single-agent wrapper trained on the opponent's reward."""
    check(form, "ledger")


def test_a_loss_on_an_opponents_move_is_paid() -> None:
    """PettingZoo 1147: the learner made a move, an opponent then won: the same step tells."""
    env = gymnasium.make("ThreeUp/2p-v0", opponent="greedy", seat=0)
    losses = 0
    for seed in range(8):
        _, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            _, reward, terminated, _, info = env.step(int(info["action_mask"].argmax()))
        outcome = env.unwrapped.game.outcome
        assert reward == outcome.rewards[0]
        losses += outcome.places[0] == 2 and outcome.ended == "out"
    assert losses >= 3


@pytest.mark.parametrize("form", ["aec", "self-play"])
def test_rewards_are_a_ledger(form: str) -> None:
    """PettingZoo 355, 1260: when the winner is paid; each agent is paid once, and the sum is zero."""
    check(form, "ledger")


def test_agents_take_their_last_step_in_order_and_leave() -> None:
    """PettingZoo 996, 1244: order of dead steps; `agents` not empty at the end."""
    check("aec", "ledger")
    env = threeup_v0.env(Rules.standard(4))
    env.reset(seed=1)
    last = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            last.append(agent)
            env.step(None)
        else:
            env.step(int(observation["action_mask"].argmax()))
    assert last == ["player_0", "player_1", "player_2", "player_3"]
    assert env.agents == []


def test_rewards_and_cumulative_rewards_are_right_at_each_step() -> None:
    """Tianshou 900: `rewards` and cumulative rewards mixed up; its wrapper calls `last(self)`."""
    env = threeup_v0.env(Rules.standard(2))
    env.reset(seed=1)
    total = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        agent = env.agent_selection
        observation, cumulative, terminated, truncated, _ = env.last(env)
        assert data_equivalence(observation, env.observe(agent), exact=True), "any truthy argument observes"
        assert cumulative == total[agent], "all since its last step, which was nothing before the end"
        total[agent] = 0.0
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
        for other, reward in env.rewards.items():
            total[other] += reward


def test_an_illegal_move_ends_the_game_or_is_an_error() -> None:
    """PettingZoo 185: an illegal move's consequences were unclear; never terminated and truncated at once."""
    check("single", "illegal_actions")
    env = aec()
    env.reset(seed=1)
    loser = env.agent_selection
    env.step(int(np.argmin(env.last()[0]["action_mask"])))
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert env.rewards[loser] == -1.0
    assert sum(env.rewards.values()) == pytest.approx(0)
    raw = threeup_v0.raw_env(RULES)
    raw.reset(seed=1)
    before = copy.deepcopy(raw.last())
    with pytest.raises(IllegalActionError, match="legal: "):
        raw.step(int(np.argmin(before[0]["action_mask"])))
    assert data_equivalence(raw.last(), before, exact=True)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_last_observation_is_kept(mode: str) -> None:
    """SuperSuit 231: the terminal observation was lost on autoreset."""
    rules = Rules.mini(2)
    VECTOR_CHECKS["final_observations"](
        lambda: gymnasium.make_vec("ThreeUp/Mini-2p-v0", num_envs=3, autoreset_mode=mode)
    )
    envs = gymnasium.make_vec("ThreeUp/Mini-2p-v0", num_envs=1, autoreset_mode=mode, seat=0)
    alone = gymnasium.make("ThreeUp/Mini-2p-v0", seat=0)
    _, infos = envs.reset(seed=3)
    _, info = alone.reset(seed=3)
    terminated = False
    while not terminated:
        action = int(info["action_mask"].argmax())
        observation, _, terminated, _, info = alone.step(action)
        observations, _, _, _, infos = envs.step(np.array([action]))
    shown = infos["final_obs"][0] if mode == "SameStep" else observations[0]
    np.testing.assert_array_equal(shown, observation)
    to_play = observation_layout(rules)["to_play"].view(shown)
    assert not to_play.any(), "the game is over in it"


# Masks


@every_form
def test_the_mask_is_the_same_wherever_it_stands(form: str) -> None:
    """PettingZoo 1117: tests read the mask only from one place."""
    check(form, "masks")


@pytest.mark.parametrize("env_id", ENV_RULES)
def test_whoever_must_decide_has_a_legal_action(env_id: str) -> None:
    """sb3-contrib 81, 247: a simplex error from an all-false mask."""
    games = SelfPlayBatch(ENV_RULES[env_id], 16, seed=5)
    for _ in range(150):
        assert games.action_mask.any(axis=1).all()
        games.random_steps(1)
    learners = gymnasium.make_vec(env_id, num_envs=4, autoreset_mode="SameStep")
    _, infos = learners.reset(seed=5)
    for _ in range(40):
        assert learners.unwrapped.action_masks().any(axis=1).all()
        _, _, _, _, infos = learners.step(infos["action_mask"].argmax(axis=1))


@pytest.mark.optional
def test_masks_are_reached_through_vectors_and_wrappers() -> None:
    """sb3-contrib 49, 68, 279, 256: masks were lost in VecEnvs and wrappers."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecCheckNan, VecNormalize

    from threeup_env.sb3 import ThreeUpVecEnv

    def make() -> Any:
        return gymnasium.make("ThreeUp/2p-v0")

    in_wrappers = Monitor(gymnasium.wrappers.DtypeObservation(make(), np.float32))
    compiled = VecNormalize(VecCheckNan(ThreeUpVecEnv(Rules.standard(2), 3, seed=1)))
    for env, shape in ((in_wrappers, (109,)), (make_vec_env(make, 3), (3, 109)), (compiled, (3, 109))):
        env.reset()
        assert is_masking_supported(env)
        masks = np.asarray(get_action_masks(env))
        assert masks.shape == shape
        assert masks.any(axis=-1).all()


@pytest.mark.optional
@pytest.mark.parametrize("arguments", [{}, {"mask_in_observation": True}], ids=["plain", "masked"])
def test_check_env_samples_illegal_actions(arguments: dict[str, Any]) -> None:
    """sb3-contrib 145: `check_env` samples illegal actions and crashed."""
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(gymnasium.make("ThreeUp/House-2p-v0", **arguments).unwrapped)


@pytest.mark.optional
def test_scripts_evaluate_with_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """sb3-contrib 142, 178, 212: evaluation or `predict` without masks."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    from threeup_env.sb3 import ThreeUpVecEnv

    model = MaskablePPO("MlpPolicy", ThreeUpVecEnv(Rules.mini(2), 4, seed=1), n_steps=8, batch_size=8, seed=1)
    predict = MaskablePPO.predict
    given = []

    def watch(self: Any, *arguments: Any, action_masks: Any = None, **more: Any) -> Any:
        given.append(action_masks)
        return predict(self, *arguments, action_masks=action_masks, **more)

    monkeypatch.setattr(MaskablePPO, "predict", watch)
    envs = ThreeUpVecEnv(Rules.mini(2), 4, seed=2)
    evaluate_policy(model, envs, n_eval_episodes=8)
    assert given
    assert all(np.asarray(masks).any(axis=1).all() for masks in given)
    # Whatever of ours calls a model by hand gives it the masks.
    for script in (Path(__file__).parent.parent / "training").glob("*.py"):
        for call in re.findall(r"\.predict\(.*", script.read_text(encoding="utf-8")):
            assert "action_masks" in call, f"{script.name}: {call}"


def test_agents_are_always_asked_with_a_mask() -> None:
    """sb3-contrib 142, 178, 212, for our own evaluation: every agent is told what is legal, and something is."""
    asked = []

    class Agent:
        def act(self, observation: Any, action_mask: Any) -> int:
            asked.append(bool(action_mask.any()))
            return int(action_mask.argmax())

    evaluate("ThreeUp/Mini-2p-v0", Agent(), "greedy", 8, 1)
    assert len(asked) > 16
    assert all(asked)


# What is seen and drawn


@pytest.mark.parametrize("form", ["aec", "single", "vector"])
def test_hidden_cards_show_nowhere(form: str) -> None:
    """PettingZoo PR 233: opponents' hands leaked in the observation; EnvPool leaks all hands in info."""
    check(form, "hiding")


def test_hidden_cards_show_in_no_written_form_of_a_game() -> None:
    """The same of `str` and `repr` of a game, and of the self-play batch, which sees what `Game` grants."""
    check("self-play", "games")
    deck = [card for card, count in STANDARD_DECK.items() for _ in range(count)]
    games = [Game(Rules(), seed=1, decks=[cards], first_player=0) for cards in (deck, deck[::-1])]
    assert str(games[0]) == str(games[1])
    assert repr(games[0]) == repr(games[1])


def test_documented_shapes_are_the_real_ones() -> None:
    """PettingZoo 922; RLCard 220: a documented shape was not the real one."""
    rows = re.findall(r"^\| `(ThreeUp/\S+)` \| .* \| (\d+) \| (\d+) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    assert [env_id for env_id, _, _ in rows] == list(ENV_RULES)
    for env_id, actions, size in rows:
        env = gymnasium.make(env_id)
        observation, info = env.reset(seed=1)
        assert observation.shape == (int(size),)
        assert info["action_mask"].shape == (int(actions),)


@pytest.mark.parametrize("form", ["aec", "single"])
def test_pictures_are_drawn_at_every_call(form: str) -> None:
    """PettingZoo 1169, 864: a stale or black last frame."""
    check(form, "render")


@pytest.mark.parametrize("form", ["aec", "single", "vector"])
def test_returned_arrays_are_the_callers(form: str) -> None:
    """SuperSuit PR 116; Gymnasium PR 1715: returned buffers changed under the caller."""
    check(form, "returned_arrays")


def test_arrays_written_in_place_are_said_to_be() -> None:
    """SuperSuit PR 116; Gymnasium PR 1715: the batch writes in place, and its docstring says so."""
    check("self-play", "api")
    assert "written in place" in " ".join((SelfPlayBatch.__doc__ or "").split())


def test_different_information_looks_different() -> None:
    """Pgx 1302: the first observation was ambiguous."""
    layout = observation_layout(Rules.standard(3))
    first: dict[bytes, Any] = {}
    for seed, first_player in itertools.product(range(60), range(3)):
        game = Game(Rules.standard(3), seed=seed, first_player=first_player)
        state = game.state
        for seat in range(3):
            observation = game.observation(seat)
            known = (state["hand"][seat].tolist(), (first_player - seat) % 3)
            assert first.setdefault(observation.tobytes(), known) == known
            # Who is to decide is told in the first observation as in every other.
            assert layout["to_play"].view(observation).tolist() == [
                float((first_player - seat) % 3 == k) for k in range(3)
            ]
    assert len({tuple(known[0]) for known in first.values()}) > 150
