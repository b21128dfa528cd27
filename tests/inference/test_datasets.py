"""Folders by class and manifests: one order, one label an image, one line for what does not hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pictures import image
from PIL import Image

from bounds.errors import PairboundsError
from inference.datasets import IMAGENET, IMAGENET_ES, open_data, open_names
from inference.images import Unreadable, read


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image(side=8)).save(path, "PNG")


@pytest.fixture
def folder(tmp_path):
    for name in ("dog/2.png", "cat/sub/1.jpg", "cat/b.PNG", "cat/notes.txt"):
        if name.endswith("txt"):
            (tmp_path / "images" / name).write_text("no image")
        else:
            picture(tmp_path / "images" / name)
    return tmp_path / "images"


def ids_and_labels(data):
    return [(item.image_id, item.label) for item in data.items]


def test_a_folder_by_class(folder):
    data = open_data(folder)
    assert ids_and_labels(data) == [("cat/b.PNG", 0), ("cat/sub/1.jpg", 0), ("dog/2.png", 1)]
    assert data.class_names == ("cat", "dog")
    assert all(item.path.is_file() for item in data.items)


def test_a_class_map_gives_the_models_order(folder, tmp_path):
    (tmp_path / "map.csv").write_text("name,label\ndog,7\ncat,3\n")
    assert ids_and_labels(open_data(folder, class_map=tmp_path / "map.csv"))[1:] == [
        ("cat/sub/1.jpg", 3),
        ("dog/2.png", 7),
    ]
    (tmp_path / "map.csv").write_text("name,label\ncat,3\n")
    with pytest.raises(PairboundsError, match="folder 'dog': is not in the class map"):
        open_data(folder, class_map=tmp_path / "map.csv")


def test_a_manifest_with_a_byte_order_mark_and_more_columns(tmp_path):
    picture(tmp_path / "a.png")
    (tmp_path / "m.csv").write_text("\ufeffimage_id,label,name\nb.png,1,x\na.png,0,y\n", encoding="utf-8")
    data = open_data(tmp_path / "m.csv")
    assert ids_and_labels(data) == [("a.png", 0), ("b.png", 1)]
    assert data.items[0].path == tmp_path / "a.png"


def test_a_manifest_of_names_with_a_map(tmp_path):
    picture(tmp_path / "a.png")
    (tmp_path / "m.csv").write_text("image_id,label\na.png,n01\n")
    (tmp_path / "map.csv").write_text("name,label\nn01,5\n")
    assert ids_and_labels(open_data(tmp_path / "m.csv", class_map=tmp_path / "map.csv")) == [("a.png", 5)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("image_id,name\na.png,x\n", "has no column 'label'"),
        ("id,label\na.png,0\n", "has no column 'image_id'"),
        ("image_id,label\na.png,cat\n", "label 'cat': is no class index"),
        ("image_id,label\na.png,-1\n", "label '-1': is no class index"),
        ("image_id,label\na.png,\n", "label '': is no class index"),
        ("image_id,label\na.png,1 \n", "label '1 ': is no class index"),
        ("image_id,label\na.png\n", "has a row of 1 fields under a header of 2"),
        ('image_id,label\na.png,"1" x\n', "is no CSV"),
        ("image_id,label\n/etc/a.png,0\n", "is no plain relative path"),
        ("image_id,label\n../a.png,0\n", "is no plain relative path"),
        ("image_id,label\na.png,0\n", "none of its 1 images"),
        ("image_id,label\na.png,0\na.png,1\n", "stands twice"),
        ("image_id,label\n\u00e9.png,0\ne\u0301.png,0\n", "stands twice"),
        ("image_id,label\n", "holds no images"),
    ],
)
def test_a_manifest_that_cannot_be_used(tmp_path, text, told):
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    with pytest.raises(PairboundsError, match=told) as caught:
        open_data(tmp_path / "m.csv")
    assert "\n" not in caught.value.line


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_manifest_with_images_beside_it(tmp_path, separator):
    picture(tmp_path / "images" / "n01" / "a.png")
    rows = ["label,image_id,name", '0,n01/a.png,"tench\u2028, Tinca"', "", "1,n01/b.png,x"]
    text = "\n".join(row.replace(",", separator) if separator != "," else row for row in rows)
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    data = open_data(tmp_path / "labels.csv")
    assert ids_and_labels(data) == [("n01/a.png", 0), ("n01/b.png", 1)]
    assert data.root == tmp_path / "images"
    assert data.items[0].path == tmp_path / "images" / "n01" / "a.png"


def test_ids_are_kept_and_how_they_are_spelled_is_told(tmp_path):
    decomposed, composed = "cafe\u0301.png", "caf\u00e9.png"
    picture(tmp_path / decomposed)
    picture(tmp_path / "a.png ")
    (tmp_path / "m.csv").write_text(f"image_id,label\n{composed},0\na.png ,1\n", encoding="utf-8")
    data = open_data(tmp_path / "m.csv")
    assert ids_and_labels(data) == [("a.png ", 1), (composed, 0)]
    assert data.items[1].path == tmp_path / decomposed
    assert [note.partition(" ids ")[0] for note in data.notes] == ["1", "1"]
    assert "white space" in data.notes[1]


def test_what_is_left_out_of_a_folder_is_told(folder):
    picture(folder / "stray.png")
    picture(folder / ".cache" / "thumb.png")
    (folder / "ant").mkdir()
    data = open_data(folder)
    assert ids_and_labels(data) == [("cat/b.PNG", 1), ("cat/sub/1.jpg", 1), ("dog/2.png", 2)]
    assert data.class_names == ("ant", "cat", "dog")
    assert [note.rpartition(": ")[2] for note in data.notes] == ["ant", ".txt (1)", "1"]


@pytest.mark.parametrize("names", [("caf\u00e9", "cafe\u0301"), ("cat", "cat ")])
def test_class_folders_that_look_alike_are_refused(tmp_path, names):
    for number, name in enumerate(names):
        picture(tmp_path / name / f"{number}.png")
    with pytest.raises(PairboundsError, match="in white space or Unicode form only"):
        open_data(tmp_path)


@pytest.mark.parametrize("name", ["caf\u00e9", "cafe\u0301"])
def test_the_order_of_classes_does_not_depend_on_the_unicode_form(tmp_path, name):
    for folder in (name, "cafz"):
        picture(tmp_path / folder / "a.png")
    assert open_data(tmp_path).class_names == ("cafz", name)


def test_one_image_in_two_unicode_forms_is_refused(tmp_path):
    for name in ("caf\u00e9.png", "cafe\u0301.png"):
        picture(tmp_path / "a" / name)
    with pytest.raises(PairboundsError, match="in two Unicode forms"):
        open_data(tmp_path)


def test_class_maps_of_several_forms(folder, tmp_path):
    forms = {
        "map.txt": "bird\ncat\nfish\ndog\n\n",
        "map.csv": "wnid,name,label\ncat,tabby,1\ndog,hound,3\n",
        "names.csv": "label;name\n1;cat\n3;dog\n",
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        data = open_data(folder, class_map=tmp_path / name)
        assert {item.label for item in data.items} == {1, 3}
        assert data.class_names == ()


def test_a_blank_line_among_names_is_refused(tmp_path):
    """It would be counted by some and dropped by others."""
    (tmp_path / "names.txt").write_text("bird\ncat\n\ndog\n")
    with pytest.raises(PairboundsError, match="line 3 is blank"):
        open_names("--class-names", tmp_path / "names.txt")


def test_a_link_that_leads_nowhere_is_an_image_that_cannot_be_read(folder):
    (folder / "cat" / "z.png").symlink_to(folder / "nowhere.png")
    (folder / "cat" / "y.png").symlink_to(folder / "dog" / "2.png")
    (folder / "cat" / "x.png").symlink_to(folder / "dog")
    data = open_data(folder)
    assert [item.image_id for item in data.items if item.path.is_symlink()] == ["cat/y.png", "cat/z.png"]
    with pytest.raises(Unreadable):
        read(folder / "cat" / "z.png")


def test_a_name_that_is_not_utf8_is_refused(folder):
    """Parquet holds no such text."""
    with open(os.fsencode(folder) + b"/cat/\xff.png", "wb") as file:
        file.write((folder / "dog" / "2.png").read_bytes())
    with pytest.raises(PairboundsError, match="is not UTF-8"):
        open_data(folder)


def test_a_name_with_two_indices_is_refused_where_it_is_used(folder, tmp_path):
    (tmp_path / "map.csv").write_text("name,label\ncat,1\ndog,2\ncrane,3\ncrane,4\n")
    assert {item.label for item in open_data(folder, class_map=tmp_path / "map.csv").items} == {1, 2}
    (folder / "dog").rename(folder / "crane")
    with pytest.raises(PairboundsError, match="'crane': has several indices"):
        open_data(folder, class_map=tmp_path / "map.csv")


def test_imagenet_by_wordnet_ids_in_the_layout_of_imagenet_es(tmp_path):
    root = tmp_path / "es-test" / IMAGENET_ES
    picture(root / "n01443537" / "b.JPEG")
    picture(root / "n15075141" / "a.JPEG")
    picture(tmp_path / "es-test" / "param_control" / "l1" / "param_1" / "n01443537" / "b.JPEG")
    data = open_data(tmp_path / "es-test", class_map=Path(IMAGENET))
    assert ids_and_labels(data) == [("n01443537/b.JPEG", 1), ("n15075141/a.JPEG", 999)]
    assert data.root == root
    (root / "cat").mkdir()
    picture(root / "cat" / "a.png")
    with pytest.raises(PairboundsError, match="folder 'cat': is not in the class map"):
        open_data(tmp_path / "es-test", class_map=Path(IMAGENET))


def test_images_of_no_known_class(folder, tmp_path):
    picture(folder / "stray.png")
    data = open_data(folder, labelled=False)
    assert ids_and_labels(data) == [(name, None) for name in ("cat/b.PNG", "cat/sub/1.jpg", "dog/2.png", "stray.png")]
    assert data.class_names == ()
    for options in ({"class_map": tmp_path / "map.csv"}, {}):
        with pytest.raises(PairboundsError, match="is for labelled images"):
            open_data(folder if options else tmp_path / "m.csv", labelled=False, **options)


def test_an_empty_folder(tmp_path):
    with pytest.raises(PairboundsError, match="holds no images"):
        open_data(tmp_path)
