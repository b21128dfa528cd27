"""What the tests of inference share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import little_runs
import pytest
from command import Command
from parts import require_inference


class Module(pytest.Module):
    """A module of tests that is imported only where the extra is installed."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        require_inference()
        return super().collect()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Every module of this folder imports PyTorch, or what is made with it."""
    return Module.from_parent(parent, path=module_path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`pairbounds` in this process."""
    return Command(capsys)


@pytest.fixture(scope="session")
def corruptions(require: Callable[[str, bool, str], None]) -> None:
    """Corruptions can be computed here."""
    try:
        import imagecorruptions  # noqa: F401  # whether it can be imported
    except ImportError as error:
        require("inference", False, f"the corruptions cannot be loaded ({error})")


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `little_runs.write_example`."""
    return little_runs.write_example(tmp_path_factory.mktemp("example"))
