"""The tables of docs/environments.md are those of the code; `python -m tests.test_docs_tables --write` writes them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from threeup_env.observation import Layout, observation_layout
from threeup_env.registration import ENV_RULES
from threeup_env.rules import Rules

PAGE = Path(__file__).parent.parent / "docs" / "environments.md"


def _ids() -> str:
    rows = ["| ID | rules | actions | observation |", "|---|---|---:|---:|"]
    for env_id, rules in ENV_RULES.items():
        preset = env_id.removeprefix("ThreeUp/").split("-")[0].lower()
        name = "standard" if preset.endswith("p") else preset
        size = observation_layout(rules).size
        rows.append(f"| `{env_id}` | `Rules.{name}({rules.num_players})` | {rules.num_actions} | {size} |")
    return "\n".join(rows)


def _added(layout: Layout, base: Layout) -> str:
    """The rows of a layout that its base lacks."""
    lines = layout.describe().splitlines()
    known = {part.name for part in base}
    rows = [row for part, row in zip(layout, lines[2:], strict=True) if part.name not in known]
    return "\n".join(lines[:2] + rows)


def _tables() -> dict[str, str]:
    standard = observation_layout(Rules.standard(2))
    return {
        "ids": _ids(),
        "layout standard 2": standard.describe(),
        "layout house 2": _added(observation_layout(Rules.house(2, failed_flip="stay")), standard),
        "layout match 2": _added(observation_layout(Rules.match(2)), standard),
    }


def _pattern(name: str) -> str:
    return rf"(<!-- begin: {re.escape(name)} -->\n)(.*?)(<!-- end: {re.escape(name)} -->)"


@pytest.mark.parametrize("name", list(_tables()))
def test_docs_table_is_that_of_the_code(name: str) -> None:
    match = re.search(_pattern(name), PAGE.read_text(), re.DOTALL)
    assert match is not None
    assert match[2].strip() == _tables()[name]


if __name__ == "__main__" and "--write" in sys.argv:
    text = PAGE.read_text()
    for table, rows in _tables().items():
        text = re.sub(_pattern(table), lambda m, rows=rows: f"{m[1]}{rows}\n{m[3]}", text, flags=re.DOTALL)  # type: ignore[misc]
    PAGE.write_text(text)
