"""Evidence by Coq: the folder `proofs/coq` is built anew, and each headline theorem is asked what it assumes.

The folder is copied first, so that nothing is written beside the sources and nothing built before is believed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proofs.evidence import Cell, fails, holds, not_checked

__all__ = ["FOLDER", "Built", "build", "cell", "missing_tools", "theorems_in"]

FOLDER = Path(__file__).parent / "coq"
"""The sources: one file a claim, with the claim's stem as its name."""

PACKAGES = "coq libcoq-mathcomp-ssreflect libcoq-mathcomp-fingroup libcoq-mathcomp-algebra"

CLOSED = "Closed under the global context"

SOURCES = ("*.v", "_CoqProject", "Makefile", "*.expected")

ROOM = 2000
"""Characters of an error that are looked at."""


def missing_tools() -> str | None:
    """Why Coq cannot run here, with the way out; None where it can."""
    for tool, packages in (("coqc", PACKAGES), ("coqtop", PACKAGES), ("make", "make")):
        if shutil.which(tool) is None:
            return f"{tool} is not installed: apt-get install {packages}"
    return None


@dataclass(frozen=True, slots=True)
class Built:
    """What came of the build.

    Attributes:
        folder: of the sources.
        tool: Coq with its version.
        compiled: stems of the files that compiled.
        log: what was printed, for the reason of a failure.
        assumptions: by (stem, theorem), what the theorem assumes, as Coq prints it.
        library_missing: whether the Mathematical Components were not found.
        as_stored: whether the Makefile's own check succeeded: statements and assumptions are those that are stored.
    """

    folder: Path
    tool: str
    compiled: frozenset[str]
    log: str
    assumptions: Mapping[tuple[str, str], str]
    library_missing: bool
    as_stored: bool


def theorems_in(path: Path, kinds: str = "Theorem|Corollary|Lemma") -> set[str]:
    """The names stated in a file as one of the kinds; comments are left out.

    A statement that is given up is in here too; `build` finds that it does not exist.
    """
    text = re.sub(r"\(\*.*?\*\)", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(rf"\b(?:{kinds})\s+([\w']+)", text))


def build(theorems: Mapping[str, Sequence[str]], folder: Path = FOLDER) -> Built:
    """Build a copy of the folder and read what each theorem assumes.

    Args:
        theorems: the names to ask about, by the stem of their file.
        folder: of the sources, with a `_CoqProject` and a `Makefile` whose first target compiles them and compares
            what the theorems state and assume with what is stored.
    """
    with _copied(folder) as copy:
        made = _run(["make", "--keep-going", "--jobs=2"], copy)
        compiled = frozenset(stem for stem in theorems if (copy / f"{stem}.vo").is_file())
        asked = [(stem, name) for stem in theorems if stem in compiled for name in theorems[stem]]
        assumptions = _assumptions(copy, asked) if asked else {}
    version = _run(["coqc", "--print-version"], folder).stdout.split()
    tool = f"Coq {version[0] if version else ''}".strip()
    return Built(
        folder, tool, compiled, made.stdout, assumptions, library_missing(made.stdout), as_stored=made.returncode == 0
    )


def library_missing(log: str) -> bool:
    """Whether a build failed because the Mathematical Components are absent."""
    return bool(re.search(r"Cannot find a physical path bound to logical path[^.]*mathcomp", log))


def cell(stem: str, theorems: Sequence[str], built: Built, stated: str = "") -> Cell:
    """The cell of one claim: its file is there and compiles, its theorems exist and assume nothing.

    `stated` says what of the claim they state, where that is not all of it.
    """
    path = built.folder / f"{stem}.v"
    if not path.is_file():
        return fails("coq", built.tool, f"the file {stem}.v is missing")
    if absent := [name for name in theorems if name not in theorems_in(path)]:
        return fails("coq", built.tool, f"{stem}.v has no theorem {', '.join(absent)}")
    if built.library_missing:
        return not_checked("coq", f"the Mathematical Components are not installed: apt-get install {PACKAGES}")
    if stem not in built.compiled:
        return fails("coq", built.tool, f"{stem}.v does not compile: {_error(built.log, stem)}")
    for name in theorems:
        assumed = built.assumptions.get((stem, name), "it does not exist")
        if assumed != CLOSED:
            return fails("coq", built.tool, f"{name} is not proved from nothing: {assumed}")
    told = f"; {stated}" if stated else ""
    return holds("coq", built.tool, f"closed under the global context{told}", theorems=len(theorems))


def _error(log: str, stem: str) -> str:
    """The first error of a file in the log of the build, or the first of any file that it may rest on."""
    found = re.search(rf'File "\./{re.escape(stem)}\.v".*?(Error:.*?)(?:\n\n|\nmake|\Z)', log, re.DOTALL)
    found = found or re.search(r"(Error:.*?)(?:\n\n|\nmake|\Z)", log, re.DOTALL)
    if found is None:
        return f"the Makefile does not build it; its last line: {(log.strip().splitlines() or ['nothing'])[-1]}"
    return " ".join(found[1][:ROOM].split())


@contextmanager
def _copied(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for pattern in SOURCES:
            for path in folder.glob(pattern):
                shutil.copyfile(path, copy / path.name)
        yield copy


def _run(command: Sequence[str], folder: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """A command with what it prints, errors too."""
    return subprocess.run(
        command,
        check=False,
        cwd=folder,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )


def _assumptions(folder: Path, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What each theorem assumes, asked in one session; a mark after each answer tells them apart."""
    options = [
        word
        for line in (folder / "_CoqProject").read_text(encoding="utf-8").splitlines()
        if line.startswith(("-R", "-Q"))
        for word in line.split()
    ]
    prefix = options[-1]
    lines = ["Set Silent.", *(f"Require {prefix}.{stem}." for stem in dict.fromkeys(stem for stem, _ in asked))]
    for number, (stem, name) in enumerate([("", ""), *asked]):
        lines += [f"Print Assumptions {prefix}.{stem}.{name}."] if name else []
        lines.append(f'Goal True. idtac "<<{number}>>". Abort.')
    printed = _run(["coqtop", "-quiet", *options], folder, "\n".join(lines)).stdout
    parts = [part.replace("Coq < ", "") for part in re.split(r"<<\d+>>", printed)[1:]]
    return {key: _assumed(part) for key, part in zip(asked, parts, strict=False)}


def _assumed(answer: str) -> str:
    """One answer in short: of axioms, their names."""
    lines = answer.strip().splitlines()
    if "Axioms:" in lines:
        return "it assumes " + ", ".join(line.partition(" ")[0] for line in lines[1:] if not line.startswith(" "))
    return " ".join(answer.split())
