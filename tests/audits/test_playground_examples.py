"""One scene for each method: what is drawn for it in the documentation."""

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
    drawn = planes.picture(playground.example_of(CATALOG[method])).convert("RGB")
    with Image.open(path) as kept:
        assert kept.size == drawn.size
        difference = np.asarray(kept.convert("RGB"), float) - np.asarray(drawn, float)
    assert np.abs(difference).mean() < 8, "run `python docs/make_planes.py`"


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
