"""The application that commands enter themselves in: its errors, and the options that several of them have."""

from __future__ import annotations

import errno
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import InvalidConfigError, InvalidRulesError, ThreeUpError, UnknownAgentError, UnknownEnvError

FAILED: Final = 1
BAD_OPTION: Final = 2
_FROM_OPTIONS: Final = (InvalidConfigError, InvalidRulesError, UnknownAgentError, UnknownEnvError)
"""Errors that only the value of an option can cause: replay names wrong rules in a file as a wrong record."""


class _Commands(TyperGroup):
    """All commands; what goes wrong in any of them is told in one line here."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ThreeUpError as error:
            _complain(str(error))
            raise typer.Exit(BAD_OPTION if isinstance(error, _FROM_OPTIONS) else FAILED) from None
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader has seen enough, as in `threeup replay FILE | head`
                raise
            place = "" if error.filename is None else f"{error.filename}: "
            _complain(f"{place}{error.strerror or error}")
            raise typer.Exit(FAILED) from None


def _complain(message: str) -> None:
    typer.echo("error: " + " ".join(message.splitlines()), err=True)


app = typer.Typer(
    name="threeup",
    cls=_Commands,
    help="3UP 3DOWN for reinforcement learning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

EnvOption = Annotated[str, typer.Option("--env", metavar="ID", help="Environment ID, as `threeup envs` lists them.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same games.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs to read.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """3UP 3DOWN for reinforcement learning."""
