"""What a page shows of an audited table is what the audit says."""

import numpy as np
import pandas as pd
import pytest

from fairdash import plots
from fairdash.audits import tables


def audited(gap, **question):
    rng = np.random.default_rng(1)
    n = 4_000
    sex = rng.choice(["f", "m"], n)
    branch = rng.choice(["north", "south", None], n, p=[0.5, 0.4, 0.1])
    hired = rng.random(n) < np.where(sex == "f", 0.5 - gap, 0.5)
    frame = pd.DataFrame({"branch": branch, "sex": sex, "hired": hired.astype(int)})
    asked = tables.TableQuestion(
        groups=("branch", "sex"), decision="hired=1", subgroups=("branch",), **question
    )
    source = tables.Source.of_frame("people.csv", "", frame)
    return tables.audit_table(frame, asked, source)


def test_the_verdict_is_of_the_columns_with_the_surest_gap():
    table = audited(0.3)
    answer = tables.table_answer(table)
    assert answer.verdict == table.audits["sex"].verdict
    for part in table.audits.values():
        assert part.verdict in answer.details
    fair = audited(0.0)
    assert tables.table_answer(fair).verdict == fair.audits["branch"].verdict


def test_cards_and_figure_are_the_estimates():
    table = audited(0.3)
    answer = tables.table_answer(table)
    cards = {card.label: card for card in answer.cards}
    n_missing = table.rows.excluded[0].rows
    assert n_missing > 0
    assert cards["Rows counted"].value == f"{4_000 - n_missing:,}"
    assert cards["Rows counted"].note == f"{n_missing:,} of 4,000 excluded"
    estimates = answer.data
    gaps = estimates[estimates["measure"] == "gap in selection_rate"]
    largest = gaps.loc[gaps["subgroup"].isna(), "value"].abs().max()
    assert cards["Largest gap"].value == f"{100 * largest:.1f} pt"
    low, high = cards["Largest gap"].note.removesuffix(" pt").split("–")
    assert float(low) < 100 * largest < float(high)
    assert cards["Groups"].value == "8"
    picture = answer.figure.picture(plots)
    (trace,) = picture.figure.data
    rates = estimates[estimates["measure"] == "selection_rate"]
    assert list(trace.x) == pytest.approx(rates["value"].tolist())
    assert "sex: f: " in picture.alt


def test_an_audit_of_another_measure_has_no_picture_of_rates():
    answer = tables.table_answer(audited(0.3, outcome="sex=m", measures=("accuracy",)))
    assert answer.figure is None
    assert "accuracy" in answer.cards[1].help
    assert set(answer.table.frame["Measure"]) >= {"Accuracy", "Gap in accuracy"}
