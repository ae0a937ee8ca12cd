"""`threeup envs` and `threeup rules`: look up environments and switches."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from ..observation import observation_layout
from ..registration import ENV_RULES
from ..render.text import NOTHING
from ..rules import Rules
from .app import JsonOption, app
from .show import print_table, write_value


class Preset(StrEnum):
    """The presets of `Rules` (docs/rules.md section 9)."""

    STANDARD = "standard"
    GAMERULES = "gamerules"
    GEEKY = "geeky"
    HOUSE = "house"
    MATCH = "match"
    MINI = "mini"


@app.command("envs")
def list_envs(as_json: JsonOption = False) -> None:
    """List every environment ID with its rules and the sizes of its spaces."""
    if as_json:
        typer.echo(json.dumps([_describe_env(env, rules) for env, rules in ENV_RULES.items()]))
        return
    rows = []
    for env, rules in ENV_RULES.items():
        switches = {name: value for name, value in rules.to_dict().items() if name != "num_players"}
        written = ", ".join(f"{name}={write_value(value)}" for name, value in switches.items())
        sizes = (rules.num_players, rules.num_actions, observation_layout(rules).size)
        rows.append([env, *map(str, sizes), written])
    print_table(None, ["ID", "players", "actions", "observation", "switches not at their default"], rows)


def _describe_env(env: str, rules: Rules) -> dict[str, Any]:
    return {
        "id": env,
        "rules": rules.to_dict(),
        "num_actions": rules.num_actions,
        "observation_size": observation_layout(rules).size,
    }


@app.command("rules")
def show_rules(
    preset: Annotated[Preset, typer.Argument(metavar="PRESET", help=f"One of {', '.join(Preset)}.")] = Preset.STANDARD,
    players: Annotated[int, typer.Option("--players", help="How many play.")] = 2,
    as_json: JsonOption = False,
) -> None:
    """Print every switch of a preset (docs/rules.md section 9)."""
    rules: Rules = getattr(Rules, preset.value)(players)
    if as_json:
        typer.echo(json.dumps(rules.to_dict(defaults=True)))
        return
    defaults = Rules().to_dict(defaults=True)
    rows = [
        [name, write_value(value), NOTHING if value == defaults[name] else write_value(defaults[name])]
        for name, value in rules.to_dict(defaults=True).items()
    ]
    print_table(f"Rules.{preset.value}({players})", ["switch", "value", "default, where it differs"], rows)
