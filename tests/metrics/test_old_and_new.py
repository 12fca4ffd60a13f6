"""One pipeline gives what the separate ones gave, on 200 generated tables."""

import numpy as np
import pandas as pd
import pytest
from generated_tables import generated
from old_pipelines import facts as old_facts
from old_pipelines import measuring as old_measuring
from old_pipelines import verdict as old_verdict
from old_pipelines.group import evaluate as old_evaluate
from old_pipelines.group import local as old_local
from old_pipelines.group import local_measures as old_local_measures
from old_pipelines.group import measures as old_measures
from old_pipelines.group import rates as old_rates

from fairdash import metrics
from fairdash.audits import measuring
from fairdash.audits.tables import facts
from fairdash.metrics import MEASURES, Drawn, Speech, catalog
from fairdash.wording import worst_inside

# the upper end of a ratio to nearly 0 multiplies the rounding of its parts
EQUAL = {"rtol": 1e-11, "atol": 1e-12}
SEEDS = range(200)


def same(old, new):
    """Tell that two tables are equal but for rounding."""
    pd.testing.assert_frame_equal(old, new, check_exact=False, **EQUAL)


def predictions(table, measure):
    takes = catalog.measure_of(measure).takes
    return table.decided if takes == "decision" else table.scores


def every_measure():
    """Return measures for all kinds of outcomes."""
    others = *catalog.NUMBER_MEASURES, *catalog.RANKING_MEASURES
    return ["error_cost 3:1", *MEASURES, *others]


@pytest.mark.parametrize("seed", SEEDS)
def test_values_gaps_and_local_gaps(seed):
    table = generated(seed)
    rows = {"sensitive_features": table.groups, **table.sampling}
    for measure in every_measure():
        predicted = predictions(table, measure)
        call = measure, table.y, predicted
        same(
            old_measures.measure_by_group(*call, **rows),
            metrics.measure_by_group(*call, **rows),
        )
        for options in ({}, {"reference": "group 01"}, {"favourable": False}):
            same(
                old_measures.measure_gaps(*call, **options, **rows),
                metrics.measure_gaps(*call, **options, **rows),
            )
        inside = {"subgroups": table.subgroups, "min_size": 20}
        old = old_local_measures.LocalMeasure.of(*call, **inside, **rows)
        new = metrics.LocalMeasure.of(*call, **inside, **rows)
        same(old.table(), new.table())
        same(old.estimates(), new.estimates())
        old_floor = old.noise_floor(n_permutations=20)
        new_floor = new.noise_floor(n_permutations=20)
        np.testing.assert_allclose(old_floor.samples, new_floor.samples, **EQUAL)


@pytest.mark.parametrize("seed", SEEDS)
def test_models(seed):
    table = generated(seed)
    scores = np.stack([table.scores, table.scores[::-1]])
    rows = {"sensitive_features": table.groups, **table.sampling}
    inside = {"subgroups": table.subgroups, "min_size": 20}
    for models in (scores, scores[0], Drawn(scores)):
        for where in ({}, inside):
            same(
                old_evaluate.evaluate(table.y, models, **rows, **where),
                metrics.evaluate(table.y, models, **rows, **where),
            )
    same(
        old_evaluate.decision_status(table.y, table.decided, **table.sampling),
        metrics.decision_status(table.y, table.decided, **table.sampling),
    )
    content = table.scores
    for measure in ("precision", "true_positive_rate", "error_cost 3:1"):
        call = measure, table.y, Drawn(table.scores)
        old = old_measures.measure_by_group(*call, **rows)
        new = metrics.measure_by_group(*call, **rows)
        # expected rows of a half are rounded either way, by the order of their sum
        assert (old["n"] - new["n"]).abs().max() <= 1
        same(old.drop(columns="n"), new.drop(columns="n"))
    for decided in (table.decided, Drawn(table.scores), Drawn(table.scores, content)):
        same(
            old_local.local_di(decided, **rows, **inside),
            metrics.local_di(decided, **rows, **inside),
        )
    for name in ("demographic_parity_difference", "equalized_odds_difference"):
        call = (table.y, table.decided) if "odds" in name else (table.decided,)
        kept = {k: v for k, v in rows.items() if k != "cluster"}
        np.testing.assert_allclose(
            getattr(old_rates, name)(*call, **kept),
            getattr(metrics, name)(*call, **kept),
            **EQUAL,
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_of_an_audit(seed):
    table = generated(seed)
    rows = {
        "sensitive_features": table.groups,
        "sample_weight": None,
        "cluster": None,
        **table.sampling,
    }
    inside = {"subgroups": table.subgroups, "min_size": 20}
    predicted = {measure: predictions(table, measure) for measure in MEASURES}
    for reference, times in ((None, 1), ("group 00", 3)):
        call = table.y, predicted, rows, inside, Speech()
        options = {
            "confidence": 0.9,
            "reference": reference,
            "favourable": True,
            "times": times,
        }
        old = old_measuring.measured(*call, **options)
        new = measuring.measured(*call, **options)
        for name in ("by_group", "gaps", "local"):
            same(getattr(old, name), getattr(new, name))
        for measure in MEASURES:
            of_measure = old.local[old.local["measure"] == measure]
            chance = float(of_measure["chance"].iloc[0])
            by = {"confidence": 0.95, "favourable": True}
            before = old_verdict.worst_inside(
                measure, old.estimates[measure], chance, **by
            )
            after = worst_inside(measure, new.estimates[measure], chance, **by)
            assert (before is None) == (after is None)
            if before is not None:
                same(pd.DataFrame([before]), pd.DataFrame([after]))
        of_groups = (table.decided, table.groups)
        sampling = {"reference": reference, **table.sampling}
        before = old_facts.group_facts(*of_groups, **sampling)
        after = facts.group_facts(*of_groups, **sampling)
        same(before.groups, after.groups)
        same(before.comparisons, after.comparisons)
        assert str(before.reference) == str(after.reference)
