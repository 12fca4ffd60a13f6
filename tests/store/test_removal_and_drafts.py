import numpy as np
import pandas as pd
import pytest
from toys import ROLES, Question

from fairdash.datasets import Cut, Remedy, Subgroups, remedies
from fairdash.store import Draft, open_store


def add_run(store, dataset_id, name):
    return store.add_run({}, [Question(name)], name=name, dataset_id=dataset_id)


def finished_run(store, dataset_id):
    run = add_run(store, dataset_id, "First")
    store.set_status(run, "finished")
    return run


def test_a_draft_survives_reopening_and_can_be_dropped(store):
    change = {"target": "skill", "positive": Cut(value=0.5), "features": ("age",)}
    roles = ROLES.model_copy(update=change)
    roles = remedies.apply_remedy(roles, Remedy(kind="drop_duplicates"))
    draft = Draft(roles, Subgroups(columns=("age",), cuts={"age": (30, 50)}), 2)
    store.keep_draft("abc", Draft(ROLES, Subgroups()))
    store.keep_draft("abc", draft)
    again = open_store(store.home)
    assert again.draft("abc") == draft
    again.drop_draft("abc")
    assert store.draft("abc") is None
    again.close()


def test_a_data_set_in_training_is_not_deleted(store, table):
    dataset_id = store.add_dataset(table, ROLES, "People")
    finished_run(store, dataset_id)
    add_run(store, dataset_id, "Second")
    with pytest.raises(ValueError, match="1 runs on 'People' are still open: Second"):
        store.delete_dataset(dataset_id)
    assert len(store.runs()) == 2


def test_all_that_is_kept_is_listed_with_its_size_and_removed(store, table):
    dataset_id = store.add_dataset(table, ROLES, "People")
    run = finished_run(store, dataset_id)
    artifact = store.artifact("First")
    history = pd.DataFrame({"loss": [1.0]})
    artifact.write(row={}, history=history, network={"w": np.zeros(5_000)})
    scores = store.add_table(b"score,group\n0.5,a\n0.1,b\n", "scores.csv")

    def on_disk(*folders):
        files = [path for folder in folders for path in folder.rglob("*")]
        return sum(path.stat().st_size for path in files if path.is_file())

    file, data = store.kept()
    assert (file.kind, file.id, file.name) == ("file", scores, "scores.csv")
    assert (file.n_rows, file.n_runs) == (2, 0)
    assert (data.kind, data.id, data.name) == ("data set", dataset_id, "People")
    assert (data.n_rows, data.n_runs) == (100, 1)
    assert data.n_bytes > 40_000
    tables = store.home / "tables"
    artifacts = store.home / "artifacts"
    assert file.n_bytes + data.n_bytes == on_disk(tables, artifacts)

    with pytest.raises(ValueError, match="Nothing that is kept here has the id 'x'"):
        store.remove("x")
    store.remove(scores)
    assert [first.id for first in store.kept()] == [dataset_id]
    store.remove(dataset_id)
    assert store.kept() == []
    assert run not in [record.id for record in store.runs()]
    assert on_disk(tables, artifacts) == 0
