"""What the tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`pairbounds` in this process."""
    return Command(capsys)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder for what a command writes."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"
