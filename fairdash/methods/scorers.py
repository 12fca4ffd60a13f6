"""Trained models as plain arrays, which predict by NumPy alone: pages need no torch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairdash.methods.arrays import Codes, Float32Array, FloatArray
from fairdash.methods.log_loss.truncation import TruncatedLogistic

CHUNK = 2048  # rows whose hidden activations stay in the processor's cache


@dataclass(frozen=True)
class Network:
    """A fully connected ReLU network with a linear output.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_inputs, n_outputs)
        One matrix per layer, the last of a classifier with one column.
    biases : sequence of ndarray of shape (n_outputs,)
        One vector per layer.
    """

    weights: Sequence[Float32Array]
    biases: Sequence[Float32Array]

    def logits(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the first output of every row of ``X``; shape (n_samples,)."""
        return self.outputs(X)[:, 0]

    def outputs(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return all outputs of every row of ``X``; shape (n_samples, n_outputs).

        Computed in double precision: in single precision a row's output depends, in
        the last digits, on the rows beside it.
        """
        out = np.empty((len(X), self.weights[-1].shape[1]))
        for rows, hidden in self._hidden_parts(X):
            out[rows] = hidden @ self.weights[-1] + self.biases[-1]
        return out

    def hidden(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the last hidden layer of every row, (n_samples, width)."""
        return np.concatenate([hidden for _, hidden in self._hidden_parts(X)])

    def _hidden_parts(
        self, X: NDArray[np.floating]
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        for start in range(0, len(X), CHUNK):
            rows = slice(start, start + CHUNK)
            part = np.asarray(X[rows], dtype=np.float64)
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                part = np.maximum(part @ weight + bias, 0)
            yield rows, part

    def positive(
        self, X: NDArray[np.floating], group: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return P(1) of every row; a network is not told the group."""
        return expit(self.logits(X))

    def arrays(self) -> dict[str, Float32Array]:
        """Return the parameters by name, ready for a safetensors file."""
        named = {f"weight_{i}": weight for i, weight in enumerate(self.weights)}
        return named | {f"bias_{i}": bias for i, bias in enumerate(self.biases)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Float32Array]) -> Self:
        """Return the network whose ``arrays()`` these are."""
        n_layers = len(arrays) // 2
        return cls(
            [arrays[f"weight_{i}"] for i in range(n_layers)],
            [arrays[f"bias_{i}"] for i in range(n_layers)],
        )


Arrays = Mapping[str, NDArray[np.generic]]
EXTREME = 1e-6  # nearest that a probability comes to 0 and 1 before its log odds
_LEAF = -1  # instead of a feature
_BASE = "base/"  # before the names of a base model's arrays


class Scorer(Protocol):
    """A stored model of encoded rows, whichever method trained it.

    One whose ``mixture`` is true decides at random: see `is_mixture`.
    """

    def positive(self, X: NDArray[np.floating], group: Codes) -> FloatArray:
        """Return P(1) of every row; ``group`` is the index of its group's name."""
        ...

    def arrays(self) -> dict[str, Any]:
        """Return the parameters by name, ready for a safetensors file."""
        ...


def is_mixture(scorer: Scorer) -> bool:
    """Tell whether P(1) of a model is the chance with which a decision is drawn."""
    return bool(getattr(scorer, "mixture", False))


class _Stored:
    """A model whose fields are its arrays."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name, ready for a safetensors file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        return cls(**arrays)


@dataclass(frozen=True, eq=False)
class LinearMixture(_Stored):
    """A random choice among linear decisions.

    Parameters
    ----------
    coefficients : ndarray of shape (n_models, n_features)
    intercepts : ndarray of shape (n_models,)
    shares : ndarray of shape (n_models,)
        Probability with which each model decides.
    """

    mixture: ClassVar[bool] = True

    coefficients: NDArray[np.floating]
    intercepts: NDArray[np.floating]
    shares: NDArray[np.floating]

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the probability of a positive decision."""
        decided = X @ self.coefficients.T + self.intercepts > 0
        positive: FloatArray = decided @ np.asarray(self.shares, np.float64)
        return positive.clip(0, 1)


@dataclass(frozen=True, eq=False)
class Linear(_Stored):
    """A logistic regression.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
    intercept : ndarray of shape (1,)
    """

    coefficients: FloatArray
    intercept: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return P(1) of every row."""
        margin = np.asarray(X, np.float64) @ self.coefficients + self.intercept
        return expit(margin)


@dataclass(frozen=True, eq=False)
class Constant(_Stored):
    """The same probability for every row: ``constant``, of shape (1,)."""

    constant: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return P(1) of every row."""
        return np.full(len(X), float(self.constant[0]))


@dataclass(frozen=True, eq=False)
class Unkept:
    """A fitted classifier that has no form as arrays: only its scores are kept."""

    model: Any

    def positive(self, X: Any, group: Codes | None = None) -> FloatArray:
        """Return P(1) of every row."""
        return np.asarray(self.model.predict_proba(X), np.float64)[:, 1]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return nothing: a program is never written to a file, nor read from one."""
        return {}


class _OnBase:
    """A model on top of another, ``base``, whose arrays stand beside its own."""

    base: Scorer

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name; none where the base model has none."""
        base = self.base.arrays()
        if not base:  # without its base it could not predict
            return {}
        # The arrays of a linear base are older than the prefix.
        if not isinstance(self.base, Linear):
            base = {_BASE + name: values for name, values in base.items()}
        arrays = {field.name: getattr(self, field.name) for field in fields(self)[1:]}  # type: ignore[arg-type]
        return base | arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        values = {field.name: arrays[field.name] for field in fields(cls)[1:]}  # type: ignore[arg-type]
        return cls(_base_of(arrays, values), **values)  # type: ignore[call-arg]


@dataclass(frozen=True, eq=False)
class GroupThresholds(_OnBase):
    """Scores of a base model under a mixture of two thresholds in each group.

    Parameters
    ----------
    base : Scorer
        In a file its arrays stand beside the other ones.
    thresholds, signs, shares : ndarray of shape (n_groups, 2)
        A score s is decided 1 where ``sign * s > sign * threshold``, with the
        probability ``share`` of this threshold.
    constants : ndarray of shape (n_groups,)
        Probability of 1 whatever the score, beside the thresholds'.
    """

    mixture: ClassVar[bool] = True

    base: Scorer
    thresholds: FloatArray
    signs: FloatArray
    shares: FloatArray
    constants: FloatArray

    def positive(self, X: NDArray[np.floating], group: Codes) -> FloatArray:
        """Return the probability of a positive decision."""
        scores = self.base.positive(X, group)
        signs = self.signs[group]
        above = signs * scores[:, None] > signs * self.thresholds[group]
        positive: FloatArray = self.constants[group] + (self.shares[group] * above).sum(
            1
        )
        return positive.clip(0, 1)


@dataclass(frozen=True, eq=False)
class Mixture:
    """A random choice among the decisions of models.

    Parameters
    ----------
    members : sequence of Scorer
    member_shares : ndarray of shape (n_models,)
        Probability with which each model decides.
    """

    mixture: ClassVar[bool] = True

    members: Sequence[Scorer]
    member_shares: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the probability of a positive decision."""
        total = np.zeros(len(X))
        none = np.zeros(len(X), np.int64)
        for share, member in zip(self.member_shares, self.members, strict=True):
            total += share * (member.positive(X, none) > 0.5)
        return total.clip(0, 1)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name; none where a member has none."""
        named: dict[str, NDArray[np.generic]] = {"member_shares": self.member_shares}
        for i, member in enumerate(self.members):
            arrays = member.arrays()
            if not arrays:
                return {}
            named |= {f"{i}/{name}": values for name, values in arrays.items()}
        return named

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        shares: Any = arrays["member_shares"]
        parts: list[dict[str, Any]] = [{} for _ in shares]
        for name, values in arrays.items():
            index, _, member_name = name.partition("/")
            if member_name:
                parts[int(index)][member_name] = values
        return cls([scorer_of(part) for part in parts], shares)


@dataclass(frozen=True, eq=False)
class _Trees(_Stored):
    """Decision trees, their nodes one after the other."""

    roots: NDArray[np.int32]  # (n_trees,), nodes; the other arrays are (n_nodes,)
    features: NDArray[np.int32]  # column compared with the threshold; -1 at a leaf
    thresholds: FloatArray
    values: FloatArray  # of leaves
    left: NDArray[np.int32]  # where a row goes that is at most the threshold
    right: NDArray[np.int32]

    def _total(self, rows: NDArray[np.floating]) -> FloatArray:
        """Return the sum over trees of the value at each row's leaf."""
        total = np.zeros(len(rows))
        for root in self.roots:
            at = np.full(len(rows), root)
            moving = np.flatnonzero(self.features[at] != _LEAF)
            # All rows step down at once. No path is longer than there are nodes, so
            # trees of a file that lead in circles end too.
            for _ in self.features:
                if not len(moving):
                    break
                node = at[moving]
                low = self._is_low(node, rows[moving, self.features[node]])
                at[moving] = np.where(low, self.left[node], self.right[node])
                moving = moving[self.features[at[moving]] != _LEAF]
            if len(moving):
                raise ValueError("A tree of this model has no end; train it again.")
            total += self.values[at]
        return total

    def _is_low(self, node: Codes, value: NDArray[np.floating]) -> NDArray[np.bool_]:
        low: NDArray[np.bool_] = value <= self.thresholds[node]
        return low


class Forest(_Trees):
    """Trees whose leaves are P(1)."""

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the mean over trees of P(1) at the leaf."""
        rows = np.asarray(X, np.float32)  # what the trees were grown on
        return self._total(rows) / len(self.roots)


@dataclass(frozen=True, eq=False)
class Boosted(_Trees):
    """Trees whose leaves add up to the log odds.

    Parameters
    ----------
    missing_left : ndarray of int8 of shape (n_nodes,)
        1 where a missing value goes left.
    baseline : ndarray of shape (1,)
        Log odds before the first tree.
    """

    missing_left: NDArray[np.int8]
    baseline: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return P(1) of every row."""
        return expit(self.baseline[0] + self._total(np.asarray(X, np.float64)))

    def _is_low(self, node: Codes, value: NDArray[np.floating]) -> NDArray[np.bool_]:
        low = super()._is_low(node, value)
        return np.where(np.isnan(value), self.missing_left[node] == 1, low)


@dataclass(frozen=True, eq=False)
class RuleList(_Stored):
    """Rules in order, the first that applies decides.

    Parameters
    ----------
    features : ndarray of int32 of shape (n_rules,)
    rule_thresholds : ndarray of shape (n_rules,)
    above : ndarray of int8 of shape (n_rules,)
        1: the rule applies above its threshold; 0: at most at it.
    decisions : ndarray of int8 of shape (n_rules + 1,)
        Of each rule, and where none applies.
    """

    features: NDArray[np.int32]
    rule_thresholds: FloatArray
    above: NDArray[np.int8]
    decisions: NDArray[np.int8]

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the decision, 0 or 1."""
        return self.decisions[self.first(X)].astype(np.float64)

    def first(self, X: NDArray[np.floating]) -> Codes:
        """Return which rule decides each row; where none applies, their number."""
        values = np.asarray(X, np.float64)[:, self.features]
        applies = (values > self.rule_thresholds) == (self.above == 1)
        last = np.ones((len(applies), 1), bool)
        return np.hstack([applies, last]).argmax(1)


def audited_rows(
    X: NDArray[np.floating], group: Codes, n_groups: int, log_odds: FloatArray
) -> NDArray[np.float32]:
    """Return the columns that a tree of `Multicalibration` reads."""
    features = np.nan_to_num(np.asarray(X, np.float32), nan=0.0)
    of_group = np.eye(n_groups, dtype=np.float32)[group]
    return np.column_stack([features, of_group, log_odds.astype(np.float32)])


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """Scores of a base model, corrected by one tree after the other.

    Parameters
    ----------
    base : Scorer
    n_groups : ndarray of shape (1,)
    trees : Forest
        Whose leaves are log odds, on the rows of `audited_rows`.
    """

    base: Scorer
    n_groups: NDArray[np.int64]
    trees: Forest

    def positive(self, X: NDArray[np.floating], group: Codes) -> FloatArray:
        """Return P(1) of every row of known group."""
        p = self.base.positive(X, group)
        z = logit(p.clip(EXTREME, 1 - EXTREME))
        # One after the other: each tree reads the log odds that the last one left.
        n_groups = int(self.n_groups[0])
        for root in self.trees.roots:
            tree = replace(self.trees, roots=np.array([root]))
            z = z + tree.positive(audited_rows(X, group, n_groups, z))
        return expit(z)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name; none where the base model has none."""
        base = {_BASE + name: values for name, values in self.base.arrays().items()}
        if not base:
            return {}
        return base | {"n_groups": self.n_groups, **self.trees.arrays()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        corrections: dict[str, Any] = {
            name: values for name, values in arrays.items() if _BASE not in name
        }
        base = _base_of(arrays, corrections)
        return cls(base, corrections.pop("n_groups"), Forest.from_arrays(corrections))


@dataclass(frozen=True, eq=False)
class Unfilled(_OnBase):
    """A model that takes missing numbers, on rows in which these were filled in.

    Parameters
    ----------
    base : Scorer
    filled, flags : ndarrays of int64 of shape (n,)
        Encoded columns, and those that are above 0 where the number was missing.
    """

    base: Scorer
    filled: Codes
    flags: Codes

    @property
    def mixture(self) -> bool:
        """Whether the model itself is one."""
        return is_mixture(self.base)

    def positive(self, X: NDArray[np.floating], group: Codes) -> FloatArray:
        """Return P(1) of every row."""
        return self.base.positive(unfilled(X, self.filled, self.flags), group)


def unfilled(X: Any, filled: Codes, flags: Codes) -> Any:
    """Return encoded rows with NaN where a number was missing, see `Unfilled`."""
    rows = X.copy()
    was_missing = X[:, flags] > 0
    rows[:, filled] = np.where(was_missing, np.nan, X[:, filled])
    return rows


def _base_of(arrays: Arrays, other_names: Mapping[str, Any]) -> Scorer:
    """Return the base model, whose arrays are all but those of ``other_names``."""
    rest = {n.removeprefix(_BASE): v for n, v in arrays.items() if n not in other_names}
    return scorer_of(rest)


def scorer_of(arrays: Arrays) -> Scorer:
    """Return the model that a trial keeps, known by the names of its arrays.

    Raises ValueError when only its scores were kept.
    """
    for name, kind in _KINDS.items():
        if name in arrays:
            return kind.from_arrays(arrays)
    raise ValueError(
        "Only the scores of this model are kept, so changed people cannot be scored. "
        "Train it with logistic regression, gradient boosting or a random forest as "
        "base model. If an earlier version trained it, delete its runs and train again."
    )


# By an array that only this kind has, or none of the kinds before it: the order counts.
_KINDS: dict[str, Any] = {
    "flags": Unfilled,
    "weight_0": Network,
    "pulls": TruncatedLogistic,
    "signs": GroupThresholds,
    "member_shares": Mixture,
    "shares": LinearMixture,
    "n_groups": Recalibrated,
    "baseline": Boosted,
    "roots": Forest,
    "coefficients": Linear,
    "rule_thresholds": RuleList,
    "constant": Constant,
}
