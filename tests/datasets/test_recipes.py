"""Generated recipes of every step: rows in are rows used and rows left out."""

import numpy as np
import pandas as pd
from cases import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from fairdash.audits import tables
from fairdash.datasets import Roles, join_tables, make_dataset

N_ROWS = 60
AGES = ["<25", "25-34", "35-44", "45-54", ">54", "8888", "Exempt", None]
RACES = ["White", "Asian", "White;Asian", "Black", "Black;White;Asian", None]
AT_ENDS = [25, 35, 45, 55]


@st.composite
def tables_of_people(draw):
    """A table with ranges, a multiple choice, 0/1 columns, counts and a key."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))

    def some(values):
        return rng.choice(np.array(values, dtype=object), N_ROWS)

    frame = pd.DataFrame(
        {
            "taken": rng.integers(1, 6, N_ROWS),
            "age": some(AGES),
            "race": some(RACES),
            "black": rng.integers(0, 2, N_ROWS),
            "hispan": rng.integers(0, 2, N_ROWS),
            "person": rng.integers(0, 40, N_ROWS),
            "people": rng.integers(0, 9, N_ROWS),
            "amount": rng.normal(size=N_ROWS),
        }
    )
    second_table = pd.DataFrame({"person": range(5, 45), "sex": some(["w", "m"])[:40]})
    return join_tables(frame, second_table, ["person"], name="people.csv")


missing = {"kind": "missing", "column": "age", "values": ["8888"]}
single = st.sampled_from(["several", ""]).map(
    lambda several: {
        "kind": "single_choice", "column": "race", "separator": ";", "several": several,
    }
)  # fmt: skip
one_of = st.tuples(st.sampled_from(["none", ""]), st.sampled_from(["two", ""])).map(
    lambda names: {
        "kind": "one_of", "column": "group", "columns": ["black", "hispan"],
        "none": names[0], "several": names[1],
    }
)  # fmt: skip
conditions = st.lists(
    st.one_of(
        st.sampled_from(AT_ENDS).map(lambda low: {"column": "age", "at_least": low}),
        st.sampled_from(AT_ENDS).map(lambda high: {"column": "age", "below": high}),
        st.just({"column": "sex", "missing": False}),
        st.just({"any_of": [{"column": "age", "at_least": 35},
                            {"column": "sex", "among": ["w"]}]}),
    ),
    max_size=2,
)  # fmt: skip


@st.composite
def recipes(draw):
    """Roles with some steps, in the order that they need."""
    sensitive = draw(st.sampled_from(["race", "group", "sex", "age"]))
    steps = [missing, draw(single)]
    if sensitive == "group":
        steps.append(draw(one_of))
    return {
        "target": "taken",
        "positive": ["1", "2"],
        "negative": draw(st.sampled_from([[], ["3"], ["3", "4"]])),
        "sensitive_feature": sensitive,
        "sensitive_cuts": [35] if sensitive == "age" and draw(st.booleans()) else [],
        "sensitive_missing": draw(st.sampled_from(["exclude", "group"])),
        "features": ["amount"],
        "rows": draw(conditions),
        "preparation": steps,
        "types": {"age": "range"},
        "count": draw(st.sampled_from([None, "people"])),
    }


@examples(120)
@given(frame=tables_of_people(), recipe=recipes())
def test_rows_in_are_rows_used_and_rows_left_out_by_reason(frame, recipe):
    roles = Roles.model_validate(recipe)
    assert Roles.model_validate_json(roles.model_dump_json()) == roles
    try:
        dataset = make_dataset(frame, roles, name="drawn")
    except ValueError:  # too few rows are left
        assume(False)
    n_read = len(frame) if roles.count is None else int(frame["people"].sum())
    assert dataset.n_people + dataset.excluded["rows"].sum() == n_read
    assert sum(dataset.group_sizes.values()) == dataset.n_people
    included = frame.iloc[np.unique(dataset.row_number)]
    if recipe["negative"]:
        assert set(included["taken"]) <= {1, 2, *map(int, recipe["negative"])}
    if roles.sensitive_feature == "race":
        n_single = included["race"].str.contains(";", regex=False, na=False)
        several = "several" in dataset.group_names
        assert several or not n_single.any() or roles.sensitive_missing == "group"


@examples(60)
@given(frame=tables_of_people(), recipe=recipes())
def test_an_audit_of_a_file_counts_the_same_rows(frame, recipe):
    # a question has no cuts, and always leaves out who is in no group
    assume(not recipe["sensitive_cuts"])
    assume(recipe["sensitive_missing"] == "exclude")
    negative = recipe["negative"]
    question = tables.TableQuestion(
        groups=(recipe["sensitive_feature"],),
        decision="taken=1,2",
        negative=(f"taken={','.join(negative)}",) if negative else (),
        rows=recipe["rows"],
        preparation=recipe["preparation"],
        types=recipe["types"],
        count=recipe["count"],
    )
    try:
        dataset = make_dataset(frame, Roles.model_validate(recipe), name="drawn")
    except ValueError:
        assume(False)
    counted = tables.count_rows(frame, question, may_be_absent=True)
    assert counted.n == dataset.n_people
    n_left_out = sum(part.rows for part in counted.excluded)
    assert n_left_out == dataset.excluded["rows"].sum()
