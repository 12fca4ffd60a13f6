import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import (
    Remedy,
    Subgroups,
    encode,
    guessing,
    make_dataset,
    remedies,
)
from fairdash.datasets.column_kinds import as_kind


def left_out_reasons(frame, roles):
    _, reasons = guessing.guess_features(
        frame, roles.target, roles.positive, roles.sensitive_feature
    )
    return reasons


def prepared(frame, roles, **remedy):
    before = frame.copy()
    changed = remedies.prepare(frame, remedies.apply_remedy(roles, Remedy(**remedy)))
    pd.testing.assert_frame_equal(frame, before)
    return changed


def equal(got, wanted):
    pd.testing.assert_frame_equal(got, wanted, check_dtype=False)


def test_values_read_as_missing_are_missing(people, roles):
    frame = people.assign(income=people["income"].where(people.index % 9 > 0, -999))
    got = prepared(frame, roles, kind="missing", column="income", values=(-999,))
    equal(got, frame.assign(income=frame["income"].replace(-999, np.nan)))
    got = prepared(people, roles, kind="missing", column="job", values=("farm",))
    equal(got, people.assign(job=people["job"].where(people["job"] != "farm")))


def test_values_are_recoded_and_merged(people, roles):
    changes = {"farm": "outside", "shop": "outside"}
    got = prepared(people, roles, kind="recode", column="job", changes=changes)
    equal(got, people.assign(job=people["job"].replace(changes)))


def test_text_is_read_as_numbers_with_its_words_as_missing(people, roles):
    spoiled = people["age"].astype(str).where(people.index % 40 > 0, "not said")
    remedy = {"kind": "convert", "column": "age", "to": "number"}
    frame = people.assign(age=spoiled)
    got = prepared(frame, roles, **remedy, values=("not said",))
    equal(got, people.assign(age=people["age"].where(people.index % 40 > 0)))
    with pytest.raises(ValueError, match="10 rows of 'age' are not a number"):
        prepared(frame, roles, **remedy)


def test_parts_of_a_date_of_stored_roles_are_columns(people, roles):
    dates = pd.Series(pd.date_range("2020-01-30", periods=400, freq="D"))
    frame = people.assign(since=dates.dt.strftime("%Y-%m-%d"))
    got = prepared(frame, roles, kind="date_parts", column="since")
    assert got["since month"].tolist() == dates.dt.month.tolist()


def test_repeated_rows_are_left_out_and_counted(people, roles):
    frame = pd.concat([people, people.iloc[[3, 7, 3]]], ignore_index=True)
    changed = remedies.apply_remedy(roles, Remedy(kind="drop_duplicates"))
    dataset = make_dataset(frame, changed, name="x")
    assert dataset.row_number.tolist() == list(range(400))
    assert dataset.excluded["reason"].tolist() == ["repeats an earlier row"]
    assert dataset.excluded["example_rows"].tolist() == [(401, 402, 403)]
    equal(dataset.frame, people)


def test_a_column_left_out_has_its_reason_and_comes_back(roles):
    remedy = Remedy(kind="leave_out", column="income", reason="one value in all rows")
    changed = remedies.apply_remedy(roles, remedy)
    assert changed.features == ("age", "job")
    assert changed.left_out == {"income": "one value in all rows"}
    assert remedies.applied_remedies(changed) == [remedy]
    assert (
        remedies.undo_remedy(changed, remedy, ["sex", "age", "income", "job"]) == roles
    )


NESTED = {"lists": [np.array([1, 2])], "records": [{"a": 1}], "pairs": [[("a", 1)]]}


@pytest.mark.parametrize("name", list(NESTED))
def test_a_column_of_lists_or_records_is_refused_in_words(people, roles, name):
    frame = people.assign(**{name: NESTED[name] * len(people)})
    assert left_out_reasons(frame, roles)[name] == "holds lists or records"
    dataset = make_dataset(frame, roles, name="x")
    assert dataset.key != make_dataset(people, roles, name="x").key
    for refused in (
        lambda: guessing.guess_rest(frame, name, "sex"),
        lambda: guessing.guess_rest(frame, "granted", name),
        lambda: as_kind(frame[name], "number"),
        lambda: Subgroups(columns=(name,)).label(frame),
    ):
        with pytest.raises(ValueError, match=f"'{name}' hold lists or records"):
            refused()


def test_preparation_changes_the_key_and_words_do_not(people, roles):
    plain = make_dataset(people, roles, name="x", key="file")
    steps = remedies.apply_remedy(roles, Remedy(kind="drop_duplicates"))
    assert make_dataset(people, steps, name="x", key="file").key != plain.key
    facts = {"positive_name": "granted", "positive_is": "favourable"}
    facts["left_out"] = {"person": "identifier"}
    words = roles.model_copy(update=facts)
    assert make_dataset(people, words, name="x", key="file").key == plain.key


def test_without_its_last_feature_a_table_is_audited_and_not_trained(people, roles):
    restricted = roles.model_copy(update={"features": ("age",)})
    none = remedies.apply_remedy(restricted, Remedy(kind="leave_out", column="age"))
    assert remedies.undo_remedy(
        none, *remedies.applied_remedies(none), ["age"]
    ).features == ("age",)
    dataset = make_dataset(people, none, name="People")
    assert dataset.n_rows == len(people)
    with pytest.raises(ValueError, match="No column of 'People' is a feature"):
        encode(dataset, np.arange(10))
