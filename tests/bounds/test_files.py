"""Files appear whole or not at all."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from bounds.errors import PairboundsError
from bounds.files import check_output, replacing


def test_a_file_appears_when_the_block_ends_well(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with replacing(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as part:
            part.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with replacing(tmp_path / "made") as part:
        part.write_text("")
    assert (tmp_path / "made").stat().st_mode == plain.stat().st_mode


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "file"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    with replacing(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.parametrize(
    ("path", "suffixes", "rule"),
    [
        ("picture.bmp", (".png", ".svg"), "ends in none of .png, .svg"),
        ("", (), "is not a regular file"),
        ("absent/table.csv", (".csv",), "there is no folder"),
        ("/dev/null", (), "is not a regular file"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    path: str, suffixes: tuple[str, ...], rule: str, tmp_path: Path
) -> None:
    with pytest.raises(PairboundsError, match=rule) as caught:
        check_output("--out", tmp_path / path, suffixes)
    assert caught.value.name == "--out"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its permissions say, as in /proc."""

    def refuse(*, dir: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("bounds.files.TemporaryFile", refuse)
    with pytest.raises(PairboundsError, match=r"--out '.*table\.csv': the folder .* cannot be written to \(Permission"):
        check_output("--out", tmp_path / "table.csv")


@pytest.mark.parametrize("told", [(errno.ENOENT, "No such file", "{}"), ("cannot open {}",)])
def test_a_failure_to_write_names_the_path_asked_for(told: tuple[int | str, ...], tmp_path: Path) -> None:
    target = tmp_path / "picture.png"

    def fail() -> None:
        with replacing(target) as part:
            raise OSError(*(each.format(part) if isinstance(each, str) else each for each in told))

    with pytest.raises(OSError, match=r"picture\.png") as caught:
        fail()
    assert caught.value.filename == str(target)
    assert ".part" not in str(caught.value)


def test_another_failure_is_left_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"), replacing(tmp_path / "picture.png"):
        (tmp_path / "absent").read_text()


def test_the_ending_is_read_in_either_case(tmp_path: Path) -> None:
    assert check_output("--plot", tmp_path / "A.PNG", (".png",)) == tmp_path / "A.PNG"
