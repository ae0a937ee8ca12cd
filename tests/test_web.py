"""The web server, request by request: what a seat is told, and what every request is checked for."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from threeup_env import Game, GameRecord, Rules
from threeup_env.actions import ACTIONS
from threeup_env.agents import GreedyAgent, agent_names
from threeup_env.errors import BusyServerError, IllegalActionError, InvalidConfigError, NotNowError, UnknownSeatError
from threeup_env.registration import ENV_RULES
from threeup_env.render.table import look
from threeup_env.web.coach import describe_coaches, make_coach, policy_names
from threeup_env.web.frames import first_frame, parse_records, replay_frames, write_table
from threeup_env.web.session import PERSON, GameSession, Sessions

from .tables import choose, play, table
from .test_hiding import twin

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from threeup_env.web import app as web

AGENTS = {name: name for name in agent_names()}
DUEL = "ThreeUp/2p-v0"
Json = dict[str, Any]


def _name(rules: Rules) -> str:
    return ",".join(f"{name}={value}" for name, value in list(rules.to_dict().items())[:3])


class Clock:
    """Time that stands still until it is moved on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(clock: Clock) -> Sessions:
    return Sessions(AGENTS, clock=clock)


@pytest.fixture
def client(sessions: Sessions) -> Iterator[TestClient]:
    with TestClient(web.make_app(sessions), base_url="http://127.0.0.1:8000") as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def start(client: TestClient, **body: Any) -> str:
    """Open a table; the token of its first person."""
    answer = client.post("/api/tables", json={"env": DUEL, "players": ["human", "greedy"], "seed": 1} | body)
    assert answer.status_code == 201, answer.text
    token: str = answer.json()["seats"][0]["token"]
    return token


def see(client: TestClient, token: str, after: int = 0) -> Json:
    answer = client.get(f"/api/seat?after={after}", headers=bearer(token))
    assert answer.status_code == 200, answer.text
    view: Json = answer.json()
    return view


def act(client: TestClient, token: str, made: int, action: str | int, after: int = 0) -> Any:
    body = {"made": made, "action": action, "after": after}
    return client.post("/api/seat/act", json=body, headers=bearer(token))


def play_out(client: TestClient, token: str, choose_one: Callable[[list[str]], str] = lambda legal: legal[0]) -> Json:
    view = see(client, token)
    while view["outcome"] is None:
        legal = view["frames"][-1]["table"]["legal"]
        answer = act(client, token, view["made"], choose_one(legal), view["next"])
        assert answer.status_code == 200, answer.text
        view = answer.json()
    return view


# A game


@pytest.mark.parametrize("env", [DUEL, "ThreeUp/House-3p-v0", "ThreeUp/Match-2p-v0", "ThreeUp/Mini-2p-v0"])
def test_a_game_is_played_to_its_end_and_recorded(client: TestClient, env: str) -> None:
    rng = random.Random(3)
    players = [PERSON, "greedy", "random"][: ENV_RULES[env].num_players]
    token = start(client, env=env, players=players)
    view = play_out(client, token, rng.choice)
    assert view["names"] == players
    answer = client.get("/api/seat/record", headers=bearer(token))
    assert "attachment" in answer.headers["content-disposition"]
    record = GameRecord.from_json(answer.text)
    assert record.rules == ENV_RULES[env]
    assert record.players == tuple(players)
    for _ in record.replay():
        pass
    assert record.result is not None
    assert list(record.result.places) == view["outcome"]["places"]


def test_a_table_plays_the_deal_of_its_seed(client: TestClient) -> None:
    deals = {
        seed: see(client, start(client, seed=seed))["frames"][0]["table"]["seats"][0]["hand"] for seed in (1, 1, 2)
    }
    assert len({json.dumps(hand) for hand in deals.values()}) == 2


def test_frames_are_what_the_seat_sees(client: TestClient, sessions: Sessions) -> None:
    token = start(client, env="ThreeUp/3p-v0", players=["greedy", "human", "random"])
    for _ in range(12):
        view = see(client, token)
        game = sessions.find(token)[0]._game
        table = view["frames"][-1]["table"]
        assert table == json.loads(json.dumps(write_table(look(game, 1))))
        assert table["player"] == 1
        answer = act(client, token, view["made"], table["legal"][0])
        assert answer.status_code == 200


def test_only_new_frames_are_sent(client: TestClient) -> None:
    token = start(client)
    view = see(client, token)
    assert see(client, token, view["next"])["frames"] == []
    later = act(client, token, view["made"], view["frames"][-1]["table"]["legal"][0], view["next"]).json()
    assert see(client, token)["frames"] == view["frames"] + later["frames"]
    assert see(client, token, 10**6)["frames"] == []


def test_actions_are_taken_by_index_too(client: TestClient) -> None:
    token = start(client)
    view = see(client, token)
    first = view["frames"][-1]["table"]["legal"][0]
    assert act(client, token, 0, ACTIONS.index(first)).json()["made"] == 1


def test_people_have_seats_of_their_own(client: TestClient) -> None:
    answer = client.post("/api/tables", json={"env": DUEL, "players": ["human", "human"], "seed": 4})
    tokens = [seat["token"] for seat in answer.json()["seats"]]
    views = [see(client, token) for token in tokens]
    assert [view["seat"] for view in views] == [0, 1]
    for seat, view in enumerate(views):
        assert [one["hand_open"] for one in view["frames"][0]["table"]["seats"]] == [seat == 0, seat == 1]
    deciding = views[0]["frames"][-1]["table"]["player"]
    legal = views[deciding]["frames"][-1]["table"]["legal"]
    assert views[1 - deciding]["frames"][-1]["table"]["legal"] == []
    assert act(client, tokens[1 - deciding], 0, legal[0]).status_code == 409
    assert act(client, tokens[deciding], 0, legal[0]).status_code == 200


# What a seat is told


@pytest.mark.parametrize("rules", [Rules.standard(2), Rules.house(3, failed_flip="stay"), Rules.match(2)], ids=_name)
def test_hidden_cards_change_no_byte(client: TestClient, sessions: Sessions, rules: Rules) -> None:
    """10.4: two games that differ only in what is hidden from a seat give it the same answers, byte for byte."""
    rng = random.Random(5)
    differed = 0
    for seed in range(12):
        game = Game(rules, seed)
        for _ in range(rng.randrange(120)):
            if game.player is not None:
                game.play(choose(game, rng, 0.7))
        if game.player is None:
            continue
        seat = rng.randrange(rules.num_players)
        other = twin(game, seat, rng)
        differed += other.state.tobytes() != game.state.tobytes()
        people: list[GreedyAgent | None] = [None] * rules.num_players
        names = [PERSON] * rules.num_players
        tokens = [sessions.add(GameSession(one, people, names))[seat] for one in (game, other)]
        assert len({client.get("/api/seat", headers=bearer(token)).content for token in tokens}) == 1
        refusals = {act(client, token, 0, "play 1x7").content for token in tokens}
        assert len(refusals) == 1
        records = {client.get("/api/seat/record", headers=bearer(token)).content for token in tokens}
        assert len(records) == 1
    assert differed > 5


@pytest.mark.parametrize("rules", [Rules.house(3, failed_flip="stay"), Rules.geeky(2), Rules.standard(2)], ids=_name)
def test_a_story_tells_nothing_hidden(rules: Rules) -> None:
    """What others do is told alike in two games that look alike before and after it."""
    rng = random.Random(8)
    compared = 0
    for seed in range(4):
        game = Game(rules, seed)
        for _ in range(150):
            if game.player is None:
                break
            seat = (game.player + 1) % rules.num_players
            other = twin(game, seat, rng)
            action = choose(game, rng, 0.7)
            sessions = [GameSession(one.copy(), [None] * rules.num_players, ["x"] * rules.num_players)
                        for one in (game, other)]  # fmt: skip
            games = [session._game for session in sessions]
            mover = game.player
            game.play(action)
            try:
                for session in sessions:
                    session._play(mover, action)
            except IllegalActionError:
                continue
            if games[0].observation(seat).tobytes() == games[1].observation(seat).tobytes():
                views = [json.dumps(session.view(seat)) for session in sessions]
                # Colours tell no more than kinds where no rule reads them, yet pictures show them.
                if look(games[0], seat) == look(games[1], seat):
                    compared += 1
                    assert views[0] == views[1]
    assert compared > 80


def test_colours_said_in_set_up_show_nowhere() -> None:
    """2.3: others cannot count whether a card took one decision or two."""
    game = table("g9 g9 g10 | g7 r7 g8 | b7 r8 g1", "b9 b9 b10 | b6 r6 g6 | b1 r1 b2", color_swap=True, lay_up=False)
    session = GameSession(game, [None, None], ["a", "b"])
    made = 0
    while game.player == 0:
        session.act(0, made, game.legal_actions[0])
        made += 1
    assert made > 3, "no colour was asked"
    frames = session.view(1)["frames"]
    assert len(frames) == 4
    assert session.view(1)["next"] == 4
    assert [effect["text"] for frame in frames[1:] for effect in frame["effects"]] == ["lay a card face up"] * 3
    assert "up 7" not in json.dumps(frames)
    assert "color" not in json.dumps([frame["table"]["said"] for frame in frames])


def test_the_record_is_sent_only_when_the_game_is_over(client: TestClient) -> None:
    token = start(client)
    refused = client.get("/api/seat/record", headers=bearer(token))
    assert refused.status_code == 409
    assert "not over" in refused.json()["error"]
    assert "deck" not in refused.text


def test_failures_of_the_server_tell_nothing(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the draw pile begins with g7")

    with TestClient(web.make_app(sessions), "http://127.0.0.1", raise_server_exceptions=False) as client:
        token = start(client)
        monkeypatch.setattr(GameSession, "view", fail)
        answer = client.get("/api/seat", headers=bearer(token))
    assert answer.status_code == 500
    assert "g7" not in answer.text


# What is refused


def test_an_illegal_action_changes_nothing(client: TestClient) -> None:
    token = start(client)
    before = see(client, token)
    for action in ("take", "play 99", "", "up 11", 10**9, -1, 143, "' OR 1=1"):
        answer = act(client, token, 0, action)
        assert answer.status_code == 400
        assert "illegal" in answer.json()["error"]
    assert see(client, token) == before


def test_a_decision_is_made_once(client: TestClient) -> None:
    token = start(client)
    legal = see(client, token)["frames"][-1]["table"]["legal"]
    assert act(client, token, 0, legal[0]).status_code == 200
    after = see(client, token)
    for made in (0, 2, 10**30):
        assert act(client, token, made, legal[0]).status_code == 409
    assert see(client, token) == after


def test_two_clicks_at_once_are_one() -> None:
    game = Game(Rules.standard(2), seed=1, first_player=0)
    session = GameSession(game, [None, None], ["a", "b"])
    action = next(a for a in game.legal_actions)
    errors: list[Exception] = []

    def click() -> None:
        try:
            session.act(0, 0, action)
        except NotNowError as error:
            errors.append(error)

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 7
    assert session.view(0)["made"] == 1


def test_after_the_end_nothing_is_decided(client: TestClient) -> None:
    token = start(client, env="ThreeUp/Mini-2p-v0")
    view = play_out(client, token)
    assert act(client, token, view["made"], "take").status_code == 409
    assert client.get("/api/seat/coach?name=x", headers=bearer(token)).status_code in (400, 409)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/tables", b"", 400),
        ("/api/tables", b"{", 400),
        ("/api/tables", b"[]", 400),
        ("/api/tables", b"\xff\xfe", 400),
        ("/api/tables", b"[" * 100_000, 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "more": 1}', 400),
        ("/api/tables", b'{"players": "human"}', 400),
        ("/api/tables", b'{"players": ["human"]}', 400),
        ("/api/tables", b'{"players": ["greedy", "greedy"]}', 400),
        ("/api/tables", b'{"players": ["human", "nobody"]}', 400),
        ("/api/tables", b'{"players": ["human", "/etc/passwd"]}', 400),
        ("/api/tables", b'{"players": ["human", "../x.safetensors"]}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "seed": -1}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "seed": true}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "seed": 1e400}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "env": "ThreeUp/9p-v0"}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "rules": {"nope": 1}}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "rules": {"hand_size": 99}}', 400),
        ("/api/tables", b'{"players": ["human", "greedy"], "rules": {"max_decisions": 1000000000}}', 400),
        ("/api/replay", b"", 400),
        ("/api/replay", b"{}", 400),
        ("/api/replay", b"\x00\x01", 400),
        ("/api/replay", b"x" * (web.MOST_BYTES + 1), 413),
        ("/api/nothing", b"{}", 404),
        ("/api/options", b"{}", 405),
    ],
)
def test_junk_is_refused_in_words(client: TestClient, sessions: Sessions, path: str, body: bytes, status: int) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    if status != 413:
        assert answer.json()["error"]
    assert len(sessions) == 0


@pytest.mark.parametrize(
    "body",
    [
        {"made": 0},
        {"made": "0", "action": "take"},
        {"made": True, "action": "take"},
        {"made": 0, "action": None},
        {"made": 0, "action": 1.5},
        {"made": 0, "action": "x" * 100},
    ],
)
def test_junk_at_a_table_is_refused(client: TestClient, body: Json) -> None:
    token = start(client)
    before = see(client, token)
    assert client.post("/api/seat/act", json=body, headers=bearer(token)).status_code == 400
    assert see(client, token) == before


def test_a_form_cannot_post(client: TestClient) -> None:
    assert client.post("/api/tables", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415


@pytest.mark.parametrize("after", ["-1", "x", "1e9", "9" * 40, "\u0661"])
def test_numbers_of_frames(client: TestClient, after: str) -> None:
    token = start(client)
    assert client.get("/api/seat", params={"after": after}, headers=bearer(token)).status_code == 400


def test_a_seat_needs_its_token(client: TestClient) -> None:
    token = start(client)
    assert client.get("/api/seat").status_code == 401
    assert client.get("/api/seat", headers={"Authorization": token}).status_code == 401
    for wrong in ("x", token[:-1], token + "x", token.upper(), "\u00e9"):
        answer = client.get("/api/seat", headers={b"Authorization": f"Bearer {wrong}".encode("latin-1")})
        assert answer.status_code == 404
        assert token not in answer.text


# Who may ask


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1:8000", 200),
        ("192.168.1.7:8000", 200),
        ("[::1]:8000", 200),
        ("[::1]", 200),
        ("evil.example", 400),
        ("evil.example:8000", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("", 400),
    ],
)
def test_names_that_somebody_points_here_are_refused(client: TestClient, host: str, status: int) -> None:
    assert client.get("/api/options", headers={"Host": host}).status_code == status


def test_names_that_were_allowed(sessions: Sessions) -> None:
    with TestClient(web.make_app(sessions, ["Cards.example"]), "http://cards.example:8000") as client:
        assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_other_pages_cannot_post(client: TestClient, headers: dict[str, str], status: int) -> None:
    body = {"env": DUEL, "players": ["human", "greedy"]}
    assert client.post("/api/tables", json=body, headers=headers).status_code == status


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/replay", "/static/style.css", "/static/board.js", "/api/options", "/api/nothing"):
        answer = client.get(path)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in answer.text
    assert client.get("/api/options").headers["cache-control"] == "no-store"


def test_files_outside_are_out_of_reach(client: TestClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"):
        assert client.get(path).status_code == 404


# Many tables


def test_tables_do_not_touch_each_other(client: TestClient, sessions: Sessions) -> None:
    tokens = [start(client, seed=seed) for seed in (1, 2, 1)]
    assert len(set(tokens)) == 3
    before = [see(client, token) for token in tokens]
    assert before[0] == before[2]
    act(client, tokens[0], 0, before[0]["frames"][-1]["table"]["legal"][0])
    assert see(client, tokens[0]) != before[0]
    assert [see(client, token) for token in tokens[1:]] == before[1:]
    assert len(sessions) == 3


def test_there_is_room_for_so_many_tables(clock: Clock) -> None:
    sessions = Sessions(AGENTS, most=2, clock=clock)
    with TestClient(web.make_app(sessions), "http://127.0.0.1") as client:
        tokens = [start(client) for _ in range(2)]
        refused = client.post("/api/tables", json={"env": DUEL, "players": ["human", "greedy"]})
        assert refused.status_code == 503
        assert "2 tables" in refused.json()["error"]
        assert client.post("/api/seat/close", json={}, headers=bearer(tokens[0])).status_code == 200
        assert client.get("/api/seat", headers=bearer(tokens[0])).status_code == 404
        start(client)


def test_tables_are_opened_at_a_rate(clock: Clock) -> None:
    sessions = Sessions(AGENTS, most=10**6, clock=clock)
    rules = Rules.mini(2)
    with pytest.raises(BusyServerError, match="in a minute"):
        for _ in range(1000):
            sessions.start(rules, [PERSON, "greedy"], 1)
    clock.now += 61
    sessions.start(rules, [PERSON, "greedy"], 1)


def test_idle_tables_are_closed(client: TestClient, clock: Clock, sessions: Sessions) -> None:
    idle, used = start(client), start(client)
    for _ in range(4):
        clock.now += sessions.idle_seconds * 0.6
        see(client, used)
    assert len(sessions) == 1
    refused = client.get("/api/seat", headers=bearer(idle))
    assert refused.status_code == 404
    assert "closed" in refused.json()["error"]
    with pytest.raises(UnknownSeatError):
        sessions.find(idle)


def test_agents_that_fit(client: TestClient) -> None:
    for env, rules in ENV_RULES.items():
        fitting = client.get("/api/fitting", params={"env": env}).json()
        assert {"human", "random", "greedy"} <= set(fitting["players"])
        assert set(policy_names(AGENTS, rules)) <= set(fitting["players"])
    assert client.get("/api/fitting?env=x").status_code == 400


# Coach


def test_coaches_tell_what_a_policy_and_a_search_think(client: TestClient) -> None:
    token = start(client)
    view = see(client, token)
    coaches = client.get("/api/seat/coach", headers=bearer(token)).json()["coaches"]
    assert {coach["tells"] for coach in coaches} == {"probabilities", "values"}
    for coach in coaches:
        answer = client.get("/api/seat/coach", params={"name": coach["name"]}, headers=bearer(token)).json()
        assert answer["made"] == view["made"]
        advice = answer["advice"]
        assert [one["action"] for one in advice] == view["frames"][-1]["table"]["legal"]
        if coach["tells"] == "probabilities":
            assert sum(one["probability"] for one in advice) == pytest.approx(1, abs=0.01)
            assert all(one["value"] is None for one in advice)
        else:
            assert all(-1 <= one["value"] <= 1 and one["visits"] > 0 for one in advice)
            assert all(one["probability"] is None for one in advice)
    assert client.get("/api/seat/coach?name=greedy", headers=bearer(token)).status_code == 400
    assert see(client, token) == view


@pytest.mark.parametrize("tells", ["probabilities", "values"])
def test_advice_rests_on_what_the_seat_knows(tells: str) -> None:
    rules = Rules.standard(2)
    rng = random.Random(2)
    name = next(one["name"] for one in describe_coaches(AGENTS, rules) if one["tells"] == tells)
    coach = make_coach(name, AGENTS, rules)
    for seed in range(10):
        game = Game(rules, seed)
        for _ in range(rng.randrange(60)):
            if game.player is not None:
                game.play(choose(game, rng, 0.6))
        if game.player is not None:
            assert coach.advise(game, game.player) == coach.advise(twin(game, game.player, rng), game.player)


def test_a_forced_move_is_not_searched() -> None:
    game = table("g1 | gC | rC", "b9 | r10 | r9")
    coach = make_coach("search", AGENTS | {"search": "search:50"}, game.rules)
    (advice,) = coach.advise(play(game, "play C", "play 9", "play C", "play 10", "flip 0"), 1)
    assert (advice.action, advice.value, advice.visits) == ("flip 0", None, 0)


def test_no_coach_for_other_rules() -> None:
    with pytest.raises(InvalidConfigError, match="allowed: search"):
        make_coach("ppo-2p", AGENTS, Rules(2, hand_size=5))
    with pytest.raises(InvalidConfigError, match="none under these rules"):
        make_coach("greedy", {"greedy": "greedy"}, Rules(2))


# Replay


def a_game(rules: Rules, seed: int, most: int = 10**6) -> Game:
    rng = random.Random(seed)
    game = Game(rules, seed)
    for _ in range(most):
        if game.player is None:
            break
        game.play(choose(game, rng, 0.7))
    return game


def seen_by(frame: Json, viewer: int | str | None) -> list[Json]:
    """The seats as the page shows them: `Replay.table` in replay.js."""
    shown = []
    for seat, (closed, own, opened) in enumerate(frame["table"]["seats"]):
        owners = own or closed
        shown.append((opened or owners) if viewer == "all" else owners if viewer == seat else closed)
    return shown


@pytest.mark.parametrize("rules", [Rules.house(3, failed_flip="stay"), Rules.match(2), Rules.geeky(2)], ids=_name)
def test_replays_hold_every_view(rules: Rules) -> None:
    record = a_game(rules, 3).record(["a", "b", "c"][: rules.num_players])
    replay = json.loads(json.dumps(replay_frames(record)))
    game = record.replay().game
    frames = iter(replay["frames"])
    actions = [action for deal in record.deals for action in deal.actions]
    assert len(replay["frames"]) == len(actions) + 1
    for action in [*actions, None]:
        frame = next(frames)
        assert frame.get("action") == action
        for viewer in ("all", None, *range(rules.num_players)):
            wanted = json.loads(json.dumps(write_table(look(game, viewer))))
            assert seen_by(frame, viewer) == wanted.pop("seats")
            closed = viewer not in ("all", game.player)
            shown = dict(frame["table"])
            shown["said"] = shown["said_closed"] if closed else shown["said"]
            shown["legal"] = [] if closed else shown["legal"]
            assert {name: shown[name] for name in wanted} == wanted
        if action is not None:
            game.play(action)
    assert replay["outcome"]["places"] == list(record.result.places if record.result else ())


def test_replays_show_what_a_policy_would_do(client: TestClient) -> None:
    record = a_game(Rules.standard(2), 1).record()
    game = client.post("/api/replay", content=record.to_json()).json()["games"][0]
    assert game["policies"] == policy_names(AGENTS, record.rules)
    assert game["policy"] == game["policies"][0]
    for frame in game["frames"][:-1]:
        assert [action for action, _ in frame["advice"]] == frame["table"]["legal"]
        assert sum(chance for _, chance in frame["advice"]) == pytest.approx(1, abs=0.01)
    assert "advice" not in game["frames"][-1]


def test_several_games_and_unfinished_ones(client: TestClient) -> None:
    records = [a_game(Rules.house(2), 1).record(), a_game(Rules.match(2), 2, most=50).record()]
    text = "\n".join(record.to_json() for record in records) + "\n\n"
    games = client.post("/api/replay", content=text).json()["games"]
    assert [game["unfinished"] for game in games] == [False, True]
    assert games[1]["outcome"] is None
    assert len(games[1]["frames"]) == 51


def test_records_that_break_the_rules_are_refused(client: TestClient) -> None:
    record = a_game(Rules.standard(2), 1).record().to_dict()
    record["deals"][0]["actions"][8] = "play 1x7"
    answer = client.post("/api/replay", content=json.dumps(record))
    assert answer.status_code == 400
    assert "game 0, deal 0, decision 8: action 'play 1x7' is illegal" in answer.json()["error"]
    too_many = (a_game(Rules.mini(2), 1).record().to_json() + "\n") * (web.MOST_GAMES + 1)
    assert client.post("/api/replay", content=too_many).status_code == 400


def test_wrong_results_are_refused(client: TestClient) -> None:
    record = a_game(Rules.standard(2), 1).record().to_dict()
    record["result"]["scores"] = [0, 0]
    record["result"]["places"] = [1, 1]
    answer = client.post("/api/replay", content=json.dumps(record))
    assert answer.status_code == 400
    assert "result" in answer.json()["error"]


def test_first_frames_begin_with_the_deal() -> None:
    game = Game(Rules.match(3), seed=1, first_player=2)
    frame = first_frame(game, 0)
    assert [effect["kind"] for effect in frame["effects"]] == ["deal"]
    assert "seat 2 begins" in frame["effects"][0]["text"]


def test_records_are_parsed_line_by_line() -> None:
    line = a_game(Rules.mini(2), 1).record().to_json()
    assert len(parse_records(f"\n{line}\r\n \n{line}".encode(), 2)) == 2
