"""`fairdash model drift`: the models of a run on a table they never saw."""

import pandas as pd
import pytest
from toys import ROLES, people, people_csv
from typer.testing import CliRunner

from fairdash.audits import drift, known_models
from fairdash.cli import app
from fairdash.datasets import Subgroups
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec

BRANCH = Subgroups(columns=("branch",), min_size=20)


def call(*arguments):
    return CliRunner().invoke(app, ["model", "drift", *map(str, arguments)])


@pytest.fixture
def run(inline):
    store = open_store()
    table = store.add_table(people_csv(), "people.csv")
    store.add_dataset(table, ROLES, "People", BRANCH)
    data = {"table": table, "roles": ROLES, "name": "People"}
    methods = (MethodGrid(method="logistic"),)
    spec = SweepSpec(data=data, methods=methods, seeds=(0,), subgroups=BRANCH)
    yield submit(store, spec, name="A")
    store.close()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "later.csv"
    path.write_bytes(people_csv(500, seed=4))
    return path


def test_it_says_and_writes_what_the_function_finds(run, file, tmp_path):
    done = call(run, file, "--out", tmp_path / "points.csv")
    assert done.exit_code == 0, done.output
    store = open_store()
    data = store.run(run).dataset_id
    models = known_models(store, data, run)
    other = "later", people(500, seed=4)
    found = drift(store, models, data, main=models[0], subgroups=BRANCH, other=other)
    store.close()
    assert done.stdout.splitlines()[:2] == [found.brief(), found.verdict()]
    rows = pd.read_csv(tmp_path / "points.csv")
    assert rows["accuracy"].tolist() == pytest.approx(found.points["accuracy"].tolist())
    assert found.shift_headline() in done.stdout


def test_a_run_of_several_seeds_has_means_over_them(run, file):
    store = open_store()
    spec = SweepSpec.of_run(store.run(run).spec).model_copy(update={"seeds": (0, 1)})
    done = call(submit(store, spec, name="B"), file)
    store.close()
    assert done.exit_code == 0, done.output
    _, _, told = done.stdout.partition("Means over seeds, 95% intervals over seeds")
    assert told.count("Logistic") == 2  # on the reference and on the file
    assert "Means over seeds" not in call(run, file, "--seed", 0).stdout


def test_parts_of_the_table_need_no_file(run):
    done = call(run, "--parts", "branch")
    assert done.exit_code == 0, done.output
    names = ("branch office", "branch works")
    assert all(name in done.stdout for name in names)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("nowhere",), "There is no run 'nowhere'"),
        (("RUN",), "upload another one, or choose a column"),
        (("RUN", "--parts", "planet"), "has no column 'planet'"),
        (("RUN", "--parts", "branch", "--model", "ROAD"), "no model 'ROAD'. It has"),
        (("RUN", "--parts", "branch", "--measure", "depth"), "`measure`"),
        (("RUN", "--parts", "branch", "--seed", 3), "was not trained on seed 3: [0]"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(run, arguments, message):
    done = call(*(run if a == "RUN" else a for a in arguments))
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
