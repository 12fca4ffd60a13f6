"""One scene for each method: what is drawn for it in the documentation."""

from io import BytesIO

import documents
import numpy as np
import pytest
from PIL import Image

from fairdash.audits import playground
from fairdash.audits.playground import SIDE, views
from fairdash.methods import CATALOG

MOST = 20_000  # bytes of a picture


@pytest.mark.parametrize("method", CATALOG)
def test_each_method_has_a_small_picture_that_is_up_to_date(method):
    planes = documents.planes()
    path = planes.FOLDER / f"{method}.webp"
    assert path.stat().st_size <= MOST
    drawn = planes.packed(planes.picture(playground.example_of(CATALOG[method])))
    # Compressed alike: two machines may round a shade otherwise.
    with Image.open(path) as stored, Image.open(BytesIO(drawn)) as fresh:
        assert stored.size == fresh.size
        difference = pixels(stored) - pixels(fresh)
    assert np.abs(difference).mean() < 1, "run `python docs/make_planes.py`"


def pixels(image):
    """Return the colours of a picture as numbers."""
    return np.asarray(image.convert("RGB"), float)


def test_an_example_has_both_ends_of_the_slider_and_its_middle():
    example = playground.example_of(CATALOG["road"])
    assert example.caption == "A hidden corner: Fairness weight (λ) at 0, 2 and 4"
    view = playground.shipped(example.people, "road")
    stops = playground.stages_of(CATALOG["road"], example.people)[1].stops
    chosen = playground.join([view], playground.Stops((0.0, 2.0, 4.0), stops.second))
    assert example.surfaces.shape == (3, 1, SIDE, SIDE)
    assert playground.caption_of(CATALOG["forest"]) == "A hidden corner"
    assert len(chosen["grids"]) == 3


def test_an_example_that_is_not_shipped_is_trained(monkeypatch, tmp_path):
    shipped = playground.example_of(CATALOG["hardt"])
    monkeypatch.setattr(views, "FOLDER", tmp_path)
    trained = playground.example_of(CATALOG["hardt"])
    assert trained.caption == shipped.caption
    np.testing.assert_allclose(trained.surfaces, shipped.surfaces, atol=2)
