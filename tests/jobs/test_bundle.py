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
        contents = facts(file)
        assert contents["version"] == RESULTS_VERSION, "run sample_data/make_runs.py"
        assert contents["runs"][0]["spec"]["data"]["sample"] == name
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
    first_store, run = unpacked
    assert unpack_runs(first_store, finished_file("hiring")).runs == [run]
    assert not engine_lives(first_store.home)
    snapshot = first_store.snapshot(run)
    assert snapshot.run.status == "finished"
    dataset = first_store.dataset(snapshot.run.dataset_id)
    trials = expand(SweepSpec.of_run(snapshot.run.spec), dataset.key)
    assert [trial.key for trial in snapshot.trials] == [t.key for t in trials]
    for trial in snapshot.trials:
        artifact = first_store.artifact(trial.key)
        test = split(dataset, trial.seed).test
        right = accuracy_score(dataset.y[test], artifact.scores()[test] > 0.5)
        assert trial.row["test_accuracy"] == pytest.approx(right)
        assert trial.row["ranking_local_gap"] > 0  # computed anew, as all metrics
        assert not trial.seconds  # trained elsewhere: no time to learn from
        assert (artifact.ratio() is None) == (trial.method != "road")
        assert (artifact.weight_spread() is None) == (trial.method != "road")


def test_a_run_of_a_file_becomes_the_same_file(unpacked, stores, tmp_path):
    first_store, run = unpacked
    _, second_store = stores
    snapshot = first_store.snapshot(run)
    again = tmp_path / "again.zip"
    pack_runs(first_store, [run], again, rows=False)
    copied = second_store.snapshot(unpack_runs(second_store, again).runs[0])
    assert [t.row for t in copied.trials] == [t.row for t in snapshot.trials]
    for trial in snapshot.trials:
        first = first_store.artifact(trial.key)
        second = second_store.artifact(trial.key)
        assert (first.scores() == second.scores()).all()
        if first.ratio() is not None:
            np.testing.assert_allclose(first.ratio(), second.ratio(), rtol=0.01)
            for name, values in first.weight_spread().items():
                np.testing.assert_array_equal(values, second.weight_spread()[name])
            assert first.ratio().mean() == pytest.approx(1, abs=0.01)


def test_a_run_with_its_rows_is_the_same_in_an_empty_home(swept, stores):
    store, run, file = swept
    second_store, _ = stores
    assert unpack_runs(second_store, file) == ([run], "tau=0.6&model=ab")
    assert unpack_runs(second_store, file).runs == [run]
    assert len(second_store.runs()) == 1
    original = store.snapshot(run)
    received = second_store.snapshot(run)
    assert (received.run.name, received.run.status) == (original.run.name, "finished")
    assert received.run.summary == original.run.summary
    pd.testing.assert_frame_equal(
        store.dataset(original.run.dataset_id).frame,
        second_store.dataset(received.run.dataset_id).frame,
    )
    for first, second in zip(original.trials, received.trials, strict=True):
        assert first.row == second.row
        original_artifact = store.artifact(first.key)
        copied = second_store.artifact(second.key)
        np.testing.assert_array_equal(original_artifact.scores(), copied.scores())
        curves = original_artifact.history(), copied.history()  # columns in any order
        pd.testing.assert_frame_equal(*curves, check_like=True)
        assert (original_artifact.ratio() is None) == (copied.ratio() is None)
        if original_artifact.ratio_history() is not None:
            for name, values in original_artifact.ratio_history().items():
                np.testing.assert_array_equal(values, copied.ratio_history()[name])


def test_a_run_with_its_rows_predicts_and_is_not_trained_twice(swept, stores):
    store, run, file = swept
    second_store, _ = stores
    unpack_runs(second_store, file)
    rows = people(50, seed=9)
    np.testing.assert_array_equal(
        *(
            portable.exported(home, run).predict_proba(rows)
            for home in (store, second_store)
        )
    )
    received = second_store.snapshot(run)
    again = queue(second_store, SweepSpec.of_run(received.run.spec))
    run_open(second_store)
    assert second_store.run(again).summary == store.run(run).summary


def test_without_rows_weights_keep_their_spread_and_those_of_the_first_seed(
    swept, stores, tmp_path
):
    store, run, _ = swept
    small = tmp_path / "small.zip"
    pack_runs(store, [run], small, rows=False)
    second_store, _ = stores
    second_store.add_table(people().to_csv(index=False).encode(), "people.csv")
    unpack_runs(second_store, small)
    record = store.run(run)
    dataset = store.dataset(record.dataset_id)
    labels = SweepSpec.of_run(record.spec).subgroups.label(dataset.frame)
    seen = set()
    for trial in store.snapshot(run).trials:
        original_artifact = store.artifact(trial.key)
        copied = second_store.artifact(trial.key)
        history = original_artifact.ratio_history()
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
            np.testing.assert_allclose(
                copied.ratio(), original_artifact.ratio(), rtol=0.006
            )
    assert seen == {0, 1}


def test_a_summary_of_pages_moves_with_its_run_as_plain_json(
    swept, stores, tmp_path, thorough
):
    store, run, _ = swept
    name = "0123456789abcdef"
    other_name = "fedcba9876543210"
    store.keep_summary(run, name, zlib.compress(b'{"settings": [1.5, null]}'))
    store.keep_summary(run, other_name, zlib.compress(b'{"settings": []}'))
    file = tmp_path / "summarised.zip"
    pack_runs(store, [run], file)
    first_store, second_store = stores
    unpack_runs(first_store, file)
    stored = {n: zlib.decompress(c) for n, c in first_store.summaries(run).items()}
    assert stored == {name: b'{"settings":[1.5,null]}', other_name: b'{"settings":[]}'}
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
        unpack_runs(second_store, tmp_path / "crafted.zip")
        assert list(second_store.summaries(run)) == [other_name]
        second_store.delete_run(run)
    for summary in store.summaries(run):
        store.delete_summary(run, summary)


def test_the_shell_moves_runs_and_what_pages_show(swept, tmp_path):
    store, run, _ = swept
    new_home = str(tmp_path / "new")
    data = store.run(run).dataset_id
    record = store.dataset_record(data)
    wanted = Subgroups(columns=("age",), min_size=30)
    store.add_dataset(record.table_sha256, record.roles, record.name, wanted)

    def call(*arguments):
        return CliRunner().invoke(app, ["store", *map(str, arguments)])

    file = tmp_path / "moved.zip"
    done = call("export", run, "--out", file, "--home", store.home)
    assert done.exit_code == 0, done.output
    done = call("import", file, "--home", new_home)
    assert done.exit_code == 0, done.output
    assert f"run={run}" in done.output
    moved = open_store(new_home)
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
        refused = call(*wrong, "--home", new_home)
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
    second_store, _ = stores
    digest = of(facts(file))["spec"]["data"]["table"]
    changed = people().assign(age=30)
    changed.to_parquet(tmp_path / "t.parquet", index=False)
    contents = {f"{digest}.parquet": (tmp_path / "t.parquet").read_bytes()}
    hostile = rewritten(file, tmp_path / "b.zip", **contents)
    assert second_store.add_table(people_csv(), "people.csv") == digest
    with pytest.raises(ValueError, match="its rows are others"):
        unpack_runs(second_store, hostile)
    pd.testing.assert_frame_equal(second_store.table(digest), people())
