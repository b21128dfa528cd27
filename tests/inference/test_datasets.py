"""Folders by class and manifests: one order, one label an image, one line for what does not hold."""

from __future__ import annotations

import pytest
from pictures import image
from PIL import Image

from bounds.errors import PairboundsError
from inference.datasets import open_data


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image(side=8)).save(path)


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
    (tmp_path / "m.csv").write_text("\ufeffimage_id,label,name\nb.png,1,x\na.png,0,y\n", encoding="utf-8")
    data = open_data(tmp_path / "m.csv")
    assert ids_and_labels(data) == [("a.png", 0), ("b.png", 1)]
    assert data.items[0].path == tmp_path / "a.png"


def test_a_manifest_of_names_with_a_map(tmp_path):
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
        ("image_id,label\na.png\n", "label '': is no class index"),
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


def test_an_empty_folder(tmp_path):
    with pytest.raises(PairboundsError, match="holds no images"):
        open_data(tmp_path)
