"""Whether people who are alike are decided alike: real pairs, only the group changed.

The search for rows that nobody has is in `fairdash.audits.counterparts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._arrays import Codes
from fairdash._deciding import Deciding
from fairdash._wording import (
    Kpi,
    interval_note,
    listing,
    number,
    percent,
    plural,
    sentences,
)
from fairdash.analysis import nearest_rows
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.audited_model import AuditedModel, AuditRows, Flips
from fairdash.audits.counterparts import (
    ColumnChange,
    changes_between,
    worst_counterparts,
)
from fairdash.datasets import Dataset, Encoder, NumberEncoding
from fairdash.metrics import group_directions, ignore_columns, intervals
from fairdash.scored import ScoredModel

PairKind = Literal["similar", "changed", "invented"]
POOL = 10_000  # test rows among which the most similar person is looked for
_SHOWN, _NAMED = 8, 2  # pairs in the figure, differences named in each
_FLIPS = 12  # values up to which a number is set to each of them
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Two people may be each other's nearest, so that n people are fewer independent pairs.
# Wilson's interval for n / 1.5 of them covered in .952 to 1.0 of 18 settings (600 draws
# each, 2 to 12 columns, 240 to 1,800 rows), for n in .888 to .955.
_WORTH = 1 / 1.5
_HOW = """
Each line is two points on the model's scale. The **dot** is a person of the test rows.
**Similar people**: the diamond is the most similar other person. Columns that should
not count are left out; numbers count in standard deviations.
**Only the group changed**: the same person with another value in these columns.
**Invented**: a row that nobody has, made from values of the table to be decided
otherwise. The dashed line is where the decision changes.
"""


@dataclass(frozen=True, eq=False)
class Pairs:
    """People and, for each, somebody alike.

    Attributes
    ----------
    kind : {"similar", "changed", "invented"}
        The most similar other person, the same person with another group, or a row that
        nobody has.
    people : DataFrame
        row (of the table, from 1), other (likewise; 0 for nobody's row), before, after
        (P(1) of both), decision_changed, place (among the test rows), fair_distance and
        changes (a list of `ColumnChange`); those first that show most.
    n : int
        People looked at, also those without a pair.
    """

    kind: PairKind
    people: pd.DataFrame
    n: int

    @property
    def changed(self) -> int:
        """How many people have somebody alike who is decided otherwise."""
        return int(self.people["decision_changed"].sum())

    @property
    def share(self) -> float:
        """Their share of all people looked at."""
        return self.changed / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of ``share``; neighbours count for two thirds."""
        worth = _WORTH if self.kind == "similar" else 1.0
        low, high = intervals.wilson_interval(worth * self.changed, worth * self.n)
        return float(low), float(high)

    @property
    def ends(self) -> str:
        """The interval in words, as beside the share."""
        return interval_note(*self.interval, percent)


def flip_values(dataset: Dataset, columns: Sequence[str]) -> Flips:
    """Return the values that columns are set to: all of few, else some quantiles.

    Raises ValueError when a column is not a feature.
    """
    features = dataset.roles.features
    if absent := [name for name in columns if name not in features]:
        raise ValueError(
            f"{absent[0]!r} cannot be flipped: it is not a feature of the model, whose "
            f"features are {', '.join(features)}."
        )
    return {name: _values(dataset.frame[name].dropna()) for name in columns}


def trained_columns(trial: ScoredModel, features: Sequence[str]) -> tuple[str, ...]:
    """Return the features that a model was told not to count."""
    if trial.params.get("metric", "group_direction") == "group_direction":
        return ()
    named = map(str.strip, str(trial.params.get("columns", "")).split(","))
    return tuple(name for name in named if name in features)


def similar_people(
    model: AuditedModel, columns: Sequence[str], *, places: Codes, comparable: str = ""
) -> Pairs:
    """Return for people of the test rows the most similar other one, of another unit.

    By Euclidean distance of the encoded columns but ``columns``, whose values do not
    count, nor does in what rows differ that the column ``comparable`` says are
    comparable. First the nearest of those who are decided otherwise.
    """
    rows = model.rows
    pool = rows.sample(POOL)
    everything = rows.test.X.astype(np.float64)
    unit = np.arange(rows.n)
    if rows.dataset.unit is not None:
        unit = rows.dataset.unit[rows.where]
    near = np.empty(len(places), np.int64)
    squared = np.empty(len(places))
    names = rows.encoder.feature_names
    sigma = np.eye(len(names))
    if comparable:
        sigma = rows.comparable_metric(comparable, columns).sigma
    elif columns:
        sigma = ignore_columns(columns, names).sigma
    for part, nearest, distance in nearest_rows(
        everything[places], everything[pool], sigma, most=2
    ):
        neighbours = pool[nearest]
        distance = np.where(
            unit[neighbours] == unit[places[part]][:, None], np.inf, distance
        )
        best = distance.argmin(1)
        near[part] = neighbours[np.arange(len(part)), best]
        squared[part] = distance[np.arange(len(part)), best]
    before = model.encoded(rows.test.X[places], places)
    after = model.encoded(rows.test.X[near], near)
    frame = rows.frame
    people = frame.iloc[places].reset_index(drop=True)
    other_own = frame.iloc[near].reset_index(drop=True)
    changes = changes_between(
        rows.columns, people, other_own, everything[places], everything[near]
    )
    groups = _group_changes(rows, places, near)
    changes = [[*a, *b] for a, b in zip(groups, changes, strict=True)]
    table = _table(model, places, before, after, changes)
    table["other"] = rows.dataset.row_number[rows.where[near]] + 1
    table["fair_distance"] = squared
    order = np.lexsort([table["fair_distance"], ~table["decision_changed"]])
    return Pairs("similar", table.iloc[order].reset_index(drop=True), len(places))


def changed_people(model: AuditedModel, flips: Flips) -> Pairs:
    """Return for test rows, one a unit, the same person with other values of columns.

    Of several combinations that which changes the decision, then P(1), most.
    ``flips`` are of `fairdash.audits.look_alikes.flip_values`.
    """
    rows = model.rows
    everyone = np.arange(rows.n)
    before = model.encoded(rows.test.X, everyone)
    variants = rows.variants(flips)
    p = np.stack(model.flipped(flips))
    turned = model.decides(p) != model.decides(before)
    best = (turned + np.abs(p - before)).argmax(0)
    after = p[best, everyone]
    frame = rows.frame
    names = list(flips)
    values = [variant[names].to_numpy(object) for variant in variants]
    piece = frame[names].to_numpy(object)
    changes = [
        [
            ColumnChange(name, piece[i, k], values[best[i]][i, k])
            for k, name in enumerate(names)
            if not _same(piece[i, k], values[best[i]][i, k])
        ]
        for i in everyone
    ]
    table = _table(model, everyone, before, after, changes)
    table["other"] = table["row"]
    table["fair_distance"] = 0.0
    places = rows.sample(rows.n)
    table = table.iloc[places]
    size = -(table["after"] - table["before"]).abs()
    order = np.lexsort([size, ~table["decision_changed"]])
    return Pairs("changed", table.iloc[order].reset_index(drop=True), len(places))


def _group_changes(
    rows: AuditRows, places: Codes, near: Codes
) -> list[list[ColumnChange]]:
    roles = rows.dataset.roles
    if set(roles.sensitive_columns()) <= set(rows.features):
        return [[] for _ in places]
    feature = roles.group_column()
    groups = rows.dataset.sensitive_features[rows.where]
    return [
        [ColumnChange(feature, group, theirs)] * (group != theirs)
        for group, theirs in zip(groups[places], groups[near], strict=True)
    ]


def invented_people(
    model: AuditedModel,
    columns: Sequence[str],
    *,
    places: Codes,
    radius: float,
    comparable: str = "",
) -> Pairs:
    """Return the worst counterparts of people of the test rows, as pairs.

    Neither ``columns`` count nor the direction that predicts the group; with a column
    ``comparable`` instead of that direction in what comparable rows differ.
    """
    rows = model.rows
    metric = (
        rows.comparable_metric(comparable, columns)
        if comparable
        else group_directions(
            rows.train, rows.train_groups, rows.encoder.feature_names, columns=columns
        )
    )
    people = worst_counterparts(
        model, rows, metric=metric, fair_radius=radius, places=places
    )
    return Pairs("invented", people.assign(other=0), len(places))


def own_units(encoder: Encoder, radius: float, most: int = 3) -> str:
    """Return how far single numbers may move within a squared distance, in their units.

    Such as "age ±1.2 or income ±900".
    """
    places = [(item, k) for item in encoder.columns for k in range(len(item.names()))]
    far = np.sqrt(radius) * np.asarray(encoder.scale)
    reach = {
        item.column: float(size)
        for (item, k), size in zip(places, far, strict=True)
        if isinstance(item, NumberEncoding) and k == 0
    }
    entries = list(reach.items())[:most]
    return " or ".join(f"{name} ±{number(size, 2)}" for name, size in entries)


def alike_answer(
    pairs: Pairs,
    similar: Pairs,
    changed: Pairs | None,
    columns: Sequence[str],
    *,
    label: str,
    model: AuditedModel,
) -> Answer:
    """Return whether equals are treated alike, with the figure of some pairs.

    Parameters
    ----------
    pairs : Pairs
        Those of the figure.
    similar, changed : Pairs
        Of the verdict and the cards; no ``changed`` where the model reads none of the
        columns.
    columns : sequence of str
        What should not count, such as the sensitive column.
    label : str
        Of the model.
    model : AuditedModel
    """
    table = _once(pairs.people).head(_SHOWN).copy()
    table["pair"] = [*map(_pair_words, table.to_dict("records"))]
    drawn = {"kind": pairs.kind, "share": pairs.share, "n": pairs.n}
    drawn["threshold"] = model.threshold
    numbers = pairs.people.assign(
        changes=["; ".join(map(str, c)) for c in pairs.people["changes"]]
    )
    return Answer(
        _verdict(similar, changed, columns, model.deciding),
        _cards(similar, changed, columns),
        Drawing("plot_pairs", table, drawn, numbers.drop(columns="place").head(200)),
        caption=f"{label}. {_caption(pairs, len(table))}",
        how=_HOW,
    )


def _verdict(
    similar: Pairs, changed: Pairs | None, columns: Sequence[str], deciding: Deciding
) -> str:
    """Say how many people have somebody alike who is decided otherwise.

    It is so whatever the decisions are worth, which ``deciding`` says.
    """
    rest = "most similar other person is decided otherwise."
    first = f"For {_share(similar.share)} of people the {rest}"
    first = first if similar.changed else f"Nobody's {rest}"
    doubt = deciding.predicate() if deciding.idle else ""
    doubt = doubt and f"On these rows the model {doubt}."
    return sentences(doubt, first, _only_changed(changed, columns))


def _share(share: float) -> str:
    if 0 < share < 0.001:
        return "fewer than 0.1%"
    return percent(share, 1 if share < 0.01 else 0)


def _only_changed(changed: Pairs | None, columns: Sequence[str]) -> str:
    if changed is None:
        return f"The model does not read {listing(columns)}."
    if not changed.changed:
        return f"Changing only {listing(columns)} changes no decision."
    share = _share(changed.share)
    return f"Changing only {listing(columns)} changes {share} of decisions."


def _cards(similar: Pairs, changed: Pairs | None, columns: Sequence[str]) -> list[Kpi]:
    cards = [
        Kpi(
            "Similar, other result",
            percent(similar.share),
            similar.ends,
            help="Share of people whose most similar other person among the test rows "
            "is decided otherwise.",
        )
    ]
    if changed is None:
        return cards
    return [
        *cards,
        Kpi(
            "Decisions changed",
            percent(changed.share),
            changed.ends,
            help=f"Share of people who are decided otherwise with another value of "
            f"{listing(columns)} and everything else the same.",
        ),
    ]


def _once(people: pd.DataFrame) -> pd.DataFrame:
    """Return each pair once: two rows are alike either way, a row of counts repeats."""
    ends = people[["row", "other"]].to_numpy()
    pairs = pd.DataFrame(np.sort(ends, axis=1), index=people.index)
    either_way = pairs.duplicated() & (ends[:, 0] != ends[:, 1]) & (ends[:, 1] != 0)
    changes = ["; ".join(map(str, changed)) for changed in people["changes"]]
    repeated = people[["row", "other"]].assign(changes=changes).duplicated()
    return people[~either_way & ~repeated]


def _caption(pairs: Pairs, n_drawn: int) -> str:
    pairs_drawn = plural(n_drawn, "pair")
    first = {
        "similar": "the nearest of those decided otherwise first",
        "changed": "the largest changes first",
        "invented": "invented rows, the largest changes first",
    }[pairs.kind]
    return f"{pairs_drawn} of {plural(pairs.n, 'test row')}, {first}."


def _pair_words(pair: dict[Any, Any]) -> str:
    row = f"{pair['row']:,}"
    neighbour = f"{pair['other']:,}"
    who = {0: f"row {row}, invented", pair["row"]: f"row {row}"}.get(
        pair["other"], f"rows {row} and {neighbour}"
    )
    changes = [str(change) for change in pair["changes"]]
    more = [f"{len(changes) - _NAMED} more"] * (len(changes) > _NAMED)
    return f"{who}: {'; '.join([*changes[:_NAMED], *more]) or 'the same'}"


def _table(
    model: AuditedModel,
    places: Codes,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    changes: list[list[ColumnChange]],
) -> pd.DataFrame:
    rows = model.rows
    return pd.DataFrame(
        {
            "row": rows.dataset.row_number[rows.where[places]] + 1,
            "before": before,
            "after": after,
            "decision_changed": model.decides(before) != model.decides(after),
            "place": places,
            "changes": changes,
        }
    )


def _same(value: Any, other: Any) -> bool:
    return bool(pd.isna(value) and pd.isna(other)) or value == other


def _values(column: "pd.Series[Any]") -> tuple[object, ...]:
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > _FLIPS:
        at = column.quantile(list(_QUANTILES), interpolation="nearest")
        return tuple(dict.fromkeys(at.tolist()))
    return tuple(sorted(column.unique().tolist(), key=str))
