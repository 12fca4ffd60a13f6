"""Views that come with the package are those of training, packed without loss."""

import base64
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.audits import playground
from fairdash.audits.playground import SCENES, Stops, packing, sliders, views
from fairdash.methods import CATALOG

GRIDS = st.binary(min_size=1024, max_size=1024).map(
    lambda content: base64.b64encode(content).decode()
)
VALUES = st.none() | st.floats(allow_nan=False) | st.text() | GRIDS
DATA = st.recursive(
    VALUES,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=8,
)


@given(DATA)
def test_nothing_is_lost_by_packing(data):
    assert packing.unpack(packing.pack(data)) == data


def test_smooth_grids_are_packed_into_few_bytes():
    line = np.linspace(-3, 3, 64)
    surface = 255 / (1 + np.exp(-line - 2 * line[:, None]))
    content = surface.astype(np.uint8).tobytes()
    packed = packing.pack([base64.b64encode(content).decode()])
    assert len(packed) < len(content) / 4


@pytest.mark.parametrize("scene", SCENES)
def test_every_method_is_shipped_at_all_stops(scene):
    people = SCENES[scene].people()
    for method, entry in CATALOG.items():
        view = playground.shipped(people, method)
        assert view is not None, f"{method}: run sample_data/make_surfaces.py"
        settings = playground.stages_of(entry, people)[-1].stops.settings
        assert len(view["grids"]) == len(view["words"]) == len(settings)


def test_all_files_together_have_no_more_than_1500_kb():
    files = list(views.FOLDER.glob("*.xz"))
    assert {file.stem for file in files} == set(SCENES)
    assert sum(file.stat().st_size for file in files) <= 1_500_000


# Some settings of each; a network in the scenes in which it tells most.
SAMPLE = {
    ("rare", "logistic"): Stops(),
    ("wrong_labels", "multicalibration"): Stops(),
    ("twins", "hardt"): "ends",
    ("equal_rates", "fair_log_loss"): "ends",
    ("wrong_records", "noisy_dro"): "ends",
    ("hidden_corner", "road"): "ends",
    ("twins", "sensei"): "ends",
}


@pytest.mark.parametrize(("scene", "method"), SAMPLE)
def test_what_is_shipped_is_what_training_gives(scene, method):
    people = SCENES[scene].people()
    view = playground.shipped(people, method)
    stops = SAMPLE[scene, method]
    if stops == "ends":
        all_stops = playground.stages_of(CATALOG[method], people)[-1].stops
        stops = Stops(all_stops.first[::8], all_stops.second[::2])
    trained = playground.train_part(people, method, stops)
    part = playground.join([view], stops)
    for name in ("method", "shown", "slider", "second"):
        assert part[name] == trained[name]
    # Another processor may round otherwise.
    np.testing.assert_allclose(levels(part), levels(trained), atol=2)
    for stop, expected in zip(part["path"], trained["path"], strict=True):
        assert stop["accuracy"] == pytest.approx(expected["accuracy"], abs=0.01)
        assert stop["gap"] == pytest.approx(expected["gap"], abs=0.02)
    if trained["sees"] is None:
        assert part["sees"] is None
    else:
        assert part["sees"].keys() == trained["sees"].keys()
        for seen, expected in zip(
            part["sees"]["stops"], trained["sees"]["stops"], strict=True
        ):
            assert seen.keys() == expected.keys()
            assert seen["key"] == expected["key"]


def levels(view):
    """Bytes of all grids, as numbers that can be subtracted."""
    texts = chain(*view["grids"])
    contents = [base64.b64decode(text) for text in texts]
    return np.array([list(content) for content in contents])


def test_people_of_another_seed_are_not_shipped():
    assert playground.shipped(SCENES["proxy"].people(1), "logistic") is None
    assert playground.shipped(SCENES["proxy"].people(), "logistic") is not None


def test_a_view_of_other_parameters_or_another_engine_is_not_taken(monkeypatch):
    people = SCENES["proxy"].people()
    with monkeypatch.context() as patch:
        patch.setitem(sliders._SCHEDULE, "n_epochs", 61)
        assert playground.shipped(people, "road") is None
        # It has no epochs.
        assert playground.shipped(people, "logistic") is not None
    with monkeypatch.context() as patch:
        patch.setattr(views, "RESULTS_VERSION", views.RESULTS_VERSION + 1)
        assert playground.shipped(people, "road") is None
    assert playground.shipped(people, "road") is not None


def test_a_scene_without_a_file_is_trained(monkeypatch, tmp_path):
    monkeypatch.setattr(views, "FOLDER", tmp_path)
    assert playground.shipped(SCENES["proxy"].people(), "logistic") is None
