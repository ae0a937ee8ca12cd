"""Every form keeps the contract under several rules, and each of many faults is caught by the right check."""

from __future__ import annotations

import copy
import random
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.wrappers import BaseWrapper

from threeup_env import Rules, SelfPlayBatch, threeup_v0
from threeup_env.aec import ThreeUpAEC
from threeup_env.errors import ThreeUpError
from threeup_env.single import ThreeUpEnv
from threeup_env.testing import (
    AEC_CHECKS,
    GYMNASIUM_CHECKS,
    SELF_PLAY_CHECKS,
    VECTOR_CHECKS,
    Check,
    ContractError,
    check_aec,
    check_gymnasium,
    check_self_play,
    check_vector,
)
from threeup_env.testing.contract import difference
from threeup_env.vector import ThreeUpVectorEnv

Make = Callable[[], Any]

# Every form keeps the contract


def float_observations() -> Any:
    return gymnasium.wrappers.DtypeObservation(gymnasium.make("ThreeUp/2p-v0", render_mode="ansi"), np.float32)


def counted_and_scaled() -> Any:
    """Wrappers that flatten the observation and the mask into one, keep statistics and change the reward's scale."""
    env = gymnasium.make("ThreeUp/Mini-2p-v0", mask_in_observation=True, seat=1)
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.wrappers.FlattenObservation(env))
    return gymnasium.wrappers.TransformReward(env, lambda reward: 10.0 * reward)


AEC: dict[str, Make] = {
    "2 players, drawn": lambda: threeup_v0.env(render_mode="ansi"),
    "house, raw": lambda: threeup_v0.raw_env(Rules.house(4), reward="place"),
    "geeky, by id": lambda: pettingzoo.make("aec", "ThreeUp/Geeky-3p-v0", reward="score"),
    "match, wrapped": lambda: BaseWrapper(threeup_v0.env(Rules.match(2, max_decisions=60))),
    "truncated": lambda: threeup_v0.env(Rules.house(3, max_decisions=40, at_limit="truncate")),
}
GYMNASIUM: dict[str, Make] = {
    "drawn": lambda: gymnasium.make("ThreeUp/House-3p-v0", opponent="random", seat="random", render_mode="ansi"),
    "masks in observations": lambda: gymnasium.make("ThreeUp/Match-2p-v0", mask_in_observation=True, reward="score"),
    "errors": lambda: gymnasium.make("ThreeUp/GameRules-4p-v0", illegal_action="raise", reward="place"),
    "float observations": float_observations,
}
VECTOR: dict[str, Make] = {
    "next step": lambda: gymnasium.make_vec("ThreeUp/3p-v0", num_envs=3, opponent="random"),
    "same step": lambda: gymnasium.make_vec("ThreeUp/Mini-2p-v0", num_envs=3, autoreset_mode="SameStep"),
    "masks in observations": lambda: gymnasium.make_vec("ThreeUp/House-2p-v0", num_envs=2, mask_in_observation=True),
}
SELF_PLAY: dict[str, Make] = {
    "mini": lambda: SelfPlayBatch(Rules.mini(2), 5, seed=0),
    "house": lambda: SelfPlayBatch(Rules.house(3), 2, seed=0, reward="score"),
}


@pytest.mark.parametrize("name", AEC)
def test_aec_keeps_the_contract(name: str) -> None:
    check_aec(AEC[name])


@pytest.mark.parametrize("name", GYMNASIUM)
def test_gymnasium_keeps_the_contract(name: str) -> None:
    check_gymnasium(GYMNASIUM[name])


@pytest.mark.parametrize("name", ["api", "masks", "illegal_actions", "ledger", "settings", "render"])
def test_statistics_and_scaled_rewards_keep_the_rest(name: str) -> None:
    """Statistics tell the time, so that the checks which compare whole runs cannot hold."""
    GYMNASIUM_CHECKS[name](counted_and_scaled)


@pytest.mark.parametrize("name", VECTOR)
def test_vector_keeps_the_contract(name: str) -> None:
    check_vector(VECTOR[name])


@pytest.mark.parametrize("name", ["api", "masks", "ledger", "settings"])
def test_statistics_of_a_vector_keep_the_rest(name: str) -> None:
    VECTOR_CHECKS[name](
        lambda: gymnasium.wrappers.vector.RecordEpisodeStatistics(gymnasium.make_vec("ThreeUp/Mini-2p-v0", num_envs=2))
    )


@pytest.mark.parametrize("name", SELF_PLAY)
def test_self_play_keeps_the_contract(name: str) -> None:
    check_self_play(SELF_PLAY[name])


# Faults


class LeaksHand(BaseWrapper):
    """PettingZoo PR 233: the info shows another seat's hand."""

    def last(self, observe: bool = True) -> Any:
        observation, reward, terminated, truncated, info = self.env.last(observe)
        state = self.env.unwrapped.game.state
        return observation, reward, terminated, truncated, info | {"hands": np.array(state["hand"])}


class LeaksDown(BaseWrapper):
    """The name shows a 3DOWN card, once play has begun in earnest."""

    def __str__(self) -> str:
        game = self.env.unwrapped.game
        return f"{game.state['down'][0, 0]}" if game.state["revealed"] else "game"


class LeaksPicture(ThreeUpAEC):
    """The picture shows the front of the draw pile."""

    def render(self) -> Any:
        state = self.game.state
        return f"{super().render()} {state['deck'][int(state['drawn'])]}"


class StalePicture(ThreeUpAEC):
    """PettingZoo 1169: the picture is drawn before the step."""

    drawn: Any = None

    def step(self, action: Any) -> None:
        self.drawn = super().render()
        super().step(action)

    def render(self) -> Any:
        return self.drawn or super().render()


class WrongMask(ThreeUpAEC):
    """The mask allows nothing but the first legal action."""

    def step(self, action: Any) -> None:
        super().step(action)
        self.narrow()

    def reset(self, *args: Any, **arguments: Any) -> None:
        super().reset(*args, **arguments)
        self.narrow()

    def narrow(self) -> None:
        if self.agents:
            self.infos[self.agent_selection] = {
                "action_mask": self.first_only(self.game.action_mask * (not self._over))
            }

    def observe(self, agent: str) -> Any:
        observation = super().observe(agent)
        return observation | {"action_mask": self.first_only(observation["action_mask"])}

    @staticmethod
    def first_only(mask: Any) -> Any:
        return mask * (np.cumsum(mask) == 1).astype(np.int8)


class MaskInOnePlace(ThreeUpAEC):
    """PettingZoo 1117: the observation has another mask than the info."""

    def observe(self, agent: str) -> Any:
        observation = super().observe(agent)
        return observation | {"action_mask": np.ones_like(observation["action_mask"])}


class WrongDtype(ThreeUpAEC):
    """PettingZoo 922: the observation is not what the space says."""

    def observe(self, agent: str) -> Any:
        observation = super().observe(agent)
        return observation | {"observation": observation["observation"].astype(np.float64)}


class NewSpaces(ThreeUpAEC):
    """A new space at every call, whose generator nobody can seed."""

    def action_space(self, agent: str) -> Any:
        return copy.deepcopy(super().action_space(agent))


class PaysTwice(BaseWrapper):
    """PettingZoo 355: an agent is told of its reward twice."""

    def last(self, observe: bool = True) -> Any:
        observation, reward, *rest = self.env.last(observe)
        return observation, 2 * reward, *rest


class PaysTheWinnerAlone(ThreeUpAEC):
    """PettingZoo 1260: what the winner is paid, nobody has lost."""

    def _finish(self, rewards: list[float], *, truncated: bool) -> None:
        super()._finish([max(0.0, reward) for reward in rewards], truncated=truncated)


class TerminatedAndTruncated(ThreeUpAEC):
    """PettingZoo 185."""

    def _finish(self, rewards: list[float], *, truncated: bool) -> None:
        super()._finish(rewards, truncated=truncated)
        self.truncations = dict.fromkeys(self.agents, True)


class RebuildsOnSeed(BaseWrapper):
    """PettingZoo 1312: a seeded reset makes a new environment, without the settings of the old one."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        if seed is not None:
            self.env = threeup_v0.raw_env(self.env.unwrapped.rules)
        super().reset(seed, options)


class IgnoresSeed(BaseWrapper):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(None, options)


class SameGameAgain(BaseWrapper):
    """The seed of the first reset is used for all."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(5 if seed is None else seed, options)


class ForgetsStream(BaseWrapper):
    """PettingZoo 1223: reset(seed), then reset() is drawn from the system."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(np.random.SeedSequence() if seed is None else seed, options)  # type: ignore[arg-type]


class GlobalGenerator(BaseWrapper):
    """RLCard 125: results hang on a global generator."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(None if seed is None else seed + random.randrange(1000), options)


class SeedsGlobally(BaseWrapper):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        random.seed(seed)
        super().reset(seed, options)


class SharesCopies(BaseWrapper):
    """PettingZoo 1307: a deep copy plays in the same game."""

    def __deepcopy__(self, memo: Any) -> Any:
        return SharesCopies(self.env)


class LosesGenerator(BaseWrapper):
    """OpenSpiel 778: what was saved has another generator."""

    def __reduce__(self) -> Any:
        return _without_generator, (self.env,)


def _without_generator(env: Any) -> Any:
    env.unwrapped._game._states["rng"] = 1
    return LosesGenerator(env)


class KeepsArrays(ThreeUpAEC):
    """SuperSuit PR 116: one buffer for all observations."""

    buffer: Any = None

    def observe(self, agent: str) -> Any:
        observation = super().observe(agent)
        if self.buffer is None:
            self.buffer = observation
        for name, array in observation.items():
            self.buffer[name][...] = array
        return self.buffer


def aec(fault: Any) -> Make:
    if issubclass(fault, BaseWrapper):
        return lambda: fault(threeup_v0.raw_env(Rules.standard(3), reward="place"))
    return lambda: fault(Rules.standard(3), render_mode="ansi")


AEC_FAULTS = [
    (LeaksHand, "hiding", "hidden"),
    (LeaksDown, "hiding", "names"),
    (LeaksPicture, "hiding", "render"),
    (StalePicture, "render", "step before"),
    (WrongMask, "masks", "forbids"),
    (MaskInOnePlace, "masks", "nothing to decide|not the one in info"),
    (WrongDtype, "api", "space|dtype"),
    (NewSpaces, "api", "new action space"),
    (PaysTwice, "ledger", "told of"),
    (PaysTheWinnerAlone, "ledger", "sum to"),
    (TerminatedAndTruncated, "ledger", "terminated"),
    (RebuildsOnSeed, "settings", "unwrapped"),
    (IgnoresSeed, "seeds", "differ"),
    (SameGameAgain, "stream", "same game each time"),
    (ForgetsStream, "stream", "not reproducible"),
    (GlobalGenerator, "global_generators", "global generator"),
    (SeedsGlobally, "global_generators", "was used or seeded"),
    (SharesCopies, "deepcopy", "otherwise"),
    (LosesGenerator, "pickle", "goes on otherwise"),
    (KeepsArrays, "returned_arrays", "changed since"),
]


class OpponentsReward(ThreeUpEnv):
    """PettingZoo 1147: the learner is paid what its opponent has earned."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, -reward, *rest


class PaysAsItGoes(ThreeUpEnv):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, reward + 0.1, *rest


class BothEnds(ThreeUpEnv):
    """PettingZoo 185: terminated and truncated at once."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, terminated, info


class EmptyMask(ThreeUpEnv):
    """sb3-contrib 81, 247: an all-false mask."""

    def step(self, action: Any) -> Any:
        *said, info = super().step(action)
        return *said, info | {"action_mask": np.zeros_like(info["action_mask"])}


class LeaksInInfo(ThreeUpEnv):
    """EnvPool leaks all hands in info."""

    def step(self, action: Any) -> Any:
        *said, info = super().step(action)
        return *said, info | {"hands": np.array(self.game.state["hand"])}


class LeaksAtReset(ThreeUpEnv):
    def reset(self, **arguments: Any) -> Any:
        observation, info = super().reset(**arguments)
        return observation, info | {"deck": bytes(self.game.state["deck"])}


class LivingArrays(ThreeUpEnv):
    """Gymnasium PR 1715: the batch's own arrays are handed out."""

    def _observe(self) -> Any:
        return self.batch.observation[0], {"action_mask": self.batch.action_mask[0]}


class WrittenBack(ThreeUpEnv):
    """What a caller writes into the mask changes what the environment says."""

    def _observe(self) -> Any:
        self.mask = getattr(self, "mask", None)
        observation, info = super()._observe()
        return observation + (0 if self.mask is None else self.mask.max() // 7), {"action_mask": self.keep(info)}

    def keep(self, info: Any) -> Any:
        self.mask = info["action_mask"]
        return self.mask


class HidesMasks(gymnasium.Wrapper):
    """sb3-contrib 49: a wrapper through which no masks are found."""

    def get_wrapper_attr(self, name: str) -> Any:
        if name == "action_masks":
            return lambda: np.ones(self.action_space.n, np.bool_)  # type: ignore[attr-defined]
        return super().get_wrapper_attr(name)


def single(fault: Any) -> Make:
    if issubclass(fault, gymnasium.Wrapper):
        return lambda: fault(ThreeUpEnv(Rules.standard(3)))
    return lambda: fault(Rules.standard(3), reward="place", render_mode="ansi")


GYMNASIUM_FAULTS = [
    (OpponentsReward, "ledger", "seat earned"),
    (PaysAsItGoes, "ledger", "before the end"),
    (BothEnds, "illegal_actions", "terminated True, truncated True"),
    (EmptyMask, "masks", "is empty"),
    (LeaksInInfo, "hiding", "hidden"),
    (LeaksAtReset, "hiding", "hidden"),
    (LivingArrays, "returned_arrays", "changed since"),
    (WrittenBack, "returned_arrays", "overwriting"),
    (HidesMasks, "masks", "not the one in info"),
]


class LosesFinalObservation(ThreeUpVectorEnv):
    """SuperSuit 231: the last observation is that of the next game."""

    def _tell_ended(self, ended: Any, infos: Any) -> None:
        self.batch.final_observation[:] = self.batch.observation
        super()._tell_ended(ended, infos)


class SharedRows(ThreeUpVectorEnv):
    """The batch's own arrays, though copies were asked for."""

    def _observations(self) -> Any:
        return self.batch.observation


class LeaksRows(ThreeUpVectorEnv):
    def _infos(self) -> Any:
        return super()._infos() | {"hands": self.batch.hidden_cards()}


VECTOR_FAULTS = [
    (LosesFinalObservation, "final_observations", "next game"),
    (SharedRows, "returned_arrays", "changed since"),
    (LeaksRows, "hiding", "hidden"),
]


def vector(fault: Any) -> Make:
    return lambda: fault(3, Rules.mini(2), autoreset_mode="SameStep")


class WinnerTakesNothing(SelfPlayBatch):
    def step(self, actions: Any) -> None:
        super().step(actions)
        self.reward[self.reward > 0] = 0


class NewArrays(SelfPlayBatch):
    def step(self, actions: Any) -> None:
        super().step(actions)
        self.observation = self.observation.copy()


class SeesTooMuch(SelfPlayBatch):
    def step(self, actions: Any) -> None:
        super().step(actions)
        self.observation[:, 0] = self._states["hand"][:, 0, 0]


SELF_PLAY_FAULTS = [
    (WinnerTakesNothing, "ledger", "sum to 0"),
    (NewArrays, "api", "in place"),
    (SeesTooMuch, "games", "observation is another"),
]


def self_play(fault: Any) -> Make:
    return lambda: fault(Rules.mini(2), 3, seed=0)


FAULTS = [
    *((AEC_CHECKS, aec, *fault) for fault in AEC_FAULTS),
    *((GYMNASIUM_CHECKS, single, *fault) for fault in GYMNASIUM_FAULTS),
    *((VECTOR_CHECKS, vector, *fault) for fault in VECTOR_FAULTS),
    *((SELF_PLAY_CHECKS, self_play, *fault) for fault in SELF_PLAY_FAULTS),
]


@pytest.mark.parametrize(
    ("checks", "make", "fault", "name", "message"), FAULTS, ids=[row[2].__name__ for row in FAULTS]
)
def test_faults_are_caught_by_the_right_check(checks: Any, make: Any, fault: Any, name: str, message: str) -> None:
    with pytest.raises(ContractError, match=rf"^{name}: (?s:.*)({message})(?s:.*)\(seed 1, step \d+\)$"):
        checks[name](make(fault))


@pytest.mark.parametrize(("run", "make", "fault"), [(check_aec, aec, PaysTwice), (check_vector, vector, SharedRows)])
def test_all_checks_together_catch_them_too(run: Any, make: Any, fault: Any) -> None:
    with pytest.raises(ContractError):
        run(make(fault), seed=3)


# How checks behave


def test_checks_are_named() -> None:
    for checks in (AEC_CHECKS, GYMNASIUM_CHECKS, VECTOR_CHECKS, SELF_PLAY_CHECKS):
        for name, check in checks.items():
            assert isinstance(check, Check)
            assert str(check) == check.name == name
            assert check.body.__doc__


def test_the_error_is_an_assertion_of_this_package() -> None:
    assert issubclass(ContractError, AssertionError)
    assert issubclass(ContractError, ThreeUpError)


def test_errors_of_the_environment_say_where_they_came_up() -> None:
    class Breaks(ThreeUpEnv):
        def step(self, action: Any) -> Any:
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order") as error:
        GYMNASIUM_CHECKS["seeds"](Breaks, seed=4)
    assert error.value.__notes__ == ["seeds: an error of the environment (seed 4, step 0)"]


def test_global_generators_are_left_as_they_were() -> None:
    random.seed(3)
    before = random.getstate()
    with pytest.raises(ContractError):
        AEC_CHECKS["global_generators"](aec(SeedsGlobally))
    assert random.getstate() == before


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        ({"a": (1, [2])}, {"a": (1, [3])}, r"\['a'\]\[1\]\[0\] is 2 and 3"),
        ({"a": 1}, {"b": 1}, r"all of it has the keys \['a'\] and \['b'\]"),
        ((1, 2), (1,), "all of it has 2 and 1 entries"),
        (1, 1.0, "all of it is a int and a float"),
        (np.zeros(2), np.array([0.0, 1.0]), r"differs at \[1\]: 0.0 and 1.0"),
        (np.zeros(2), np.zeros(2, np.int8), r"float64 \(2,\) and int8 \(2,\)"),
        (np.array([None, "x"]), np.array([None, "y"]), r"\[1\] is 'x' and 'y'"),
    ],
)
def test_differences_are_named(one: Any, other: Any, place: str) -> None:
    told = difference(one, other)
    assert told is not None
    assert re.search(place, told)
    assert difference(copy.deepcopy(one), one) is None


def test_import_needs_nothing_optional() -> None:
    code = (
        "import sys, threeup_env.testing; "
        "print(sorted({'pytest', 'torch', 'stable_baselines3', 'matplotlib', 'pygame'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
