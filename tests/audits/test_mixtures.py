"""Random mixtures that runs keep: expected figures, and draws where 0 or 1."""

import json
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import fairdash
from fairdash.audits import StoredSweep, portable, sweeps, trials
from fairdash.audits.drifts.study import drift
from fairdash.audits.gaps.by_subgroup import local_by_measure
from fairdash.audits.gaps.evaluation import metrics_by_setting, paired_changes
from fairdash.audits.gaps.measured import widest_gap
from fairdash.audits.tables.alternative import alternative_in_run
from fairdash.audits.trials.models import as_scored
from fairdash.audits.trials.rows import rows_of
from fairdash.datasets import Subgroups, draws, split
from fairdash.methods import CATALOG
from fairdash.metrics import Drawn, measure_by_group
from fairdash.scored import DecisionRule
from fairdash.sweep import DRAWN, choose_certified

KINDS = {
    "unconstrained": {"n_epochs": 3, "batch_size": 128},
    "reductions": {"tolerance": (0.01, 0.05)},
    "hardt": {},
    "noisy_ideal": {"n_rounds": 4, "constraints": "demographic_parity"},
}
INSIDE = Subgroups(columns=("branch",), min_size=20)


@pytest.fixture
def run(train):
    return train(KINDS, subgroups=INSIDE)


@pytest.fixture
def mixtures(store, run):
    match = [t for t in store.snapshot(run).trials if CATALOG[t.method].mixture]
    assert {t.method for t in match} == {k for k, m in CATALOG.items() if m.mixture}
    return match


def by_hand(dataset, h, where):
    """Return figures of drawn decisions on rows, by NumPy."""
    y = dataset.y[where]
    h = h[where].astype(float)
    group = dataset.group[where]
    accuracy = np.mean(y * h + (1 - y) * (1 - h))
    rates = [h[group == code].mean() for code in np.unique(group)]
    local = []
    for _, places in dataset.frame.iloc[where].groupby("branch").indices.items():
        inside = group[places]
        if len(places) >= 20:
            mean = [h[places][inside == code].mean() for code in np.unique(inside)]
            local.append(np.ptp(mean))
    return {
        "accuracy": accuracy,
        "demographic_parity_difference": np.ptp(rates),
        "worst_1_di": max(local),
        "selection_rate": h.mean(),
    }


def test_rows_of_a_sweep_are_expected_figures(store, dataset, run, mixtures):
    table = StoredSweep.of(store, store.snapshot(run)).result.rows.set_index("key")
    parts = split(dataset, 0)
    chances = [store.artifact(trial.key).scores() for trial in mixtures]
    assert np.sum([((h > 0.02) & (h < 0.98)).any() for h in chances]) > 1
    for trial in mixtures:
        h = store.artifact(trial.key).scores()
        for part in ("validation", "test"):
            wanted = by_hand(dataset, h, getattr(parts, part))
            for name, value in wanted.items():
                line = table.loc[trial.key, f"{part}_{name}"]
                assert line == pytest.approx(value, abs=1e-6), name
    plain = table[~table["method"].isin([t.method for t in mixtures])]
    assert plain[DRAWN].isna().all()


def test_pages_show_the_same_figures(store, dataset, run, mixtures):
    models = {
        t.key: m
        for m in trials.known_models(store, store.datasets()[0].id, run)
        for t in m.trials
    }
    data = store.datasets()[0].id
    test = split(dataset, 0).test
    for trial in mixtures:
        model = models[trial.key]
        h = store.artifact(trial.key).scores()
        wanted = by_hand(dataset, h, test)
        row = metrics_by_setting(store, [model], data, INSIDE).iloc[0]
        for name in ("accuracy", "demographic_parity_difference", "worst_1_di"):
            assert row[name] == pytest.approx(wanted[name], abs=1e-6)
        local = local_by_measure(store, [model], data, INSIDE).row
        gap = wanted["demographic_parity_difference"]
        assert local["overall"] == pytest.approx(gap, abs=1e-6)
        finding = widest_gap(store, model, data)
        assert abs(finding.value) == pytest.approx(gap, abs=1e-6)
        by_group = measure_by_group(
            "selection_rate",
            None,
            Drawn(h[test].astype(float), dataset.content[test]),
            sensitive_features=dataset.sensitive_features[test],
        )
        assert abs(np.ptp(by_group["value"])) == pytest.approx(gap, abs=1e-6)
        plain = next(m for m in models.values() if m.method == "unconstrained")
        changes = paired_changes(store, model, plain, data, INSIDE).set_index("metric")
        for name in ("accuracy", "demographic_parity_difference", "worst_1_di"):
            assert changes.loc[name, "value"] == pytest.approx(wanted[name], abs=1e-6)


def test_figures_that_an_earlier_version_rounded_are_measured_anew(
    store, dataset, run, mixtures, monkeypatch
):
    snapshot = store.snapshot(run)
    rows_now = StoredSweep.of(store, snapshot).result.rows
    old = snapshot.table().drop(columns=DRAWN)
    rounded = old["method"].isin([t.method for t in mixtures])
    figures = old.filter(regex="^(test|validation)_").columns
    of_scores = old.filter(regex=r"_(auc|log_loss)(_low|_high)?$").columns
    of_decisions = figures.difference(of_scores)
    old.loc[rounded, of_decisions] = -1.0
    monkeypatch.setattr(type(snapshot), "table", lambda self: old)
    rows_later = StoredSweep.of(store, snapshot).result.rows
    columns = [name for name in rows_now if name != DRAWN]
    pd.testing.assert_frame_equal(
        rows_later[columns], rows_now[columns], check_dtype=False
    )


def test_a_rule_of_the_reader_cuts_the_chances(store, dataset, run, mixtures):
    rows = rows_of(store, store.datasets()[0].id, 0, INSIDE)
    for trial in mixtures:
        h = rows.scores(as_scored(trial))
        cut = as_scored(trial).decided_by(DecisionRule("custom", 0.5))
        np.testing.assert_array_equal(rows.decisions(cut), h > 0.5)
    rule = DecisionRule("custom", 0.5)
    table = sweeps.finished_sweep(store, run, rule).result.rows.set_index("key")
    (trial,) = [t for t in mixtures if t.method == "hardt"]
    cut = (store.artifact(trial.key).scores() > 0.5)[split(dataset, 0).test]
    assert table.loc[trial.key, "test_selection_rate"] == cut.mean()


def test_what_needs_0_and_1_is_drawn_as_the_exported_model_draws(
    store, dataset, run, mixtures
):
    data = store.datasets()[0].id
    rows = rows_of(store, data, None, Subgroups())
    models = {t.key: m for m in trials.known_models(store, data, run) for t in m.trials}
    for trial in mixtures:
        h = store.artifact(trial.key).scores()
        decided = rows.predictions(as_scored(trial))
        np.testing.assert_array_equal(decided, draws.levels(dataset.content) < h)
        named = models[trial.key].id
        table = portable.predictions(store, run, named)
        np.testing.assert_array_equal(table["decision"], decided)
        exported = portable.exported(store, run, named)
        assert exported.drawn
        np.testing.assert_array_equal(exported.predict(dataset.frame), decided)
        cut = portable.exported(store, run, named, rule=DecisionRule("custom", 0.5))
        np.testing.assert_array_equal(cut.predict(dataset.frame), h > 0.5)


def test_a_model_file_of_an_earlier_version_draws(store, run, mixtures, tmp_path):
    data = store.datasets()[0].id
    models = {t.key: m for m in trials.known_models(store, data, run) for t in m.trials}
    model = portable.exported(store, run, models[mixtures[0].key].id)
    path = tmp_path / "model.zip"
    path.write_bytes(model.to_bytes())
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    card = json.loads(parts["model.json"])
    del card["drawn"]
    with ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, json.dumps(card) if name == "model.json" else part)
    assert fairdash.load(path).drawn


def test_drift_alternatives_and_certificates_take_mixtures(
    store, dataset, run, mixtures
):
    data = store.datasets()[0].id
    models = trials.known_models(store, data, run)
    (hardt,) = [m for m in models if m.method == "hardt"]
    result = drift(
        store,
        [hardt],
        data,
        main=hardt,
        subgroups=INSIDE,
        other=("later", dataset.frame.sample(frac=0.6, random_state=0)),
    )
    h = store.artifact(hardt.trials[0].key).scores()
    wanted = by_hand(dataset, h, split(dataset, 0).test)
    first = result.points.iloc[0]
    gap = wanted["demographic_parity_difference"]
    assert first["gap"] == pytest.approx(gap, abs=1e-6)
    assert first["selection_rate"] == pytest.approx(wanted["selection_rate"], abs=1e-6)
    _, alternative = alternative_in_run(store, run)
    assert alternative.tried == len(models) - 1
    sweep = StoredSweep.of(store, store.snapshot(run))
    limits = {"demographic_parity_difference": 0.3}
    table = sweep.certification_table(limits)
    assert (table["positives"] == table["positives"].round()).all()  # decisions
    assert choose_certified(table, limits=limits).tested["p_value"].between(0, 1).all()
