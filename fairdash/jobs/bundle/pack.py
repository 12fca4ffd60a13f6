"""Write finished runs as one file, for another home folder and with the samples.

It is a ZIP of ``run.json`` and of members with their sha256.
"""

import io
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from safetensors import numpy as safetensors

from fairdash import __version__
from fairdash._counts import people_of
from fairdash._wording import plural
from fairdash.datasets import SAMPLES, Subgroups, training_rows
from fairdash.metrics import WeightSpread
from fairdash.store import Artifact, Store
from fairdash.sweep import RESULTS_VERSION, SweepSpec

EPOCHS = 40  # of a curve that are kept without rows
FACTS = "run.json"
HISTORY = "history.parquet"
# arrays of a trial beside those of its network
SCORES = "scores of rows"
RATIO = "ratio of training rows"
EPOCH = "epochs of ratios"
RATIOS = "ratios of training rows"
LOG_RATIO = "log ratio of training rows"
# "spread of ratios: density" and the other arrays of a `WeightSpread`
SPREAD = "spread of ratios: "
SNAPSHOTS = 8  # epochs whose weights a bundle without rows says the spread of
_LOG_STEPS = 128.0
_LEAST_LOG = -200.0  # of a weight that no number format of ours holds
Arrays = dict[str, NDArray[np.generic]]

MOST_RUNS = 100
MOST_MODELS = 5_000
MOST_SUMMARIES = 20
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]  # of a trial
Text = Annotated[str, StringConstraints(max_length=10_000)]
Name = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]  # of a summary


class PackedRun(BaseModel):
    """A run in a file: what was asked for, of which table, and its models."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]
    name: Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
    spec: dict[str, Any]
    keys: Annotated[list[Key], Field(max_length=MOST_MODELS)]
    failed: dict[Key, Text] = {}  # of a trial that did not finish, why
    table_name: Text = ""
    subgroups: Subgroups | None = None  # as pages show the data set
    # what pages have summarised of it, in members `summary_member`
    summaries: Annotated[list[Name], Field(max_length=MOST_SUMMARIES)] = []
    # of earlier versions: what was added to the data set, and searched
    scores: dict[str, Any] = Field(default={}, exclude=True)
    searches: dict[str, Any] = Field(default={}, exclude=True)


class Facts(BaseModel):
    """Content of a file; ``sha256`` of every other member."""

    model_config = ConfigDict(extra="forbid")
    format: Literal[2]
    version: int  # of results
    fairdash: Text
    runs: Annotated[list[PackedRun], Field(min_length=1, max_length=MOST_RUNS)]
    address: Text = ""
    sha256: dict[Text, Digest]


def finished_file(sample: str) -> Path:
    """Return the file of the finished run that comes with a sample."""
    return SAMPLES[sample].path.with_name(f"{sample}_run.zip")


def summary_member(run_id: str, name: str) -> str:
    """Return the name of the member of a bundle that holds a summary of a run."""
    return f"{run_id} {name}.summary"


def pack_runs(
    store: Store,
    run_ids: Sequence[str],
    file: Path | IO[bytes],
    *,
    rows: bool = True,
    address: str = "",
) -> None:
    """Write runs that are over as one file, for `unpack_runs` in another home folder.

    It holds what was asked for, tables (of a sample none), models, their scores,
    weights r and curves, and the summaries that pages have made of them, each with its
    sha256, and nothing that can run code.

    Parameters
    ----------
    rows : bool, default=True
        Without, tables and scores stay here: networks are kept to the bit, so that
        `unpack_runs` scores every row of the table again; how weights r are spread, at
        8 epochs, and those of rows after the last epoch, of the first seed, in half
        precision; curves at 40 epochs.
    address : str
        Query of a page, that what was looked at is found again.

    Raises
    ------
    ValueError
        When there is no such run, it is not over or has no model, or an earlier version
        kept no more of one than its scores.
    """
    if isinstance(file, Path):
        # Written beside, then renamed: an earlier file stays until this one is whole.
        half = file.with_name(f".{file.name}.half")
        try:
            with open(half, "wb") as output:
                pack_runs(store, run_ids, output, rows=rows, address=address)
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
            finished = [t for t in snapshot.trials if t.status == "finished"]
            if not (run.over and finished):
                n_finished = plural(len(finished), "finished model")
                raise ValueError(
                    f"Run {run.name!r} is {run.status} with {n_finished}; export it "
                    "when it is over."
                )
            record = store.dataset_record(run.dataset_id)
            table = record.table_sha256
            spec = SweepSpec.of_run(run.spec)
            spec = spec.of_table(table, store.table_format(table))
            if rows and not spec.data.sample and f"{table}.parquet" not in digests:
                put(f"{table}.parquet", store.table_path(table).read_bytes())
            for trial in finished:
                if trial.key in digests:  # two runs may share a model
                    continue
                artifact = store.artifact(trial.key)
                if rows:
                    arrays = _with_rows(artifact)
                else:
                    arrays = _without_rows(store, artifact, run.dataset_id, spec)
                put(trial.key, safetensors.save(arrays))
                curve = _curve(artifact, rows=rows)
                curves.append(curve.assign(key=trial.key))
            keys = {trial.key for trial in finished}
            summaries = dict(islice(store.summaries(run.id).items(), MOST_SUMMARIES))
            for name, content in summaries.items():
                put(summary_member(run.id, name), content)
            facts.append(
                PackedRun(
                    id=run.id,
                    name=run.name,
                    spec=spec.model_dump(mode="json", exclude_none=True),
                    keys=[trial.key for trial in snapshot.trials],
                    failed={
                        trial.key: trial.error or f"not trained: {run.status}"
                        for trial in snapshot.trials
                        if trial.key not in keys
                    },
                    table_name=record.table_name,
                    subgroups=record.subgroups,
                    summaries=list(summaries),
                )
            )
        buffer = io.BytesIO()
        pd.concat(curves).to_parquet(buffer, index=False, compression="zstd")
        put(HISTORY, buffer.getvalue())
        whole = Facts(
            format=2,
            version=RESULTS_VERSION,
            fairdash=__version__,
            runs=facts,
            address=address,
            sha256=digests,
        )
        bundle.writestr(FACTS, whole.model_dump_json(exclude_defaults=True))


def _with_rows(artifact: Artifact) -> Arrays:
    """Return all arrays of a model, those of rows as they are."""
    arrays = {**artifact.network(), SCORES: artifact.scores()}
    ratio = artifact.ratio()
    history = artifact.ratio_history()
    spread = artifact.weight_spread()
    if ratio is not None:
        arrays[RATIO] = ratio
    if history is not None:
        arrays |= {EPOCH: history["epoch"], RATIOS: history["ratio"]}
    if spread is not None:
        arrays |= {f"{SPREAD}{name}": array for name, array in spread.items()}
    return _contiguous(arrays)


def _without_rows(
    store: Store, artifact: Artifact, dataset_id: str, spec: SweepSpec
) -> Arrays:
    """Return the arrays of a model from which its scores can be computed again."""
    arrays = artifact.network()
    if not arrays:
        raise ValueError(
            "Only the scores of a model of this run are kept; export the run with its "
            "rows."
        )
    spread = _spread(store, artifact, dataset_id, spec)
    if spread is not None:
        arrays |= {f"{SPREAD}{name}": array for name, array in spread.items()}
    ratio = artifact.ratio()
    if ratio is not None and artifact.row()["seed"] == spec.seeds[0]:
        # In half precision a small weight would be 0; its logarithm is not.
        with np.errstate(divide="ignore"):
            log_ratio = np.maximum(np.log(ratio), _LEAST_LOG)
        # In steps of 1/128 a weight is right to 0.4 %, and the file a tenth smaller.
        log_ratio = np.round(log_ratio * _LOG_STEPS) / _LOG_STEPS
        arrays[LOG_RATIO] = log_ratio.astype(np.float16)
    return _contiguous(arrays)


def _spread(
    store: Store, artifact: Artifact, dataset_id: str, spec: SweepSpec
) -> dict[str, NDArray[Any]] | None:
    """Return the spread of weights at some epochs, computed here or brought along."""
    history = artifact.ratio_history()
    if history is None:
        return artifact.weight_spread()
    last = len(history["epoch"]) - 1
    chosen = np.unique(np.linspace(0, last, SNAPSHOTS).round().astype(int))
    dataset = store.dataset(dataset_id)
    rows = training_rows(dataset, artifact.row()["seed"], artifact.train_rows())
    return WeightSpread.of(
        history["ratio"][chosen],
        steps=history["epoch"][chosen],
        sensitive_features=dataset.sensitive_features[rows],
        subgroups=dataset.label_subgroups(spec.subgroups).iloc[rows],
        people=people_of(dataset.weight_of(rows)),
    ).arrays()


def _contiguous(arrays: Arrays) -> Arrays:
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _curve(artifact: Artifact, *, rows: bool) -> pd.DataFrame:
    """Return the curve of a model; without rows about `EPOCHS` epochs of it."""
    history = artifact.history()
    if rows:
        return history
    step = max(1, len(history) // EPOCHS)
    # Backwards from the last epoch, which is the one that counts.
    return history.astype(np.float32).iloc[::-step][::-1]
