"""What every test can ask for: the shared records, and parts of the machine that may be absent."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from parts import require, required_parts

ROOT = Path(__file__).resolve().parents[1]

hypothesis.settings.register_profile("local", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True, database=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_configure() -> None:
    """Refuse a PAIRBOUNDS_REQUIRE that names nothing we know, before any test runs."""
    required_parts()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, those that wait for processes of their own: at the end one core would idle."""
    items.sort(key=lambda item: "inference" not in item.path.parts)


@pytest.fixture(scope="session", name="require")
def require_() -> Callable[[str, bool, str], None]:
    """`require(part, present, reason)` of `parts`."""
    return require


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tree(root: Path) -> list[Path]:
    """The files of the checkout, relative to it, without `.git` and what git ignores; sorted."""
    ignored = [line.rstrip("/") for line in (root / ".gitignore").read_text(encoding="utf-8").split()] + [".git"]

    def kept(path: Path) -> bool:
        return not any(fnmatch.fnmatch(part, pattern) for part in path.parts for pattern in ignored)

    tops = [path for path in root.iterdir() if kept(Path(path.name))]
    files = [path for top in tops for path in (top, *top.rglob("*")) if path.is_file()]
    return sorted(path for path in (file.relative_to(root) for file in files) if kept(path))


@pytest.fixture(scope="session")
def shared_records() -> Path:
    """Records of two CIFAR-10 ResNets that lie beside the checkout, in shared/, on some machines only."""
    shared = Path(os.environ.get("PAIRBOUNDS_SHARED") or ROOT.parent / "shared")
    path = shared / "data" / "cifar10_resnet" / "records.parquet"
    if not path.is_file():
        pytest.skip("shared records are not on this machine")
    return path
