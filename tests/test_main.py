"""`python3 -m tests`: which runs are shared out among the cores."""

from __future__ import annotations

import pytest

from tests.__main__ import share_out

SHARED = ["-n", "auto", "--dist", "worksteal"]


@pytest.mark.parametrize("arguments", [[], ["-x"], ["-k", "perft", "-q"], ["-m", "not slow", "tests/test_rules.py"]])
def test_tests_run_on_all_cores(arguments: list[str]) -> None:
    assert share_out(arguments, 2) == [*SHARED, *arguments]
    assert share_out(arguments, 1) == arguments
    assert share_out(arguments, None) == arguments


@pytest.mark.parametrize(
    "arguments",
    [["-n", "2"], ["-n0"], ["--numprocesses=3"], ["--pdb"], ["-x", "--pdbcls=a:B", "--pdb"], ["--trace"], ["-s"]],
)
def test_what_is_asked_for_otherwise_is_left_alone(arguments: list[str]) -> None:
    assert share_out(arguments, 8) == arguments
