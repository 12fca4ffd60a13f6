"""Finished runs leave a home folder as one file, and are the same in another."""

import json
import zlib
from hashlib import sha256
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from toys import people, people_csv, train_sweep
from typer.testing import CliRunner

from fairdash.audits import portable
from fairdash.cli import app
from fairdash.datasets import SAMPLES, Subgroups, split, training_rows
from fairdash.jobs import finished_file, pack_runs, queue, run_open, unpack_runs
from fairdash.jobs.engine import engine_lives
from fairdash.metrics import WeightSpread
from fairdash.store import open_store
from fairdash.sweep import RESULTS_VERSION, SweepSpec, expand


@pytest.fixture
def stores(tmp_path):
    opened = [open_store(tmp_path / name) for name in ("one", "other")]
    yield opened
    for store in opened:
        store.close()


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A store, the run of a sweep in it, and the file of that run."""
    folder = tmp_path_factory.mktemp("bundle")
    store = open_store(folder / "home")
    run = train_sweep(store, people(), "People")
    pack_runs(store, [run], folder / "bundle.zip", address="tau=0.6&model=ab")
    yield store, run, folder / "bundle.zip"
    store.close()


def members(file):
    with ZipFile(file) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def facts(file):
    return json.loads(members(file)["run.json"])


def rewritten(file, to, change=None, **contents):
    """Write a file with other contents, whose digests are right, and other facts."""
    parts = members(file) | contents
    known = json.loads(parts.pop("run.json"))
    for name in contents:
        known["sha256"][name] = sha256(contents[name]).hexdigest()
    if change is not None:
        change(known)
    with ZipFile(to, "w", ZIP_DEFLATED) as bundle:
        for name, content in parts.items():
            bundle.writestr(name, content)
        bundle.writestr("run.json", json.dumps(known))
    return to


def test_the_files_of_samples_are_of_this_version_and_small():
    files = [finished_file(name) for name in SAMPLES]
    for name, file in zip(SAMPLES, files, strict=True):
        known = facts(file)
        assert known["version"] == RESULTS_VERSION, "run sample_data/make_runs.py"
        assert known["runs"][0]["spec"]["data"]["sample"] == name
    assert all(file.stat().st_size < 4e6 for file in files)


def test_the_finished_sweep_of_loans_has_what_pictures_compare():
    (run,) = facts(finished_file("loans"))["runs"]
    spec = SweepSpec.of_run(run["spec"])
    axes = {grid.method: grid.params for grid in spec.methods}
    assert axes.keys() == {"unconstrained", "road", "adversarial", "broad"}
    road = axes["road"]
    assert min(len(road["fairness_weight"]), len(road["tau"])) >= 6
    assert len(spec.seeds) == 3
    assert {params.get("warm_up") for params in axes.values()} == {None, 0.5}
    assert not run.get("failed")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory, finished_sweep):
    """A store and the run that a file without rows has become in it."""
    home = tmp_path_factory.mktemp("unpacked") / "home"
    run = finished_sweep("hiring", home)
    store = open_store(home)
    yield store, run
    store.close()


def test_a_file_becomes_a_finished_run(unpacked):
    one, run = unpacked
    assert unpack_runs(one, finished_file("hiring")).runs == [run]
    assert not engine_lives(one.home)
    snapshot = one.snapshot(run)
    assert snapshot.run.status == "finished"
    dataset = one.dataset(snapshot.run.dataset_id)
    trials = expand(SweepSpec.of_run(snapshot.run.spec), dataset.key)
    assert [trial.key for trial in snapshot.trials] == [t.key for t in trials]
    for trial in snapshot.trials:
        artifact = one.artifact(trial.key)
        test = split(dataset, trial.seed).test
        right = accuracy_score(dataset.y[test], artifact.scores()[test] > 0.5)
        assert trial.row["test_accuracy"] == pytest.approx(right)
        assert trial.row["ranking_local_gap"] > 0  # computed anew, as all metrics
        assert not trial.seconds  # trained elsewhere: no time to learn from
        assert (artifact.ratio() is None) == (trial.method != "road")
        assert (artifact.weight_spread() is None) == (trial.method != "road")


def test_a_run_of_a_file_becomes_the_same_file(unpacked, stores, tmp_path):
    one, run = unpacked
    _, other = stores
    snapshot = one.snapshot(run)
    again = tmp_path / "again.zip"
    pack_runs(one, [run], again, rows=False)
    copied = other.snapshot(unpack_runs(other, again).runs[0])
    assert [t.row for t in copied.trials] == [t.row for t in snapshot.trials]
    for trial in snapshot.trials:
        first, second = one.artifact(trial.key), other.artifact(trial.key)
        assert (first.scores() == second.scores()).all()
        if first.ratio() is not None:
            np.testing.assert_allclose(first.ratio(), second.ratio(), rtol=0.01)
            for name, values in first.weight_spread().items():
                np.testing.assert_array_equal(values, second.weight_spread()[name])
            assert first.ratio().mean() == pytest.approx(1, abs=0.01)


def test_a_run_with_its_rows_is_the_same_in_an_empty_home(swept, stores):
    store, run, file = swept
    other, _ = stores
    assert unpack_runs(other, file) == ([run], "tau=0.6&model=ab")
    assert unpack_runs(other, file).runs == [run]
    assert len(other.runs()) == 1
    there, here = store.snapshot(run), other.snapshot(run)
    assert (here.run.name, here.run.status) == (there.run.name, "finished")
    assert here.run.summary == there.run.summary
    pd.testing.assert_frame_equal(
        store.dataset(there.run.dataset_id).frame,
        other.dataset(here.run.dataset_id).frame,
    )
    for first, second in zip(there.trials, here.trials, strict=True):
        assert first.row == second.row
        kept, copied = store.artifact(first.key), other.artifact(second.key)
        np.testing.assert_array_equal(kept.scores(), copied.scores())
        curves = kept.history(), copied.history()  # columns in any order
        pd.testing.assert_frame_equal(*curves, check_like=True)
        assert (kept.ratio() is None) == (copied.ratio() is None)
        if kept.ratio_history() is not None:
            for name, values in kept.ratio_history().items():
                np.testing.assert_array_equal(values, copied.ratio_history()[name])


def test_a_run_with_its_rows_predicts_and_is_not_trained_twice(swept, stores):
    store, run, file = swept
    other, _ = stores
    unpack_runs(other, file)
    rows = people(50, seed=9)
    np.testing.assert_array_equal(
        *(portable.exported(one, run).predict_proba(rows) for one in (store, other))
    )
    here = other.snapshot(run)
    again = queue(other, SweepSpec.of_run(here.run.spec))
    run_open(other)
    assert other.run(again).summary == store.run(run).summary


def test_without_rows_weights_keep_their_spread_and_those_of_the_first_seed(
    swept, stores, tmp_path
):
    store, run, _ = swept
    small = tmp_path / "small.zip"
    pack_runs(store, [run], small, rows=False)
    other, _ = stores
    other.add_table(people().to_csv(index=False).encode(), "people.csv")
    unpack_runs(other, small)
    record = store.run(run)
    dataset = store.dataset(record.dataset_id)
    labels = SweepSpec.of_run(record.spec).subgroups.label(dataset.frame)
    seen = set()
    for trial in store.snapshot(run).trials:
        kept, copied = store.artifact(trial.key), other.artifact(trial.key)
        history = kept.ratio_history()
        if history is None:
            assert copied.weight_spread() is None
            continue
        seen.add(trial.seed)
        rows = training_rows(dataset, trial.seed)
        spread = WeightSpread.from_arrays(
            copied.weight_spread(),
            subgroups=list(labels.cat.categories),
            groups=dataset.group_names,
        )
        assert spread.steps.tolist() == history["epoch"].tolist()
        expected = WeightSpread.of(
            history["ratio"],
            steps=history["epoch"],
            sensitive_features=dataset.sensitive_features[rows],
            subgroups=labels.iloc[rows],
        )
        np.testing.assert_array_equal(spread.n, expected.n)
        np.testing.assert_allclose(spread.quantiles, expected.quantiles, rtol=1e-3)
        np.testing.assert_allclose(spread.density, expected.density, atol=5e-4)
        assert copied.ratio_history() is None
        if trial.seed:
            assert copied.ratio() is None
        else:
            np.testing.assert_allclose(copied.ratio(), kept.ratio(), rtol=0.006)
    assert seen == {0, 1}


def test_a_summary_of_pages_moves_with_its_run_as_plain_json(
    swept, stores, tmp_path, thorough
):
    store, run, _ = swept
    name, other_name = "0123456789abcdef", "fedcba9876543210"
    store.keep_summary(run, name, zlib.compress(b'{"settings": [1.5, null]}'))
    store.keep_summary(run, other_name, zlib.compress(b'{"settings": []}'))
    file = tmp_path / "summarised.zip"
    pack_runs(store, [run], file)
    one, other = stores
    unpack_runs(one, file)
    kept = {n: zlib.decompress(c) for n, c in one.summaries(run).items()}
    assert kept == {name: b'{"settings":[1.5,null]}', other_name: b'{"settings":[]}'}
    # what is not plain JSON of a reasonable size is left out, and made anew by a page
    member = f"{run} {name}.summary"
    crafted = [
        b"no stream",
        zlib.compress(b"[1, 2"),
        zlib.compress(b'{"chance": NaN}'),
        zlib.compress(b'{"chance": 1e999}'),
        zlib.compress(b"[" * 100_000),
        zlib.compress(b" " * (17 << 20) + b"[]"),
    ]
    for content in crafted if thorough else crafted[::3]:
        rewritten(file, tmp_path / "crafted.zip", **{member: content})
        unpack_runs(other, tmp_path / "crafted.zip")
        assert list(other.summaries(run)) == [other_name]
        other.delete_run(run)
    for summary in store.summaries(run):
        store.delete_summary(run, summary)


def test_the_shell_moves_runs_and_what_pages_show(swept, tmp_path):
    store, run, _ = swept
    other = str(tmp_path / "new")
    data = store.run(run).dataset_id
    record = store.dataset_record(data)
    wanted = Subgroups(columns=("age",), min_size=30)
    store.add_dataset(record.table_sha256, record.roles, record.name, wanted)

    def call(*arguments):
        return CliRunner().invoke(app, ["store", *map(str, arguments)])

    file = tmp_path / "moved.zip"
    done = call("export", run, "--out", file, "--home", store.home)
    assert done.exit_code == 0, done.output
    done = call("import", file, "--home", other)
    assert done.exit_code == 0, done.output
    assert f"run={run}" in done.output
    moved = open_store(other)
    assert moved.dataset_record(data).subgroups == wanted
    assert moved.table_format(record.table_sha256) is not None
    moved.close()

    # without rows, the table is added before it
    bare = tmp_path / "bare.zip"
    call("export", run, "--no-rows", "--out", bare, "--home", store.home)
    assert [n for n in members(bare) if n.endswith("t")] == ["history.parquet"]
    refused = call("import", bare, "--home", tmp_path / "third")
    assert refused.exit_code == 2
    assert "add that file first" in refused.output
    table = tmp_path / "people.csv"
    table.write_bytes(people_csv())
    third = open_store(tmp_path / "third")
    third.add_table(table, table.name)
    done = call("import", bare, "--home", tmp_path / "third")
    assert done.exit_code == 0, done.output
    rows = [store.snapshot(run).table(), third.snapshot(run).table()]
    names = rows[0].columns[rows[0].columns.str.match("validation_|test_")]
    pd.testing.assert_frame_equal(rows[0][names], rows[1][names])
    third.close()
    for wrong in (("export", "none", "--out", file), ("import", table)):
        refused = call(*wrong, "--home", other)
        assert refused.exit_code == 2
        assert len(refused.stderr.strip().splitlines()) == 1


def of(known):
    return known["runs"][0]


def test_a_run_of_other_keys_is_refused_with_what_to_do(swept, stores, tmp_path):
    def older(known):
        of(known)["keys"].reverse()

    hostile = rewritten(swept[2], tmp_path / "b.zip", older)
    with pytest.raises(ValueError, match=r"sampling weights\. Train them from"):
        unpack_runs(stores[0], hostile)
    assert stores[0].runs() == []


def test_another_table_under_the_same_digest_is_refused(swept, stores, tmp_path):
    _, _, file = swept
    other, _ = stores
    digest = of(facts(file))["spec"]["data"]["table"]
    changed = people().assign(age=30)
    changed.to_parquet(tmp_path / "t.parquet", index=False)
    contents = {f"{digest}.parquet": (tmp_path / "t.parquet").read_bytes()}
    hostile = rewritten(file, tmp_path / "b.zip", **contents)
    assert other.add_table(people_csv(), "people.csv") == digest
    with pytest.raises(ValueError, match="its rows are others"):
        unpack_runs(other, hostile)
    pd.testing.assert_frame_equal(other.table(digest), people())
