"""Finished runs as one file: to another home folder, and with the samples."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Any, Literal, NamedTuple
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile
from zlib import error as ZlibError

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyarrow import ArrowException
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from fairdash import __version__
from fairdash._wording import plural, size
from fairdash.datasets import (
    SAMPLES,
    Dataset,
    Subgroups,
    encode,
    split,
    training_rows,
)
from fairdash.jobs._work import begin, end, keep, keep_table, measure, queue, record
from fairdash.methods import scorer_of
from fairdash.store import Artifact, DatasetRecord, Store
from fairdash.sweep import (
    RESULTS_VERSION,
    SweepSpec,
    Trial,
    TrialResult,
    expand,
    source_file,
)

LARGEST = 2**31  # bytes of all that a file holds
_FACTS, _HISTORY = "run.json", "history.parquet"
_EPOCHS = 40  # of a curve that are kept without rows
# arrays of a trial beside those of its network
_SCORES, _RATIO = "scores of rows", "ratio of training rows"
_EPOCH, _RATIOS = "epochs of ratios", "ratios of training rows"
_BROKEN = (
    ArrowException, BadZipFile, EOFError, KeyError, NotImplementedError, RuntimeError,
    SafetensorError, ZlibError,
)  # fmt: skip
Arrays = dict[str, NDArray[Any]]


class _Search(BaseModel):
    """A search of rows of the table; a member of the file tells which."""

    model_config = ConfigDict(extra="forbid")
    created: float
    measure: str
    columns: list[str]
    found: dict[str, list[str]]
    named: list[dict[str, Any]]


class _Run(BaseModel):
    """A run in a file: what was asked for, of which table, and its models."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]
    name: str
    spec: dict[str, Any]
    keys: list[str]
    failed: dict[str, str] = {}  # of a trial that did not finish, why
    table_name: str = ""
    subgroups: Subgroups | None = None  # as pages show the data set
    scores: dict[str, list[str]] = {}  # added to it: files by digest
    searches: dict[str, _Search] = {}  # of rows that guarantees are tested on


class _Facts(BaseModel):
    """What a file holds; ``sha256`` of every other member."""

    model_config = ConfigDict(extra="forbid")
    format: Literal[2]
    version: int  # of results
    fairdash: str
    runs: Annotated[list[_Run], Field(min_length=1)]
    address: str = ""
    sha256: dict[str, str]


class Unpacked(NamedTuple):
    """Runs that a file put here, by id, and the address that it was made at."""

    runs: list[str]
    address: str


def finished_file(sample: str) -> Path:
    """Return the file of the finished run that comes with a sample."""
    return SAMPLES[sample].path.with_name(f"{sample}_run.zip")


def pack_runs(
    store: Store,
    run_ids: Sequence[str],
    file: Path | IO[bytes],
    *,
    rows: bool = True,
    address: str = "",
) -> None:
    """Write runs that are over as one file, for `unpack_runs` in another home folder.

    It holds what was asked for, tables (of a sample none), scores that were added to
    them, searches for subgroups in their rows, models, their scores, weights r and
    curves, each with its sha256, and nothing that can run code.

    Parameters
    ----------
    rows : bool, default=True
        Without, tables and scores stay here: networks are kept to the bit, so that
        `unpack_runs` scores every row of the table again; weights r to 16 bits, after
        the last epoch alone; curves at 40 epochs.
    address : str
        Query of a page, that what was looked at is found again.

    Raises
    ------
    ValueError
        When there is no such run, it is not over or has no model, or an earlier version
        kept no more of one than its scores.
    """
    if isinstance(file, Path):  # an earlier one stays until this one is whole
        half = file.with_name(f".{file.name}.half")
        try:
            with open(half, "wb") as beside:
                pack_runs(store, run_ids, beside, rows=rows, address=address)
            half.replace(file)
        finally:
            half.unlink(missing_ok=True)
        return
    digests: dict[str, str] = {}
    curves: list[pd.DataFrame] = []
    facts = []
    with ZipFile(file, "w", ZIP_DEFLATED) as bundle:

        def put(name: str, content: bytes) -> None:
            digests[name] = sha256(content).hexdigest()
            bundle.writestr(name, content)

        for run_id in dict.fromkeys(run_ids):
            snapshot = store.snapshot(run_id, curves=False)
            run = snapshot.run
            done = [one for one in snapshot.trials if one.status == "finished"]
            if not (run.over and done):
                raise ValueError(
                    f"Run {run.name!r} is {run.status} with "
                    f"{plural(len(done), 'finished model')}; export it when it is over."
                )
            record = store.dataset_record(run.dataset_id)
            table = record.table_sha256
            spec = SweepSpec.of_run(run.spec)
            spec = spec.of_table(table, store.table_format(table))
            if rows and not spec.data.sample and f"{table}.parquet" not in digests:
                put(f"{table}.parquet", store.table_path(table).read_bytes())
            added = store.packed_scores(run.dataset_id) if rows else {}
            for digest, files in added.items():
                for part, content in files.items():
                    if f"{digest}-{part}" not in digests:
                        put(f"{digest}-{part}", content)
            searches = {one.id: one for one in store.searches(table)}
            for key in searches:
                if f"search-{key}" not in digests:
                    looked = store.searched_rows(table, key, record.n_rows)
                    put(f"search-{key}", np.packbits(looked).tobytes())
            for trial in done:
                if trial.key not in digests:
                    artifact = store.artifact(trial.key)
                    put(trial.key, safetensors.save(_arrays(artifact, rows=rows)))
                    curve = _curve(artifact, rows=rows)
                    curves.append(curve.assign(key=trial.key))
            keys = {one.key for one in done}
            facts.append(
                _Run(
                    id=run.id,
                    name=run.name,
                    spec=spec.model_dump(mode="json", exclude_none=True),
                    keys=[one.key for one in snapshot.trials],
                    failed={
                        one.key: one.error or f"not trained: {run.status}"
                        for one in snapshot.trials
                        if one.key not in keys
                    },
                    table_name=record.table_name,
                    subgroups=record.subgroups,
                    scores={digest: list(files) for digest, files in added.items()},
                    searches={
                        key: _Search.model_validate(one, from_attributes=True)
                        for key, one in searches.items()
                    },
                )
            )
        buffer = io.BytesIO()
        pd.concat(curves).to_parquet(buffer, index=False, compression="zstd")
        put(_HISTORY, buffer.getvalue())
        whole = _Facts(
            format=2,
            version=RESULTS_VERSION,
            fairdash=__version__,
            runs=facts,
            address=address,
            sha256=digests,
        )
        bundle.writestr(_FACTS, whole.model_dump_json(exclude_defaults=True))


def unpack_runs(
    store: Store, file: Path | IO[bytes], table: Path | None = None
) -> Unpacked:
    """Put the runs of a file of `pack_runs` in the store, under the ids they had.

    A run that is there already is not put there again. Metrics are computed anew from
    the scores. Models have no training time: they were trained elsewhere. That a table
    is that of the file with its digest cannot be told without this file.

    Parameters
    ----------
    table : Path, optional
        File of the data, for runs that were packed without rows.

    Raises
    ------
    ValueError
        When it is not such a file, is damaged or too large, is of another version, in
        which the same settings trained other models, or its table is missing or another
        one. Nothing of the run is kept then.
    """
    name = Path(file.name).name
    try:
        with _opened(file, name) as (bundle, facts):
            ids = [_put(store, bundle, facts, run, table, name) for run in facts.runs]
            return Unpacked(ids, facts.address)
    except _BROKEN as error:
        raise ValueError(f"{name} is no bundle of fairdash: {error}.") from error


@contextmanager
def _opened(file: Path | IO[bytes], name: str) -> Iterator[tuple[ZipFile, _Facts]]:
    """Give a file with what it says it holds, every member as it was written."""
    with ZipFile(file) as bundle:
        total = sum(member.file_size for member in bundle.infolist())
        if total > LARGEST:
            message = f"{name} would take {size(total)} unpacked"
            raise ValueError(f"{message}; {size(LARGEST)} are allowed.")
        facts = _Facts.model_validate_json(bundle.read(_FACTS))
        for part, digest in facts.sha256.items():
            if sha256(bundle.read(part)).hexdigest() != digest:
                raise ValueError(f"{name} is damaged: {part} is not as written.")
        yield bundle, facts


def _put(
    store: Store,
    bundle: ZipFile,
    facts: _Facts,
    packed: _Run,
    table: Path | None,
    name: str,
) -> str:
    spec = SweepSpec.of_run(packed.spec)
    known = {one.id: one for one in store.datasets()}
    dataset_id = _dataset_id(store, bundle, facts, packed, spec, table)
    shown = known.get(dataset_id)
    _show_as_before(store, shown)
    try:
        scores = {
            digest: {part: bundle.read(f"{digest}-{part}") for part in files}
            for digest, files in packed.scores.items()
        }
        dataset = store.dataset(dataset_id)
        looked_at = store.dataset_record(dataset_id)
        searches = _searches(bundle, packed, looked_at.n_rows)
        trials = expand(spec, dataset.key)
        keys = [trial.key for trial in trials]
        if facts.version != RESULTS_VERSION or packed.keys != keys:
            raise ValueError(
                f"The run in {name} is of results version {facts.version} on "
                f"other data or settings than here (version {RESULTS_VERSION}); train "
                "it from its configuration."
            )
        for run in store.runs():
            if run.id == packed.id and run.dataset_id != dataset_id:
                raise ValueError(f"The run {packed.id} here is on other data.")
            same = run.name, run.dataset_id, run.spec, run.status
            asked = packed.name, dataset_id, packed.spec, "finished"
            if same == asked or run.id == packed.id:
                store.adopt_scores(dataset_id, scores)
                _keep_searches(store, looked_at.table_sha256, searches)
                return run.id
        done = [trial for trial in trials if trial.key not in packed.failed]
        results = _results(bundle, spec, dataset, done)
        store.adopt_scores(dataset_id, scores)
    except (ValueError, *_BROKEN):
        if shown is None:
            store.delete_dataset(dataset_id)
        raise
    for result in results:
        keep(store, result, spec.train_rows)
    run_id = queue(
        store, spec, name=packed.name, run_id=packed.id, failed=packed.failed
    )
    _show_as_before(store, shown)
    if packed.subgroups is not None and shown is None:
        data, table_id = spec.data, looked_at.table_sha256
        store.add_dataset(table_id, data.roles, data.name, packed.subgroups)
    for stack in begin(store, store.run(run_id), "cpu"):
        keys = [trial.key for trial in stack.trials]
        record(store, run_id, measure(store, dataset, stack, keys, spec))
    end(store, run_id)
    _keep_searches(store, looked_at.table_sha256, searches)
    return run_id


def _show_as_before(store: Store, shown: DatasetRecord | None) -> None:
    """Leave a data set that was here with the roles and subgroups that it had."""
    if shown is not None and store.dataset_record(shown.id) != shown:
        one = shown.table_sha256, shown.roles, shown.name, shown.subgroups
        store.add_dataset(*one)


def _searches(
    bundle: ZipFile, packed: _Run, n_rows: int
) -> list[tuple[_Search, NDArray[np.bool_]]]:
    """Return searches with the rows they looked at; ValueError where these differ."""
    found = []
    for key, one in packed.searches.items():
        bits = np.frombuffer(bundle.read(f"search-{key}"), np.uint8)
        if len(bits) != len(np.packbits(np.zeros(n_rows, bool))):
            raise ValueError(f"The search {key[:12]} does not fit the rows.")
        found.append((one, np.unpackbits(bits, count=n_rows).astype(bool)))
    return found


def _keep_searches(
    store: Store, table: str, searches: Sequence[tuple[_Search, NDArray[np.bool_]]]
) -> None:
    for one, rows in searches:
        known = one.model_dump(exclude={"named"})
        store.log_search(table, rows, **known, named=one.named.copy)


def _dataset_id(
    store: Store,
    bundle: ZipFile,
    facts: _Facts,
    packed: _Run,
    spec: SweepSpec,
    table: Path | None,
) -> str:
    """Keep the table of a packed run and return the id of its data set."""
    data = spec.data
    if data.table is None:
        path = source_file(data)
        digest = store.add_table(path, path.name)
    else:
        digest, form = data.table, data.table_format
        if f"{digest}.parquet" in facts.sha256:
            content = bundle.read(f"{digest}.parquet")
            store.adopt_table(digest, content, packed.table_name, form)
        else:
            keep_table(store, spec, table)
    return store.add_dataset(digest, data.roles, data.name, spec.subgroups)


def _arrays(artifact: Artifact, *, rows: bool) -> Arrays:
    """Return what is kept of a model, by name."""
    arrays, ratio, ratios = artifact.network(), artifact.ratio(), None
    if rows:
        arrays[_SCORES] = artifact.scores()
        ratios = artifact.ratio_history()
    elif not arrays:
        message = "An earlier version kept no more of a model than its scores"
        raise ValueError(f"{message}; export the run with its rows.")
    if ratio is not None:
        arrays[_RATIO] = ratio if rows else ratio.astype(np.float16)
    if ratios is not None:
        arrays |= {_EPOCH: ratios["epoch"], _RATIOS: ratios["ratio"]}
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _curve(artifact: Artifact, *, rows: bool) -> pd.DataFrame:
    whole = artifact.history()
    if rows:
        return whole
    step = max(1, len(whole) // _EPOCHS)
    return whole.astype(np.float32).iloc[::-step][::-1]


def _results(
    bundle: ZipFile, spec: SweepSpec, dataset: Dataset, trials: Sequence[Trial]
) -> list[TrialResult]:
    """Return the models of a run; ValueError where one does not fit the rows."""
    curves = pd.read_parquet(io.BytesIO(bundle.read(_HISTORY)))
    encoded: dict[tuple[int, int], Any] = {}
    found = []
    for trial in trials:
        arrays: Arrays = dict(safetensors.load(bundle.read(trial.key)))
        scores = arrays.pop(_SCORES, None)
        ratio, epoch, ratios = (
            arrays.pop(name, None) for name in (_RATIO, _EPOCH, _RATIOS)
        )
        if scores is None:
            part = trial.seed, trial.fold
            if part not in encoded:
                train = split(dataset, trial.seed, fold=trial.fold).train
                encoded[part] = encode(dataset, train, scaling=spec.scaling).X
            scores = scorer_of(arrays).positive(encoded[part], dataset.group)
        n_train = len(
            training_rows(dataset, trial.seed, spec.train_rows, fold=trial.fold)
        )
        fits = scores.shape == (dataset.n_rows,) and bool(
            ((scores >= 0) & (scores <= 1)).all()
        )
        for weights in (ratio, ratios):
            fits &= weights is None or weights.shape[-1:] == (n_train,)
        if not fits or (ratios is None) != (epoch is None):
            raise ValueError(f"The model {trial.key[:12]} does not fit the rows.")
        history = curves[curves["key"] == trial.key].drop(columns="key")
        found.append(
            TrialResult(
                trial,
                seconds=0.0,
                scores=scores.astype(np.float32),
                history=history.dropna(axis=1, how="all").reset_index(drop=True),
                network=arrays,
                ratio=ratio,
                ratio_history=None
                if ratios is None or epoch is None
                else {"epoch": epoch, "ratio": ratios},
            )
        )
    return found
