"""The game in a browser: tables to play at, a coach, and a viewer of records.

| module | what is in it |
|---|---|
| `story.py` | what a decision did, as the effects that a page animates and writes into its log |
| `frames.py` | a table and its story as JSON, for one seat, or for every viewer of a record |
| `session.py` | one table with its agents and the frames of each seat; all tables of a server |
| `coach.py` | what a policy thinks of each legal action |
| `app.py` | HTTP: checks every request, and hands it on |
| `page.py` | one self-contained page of a record |
| `static/` | the pages: HTML, CSS and ES modules, served as they are |

Only `app.py` needs the packages of the extra `serve`; nothing here is loaded by `import threeup_env`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ..errors import MissingPackageError


def serve(
    agents: Mapping[str, str],
    host: str,
    port: int,
    allowed_hosts: Collection[str] = (),
    *,
    most_tables: int,
    idle_seconds: float,
    announce: Callable[[str], object],
) -> None:
    """Serve until interrupted.

    Args:
        agents: Agents that may be named: name to what `make_agent` takes.
        host: Address to bind to.
        port: TCP port; 0 takes any that is free.
        allowed_hosts: Names that the server may be called by, besides `localhost` and addresses.
        most_tables: Most tables at once.
        idle_seconds: A table is closed after this long without a request.
        announce: Told the address of the page once it can be reached.

    Raises:
        MissingPackageError: The extra `serve` is not installed.
        OSError: The address cannot be bound.
    """
    try:
        from . import app
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"serve: the package {error.name!r} is not installed; pip install 'threeup-env[serve]'"
        ) from error
    from .session import Sessions

    sessions = Sessions(dict(agents), most=most_tables, idle_seconds=idle_seconds)
    app.run(sessions, host, port, allowed_hosts, announce)
