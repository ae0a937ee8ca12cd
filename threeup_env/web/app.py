"""HTTP: the pages, and a JSON interface that checks every request.

| request | answer |
|---|---|
| `GET /api/options` | environment IDs, agents, and what the server allows |
| `POST /api/tables` | opens a table: `{"env" or "rules", "players", "seed"}` → a token for each person's seat |
| `GET /api/seat?after=N` | what the seat may see: its frames from number N on (`session.GameSession.view`) |
| `POST /api/seat/act` | a decision: `{"made", "action"}` → as `GET /api/seat`, from `after` on |
| `GET /api/seat/coach?name=NAME` | probability and value of each legal action |
| `GET /api/seat/record` | the record, once the game is over |
| `POST /api/seat/close` | closes the table |
| `POST /api/replay?policy=NAME` | records as text, one a line → their frames (`frames.replay_frames`) |

A seat is named by its token: `Authorization: Bearer TOKEN`. An error is `{"error": TEXT}` with a status of 4xx or 5xx.

The server is for one machine: it answers to an address or to a name it was told, not to a name that somebody has
pointed at it (DNS rebinding), and takes a `POST` from its own pages alone.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import uvicorn
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import BusyServerError, InvalidConfigError, NotNowError, ThreeUpError, UnknownSeatError
from ..registration import ENV_RULES, rules_of
from ..rules import Rules
from .coach import describe_coaches, find_policy, make_coach, policy_names, write_advice
from .frames import Json, parse_records, replay_frames
from .session import MOST_DECISIONS, PERSON, GameSession, Sessions

STATIC: Final = Path(__file__).with_name("static")
MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes in the body of a request."""
MOST_GAMES: Final = 50
"""Games in one file of the replay viewer."""
MOST_REPLAYED: Final = 20_000
"""Decisions in them, all together."""
LOCAL_NAMES: Final = ("localhost",)
_STATUS: Final[tuple[tuple[type[ThreeUpError], int], ...]] = (
    (UnknownSeatError, 404),
    (NotNowError, 409),
    (BusyServerError, 503),
    (ThreeUpError, 400),
)
_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class NewTable(BaseModel):
    """What `POST /api/tables` takes.

    Attributes:
        env: Environment ID that the rules come from.
        rules: Switches, instead of those of `env` where both are given.
        players: For each seat the name of an agent, or `"human"`.
        seed: Seeds the deals and the agents.
    """

    model_config = ConfigDict(extra="forbid")

    env: StrictStr | None = Field(default=None, max_length=100)
    rules: dict[str, Any] | None = None
    players: list[Annotated[str, Field(max_length=200)]] = Field(min_length=1, max_length=6)
    seed: Annotated[StrictInt, Field(ge=0, lt=2**64)] | None = None

    def read_rules(self) -> Rules:
        """The rules of the table.

        Raises:
            InvalidRulesError, UnknownEnvError: They are none.
        """
        base = rules_of(self.env).to_dict() if self.env is not None else {}
        return Rules.from_dict(base | (self.rules or {}))


class Act(BaseModel):
    """What `POST /api/seat/act` takes.

    Attributes:
        made: Decisions that the seat has made before this one.
        action: Index or written form.
        after: How many frames the seat has been shown.
    """

    model_config = ConfigDict(extra="forbid")

    made: Annotated[StrictInt, Field(ge=0)]
    action: StrictInt | Annotated[StrictStr, Field(max_length=40)]
    after: Annotated[StrictInt, Field(ge=0)] = 0


_Model = TypeVar("_Model", bound=BaseModel)


async def _read(model: type[_Model], request: Request) -> _Model:
    """The body of a request.

    Raises:
        HTTPException: It is not what `model` says, or no JSON; the text names the key and what is allowed.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "content-type is wrong; allowed: application/json")
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        ]
        raise HTTPException(400, "; ".join(faults)) from None


def _answer(content: Json, status: int = 200) -> Response:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, {"Cache-Control": "no-store"}, "application/json")


async def _on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return _answer({"error": error.detail}, error.status_code)
    for kind, status in _STATUS:
        if isinstance(error, kind):
            return _answer({"error": str(error)}, status)
    # What went wrong may tell of hidden cards, so the log of the server alone tells it.
    return _answer({"error": "the server failed to answer; its log says why"}, 500)


class _Handlers:
    """What answers each path."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def _seat(self, request: Request) -> tuple[GameSession, int]:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise HTTPException(401, "authorization is missing; allowed: Bearer and the token of a seat")
        return self._sessions.find(token.strip())

    async def options(self, request: Request) -> Response:
        """Everything that a new table can be made of."""
        envs = [{"id": env, "num_players": rules.num_players} for env, rules in ENV_RULES.items()]
        return _answer(
            {
                "envs": envs,
                "players": [PERSON, *self._sessions.agents],
                "defaults": Rules().to_dict(defaults=True),
                "most_decisions": MOST_DECISIONS,
            }
        )

    async def fitting(self, request: Request) -> Response:
        """Who can play under the rules of an environment."""
        rules = rules_of(request.query_params.get("env", ""))
        names = await run_in_threadpool(self._sessions.fitting, rules)
        return _answer({"players": [PERSON, *names]})

    async def open_table(self, request: Request) -> Response:
        """Open a table."""
        wanted = await _read(NewTable, request)
        rules = wanted.read_rules()
        tokens = await run_in_threadpool(self._sessions.start, rules, wanted.players, wanted.seed)
        return _answer({"seats": [{"seat": seat, "token": token} for seat, token in tokens.items()]}, 201)

    async def view(self, request: Request) -> Response:
        """What the seat may see."""
        session, seat = self._seat(request)
        return _answer(await run_in_threadpool(session.view, seat, _number(request, "after")))

    async def act(self, request: Request) -> Response:
        """Make a decision."""
        session, seat = self._seat(request)
        act = await _read(Act, request)
        await run_in_threadpool(session.act, seat, act.made, act.action)
        return _answer(await run_in_threadpool(session.view, seat, act.after))

    async def coach(self, request: Request) -> Response:
        """Advise the seat; without a name, say who can."""
        session, seat = self._seat(request)
        name = request.query_params.get("name")
        if name is None:
            coaches = await run_in_threadpool(describe_coaches, self._sessions.agents, session.rules)
            return _answer({"coaches": coaches})
        coach = await run_in_threadpool(make_coach, name, self._sessions.agents, session.rules)
        advice = await run_in_threadpool(
            session.advise, seat, lambda game, seat: write_advice(name, coach.advise(game, seat))
        )
        return _answer(advice)

    async def record(self, request: Request) -> Response:
        """The record of a game that is over."""
        session, _ = self._seat(request)
        text = (await run_in_threadpool(session.record)).to_json() + "\n"
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": 'attachment; filename="threeup.jsonl"',
        }
        return Response(text, 200, headers, "application/jsonl")

    async def close(self, request: Request) -> Response:
        """Close the table of the seat."""
        self._seat(request)
        self._sessions.close(request.headers["authorization"].partition(" ")[2].strip())
        return _answer({})

    async def replay(self, request: Request) -> Response:
        """Frames of records; nothing is kept."""
        body = await request.body()
        return _answer(await run_in_threadpool(self._replay, body, request.query_params.get("policy")))

    def _replay(self, body: bytes, policy: str | None) -> Json:
        records = parse_records(body, MOST_GAMES)
        decisions = sum(len(deal.actions) for record in records for deal in record.deals)
        if decisions > MOST_REPLAYED:
            raise InvalidConfigError(f"{decisions} decisions in this file; allowed: up to {MOST_REPLAYED}")
        agents = self._sessions.agents
        games = []
        for number, record in enumerate(records):
            names = policy_names(agents, record.rules)
            chosen = policy if policy is not None else next(iter(names), "")
            found = find_policy(chosen, agents, record.rules) if chosen in names else None
            frames = replay_frames(record, number, found)
            games.append(frames | {"policies": names, "policy": chosen if found is not None else None})
        return {"games": games}


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise HTTPException(400, f"{name}: {text[:40]!r} is wrong; allowed: a whole number from 0")
    return int(text)


class Guard:
    """Refuses requests that come from elsewhere, and adds the headers that keep the pages to themselves."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with 400 or 403."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app: ASGIApp = self._app if refusal is None else refusal
        await app(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            return _answer({"error": "host is unknown; allowed: an address, localhost, or --allow-host NAME"}, 400)
        if method not in ("GET", "HEAD"):
            origin = headers.get("origin")
            if origin is not None and origin.partition("://")[2] != host:
                return _answer({"error": "origin is another page; allowed: a page of this server"}, 403)
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return _answer({"error": "the request comes from another site"}, 403)
        return None

    def _is_ours(self, host: str) -> bool:
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        name = (name or port).lower()
        if name in LOCAL_NAMES or name in self._names:
            return True
        try:
            # An address cannot be pointed elsewhere, as a name can.
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


_Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(sessions: Sessions, allowed_hosts: Collection[str] = ()) -> Starlette:
    """The web application.

    Args:
        sessions: The tables.
        allowed_hosts: Names that the server may be called by, besides `localhost` and addresses.
    """
    handlers = _Handlers(sessions)

    def page(name: str) -> _Endpoint:
        async def send_page(request: Request) -> Response:
            return FileResponse(STATIC / name)

        return send_page

    routes = [
        Route("/", page("index.html")),
        Route("/replay", page("replay.html")),
        Route("/api/options", handlers.options),
        Route("/api/fitting", handlers.fitting),
        Route("/api/tables", handlers.open_table, methods=["POST"]),
        Route("/api/seat", handlers.view),
        Route("/api/seat/act", handlers.act, methods=["POST"]),
        Route("/api/seat/coach", handlers.coach),
        Route("/api/seat/record", handlers.record),
        Route("/api/seat/close", handlers.close, methods=["POST"]),
        Route("/api/replay", handlers.replay, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, names=tuple(allowed_hosts))],
        exception_handlers={HTTPException: _on_error, ThreeUpError: _on_error, Exception: _on_error},
        max_body_size=MOST_BYTES,
    )


def run(
    sessions: Sessions, host: str, port: int, allowed_hosts: Collection[str], announce: Callable[[str], object]
) -> None:
    """Serve until interrupted; see `threeup_env.web.serve`.

    Raises:
        OSError: The address cannot be bound.
    """
    # Bound here and not by uvicorn, which ends the process where it cannot.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        name = f"[{host}]" if ":" in host else host
        announce(f"tables at http://{name}:{listening.getsockname()[1]}/ (Ctrl+C ends)")
        # The first game compiles the rules, if no game ever did: better now than while somebody waits for cards.
        threading.Thread(target=_play_a_game, daemon=True).start()
        config = uvicorn.Config(make_app(sessions, allowed_hosts), log_level="warning", access_log=False)
        uvicorn.Server(config).run([listening])


def _play_a_game() -> None:
    sessions = Sessions({"greedy": "greedy"})
    (token,) = sessions.start(Rules.mini(2), [PERSON, "greedy"], seed=0).values()
    session, seat = sessions.find(token)
    view = session.view(seat)
    session.act(seat, view["made"], view["frames"][-1]["table"]["legal"][0])
