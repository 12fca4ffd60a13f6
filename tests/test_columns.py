"""One column in whatever it comes: the same rows give the same answer, or sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fairdash
from fairdash import ROAD
from fairdash._columns import with_columns
from fairdash.metrics import evaluate, measure_by_group
from fairdash.postprocessing import HardtThreshold

TEXTS = ["Ann", "Bo", "Bo", "Ann", "Ann", "nan", "nan", "Bo"] * 8
NUMBERS = [2, 7, 7, 2, 2, 3, 3, 7] * 8
OUTCOME = [0, 1, 1, 0, 1, 0, 1, 1] * 8
DECISION = [1, 1, 0, 0, 1, 0, 1, 0] * 8
MISSING = (None, float("nan"), pd.NA, pd.NaT)


def masked(values):
    filled = [0 if pd.isna(value) else value for value in values]
    return np.ma.masked_array(filled, mask=[pd.isna(value) for value in values])


def nulls(values):
    return [None if pd.isna(value) else value for value in values]


TEXT_KINDS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda values: np.array(values, dtype=object),
    "Series": pd.Series,
    "Series of objects": lambda values: pd.Series(values, dtype=object),
    "Series of strings": lambda values: pd.Series(values, dtype="string"),
    "Series of Arrow": lambda values: pd.Series(
        nulls(values), dtype=pd.ArrowDtype(pa.string())
    ),
    "Index": pd.Index,
    "Categorical": pd.Categorical,
    "Series of categories": lambda values: pd.Series(values, dtype="category"),
    "CategoricalIndex": pd.CategoricalIndex,
    "one column of a frame": lambda values: pd.DataFrame({"group": values}),
    "a column of a matrix": lambda values: np.array(values, dtype=object)[:, None],
    "Arrow": lambda values: pa.array(nulls(values)),
    "Arrow in chunks": lambda values: pa.chunked_array(
        [nulls(values[:3]), nulls(values[3:])], type=pa.string()
    ),
    "Arrow dictionary": lambda values: pa.array(nulls(values)).dictionary_encode(),
    "Polars": lambda values: pl.Series(nulls(values)),
    "Polars categories": lambda values: pl.Series(nulls(values), dtype=pl.Categorical),
    "Polars frame": lambda values: pl.DataFrame({"group": nulls(values)}),
}
NUMBER_KINDS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda values: np.array(values, dtype=object),
    "masked": masked,
    "Series": pd.Series,
    "nullable": lambda values: pd.Series(values, dtype="Int64"),
    "Series of Arrow": lambda values: pd.Series(
        nulls(values), dtype=pd.ArrowDtype(pa.int64())
    ),
    "Categorical": pd.Categorical,
    "Arrow": lambda values: pa.array(nulls(values), type=pa.int64()),
    "Polars": lambda values: pl.Series(nulls(values), dtype=pl.Int64),
}
WITHOUT_MISSING = {
    "range of bytes": lambda values: np.array(values, dtype=np.int8),
    "floats": lambda values: np.array(values, dtype=float),
    "halves": lambda values: np.array(values, dtype=np.float16),
    "torch": torch.tensor,
    "torch with a gradient": lambda values: torch.tensor(
        values, dtype=torch.float32, requires_grad=True
    ),
    "bfloat16": lambda values: torch.tensor(values, dtype=torch.bfloat16),
}
pytestmark = pytest.mark.filterwarnings("ignore:.*copy keyword.*")


def measured(groups, y=None, decisions=None):
    return measure_by_group(
        "selection_rate",
        OUTCOME if y is None else y,
        DECISION if decisions is None else decisions,
        sensitive_features=groups,
    )


def audited(groups):
    return fairdash.audit(OUTCOME, DECISION, sensitive_features=groups, checks=False)


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_groups_of_text_are_the_same_in_every_kind(kind):
    """Also one whose name is "nan", which is a name like any other."""
    groups = TEXT_KINDS[kind](TEXTS)
    pd.testing.assert_frame_equal(measured(groups), measured(TEXTS))
    assert list(measured(groups)["group"]) == ["Ann", "Bo", "nan"]
    assert audited(groups).to_dict() == audited(TEXTS).to_dict()


@pytest.mark.parametrize("kind", NUMBER_KINDS | WITHOUT_MISSING)
def test_groups_and_outcomes_of_numbers_are_the_same_in_every_kind(kind):
    make = (NUMBER_KINDS | WITHOUT_MISSING)[kind]
    expected = measured(NUMBERS)
    pd.testing.assert_frame_equal(measured(make(NUMBERS)), expected)
    if kind != "Categorical":
        unvaried = measured(NUMBERS, make(OUTCOME), make(DECISION))
        pd.testing.assert_frame_equal(unvaried, expected)


@pytest.mark.parametrize("kind", TEXT_KINDS)
@pytest.mark.parametrize("missing", MISSING, ids=str)
def test_a_group_that_is_missing_is_refused_in_every_kind(kind, missing):
    values = list(TEXTS)
    values[3] = values[9] = missing
    with pytest.raises(ValueError, match=r"missing values in 2 rows, first row 3\."):
        measured(TEXT_KINDS[kind](values))


@pytest.mark.parametrize(
    "kind", [kind for kind in NUMBER_KINDS if kind != "Categorical"]
)
@pytest.mark.parametrize("argument", ["y_true", "y_pred"])
def test_an_outcome_that_is_missing_is_refused_in_every_kind(kind, argument):
    values = list(OUTCOME)
    values[5] = None
    given_ = {"y_true": OUTCOME, "y_pred": DECISION} | {
        argument: NUMBER_KINDS[kind](values)
    }
    message = rf"`{argument}` is missing in 1 rows, the first is row 5; leave"
    with pytest.raises(ValueError, match=message):
        measure_by_group("accuracy", **given_, sensitive_features=TEXTS)
    with pytest.raises(ValueError, match=message):
        fairdash.audit(**given_, sensitive_features=TEXTS)


@given(
    values=st.lists(
        st.one_of(st.text(max_size=3), st.none(), st.just(float("nan"))), min_size=2
    )
)
def test_a_list_and_an_array_of_objects_name_the_same_groups(values):
    """Of any texts, also "nan", "None", "" and such that NumPy would cut."""
    answers = []
    for kind in (list, TEXT_KINDS["objects"]):
        try:
            table = measure_by_group(
                "selection_rate", None, [0, 1] + [0] * (len(values) - 2),
                sensitive_features=kind(values),
            )  # fmt: skip
            answers.append(list(zip(table["group"], table["n"], strict=True)))
        except ValueError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "values",
    [
        {"Ann", "Bo"},
        dict.fromkeys(range(64), "Ann"),
        (name for name in TEXTS),
        7,
        object(),
    ],
    ids=["set", "dict", "generator", "number", "object"],
)
def test_what_has_no_order_or_length_is_refused(values):
    with pytest.raises(ValueError, match="must hold one value per row in their order"):
        measured(values)


def test_numbers_with_decimals_are_no_groups():
    incomes = np.random.default_rng(3).normal(size=300)
    decisions = {"y_true": None, "y_pred": [0, 1, 1] * 100}
    with pytest.raises(ValueError, match="300 different numbers with decimals"):
        fairdash.audit(**decisions, sensitive_features=incomes)
    ages = np.repeat(np.arange(20.0, 50.0), 10)  # of whole years
    table = fairdash.audit(**decisions, sensitive_features=ages, checks=False).by_group
    assert table["group"].nunique() == 30
    half = np.repeat([0.5, 1.5, 2.0], 100)
    assert set(
        fairdash.audit(**decisions, sensitive_features=half).by_group["group"]
    ) == {
        "0.5",
        "1.5",
        "2",
    }


def test_groups_of_one_name_are_refused():
    with pytest.raises(ValueError, match="different values with the same name '1'"):
        measured([1, "1"] * 32)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["True", "False"], r"`pos_label='False'` or `pos_label='True'`"),
        (["granted", "denied"], r"`pos_label='denied'` or `pos_label='granted'`"),
        ([1, 2], r"`pos_label=1` or `pos_label=2`"),
    ],
)
def test_two_other_labels_are_both_named(labels, message):
    """Which of them is positive, only their owner knows."""
    with pytest.raises(ValueError, match=f"Say which is positive: {message}"):
        fairdash.audit(labels * 32, DECISION, sensitive_features=TEXTS)


def test_decisions_may_be_minus_one_and_one():
    signs = [2 * value - 1 for value in DECISION]
    outcome = [2 * value - 1 for value in OUTCOME]
    with_signs = fairdash.audit(outcome, signs, sensitive_features=TEXTS)
    assert with_signs.to_dict() == audited_with_checks().to_dict()


def audited_with_checks():
    return fairdash.audit(OUTCOME, DECISION, sensitive_features=TEXTS)


def shuffled(values, seed=0):
    return pd.Series(values).sample(frac=1, random_state=seed)


def test_row_labels_in_another_order_are_refused():
    message = (
        r"`sensitive_features` has the row labels of `y_pred` in another order.*"
        r"`sensitive_features\.loc\[y_pred\.index\]`.*`sensitive_features\.to_numpy\(\)`"
    )
    y_pred = pd.Series(DECISION)
    groups = shuffled(TEXTS)
    with pytest.raises(ValueError, match=message):
        fairdash.audit(OUTCOME, y_pred, sensitive_features=groups)
    expected = audited_with_checks().to_dict()
    for same in (groups.loc[y_pred.index], TEXTS, pd.Series(TEXTS, index=range(9, 73))):
        answer = fairdash.audit(OUTCOME, y_pred, sensitive_features=same)
        assert answer.to_dict() == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda y, p, g: evaluate(y, p.clip(0.1, 0.9), sensitive_features=g),
        lambda y, p, g: measure_by_group("accuracy", y, p, sensitive_features=g),
        lambda y, p, g: fairdash.local_di(p, sensitive_features=g, subgroups=y),
        lambda y, p, g: fairdash.find_subgroups(
            p, frame=y.to_frame(), sensitive_features=g, min_size=9
        ),
        lambda y, p, g: HardtThreshold().fit(
            p * 0.7 + 0.1, y.where(y.index > 7, 1 - y), sensitive_features=g
        ),
        lambda y, p, g: ROAD(n_epochs=1).fit(p.to_frame(), y, sensitive_features=g),
    ],
    ids=["evaluate", "measure", "local_di", "find", "thresholds", "fit"],
)
@pytest.mark.parametrize("moved", [0, 1, 2])
def test_every_entry_refuses_another_order(call, moved):
    columns = [pd.Series(OUTCOME), pd.Series(DECISION), pd.Series(TEXTS)]
    call(*columns)
    columns[moved] = shuffled(columns[moved])
    with pytest.raises(ValueError, match="in another order"):
        call(*columns)


@pytest.mark.parametrize("name", ["self", "frame", "x"])
def test_columns_are_replaced_and_added_by_any_name(name):
    table = pd.DataFrame({"x": [1, 2]}, index=[5, 6])
    table.attrs["note"] = "kept"
    changed = with_columns(table, {name: [3, 4], "more": 0})
    assert changed[name].tolist() == [3, 4]
    assert list(changed) == [*dict.fromkeys(["x", name]), "more"]
    assert changed.attrs == {"note": "kept"}
    assert table.to_dict("list") == {"x": [1, 2]}
