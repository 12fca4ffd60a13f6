"""Tables that a stored model is held to: its own test rows, and rows from elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import plural
from fairdash.audits.portable import PortableModel
from fairdash.datasets import (
    Cut,
    Dataset,
    Roles,
    Subgroups,
    group_labels,
    is_number,
    label_codes,
    outcomes,
    prepare,
    read_weights,
    split,
)

MOST_PARTS = 12
_WORDS = (
    "year", "time", "date", "month", "quarter", "wave", "sample", "state", "region",
    "place", "site", "country", "city", "branch", "source",
)  # fmt: skip
Float = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DriftTable:
    """Rows that no model was trained on, with what they are compared by.

    Attributes
    ----------
    y : ndarray of 0/1 or None
        None where the table has no outcome.
    groups : Categorical
        The training table's groups, in its order.
    subgroups : Categorical
        Of one definition over all tables, so that a bin means the same in each.
    excluded : tuple of str
        Why rows are not used, with their number.
    weight, unit : ndarray or None
        Sampling weights, and the unit of each row, where the roles of the training
        table name their columns; a table without the column has rows that are units.
    """

    name: str
    frame: pd.DataFrame
    y: NDArray[np.int8] | None
    groups: "pd.Categorical[str]"
    subgroups: "pd.Categorical[str]"
    excluded: tuple[str, ...] = ()
    weight: Float | None = None
    unit: Codes | None = None

    @property
    def n(self) -> int:
        """Number of rows used."""
        return len(self.frame)


@dataclass(frozen=True, eq=False)
class _Rows:
    """A table before its rows have subgroups."""

    name: str
    frame: pd.DataFrame
    y: NDArray[np.int8] | None
    labels: "pd.Series[Any]"
    excluded: tuple[str, ...] = ()
    weight: Float | None = None
    unit: Codes | None = None

    def at(self, name: str, where: NDArray[np.bool_] | NDArray[np.int64]) -> "_Rows":
        return _Rows(
            name,
            self.frame.iloc[where],
            None if self.y is None else self.y[where],
            self.labels.iloc[where],
            self.excluded,
            None if self.weight is None else self.weight[where],
            None if self.unit is None else self.unit[where],
        )


def drift_tables(
    dataset: Dataset,
    seed: int,
    model: PortableModel,
    subgroups: Subgroups,
    *,
    other: tuple[str, pd.DataFrame] | None = None,
    parts: str | None = None,
    whole: pd.DataFrame | None = None,
) -> list[DriftTable]:
    """Return the tables a model is compared on; the first one is the reference.

    With another table: the test rows of the training table, then the other one, in its
    parts if a column is named. Without: the test rows in parts. Where the roles keep
    some values of that column alone, the model was trained on these; the rows of all
    its other values come from ``whole``, and the test rows are the reference.

    Parameters
    ----------
    other : pair of str and DataFrame, optional
        Name and rows of another table, columns as in its file.
    parts : str, optional
        A column of time or place: at most twelve values, or bins of a number.
    whole : DataFrame, optional
        The file of the training table, with the rows that its roles exclude.

    Raises
    ------
    ValueError
        Names the columns that are missing, values that are new in the outcome, or the
        reason why no row or no second table is left; and what to change.
    """
    name, where = dataset.name, split(dataset, seed).test
    test = _of_dataset(dataset, where)
    if other is not None:
        new = _read(dataset, model, *other, apart=parts)
        found = [test, *(_parts(new, parts, f"{new.name}, ") if parts else [new])]
    elif parts is None:
        raise ValueError(
            "There is one table only; upload another one, or choose a column of time "
            "or place that divides this one."
        )
    elif parts in dataset.roles.keep and whole is not None:
        codes, labels = label_codes(_column(model.prepared(whole), parts, name))
        kept = dataset.roles.keep[parts]
        outside = ~np.isin(codes, [i for i, v in enumerate(labels) if v in kept])
        rest = _read(dataset, model, name, whole[outside], apart=parts)
        found = [test, *_parts(rest, parts)]
    else:
        # bins of the whole table, so that seeds have the same parts
        _column(dataset.frame, parts, name)
        bins = Subgroups(columns=(parts,)).label(dataset.frame)
        found = _parts(test, parts, labels=bins.iloc[where])
        if len(found) < 2:
            raise ValueError(
                f"Column {parts!r} has one value in the test rows; choose a column "
                "with several."
            )
    return _labelled(found, subgroups, dataset.group_names)


def _of_dataset(dataset: Dataset, rows: NDArray[np.int64]) -> _Rows:
    frame = dataset.frame.iloc[rows]
    labels = pd.Series(dataset.sensitive_features[rows], index=frame.index)
    name, weight = f"{dataset.name}, test rows", dataset.weight_of(rows)
    unit = None if dataset.unit is None else dataset.unit[rows]
    return _Rows(name, frame, dataset.y[rows], labels, weight=weight, unit=unit)


def _read(
    dataset: Dataset,
    model: PortableModel,
    name: str,
    raw: pd.DataFrame,
    apart: str | None,
) -> _Rows:
    """Prepare another table and drop the rows that cannot be compared."""
    roles = dataset.roles
    frame = model.prepared(raw)
    weight = [] if roles.sample_weight is None else [roles.sample_weight]
    needed = dict.fromkeys((*roles.sensitive_columns(), *roles.features, *weight))
    missing = [column for column in needed if column not in frame]
    if missing:
        raise ValueError(
            f"{name} has no column{'s' * (len(missing) > 1)} "
            f"{', '.join(map(repr, missing))}, which the models or their measures "
            "need. Add or rename them so that they are called as in the training table."
        )
    wrong = [
        column
        for column in roles.features
        if is_number(dataset.frame[column]) and not is_number(frame[column])
    ]
    if wrong:
        texts = frame[wrong[0]].dropna().iloc[:3].tolist()
        raise ValueError(
            f"Column {wrong[0]!r} of {name} holds text such as {texts} where the "
            "training table has numbers; clean these values."
        )
    labels = group_labels(frame, roles)
    flags: dict[str, NDArray[np.bool_]] = {}
    for column, values in roles.keep.items():
        if column in frame and column != apart:
            codes, known = label_codes(frame[column])
            kept = [i for i, label in enumerate(known) if label in values]
            flags[f"outside {column} = {' or '.join(values)}"] = ~np.isin(codes, kept)
    flags["in no known group"] = ~labels.isin(dataset.group_names).to_numpy(bool)
    if roles.missing == "exclude":
        lacking = frame[list(roles.features)].isna().any(axis=1)
        flags["with a missing feature"] = lacking.to_numpy(bool)
    y = None
    if roles.target in raw and raw[roles.target].notna().any():
        told = prepare(raw[[roles.target]], _target_alone(roles))[roles.target]
        _check_outcome(told, dataset, name)
        y = outcomes(told, roles.positive)
        flags["without outcome"] = told.isna().to_numpy()
    used, excluded = np.ones(len(frame), bool), []
    for reason, flag in flags.items():
        n = int((flag & used).sum())
        excluded += [f"{plural(n, 'row')} {reason}"] if n else []
        used &= ~flag
    if not used.any():
        raise ValueError(
            f"No row of {name} can be used: {', '.join(excluded) or 'it is empty'}. "
            f"The groups are {', '.join(dataset.group_names)} in "
            f"{' × '.join(roles.sensitive_columns())}."
        )
    weights = None
    for column in weight:
        weights = np.zeros(len(frame))
        weights[used] = read_weights(frame.loc[used, column], np.flatnonzero(used))
    unit = None
    if roles.unit in frame:
        unit, names = label_codes(frame[roles.unit])
        alone = unit < 0  # a row without a value is a unit of its own
        unit[alone] = len(names) + np.arange(alone.sum())
    rows = _Rows(name, frame, y, labels, tuple(excluded), weights, unit)
    return rows if used.all() else rows.at(name, used)


def _target_alone(roles: Roles) -> Roles:
    """Return roles that prepare the outcome and nothing else."""
    steps = tuple(s for s in roles.preparation if s.column == roles.target)
    types = {n: kind for n, kind in roles.types.items() if n == roles.target}
    return roles.model_copy(update={"preparation": steps, "types": types})


def _check_outcome(column: "pd.Series[Any]", dataset: Dataset, name: str) -> None:
    target, positive = dataset.roles.target, dataset.roles.positive
    if isinstance(positive, Cut):
        if not is_number(column):
            texts = column.dropna().iloc[:3].tolist()
            raise ValueError(
                f"Column {target!r} of {name} holds text such as {texts}, and the "
                f"outcome is {dataset.roles.outcome()}; clean these values."
            )
        return
    known = set(label_codes(dataset.frame[target])[1])
    new = [label for label in label_codes(column)[1] if label not in known]
    if new:
        raise ValueError(
            f"Column {target!r} of {name} has the value{'s' * (len(new) > 1)} "
            f"{', '.join(map(repr, new[:5]))}, which the training table has not: it "
            f"has {', '.join(map(repr, sorted(known)[:5]))}. Write outcomes alike, or "
            "take the column out to compare rates alone."
        )


def _column(frame: pd.DataFrame, column: str, name: str) -> "pd.Series[Any]":
    if column not in frame:
        raise ValueError(f"{name} has no column {column!r}; choose another one.")
    return frame[column]


def _parts(
    rows: _Rows,
    column: str,
    before: str = "",
    labels: "pd.Series[Any] | None" = None,
) -> list[_Rows]:
    """Return the parts of a table by the values or bins of a column, in order.

    ``labels`` are those of the rows, if their bins are of another table.
    """
    _column(rows.frame, column, rows.name)
    if labels is None:
        labels = Subgroups(columns=(column,)).label(rows.frame)
    known = labels.cat.remove_unused_categories().cat
    codes, names = known.codes.to_numpy(), known.categories
    if len(names) > MOST_PARTS:
        raise ValueError(
            f"Column {column!r} of {rows.name} has {len(names):,} values; parts need "
            f"one of at most {MOST_PARTS}, such as a year or a region."
        )
    return [
        # the name of a number has that of its column already
        rows.at(f"{before}{column} {name.removeprefix(f'{column} ')}", codes == code)
        for code, name in enumerate(names)
    ]


def _labelled(
    tables: Sequence[_Rows], subgroups: Subgroups, groups: Sequence[str]
) -> list[DriftTable]:
    """Name subgroups over all tables at once: bins at the ends follow the data."""
    columns = list(dict.fromkeys((*subgroups.columns, *subgroups.where)))
    for table in tables:
        for column in columns:
            if column not in table.frame:
                raise ValueError(
                    f"{table.name} has no column {column!r}, which describes "
                    "subgroups; add it, or choose other columns under Subgroups."
                )
    stacked = pd.concat(
        [table.frame[columns] for table in tables], ignore_index=True
    ).reindex(range(sum(len(table.frame) for table in tables)))
    labels = subgroups.label(stacked).array
    ends = np.cumsum([len(table.frame) for table in tables])
    return [
        DriftTable(
            table.name,
            table.frame,
            table.y,
            pd.Categorical(table.labels, categories=pd.Index(groups)),
            labels[end - len(table.frame) : end],
            table.excluded,
            table.weight,
            table.unit,
        )
        for table, end in zip(tables, ends.tolist(), strict=True)
    ]


def columns_of_parts(frame: pd.DataFrame, roles: Roles) -> list[str]:
    """Return columns that can divide a table: two to twelve values, or a feature.

    The one that a filter keeps some values of comes first, then those that are called
    after a time or a place.
    """
    roles_of = {roles.target, *roles.sensitive_columns()}
    few = [
        str(name)
        for name in frame
        if name not in roles_of and 2 <= frame[name].nunique() <= MOST_PARTS
    ]

    def rank(name: str) -> tuple[bool, bool]:
        return name not in roles.keep, not any(w in name.lower() for w in _WORDS)

    return sorted(few, key=rank)
