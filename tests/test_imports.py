"""The four generic names are ours, `bounds` loads light, and imports point one way."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("bounds", "proofs", "inference", "ranking")

LATE = ("cvc5", "cvxpy", "highspy", "matplotlib", "pandas", "scipy", "sympy", "tabulate", "torch", "z3")
"""What `import bounds` and `import proofs` must not load."""


@pytest.mark.parametrize("name", PACKAGES)
def test_each_package_is_the_installed_one(name: str) -> None:
    installed = importlib.metadata.distribution("pairbounds").locate_file(f"{name}/__init__.py")
    found = importlib.import_module(name).__file__
    assert found is not None
    assert Path(found).resolve() == Path(str(installed)).resolve(), "run `make test`, which installs the package first"


def loaded_by(statement: str, tmp_path: Path) -> set[str]:
    """Top-level modules in memory after `statement` in a fresh interpreter."""
    out = tmp_path / "loaded.txt"
    code = f"{statement}\nimport sys\nwith open({str(out)!r}, 'w') as file: print(*sys.modules, file=file)"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    return {name.partition(".")[0] for name in out.read_text(encoding="utf-8").split()}


def test_bounds_loads_no_solver_no_plotting_no_torch(tmp_path: Path) -> None:
    loaded = loaded_by("import bounds\nbounds.load_records, bounds.bound, bounds.audit", tmp_path)
    assert {"bounds", "numpy", "polars"} <= loaded
    assert loaded.isdisjoint(LATE)
    assert loaded.isdisjoint(PACKAGES[1:])


def test_proofs_loads_no_solver_and_no_algebra(tmp_path: Path) -> None:
    loaded = loaded_by("import proofs, proofs.claims, proofs.cli_verify, proofs.register", tmp_path)
    assert {"proofs", "bounds"} <= loaded
    assert loaded.isdisjoint(LATE)


def test_the_command_shows_its_help_without_the_extras(tmp_path: Path) -> None:
    call = "import sys\nfrom bounds.cli import main\nsys.argv[1:] = ['--help']\ntry: main()\nexcept SystemExit: pass"
    loaded = loaded_by(call, tmp_path)
    assert "click" in loaded
    assert loaded.isdisjoint(LATE)


ALLOWED = {
    "bounds": {"bounds"},
    "proofs": {"bounds", "proofs"},
    "inference": {"bounds", "inference"},
    "ranking": {"bounds", "ranking"},
}
"""Which of the four each may import; `bounds` is the ground floor."""


def imported(source: str) -> set[str]:
    """Top-level names that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("name", PACKAGES)
def test_imports_point_one_way(name: str, root: Path) -> None:
    modules = sorted((root / name).rglob("*.py"))
    assert modules
    for module in modules:
        upward = imported(module.read_text(encoding="utf-8")) & set(PACKAGES) - ALLOWED[name]
        assert not upward, f"{module.relative_to(root)} imports {sorted(upward)}"
