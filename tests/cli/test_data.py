"""`fairdash data`: a table of a file or a database, with its roles."""

import sqlite3
from contextlib import closing

import yaml
from toys import ROLES, people, people_csv
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.datasets import guess_roles
from fairdash.jobs import queue
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, expand

QUICK = {"methods": [{"method": "unconstrained", "params": {"n_epochs": 2}}]}


def call(*arguments):
    return CliRunner().invoke(app, ["data", *map(str, arguments)])


def test_a_table_is_put_into_the_app_without_an_upload(home, tmp_path):
    (tmp_path / "new_people.csv").write_bytes(people_csv())
    done = call("add", tmp_path / "new_people.csv")
    assert done.exit_code == 0, done.output
    with closing(open_store(home)) as store:
        (record,) = store.datasets()
        assert f"open /Data?data={record.id} in the app" in done.stdout
        assert record.name == "new people"
        assert record.roles == guess_roles(people())
        assert store.dataset(record.id).n_rows == len(people())
    roles = record.roles.model_copy(update={"features": ("nobody",)})
    wrong = tmp_path / "roles.yaml"
    wrong.write_text(yaml.safe_dump(roles.model_dump(mode="json")))
    refused = call("add", tmp_path / "new_people.csv", "--roles", wrong)
    assert refused.exit_code == 2
    assert "'nobody'" in refused.stderr
    assert "Traceback" not in refused.output


def test_what_is_kept_is_listed_and_removed(tmp_path):
    home = tmp_path / "home"
    assert "nothing is kept" in call("list", "--home", home).output
    with closing(open_store(home)) as store:
        digest = store.add_table(people_csv(100), "people.csv")
    listed = call("list", "--home", home).output
    assert digest in listed
    assert "people.csv (100 rows)" in listed
    unknown = call("remove", "people.csv", "--home", home)
    assert unknown.exit_code == 2
    assert "Nothing that is kept" in unknown.output
    assert call("remove", digest, "--home", home).exit_code == 0
    with closing(open_store(home)) as store:
        assert store.tables() == []


def test_roles_that_are_none_are_told_from_the_file_in_words(tmp_path):
    file = tmp_path / "people.csv"
    roles = tmp_path / "roles.yaml"
    file.write_bytes(people_csv())
    for text, words in (
        ("target: hired", "positive: Field required; sensitive_feature: Field"),
        ("", "holds no roles"),
        (
            "{target: hired, positive: yes, sensitive_feature: origin, "
            "features: [hired]}",
            "roles.yaml holds no roles: 'hired' is the outcome, so it cannot be a",
        ),
    ):
        roles.write_text(text)
        done = call("add", file, "--roles", roles, "--home", tmp_path / "home")
        assert done.exit_code == 2
        assert words in done.stderr
        assert "pydantic" not in done.stderr


def test_a_table_of_a_database_is_checked_added_and_trained_on(
    home, tmp_path, monkeypatch
):
    with closing(sqlite3.connect(tmp_path / "bank.db")) as link:
        people().to_sql("people", link, index=False)
    address = f"sqlite:///{tmp_path}/bank.db?table=people"
    added = call("add", address, "--home", home)
    assert added.exit_code == 0, added.output
    (tmp_path / "sources.yaml").write_text(f"People: {{address: '{address}'}}")
    monkeypatch.setenv("FAIRDASH_SOURCES", str(tmp_path / "sources.yaml"))
    spec = SweepSpec.model_validate(
        {"data": {"source": "People", "name": "people", "roles": ROLES}, **QUICK}
    )
    with closing(open_store(home)) as store:
        run = store.run(queue(store, spec))
        assert store.dataset_record(run.dataset_id).n_rows == 600
        names = {record.name for record in store.datasets()}
        digests = {record.table_sha256 for record in store.datasets()}
    assert names == {"people"}
    assert len(digests) == 1  # what was read is what was read again
    gone = call("add", address.replace("people", "persons"), "--home", home)
    assert gone.exit_code == 2
    assert "could not be read from sqlite" in gone.stderr
    refused = call("add", "postgresql://ann:hunter2@db/bank?table=people")
    assert refused.exit_code == 2
    assert "hunter2" not in refused.output + refused.stderr


def test_a_run_that_named_a_database_goes_on_without_it(home, tmp_path):
    with closing(open_store(home)) as store:
        table = store.add_table(people_csv(), "people.csv")
        dataset = store.dataset(store.add_dataset(table, ROLES, "People"))
        fields = {"path": f"sqlite:///{tmp_path}/gone.db?table=people"}
        data = {**fields, "name": "People", "roles": ROLES}
        spec = SweepSpec.model_validate({"data": data, **QUICK})  # as earlier versions
        run = store.add_run(
            spec.model_dump(mode="json", exclude_none=True),
            expand(spec, dataset.key),
            name="Old",
            dataset_id=dataset.key[:16],
        )
        store.set_status(run, "cancelled")
    command = ["run", "--resume", run, "--inline", "--home", str(home)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    with closing(open_store(home)) as store:
        assert {record.status for record in store.runs()} == {"cancelled", "finished"}
