"""Small tables of decisions with everything that estimates have to cope with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash._counts import RowCounts

SAMPLINGS = ("plain", "weights", "zero weights", "units", "weights and units", "counts")


@dataclass(frozen=True)
class Table:
    """Rows of a generated table; ``sampling`` is what functions of metrics take."""

    kind: str
    y: Any
    decided: Any
    scores: Any
    groups: Any
    subgroups: Any
    sampling: dict[str, Any]

    @property
    def people(self) -> Any:
        """How many people each row stands for."""
        weight = self.sampling.get("sample_weight")
        return np.asarray(weight) if self.kind == "counts" else np.ones(len(self.y))


def generated(seed: int) -> Table:
    """Return the table of a seed.

    Seeds go round the ways to sample. Two to twelve groups; subgroups of very unlike
    sizes, some without rows of a group and some rows in none; scores with many ties, of
    which about a third are 0.
    """
    rng = np.random.default_rng(seed)
    kind = SAMPLINGS[seed % len(SAMPLINGS)]
    n_rows = int(rng.integers(60, 900))
    n_groups = int(rng.integers(2, 13))
    n_subgroups = int(rng.integers(1, 7))
    # every group has a row; sizes fall off, so some cells are empty
    shares = rng.dirichlet(np.full(n_groups, 0.8))
    code = rng.choice(n_groups, n_rows, p=shares)
    code[:n_groups] = np.arange(n_groups)
    subgroup = rng.choice(n_subgroups, n_rows, p=rng.dirichlet(np.ones(n_subgroups)))
    names = np.array([f"part {k}" for k in range(n_subgroups)], dtype=object)[subgroup]
    names[rng.random(n_rows) < 0.05] = None
    y = (rng.random(n_rows) < rng.uniform(0.05, 0.8)).astype(np.int8)
    digits = int(rng.integers(1, 4))
    scores = np.round(rng.beta(1 + y, 2 - y), digits)
    scores[rng.random(n_rows) < 0.3] = 0.0
    decided = (scores > rng.uniform(0.2, 0.7)).astype(np.int8)
    return Table(
        kind,
        y,
        decided,
        scores,
        np.array([f"group {k:02d}" for k in range(n_groups)])[code],
        pd.Categorical(names, categories=sorted(set(names) - {None})),
        _sampling(kind, n_rows, rng),
    )


def _sampling(kind: str, n_rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return weights, units or counts of people."""
    if kind == "plain":
        return {}
    if kind == "counts":
        counts = rng.integers(0, 30, n_rows).astype(np.float64)
        return {"sample_weight": counts.view(RowCounts)}
    sampling: dict[str, Any] = {}
    if "weights" in kind:
        weight = rng.lognormal(0, 0.7, n_rows)
        if kind == "zero weights":
            weight[rng.random(n_rows) < 0.2] = 0.0
        sampling["sample_weight"] = weight
    if "units" in kind:
        rows_a_unit = int(rng.choice([4, 20]))
        sampling["cluster"] = rng.integers(0, max(n_rows // rows_a_unit, 2), n_rows)
    return sampling
