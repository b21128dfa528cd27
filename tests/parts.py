"""Parts that a machine may lack; each test that needs one asks for it by name."""

from __future__ import annotations

import importlib.util
import os

import pytest

PARTS = frozenset({"coq", "cvc5", "cvxpy", "inference", "matplotlib", "pandas", "ray", "z3"})


def required_parts() -> frozenset[str]:
    """The parts named in PAIRBOUNDS_REQUIRE: a comma list, or `all`."""
    named = {part.strip() for part in os.environ.get("PAIRBOUNDS_REQUIRE", "").split(",")} - {""}
    if named == {"all"}:
        return PARTS
    if unknown := named - PARTS:
        raise pytest.UsageError(f"PAIRBOUNDS_REQUIRE names {sorted(unknown)}; known: {sorted(PARTS)} or 'all'")
    return frozenset(named)


def require(part: str, present: bool, reason: str) -> None:
    """Skip by name where the part is absent; fail where it is required."""
    if part not in PARTS:
        raise ValueError(f"{part!r} is not among {sorted(PARTS)}; add it to PARTS in tests/parts.py")
    if present:
        return
    if part in required_parts():
        pytest.fail(f"{part} is required here: {reason}", pytrace=False)
    pytest.skip(f"{part}: {reason}", allow_module_level=True)


def require_inference() -> None:
    """Skip where the extra `inference` is not installed."""
    names = ("torch", "torchvision", "timm", "open_clip", "PIL", "sklearn")
    absent = [name for name in names if importlib.util.find_spec(name) is None]
    require("inference", not absent, f"{', '.join(absent)} cannot be imported")
