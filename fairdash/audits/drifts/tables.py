"""The two tables of a comparison: a model's test rows, and rows from elsewhere."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import datasets
from fairdash._columns import with_columns
from fairdash._counts import RowCounts
from fairdash._validation import CROSS
from fairdash._wording import PEOPLE, ROWS
from fairdash.analysis import Sample
from fairdash.audits.portable_model import PortableModel


@dataclass(frozen=True, eq=False)
class DriftTable:
    """Rows that no model was trained on, with what they are compared by.

    Attributes
    ----------
    y : ndarray of 0/1 or None
        None where the table has no outcome, which ``outcome`` is as it was read.
    groups : Categorical
        The training table's groups, in its order.
    subgroups : Categorical
        Of one definition over both tables, so that a bin means the same in each.
    excluded : tuple of str
        Why rows are not used, with their number.
    joined : tuple of str
        What was joined to the rows, and how many have no match.
    weight, unit : ndarray or None
        Sampling weights or `RowCounts`, and the unit of each row, where the roles of
        the training table name their columns; a table without the column has rows that
        are units.
    """

    name: str
    frame: pd.DataFrame
    y: NDArray[Any] | None
    groups: "pd.Categorical[str]"
    subgroups: "pd.Categorical[str]"
    excluded: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None
    unit: NDArray[np.int64] | None = None
    outcome: "pd.Series[Any] | None" = None
    joined: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """Joins, and reasons why rows are not used, after the name of the table."""
        return [f"{self.name}: {why}" for why in (*self.joined, *self.excluded)]

    @property
    def n(self) -> int:
        """Number of rows used."""
        return len(self.frame)

    @property
    def n_people(self) -> int:
        """How many people the rows used stand for: of counts their sum."""
        people = self.sample.people
        return self.n if people is None else int(people.sum())

    @property
    def size(self) -> str:
        """How many are used, in words: 600 rows or, of counts, 4,526 people."""
        noun = ROWS if self.sample.people is None else PEOPLE
        return noun.counted(self.n_people)

    @property
    def sample(self) -> Sample:
        """How the rows were drawn."""
        return Sample(self.weight, self.unit)


def drift_tables(
    dataset: datasets.Dataset,
    seed: int | None,
    model: PortableModel,
    subgroups: datasets.Subgroups,
    other: tuple[str, pd.DataFrame],
    read: Callable[[str], pd.DataFrame],
) -> tuple[DriftTable, DriftTable]:
    """Return the test rows of the training table, and those used of the other table.

    Parameters
    ----------
    seed : int or None
        With None all rows of the training table are compared.
    other : pair of str and DataFrame
        Name and rows of another table, columns as in its file.
    read : callable
        Returns a kept table by its digest: what the training table was joined with is
        joined to the other table, where it lacks a column that is needed.

    Raises
    ------
    ValueError
        Names the columns that are missing, values that are new in the outcome, or the
        reason why no row is left; and what to change.
    """
    name = dataset.name
    test = np.arange(dataset.n_rows)
    if seed is not None:
        name = f"{name}, test rows"
        test = datasets.split(dataset, seed).test
    reference = DriftTable(
        name,
        dataset.frame.iloc[test],
        dataset.y[test],
        dataset.groups[test],
        dataset.groups[test],
        weight=dataset.weight_of(test),
        unit=None if dataset.unit is None else dataset.unit[test],
    )
    columns = list(dict.fromkeys((*subgroups.columns, *subgroups.where)))
    new = _read(dataset, model, *_joined(dataset, columns, other, read))
    missing = [column for column in columns if column not in new.frame]
    if missing:
        raise ValueError(
            f"{new.name} has no column {missing[0]!r}, which describes subgroups; add "
            "it, or choose other columns under Subgroups."
        )
    # labelled together: bins at the ends follow the data
    all_rows = pd.concat([table.frame[columns] for table in (reference, new)])
    people = [table.sample.people for table in (reference, new)]
    counted = [part for part in people if part is not None]
    labels = subgroups.label(
        all_rows.set_axis(range(len(all_rows))),
        np.concatenate(counted) if counted else None,
    ).array
    return (
        replace(reference, subgroups=labels[: reference.n]),
        replace(new, subgroups=labels[reference.n :]),
    )


def _joined(
    dataset: datasets.Dataset,
    columns: list[str],
    other: tuple[str, pd.DataFrame],
    read: Callable[[str], pd.DataFrame],
) -> tuple[str, pd.DataFrame]:
    """Return the other table, with what the training table was joined with."""
    name, raw = other
    needed = {*columns, *_needed(dataset.roles), dataset.roles.target}
    return name, datasets.join_again(raw, dataset.joined, needed, read, name=name)


def _read(
    dataset: datasets.Dataset, model: PortableModel, name: str, raw: pd.DataFrame
) -> DriftTable:
    roles = dataset.roles
    frame = model.prepared(raw)
    _check_columns(frame, dataset, name)
    labels = datasets.group_labels(frame, roles)
    outcome = _outcome_of(raw, dataset, name)
    with_outcome = frame
    if outcome is not None:
        with_outcome = with_columns(frame, {roles.target: outcome})
    counts = None
    if roles.count is not None:
        counts = RowCounts.of(roles.count, frame[roles.count].array)
    reasons = _reasons(with_outcome, labels, dataset)
    used, lines = datasets.exclude_rows(with_outcome, reasons, counts)
    excluded = tuple(line.words(roles.noun) for line in lines)
    y = None if outcome is None else datasets.outcomes(outcome, roles.positive)
    if not used.any():
        raise ValueError(
            f"No row of {name} can be used: {'; '.join(excluded) or 'it is empty'}. "
            f"The groups are {', '.join(dataset.group_names)} in "
            f"{CROSS.join(roles.sensitive_columns())}."
        )
    frame = frame[used]
    groups = pd.Categorical(labels[used], categories=pd.Index(dataset.group_names))
    weight = None if counts is None else counts[used]
    if roles.sample_weight is not None:
        weight = datasets.read_weights(frame[roles.sample_weight], np.flatnonzero(used))
    return DriftTable(
        name,
        frame,
        None if y is None else y[used],
        groups,
        groups,
        excluded,
        weight,
        datasets.read_units(frame[roles.unit]) if roles.unit in frame else None,
        None if outcome is None else outcome[used],
        tuple(note.sentence.rstrip(".") for note in datasets.notes_of(raw).joined),
    )


def _outcome_of(
    raw: pd.DataFrame, dataset: datasets.Dataset, name: str
) -> "pd.Series[Any] | None":
    """Return the outcome of new rows as the training table has it, None without."""
    roles = dataset.roles
    if roles.target not in raw or not raw[roles.target].notna().any():
        return None
    column = raw[[roles.target]]
    outcome = datasets.remedies.prepare(column, _target_alone(roles))[roles.target]
    _check_outcome(outcome, dataset, name)
    return outcome


def _reasons(
    frame: pd.DataFrame, labels: "pd.Series[Any]", dataset: datasets.Dataset
) -> Iterator[datasets.RowReason]:
    """Yield why new rows do not count: as in the training table, and unknown groups.

    A row filter of an earlier version is skipped where its column is missing.
    """
    roles = dataset.roles
    keep = {c: values for c, values in roles.keep.items() if c in frame}
    yield from datasets.row_reasons(frame, roles.model_copy(update={"keep": keep}))
    has_group = labels.isin(dataset.group_names).to_numpy(bool)
    reason = "in no group of the training table"
    crossed = bool(roles.crossed_with)
    group = ", ".join(roles.sensitive_columns())
    yield datasets.RowReason(reason, group, ~has_group, "groups", by_value=not crossed)


def _check_columns(frame: pd.DataFrame, dataset: datasets.Dataset, name: str) -> None:
    roles = dataset.roles
    missing = [column for column in _needed(roles) if column not in frame]
    if missing:
        raise ValueError(
            f"{name} has no column{'s' * (len(missing) > 1)} "
            f"{', '.join(map(repr, missing))}, which the models or their measures "
            "need. Add or rename them so that they are called as in the training table."
        )
    for column in roles.features:
        if datasets.column_kinds.is_number(
            dataset.frame[column]
        ) and not datasets.column_kinds.is_number(frame[column]):
            texts = frame[column].dropna().iloc[:3].tolist()
            raise ValueError(
                f"Column {column!r} of {name} holds text such as {texts} where the "
                "training table has numbers; clean these values."
            )


def _needed(roles: datasets.Roles) -> list[str]:
    """Return the columns that the models or their measures need."""
    weight = [name for name in (roles.sample_weight, roles.count) if name is not None]
    filters = [name for part in roles.rows for name in part.columns()]
    names = (*roles.sensitive_columns(), *roles.features, *weight, *filters)
    # without outcomes rates are compared
    return [name for name in dict.fromkeys(names) if name != roles.target]


def _target_alone(roles: datasets.Roles) -> datasets.Roles:
    steps = tuple(s for s in roles.preparation if s.column == roles.target)
    types = {n: kind for n, kind in roles.types.items() if n == roles.target}
    return roles.model_copy(update={"preparation": steps, "types": types})


def _check_outcome(
    column: "pd.Series[Any]", dataset: datasets.Dataset, name: str
) -> None:
    target = dataset.roles.target
    if isinstance(dataset.roles.positive, datasets.Cut):
        if not datasets.column_kinds.is_number(column):
            texts = column.dropna().iloc[:3].tolist()
            raise ValueError(
                f"Column {target!r} of {name} holds text such as {texts}, and the "
                f"outcome is {dataset.roles.outcome()}; clean these values."
            )
        return
    if dataset.roles.negative:
        return  # other values are excluded, and named
    labels = set(datasets.column_kinds.label_codes(dataset.frame[target])[1])
    new = [
        label
        for label in datasets.column_kinds.label_codes(column)[1]
        if label not in labels
    ]
    if new:
        raise ValueError(
            f"Column {target!r} of {name} has the value{'s' * (len(new) > 1)} "
            f"{', '.join(map(repr, new[:5]))}, which the training table lacks. It "
            f"has {', '.join(map(repr, sorted(labels)[:5]))}. Write outcomes alike, or "
            "drop the column to compare only rates."
        )
