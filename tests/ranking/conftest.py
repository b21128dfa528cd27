"""What the tests of ranking share."""

from __future__ import annotations

import pytest
from command import Command


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`pairbounds` in this process."""
    return Command(capsys)
