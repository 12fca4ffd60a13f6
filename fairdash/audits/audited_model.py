"""A stored model and the test rows it is audited on; its rules in words of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash._deciding import Deciding
from fairdash.analysis import TableColumn, in_table, table_columns
from fairdash.brought import TableModel, model_columns, positive_scores
from fairdash.datasets import Dataset, Encoder, encode, split, training_rows
from fairdash.methods import Scorer
from fairdash.metrics import (
    FairMetric,
    comparable_directions,
    decision_status,
    flip_columns,
)

Scaling = Literal["standard", "minmax"]
Flips = Mapping[str, tuple[object, ...]]
Encoded = NDArray[np.float32]
MOST_POOL = 10_000  # real rows among which neighbours are looked for


class EncodedRows(NamedTuple):
    """Encoded rows and the index of each one's group."""

    X: Encoded
    group: Codes


class Pool(NamedTuple):
    """Real rows, encoded; which columns lack a value; which rows they are."""

    X: FloatArray
    absent: NDArray[np.bool_]
    where: Codes


@dataclass(frozen=True, eq=False)
class AuditRows:
    """Test rows of a split, encoded as its training rows say.

    ``key`` names data set, seed, scaling and number of training rows; ``where`` says
    which rows of the data set they are, ``train_where`` which trained the model.
    """

    key: str
    dataset: Dataset
    encoder: Encoder
    train: Encoded
    train_groups: NDArray[np.object_]
    test: EncodedRows
    y: NDArray[np.int8]
    where: Codes
    train_where: Codes
    seed: int

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        seed: int,
        *,
        scaling: Literal["standard", "minmax"] = "standard",
        train_rows: int | None = None,
    ) -> Self:
        """Split and encode a data set as its models were trained."""
        parts = split(dataset, seed)
        train = training_rows(dataset, seed, train_rows)
        encoded = encode(dataset, parts.train, scaling=scaling)
        _, group = np.unique(dataset.sensitive_features, return_inverse=True)
        return cls(
            key=f"{dataset.key} {seed} {scaling} {train_rows}",
            dataset=dataset,
            encoder=encoded.encoder,
            train=encoded.rows(train),
            train_groups=dataset.sensitive_features[train],
            test=EncodedRows(encoded.rows(parts.test), group[parts.test]),
            y=dataset.y[parts.test],
            where=parts.test,
            train_where=train,
            seed=seed,
        )

    @cached_property
    def columns(self) -> list[TableColumn]:
        """The values that the features take in the table, and their encoding."""
        return table_columns(self.dataset, self.encoder)

    @cached_property
    def pool(self) -> "Pool":
        """Up to 10,000 rows of the table, drawn at random."""
        rows = np.arange(len(self.dataset.frame))
        if len(rows) > MOST_POOL:
            rng = np.random.default_rng(self.seed)
            rows = np.sort(rng.choice(rows, MOST_POOL, replace=False))
        frame = self.dataset.frame.iloc[rows]
        names = [column.name for column in self.columns]
        return Pool(
            X=self.encoder.transform(frame).astype(np.float64),
            absent=frame[names].isna().to_numpy(),
            where=rows,
        )

    @property
    def n(self) -> int:
        """Number of test rows."""
        return len(self.where)

    @property
    def features(self) -> list[str]:
        """Columns that the model sees."""
        return list(self.dataset.roles.features)

    @property
    def frame(self) -> pd.DataFrame:
        """The test rows as they are in the table, features alone."""
        return self.dataset.frame.iloc[self.where][self.features].reset_index(drop=True)

    def comparable_metric(self, comparable: str, columns: Sequence[str]) -> FairMetric:
        """Return the metric that training rows of one value of a column are alike in.

        ``columns`` do not count either. Raises ValueError as
        `fairdash.metrics.comparable_directions` does, or when there is no such column.
        """
        if comparable not in self.dataset.frame:
            raise ValueError(
                f"There is no column {comparable!r} that says which rows are "
                "comparable. Choose another one."
            )
        labels = self.dataset.frame[comparable].iloc[self.train_where]
        return comparable_directions(
            self.train,
            labels.to_numpy(object),
            self.encoder.feature_names,
            columns=columns,
        )

    def sample(self, n: int) -> Codes:
        """Return up to ``n`` places among the test rows, always the same, ascending.

        Of a unit it is one row, so that they say ``n`` times something new.
        """
        unit = self.dataset.unit
        places = np.arange(self.n)
        if unit is not None:
            places = np.sort(np.unique(unit[self.where], return_index=True)[1])
        if n >= len(places):
            return places
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(places, n, replace=False))

    def variants(self, flips: Flips) -> list[pd.DataFrame]:
        """Return the test rows under every combination of some values.

        Raises ValueError when a column is not a feature, or a value does not occur.
        """
        return flip_columns(self.frame, flips, table=self.dataset.frame)

    def flipped(self, flips: Flips) -> list[Encoded]:
        """Return what `variants` does, encoded."""
        return [self.encoder.transform(frame) for frame in self.variants(flips)]


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """A model that scores rows as they are or as changed; it decides 1 above a cut."""

    key: str
    method: str
    scorer: Scorer
    rows: AuditRows
    threshold: float = 0.5

    @cached_property
    def deciding(self) -> Deciding:
        """Whether decisions of all test rows say anything, however few are searched."""
        everyone = np.arange(self.rows.n)
        p = self.encoded(self.rows.test.X, everyone)
        decided = self.decides(p).astype(np.int8)
        sampling = self.rows.dataset.sampling_of(self.rows.where)
        status = decision_status(self.rows.y, decided, **sampling)
        return Deciding.of_status(**status.iloc[0])

    def decides(self, p: FloatArray) -> NDArray[np.bool_]:
        """Return which P(1) are decided 1."""
        return p > self.threshold

    def probability(
        self, frame: pd.DataFrame, places: NDArray[np.int64] | None = None
    ) -> FloatArray:
        """Return P(1) of changed test rows; ``places`` says which, by default all."""
        if places is None:
            places = np.arange(self.rows.n)
        return self.encoded(self.rows.encoder.transform(frame), places)

    def encoded(self, X: NDArray[np.floating], places: Codes) -> FloatArray:
        """Return P(1) of changed test rows that are encoded."""
        rows = X.astype(np.float32, copy=False)
        return self.scorer.positive(rows, self.rows.test.group[places])

    def flipped(self, flips: Flips) -> list[FloatArray]:
        """Return P(1) of all test rows under every combination of some values."""
        everyone = np.arange(self.rows.n)
        return [self.encoded(X, everyone) for X in self.rows.flipped(flips)]


@dataclass(frozen=True, eq=False)
class _Brought(AuditedModel):
    """A model that reads rows as they stand in the table, never their encoding."""

    scorer: TableModel  # type: ignore[assignment]

    def probability(
        self, frame: pd.DataFrame, places: NDArray[np.int64] | None = None
    ) -> FloatArray:
        return positive_scores(self.scorer, frame, self.rows.dataset.roles.positive)

    def encoded(self, X: NDArray[np.floating], places: Codes) -> FloatArray:
        # Encoded changes become values of the table, which the model reads.
        rows = self.rows
        frame = rows.frame.iloc[places].reset_index(drop=True)
        before = rows.test.X[places].astype(np.float64)
        changed = in_table(frame, rows.columns, before, X.astype(np.float64))
        return self.probability(changed)

    def flipped(self, flips: Flips) -> list[FloatArray]:
        return [self.probability(frame) for frame in self.rows.variants(flips)]


def audited(
    model: TableModel, dataset: Dataset, seed: int = 0, *, key: str = ""
) -> AuditedModel:
    """Return any object with ``predict_proba`` as a model that can be audited.

    Parameters
    ----------
    model : TableModel
        Such as a fitted scikit-learn pipeline, or `fairdash.load` of an ONNX file. It
        is given the columns of the data set that it reads: see
        `fairdash.brought.TableModel`. These are the features of its audit, the
        sensitive column too where it reads that. It is called often and must depend on
        nothing but the rows.
    dataset : Dataset
    seed : int, default=0
        Of the split, whose test rows are the people and whose training rows say what
        the range and the spread of a column is.
    key : str, optional
        What the model is kept by, where audits are.

    Raises
    ------
    ValueError
        When a column that it reads is missing or the outcome, or it does not return a
        probability for each class.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from fairdash.audits import audited, look_alikes
    >>> from fairdash.datasets import load_sample
    >>> data = load_sample("hiring")
    >>> X = data.frame[["ethnicity", "degree"]]
    >>> pipeline = make_pipeline(OneHotEncoder(), LogisticRegression())
    >>> model = audited(pipeline.fit(X, data.y), data)
    >>> flips = look_alikes.flip_values(model.rows.dataset, ["ethnicity"])
    >>> 0 <= look_alikes.changed_people(model, flips).share <= 1
    True
    """
    needed = model_columns(model, dataset.frame, dataset.roles)
    roles = dataset.roles.model_copy(
        update={"features": tuple(needed), "missing": "impute"}
    )
    rows = AuditRows.of(replace(dataset, roles=roles), seed)
    return _Brought(key, "own scores", model, rows)
