"""The pages in a real browser, without a screen: Chromium from the system, driven by Playwright.

Screenshots are written where the environment variable `THREEUP_SHOTS` names a folder.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from threeup_env import Game, GameRecord, Rules
from threeup_env.agents import agent_names
from threeup_env.record import write_records
from threeup_env.web.frames import replay_frames
from threeup_env.web.page import write_page
from threeup_env.web.session import Sessions

from .tables import choose

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.optional,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]
Page = Any
WAIT = 60_000
"""Milliseconds until a page has to have done what is waited for: much, since only a fault takes so long."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server."""
    from threeup_env.web.app import make_app

    config = uvicorn.Config(make_app(Sessions({name: name for name in agent_names()})), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as tools:
        # As root, which is what tests in a container run as, Chromium starts only without its sandbox.
        arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


Open = Callable[..., Page]


def is_fault(message: Any) -> bool:
    """Whether a page complains; that the server refused something is for the page to show."""
    return bool(message.type == "error" and not message.text.startswith("Failed to load resource"))


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens pages; what a page complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_one(url: str, width: int = 1280, height: int = 860, **settings: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, **{"reduced_motion": "reduce"} | settings
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if is_fault(message) else None)
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def until(page: Page, condition: str) -> None:
    """Wait until an expression holds. (Playwright's own way evaluates text in the page, which its policy forbids.)"""
    for _ in range(WAIT // 20):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"in vain: {condition}")


def shoot(page: Page, name: str, **settings: Any) -> None:
    folder = os.environ.get("THREEUP_SHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/{name}.png", **settings)


def deal(page: Page, family: str = "", players: int = 2, seed: int = 7, opponent: str | None = None) -> None:
    """Fill in the form and sit down."""
    page.wait_for_selector("#players select")
    page.select_option("#family", family)
    page.select_option("#count", str(players))
    until(page, f"document.querySelectorAll('#players select').length === {players - 1}")
    if opponent is not None:
        page.select_option("#players select", opponent)
    page.click("#setup summary")
    page.fill("#seed", str(seed))
    page.click("#setup button[type=submit]")
    wait_for_turn(page)


def wait_for_turn(page: Page) -> None:
    """Until the page stands still: a decision to make, or the end."""
    until(page, "document.querySelector('#over').open || document.querySelector('#actions [data-action]')")


def is_over(page: Page) -> bool:
    return bool(page.evaluate("document.querySelector('#over').open"))


def lit(page: Page) -> list[str]:
    """The actions that can be clicked on the table."""
    return sorted(set(page.eval_on_selector_all("#board [data-action]", "all => all.map(one => one.dataset.action)")))


def legal(page: Page) -> list[str]:
    """The actions in the row below the table."""
    actions: list[str] = page.eval_on_selector_all(
        "#actions [data-action]", "all => all.map(one => one.dataset.action)"
    )
    return actions


def made(page: Page) -> int:
    """Decisions that the log tells of."""
    count: int = page.locator("#log li.own").count()
    return count


def click_through(page: Page, rng: random.Random, most: int = 2000) -> int:
    """Play by clicks on the table, where it can be clicked; decisions made."""
    for decision in range(most):
        wait_for_turn(page)
        if is_over(page):
            return decision
        actions = legal(page)
        assert set(lit(page)) <= set(actions), "something is lit that is not legal"
        assert set(actions) - set(lit(page)) <= {"pass"} | {a for a in actions if a.startswith("color")}
        action = rng.choice(actions)
        place = "#board" if action in lit(page) else "#actions"
        before = page.locator("#log li").count()
        page.locator(f'{place} [data-action="{action}"]').first.click()
        until(page, f"document.querySelectorAll('#log li').length > {min(before, 399)}")
    return most


def test_a_whole_game_is_played_by_clicks(open_page: Open, address: str) -> None:
    page = open_page(address)
    shoot(page, "setup")
    deal(page, seed=11)
    rng = random.Random(1)
    click_through(page, rng, 12)
    shoot(page, "table")
    click_through(page, rng)
    assert page.locator("#result tbody tr").count() == 2
    assert page.locator("#result tr.own").count() == 1
    shoot(page, "over")
    with page.expect_download() as download:
        page.click("#save")
    record = GameRecord.from_json(Path(download.value.path()).read_text())
    assert record.players == ("human", "greedy")
    assert record.result is not None
    for _ in record.replay():
        pass
    page.click("#watch")
    page.wait_for_selector("#slider")
    until(page, "!document.querySelector('#game').hidden")
    assert int(page.get_attribute("#slider", "max")) == sum(len(deal.actions) for deal in record.deals)


def test_options_are_played_by_clicks(open_page: Open, address: str) -> None:
    page = open_page(address, color_scheme="dark")
    deal(page, "House", 3, seed=5)
    click_through(page, random.Random(2), 6)
    shoot(page, "house-dark")
    click_through(page, random.Random(2))
    assert page.locator("#result tbody tr").count() == 3


def hold_back(page: Page, env_id: str) -> Callable[[], None]:
    """Keep back the one question who can play in an environment; the function returned lets it go to the server."""
    held: list[Any] = []
    page.route(f"**/api/fitting?env={quote(env_id, safe='')}", lambda route: held.append(route))

    def let_go() -> None:
        (route,) = held
        route.continue_()

    return let_go


def test_the_last_choice_counts_whichever_answer_comes_last(open_page: Open, address: str) -> None:
    page = open_page(address)
    page.wait_for_selector("#players select")
    let_go = hold_back(page, "ThreeUp/House-2p-v0")
    page.select_option("#family", "House")
    page.select_option("#count", "3")
    until(page, "document.querySelectorAll('#players select').length === 2")
    with page.expect_response("**/api/fitting?env=ThreeUp%2FHouse-2p-v0"):
        let_go()
    page.wait_for_timeout(100)
    assert page.locator("#players select").count() == 2


def test_cards_are_dealt_to_those_chosen_last(open_page: Open, address: str) -> None:
    """Also if the form is sent before the server has said who can play."""
    page = open_page(address)
    page.wait_for_selector("#players select")
    let_go = hold_back(page, "ThreeUp/4p-v0")
    page.select_option("#count", "4")
    page.click("#setup button[type=submit]")
    page.wait_for_timeout(100)
    assert page.locator("#game").is_hidden()
    let_go()
    wait_for_turn(page)
    assert page.locator("#board .seat").count() == 4


def test_a_whole_game_is_played_by_keys(open_page: Open, address: str) -> None:
    """From the form to the end no mouse is touched."""
    page = open_page(address)
    page.wait_for_selector("#players select")
    page.focus("#family")
    page.keyboard.press("Tab")
    page.focus("#setup button[type=submit]")
    page.keyboard.press("Enter")
    wait_for_turn(page)
    rng = random.Random(4)
    for decision in range(2000):
        wait_for_turn(page)
        if is_over(page):
            break
        actions = legal(page)
        before = page.locator("#log li").count()
        if decision % 2 and len(actions) <= 9:
            page.keyboard.press(str(rng.randrange(len(actions)) + 1))
        else:
            for _ in range(rng.randrange(len(actions)) + 1):
                page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.closest('#actions') !== null")
            page.keyboard.press("Enter")
        until(page, f"document.querySelectorAll('#log li').length > {min(before, 399)}")
    assert decision > 3
    page.keyboard.press("Escape")
    assert not is_over(page)
    page.keyboard.press("?")
    assert page.evaluate("document.querySelector('#help').open")
    shoot(page, "help")


def test_flights_end(open_page: Open, address: str) -> None:
    """With motion too a game goes on, and no card is left in the air."""
    page = open_page(address, reduced_motion="no-preference")
    deal(page, seed=3)
    click_through(page, random.Random(3), 6)
    wait_for_turn(page)
    assert page.locator(".flights").count() == 0


def test_a_reload_keeps_the_table(open_page: Open, address: str) -> None:
    page = open_page(address)
    deal(page)
    click_through(page, random.Random(5), 5)
    wait_for_turn(page)
    before = page.inner_text("#log"), legal(page)
    page.reload()
    wait_for_turn(page)
    assert (page.inner_text("#log"), legal(page)) == before


def test_a_closed_table_says_so(open_page: Open, address: str) -> None:
    page = open_page(f"{address}/static/style.css")
    page.goto(f"{address}/#seat=nobody")
    until(page, "document.querySelector('#setup-error').textContent.includes('closed')")
    page.wait_for_selector("#players select")


def test_two_people_play_each_other(open_page: Open, address: str) -> None:
    first = open_page(address)
    first.wait_for_selector("#players select")
    first.select_option("#players select", "human")
    first.click("#setup button[type=submit]")
    link = first.get_attribute("#invitations a", "href")
    second = open_page(address + link)
    pages = [first, second]
    for _ in range(14):
        for page in pages:
            page.wait_for_selector("#status:not(:empty)")
        page = next(page for page in [*pages, *pages, first] if legal(page) or page is None)
        other = pages[1 - pages.index(page)]
        before = page.locator("#log li").count()
        seen = other.locator("#log li").count()
        page.locator("#actions [data-action]").first.click()
        until(page, f"document.querySelectorAll('#log li').length > {before}")
        until(other, f"document.querySelectorAll('#log li').length > {seen}")
        for page in pages:
            until(page, "!document.querySelector('.flights')")
        first.wait_for_timeout(300)


def test_the_coach_advises(open_page: Open, address: str) -> None:
    page = open_page(address)
    deal(page, seed=7)
    click_through(page, random.Random(9), 7)
    wait_for_turn(page)
    page.keyboard.press("c")
    page.wait_for_selector("#coach tbody tr")
    assert page.locator("#coach tbody tr").count() == len(legal(page))
    assert page.get_attribute("#coach-toggle", "aria-expanded") == "true"
    shoot(page, "coach")
    before = page.locator("#log li").count()
    page.locator("#coach tbody button").first.click()
    until(page, f"document.querySelectorAll('#log li').length > {before}")


@pytest.mark.parametrize(("width", "height", "players"), [(390, 844, 2), (360, 640, 4), (390, 844, 6)])
def test_a_phone_shows_all_of_it(open_page: Open, address: str, width: int, height: int, players: int) -> None:
    page = open_page(address, width, height)
    deal(page, players=players, seed=2)
    click_through(page, random.Random(6), 9)
    wait_for_turn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.eval_on_selector_all(
        "#board .card, #actions button", "all => all.map(one => one.getBoundingClientRect().toJSON())"
    ):
        assert box["left"] >= 0
        assert box["right"] <= width
    heights = page.eval_on_selector_all("#actions button", "all => all.map(one => one.offsetHeight)")
    assert min(heights, default=44) >= 44, "too small for a finger"
    shoot(page, f"phone-{players}", full_page=True)


def test_everything_has_a_name_for_screen_readers(open_page: Open, address: str) -> None:
    page = open_page(address)
    deal(page, seed=7)
    click_through(page, random.Random(9), 5)
    wait_for_turn(page)
    nameless = page.eval_on_selector_all(
        "button, select, input, a, [role=img]",
        """all => all.filter(one => one.checkVisibility() && !one.closest('[aria-hidden=true]')
            && !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length))
            .map(one => one.outerHTML)""",
    )
    assert nameless == []
    tree = page.locator("body").aria_snapshot()
    assert "Your turn" in tree
    assert re.search(r"group \"hand\"", tree)
    assert re.search(r"button \"play .*\((green|red|blue)", tree)
    assert "log" in tree
    assert page.get_attribute("#log", "aria-live") == "polite"


# The replay viewer


def a_record(rules: Rules, seed: int, players: list[str]) -> GameRecord:
    rng = random.Random(seed)
    game = Game(rules, seed)
    while game.player is not None:
        game.play(choose(game, rng, 0.8))
    return game.record(players)


def step_of(page: Page) -> int:
    return int(page.input_value("#slider"))


def test_a_replay_is_stepped_through(open_page: Open, address: str, tmp_path: Path) -> None:
    records = [a_record(Rules.standard(2), seed, ["ann", "<b>bob</b>"]) for seed in (1, 2)]
    write_records(tmp_path / "games.jsonl", records)
    page = open_page(f"{address}/replay")
    page.set_input_files("#file", tmp_path / "games.jsonl")
    page.wait_for_selector("#advice tbody tr")
    actions = records[0].deals[0].actions
    assert page.get_attribute("#slider", "max") == str(len(actions))
    for step, action in enumerate(actions):
        assert step_of(page) == step
        row = page.locator("#advice tr.taken th")
        assert row.count() == 1, action
        page.keyboard.press("ArrowRight")
        until(page, f"document.querySelector('#slider').value === '{step + 1}'")
    assert "game is over" in page.inner_text("#status")
    assert "<b>bob</b>" in page.inner_text("#status"), "names are text"
    page.keyboard.press("Home")
    assert step_of(page) == 0
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowLeft")
    assert step_of(page) == 19
    assert "#game=0&step=19&view=all" in page.url
    shoot(page, "replay")
    page.select_option("#viewer", "1")
    backs = page.locator('[data-zone="hand-0"] .back').count()
    assert backs > 0
    assert page.locator('[data-zone="hand-1"] .back').count() == 0
    page.select_option("#number", "1")
    assert step_of(page) == 0
    page.keyboard.press("End")
    assert step_of(page) == len(records[1].deals[0].actions)


def test_a_link_leads_to_the_position(open_page: Open, address: str, tmp_path: Path) -> None:
    record = a_record(Rules.house(3), 4, ["a", "b", "c"])
    write_records(tmp_path / "games.jsonl", [record])
    page = open_page(f"{address}/replay", permissions=["clipboard-read", "clipboard-write"])
    page.set_input_files("#file", tmp_path / "games.jsonl")
    page.wait_for_selector("#advice tbody tr")
    page.evaluate("document.querySelector('#slider').value = 33")
    page.dispatch_event("#slider", "input")
    page.click("#link")
    until(page, "document.querySelector('#link').textContent === 'Copied'")
    link = page.evaluate("navigator.clipboard.readText()")
    other = open_page(link)
    other.wait_for_selector("#advice")
    until(other, "document.querySelector('#slider').value === '33'")
    assert other.inner_text("#board") == page.inner_text("#board")
    assert other.inner_text("#advice") == page.inner_text("#advice")


def test_play_runs_to_the_end(open_page: Open, tmp_path: Path) -> None:
    record = a_record(Rules.mini(2), 4, ["a", "b"])
    (tmp_path / "game.html").write_text(write_page([replay_frames(record)]), "utf-8")
    page = open_page((tmp_path / "game.html").as_uri(), reduced_motion="no-preference")
    page.clock.install()
    page.keyboard.press(" ")
    for _ in range(3 * len(record.deals[0].actions)):
        page.clock.run_for(1000)
        page.wait_for_timeout(20)
    assert step_of(page) == len(record.deals[0].actions)
    assert page.inner_text("#run") == "▶ Play"


def test_one_page_holds_a_game(open_page: Open, tmp_path: Path) -> None:
    """It works from a file, asks for nothing, and no name in it becomes a script."""
    names = ["</script><script>document.title='broken'</script>", "<img src=x onerror=alert(1)>"]
    games = [replay_frames(a_record(Rules.standard(2), seed, names), seed) for seed in (1, 2)]
    path = tmp_path / "game.html"
    path.write_text(write_page(games), "utf-8")
    asked: list[str] = []
    page = open_page("about:blank")
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{path.as_uri()}#game=1&step=17&view=0")
    page.wait_for_selector("#board .seat")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert step_of(page) == 17
    assert page.input_value("#number") == "1"
    assert page.input_value("#viewer") == "0"
    assert "broken" not in page.title()
    assert names[0] in page.inner_text("#board")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('#slider').value === '18'")
    shoot(page, "page")


def test_a_file_that_is_none_is_told(open_page: Open, address: str, tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text(json.dumps({"format": "x"}))
    page = open_page(f"{address}/static/style.css")
    page.goto(f"{address}/replay#record=_junk_")
    until(page, "document.querySelector('#error').textContent.includes('damaged')")
