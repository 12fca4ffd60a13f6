"""A run goes on with the rows that it was of, whatever became of their file."""

from dataclasses import replace

import pytest
from cases import paired
from toys import ROLES, people_csv, specification
from typer.testing import CliRunner

from fairdash import jobs
from fairdash.cli import app
from fairdash.datasets import SAMPLES, Subgroups
from fairdash.jobs import pack_runs, queue, resume, run_open, unpack_runs
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, load_dataset, python_script, run_sweep

QUICK = {"n_epochs": 2, "batch_size": 128}


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A sample of 400 rows, and what makes it one of 900, as a new version would."""
    path = tmp_path / "applicants.csv"
    path.write_bytes(people_csv(400))
    old = replace(
        SAMPLES["loans"], path=path, roles=ROLES, subgroups=Subgroups(columns=())
    )
    monkeypatch.setitem(SAMPLES, "loans", old)
    return lambda: path.write_bytes(people_csv(900, seed=1))


def asked(**data):
    methods = [{"method": "unconstrained", "params": QUICK}]
    return SweepSpec.model_validate({"data": data, "methods": methods})


def cancelled(store, spec):
    """Return a run of which nothing was trained yet."""
    run_id = queue(store, spec)
    store.set_status(run_id, "cancelled")
    return run_id


@pytest.mark.parametrize(
    ("kind", "way"), paired(["sample", "path", "gone"], ["shell", "page"], together=1)
)
def test_a_run_goes_on_with_its_own_rows(
    home, tmp_path, sample, kind, way, monkeypatch
):
    monkeypatch.setenv("FAIRDASH_INLINE", "1")
    path = tmp_path / "people.csv"
    path.write_bytes(people_csv(400))
    spec = asked(sample="loans") if kind == "sample" else specification(path)
    store = open_store(home)
    old = store.run(cancelled(store, spec))
    {
        "sample": sample,
        "path": lambda: path.write_bytes(people_csv(900, seed=1)),
        "gone": path.unlink,
    }[kind]()
    if way == "shell":
        done = CliRunner().invoke(app, ["run", "--resume", old.id, "--inline"])
        assert done.exit_code == 0, done.output
    else:
        resume(store, old.id)
        jobs.wake(store)
    new = next(run for run in store.runs() if run.id != old.id)
    assert new.status == "finished"
    assert new.dataset_id == old.dataset_id
    assert store.dataset(new.dataset_id).n_rows == 400
    keys = [[t.key for t in store.snapshot(run.id).trials] for run in (old, new)]
    assert keys[0] == keys[1]  # so nothing is trained twice
    store.close()


def test_a_configuration_of_a_changed_sample_is_refused(home, tmp_path, sample):
    store = open_store(home)
    run = store.run(cancelled(store, asked(sample="loans")))
    digest = store.dataset_record(run.dataset_id).table_sha256
    spec = SweepSpec.of_run(run.spec).of_table(digest, None)
    assert (spec.data.sample, spec.data.sha256) == ("loans", digest)
    assert SweepSpec.from_yaml(spec.to_yaml()) == spec
    assert digest in python_script(spec)
    assert load_dataset(spec.data).n_rows == 400
    sample()
    config = tmp_path / "run.yaml"
    config.write_text(spec.to_yaml())
    for use in (lambda: load_dataset(spec.data), lambda: run_sweep(spec)):
        with pytest.raises(ValueError, match=r"'loans' has changed .*Remove `sha256`"):
            use()
    done = CliRunner().invoke(app, ["run", str(config), "--inline"])
    assert done.exit_code == 2
    assert "has changed since this was written" in done.stderr
    assert [record.id for record in store.runs()] == [run.id]  # nothing was queued
    config.write_text(spec.to_yaml().replace(f"  sha256: {digest}\n", ""))
    assert load_dataset(SweepSpec.from_yaml(config).data).n_rows == 900
    store.close()


def test_a_bundle_of_an_older_sample_takes_its_rows_along(tmp_path, sample):
    first, second = (open_store(tmp_path / name) for name in ("one", "other"))
    run_id = queue(first, asked(sample="loans"))
    run_open(first)
    sample()
    pack_runs(first, [run_id], tmp_path / "bundle.zip")
    unpack_runs(second, tmp_path / "bundle.zip")
    dataset = second.dataset(second.run(run_id).dataset_id)
    assert dataset.n_rows == 400
    assert dataset.key == first.dataset(first.run(run_id).dataset_id).key
    first.close()
    second.close()


def test_rows_that_are_gone_are_not_replaced(home, tmp_path, sample):
    store = open_store(home)
    run = store.run(cancelled(store, asked(sample="loans")))
    sample()
    digest = store.dataset_record(run.dataset_id).table_sha256
    store.table_path(digest).unlink()
    store.close()
    done = CliRunner().invoke(app, ["run", "--resume", run.id, "--inline"])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert [record.id for record in open_store(home).runs()] == [run.id]
