"""What must not lie in the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = {"", ".cff", ".csv", ".md", ".py", ".toml", ".txt"}

PATTERNS = {
    "path of one machine": re.compile(r"(?<![\w.~-])/(?:home|root|Users|work)/\w"),
    "loose end": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"),
}


@pytest.mark.parametrize("kind", PATTERNS)
def test_no_such_thing_in_a_text_file(kind: str, root: Path, tree: list[Path]) -> None:
    texts = [path for path in tree if path.suffix in TEXT]
    assert {Path("README.md"), Path("Makefile"), Path(".ci/run"), Path("bounds/__init__.py")} <= set(texts)
    for path in texts:
        found = PATTERNS[kind].search((root / path).read_text(encoding="utf-8"))
        assert found is None, f"{path}: {found and found[0]!r}"
