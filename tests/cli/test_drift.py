"""`fairdash model drift`: the models of a run on a table they never saw."""

import pandas as pd
import pytest
from toys import ROLES, people, people_csv
from typer.testing import CliRunner

from fairdash.audits import drift, trials
from fairdash.cli import app
from fairdash.datasets import Subgroups
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec

BRANCH = Subgroups(columns=("branch",), min_size=20)


def test_it_says_and_writes_what_the_function_returns_or_one_clear_line(
    inline, tmp_path
):
    store = open_store()
    table = store.add_table(people_csv(), "people.csv")
    store.add_dataset(table, ROLES, "People", BRANCH)
    data = {"table": table, "roles": ROLES, "name": "People"}
    methods = (MethodGrid(method="logistic"),)
    spec = SweepSpec(data=data, methods=methods, seeds=(0,), subgroups=BRANCH)
    run = submit(store, spec, name="A")
    models = trials.known_models_of(store, [run])
    other = "later", people(500, seed=4)
    dataset_id = store.run(run).dataset_id
    options = {"main": models[0], "subgroups": BRANCH, "other": other}
    result = drift(store, models, dataset_id, **options)
    store.close()
    file, out = tmp_path / "later.csv", tmp_path / "points.csv"
    file.write_bytes(people_csv(500, seed=4))

    def call(*arguments):
        return CliRunner().invoke(app, ["model", "drift", *map(str, arguments)])

    done = call(run, file, "--out", out)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[:2] == [result.brief(), result.details()]
    rows = pd.read_csv(out)
    assert rows["accuracy"].tolist() == pytest.approx(
        result.points["accuracy"].tolist()
    )
    assert result.shift_answer().table.title in done.stdout
    for arguments, message in [
        (("nowhere", file), "There is no run 'nowhere'"),
        ((run, file, "--model", "ROAD"), "no model 'ROAD'. It has"),
        ((run, file, "--measure", "depth"), "`measure`"),
        ((run, file, "--seed", 3), "was not trained on seed 3: [0]"),
    ]:
        done = call(*arguments)
        assert done.exit_code == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1
