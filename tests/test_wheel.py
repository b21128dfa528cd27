"""The wheel: what is in it, and that it works somewhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGES = {"bounds", "proofs", "inference", "ranking"}


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the checkout."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(root)]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed and nothing else; dependencies come from the running environment."""
    target = tmp_path_factory.mktemp("elsewhere")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True)
    return target


def run(target: Path, cwd: Path, *command: str) -> str:
    """Run a command with `target` ahead of everything installed; its standard output."""
    env = {**os.environ, "PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, check=False, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_top_level_is_the_four_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES
    assert len(top) == len(PACKAGES) + 1


def test_wheel_holds_every_source_file_and_no_other(wheel: Path, tree: list[Path]) -> None:
    sources = {str(path) for path in tree if path.parts[0] in PACKAGES}
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    packed = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    assert packed == sources
    assert "bounds/py.typed" in packed
    assert any(name.startswith("bounds/data/") and name.endswith(".parquet") for name in packed)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_installed_elsewhere_it_imports(elsewhere: Path, tmp_path: Path) -> None:
    code = "import bounds, bounds.cli; print(bounds.__file__, bounds.cli.__file__)"
    printed = run(elsewhere, tmp_path, sys.executable, "-c", code)
    assert printed.split() == [str(elsewhere / "bounds" / "__init__.py"), str(elsewhere / "bounds" / "cli.py")]


def test_installed_elsewhere_the_demo_runs(elsewhere: Path, tmp_path: Path) -> None:
    printed = run(elsewhere, tmp_path, str(elsewhere / "bin" / "pairbounds"), "demo")
    assert "lost acceptance" in printed.lower() or "lost-acceptance" in printed
