"""Models on top of others: thresholds, mixtures, corrections, missing numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairdash._arrays import Codes, FloatArray
from fairdash.methods.scorers.base import Arrays, Scorer, is_mixture
from fairdash.methods.scorers.reading import scorer_of
from fairdash.methods.scorers.simple import Linear
from fairdash.methods.scorers.trees import Forest

EXTREME = 1e-6  # nearest that a probability comes to 0 and 1 before its log odds
_BASE = "base/"  # before the names of a base model's arrays


class _OnBase:
    """A model on top of another, ``base``, whose arrays stand beside its own."""

    base: Scorer

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name; none where the base model has none."""
        base = self.base.arrays()
        # Without its base it could not predict.
        if not base:
            return {}
        # The arrays of a linear base are older than the prefix.
        if not isinstance(self.base, Linear):
            base = {_BASE + name: values for name, values in base.items()}
        arrays = {name: getattr(self, name) for name in self._array_names()}
        return base | arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        values = {name: arrays[name] for name in cls._array_names()}
        return cls(_base_of(arrays, values), **values)  # type: ignore[call-arg]

    @classmethod
    def _array_names(cls) -> list[str]:
        """Return the names of the fields after the first, which is the base model."""
        _, *array_fields = fields(cls)  # type: ignore[arg-type]
        return [field.name for field in array_fields]


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
        is_above = signs * scores[:, None] > signs * self.thresholds[group]
        by_thresholds = (self.shares[group] * is_above).sum(axis=1)
        positive: FloatArray = self.constants[group] + by_thresholds
        return positive.clip(0, 1)


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
        n_groups = corrections.pop("n_groups")
        trees = Forest.from_arrays(corrections)
        return cls(base, n_groups, trees)


def audited_rows(
    X: NDArray[np.floating], group: Codes, n_groups: int, log_odds: FloatArray
) -> NDArray[np.float32]:
    """Return the columns that a tree of `Multicalibration` reads."""
    features = np.nan_to_num(np.asarray(X, np.float32), nan=0.0)
    of_group = np.eye(n_groups, dtype=np.float32)[group]
    return np.column_stack([features, of_group, log_odds.astype(np.float32)])


def _base_of(arrays: Arrays, other_names: Mapping[str, Any]) -> Scorer:
    """Return the base model, whose arrays are all but those of ``other_names``."""
    base_arrays = {
        name.removeprefix(_BASE): values
        for name, values in arrays.items()
        if name not in other_names
    }
    return scorer_of(base_arrays)


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
        # Members are not told the group.
        same_group = np.zeros(len(X), np.int64)
        for share, member in zip(self.member_shares, self.members, strict=True):
            decided = member.positive(X, same_group) > 0.5
            total += share * decided
        return total.clip(0, 1)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name; none where a member has none."""
        arrays: dict[str, NDArray[np.generic]] = {"member_shares": self.member_shares}
        for index, member in enumerate(self.members):
            member_arrays = member.arrays()
            if not member_arrays:
                return {}
            for name, values in member_arrays.items():
                arrays[f"{index}/{name}"] = values
        return arrays

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
