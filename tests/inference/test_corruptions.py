"""The nineteen corruptions: those of the package, at five severities, on pixels that stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
from pictures import image

from bounds import records
from bounds.errors import PairboundsError
from inference.conditions import parse
from inference.corruptions import COMMON, GROUPS, NAMES, backend

pytestmark = pytest.mark.usefixtures("corruptions")


def test_the_names_are_those_of_the_package_and_of_the_records():
    import imagecorruptions

    assert list(NAMES) == imagecorruptions.get_corruption_names("all")
    assert list(COMMON) == imagecorruptions.get_corruption_names("common")
    for group in ("noise", "blur", "weather", "digital"):
        assert list(GROUPS[group]) == imagecorruptions.get_corruption_names(group)
    assert set(NAMES) == records.CORRUPTIONS


def test_another_package_under_the_same_import_name_is_refused(tmp_path, monkeypatch):
    assert backend().startswith("imagecorruptions-imaug 1.")
    metadata = tmp_path / "imagecorruptions-1.1.2.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: imagecorruptions\nVersion: 1.1.2\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PairboundsError, match="under the import name of imagecorruptions-imaug"):
        parse(["fog/3"], seed=0)


@pytest.mark.parametrize("name", NAMES)
def test_pixels_keep_their_shape_and_a_stronger_severity_changes_more(name):
    pixels = image(side=64)
    pixels.setflags(write=False)
    weak, strong = (c.apply(pixels, "a.png") for c in parse([f"{name}/1", f"{name}/5"], seed=0))
    assert weak.dtype == strong.dtype == np.uint8
    assert weak.shape == strong.shape == pixels.shape

    def far(other: np.ndarray) -> float:
        return float(np.abs(other.astype(int) - pixels).mean())

    assert min(far(weak), far(strong)) > 0
    # Fog draws another pattern and saturate turns the other way: there a severity is no distance.
    assert far(weak) < far(strong) or name in ("fog", "saturate")


def test_small_images_are_refused():
    (fog,) = parse(["fog/3"], seed=0)
    with pytest.raises(PairboundsError, match="'40x31': corruptions need at least 32 pixels a side"):
        fog.apply(np.zeros((31, 40, 3), np.uint8), "a.png")
