"""Put the runs of a bundle in a store: all of them, or nothing."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, NamedTuple
from zipfile import ZipFile

import pandas as pd
from pydantic import TypeAdapter
from safetensors import numpy as safetensors

from fairdash import box
from fairdash.datasets import reading
from fairdash.jobs._work import begin, end, keep, measure, queue, record
from fairdash.jobs.bundle import check
from fairdash.jobs.bundle.pack import (
    EPOCH,
    RATIO,
    RATIOS,
    SCORES,
    Facts,
    PackedRun,
    summary_member,
)
from fairdash.store import ID_LENGTH, Store
from fairdash.sweep import SweepSpec, Trial, TrialResult, expand

FACTS_TASK = f"{check.__name__}:open_facts"
BUNDLE_TASK = f"{check.__name__}:open_bundle"
LIMITS = box.Limits(seconds=600)
N_SCRATCH = 10
N_WRITERS = 8  # of models at the same time: each waits for the disk several times


class Unpacked(NamedTuple):
    """Runs that a file put here, by id, and the address that it was made at."""

    runs: list[str]
    address: str


def unpack_runs(store: Store, file: Path | IO[bytes]) -> Unpacked:
    """Put the runs of a file of `pack_runs` in the store, under the ids they had.

    The file is read in the box. A run that is there already is not put there again.
    Metrics are computed anew from the scores. Models have no training time: they were
    trained elsewhere. That a table is that of the file with its digest cannot be told
    without this file.

    Raises
    ------
    ValueError
        When it is not such a file, is damaged or too large, is of another version, in
        which the same settings trained other models, or its table is neither in it nor
        in the store. Nothing is kept then.
    """
    name = Path(file.name).name
    try:
        with _checked(store, file) as bundle, ExitStack() as undo:
            ids = [_keep_run(store, bundle, undo, run) for run in bundle.runs]
            undo.pop_all()  # what was kept stays
        return Unpacked(ids, bundle.address)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"{name} cannot be used: {reason}.") from None


class _Table(NamedTuple):
    path: Path
    name: str
    about: reading.TableFile
    table_format: reading.TableFormat | None


class _Run(NamedTuple):
    packed: PackedRun
    spec: SweepSpec
    table: str  # sha256
    dataset_id: str


@dataclass(frozen=True)
class _Bundle:
    address: str
    runs: list[_Run]
    tables: dict[str, _Table]
    models: ZipFile


@contextmanager
def _checked(store: Store, file: Path | IO[bytes]) -> Iterator[_Bundle]:
    """Read a bundle in the box and give what is in it, in files that go afterwards.

    First its facts, which say what tables the box needs to read the rest.
    """
    owner = str(store.home)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(store.workspace()))

        def scratch() -> BinaryIO:
            return stack.enter_context(TemporaryFile(dir=folder))

        source = scratch()
        with open(file, "rb") if isinstance(file, Path) else _rewound(file) as content:
            shutil.copyfileobj(content, source)
        source.flush()
        response = box.run(FACTS_TASK, b"", [source], owner=owner, limits=LIMITS)
        facts = Facts.model_validate_json(response)
        specs = [check.specification(run) for run in facts.runs]
        digests = [_digest(spec) for spec in specs]
        new = dict[str, Path]()
        present = dict[str, Path]()
        tables = dict[str, _Table]()
        stored = {record.sha256 for record in store.tables()}
        for digest, spec in zip(digests, specs, strict=True):
            if f"{digest}.parquet" in facts.sha256:
                new[digest] = folder / f"new {digest}"
            if digest in stored:
                present[digest] = store.table_path(digest)
            elif digest not in new and digest not in tables:
                tables[digest] = _sample(spec, digest, folder / digest)
                present[digest] = tables[digest].path
        arrays = folder / "arrays"
        readable = [stack.enter_context(open(path, "rb")) for path in present.values()]
        writable = [
            stack.enter_context(open(path, "w+b")) for path in (arrays, *new.values())
        ]
        request = check.Request(digests, list(present), len(new))
        # In the order that `check.open_bundle` expects its files.
        scratch_files = [scratch() for _ in range(N_SCRATCH)]
        files = [source, writable[0], *readable, *writable[1:], *scratch_files]
        response = box.run(
            BUNDLE_TASK,
            TypeAdapter(check.Request).dump_json(request),
            files,
            owner=owner,
            limits=LIMITS,
        )
        answer = TypeAdapter(check.CheckAnswer).validate_json(response)
        ids = [key[:ID_LENGTH] for key in answer.data_keys]
        runs = [
            _Run(packed, spec, digest, dataset_id)
            for packed, spec, digest, dataset_id in zip(
                facts.runs, specs, digests, ids, strict=True
            )
        ]
        for run in runs:
            if run.table in new and run.table not in stored:
                about = answer.tables[run.table]
                form = run.spec.data.table_format
                name = run.packed.table_name
                tables[run.table] = _Table(new[run.table], name, about, form)
        models = stack.enter_context(ZipFile(arrays))
        yield _Bundle(facts.address, runs, tables, models)


@contextmanager
def _rewound(file: IO[bytes]) -> Iterator[IO[bytes]]:
    file.seek(0)
    yield file


def _digest(spec: SweepSpec) -> str:
    if spec.data.sample:
        return reading.table_digest(spec.data.sample_file())
    return str(spec.data.table)


def _sample(spec: SweepSpec, digest: str, path: Path) -> _Table:
    if not spec.data.sample:
        raise ValueError(
            f"it names its table by the sha256 {digest[:12]}…; add that file first, on "
            "Data or by `fairdash data add FILE`"
        )
    source = spec.data.sample_file()
    about = reading.convert_table(source, path)
    return _Table(path, source.name, about, about.table_format)


def _keep_run(store: Store, bundle: _Bundle, undo: ExitStack, run: _Run) -> str:
    """Keep a run with its data and models; return its id.

    What is to be taken back if a later step or run fails is put on ``undo``.
    """
    packed = run.packed
    spec = run.spec
    data = run.spec.data
    stored_dataset = {record.id: record for record in store.datasets()}.get(
        run.dataset_id
    )
    if stored_dataset is None:
        if run.table in bundle.tables:
            path, name, about, form = bundle.tables[run.table]
            store.adopt_table(run.table, path, about, name, form)
        store.add_dataset(run.table, data.roles, data.name, packed.subgroups)
        undo.callback(store.delete_dataset, run.dataset_id)
        stored_dataset = store.dataset_record(run.dataset_id)
    for stored_run in store.runs():
        if stored_run.id == packed.id and stored_run.dataset_id != run.dataset_id:
            raise ValueError(f"the run {packed.id} here is on other data")
        is_same = (
            stored_run.name == packed.name
            and stored_run.dataset_id == run.dataset_id
            and stored_run.spec == packed.spec
            and stored_run.status == "finished"
        )
        if is_same or stored_run.id == packed.id:
            return stored_run.id
    dataset = store.dataset(run.dataset_id)
    trials = expand(spec.fitted_to(dataset), dataset.key)

    def keep_trial(trial: Trial) -> None:
        keep(store, _result(trial, bundle.models), spec.train_rows)

    with ThreadPoolExecutor(N_WRITERS) as writers:
        finished = [trial for trial in trials if trial.key not in packed.failed]
        # The list waits for all of them, and raises what one of them raised.
        list(writers.map(keep_trial, finished))
    run_id = queue(
        store, spec, name=packed.name, run_id=packed.id, failed=packed.failed
    )
    # Undone in the reverse order: only a run that is over can be deleted.
    undo.callback(store.delete_run, run_id)
    undo.callback(store.set_status, run_id, "cancelled")
    # Queueing has set the subgroups of the data set to those of the run: set them back.
    store.add_dataset(
        run.table, stored_dataset.roles, stored_dataset.name, stored_dataset.subgroups
    )
    for stack in begin(store, store.run(run_id)):
        keys = [trial.key for trial in stack.trials]
        record(store, run_id, measure(store, dataset, stack, keys, spec))
    end(store, run_id)
    brought = set(bundle.models.namelist())
    for name in packed.summaries:
        member = summary_member(packed.id, name)
        if member in brought:
            store.keep_summary(run_id, name, bundle.models.read(member))
    return run_id


def _result(trial: Trial, models: ZipFile) -> TrialResult:
    parts = {
        part: safetensors.load(models.read(f"{trial.key}/{part}"))
        for part in check.PARTS
    }
    result: Any = parts[check.RESULT]
    history = None
    if RATIOS in result:
        history = {"epoch": result[EPOCH], "ratio": result[RATIOS]}
    return TrialResult(
        trial,
        seconds=0.0,
        scores=result[SCORES],
        history=pd.DataFrame(parts[check.CURVE]),
        network=parts[check.NETWORK],
        ratio=result.get(RATIO),
        ratio_history=history,
        weight_spread=check.spread_of(result) or None,
    )
