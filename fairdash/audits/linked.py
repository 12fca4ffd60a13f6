"""The data of the linked pictures of a sweep: a small summary of every setting.

A page sends it to the browser once. There a hand on a slider moves through all settings
without a question to the server. It holds aggregates alone, never rows, is made once a
sweep and kept beside its run.

Every number is one that another page shows too: gaps and their intervals are those of
Local fairness (`fairdash.audits.gaps.local_by_measure`), accuracy that of
`fairdash.metrics.evaluate`, and weights are those that training left.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import _metric_names
from fairdash._metric_names import ODDS, OPPORTUNITY, PARITY
from fairdash.audits import linked_form, weight_spreads
from fairdash.audits.choices import front_points, own_metrics
from fairdash.audits.gaps.by_subgroup import local_by_measure
from fairdash.audits.linked_form import Form, form_of
from fairdash.audits.sweeps import StoredSweep
from fairdash.audits.trials.memo import Memo, memoised
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.sizes import rows_used
from fairdash.audits.weight_spreads import WeightedTrial
from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import weight_spread, weights
from fairdash.store import Store
from fairdash.sweep import BASELINE

WORST = _metric_names.WORST
EFFECTIVE = "effective"
# edges of the bins that weights r are counted in; the ends hold the rest
BINS: tuple[float, ...] = tuple(weight_spread.EDGES.tolist())
QUANTILES = weight_spread.LEVELS
_FEWEST = 20  # rows of a cell whose weights have quantiles: fewer would show rows
_DIGITS = 6  # of a share: more than any text shows
_GROWING = Memo(8)  # of sweeps that still run, until another model finishes
_METRICS = (
    "accuracy",
    PARITY,
    WORST,
    "worst_2_di",
    "worst_3_di",
    ODDS,
    OPPORTUNITY,
    "demographic_parity_ratio",
    "balanced_accuracy",
    "auc",
    "log_loss",
)


def first_measure(sweep: StoredSweep) -> str:
    """Return the measure that pictures open on.

    The largest local gap, else the gap over all rows, where no subgroup has rows enough
    to tell a gap.
    """
    estimable = sweep.result.means[f"test_{WORST}"].notna().any()
    return WORST if estimable else PARITY


def summary(sweep: StoredSweep) -> dict[str, Any]:
    """Return what linked pictures of a sweep are drawn from, as plain JSON.

    What was measured inside subgroups is made once and kept with the run, as is what a
    bundle brought: that is checked, and made anew where it does not fit the sweep.

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
        estimable), ``against`` (by subgroup the place of the one of two groups that is
        worse off, None where that is not clear), ``rates`` (by subgroup and group) and
        ``weights``: None, or the shares of a group's training rows by bin, from
        ``first_bin`` on, and the quantiles of r by group, of all rows and by subgroup.

        What is undefined is None.
    """
    form = (
        _kept(sweep)
        if sweep.run.over
        else _GROWING(lambda: _measured(sweep), sweep.run.id, *follows_from(sweep))
    )
    parts = form.model_dump(mode="json")
    inside = parts.pop("settings")
    whole = {**_results(sweep), **parts}
    for setting, measures in zip(whole["settings"], inside, strict=True):
        setting["metrics"][EFFECTIVE] = measures.pop("effective")
        setting["intervals"] |= measures.pop("intervals")
        setting |= measures
    return whole


def packed(sweep: StoredSweep) -> bytes:
    """Return `summary` as compressed JSON (zlib)."""
    return _compressed(
        json.dumps(summary(sweep), separators=(",", ":"), allow_nan=False)
    )


def unpacked(content: bytes) -> dict[str, Any]:
    """Return the summary that `packed` wrote."""
    content_read: dict[str, Any] = json.loads(zlib.decompress(content))
    return content_read


def own_scores(sweep: StoredSweep) -> list[dict[str, Any]]:
    """Return the reader's own scores beside the settings, on the same test rows.

    Returns
    -------
    list of dict
        label, colour_role, ``metrics`` (those that are defined) and their
        ``intervals``, means over seeds.
    """
    scores = []
    for row in own_metrics(sweep).to_dict("records"):
        metrics = {name: _number(row.get(name, np.nan)) for name in _METRICS}
        ends = {
            name: [_number(row.get(f"{name}_{end}", np.nan)) for end in ("low", "high")]
            for name in _METRICS
        }
        scores.append(
            {
                "label": row["label"],
                "colour_role": row["colour_role"],
                "metrics": {n: v for n, v in metrics.items() if v is not None},
                "intervals": {n: e for n, e in ends.items() if None not in e},
            }
        )
    return scores


def follows_from(sweep: StoredSweep) -> list[Any]:
    """Return what decides the summary of a run: it is known by it."""
    roles = sweep.store.dataset(sweep.run.dataset_id).roles
    return [
        linked_form.VERSION,
        sweep.rule.text,
        roles.positive_is,
        len(sweep.result.rows),
    ]


def _kept(sweep: StoredSweep) -> Form:
    """Return what was measured of a sweep that is over, as it is kept with its run."""
    text = json.dumps(follows_from(sweep))
    name = sha256(text.encode()).hexdigest()[:16]
    content = sweep.store.summary(sweep.run.id, name)
    form = None if content is None else form_of(content, sweep)
    if form is None:
        form = _measured(sweep)
        sweep.store.delete_summary(sweep.run.id, name)
        content = _compressed(form.model_dump_json())
        sweep.store.keep_summary(sweep.run.id, name, content)
    return form


def _compressed(text: str) -> bytes:
    return zlib.compress(text.encode(), 9)


def _results(sweep: StoredSweep) -> dict[str, Any]:
    """Return the part of the summary that follows from the rows of the result."""
    result = sweep.result
    run = sweep.run
    methods = list(dict.fromkeys(result.means["method"]))
    axes = {method: _axes(sweep, method) for method in methods}
    plain = [i for i, m in enumerate(result.means["method"]) if m == BASELINE]
    train_rows = run.spec.get("train_rows")
    return {
        "seeds": sorted(map(int, set(result.rows["seed"]))),
        "groups": list(sweep.store.dataset(run.dataset_id).group_names),
        "n_train": rows_used(sweep.store, run.dataset_id, train_rows),
        "plain": plain[0] if plain else None,
        "bins": [float(f"{edge:.4g}") for edge in BINS],
        "methods": [_method(method, axes[method]) for method in methods],
        "settings": [
            {
                "method": methods.index(method),
                "label": result.labels[place],
                "at": _at(result.means.iloc[place], axes[method]),
                **_metrics(sweep, place),
                **_idle(sweep, place),
            }
            for place, method in enumerate(result.means["method"])
        ],
    }


def _metrics(sweep: StoredSweep, place: int) -> dict[str, Any]:
    means = sweep.result.means.iloc[place]
    rows = sweep.result.rows[sweep.result.place_of_row == place]
    rows = rows.sort_values("seed", kind="stable")

    def mean(name: str) -> float | None:
        return _number(means.get(f"test_{name}", np.nan))

    return {
        "metrics": {name: mean(name) for name in _METRICS},
        "seeds": {
            name: _numbers(rows[f"test_{name}"]) for name in ("accuracy", PARITY, WORST)
        },
        "intervals": {
            name: [mean(f"{name}_low"), mean(f"{name}_high")]
            for name in _METRICS
            # Gaps inside subgroups have theirs from what is measured on the test rows;
            # runs of earlier versions have fewer.
            if name not in (PARITY, WORST) and f"test_{name}_low" in means
        },
    }


def _measured(sweep: StoredSweep) -> Form:
    """Return the part of the summary that is measured on test and training rows."""
    data = sweep.run.dataset_id
    dataset = sweep.store.dataset(data)
    favourable = dataset.roles.positive_is != "unfavourable"
    quiet = {
        gap: front_points(sweep, (gap, "accuracy"), 0.0)["quiet"].tolist()
        for gap in (WORST, PARITY)
    }
    facts = []
    for place in range(len(sweep.result.means)):
        (setting,) = sweep.settings_at(place)
        facts.append(_facts(sweep.store, data, sweep.subgroups, setting, favourable))
    names = _widest(facts)
    return Form.model_validate(
        {
            "version": linked_form.VERSION,
            "subgroups": names,
            "n_subgroups": len(facts[0].rates),
            "n_test": round(facts[0].n_test),
            "settings": [
                {
                    **item.summary(names, dataset.group_names),
                    "quiet": {gap: bool(flags[place]) for gap, flags in quiet.items()},
                }
                for place, item in enumerate(facts)
            ],
        }
    )


@dataclass(frozen=True)
class _Facts:
    """The measurements of a setting: decisions on test rows, weights in training.

    Attributes
    ----------
    gaps : dict of list
        Gap and ends of its interval by subgroup, those that are estimable.
    rates : dict of dict
        By subgroup and group.
    against : dict of str
        By subgroup the one of two groups that is worse off, where that is clear.
    intervals : dict of list
        Of the gap over all rows and of the largest local gap.
    chance : float
        What the largest local gap stays below by chance.
    n_test : float
        Test rows, mean over seeds.
    """

    gaps: dict[str, list[float]]
    rates: dict[str, dict[str, float]]
    against: dict[str, str]
    intervals: dict[str, list[float]]
    chance: float
    n_test: float
    weighed: "_Weights | None"

    def summary(self, names: Sequence[str], groups: Sequence[str]) -> dict[str, Any]:
        """Return what it says of some subgroups, as plain numbers."""
        places = {group: place for place, group in enumerate(groups)}
        weighed = self.weighed
        return {
            "intervals": {gap: _numbers(ends) for gap, ends in self.intervals.items()},
            "effective": None if weighed is None else _number(weighed.effective),
            "chance": _number(self.chance),
            "local": [
                _numbers(self.gaps[name]) if name in self.gaps else None
                for name in names
            ],
            "against": [places.get(self.against.get(name, "")) for name in names],
            "rates": [
                [_number(self.rates[name].get(group, np.nan)) for group in groups]
                for name in names
            ],
            "weights": None if weighed is None else weighed.summary(names),
        }


@memoised(2000)  # the settings of a sweep that grows are measured once
def _facts(
    store: Store,
    dataset_id: str,
    subgroups: Subgroups,
    setting: Setting,
    favourable: bool,
) -> _Facts:
    """Return what was measured of a setting; who is worse off follows from the last."""
    local = local_by_measure(store, [setting], dataset_id, subgroups)
    row = local.row
    gaps = local.model_gaps[["subgroup", "gap", "ci_low", "ci_high", "estimable"]]
    names = gaps["subgroup"].astype(str)
    rates: dict[str, dict[str, float]] = {name: {} for name in names}
    cells = local.by_group[["subgroup", "group", "value"]]
    for name, group, value in cells.itertuples(index=False):
        rates[str(name)][str(group)] = float(value)
    against = local.directions(favourable)
    return _Facts(
        {
            str(name): [float(number) for number in numbers]
            for name, *numbers, estimable in gaps.itertuples(index=False)
            if estimable
        },
        rates,
        dict(zip(against["subgroup"], against["group"], strict=True)),
        {
            PARITY: [row["overall_low"], row["overall_high"]],
            WORST: [row["worst_1_low"], row["worst_1_high"]],
        },
        local.chance,
        float(row["n"]),
        _Weights.of(store, dataset_id, setting, subgroups),
    )


@dataclass(frozen=True)
class _Weights:
    """The weights r of a setting, means over its seeds.

    Attributes
    ----------
    effective : float
        Share of training rows that is effective (Kish), of counts of their people,
        over the seeds whose weights of rows are stored; NaN where none are.
    density : array of shape (n_groups, n_bins)
        Share of a group's rows in each bin of `BINS`.
    quantiles : dict of arrays of shape (n_groups, n_quantiles)
        By subgroup, "" for all rows; NaN for a cell of few rows.
    """

    effective: float
    density: NDArray[np.float64]
    quantiles: dict[str, NDArray[np.float64]]

    @classmethod
    def of(
        cls, store: Store, dataset_id: str, setting: Setting, subgroups: Subgroups
    ) -> "_Weights | None":
        if not CATALOG[setting.method].gives_weights:
            return None
        effective = []
        spreads = []
        for trial in setting.trials:
            weighted = WeightedTrial(store, trial, dataset_id, subgroups)
            spread = weight_spreads.after_training(weighted)
            if spread is None:  # of an earlier version
                return None
            spreads.append(spread)
            ratio = store.artifact(trial.source.key).ratio()
            if ratio is not None:
                people = weighted.rows.people
                n = len(ratio) if people is None else people.sum()
                effective.append(weights.effective_rows(ratio, people) / n)
        densities = [spread.density[-1] for spread in spreads]
        quantiles = [
            np.where((spread.n < _FEWEST)[..., None], np.nan, spread.quantiles[-1])
            for spread in spreads
        ]
        # stored in half precision, in which a sum is not exact
        means = np.array(quantiles, np.float64).mean(axis=0)
        return cls(
            float(np.mean(effective)) if effective else np.nan,
            np.array(densities, np.float64).mean(axis=0),
            dict(zip(spreads[0].subgroups, means, strict=True)),
        )

    def summary(self, names: Sequence[str]) -> dict[str, Any]:
        """Return density and quantiles as plain numbers."""
        filled = np.flatnonzero(self.density.any(axis=0))
        first = int(filled[0])
        density = self.density[:, first : filled[-1] + 1]
        labels = [self.quantiles[name] for name in names]
        return {
            "first_bin": first,
            "density": [[_number(v, 4) for v in group] for group in density],
            "all": _quantile_lists(self.quantiles[weight_spread.EVERYONE]),
            "inside": [_quantile_lists(cells) for cells in labels],
        }


def _quantile_lists(cells: NDArray[np.float64]) -> list[list[float | None] | None]:
    return [
        None if np.isnan(group).any() else [float(f"{value:.3g}") for value in group]
        for group in cells
    ]


def _idle(sweep: StoredSweep, place: int) -> dict[str, str]:
    """Return which fact makes a setting's gaps say nothing, and its words; "" for none.

    Validation rows judge it, then test rows.
    """
    for part, words in (("validation", ""), ("test", " on test rows")):
        deciding = sweep.result.deciding(place, part)
        if deciding.idle:
            fact = "alike" if deciding.alike else "guessing"
            return {"idle": fact, "alike": f"{deciding.mark()}{words}"}
    return {"idle": "", "alike": ""}


def _widest(facts: Sequence[_Facts]) -> list[str]:
    """Return the subgroups with the widest gaps of any setting, in their order.

    Those without an estimable gap say nothing; they stand in only where none has one.
    """
    widest: dict[str, float] = {}
    for setting in facts:
        for name, (gap, *_) in setting.gaps.items():
            widest[name] = max(gap, widest.get(name, gap))
    widest = widest or dict.fromkeys(facts[0].rates, 0.0)
    names = sorted(widest, key=lambda name: -widest[name])[: linked_form.MOST_SUBGROUPS]
    return [name for name in facts[0].rates if name in names]


def _axes(sweep: StoredSweep, method: str) -> dict[str, list[Any]]:
    """Return the axes of a method, with the values of models that are still to come."""
    planned = [t.params for t in sweep.trials.values() if t.method == method]
    return sweep.result.axes(method, planned)


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


def _numbers(values: Iterable[Any]) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: Any, digits: int = _DIGITS) -> float | None:
    return round(float(value), digits) if np.isfinite(value) else None
