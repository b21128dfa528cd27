"""The command as a whole: what comes on which stream, with which exit code, and what is loaded for it."""

from __future__ import annotations

import importlib.metadata
import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from command import COMMAND, Command, process, write_small

from bounds import cli
from bounds.errors import PairboundsError


@pytest.fixture
def records(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return write_small(tmp_path / "in" / "records.parquet")


def entry(name: str, value: str) -> importlib.metadata.EntryPoints:
    return importlib.metadata.EntryPoints([importlib.metadata.EntryPoint(name, value, cli.VERB_GROUP)])


def add_verb(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """As if a package above had declared a verb."""

    def entry_points(**wanted: str) -> importlib.metadata.EntryPoints:
        return entry(name, value).select(**wanted)

    monkeypatch.setattr(
        cli, "metadata", SimpleNamespace(entry_points=entry_points, distribution=not_installed, **NAMES)
    )


NAMES = {"PackageNotFoundError": importlib.metadata.PackageNotFoundError}


def not_installed(name: str) -> None:
    raise importlib.metadata.PackageNotFoundError(name)


def test_help_names_every_verb_and_loads_no_heavy_package(tmp_path: Path) -> None:
    out = tmp_path / "loaded"
    code = f"""
import sys
sys.argv = ["pairbounds", "--help"]
from bounds.cli import main
try:
    main()
finally:
    open({str(out)!r}, "w").write(" ".join(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for verb in ("audit", "bounds", "demo"):
        assert f"\n  {verb} " in done.stdout
    loaded = {name.partition(".")[0] for name in out.read_text().split()}
    assert loaded.isdisjoint({"numpy", "polars", "pyarrow", "highspy", "cvxpy", "matplotlib", "pandas", "tabulate"})


@pytest.mark.parametrize("verb", ["audit", "bounds", "demo"])
def test_help_of_a_verb_goes_to_stdout(verb: str, command: Command) -> None:
    result = command(verb, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: pairbounds {verb}")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "pairbounds: error: Missing command; see pairbounds --help\n"),
        (["bound"], "pairbounds: error: No such command 'bound'"),
        (["bounds"], "pairbounds: error: Missing argument 'RECORDS...'; see pairbounds bounds --help\n"),
        (["bounds", "x.csv"], "pairbounds: error: Missing option '--perturbed'; see pairbounds bounds --help\n"),
        (["bounds", "x", "--perturbed", "y", "--average", "median"], "'median' is not one of 'micro', 'macro'"),
        (["bounds", "x", "--perturbed", "y", "--node-limit", "-1"], "-1 is not in the range x>=0"),
        (["bounds", "x", "--colour"], "No such option"),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(arguments: list[str], line: str, command: Command) -> None:
    assert line in command(*arguments).refused()


def test_stdout_holds_only_json_even_when_a_solver_prints_its_banner(records: Path) -> None:
    arguments = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--method", "milp", "--json")
    result = process(*arguments)
    assert result.code == 0
    assert {interval["method"] for interval in result.json} == {"milp", "paired"}


def test_what_others_print_never_reaches_stdout(tmp_path: Path) -> None:
    """Neither what a solver writes on the file descriptor nor what a library prints."""
    (tmp_path / "noisy.py").write_text(
        "import os, sys, click\n"
        "from bounds import cli\n"
        "@click.command(cls=cli.Verb)\n"
        "def noisy():\n"
        "    os.write(1, b'a solver talks')\n"
        "    os.system('echo a child talks')\n"
        "    print('a library talks')\n"
        "    cli.emit('the result')\n"
        "cli.VERBS['noisy'] = ('noisy', 'noisy')\n"
        "if __name__ == '__main__':\n"
        "    cli.main()\n"
    )
    done = subprocess.run([sys.executable, tmp_path / "noisy.py", "noisy"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("the result\n", "a library talks\n")


@pytest.mark.parametrize("more", [(), ("--json",), ("--help",)])
def test_a_reader_that_has_gone_ends_the_command_quietly(more: tuple[str, ...], records: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stream:
        result = process("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", *more, stdout=stream)
    assert (result.code, result.err) == (141, "")


@pytest.mark.parametrize("arguments", [("--help",), ("demo", "--help")])
def test_a_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as stream:
        result = process(*arguments, stdout=stream)
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "No space left on device" in result.err


def test_a_closed_stdout_is_one_line() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "--help"], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "pairbounds: error: standard output: is closed; redirect it to a file or to /dev/null\n"


def test_names_outside_ascii_reach_any_terminal(tmp_path: Path) -> None:
    path = write_small(tmp_path / "records.parquet", model=pl.lit("réseau"))
    environment = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = process("bounds", path, "--perturbed", "fog/1", "--quantity", "lost", env=environment, encoding="utf-8")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("réseau: clean → fog/1")


def test_an_error_shows_no_control_character(tmp_path: Path, command: Command) -> None:
    path = write_small(tmp_path / "records.parquet", model=pl.lit("net\x1b[31m"))
    assert r"net\x1b[31m has no such" in command("bounds", path, "--perturbed", "fog/1", "--clean", "raw").refused()


def test_an_interruption_is_130(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "check_names", interrupt)
    result = command("demo")
    assert (result.code, result.out, result.err) == (130, "", "pairbounds: interrupted\n")


def test_a_fault_of_the_program_keeps_its_traceback_and_is_no_verdict(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(cli, "check_names", fail)
    result = command("demo")
    assert result.code == 70
    assert "Traceback" in result.err
    assert "ZeroDivisionError: a fault" in result.err


class TestVerbsOfPackagesAbove:
    def test_one_is_found_and_listed(self, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        add_verb(monkeypatch, "again", "bounds.cli_demo:demo")
        assert "Usage: pairbounds again" in command("again", "--help").out
        assert "\n  again " in command("--help").out

    def test_one_whose_extra_is_missing_names_the_pip_line(
        self, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add_verb(monkeypatch, "infer", "package_that_is_absent.cli:infer")
        line = command("infer").refused()
        assert "needs the package package_that_is_absent" in line
        assert "pip install 'pairbounds[all]'" in line
        result = command("--help")
        assert result.code == 0
        assert "pip install 'pairbounds[all]'" in " ".join(result.out.split())

    def test_a_module_of_ours_that_is_missing_is_a_fault(
        self, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add_verb(monkeypatch, "infer", "bounds.module_that_is_absent:infer")
        assert command("infer").code == 70


class TestNames:
    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder that holds the four packages and comes first on the path."""
        for name in cli.TOP_LEVEL:
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text("")
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(cli, "__file__", str(tmp_path / "bounds" / "cli.py"))
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path

    def test_ours_are_ours(self) -> None:
        cli.check_names()

    def test_a_package_of_another_folder_is_named(
        self, home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cli.check_names()
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (elsewhere / "inference").mkdir()
        (elsewhere / "inference" / "__init__.py").write_text("")
        monkeypatch.syspath_prepend(elsewhere)
        with pytest.raises(PairboundsError, match="environment of its own") as caught:
            cli.check_names()
        assert caught.value.value == "inference"
        assert str(elsewhere) in caught.value.rule

    def test_an_absent_package_is_named(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cli, "find_spec", lambda name: None)
        with pytest.raises(PairboundsError, match="but absent"):
            cli.check_names()

    def test_a_package_installed_over_ours_is_named(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`pip install inference` writes into the same site-packages/inference; only the content tells."""
        lines = [f"{name}/__init__.py,sha256={cli._hash(home / name / '__init__.py')},0" for name in cli.TOP_LEVEL]
        installed = SimpleNamespace(locate_file=lambda path: home / path, read_text=lambda name: "\n".join(lines))
        monkeypatch.setattr(cli, "metadata", SimpleNamespace(distribution=lambda name: installed, **NAMES))
        cli.check_names()
        (home / "inference" / "__init__.py").write_text("from inference.core import *\n")
        with pytest.raises(PairboundsError, match=r"package 'inference': is not the one of pairbounds"):
            cli.check_names()


def test_progress_shows_on_a_terminal_only(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text(
        "import time\n"
        "from bounds import cli_options\n"
        "cli_options.QUIET_SECONDS = 0.01\n"
        "tasks = (time.sleep(0.02) for _ in range(4))\n"
        "assert len(list(cli_options.progress(tasks, lambda: 4, 'intervals'))) == 4\n"
    )
    quiet = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    main, terminal = pty.openpty()
    subprocess.run([sys.executable, script], stdout=subprocess.DEVNULL, stderr=terminal, check=True)
    os.close(terminal)
    shown = os.read(main, 10_000).decode()
    os.close(main)
    assert "intervals" in shown
    assert "100%" in shown
