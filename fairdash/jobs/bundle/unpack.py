"""Put the runs of a bundle in a store: all of them, or nothing."""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import TypeAdapter

from fairdash import box
from fairdash.datasets import (
    SAMPLES,
    check_reading,
    convert_table,
    table_digest,
)
from fairdash.jobs._work import begin, end, keep, measure, queue, record
from fairdash.jobs.bundle import check
from fairdash.jobs.bundle.pack import (
    EPOCH,
    RATIO,
    RATIOS,
    SCORES,
    Arrays,
    Facts,
    PackedRun,
)
from fairdash.store import ID_LENGTH, Store
from fairdash.sweep import SweepSpec, Trial, TrialResult, expand

FACTS_TASK, BUNDLE_TASK = (
    f"{check.__name__}:{task}" for task in ("open_facts", "open_bundle")
)
LIMITS = box.Limits(seconds=600)
N_SCRATCH = 10
Parts = Mapping[str, Arrays]


class Unpacked(NamedTuple):
    """Runs that a file put here, by id, and the address that it was made at."""

    runs: list[str]
    address: str


def unpack_runs(
    store: Store, file: Path | IO[bytes], table: Path | None = None
) -> Unpacked:
    """Put the runs of a file of `pack_runs` in the store, under the ids they had.

    The file is read in the box. A run that is there already is not put there again.
    Metrics are computed anew from the scores. Models have no training time: they were
    trained elsewhere. That a table is that of the file with its digest cannot be told
    without this file.

    Parameters
    ----------
    table : Path, optional
        File of the data, for runs that were packed without rows.

    Raises
    ------
    ValueError
        When it is not such a file, is damaged or too large, is of another version, in
        which the same settings trained other models, or its table is missing or another
        one. Nothing is kept then.
    """
    name = Path(file.name).name
    try:
        with _checked(store, file, table) as checked:
            return Unpacked(_keep(store, checked, table), checked.facts.address)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"{name} cannot be used: {reason}.") from None


@contextmanager
def _opened(file: Path | IO[bytes], folder: Path) -> Iterator[BinaryIO]:
    """Give a file that another process can read."""
    if isinstance(file, Path):
        with open(file, "rb") as opened:
            yield opened
        return
    with TemporaryFile(dir=folder) as copy:
        file.seek(0)
        shutil.copyfileobj(file, copy)
        copy.flush()
        yield copy


@dataclass(frozen=True)
class _Checked:
    """What the box found right: facts, and of each run specification and table.

    ``paths`` are those of new tables, ``members`` of models.
    """

    facts: Facts
    specs: list[SweepSpec]
    tables: list[str]
    paths: dict[str, Path]
    answer: check.Answer
    members: Mapping[str, Parts]


@contextmanager
def _checked(
    store: Store, file: Path | IO[bytes], table: Path | None
) -> Iterator[_Checked]:
    """Have a bundle checked, its parts written to files that go afterwards."""
    owner = str(store.home)
    with ExitStack() as stack:
        source = stack.enter_context(_opened(file, store.home))
        folder = Path(stack.enter_context(store.workspace()))
        content = box.run(FACTS_TASK, b"", [source], owner=owner, limits=LIMITS)
        facts = Facts.model_validate_json(content)
        specs = [check.specification(run) for run in facts.runs]
        tables = [_digest(spec) for spec in specs]
        new = {
            digest: folder / f"new {digest}"
            for digest in tables
            if f"{digest}.parquet" in facts.sha256
        }
        given = {
            digest: path
            for digest, spec in zip(tables, specs, strict=True)
            if (path := _table_here(store, spec, digest, folder, table, digest in new))
        }
        arrays = folder / "arrays"
        readable = [stack.enter_context(open(path, "rb")) for path in given.values()]
        writable = [
            stack.enter_context(open(path, "w+b")) for path in (arrays, *new.values())
        ]
        scratch = [
            stack.enter_context(TemporaryFile(dir=folder)) for _ in range(N_SCRATCH)
        ]
        request = check.Request(tables, list(given), len(new))
        content = box.run(
            BUNDLE_TASK,
            TypeAdapter(check.Request).dump_json(request),
            [source, writable[0], *readable, *writable[1:], *scratch],
            owner=owner,
            limits=LIMITS,
        )
        answer = TypeAdapter(check.Answer).validate_json(content)
        members = _members(stack.enter_context(pa.memory_map(str(arrays))))
        yield _Checked(facts, specs, tables, new, answer, members)


def _digest(spec: SweepSpec) -> str:
    """Return the sha256 of the table that a run is on."""
    if spec.data.sample:
        return table_digest(SAMPLES[spec.data.sample].path)
    return str(spec.data.table)


def _table_here(
    store: Store,
    spec: SweepSpec,
    digest: str,
    folder: Path,
    table: Path | None,
    in_bundle: bool,
) -> Path | None:
    """Return a table of this machine as Parquet, None where only the bundle has it."""
    if digest in {kept.sha256 for kept in store.tables()}:
        return store.table_path(digest)
    if in_bundle:
        return None
    data = spec.data
    if data.sample:
        source, told = SAMPLES[data.sample].path, {}
    elif table is not None:
        source = table
        told = check_reading(digest, table, data.table_format, table.name)._asdict()
    else:
        raise ValueError(
            f"it names its table by the sha256 {digest[:12]}…; give that file with "
            "`--table FILE`"
        )
    path = folder / f"given {digest}"
    convert_table(source, path, **told)
    return path


def _members(file: Any) -> Mapping[str, Parts]:
    """Return the arrays that the box wrote, by member, part and name."""
    reader = pa.ipc.open_file(file)
    members: dict[str, dict[str, Arrays]] = defaultdict(lambda: defaultdict(dict))
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        content = batch.column("content")[0].as_buffer()
        (row,) = batch.drop_columns(["content"]).to_pylist()
        array = np.frombuffer(content, row["dtype"]).reshape(row["shape"])
        members[row["member"]][row["part"]][row["name"]] = array
    return members


def _keep(store: Store, checked: _Checked, table: Path | None) -> list[str]:
    """Keep all runs; what was kept goes when one of them cannot be."""
    runs = zip(
        checked.facts.runs,
        checked.specs,
        checked.tables,
        checked.answer.data_keys,
        strict=True,
    )
    with ExitStack() as undo:
        ids = [
            _keep_run(store, checked, undo, run, spec, digest, key[:ID_LENGTH], table)
            for run, spec, digest, key in runs
        ]
        undo.pop_all()
    return ids


def _keep_run(
    store: Store,
    checked: _Checked,
    undo: ExitStack,
    packed: PackedRun,
    spec: SweepSpec,
    digest: str,
    dataset_id: str,
    table: Path | None,
) -> str:
    shown = {data.id: data for data in store.datasets()}.get(dataset_id)
    if shown is None:
        _keep_table(store, checked, packed, spec, digest, table)
        data = spec.data
        store.add_dataset(digest, data.roles, data.name, packed.subgroups)
        undo.callback(store.delete_dataset, dataset_id)
        shown = store.dataset_record(dataset_id)
    for run in store.runs():
        if run.id == packed.id and run.dataset_id != dataset_id:
            raise ValueError(f"the run {packed.id} here is on other data")
        same = run.name, run.dataset_id, run.spec, run.status
        wanted = packed.name, dataset_id, packed.spec, "finished"
        if same == wanted or run.id == packed.id:
            return run.id
    dataset = store.dataset(dataset_id)
    for trial in expand(spec.fitted_to(dataset), dataset.key):
        if trial.key not in packed.failed:
            keep(store, _result(trial, checked.members[trial.key]), spec.train_rows)
    run_id = queue(
        store, spec, name=packed.name, run_id=packed.id, failed=packed.failed
    )
    undo.callback(store.delete_run, run_id)
    undo.callback(store.set_status, run_id, "cancelled")
    # to queue a run shows its data set by the run's subgroups
    store.add_dataset(digest, shown.roles, shown.name, shown.subgroups)
    for stack in begin(store, store.run(run_id), "cpu"):
        keys = [trial.key for trial in stack.trials]
        record(store, run_id, measure(store, dataset, stack, keys, spec))
    end(store, run_id)
    return run_id


def _keep_table(
    store: Store,
    checked: _Checked,
    packed: PackedRun,
    spec: SweepSpec,
    digest: str,
    table: Path | None,
) -> None:
    form = spec.data.table_format
    if digest in checked.paths:
        new = checked.answer.tables[digest]
        store.adopt_table(digest, checked.paths[digest], new, packed.table_name, form)
    elif spec.data.sample:
        path = SAMPLES[spec.data.sample].path
        store.add_table(path, path.name)
    elif table is not None:
        reading = check_reading(digest, table, form, table.name)
        store.add_table(table, table.name, **reading._asdict())


def _result(trial: Trial, parts: Parts) -> TrialResult:
    result: Any = parts[check.RESULT]
    snapshots = RATIOS in result
    return TrialResult(
        trial,
        seconds=0.0,
        scores=result[SCORES],
        history=pd.DataFrame(parts[check.CURVE]),
        network=dict(parts[check.NETWORK]),
        ratio=result.get(RATIO),
        ratio_history={"epoch": result[EPOCH], "ratio": result[RATIOS]}
        if snapshots
        else None,
    )
