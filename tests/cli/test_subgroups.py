"""`fairdash model subgroups`: what a search finds of a run's models."""

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people_csv
from typer.testing import CliRunner

from fairdash.audits import find_subgroups
from fairdash.cli import app
from fairdash.datasets import split
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec


def call(*arguments):
    return CliRunner().invoke(app, ["model", "subgroups", *map(str, arguments)])


@pytest.fixture
def run(inline):
    store = open_store()
    table = store.add_table(people_csv(), "people.csv")
    store.add_dataset(table, ROLES, "People")
    data = {"table": table, "roles": ROLES, "name": "People"}
    methods = (MethodGrid(method="logistic"),)
    yield submit(store, SweepSpec(data=data, methods=methods, seeds=(0,)), name="A")
    store.close()


def test_it_lists_what_the_function_finds_of_the_stored_model(run, tmp_path):
    done = call(run, "--min-size", 20, "--out", tmp_path / "found.csv")
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(tmp_path / "found.csv")
    store = open_store()
    dataset = store.dataset(store.run(run).dataset_id)
    confirm = np.zeros(dataset.n_rows, bool)
    confirm[split(dataset, 0).test] = True
    key = store.snapshot(run).trials[0].key
    expected = find_subgroups(
        (store.artifact(key).scores() > 0.5).astype(int),
        sensitive_features=dataset.sensitive_features,
        frame=dataset.frame,
        columns=list(dataset.roles.features),
        min_size=20,
        confirm=confirm,
        most=8,
        random_state=0,
    )
    store.close()
    assert rows["Subgroup"].tolist() == expected["subgroup"].tolist()
    assert rows["Gap"].tolist() == pytest.approx(expected["gap"].tolist())
    assert expected["subgroup"][0] in done.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("nowhere",), "There is no run 'nowhere'"),
        (("RUN", "--measure", "auc"), "AUC is not searched; choose a rate: selection"),
        (("RUN", "--min-size", 5000), "`min_size` is 5,000, but 'selection_rate' is"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line(run, arguments, message):
    done = call(*(run if word == "RUN" else word for word in arguments))
    assert done.exit_code == 2
    assert message in done.stderr
    assert "\n" not in done.stderr.strip()
