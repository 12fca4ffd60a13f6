"""Train, watch and score stacks: one of them, or a whole sweep in this process."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import datasets
from fairdash._deciding import ALIKE, DECIDES
from fairdash.methods import CATALOG, COMPARABLE, Unfilled, unfilled
from fairdash.metrics import Drawn, decision_status, evaluate
from fairdash.sweep._ranking import local_gaps
from fairdash.sweep._seeds import DRAWN
from fairdash.sweep._spec import DataSource, SweepSpec
from fairdash.sweep.planning import Stack, Trial, expand, plan

Event = dict[str, Any]


@dataclass(frozen=True)
class TrialResult:
    """A trained model.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Probability of the positive outcome of all rows of the data set, float32.
    history : DataFrame
        One row per epoch: losses, and the validation metrics where they were looked at.
    network : mapping of str to ndarray
        Parameters of the predictor; `fairdash.methods.scorer_of` makes it again.
    ratio, ratio_history
        Weights of the rows of `fairdash.datasets.training_rows`, (n_train,); ``epoch``
        (k,) and ``ratio`` (k, n_train).
    seconds : float
        Its share of the time of its stack: of the processor or, where that is less as
        with several threads, of the clock.
    weight_spread : mapping of str to ndarray, optional
        Arrays of a `fairdash.metrics.weight_spread.WeightSpread`, of a model that came
        without weights of rows.
    """

    trial: Trial
    scores: NDArray[np.float32]
    history: pd.DataFrame
    network: Mapping[str, NDArray[Any]]
    ratio: NDArray[np.float32] | None
    ratio_history: dict[str, NDArray[Any]] | None
    seconds: float
    weight_spread: Mapping[str, NDArray[Any]] | None = None


def train_stack(
    stack: Stack,
    dataset: datasets.Dataset,
    *,
    scaling: Literal["standard", "minmax"] = "standard",
    train_rows: int | None = None,
    report: Callable[[Event], None] = lambda event: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[TrialResult] | None:
    """Train the models of a stack on the training rows of its seed, by their weights.

    Parameters
    ----------
    report : callable, optional
        Receives progress events: plain dicts, ready for JSON.
    stopped : callable, optional
        Asked after every epoch; True ends training.

    Raises
    ------
    ValueError
        When a parameter is out of range or training diverged.
    """
    for trial in stack.trials:
        first_event: Event = {
            "key": trial.key,
            "began": time.time(),
            "epoch": 0,
            "n_epochs": trial.params.get("n_epochs", 1),
            "seconds": 0.0,
            "curves": {},
        }
        report(first_event)
    parts = datasets.split(dataset, stack.seed)
    validation = parts.validation
    encoded = datasets.encode(dataset, parts.train, scaling=scaling)
    method = CATALOG[stack.method]
    # Encoding fills missing numbers in. A method that takes them gets them back, and
    # its stored model does the same with rows that it is to score.
    missing = encoded.encoder.filled
    keeps_missing = dataset.roles.missing == "keep" and len(missing[0]) > 0
    keeps_missing = keeps_missing and method.takes_missing(stack.params)

    def rows_of(selection: Any) -> Any:
        rows = encoded.rows(selection)
        return unfilled(rows, *missing) if keeps_missing else rows

    def stored(network: Any) -> Any:
        return Unfilled(network, *missing) if keeps_missing else network

    train = datasets.training_rows(dataset, stack.seed, train_rows)
    groups = dataset.sensitive_features
    monitor = Monitor(
        [trial.key for trial in stack.trials],
        X=rows_of(validation),
        y=dataset.y[validation],
        sample_weight=dataset.weight_of(validation),
        report=report,
        stopped=stopped,
    )
    estimator = method.estimator(stack.params, random_state=stack.seed)
    estimator.set_callbacks(monitor)
    if method.needs_names:
        estimator.set_params(feature_names=encoded.feature_names)
    if stack.params.get("metric") == COMPARABLE:
        labels = _comparable(dataset, str(stack.params.get("comparable", "")))
        estimator.set_params(comparable_rows=labels[train])
    clock = time.monotonic()
    processor = time.process_time()
    try:
        models = estimator.fit_many(
            stack.points,
            rows_of(train),
            dataset.y[train],
            sensitive_features=groups[train],
            sample_weight=dataset.weight_of(train),
        )
    finally:
        monitor.forget()  # it would keep the rows alive
    if monitor.was_stopped:
        return None
    # The processor's time is the same on a busy machine, but adds up over threads: of
    # several the clock's time is less.
    wall_seconds = time.monotonic() - clock
    processor_seconds = time.process_time() - processor
    seconds = min(wall_seconds, processor_seconds) / len(models)
    # In parts, since the encoded rows of a large table take much memory.
    scores = np.empty((len(models), dataset.n_rows), dtype=np.float32)
    for part in encoded.parts():
        X = rows_of(part)
        routed = {}
        if method.needs_groups:
            routed["sensitive_features"] = groups[part]
        for i, model in enumerate(models):
            scores[i, part] = model.predict_proba(X, **routed)[:, 1]
    return [
        TrialResult(
            trial=trial,
            scores=_finite(trial, scores[i]),
            history=model.history_.merge(monitor.table(i), on="epoch", how="left"),
            network=stored(model.network_).arrays(),
            ratio=model.ratio_,
            ratio_history=model.ratio_history_,
            seconds=seconds,
        )
        for i, (trial, model) in enumerate(zip(stack.trials, models, strict=True))
    ]


def _comparable(dataset: datasets.Dataset, column: str) -> NDArray[Any]:
    if column not in dataset.frame:
        names = ", ".join(map(str, dataset.frame.columns[:20]))
        raise ValueError(
            f"`comparable` is {column!r}, which is no column of {dataset.name!r}. Name "
            f"one that says which rows are comparable; there are {names}."
        )
    return dataset.frame[column].to_numpy(object)


def _finite(trial: Trial, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    broken = ~np.isfinite(scores)
    if broken.any():
        message = f"Training diverged: {broken.sum()} scores are not finite"
        raise ValueError(f"{message} at {trial.params}; lower `learning_rate`.")
    return scores


def score(
    dataset: datasets.Dataset,
    seed: int,
    scores: NDArray[np.floating],
    subgroups: datasets.Subgroups,
    *,
    drawn: bool = False,
) -> pd.DataFrame:
    """Evaluate models on the validation and the test rows of a seed.

    One row per model: the columns of `fairdash.metrics.evaluate` and of `decisions`,
    once with prefix ``validation_`` and once with ``test_``, by the sampling weights
    that the data set has; and ``ranking_local_gap``, by which models are chosen.

    Scores of random mixtures, ``drawn``, are chances of decisions: figures are the
    expected ones, and a column ``drawn`` says so.
    """
    rows = datasets.split(dataset, seed)
    labels = dataset.label_subgroups(subgroups)
    groups = dataset.group  # numbers are checked sooner than names
    parts = []
    for part, part_rows in (("validation", rows.validation), ("test", rows.test)):
        weight = dataset.weight_of(part_rows)
        part_scores: NDArray[np.floating] | Drawn = scores[:, part_rows]
        if drawn:
            content = dataset.content[part_rows]
            part_scores = Drawn(scores[:, part_rows], content)
        metrics = evaluate(
            dataset.y[part_rows],
            part_scores,
            sensitive_features=groups[part_rows],
            subgroups=labels.iloc[part_rows],
            min_size=subgroups.min_size,
            sample_weight=weight,
        )
        status = decisions(dataset.y[part_rows], part_scores, sample_weight=weight)
        parts.append(metrics.join(status).add_prefix(f"{part}_"))
    parts.append(local_gaps(dataset, seed, scores, subgroups, drawn=drawn))
    table = pd.concat(parts, axis=1)
    return table.assign(**{DRAWN: 1.0}) if drawn else table


def decisions(
    y: NDArray[np.integer],
    scores: NDArray[np.floating] | Drawn,
    *,
    sample_weight: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """Return ``selection_rate``, and whether models are ``constant`` and ``alike``.

    ``constant`` is 1 of a model that does not decide, ``alike`` of one that accepts all
    or none or nearly so, which is also constant. They are numbers, so that their means
    over seeds say how many were; what counts is `fairdash.metrics.decision_status`.
    """
    decided = scores if isinstance(scores, Drawn) else (scores > 0.5).astype(np.int8)
    status = decision_status(y, decided, sample_weight=sample_weight)
    return pd.DataFrame(
        {
            "selection_rate": status["selection_rate"],
            "constant": (status["status"] != DECIDES).astype(float),
            "alike": status["status"].isin(ALIKE).astype(float),
        }
    )


def run_sweep(
    spec: SweepSpec,
    *,
    dataset: datasets.Dataset | None = None,
    report: Callable[[Event], None] = lambda event: None,
) -> pd.DataFrame:
    """Train every trial of a specification here and now.

    Parameters
    ----------
    dataset : Dataset, optional
        The data of the specification. Needed when it names an uploaded table, which
        only the store can read.

    Returns
    -------
    DataFrame
        One row per trial: ``key``, ``method``, ``seed``, its parameters, ``seconds``
        and the metrics on validation and test rows.

    Raises
    ------
    ValueError
        When the specification does not fit the catalog or the data.
    """
    dataset = dataset or load_dataset(spec.data)
    spec = spec.fitted_to(dataset)
    trials = expand(spec, dataset.key)
    rows: dict[str, dict[Any, Any]] = {}
    for stack in plan(trials):
        results = train_stack(
            stack,
            dataset,
            scaling=spec.scaling,
            train_rows=spec.train_rows,
            report=report,
        )
        assert results is not None, "nobody stops it here"
        scores = np.stack([result.scores for result in results])
        drawn = CATALOG[stack.method].mixture
        metrics = score(dataset, stack.seed, scores, spec.subgroups, drawn=drawn)
        for result, row in zip(results, metrics.to_dict("records"), strict=True):
            trial = result.trial
            rows[trial.key] = {
                "key": trial.key,
                "method": trial.method,
                "seed": trial.seed,
                **trial.params,
                "seconds": result.seconds,
                **row,
            }
    return pd.DataFrame([rows[trial.key] for trial in trials])


@contextmanager
def source_file(source: DataSource) -> Iterator[tuple[Path, str]]:
    """Give the file of a sample, path or listed source, and the name of its data set.

    Raises ValueError when the table is one that was uploaded, its path is the address
    of a database, or it cannot be read.
    """
    if source.table:
        message = "`table` names a file uploaded to the store"
        raise ValueError(f"{message}; pass its data set, or give a `path`.")
    if source.source is not None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            written = datasets.sources.write_listed(
                source.source, datasets.sources.ANYBODY, path
            )
            yield path, written.titled(source.name)
        return
    named = str(source.sample_file() if source.sample else source.path)
    datasets.sources.check_configured(named)
    with datasets.sources.table_file(
        named, source.name, source.roles, sample_rows=source.sample_rows
    ) as file:
        yield file


def load_dataset(
    source: DataSource, path: str | Path | None = None
) -> datasets.Dataset:
    """Return the data set of a sample, file or address, keyed by the file's content.

    For a ``table`` that was uploaded to the store, ``path`` is that same file.

    Raises ValueError when the table is not given, or the file does not fit.
    """
    if path is not None and source.table:
        table = datasets.read_table(
            path, digest=source.table, table_format=source.table_format
        )
        key = source.table
        return datasets.make_dataset(table, source.roles, name=source.name, key=key)
    with source_file(source) as (file, name):
        digest = sha256(file.read_bytes()).hexdigest()
        return datasets.make_dataset(
            datasets.read_table(file), source.roles, name=name, key=digest
        )


MOST_POINTS = 100  # of a curve
REPORT_SECONDS = 0.3  # between two reports of a trial


@dataclass(eq=False)
class Monitor:
    """A scikit-learn callback that looks at the models of a stack between epochs.

    Parameters
    ----------
    X, y, sample_weight : ndarrays of shape (n_rows, n_features) and (n_rows,)
        The validation rows, of which it takes the mean log loss.
    stopped : callable
        Asked after every epoch; True ends the fit.
    """

    keys: Sequence[str]
    X: NDArray[np.float32]
    y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    report: Callable[[Event], None]
    stopped: Callable[[], bool]
    was_stopped: bool = False
    curves: dict[int, list[dict[str, float]]] = field(default_factory=dict)
    _began: float = 0.0
    _reported: float = -math.inf

    def setup(self, estimator: Any, context: Any) -> None:
        """Start the clock."""
        self._began = time.monotonic()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: all that was seen has been reported."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: only the ends of epochs are of interest."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        """Look after an epoch, if it is time to; return True to stop the fit."""
        if context.task_name not in ("epoch", "step"):
            return False
        stack = getattr(fitted_estimator, "stack_", None)
        if stack:
            interval = math.ceil(stack.n_epochs / (MOST_POINTS - 2))
            if stack.epoch in (1, stack.n_epochs) or stack.epoch % interval == 0:
                self._look(stack)
            clock = time.monotonic()
            if (
                stack.epoch == stack.n_epochs
                or clock - self._reported >= REPORT_SECONDS
            ):
                self._reported = clock
                for point in stack.points:
                    self.report(self._event(stack, point, clock - self._began))
        self.was_stopped = self.was_stopped or self.stopped()
        return self.was_stopped

    def forget(self) -> None:
        """Let go of the rows and of who listens, once training is over.

        scikit-learn remembers the callbacks of the last 128 trainings.
        """
        del self.X, self.y, self.sample_weight, self.report, self.stopped

    def table(self, point: int) -> pd.DataFrame:
        """Return the curve of the model at a point, one row per epoch looked at."""
        columns = ["epoch", "validation_loss"]
        return pd.DataFrame(self.curves.get(point, []), columns=columns, dtype=float)

    def _look(self, stack: Any) -> None:
        logits = np.asarray(stack.logits(self.X), np.float64)
        with np.errstate(invalid="ignore"):  # of a model that diverged
            loss = np.logaddexp(0, logits) - self.y * logits
        losses = np.average(loss, axis=1, weights=self.sample_weight)
        for model, point in enumerate(stack.points):
            record = {"epoch": float(stack.epoch)}
            for name in ("loss", "adversary_loss"):
                if name in stack.history:
                    record[name] = float(stack.history[name][-1][model])
            record["validation_loss"] = float(losses[model])
            self.curves.setdefault(point, []).append(record)

    def _event(self, stack: Any, point: int, seconds: float) -> Event:
        records = self.curves[point]
        return {
            "key": self.keys[point],
            "epoch": stack.epoch,
            "n_epochs": stack.n_epochs,
            "seconds": seconds,
            "curves": {
                name: [_finite_or_none(record[name]) for record in records]
                for name in records[0]
            },
        }


def _finite_or_none(value: float) -> float | None:
    # JSON has no word for NaN and infinity.
    return value if math.isfinite(value) else None
