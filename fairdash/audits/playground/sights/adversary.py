"""The adversary's guess of the group, and the weights that lean on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._wording import percent
from fairdash.audits.playground.encoding import as_bytes, as_numbers
from fairdash.audits.playground.grid import grid_points
from fairdash.audits.playground.people import People
from fairdash.audits.playground.sights.base import MOST_WEIGHT, Sight
from fairdash.methods import FAD, AdversarialDebiasing

GUESS_SIDE = 32  # grid points of the guess along each feature
N_BINS = 20  # of the output, in the picture beside the plane


@dataclass(frozen=True)
class Guess(Sight):
    """What an adversary guesses of the group, from what it reads of the model.

    Attributes
    ----------
    surface : ndarray, (GUESS_SIDE, GUESS_SIDE)
        Its probability of the second group at points of the plane. With equalized
        odds, of people with outcome 1 there.
    outputs : ndarray, (2, N_BINS)
        Share of each group's people by P(1), from 0 to 1.
    guesses : ndarray, (N_BINS,)
        Mean guess of the people of a bin; NaN where there is nobody.
    reads : str
        What it reads, in words.
    right, usual : float
        Share of people whose group it guesses, and of those in the larger group.
    share : float
        Of the second group.
    weights : ndarray, (n_people,), optional
        r of ROAD and BROAD; one on average within each group.
    """

    kind: ClassVar[str] = "guess"
    title: ClassVar[str] = "What the adversary sees"

    surface: FloatArray
    outputs: FloatArray
    guesses: FloatArray
    reads: str
    right: float
    usual: float
    share: float
    weights: NDArray[np.floating] | None

    @classmethod
    def of(cls, model: AdversarialDebiasing, people: People) -> Self:
        """Return what the adversary of a trained model guesses."""
        points = people.at(grid_points(GUESS_SIDE))
        surface = model.guess_groups(points, np.ones(len(points)))[:, 1]
        guess = model.guess_groups(people.features, people.outcome)[:, 1]
        positive = model.predict_proba(people.features)[:, 1]
        share = float(people.group.mean())
        outputs, guesses = _by_output(positive, guess, people.group)
        return cls(
            surface.reshape(GUESS_SIDE, GUESS_SIDE),
            outputs,
            guesses,
            _reads(model),
            right=float(((guess > 0.5) == people.group).mean()),
            usual=max(share, 1 - share),
            share=share,
            weights=model.ratio_,
        )

    def key(self, names: Sequence[str]) -> str:
        """Return what the marks in the plane mean."""
        background = (
            "Background: the group that the adversary guesses there, in that group's "
            "colour; pale where it cannot tell."
        )
        if self.weights is None:
            return background
        return f"{background} Larger points: more weight r."

    def caption(self, names: Sequence[str]) -> str:
        """Return how often the adversary is right, and where the weight lies."""
        adversary = (
            f"The adversary reads {self.reads}. It guesses the group of "
            f"{percent(self.right)} of people right; {percent(self.usual)} are in the "
            "larger group."
        )
        if self.weights is None:
            return adversary
        share = _share_with_half(self.weights)
        return f"{adversary} Half of the weight r is on {percent(share)} of people."

    def payload(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON."""
        numbers = {
            "guess": as_bytes(self.surface),
            "share": as_numbers(self.share),
            "outputs": as_numbers(self.outputs),
            "guesses": as_numbers(self.guesses),
        }
        if self.weights is not None:
            numbers["weights"] = as_bytes(self.weights, MOST_WEIGHT)
        return numbers


def _share_with_half(weights: NDArray[np.floating]) -> float:
    """Return the smallest share of people who have half of all weight."""
    falling = np.sort(weights.astype(np.float64))[::-1]
    reached = np.cumsum(falling) >= falling.sum() / 2
    return float((reached.argmax() + 1) / len(falling))


def _reads(model: AdversarialDebiasing) -> str:
    what = "the model's output"
    if isinstance(model, FAD):
        what = "the model's last hidden layer, not its output"
    if model.constraints == "equalized_odds":
        return f"{what}, and the outcome"
    return what


def _by_output(
    positive: FloatArray, guess: FloatArray, group: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Return shares of both groups, and the mean guess, by bins of the output."""
    bins = np.minimum((positive * N_BINS).astype(np.int64), N_BINS - 1)
    sizes = np.stack(
        [np.bincount(bins[group == code], minlength=N_BINS) for code in range(2)]
    )
    outputs = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1)
    n = sizes.sum(axis=0)
    totals = np.bincount(bins, guess, N_BINS)
    guesses = np.where(n > 0, totals / np.maximum(n, 1), np.nan)
    return outputs, guesses
