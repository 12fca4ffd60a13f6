"""Scores that join a data set after its table: by key or order, kept and deleted."""

import numpy as np
import pytest
from toys import ROLES, people, pipeline, pipeline_as_onnx

from fairdash.datasets import AddedScores
from fairdash.store import open_store


@pytest.fixture
def data(store):
    """Applicants with numbers of their own; two of them have no origin."""
    frame = people(100)
    frame.loc[[3, 50], "origin"] = None
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    return store.add_dataset(table, ROLES, "People")


@pytest.fixture
def p():
    return np.random.default_rng(1).random(100)


def rows_used(store, data, values):
    return np.asarray(values)[store.dataset(data).row_number]


def test_a_score_out_of_range_is_named_by_its_row_in_the_table(store, data, p):
    p[60] = 1.5
    with pytest.raises(ValueError, match=r"first row 61 with 1\.5\."):
        store.log_scores(data, p, name="whole")
    with pytest.raises(ValueError, match=r"first row 61 with 1\.5\."):
        store.log_scores(data, rows_used(store, data, p), name="used")


def test_scores_in_the_order_of_the_table_or_of_the_rows_used(store, data, p):
    whole = store.log_scores(data, p, name="whole")
    assert whole.n_rows == 98
    store.log_scores(data, rows_used(store, data, p), name="used")
    dataset = store.dataset(data)
    for record in store.own_scores(data):
        values = store.score_values(dataset, record.score)
        assert values.tolist() == rows_used(store, data, p).tolist()
    again = open_store(store.home)
    assert [item.score.column for item in again.own_scores(data)] == ["whole", "used"]
    again.close()


def test_a_name_is_taken_once_and_the_same_twice_is_once(store, data, p):
    first = store.log_scores(data, p, name="risk", source="a.csv")
    assert first.words() == "98 rows in the order of rows"
    with pytest.raises(ValueError, match="70 scores, and the table has 100 rows, 98 "):
        store.log_scores(data, p[:70], name="few")
    assert isinstance(first.score, AddedScores)
    assert store.log_scores(data, p, name="risk") == first
    with pytest.raises(ValueError, match="kept already"):
        store.log_scores(data, p, name="risk", kind="margin")
    with pytest.raises(ValueError, match="'skill' is a column"):
        store.log_scores(data, p, name="skill")
    with pytest.raises(ValueError, match="threshold"):
        store.log_scores(data, 9 * p, name="points", kind="score")


def test_scores_follow_to_other_roles_of_the_table(store, data, p):
    store.log_scores(data, p, name="risk")
    record = store.dataset_record(data)
    fewer = ROLES.model_copy(update={"keep": {"branch": ("office",)}})
    other_data = store.add_dataset(record.table_sha256, fewer, "Office")
    store.carry_scores(data, other_data)
    store.carry_scores(data, other_data)
    (carried,) = store.own_scores(other_data)
    values = store.score_values(store.dataset(other_data), carried.score)
    assert values.tolist() == rows_used(store, other_data, p).tolist()
    store.delete_scores(data)
    store.carry_scores(other_data, data)  # most rows of the first have no score there
    assert store.own_scores(data) == []


def test_scores_are_deleted_alone_or_with_their_data_set(store, data, p):
    for name in ("one", "two"):
        store.log_scores(data, p, name=name, threshold=0.3 + 0.1 * len(name))
    store.log_scores(data, p > 0.5, name="three", kind="decision")
    with pytest.raises(ValueError, match="'four'"):
        store.delete_scores(data, "four")
    gone = store.own_scores(data)[0].score
    store.delete_scores(data, "one")
    assert [record.score.column for record in store.own_scores(data)] == [
        "two",
        "three",
    ]
    with pytest.raises(ValueError, match="deleted"):
        store.score_values(store.dataset(data), gone)
    store.delete_dataset(data)
    assert list(store.home.glob("scores/*/*")) == []


def test_a_flipped_bit_of_scores_is_not_served(home, store, data, p):
    score = store.log_scores(data, p, name="risk").score
    (path,) = store.home.glob("scores/*/*/scores.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        store.score_values(store.dataset(data), score)


def test_a_model_file_gives_scores_and_is_asked_about_other_rows(store):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    columns = ["age", "skill", "branch", "origin"]
    frame = people(100).assign(hours=1.0)
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = store.add_dataset(table, ROLES, "People")
    logged = store.log_model(data, pipeline_as_onnx(), name="hire", source="hire.onnx")
    again = store.log_model(data, pipeline_as_onnx(), name="hire", source="hire.onnx")
    assert (logged.score, logged.n_rows, logged.n_unused) == (again.score, 100, 0)
    dataset = store.dataset(data)
    wanted = pipeline().predict_proba(frame[columns])
    p = store.score_values(dataset, logged.score)
    np.testing.assert_allclose(p, wanted[:, 1], atol=2e-6)
    # the other outcome has the other probability
    roles = ROLES.model_copy(update={"positive": "no"})
    no = store.add_dataset(table, roles, "No")
    q = store.log_model(no, pipeline_as_onnx(), name="hire").score
    np.testing.assert_allclose(store.score_values(store.dataset(no), q), 1 - p, 1e-5)
    changed = frame.assign(origin="here")
    model = store.score_model(dataset, logged.score)
    np.testing.assert_allclose(
        model.predict_proba(changed)[:, 1],
        pipeline().predict_proba(changed[columns])[:, 1],
        atol=2e-6,
    )
    assert store.score_model(dataset, logged.score) is model  # one process, not two
    for roles, name, why in (
        ({"target": "branch", "positive": "works"}, "b", "'branch', which is the out"),
        ({}, "skill", "'skill' is a column of the table"),
    ):
        fields = {"features": ("age",), **roles}
        other_data = store.add_dataset(table, ROLES.model_copy(update=fields), "Other")
        with pytest.raises(ValueError, match=why):
            store.log_model(other_data, pipeline_as_onnx(), name=name)
    with pytest.raises(ValueError, match=r"bad\.onnx cannot be used"):
        store.log_model(data, b"nothing", name="bad", source="bad.onnx")
    column = store.log_scores(data, p, name="column").score
    with pytest.raises(ValueError, match="no other row can be scored"):
        store.score_model(dataset, column)
    store.delete_scores(data, "hire")
    with pytest.raises(ValueError, match="were deleted"):
        store.score_model(dataset, logged.score)
