"""How far mean scores of true groups can be from those of the recorded ones."""

from collections.abc import Callable, Sequence

import pandas as pd

from fairdash._wording import change, number
from fairdash.audits.certificates import Decisions
from fairdash.audits.noise import Noise
from fairdash.methods.noisy_groups import wasserstein_bounds


def score_shifts(seeds: Sequence[Decisions], noise: Noise) -> pd.DataFrame | None:
    """Return `wasserstein_bounds` of a model's scores by group, averaged over seeds.

    None where true groups are not known for every row, the groupings have other groups,
    or there are no scores. Raises ValueError when rows of a seed lack a group.
    """
    if noise.true is None or noise.bounds is None:
        return None
    tables = []
    for one in seeds:
        if one.scores is None:
            return None
        groups = (labels[one.where].astype(str) for labels in (noise.true, noise.noisy))
        tables.append(wasserstein_bounds(one.scores, *groups))
    return pd.concat(tables).groupby(level=0).mean()


def shift_table(shifts: pd.DataFrame, label: Callable[[str], str]) -> pd.DataFrame:
    """Return what `score_shifts` found as it is shown, groups by their ``label``."""
    return pd.DataFrame(
        {
            "Group": [label(str(name)) for name in shifts.index],
            "γ": [number(value) for value in shifts["radius"]],
            "Found": [change(v) for v in shifts["gap"]],
            "Wasserstein": [number(v) for v in shifts["wasserstein"]],
            "γ × range": [number(value) for value in shifts["tv_bound"]],
        }
    )
