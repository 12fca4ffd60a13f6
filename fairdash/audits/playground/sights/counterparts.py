"""Counterparts that individual fairness trains against."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._wording import gap_size
from fairdash.audits.playground.encoding import as_bytes, as_places
from fairdash.audits.playground.people import People
from fairdash.audits.playground.sights.base import Sight
from fairdash.methods import CLP, SenSeI, SenSR

N_ARROWS = 40  # people of whom the counterpart is drawn


@dataclass(frozen=True)
class Counterparts(Sight):
    """People, and the counterparts that training compares them with.

    Attributes
    ----------
    who : ndarray of int, (n_arrows,)
        People of whom a browser draws the counterpart, spread over all.
    ends : ndarray, (n_people, 2)
        Where counterparts stand in the plane, which they may leave.
    before, after : ndarray, (n_people,)
        P(1) of the person and of the counterpart.
    choice : str
        Which counterpart it is, in words.
    """

    kind: ClassVar[str] = "counterparts"
    title: ClassVar[str] = "Output of people and of their counterparts"

    who: NDArray[np.int64]
    ends: FloatArray
    before: FloatArray
    after: FloatArray
    choice: str

    @classmethod
    def of(cls, model: SenSeI | SenSR | CLP, people: People) -> Self:
        """Return the counterparts of people under a trained model."""
        counterparts = model.counterparts(people.features, people.outcome)
        n_arrows = min(N_ARROWS, len(people))
        return cls(
            np.linspace(0, len(people) - 1, n_arrows).astype(np.int64),
            counterparts[:, :2],
            model.predict_proba(people.features)[:, 1],
            model.predict_proba(counterparts)[:, 1],
            _choice(model),
        )

    def key(self, names: Sequence[str]) -> str:
        """Return what the marks in the plane mean."""
        return (
            f"An arrow leads from a person to {self.choice}; at the edge it goes on "
            "outside the plane."
        )

    def caption(self, names: Sequence[str]) -> str:
        """Return how far outputs of the two differ."""
        change = float(np.abs(self.after - self.before).mean())
        return (
            "Training compares each person with somebody who should be treated alike: "
            f"{self.choice}. Their outputs differ by {gap_size(change)} on average."
        )

    def payload(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON."""
        return {
            "who": self.who.tolist(),
            "ends": as_places(self.ends[self.who]),
            "before": as_bytes(self.before[self.who]),
            "after": as_bytes(self.after[self.who]),
        }


def _choice(model: SenSeI | SenSR | CLP) -> str:
    if isinstance(model, SenSeI):
        return "the one whose output differs most"
    if isinstance(model, SenSR):
        return "the one about whom the model is most wrong"
    return (
        "the same person with what tells the group taken from another, drawn at random"
    )
