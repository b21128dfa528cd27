"""What the tests of inference share."""

from __future__ import annotations

from pathlib import Path

import little_runs
import pytest
from command import Command


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`pairbounds` in this process."""
    return Command(capsys)


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `little_runs.write_example`."""
    return little_runs.write_example(tmp_path_factory.mktemp("example"))
