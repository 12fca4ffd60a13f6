"""A table of counts says what its people say, one row each."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairdash.audits import find_subgroups, tables
from fairdash.cli import app
from fairdash.datasets import PUBLISHED, load_sample


@pytest.fixture
def berkeley():
    """The counts, and one row for each of the 4,526 people."""
    counts = pd.read_csv(PUBLISHED["berkeley"].path)
    people = counts.loc[counts.index.repeat(counts["people"])]
    return counts, people.drop(columns="people").reset_index(drop=True)


def audited(frame, **more):
    fields = {"decision": "admit=Admitted", "groups": ("gender", "department")}
    question = tables.TableQuestion(**fields | more)
    source = tables.Source.of_frame("table.csv", "0" * 64, frame)
    return tables.audit_table(frame, question, source)


def test_an_audit_is_that_of_repeated_rows(berkeley):
    counts, people = berkeley
    of_counts = audited(counts, count="people").to_dict()
    of_people = audited(people).to_dict()
    assert of_counts["rows"] == of_people["rows"] == 4526
    assert of_counts["verdict"] == of_people["verdict"]
    for part in ("counts", "excluded"):
        assert of_counts[part] == of_people[part]
    pd.testing.assert_frame_equal(
        pd.DataFrame(of_counts["estimates"]), pd.DataFrame(of_people["estimates"])
    )


def test_people_who_are_left_out_are_counted_not_their_rows(berkeley):
    counts, people = berkeley
    some = {"groups": ("gender",), "rows": {"department": ["A", "B"]}}
    first = audited(counts, count="people", **some).rows
    second = audited(people, **some).rows
    assert first.excluded == second.excluded
    assert first.n + sum(part.rows for part in first.excluded) == 4526


def test_a_pack_of_counts_is_that_of_repeated_rows(berkeley):
    counts, people = berkeley
    fields = {"decision": "admit=Admitted", "groups": ("gender",)}
    first = tables.bias_audit(
        counts, tables.TableQuestion(count="people", **fields)
    ).tables["gender"]
    second = tables.bias_audit(people, tables.TableQuestion(**fields)).tables["gender"]
    pd.testing.assert_frame_equal(first, second)
    question = tables.TableQuestion(count="people", **fields)
    first = tables.adverse_impact(counts, question).tables["gender"]
    second = tables.adverse_impact(people, tables.TableQuestion(**fields))
    pd.testing.assert_frame_equal(first, second.tables["gender"])


def test_a_search_looks_at_each_person(berkeley):
    counts, people = berkeley
    from fairdash._counts import RowCounts

    options = {"n_permutations": 19, "random_state": 0, "columns": ["department"]}
    first, second = (
        find_subgroups(
            (part["admit"] == "Admitted").to_numpy(),
            sensitive_features=part["gender"],
            frame=part,
            sample_weight=weight,
            **options,
        )
        for part, weight in (
            (counts, RowCounts.of("people", counts["people"])),
            (people, None),
        )
    )
    pd.testing.assert_frame_equal(first, second)


def test_two_billion_people_are_audited_as_the_rows_that_they_are(berkeley):
    counts, _ = berkeley
    many = counts.assign(people=counts["people"] * 500_000)
    result = audited(many, count="people", groups=("gender",))
    assert result.rows.n == 4526 * 500_000
    gap = result.audits["gender"].gaps.iloc[0]
    assert gap["difference"] == pytest.approx(557 / 1835 - 1198 / 2691)
    assert gap["ci_high"] - gap["ci_low"] < 1e-4


def test_the_shell_counts_people(tmp_path):
    out = tmp_path / "audit.json"
    arguments = ["--decision", "admit=Admitted", "--group", "gender", "--out", str(out)]
    path = str(PUBLISHED["berkeley"].path)
    done = CliRunner().invoke(app, ["audit", path, *arguments, "--count", "people"])
    assert done.exit_code == 0, done.output
    assert "14 points less often than gender: Male (11 to 17)" in done.output
    assert json.loads(out.read_text())["rows"] == 4526


@pytest.mark.parametrize(
    "cells, message",
    [
        ([-5], "first row 1 with -5"),
        ([2.5], "no whole number.*sampling weight"),
        (["many"], "first row 1 with 'many'"),
    ],
)
def test_broken_counts_are_refused(berkeley, cells, message):
    counts, _ = berkeley
    column = [*cells, *counts["people"].iloc[1:]]
    with pytest.raises(ValueError, match=message):
        audited(counts.assign(people=column), count="people")


def test_counts_stand_beside_no_weight_and_no_unit():
    with pytest.raises(ValueError, match="no `--weight` and no `--unit`"):
        tables.TableQuestion(groups=("gender",), count="n", weight="w")


def test_a_split_of_the_sample_deals_people():
    dataset = load_sample("berkeley")
    from fairdash.datasets import split

    parts = split(dataset, 3)
    sizes = [dataset.people_in(part) for part in parts]
    assert sum(sizes) == dataset.n_people == 4526
    np.testing.assert_allclose(np.array(sizes) / 4526, [0.6, 0.2, 0.2], atol=0.03)
    for part in parts:  # each is a random sample of all cells
        weight = np.asarray(dataset.weight_of(part))
        rate = np.average(dataset.y[part], weights=weight)
        assert rate == pytest.approx(1755 / 4526, abs=0.05)
