"""Parts of the machine that may be absent are skipped by name, unless they are required."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Require = Callable[[str, bool, str], None]


def test_a_present_part_is_neither_skipped_nor_failed(require: Require, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIRBOUNDS_REQUIRE", "all")
    require("cvxpy", True, "importable")


@pytest.mark.parametrize("required", ["", "pandas", "matplotlib, pandas"])
def test_an_absent_part_is_skipped_by_name(required: str, require: Require, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIRBOUNDS_REQUIRE", required)
    with pytest.raises(pytest.skip.Exception, match="cvxpy: not installed"):
        require("cvxpy", False, "not installed")


@pytest.mark.parametrize("required", ["all", "cvxpy", "pandas,cvxpy"])
def test_an_absent_part_fails_where_it_is_required(
    required: str, require: Require, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIRBOUNDS_REQUIRE", required)
    with pytest.raises(pytest.fail.Exception, match="cvxpy is required here: not installed"):
        require("cvxpy", False, "not installed")


def test_a_part_or_requirement_that_nobody_knows_is_an_error(require: Require, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="'coqq' is not among"):
        require("coqq", True, "a slip")
    monkeypatch.setenv("PAIRBOUNDS_REQUIRE", "cvxpyy")
    with pytest.raises(pytest.UsageError, match="cvxpyy"):
        require("cvxpy", False, "not installed")
