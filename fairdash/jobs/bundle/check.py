"""Read a bundle in the box: first what it says, then all it holds, checked.

`open_facts` answers with the `Facts`. `open_bundle` reads the tables, makes the data
sets, and holds every model against their rows; what it found right it writes to the
files it was given: tables as Parquet, arrays as a ZIP of safetensors.
"""

import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from hashlib import sha256
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet
from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from fairdash import box
from fairdash._record import first_few
from fairdash._wording import size
from fairdash.datasets import (
    SAMPLES,
    Dataset,
    encode,
    make_dataset,
    reading,
    split,
    training_rows,
)
from fairdash.jobs.bundle.pack import (
    EPOCH,
    FACTS,
    HISTORY,
    LOG_RATIO,
    RATIO,
    RATIOS,
    SCORES,
    SPREAD,
    Arrays,
    Facts,
    PackedRun,
    finished_file,
    summary_member,
)
from fairdash.methods import scorer_of
from fairdash.metrics import WeightSpread
from fairdash.sweep import RESULTS_VERSION, SweepSpec, expand

LARGEST = 2**31  # bytes of all that a bundle holds
LARGEST_FACTS = 16 << 20
MOST_CURVE_CELLS = 10_000_000
MOST_CURVES = 100
MOST_DIMENSIONS = 3
LARGEST_SUMMARY = 16 << 20  # bytes of JSON
_RESULTS = (SCORES, RATIO, LOG_RATIO, EPOCH, RATIOS)
MOST_SNAPSHOTS = 100  # epochs of weights
PROBED = 1_000  # rows that a model is asked for, where its scores came along
NETWORK = "network"
CURVE = "curve"
RESULT = "result"
PARTS = (NETWORK, CURVE, RESULT)
_BROKEN = (
    pa.ArrowException,
    BadZipFile,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SafetensorError,
    zlib.error,
)


class Request(NamedTuple):
    """Request to `open_bundle`.

    sha256 of the table of each run, and of those that are here, the files after the
    second; then follow files for ``n_new`` tables of the bundle, in the order in which
    runs name them, and others for scratch.
    """

    tables: list[str]
    present: list[str]
    n_new: int


class CheckAnswer(NamedTuple):
    """Content of a bundle: new tables by sha256, keys of the data set of each run."""

    tables: dict[str, reading.TableFile]
    data_keys: list[str]


def open_facts(files: Sequence[BinaryIO]) -> box.Handler:
    """Return a handler that reads the `Facts` of the bundle in the first file."""

    def handle(message: bytes) -> bytes:
        with _opened(files[0]) as bundle:
            return _facts(bundle).model_dump_json().encode()

    return handle


def open_bundle(files: Sequence[BinaryIO]) -> box.Handler:
    """Return a handler that checks the bundle in the first file.

    It writes the arrays into the second file.

    It takes a `Request` and returns an `CheckAnswer`, both as JSON.
    """

    def handle(message: bytes) -> bytes:
        request = TypeAdapter(Request).validate_json(message)
        with _opened(files[0]) as bundle:
            answer = _Check(bundle, request, files).answer()
        return TypeAdapter(CheckAnswer).dump_json(answer)

    return handle


@cache
def warm_up() -> None:
    """Check the bundle of a sample: libraries load modules when they need them."""
    with ExitStack() as stack:
        bundle = stack.enter_context(open(finished_file("hiring"), "rb"))
        arrays = stack.enter_context(TemporaryFile())
        table = stack.enter_context(TemporaryFile())
        sample = SAMPLES["hiring"].path
        reading.convert_table(sample, table)
        open_facts([bundle])(b"")
        digest = reading.table_digest(sample)
        request = Request([digest], [digest], 0)
        open_bundle([bundle, arrays, table])(TypeAdapter(Request).dump_json(request))


def specification(run: PackedRun) -> SweepSpec:
    """Return the specification of a run.

    Raises ValueError, naming fields but not their content, where that is not valid.
    """
    try:
        spec = SweepSpec.of_run(run.spec)
    except ValidationError as error:
        raise ValueError(f"its settings are not valid: {_places(error)}") from None
    except (AttributeError, KeyError, TypeError):
        raise ValueError("its settings name no methods") from None
    if spec.data.path is not None or spec.data.source is not None:
        raise ValueError(
            "its data are named by a path; a bundle names a sample, or brings its table"
        )
    return spec


def _places(error: ValidationError) -> str:
    places = [".".join(map(str, finding["loc"])) for finding in error.errors()]
    return first_few(places, ", ")


@contextmanager
def _opened(file: BinaryIO) -> Iterator[ZipFile]:
    """Open a bundle; whatever a damaged one raises becomes one ValueError."""
    try:
        with ZipFile(file) as bundle:
            total = sum(member.file_size for member in bundle.infolist())
            if total > LARGEST:
                message = f"it would take {size(total)} unpacked"
                raise ValueError(f"{message}; {size(LARGEST)} are allowed")
            yield bundle
    except _BROKEN:
        raise ValueError("it is damaged, or no bundle of fairdash") from None


def _facts(bundle: ZipFile) -> Facts:
    """Return the facts that a bundle states, checked against its members."""
    if bundle.getinfo(FACTS).file_size > LARGEST_FACTS:
        raise ValueError(f"{FACTS} is larger than {size(LARGEST_FACTS)}")
    try:
        facts = Facts.model_validate_json(bundle.read(FACTS))
    except ValidationError as error:
        raise ValueError(f"{FACTS} is not valid: {_places(error)}") from None
    if sorted([*facts.sha256, FACTS]) != sorted(bundle.namelist()):
        raise ValueError(f"it holds other files than {FACTS} names")
    for member, digest in facts.sha256.items():
        if sha256(bundle.read(member)).hexdigest() != digest:
            raise ValueError("it is damaged: a file in it is not as written")
    for run in facts.runs:
        specification(run)
    if len({run.id for run in facts.runs}) < len(facts.runs):
        raise ValueError("two of its runs have one id")
    return facts


class _Check:
    """A bundle that is read, its contents checked and written to the files given."""

    def __init__(
        self, bundle: ZipFile, request: Request, files: Sequence[BinaryIO]
    ) -> None:
        self._bundle = bundle
        self._facts = _facts(bundle)
        self._tables = request.tables
        _, self._arrays, *rest = files
        n_present = len(request.present)
        # Not strict: after the tables that are present follow those to be written.
        self._frames = {
            digest: reading.load_table(file)
            for digest, file in zip(request.present, rest, strict=False)
        }
        self._new = iter(rest[n_present : n_present + request.n_new])
        self._scratch = iter(rest[n_present + request.n_new :])

    def answer(self) -> CheckAnswer:
        if self._facts.version != RESULTS_VERSION:
            raise ValueError(
                f"its runs are of results version {self._facts.version}, this is "
                f"version {RESULTS_VERSION}; train them from their configuration"
            )
        tables = self._read_tables()
        data_keys = []
        with ZipFile(self._arrays, "w") as self._out:
            curves = self._read_curves()
            for run, table in zip(self._facts.runs, self._tables, strict=True):
                spec = specification(run)
                dataset = self._dataset(spec, table)
                data_keys.append(dataset.key)
                if run.subgroups is not None:
                    dataset.label_subgroups(run.subgroups)
                self._read_models(run, spec, dataset, curves)
                self._read_summaries(run)
        self._arrays.flush()
        return CheckAnswer(tables, data_keys)

    def _read_tables(self) -> dict[str, reading.TableFile]:
        tables = dict[str, reading.TableFile]()
        for run, digest in zip(self._facts.runs, self._tables, strict=True):
            member = f"{digest}.parquet"
            if digest in tables or member not in self._facts.sha256:
                continue
            file = next(self._new)
            tables[digest] = reading.convert_table(
                self._bundle.read(member),
                file,
                name=run.table_name or "its table",
                scratch=self._scratch.__next__,
            )
            frame = reading.load_table(file)
            # A bundle must not replace rows that are here under the same digest.
            if not frame.equals(self._frames.setdefault(digest, frame)):
                message = f"a table with the sha256 {digest[:12]}… is kept here"
                raise ValueError(f"{message}, and its rows are others")
        return tables

    def _dataset(self, spec: SweepSpec, table: str) -> Dataset:
        source = spec.data
        dataset = make_dataset(
            self._frames[table], source.roles, name=source.name, key=table
        )
        dataset.label_subgroups(spec.subgroups)
        return dataset

    def _read_curves(self) -> pd.DataFrame:
        file = parquet.ParquetFile(io.BytesIO(self._bundle.read(HISTORY)))
        n_cells = file.metadata.num_rows * file.metadata.num_columns
        if n_cells > MOST_CURVE_CELLS:
            raise ValueError(f"its curves have more than {MOST_CURVE_CELLS:,} numbers")
        curves = file.read().to_pandas()
        if len(curves.columns) > MOST_CURVES or not np.isfinite(curves["epoch"]).all():
            raise ValueError("its curves are not those of models")
        return curves

    def _read_models(
        self, run: PackedRun, spec: SweepSpec, dataset: Dataset, curves: pd.DataFrame
    ) -> None:
        trials = expand(spec.fitted_to(dataset), dataset.key)
        if run.keys != [trial.key for trial in trials]:
            raise ValueError(
                "its models are of other data or settings than it says, or from before "
                "sampling weights. Train them from their configuration"
            )
        encoded: dict[int, Any] = {}
        subgroups = list(dataset.label_subgroups(spec.subgroups).cat.categories)
        n_trained = {
            seed: len(training_rows(dataset, seed, spec.train_rows))
            for seed in {trial.seed for trial in trials}
        }
        for trial in trials:
            if trial.key in run.failed:
                continue
            network: Arrays = dict(safetensors.load(self._bundle.read(trial.key)))
            result: Arrays = {}
            for name in list(network):
                if name in _RESULTS or name.startswith(SPREAD):
                    result[name] = network.pop(name)
            if LOG_RATIO in result:
                result[RATIO] = np.exp(result.pop(LOG_RATIO).astype(np.float32))
            if network:
                if trial.seed not in encoded:
                    train = split(dataset, trial.seed).train
                    encoded[trial.seed] = encode(dataset, train, scaling=spec.scaling).X
                # Scores that came along are compared on some rows; without them the
                # model scores all rows.
                n = PROBED if SCORES in result else dataset.n_rows
                scores = _scores(network, encoded[trial.seed][:n], dataset.group[:n])
                result.setdefault(SCORES, scores)
                if not np.allclose(result[SCORES][:n], scores, atol=1e-4):
                    raise ValueError(f"its model {trial.key[:12]} has other scores")
            if not _fits(result, dataset, subgroups, n_trained[trial.seed]):
                raise ValueError(f"its model {trial.key[:12]} does not fit the rows")
            curve = curves[curves["key"] == trial.key].drop(columns="key")
            columns = curve.dropna(axis=1, how="all")
            history = {
                str(name): np.ascontiguousarray(columns[name]) for name in columns
            }
            self._write(f"{trial.key}/{NETWORK}", network)
            self._write(f"{trial.key}/{RESULT}", result)
            self._write(f"{trial.key}/{CURVE}", history)

    def _read_summaries(self, run: PackedRun) -> None:
        """Hand on the summaries of a run that are plain JSON, written anew.

        One that is not is left out: a page makes it anew. Whether its numbers have the
        shape of the sweep is asked by `fairdash.audits.linked_form` when it is read.
        """
        for name in run.summaries:
            member = summary_member(run.id, name)
            plain = _as_plain_json(self._bundle.read(member))
            if plain is not None:
                self._out.writestr(member, plain)

    def _write(self, member: str, arrays: Arrays) -> None:
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise ValueError(f"the array {name[:80]!r} holds no numbers")
        self._out.writestr(member, safetensors.save(arrays))


def _scores(arrays: Arrays, X: Any, group: Any) -> NDArray[np.float32]:
    try:
        scores = scorer_of(arrays).positive(X, group).astype(np.float32)
    except (ArithmeticError, LookupError, TypeError) as error:
        raise ValueError("the arrays of a model do not fit together") from error
    if any(array.ndim > MOST_DIMENSIONS for array in arrays.values()):
        raise ValueError("the arrays of a model have too many dimensions")
    return scores


def _as_plain_json(content: bytes) -> bytes | None:
    """Return compressed JSON compressed anew; None if it is too large or not JSON."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(content, LARGEST_SUMMARY)
        if not unpacking.eof:
            return None
        again = json.dumps(json.loads(text), separators=(",", ":"), allow_nan=False)
    except (RecursionError, ValueError, zlib.error):
        return None
    return zlib.compress(again.encode(), 9)


def _fits(
    result: Arrays, dataset: Dataset, subgroups: Sequence[str], n_trained: int
) -> bool:
    """Return whether the results of a model have the shapes and values of these rows.

    Of weights there is one a training row, of snapshots one for each epoch.
    """
    scores: Any = result[SCORES]
    if scores.shape != (dataset.n_rows,):
        return False
    if not ((scores >= 0) & (scores <= 1)).all():
        return False
    weights: list[Any] = [result[name] for name in (RATIO, RATIOS) if name in result]
    for array in weights:
        if array.shape[-1:] != (n_trained,):
            return False
        if not (np.isfinite(array) & (array >= 0)).all():
            return False
    epochs = result.get(EPOCH)
    snapshots = result.get(RATIOS)
    epochs_shape = None if epochs is None else epochs.shape
    snapshots_shape = None if snapshots is None else snapshots.shape[:1]
    if epochs_shape != snapshots_shape:
        return False
    return _spread_fits(result, dataset, subgroups)


def _spread_fits(result: Arrays, dataset: Dataset, subgroups: Sequence[str]) -> bool:
    arrays = spread_of(result)
    if not arrays:
        return True
    try:
        spread = WeightSpread.from_arrays(
            arrays, subgroups=subgroups, groups=dataset.group_names
        )
    except (LookupError, TypeError, ValueError):
        return False
    return bool(
        len(arrays) == len(spread.arrays())
        and len(spread.steps) <= MOST_SNAPSHOTS
        and np.isfinite(spread.steps).all()
        and (np.isfinite(spread.density) & (spread.density >= 0)).all()
        and (np.isnan(spread.quantiles) | (spread.quantiles >= 0)).all()
        and (spread.n >= 0).all()
    )


def spread_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of how weights are spread among those of a result."""
    return {
        name.removeprefix(SPREAD): array
        for name, array in result.items()
        if name.startswith(SPREAD)
    }
