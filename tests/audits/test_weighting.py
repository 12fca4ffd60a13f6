"""What Weights says of a table of counts is what it says of their people, one a row."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairdash.audits import trials
from fairdash.audits.weighting import Weighted, find_top_rows
from fairdash.datasets import (
    PUBLISHED,
    Roles,
    Subgroups,
    load_sample,
    training_rows,
)
from fairdash.jobs import submit
from fairdash.plots import plot_ratio_against_di, plot_weight_spread
from fairdash.sweep import SweepSpec

SUBGROUPS = Subgroups(columns=("department",))
QUICK = {"n_epochs": 2, "batch_size": 64, "fairness_weight": 3.0}
METHODS = (
    {"method": "unconstrained", "params": {"n_epochs": 2, "batch_size": 64}},
    {"method": "broad", "params": {**QUICK, "tau": 0.2}},
)


@dataclass(frozen=True, eq=False)
class SpelledOut:
    """A store of counts as one whose table has a row a person, with the same weights.

    Each person has the weight, the scores and the lot of the row of counts.
    """

    store: Any
    counts: Any

    def dataset(self, _id):
        index = self._each
        counts = self.counts
        roles = Roles.model_validate({**vars(counts.roles), "count": None})
        frame = counts.frame.drop(columns=counts.roles.count).iloc[index]
        return replace(
            counts,
            roles=roles,
            frame=frame.reset_index(drop=True),
            **{name: getattr(counts, name)[index] for name in ("y", "group", "lot")},
            row_number=np.arange(len(index)),
        )

    def artifact(self, key):
        return _SpelledArtifact(self.store.artifact(key), self._each, self._trained)

    @property
    def _each(self):
        return np.repeat(np.arange(self.counts.n_rows), self.counts.people.astype(int))

    @property
    def _trained(self):
        rows = training_rows(self.counts, 0)
        return np.repeat(np.arange(len(rows)), self.counts.people[rows].astype(int))


@dataclass(frozen=True)
class _SpelledArtifact:
    artifact: Any
    each: Any
    trained: Any

    def __getattr__(self, name):
        return getattr(self.artifact, name)

    def scores(self):
        return self.artifact.scores()[self.each]

    def ratio(self):
        ratio = self.artifact.ratio()
        return None if ratio is None else ratio[self.trained]

    def ratio_history(self):
        history = self.artifact.ratio_history()
        return {**history, "ratio": history["ratio"][:, self.trained]}


@pytest.fixture
def both(store):
    """The weights of a model of counts, and the same with their people as rows."""
    sample = PUBLISHED["berkeley"]
    table = store.add_table(sample.path.read_bytes(), "berkeley.csv")
    roles = load_sample("berkeley").roles
    store.add_dataset(table, roles, "Berkeley")
    data = {"table": table, "roles": roles, "name": "Berkeley"}
    spec = SweepSpec(data=data, methods=METHODS, subgroups=SUBGROUPS)
    run = store.run(submit(store, spec))
    plain, broad = trials.settings(store.snapshot(run.id).trials)
    pair = broad, broad.trials[0], plain.trials[0], run.dataset_id
    spelled = SpelledOut(store, store.dataset(run.dataset_id))
    return Weighted(store, *pair), Weighted(spelled, *pair)


def of_people(text):
    """Return what is said of rows as it is said of people."""
    return text.replace("rows", "people")


def test_weights_average_to_one_over_the_people_of_each_group(both):
    counts, _ = both
    ratio = counts.ratio()
    people = counts.rows.people
    for name in counts.store.dataset(counts.dataset_id).group_names:
        of_group = counts.rows.groups["sensitive_features"] == name
        assert np.average(ratio[of_group], weights=people[of_group]) == pytest.approx(
            1, abs=1e-5
        )
        assert ratio[of_group].mean() != pytest.approx(1, abs=1e-5)


def test_the_page_says_of_counts_what_it_says_of_their_people(both):
    answers = []
    tops = []
    for weighted in both:
        dataset = weighted.store.dataset(weighted.dataset_id)
        top = find_top_rows(weighted, weighted.ratio())
        answers.append(weighted.answer(dataset, SUBGROUPS, top))
        tops.append(top)
    first, second = answers
    for kpi, of_rows in zip(first.cards, second.cards, strict=True):
        assert (kpi.label, kpi.value) == (of_people(of_rows.label), of_rows.value)
        assert kpi.note == of_people(of_rows.note)
    assert first.verdict == of_people(second.verdict)
    assert first.details == of_people(second.details)
    n = sum(both[0].rows.people)
    assert first.facts[1] == of_people(second.facts[1]) == f"{n:,.0f} training people"
    assert tops[0].n == tops[1].n == round(0.01 * n)
    pd.testing.assert_frame_equal(tops[0].traits, tops[1].traits)
    assert list(tops[0].readable())[1] == "Share of these people"


def test_the_pictures_of_counts_are_those_of_their_people(both):
    drawings = []
    for weighted in both:
        dataset = weighted.store.dataset(weighted.dataset_id)
        top = find_top_rows(weighted, weighted.ratio())
        spread = weighted.answer(dataset, SUBGROUPS, top).figure
        taus = weighted.taus([weighted.model], dataset, SUBGROUPS)
        drawings.append((spread, taus, weighted.gaps(SUBGROUPS)))
    for first, second in zip(*drawings, strict=True):
        pd.testing.assert_frame_equal(first.table, second.table, rtol=1e-5)
        if "density" in first.arguments:
            tables = first.arguments["density"], second.arguments["density"]
            pd.testing.assert_frame_equal(*tables)
    spread, _, gaps = drawings[0]
    picture = plot_weight_spread(spread.table, **spread.arguments)
    assert picture.figure.layout.yaxis2.title.text == "% of people"
    assert "of people" in picture.caption
    picture = plot_ratio_against_di(gaps.table, **gaps.arguments)
    assert "area by people" in picture.caption
