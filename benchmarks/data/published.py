"""What papers set on public tables: a configuration as its paper has it.

    python benchmarks/data/published.py law.yaml > law_paper.yaml
    fairdash run law_paper.yaml

A method's effort "paper" is its schedule wherever the paper gives one for all tables.
What differs from table to table is declared here.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairdash.datasets import PUBLIC, Roles, Subgroups
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.sweep._spec import Scalar

Params = Mapping[str, Scalar | tuple[Scalar, ...]]
WEIGHTS = tuple(np.linspace(0, 5, 20).round(2).tolist())
# at τ = 0 all weight goes to one row of a group: the paper's grid starts beyond it
TAUS = tuple(np.linspace(0.1, 1, 10).round(2).tolist())

_RATES = (0.001, 0.01, 0.1)
# step sizes that Wang et al. searched, 36 settings
SEARCHED_RATES = {
    "learning_rate": _RATES,
    "multiplier_rate": (0.25, 0.5, 1.0, 2.0),
    "adversary_rate": _RATES,
}


@dataclass(frozen=True)
class Published:
    """What one paper sets on one public table.

    Attributes
    ----------
    params : mapping of method to mapping
        Beyond the method's effort "paper"; several values are the paper's grid.
    sensitive_feature : str
        Where it is not that of the table's roles.
    splits : int, optional
        How many the paper has.
    apart : str
        A sentence: what the paper does otherwise that these settings do not bring.
    """

    paper: str
    table: str
    params: Mapping[str, Params]
    scaling: str = "standard"
    sensitive_feature: str = ""
    splits: int | None = None
    apart: str = ""

    @property
    def subgroups(self) -> Subgroups | None:
        """Return the paper's subgroups of the table, None where it has none."""
        return PUBLIC[self.table].age_bins if "road" in self.params else None

    def fits(self, roles: Roles) -> bool:
        """Tell whether roles are of this table, to the paper's outcome and groups.

        The columns it describes subgroups by must be there and more than half of its
        features; a table is known by its columns, wherever the file came from.
        """
        public = PUBLIC[self.table].roles
        sensitive = self.sensitive_feature or public.sensitive_feature
        present = {*roles.features, *roles.subgroup_columns}
        needed = self.subgroups.columns if self.subgroups else ()
        return (
            (roles.target, roles.sensitive_feature) == (public.target, sensitive)
            and present.issuperset(needed)
            and 2 * len(present.intersection(public.features)) > len(public.features)
        )


def _road(table: str, n_epochs: int, batch_size: int, **more: Any) -> Published:
    """Return settings of the ROAD paper and its public code, appendix A.5.4."""
    common: dict[str, Any] = {"batch_size": batch_size, **more.pop("common", {})}
    swept = {**common, "fairness_weight": WEIGHTS}
    local = {**swept, "tau": TAUS}
    schedule = {"n_epochs": n_epochs}
    params: dict[str, Params] = {
        "unconstrained": {"batch_size": batch_size, **schedule},
        "adversarial": {**swept, **schedule},
        "fad": {**swept, **schedule},
        "road": {**local, **schedule},
        "broad": local,  # 175 epochs on every table
    }
    return Published("Grari et al. (ICLR 2024)", table, params, **more)


def _noisy(table: str, sensitive_feature: str, **params: Scalar) -> Published:
    """Return settings of Wang et al., appendix F, with the grids they searched."""
    searched = dict(SEARCHED_RATES)
    adversary = {"adversary_rate": searched.pop("adversary_rate")}
    play = {**searched, **params}
    return Published(
        "Wang et al. (NeurIPS 2020)",
        table,
        {
            "noisy_naive": play,
            "noisy_dro": {**play, **adversary},
            "noisy_soft": {**play, **adversary},
        },
        sensitive_feature=sensitive_feature,
        splits=10,
        apart="The paper cuts every number into four parts of as many rows.",
    )


def _log_loss(table: str, apart: str = "") -> Published:
    """Return settings of the experiments of Rezaei et al."""
    penalties = (0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
    return Published(
        "Rezaei et al. (AAAI 2020)",
        table,
        {"fair_log_loss": {"alpha": penalties}},
        splits=20,
        apart=apart,
    )


_ODDS = {"common": {"constraints": "equalized_odds"}}
_HUNDRED = {"predictor_layers": "wide"}
PUBLISHED: tuple[Published, ...] = (
    _road("compas", 100, 1024, apart="The paper has a column for every charge."),
    _road("law", 250, 1024, scaling="minmax"),
    _road("german", 100, 128, scaling="minmax"),
    _road(
        "adult",
        100,
        512,
        **_ODDS,
        apart="The paper has nine features: no years of education, no capital gain "
        "and no capital loss.",
    ),
    _noisy("adult", "race", constraints="true_positive_rate_parity", slack=0.05),
    _noisy("credit", "education", constraints="equalized_odds", slack=0.03),
    _log_loss("compas", "The paper has two races alone."),
    _log_loss("adult"),
    Published(
        "Yurochkin and Sun (ICLR 2021)",
        "adult",
        {
            "sensei": {**_HUNDRED, "fairness_weight": (5.0, 20.0, 40.0)},
            "sensr": _HUNDRED,
            "clp": {**_HUNDRED, "fairness_weight": (5.0, 20.0, 40.0)},
        },
        splits=10,
        apart="The paper has 41 columns, of the complete rows.",
    ),
)


def published_for(roles: Roles, method: str) -> Published | None:
    """Return what a paper sets for a method on the table with these roles.

    None where the table is no public one, or no paper gives settings for it.
    """
    return next(
        (
            published
            for published in PUBLISHED
            if method in published.params and published.fits(roles)
        ),
        None,
    )


def as_published(spec: SweepSpec) -> SweepSpec:
    """Fill what a specification leaves open as the paper has it on its public table.

    What was given stays: parameters, effort, scaling, subgroups and seeds. Methods that
    no paper trained on the table are left alone.

    Raises ValueError when no method has published settings on the table.
    """
    roles = spec.data.roles
    published = {
        grid.method: published_for(roles, grid.method) for grid in spec.methods
    }
    papers = [paper for paper in published.values() if paper]
    if not papers:
        tables = sorted({f"{PUBLIC[paper.table].title}" for paper in PUBLISHED})
        raise ValueError(
            f"No paper gives settings for {', '.join(published)} on a table with "
            f"outcome {roles.target!r} and sensitive feature "
            f"{roles.sensitive_feature!r}; "
            f"there are some on {', '.join(tables)}."
        )
    main = papers[0]
    filled: dict[str, Any] = {
        "methods": tuple(
            _filled(grid, published[grid.method]) for grid in spec.methods
        ),
        "scaling": main.scaling,
        "subgroups": main.subgroups or spec.subgroups,
        "seeds": tuple(range(main.splits)) if main.splits else spec.seeds,
    }
    fields = spec.model_fields_set - {"methods"}
    return spec.model_copy(
        update={name: value for name, value in filled.items() if name not in fields}
    )


def _filled(grid: MethodGrid, known: Published | None) -> MethodGrid:
    if known is None:
        return grid
    params = {**known.params[grid.method], **grid.params}
    effort = grid.effort if "effort" in grid.model_fields_set else "paper"
    return MethodGrid(method=grid.method, params=params, effort=effort)


if __name__ == "__main__":
    print(as_published(SweepSpec.from_yaml(Path(sys.argv[1]))).to_yaml())
