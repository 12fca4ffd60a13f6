"""One network for every (λ, τ), as plain arrays: evaluated by NumPy alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from fairdash._validation import encode_groups
from fairdash.methods._network import Float32, Network

Float64 = NDArray[np.float64]
Floats = NDArray[np.floating]


@dataclass(frozen=True)
class SettingRange:
    """The settings a plane is trained over: λ from 0, and τ, to their largest.

    Parameters
    ----------
    max_fairness_weight : float
    taus : pair of float, optional
        Smallest and largest; None for a method without τ.
    """

    max_fairness_weight: float
    taus: tuple[float, float] | None = None

    @property
    def n_features(self) -> int:
        """How many features describe a setting."""
        return 2 if self.taus is None else 4

    def check(self, settings: ArrayLike) -> Float64:
        """Return settings as rows of λ and, if there is one, τ.

        Raises
        ------
        ValueError
            When a setting lies outside the range.
        """
        rows = np.atleast_2d(np.asarray(settings, dtype=np.float64))
        ends = {"fairness_weight": (0.0, self.max_fairness_weight)}
        if self.taus is not None:
            ends["tau"] = self.taus
        if rows.shape[1] != len(ends):
            message = f"A setting of this plane is {list(ends)}"
            raise ValueError(f"{message}, got {rows.shape[1]} values.")
        for values, (name, (low, high)) in zip(rows.T, ends.items(), strict=True):
            outside = values[~((values >= low) & (values <= high))]
            if len(outside):
                message = f"`{name}` must be between {low:g} and {high:g}, the range of"
                raise ValueError(
                    f"{message} the plane, got {outside[0]:g}; train a plane with a "
                    "wider range, or this setting exactly."
                )
        return rows

    def draw(self, n: int, random: np.random.Generator) -> Float64:
        """Return ``n`` settings, λ uniform and τ uniform in log, each stratified.

        Each of ``n`` equal parts of either axis holds one setting, so that every
        minibatch sees both ends of both.
        """
        n_axes = 1 if self.taus is None else 2
        parts = np.stack([random.permutation(n) for _ in range(n_axes)], axis=1)
        share = (parts + random.random(parts.shape)) / n
        settings = self.max_fairness_weight * share
        if self.taus is not None:
            low, high = self.taus
            settings[:, 1] = low * (high / low) ** share[:, 1]
        return settings

    def features(self, settings: Float64) -> Float64:
        r"""Return what the networks are told of settings, each between -1 and 1.

        :math:`\lambda` and :math:`\log(1 + \lambda)`, :math:`\tau` and
        :math:`\log \tau`, each scaled to its range.
        """
        weight, top = settings[:, 0], self.max_fairness_weight
        columns = [weight / top, np.log1p(weight) / np.log1p(top)]
        if self.taus is not None:
            (low, high), tau = self.taus, settings[:, 1]
            columns.append((tau - low) / (high - low))
            columns.append(np.log(tau / low) / np.log(high / low))
        return 2 * np.stack(columns, axis=1) - 1


@dataclass(frozen=True)
class PlaneNetwork:
    r"""A ReLU network whose layers are scaled and shifted by a setting c = (λ, τ).

    With :math:`m(c)` a small network of the setting's features, layer by layer

    .. math:: z_l = (W_l^\top a_{l-1} + b_l) \, (1 + m_l(c)) + m'_l(c) .

    At a fixed c the scale and the shift fold into weight and bias, which leaves an
    ordinary `Network`.

    Parameters
    ----------
    weights, biases : sequence of ndarray
        As of `Network`, before scale and shift.
    modulators : sequence of ndarray
        Weight and bias of the hidden and of the output layer of m, whose output holds
        the scales of all layers, then their shifts.
    range : SettingRange
    """

    weights: Sequence[Floats]
    biases: Sequence[Floats]
    modulators: Sequence[Floats]
    range: SettingRange

    def fold(self, setting: ArrayLike) -> Network:
        """Return the network at one setting, λ or (λ, τ).

        Raises
        ------
        ValueError
            When it lies outside the range the plane was trained over.
        """
        scales, shifts = self._modulation(self.range.check(setting))
        layers = zip(self.weights, self.biases, scales, shifts, strict=True)
        folded = [(w * s[0], b * s[0] + t[0]) for w, b, s, t in layers]
        return Network(
            [weight.astype(np.float32) for weight, _ in folded],
            [bias.astype(np.float32) for _, bias in folded],
        )

    def logits(self, X: NDArray[np.floating], settings: ArrayLike) -> Float64:
        """Return the outputs for ``X`` at each of several settings.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        settings : array-like of shape (n_settings, 1 or 2)
            Rows of λ and, if the method has it, τ.

        Returns
        -------
        ndarray of shape (n_settings, n_samples)
        """
        rows = self.range.check(settings)
        return np.stack([self.fold(setting).logits(X) for setting in rows])

    def arrays(self, prefix: str = "") -> dict[str, Floats]:
        """Return all there is to know by name, ready for a safetensors file."""
        taus = self.range.taus or ()
        ends = np.array([self.range.max_fairness_weight, *taus], dtype=np.float64)
        parts = {"weight": self.weights, "bias": self.biases, "m": self.modulators}
        named = {
            f"{prefix}{name}_{i}": array
            for name, arrays in parts.items()
            for i, array in enumerate(arrays)
        }
        return {**named, f"{prefix}range": ends}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats], prefix: str = "") -> Self:
        """Return the network whose ``arrays(prefix)`` these are, among others."""

        def numbered(name: str) -> list[Floats]:
            known = f"{prefix}{name}_"
            n = sum(key.startswith(known) for key in arrays)
            return [arrays[f"{known}{i}"] for i in range(n)]

        top, *taus = arrays[f"{prefix}range"].tolist()
        found = SettingRange(top, (taus[0], taus[1]) if taus else None)
        return cls(numbered("weight"), numbered("bias"), numbered("m"), found)

    def _modulation(self, settings: Float64) -> tuple[list[Float64], list[Float64]]:
        """Return scales and shifts of each layer, one row per setting."""
        first, first_bias, last, last_bias = self.modulators
        hidden = np.maximum(self.range.features(settings) @ first + first_bias, 0)
        n = sum(len(bias) for bias in self.biases)
        scale, shift = np.split(hidden @ last + last_bias, [n], axis=1)
        ends = np.cumsum([len(bias) for bias in self.biases])[:-1]
        return np.split(1 + scale, ends, axis=1), np.split(shift, ends, axis=1)


@dataclass(frozen=True)
class Plane:
    """A method trained for every setting at once: predictor and ratio network.

    Parameters
    ----------
    predictor : PlaneNetwork
    ratio : PlaneNetwork, optional
        Of methods that weight rows.
    knows_target : bool
        Whether the ratio network sees the outcome.
    conditional : bool
        Whether its weights average to one within each group, not only over all rows.
    """

    predictor: PlaneNetwork
    ratio: PlaneNetwork | None = None
    knows_target: bool = False
    conditional: bool = True

    def weights(
        self,
        setting: ArrayLike,
        X: NDArray[np.floating],
        y: NDArray[np.integer],
        *,
        sensitive_features: ArrayLike,
    ) -> Float32 | None:
        """Return r of rows at a setting; None for a method without.

        Of mean one over all these rows of each group, as `ROAD.ratio_` is over the
        training rows.

        Parameters
        ----------
        setting : array-like
            λ and τ.
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Outcomes, 0 or 1.
        sensitive_features : array-like of shape (n_samples,)
        """
        if self.ratio is None:
            return None
        groups, codes = encode_groups(sensitive_features, X)
        indicator = np.eye(len(groups))[codes]
        group = indicator[:, 1:] if len(groups) == 2 else indicator
        target = [np.asarray(y)[:, None]] if self.knows_target else []
        inputs = np.concatenate([X, group, *target], axis=1)
        logits = self.ratio.fold(setting).logits(inputs)
        parts = codes if self.conditional else np.zeros_like(codes)
        ratio = np.empty(len(X))
        for part in np.unique(parts):
            rows = parts == part
            ratio[rows] = rows.sum() * softmax(logits[rows])
        return ratio.astype(np.float32)

    def arrays(self) -> dict[str, Floats]:
        """Return all there is to know by name, ready for a safetensors file."""
        known = self.predictor.arrays("predictor_")
        if self.ratio is not None:
            known |= self.ratio.arrays("ratio_")
        flags = np.array([self.knows_target, self.conditional], dtype=np.float32)
        return {**known, "flags": flags}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """Return the plane whose ``arrays()`` these are."""
        knows_target, conditional = map(bool, arrays["flags"])
        ratio = None
        if "ratio_range" in arrays:
            ratio = PlaneNetwork.from_arrays(arrays, "ratio_")
        predictor = PlaneNetwork.from_arrays(arrays, "predictor_")
        return cls(predictor, ratio, knows_target, conditional)
