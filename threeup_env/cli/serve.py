"""`threeup serve`: tables to play at in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..agents import agent_names, load_policy, make_agent
from ..errors import InvalidConfigError
from ..rules import Rules
from .app import app


@app.command("serve")
def serve_tables(
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to bind to.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes any that is free.")] = 8000,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="A", help="Offer this policy file or search:N too; may be repeated."),
    ] = None,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Name the server may be called by; may be repeated."),
    ] = None,
    tables: Annotated[int, typer.Option("--tables", min=1, help="Most tables at once.")] = 100,
    idle: Annotated[float, typer.Option("--idle", min=1, help="Minutes without a request that close a table.")] = 30,
) -> None:
    """Play in a browser, with a coach and a viewer of records (docs/web.md)."""
    from ..web import serve  # no other command needs a web server

    named = {name: name for name in agent_names()}
    for file in agents or ():
        # What is none is told now, not at a table.
        make_agent(file, Rules()) if file.startswith("search:") else load_policy(file)
        if named.setdefault(Path(file).name, file) != file:
            raise InvalidConfigError(f"--agent: {file!r} is called as another agent; allowed: names of their own")
    serve(named, host, port, allowed_hosts or (), most_tables=tables, idle_seconds=60 * idle, announce=typer.echo)
