"""`fairdash data scores`: a later file of scores on the command line."""

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.store import open_store


@pytest.fixture
def data(home):
    store = open_store()
    frame = people(120).assign(person=[f"p{i}" for i in range(120)])
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    yield store.add_dataset(table, ROLES, "People")
    store.close()


@pytest.fixture
def file(tmp_path):
    decile = np.random.default_rng(0).integers(1, 11, 120)
    frame = pd.DataFrame({"person": [f"p{i}" for i in range(120)], "decile": decile})
    path = tmp_path / "deciles.csv"
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


def call(*arguments):
    return CliRunner().invoke(app, ["data", "scores", *map(str, arguments)])


def test_scores_are_added_by_key(data, file):
    how = ["--score", "decile", "--key", "person", "--name", "Vendor"]
    done = call("add", data, file, *how, "--kind", "score", "--threshold", 7)
    assert done.exit_code == 0, done.output
    assert "Vendor ≥ 7: 120 rows by person" in done.output
    assert f"/Local_fairness?data={data}" in done.output
    store = open_store()
    (record,) = store.own_scores(data)
    kept = store.score_values(store.dataset(data), record.score)
    expected = pd.read_csv(file).set_index("person")["decile"]
    assert kept.tolist() == expected[[f"p{i}" for i in range(120)]].tolist()
    store.close()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (["--score", "risk"], "`--score` must be one of"),
        (["--score", "decile", "--key", "id"], "`--key` must be one of"),
        (["--score", "decile"], "numbers from 0 to 1"),
        (["--score", "decile", "--kind", "score"], "`threshold`"),
    ],
)
def test_what_cannot_join_says_the_way_out(data, file, how, words):
    done = call("add", data, file, *how)
    assert done.exit_code == 2
    assert words in done.stderr
