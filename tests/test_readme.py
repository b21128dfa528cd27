"""What README.md and docs/ show is what happens."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parts import require_inference

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
VERB = re.compile(r"^(?:\$ )?pairbounds ([a-z-]+)(.*)$", re.MULTILINE)


def pages(root: Path) -> dict[str, str]:
    """Every page of documentation, by its path."""
    found = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in found}


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language, with continued lines joined."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r" *\\\n\s*", " ", block) for block in found]


def steps(block: str) -> list[tuple[str, str]]:
    """The (command, output) pairs of a console block; a command may hold a here-document that ends with END."""
    parts = re.split(r"^\$ (.*<<'END'\n(?s:.*?)\nEND|.*)\n", block, flags=re.MULTILINE)
    assert parts[0] == ""
    return list(zip(parts[1::2], parts[2::2], strict=True))


def sessions(root: Path) -> list[str]:
    """The console blocks of all pages."""
    return [block for text in pages(root).values() for block in blocks(text, "console")]


def run(command: str, folder: Path) -> str:
    """What a shell in `folder` prints on its standard output for `command`."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(
        command, check=False, shell=True, cwd=folder, env=env, text=True, encoding="utf-8", capture_output=True
    )
    return done.stdout


def folder_with_the_example(root: Path, folder: Path) -> Path:
    """A folder in which the paths of the example's files are those of the checkout, and nothing else is."""
    (folder / "bounds").mkdir(parents=True)
    (folder / "bounds" / "data").symlink_to(root / "bounds" / "data")
    return folder


def test_each_console_example_prints_what_is_shown(root: Path, tmp_path: Path) -> None:
    assert len(blocks(pages(root)["README.md"], "console")) >= 1
    for number, block in enumerate(sessions(root)):
        folder = folder_with_the_example(root, tmp_path / str(number))
        for command, shown in steps(block):
            assert run(command, folder) == shown, command


def test_each_command_on_the_file_made_by_hand_runs(root: Path, tmp_path: Path) -> None:
    """The `sh` lines about `tiny.csv`, on the file that the console block before them writes."""
    section = pages(root)["README.md"].partition("\n## Check a number yourself\n")[2].partition("\n## ")[0]
    run(steps(blocks(section, "console")[0])[0][0], tmp_path)
    assert (tmp_path / "tiny.csv").exists()
    lines = [line for block in blocks(section, "sh") for line in block.splitlines() if "tiny.csv" in line]
    assert lines
    for line in lines:
        shown = run(f"{line} && echo done", tmp_path)
        assert shown.startswith("model: clean → fog"), line
        assert shown.endswith("done\n"), line


PYTHON = [
    pytest.param(page, block, id=f"{page}-{number}")
    for page, text in pages(ROOT).items()
    for number, block in enumerate(blocks(text, "python"), 1)
]


def test_the_readme_has_a_python_example() -> None:
    assert "README.md" in {example.values[0] for example in PYTHON}


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_each_python_example_gives_what_is_shown(
    page: str, block: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "import torch" in block:
        require_inference()
    monkeypatch.chdir(folder_with_the_example(root, tmp_path))
    test = doctest.DocTestParser().get_doctest(block, {}, page, page, 0)
    assert test.examples, f"{page}: a python block without >>>"
    report: list[str] = []
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


def test_each_command_and_option_that_is_shown_exists(root: Path, tmp_path: Path) -> None:
    shown = [
        match
        for text in pages(root).values()
        for language in ("sh", "console")
        for block in blocks(text, language)
        for match in VERB.findall(block)
    ]
    # A verb with verbs of its own: the two words are one.
    shown = [
        (f"{verb} {rest.split()[0]}", rest.partition(rest.split()[0])[2]) if verb == "records" else (verb, rest)
        for verb, rest in shown
    ]
    assert {verb for verb, _ in shown} >= {"bounds", "audit", "demo"}
    for verb in {verb for verb, _ in shown}:
        help_text = run(f"pairbounds {verb} --help", tmp_path)
        assert help_text.startswith("Usage:"), f"{verb}: {help_text}"
        known = set(re.findall(r"--[a-z-]+", help_text))
        asked = {option for other, rest in shown if other == verb for option in re.findall(r"(?<=\s)--[a-z-]+", rest)}
        assert asked <= known, f"pairbounds {verb}: {sorted(asked - known)}"


def test_each_make_target_that_is_shown_exists(root: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    shown = {
        target
        for text in pages(root).values()
        for code in [*blocks(text, "sh"), *re.findall(r"`([^`\n]+)`", text)]
        for target in re.findall(r"\bmake ([a-z]+)", code)
    }
    assert {"demo", "test"} <= shown <= targets


def test_each_link_leads_somewhere(root: Path) -> None:
    for page, text in pages(root).items():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (root / page).parent.joinpath(target).exists(), f"{page} links to {target}"


def test_each_file_that_is_named_exists(root: Path) -> None:
    for page, text in pages(root).items():
        for name in re.findall(r"`((?:bounds|docs|proofs|tests|\.ci)/[\w./]+)`", text):
            assert (root / name).exists(), f"{page} names {name}"


def test_folder_table_lists_the_folders_of_the_tree(root: Path, tree: list[Path]) -> None:
    folders = {path.parts[0] for path in tree if len(path.parts) > 1 and not path.parts[0].startswith(".")}
    assert set(re.findall(r"^\| `(\w+)/` \|", pages(root)["README.md"], re.MULTILINE)) == folders
