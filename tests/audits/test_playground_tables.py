"""Rows of a data set in the plane: its columns, and the others at their medians."""

import dataclasses

import numpy as np
import pytest

from fairdash.audits import playground
from fairdash.datasets import encode, load_sample
from fairdash.methods import CATALOG


@pytest.fixture(scope="module")
def loans():
    return load_sample("loans")


@pytest.fixture(scope="module")
def people(loans):
    across, up = playground.plane_columns(loans)[:2]
    return playground.people_of(loans, across, up)


def test_people_are_rows_of_the_data_set(loans, people):
    assert len(people) == playground.MOST_ROWS
    assert set(people.names) <= set(loans.group_names)
    encoded = encode(loans, np.arange(loans.n_rows))
    assert people.features.shape[1] == len(encoded.feature_names)
    assert set(people.axes) <= set(encoded.feature_names)
    again = playground.people_of(loans, *people.axes)
    assert again.key == people.key
    turned = playground.people_of(loans, *reversed(people.axes))
    np.testing.assert_array_equal(turned.X, people.X[:, ::-1])


def test_the_surface_holds_other_features_at_their_medians(people):
    surfaces = playground.train(people, "logistic")
    alone = CATALOG["logistic"].estimator({}, random_state=0)
    alone.fit(people.features, people.outcome)
    points = playground.grid_points()
    medians = np.median(people.others, axis=0)
    rows = np.hstack([points, np.broadcast_to(medians, (len(points), len(medians)))])
    expected = alone.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(surfaces.grid.ravel(), expected, atol=1e-4)
    words = playground.payload(surfaces)["words"][0]
    assert all(f"of {name}" in words for name in people.names)


def test_what_is_no_axis_is_refused(loans):
    across, up = playground.plane_columns(loans)[:2]
    with pytest.raises(ValueError, match="'nothing' is no number that varies"):
        playground.people_of(loans, across, "nothing")
    changed = dataclasses.replace(
        loans, group=np.zeros_like(loans.group), group_names=("all",)
    )
    with pytest.raises(ValueError, match="needs two groups"):
        playground.people_of(changed, across, up)
