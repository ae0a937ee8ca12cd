"""The examples of the documentation run; docs/rules.md covers every switch of `Rules`, README.md every extra."""

from __future__ import annotations

import doctest
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from threeup_env.rules import Rules

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
RULES = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
SWITCHES = [field.name for field in fields(Rules)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path) -> None:
    # A fence would be read as expected output; blank lines keep the line numbers.
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    results = runner.run(test, out=report.append)
    assert results.failed == 0, "".join(report)


def test_every_switch_stands_in_the_table_of_section_9() -> None:
    rows = re.findall(r"^\| \[`(\w+)`\]\(#(\w+)\) \| .* \| (.*) \| .* \|$", RULES, flags=re.MULTILINE)
    assert [name for name, _, _ in rows] == SWITCHES
    for name, anchor, default in rows:
        assert anchor == name
        assert default.strip("`") == repr(getattr(Rules(), name)).replace("'", '"')


@pytest.mark.parametrize("name", SWITCHES)
def test_every_switch_has_an_example(name: str) -> None:
    entry = re.search(rf"^### `{name}`\n(.*?)^##", RULES, flags=re.MULTILINE | re.DOTALL)
    assert entry
    assert ">>> " in entry[1]


def test_clauses_are_in_order() -> None:
    clauses = [tuple(map(int, number)) for number in re.findall(r"^\*\*(\d+)\.(\d+)\*\*", RULES, flags=re.MULTILINE)]
    counts = {1: 5, 2: 5, 3: 5, 4: 3, 5: 7, 6: 3, 7: 3, 8: 7, 10: 4}
    assert clauses == [(section, clause) for section, count in counts.items() for clause in range(1, count + 1)]


def test_the_table_of_extras_in_the_readme_is_that_of_pyproject() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^\| extra \| brings \| for \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", readme, flags=re.MULTILINE)
    assert table
    rows = re.findall(r"^\| `(\w+)` \| ([^|(]*?)(?: \(.*\))? \| .* \|$", table[1], flags=re.MULTILINE)
    wanted = {extra: [re.split("[^\\w.-]", text)[0] for text in brought] for extra, brought in extras.items()}
    assert [(extra, brings.split(", ")) for extra, brings in rows] == list(wanted.items())
