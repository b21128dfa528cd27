"""The examples in docstrings, run on the installed packages."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
from parts import require_inference

PACKAGES = ("bounds", "proofs", "inference", "ranking")


def modules() -> list[str]:
    """Every module of the four packages."""
    names = []
    for package in PACKAGES:
        names.append(package)
        path = importlib.import_module(package).__path__
        names.extend(found.name for found in pkgutil.walk_packages(path, f"{package}."))
    return names


MODULES = modules()


def examples(module: str) -> list[doctest.DocTest]:
    """The docstrings of a module that hold examples."""
    if module.startswith("inference."):
        require_inference()
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    for test in examples(module):
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_examples_were_found() -> None:
    assert {"bounds.errors", "bounds.quantities"} <= {
        module for module in MODULES if module.startswith("bounds.") and examples(module)
    }
