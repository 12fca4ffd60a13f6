"""What linked pictures of a sweep are drawn from: a small summary of every setting.

A page sends it to the browser once. There a hand on a slider moves through all settings
without a question to the server. It holds aggregates alone, never rows, is made once a
sweep and kept beside its run.

Every number is one that another page shows too: gaps and their intervals are those of
Local fairness (`fairdash.audits.gaps.local_by_measure`), accuracy that of
`fairdash.metrics.evaluate`, and weights are those that training left.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.audits.choices import front_points
from fairdash.audits.gaps.local import LocalResult
from fairdash.audits.gaps.measured import local_by_measure
from fairdash.audits.sweeps import StoredSweep
from fairdash.audits.trials.models import Setting, settings
from fairdash.audits.trials.rows import rows_to_train_on, rows_used
from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import weights
from fairdash.store import Store, TrialRecord
from fairdash.sweep import BASELINE, PARITY

VERSION = 1  # of the form below: a summary of another one is made anew
WORST, EFFECTIVE = "worst_1_di", "effective"
# edges of the bins that weights r are counted in, 20 to a decade; ends hold the rest
BINS: tuple[float, ...] = tuple((10.0 ** np.linspace(-3, 2, 101)).tolist())
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_SUBGROUPS = 12
_FEWEST = 20  # rows of a cell whose weights have quantiles: fewer would show rows
_DIGITS = 6  # of a share: more than any text shows
_METRICS = (
    "accuracy",
    PARITY,
    WORST,
    "worst_2_di",
    "worst_3_di",
    "equalized_odds_difference",
    "equal_opportunity_difference",
    "demographic_parity_ratio",
    "balanced_accuracy",
    "auc",
    "log_loss",
)


def summary(sweep: StoredSweep) -> dict[str, Any]:
    """Return what linked pictures of a sweep are drawn from, as plain JSON.

    Returns
    -------
    dict
        ``seeds``, ``groups`` and ``subgroups`` (at most 12, those with the widest gaps
        of any setting, in their order; ``n_subgroups`` counts all), ``n_test`` and
        ``n_train`` rows, ``plain`` (place of the unconstrained model, or None),
        ``bins`` of weights and ``methods``: each with key, label, colour role and axes.

        ``settings``, by place in `StoredSweep.result`: the method's place, ``label``,
        ``at`` (places on its axes), ``metrics`` by name (mean over seeds), ``seeds``
        (of accuracy, gap and largest local gap, one a seed), ``intervals`` of these,
        ``chance`` (the largest local gap by chance), ``idle`` ("alike" or "guessing",
        "" where the model decides) and ``alike``, its words, ``quiet`` (by gap: not
        told from the plain model), ``local`` (gap and ends by subgroup, None where not
        estimable), ``rates`` (by subgroup and group) and ``weights``: None, or the
        shares of a group's training rows by bin, from ``first_bin`` on, and the
        quantiles of r by group, of all rows and by subgroup.

        What is undefined is None.
    """
    result = sweep.result
    quiet = {
        gap: front_points(sweep, (gap, "accuracy"), 0.0)["quiet"].tolist()
        for gap in (WORST, PARITY)
    }
    facts = [_Facts.of(sweep, place) for place in range(len(result.means))]
    names = _shown_subgroups([each.local for each in facts])
    methods = list(dict.fromkeys(result.means["method"]))
    axes = {method: result.axes(method) for method in methods}
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    train_rows = sweep.run.spec.get("train_rows")
    every = facts[0].local.own["subgroup"].astype(str).tolist()
    plain = [i for i, m in enumerate(result.means["method"]) if m == BASELINE]
    return {
        "version": VERSION,
        "seeds": sorted(map(int, set(result.rows["seed"]))),
        "groups": dataset.group_names,
        "subgroups": names,
        "n_subgroups": len(every),
        "n_test": round(float(facts[0].local.row["n"])),
        "n_train": rows_used(sweep.store, sweep.run.dataset_id, train_rows),
        "plain": plain[0] if plain else None,
        "bins": [float(f"{edge:.4g}") for edge in BINS],
        "methods": [_method(method, axes[method]) for method in methods],
        "settings": [
            {
                "method": methods.index(each.setting.method),
                "label": result.labels[place],
                "at": _at(result.means.iloc[place], axes[each.setting.method]),
                **each.summary(names, dataset.group_names),
                "quiet": {gap: bool(flags[place]) for gap, flags in quiet.items()},
            }
            for place, each in enumerate(facts)
        ],
    }


def packed(sweep: StoredSweep) -> bytes:
    """Return `summary` as compressed JSON (zlib), made once and kept with the run.

    A run that is not over is summarised anew, as are its models when their number
    grows.
    """
    if not sweep.run.over:
        return _packed(summary(sweep))
    roles = sweep.store.dataset(sweep.run.dataset_id).roles
    follows_from = [VERSION, sweep.rule.text, roles.positive_is, len(sweep.result.rows)]
    name = sha256(json.dumps(follows_from).encode()).hexdigest()[:16]
    kept = sweep.store.summary(sweep.run.id, name)
    if kept is None:
        kept = _packed(summary(sweep))
        sweep.store.keep_summary(sweep.run.id, name, kept)
    return kept


def unpacked(content: bytes) -> dict[str, Any]:
    """Return the summary that `packed` wrote."""
    read: dict[str, Any] = json.loads(zlib.decompress(content))
    return read


def _packed(made: dict[str, Any]) -> bytes:
    text = json.dumps(made, separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode(), 9)


@dataclass(frozen=True)
class _Facts:
    """What was measured of a setting: decisions on test rows, weights in training."""

    setting: Setting
    local: LocalResult
    metrics: dict[str, float]
    by_seed: dict[str, list[float]]
    idle: str
    alike: str
    weighed: "_Weights | None"

    @classmethod
    def of(cls, sweep: StoredSweep, place: int) -> "_Facts":
        store, data, where = sweep.store, sweep.run.dataset_id, sweep.subgroups
        (setting,) = settings(sweep.trials_at(place))
        local = local_by_measure(store, [setting], data, where)
        seeds = sweep.result.rows[sweep.result.place_of_row == place]
        seeds = seeds.sort_values("seed", kind="stable")
        means = sweep.result.means.iloc[place]
        names = *_METRICS, "accuracy_low", "accuracy_high"
        metrics = {name: float(means.get(f"test_{name}", np.nan)) for name in names}
        return cls(
            setting,
            local,
            metrics,
            {m: seeds[f"test_{m}"].tolist() for m in ("accuracy", PARITY, WORST)},
            *_idle(sweep, place),
            _Weights.of(store, data, setting, where),
        )

    def summary(self, names: Sequence[str], groups: Sequence[str]) -> dict[str, Any]:
        """Return the part of a setting in `summary` of the sweep."""
        row, own = self.local.row, self.local.own.set_index("subgroup").loc[list(names)]
        cells = self.local.by_group.set_index(["subgroup", "group"])["value"]
        every_cell = pd.MultiIndex.from_product([names, groups])
        rates = cells.reindex(every_cell).to_numpy().reshape(len(names), len(groups))
        ends = {
            "accuracy": [self.metrics["accuracy_low"], self.metrics["accuracy_high"]],
            PARITY: [row["overall_low"], row["overall_high"]],
            WORST: [row["worst_1_low"], row["worst_1_high"]],
        }
        effective = None if self.weighed is None else self.weighed.effective
        return {
            "metrics": {
                **{name: _number(self.metrics[name]) for name in _METRICS},
                EFFECTIVE: None if effective is None else _number(np.mean(effective)),
            },
            "seeds": {
                name: [_number(value) for value in values]
                for name, values in self.by_seed.items()
            },
            "intervals": {
                name: [_number(value) for value in pair] for name, pair in ends.items()
            },
            "chance": _number(self.local.chance),
            "idle": self.idle,
            "alike": self.alike,
            "local": [
                [_number(value) for value in gap] if estimable else None
                for *gap, estimable in own[
                    ["gap", "ci_low", "ci_high", "estimable"]
                ].itertuples(index=False)
            ],
            "rates": [[_number(rate) for rate in cells] for cells in rates],
            "weights": None if self.weighed is None else self.weighed.summary(names),
        }


@dataclass(frozen=True)
class _Weights:
    """The weights r of a setting, means over its seeds.

    Attributes
    ----------
    effective : tuple of float
        Effective over all training rows (Kish), one a seed.
    density : array of shape (n_groups, n_bins)
        Share of a group's rows in each bin of `BINS`.
    quantiles : dict of arrays of shape (n_groups, n_quantiles)
        By subgroup, None for all rows; NaN for a cell of few rows.
    """

    effective: tuple[float, ...]
    density: NDArray[np.float64]
    quantiles: dict[str | None, NDArray[np.float64]]

    @classmethod
    def of(
        cls, store: Store, dataset_id: str, setting: Setting, subgroups: Subgroups
    ) -> "_Weights | None":
        if not CATALOG[setting.method].gives_weights:
            return None
        effective, densities = [], []
        by_place: dict[str | None, list[NDArray[np.float64]]] = {}
        for trial in setting.trials:
            stored = store.artifact(trial.key).ratio()
            if stored is None:  # of an earlier version
                return None
            cells = _cells(store, dataset_id, trial, subgroups)
            ratio = stored.astype(np.float64)
            effective.append(weights.effective_rows(ratio) / len(ratio))
            densities.append([density_of(ratio[rows]) for rows in cells[None]])
            for place, groups in cells.items():
                quantiles = np.stack([_quantiles(ratio[rows]) for rows in groups])
                by_place.setdefault(place, []).append(quantiles)
        return cls(
            tuple(effective),
            np.mean(densities, axis=0),
            {place: np.mean(seeds, axis=0) for place, seeds in by_place.items()},
        )

    def summary(self, names: Sequence[str]) -> dict[str, Any]:
        """Return density and quantiles as plain numbers."""
        n_groups = len(self.density)
        filled = np.flatnonzero(self.density.any(axis=0))
        first = int(filled[0])
        density = self.density[:, first : filled[-1] + 1]
        missing = np.full((n_groups, len(QUANTILES)), np.nan)
        shown = [self.quantiles.get(name, missing) for name in names]
        return {
            "first_bin": first,
            "density": [[_number(v, 4) for v in group] for group in density],
            "all": _quantile_lists(self.quantiles[None]),
            "inside": [_quantile_lists(cells) for cells in shown],
        }


def _cells(
    store: Store, dataset_id: str, trial: TrialRecord, subgroups: Subgroups
) -> dict[str | None, list[NDArray[np.int64]]]:
    n_rows = store.artifact(trial.key).train_rows()
    return _training_cells(store, dataset_id, trial.seed, n_rows, subgroups)


@lru_cache(maxsize=8)
def _training_cells(
    store: Store, dataset_id: str, seed: int, n_rows: int | None, subgroups: Subgroups
) -> dict[str | None, list[NDArray[np.int64]]]:
    """Return places of training rows by subgroup (None: all rows) and group."""
    rows = rows_to_train_on(store, dataset_id, seed, n_rows, subgroups)
    group = rows.dataset.group[rows.where]
    n_groups = len(rows.dataset.group_names)
    by_group = [np.flatnonzero(group == code) for code in range(n_groups)]
    cells: dict[str | None, list[NDArray[np.int64]]] = {None: by_group}
    labels = np.asarray(rows.groups["subgroups"].astype(object))
    for name in pd.unique(labels[pd.notna(labels)]):
        inside = labels == name
        cells[str(name)] = [of_group[inside[of_group]] for of_group in by_group]
    return cells


def density_of(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of rows in each bin of `BINS`; the ends hold the rest."""
    inside = np.clip(ratio, BINS[0], BINS[-1])
    counted = np.histogram(inside, bins=np.asarray(BINS))[0]
    return counted / max(len(ratio), 1)


def _quantiles(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(ratio) < _FEWEST:
        return np.full(len(QUANTILES), np.nan)
    return np.quantile(ratio, QUANTILES)


def _quantile_lists(cells: NDArray[np.float64]) -> list[list[float | None] | None]:
    return [
        None if np.isnan(group).any() else [float(f"{value:.3g}") for value in group]
        for group in cells
    ]


def _idle(sweep: StoredSweep, place: int) -> tuple[str, str]:
    """Return which fact makes a setting's gaps say nothing, and its words; "" for none.

    Validation rows judge it, then test rows.
    """
    for part, where in (("validation", ""), ("test", " on test rows")):
        deciding = sweep.result.deciding(place, part)
        if deciding.idle:
            fact = "alike" if deciding.alike else "guessing"
            return fact, f"{deciding.mark()}{where}"
    return "", ""


def _shown_subgroups(local: Sequence[LocalResult]) -> list[str]:
    gaps = pd.concat([each.own[["subgroup", "gap"]] for each in local])
    order = local[0].own["subgroup"].astype(str).tolist()
    widest = gaps.groupby(gaps["subgroup"].astype(str))["gap"].max()
    shown = set(widest.nlargest(MOST_SUBGROUPS).index)
    return [name for name in order if name in shown]


def _method(key: str, axes: dict[str, list[Any]]) -> dict[str, Any]:
    method = CATALOG[key]
    params = {param.name: param for param in method.params}
    return {
        "key": key,
        "label": method.label,
        "colour_role": method.colour_role,
        "axes": [
            {
                "name": name,
                "title": params[name].title,
                "letter": params[name].letter,
                "help": params[name].help,
                "values": [
                    value if isinstance(value, str) else f"{value:.10g}"
                    for value in values
                ],
            }
            for name, values in axes.items()
        ],
    }


def _at(row: "pd.Series[Any]", axes: dict[str, list[Any]]) -> list[int]:
    return [values.index(row[name]) for name, values in axes.items()]


def _number(value: Any, digits: int = _DIGITS) -> float | None:
    return round(float(value), digits) if np.isfinite(value) else None
