"""`render()` of every face: its modes, its view, its size, and what is missing when a package is."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from gymnasium.wrappers import HumanRendering, RecordVideo, RenderCollection
from PIL import Image

from threeup_env import Rules, threeup_v0
from threeup_env.aec import ThreeUpAEC
from threeup_env.errors import InvalidConfigError, ResetNeededError
from threeup_env.render.renderer import RENDER_FPS, RENDER_MODES, Renderer
from threeup_env.render.text import draw_table
from threeup_env.single import ThreeUpEnv

pygame = pytest.importorskip("pygame")
HOUSE = "ThreeUp/House-6p-v0"
SMALL = (160, 120)
FAST = 1000


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows show pictures as fast as they come."""
    for env in (ThreeUpAEC, ThreeUpEnv):
        monkeypatch.setitem(env.metadata, "render_fps", FAST)


def step(env: Any, count: int = 1) -> Any:
    for _ in range(count):
        env.step(int(env.unwrapped.action_masks().argmax()))
    return env


def started(**arguments: Any) -> Any:
    env = gymnasium.make(HOUSE, opponent="random", render_size=SMALL, **arguments)
    env.reset(seed=1)
    return step(env, 12)


def shown() -> bytes:
    """What the window shows."""
    surface = pygame.display.get_surface()
    return bytes(pygame.image.tobytes(surface, "RGB"))


def test_every_face_says_its_modes() -> None:
    for metadata in (gymnasium.make(HOUSE).metadata, threeup_v0.env().metadata):
        assert metadata["render_modes"] == list(RENDER_MODES) == ["human", "ansi", "rgb_array"]
        assert metadata["render_fps"] == FAST
    envs = gymnasium.make_vec(HOUSE, num_envs=2)
    assert envs.metadata["render_modes"] == ["ansi", "rgb_array"]
    assert envs.metadata["render_fps"] == RENDER_FPS


def test_a_learner_sees_its_own_view() -> None:
    env = started(render_mode="ansi")
    text = env.render()
    assert text.startswith(draw_table(env.unwrapped.game, env.unwrapped.seat) + "\nplayer ")
    picture = started(render_mode="rgb_array").render()
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8
    other = started(render_mode="rgb_array", render_seat="all").render()
    assert (picture != other).any()
    seat = env.unwrapped.seat
    assert (started(render_mode="rgb_array", render_seat=seat).render() == picture).all()


def test_agents_of_pettingzoo_see_what_everybody_sees() -> None:
    texts = {}
    for seat in (None, 0, "all"):
        env = threeup_v0.env(Rules.house(3), render_mode="ansi", render_seat=seat)
        env.reset(seed=1)
        for _ in range(20):
            env.step(int(env.last()[0]["action_mask"].argmax()))
        texts[seat] = env.render()
        assert texts[seat].startswith(draw_table(env.unwrapped.game, seat) + "\n")
    assert len(set(texts.values())) == 3
    env = threeup_v0.env(render_mode="rgb_array", render_size=SMALL)
    env.reset(seed=1)
    assert env.render().shape == (120, 160, 3)


def test_a_vector_draws_every_game() -> None:
    for mode in ("SAME_STEP", "NEXT_STEP"):
        envs = gymnasium.make_vec(
            "ThreeUp/2p-v0", num_envs=3, render_mode="rgb_array", render_size=SMALL, autoreset_mode=mode
        )
        with pytest.raises(ResetNeededError):
            envs.render()
        envs.reset(seed=1)
        frames = envs.render()
        assert [frame.shape for frame in frames] == [(120, 160, 3)] * 3
        single = gymnasium.make("ThreeUp/2p-v0", render_mode="rgb_array", render_size=SMALL, seat=1)
        single.reset(seed=2)
        assert frames[1].shape == single.render().shape
        envs.close()
    texts = gymnasium.make_vec("ThreeUp/2p-v0", num_envs=2, render_mode="ansi")
    texts.reset(seed=1)
    assert all("3DOWN" in text for text in texts.render())
    silent = gymnasium.make_vec("ThreeUp/2p-v0", num_envs=2)
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None


def test_a_vector_plays_the_same_when_it_is_drawn() -> None:
    plain, drawn = (
        gymnasium.make_vec("ThreeUp/3p-v0", num_envs=4, opponent="random", render_mode=mode)
        for mode in (None, "rgb_array")
    )
    observations, infos = plain.reset(seed=1)
    assert (drawn.reset(seed=1)[0] == observations).all()
    for _ in range(60):
        actions = infos["action_mask"].argmax(axis=1)
        observations, _, _, _, infos = plain.step(actions)
        assert (drawn.step(actions)[0] == observations).all()


def test_stable_baselines_gets_images() -> None:
    sb3 = pytest.importorskip("threeup_env.sb3")
    envs = sb3.ThreeUpVecEnv(Rules.standard(2), 4, render_mode="rgb_array", render_size=SMALL, seed=1)
    envs.reset()
    assert envs.render_mode == "rgb_array"
    assert [image.shape for image in envs.get_images()] == [(120, 160, 3)] * 4
    assert envs.render().shape == (240, 320, 3)
    assert envs.metadata["render_fps"] == RENDER_FPS
    assert sb3.ThreeUpVecEnv(Rules.standard(2), 2).get_images() == [None, None]


def test_a_window_shows_the_picture_by_itself() -> None:
    env = gymnasium.make("ThreeUp/2p-v0", render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    twin = gymnasium.make("ThreeUp/2p-v0", render_mode="rgb_array", render_size=SMALL)
    twin.reset(seed=1)
    for _ in range(4):
        assert pygame.display.get_surface().get_size() == SMALL
        assert shown() == twin.render().tobytes()
        step(env)
        step(twin)
    assert env.render() is None
    env.close()
    assert pygame.display.get_surface() is None
    env.close()


def test_a_window_of_pettingzoo() -> None:
    env = threeup_v0.env(render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    first = shown()
    for _ in range(8):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    assert shown() != first
    env.close()
    assert pygame.display.get_surface() is None


def test_copies_and_pickles_draw_the_same_and_have_no_window() -> None:
    env = started(render_mode="human")
    for other in (copy.deepcopy(env.unwrapped), pickle.loads(pickle.dumps(env.unwrapped))):
        assert other._renderer._window is None
        before = shown()
        other.render()
        assert shown() == before
    env.close()
    pygame.quit()


def test_wrappers_of_gymnasium_that_look() -> None:
    env = RenderCollection(started(render_mode="rgb_array").unwrapped)
    env.reset(seed=1)
    step(env, 3)
    assert len(env.render()) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        window = HumanRendering(gymnasium.make("ThreeUp/2p-v0", render_mode="rgb_array", render_size=SMALL))
    window.metadata["render_fps"] = FAST
    window.reset(seed=1)
    step(window)
    window.close()


@pytest.mark.optional
def test_videos_are_recorded(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    folder = tmp_path / "videos"
    env = RecordVideo(
        gymnasium.make(HOUSE, render_mode="rgb_array", render_size=SMALL), str(folder), episode_trigger=lambda _: True
    )
    env.reset(seed=1)
    step(env, 6)
    env.close()
    assert [path.suffix for path in folder.iterdir()] == [".mp4"]
    assert next(folder.iterdir()).stat().st_size > 1000


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"seat": 2}, "render_seat"),
        ({"seat": True}, "render_seat"),
        ({"seat": "everybody"}, "render_seat"),
        ({"size": (0, 10)}, "render_size"),
        ({"size": (10, 10, 10)}, "render_size"),
        ({"size": (10.0, 10)}, "render_size"),
        ({"size": "ab"}, "render_size"),
        ({"size": (9000, 10)}, "render_size"),
        ({"mode": "hologram"}, "render_mode"),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], name: str) -> None:
    arguments = {"mode": "ansi", "seat": None, "size": SMALL} | wrong
    with pytest.raises(InvalidConfigError, match=f"{name}: .* allowed"):
        Renderer(**arguments, rules=Rules.standard(2), metadata=ThreeUpEnv.metadata)


@pytest.mark.parametrize(("missing", "mode", "extra"), [("PIL", "rgb_array", "render"), ("pygame", "human", "human")])
def test_a_missing_package_is_named(missing: str, mode: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("picture", "faces", "window"):
        monkeypatch.delitem(sys.modules, f"threeup_env.render.{name}", raising=False)
    with pytest.raises(DependencyNotInstalled, match=rf"pip install 'threeup-env\[{extra}\]'"):
        gymnasium.make("ThreeUp/2p-v0", render_mode=mode)
    gymnasium.make("ThreeUp/2p-v0", render_mode="ansi")


def test_nothing_that_draws_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, gymnasium, threeup_env, threeup_env.cli, threeup_env.threeup_v0; "
        "gymnasium.make('ThreeUp/2p-v0', render_mode='ansi').reset(); "
        "print(sorted({'PIL', 'pygame', 'prompt_toolkit', 'moviepy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_pictures_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "table.png"
    Image.fromarray(started(render_mode="rgb_array").render()).save(path)
    with Image.open(path) as image:
        assert image.size == SMALL
