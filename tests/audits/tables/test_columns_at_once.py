"""Several columns of groups are one question: what is sure holds for all at once."""

import numpy as np
import pandas as pd

from fairdash.audits import tables

SOURCE = tables.Source("people.csv", "", 400, "")


def people(n_hired):
    """Return 400 people, of whom ``n_hired`` of 200 women and 100 of 200 men are hired.

    Half of each are young, and hired as often as the others.
    """
    sex = np.repeat(["f", "m"], 200)
    hired = np.concatenate([np.arange(200) < n for n in (n_hired, 100)])
    age = np.where(np.arange(400) % 2, "young", "old")
    return pd.DataFrame({"sex": sex, "age": age, "hired": np.where(hired, "y", "n")})


def audited(frame, *groups):
    question = tables.TableQuestion(groups=groups, decision="hired=y")
    return tables.audit_table(frame, question, SOURCE)


def test_a_gap_that_is_clear_by_one_column_may_be_chance_among_three():
    alone = audited(people(79), "sex")
    assert alone.findings[0][1].sure
    together = audited(people(79), "sex", "age")
    assert list(together.audits) == ["sex", "age", "sex × age"]
    assert not any(finding.sure for _, finding in together.findings)
    assert "as 3 columns of groups are asked at once" in together.verdict
    assert alone.verdict in together.verdict  # by itself


def test_a_large_gap_is_clear_by_however_many_columns():
    together = audited(people(50), "sex", "age")
    assert together.findings[0][1].sure
    assert "asked at once" not in together.audits["sex"].verdict


def test_two_deviations_are_of_all_groups_at_once():
    frame = people(79)
    alone, both_columns = (
        tables.adverse_impact(
            frame, tables.TableQuestion(groups=groups, decision="hired=y")
        ).tables["sex"]
        for groups in (("sex",), ("sex", "age"))
    )
    assert (alone["deviations"].abs() > 2).all()
    assert alone["two_deviations"].all()
    assert not both_columns["two_deviations"].any()
    assert (both_columns["p_at_once"] > both_columns["p_two_deviations"]).all()
