"""Search a source for subgroups in which groups are treated unlike: counts only."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from fairdash._validation import check_one_of, value_labels
from fairdash.analysis.subgroups import gaps_of_counts
from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.audit import decisions_of
from fairdash.audits.tables.counting import count_rows
from fairdash.audits.tables.question import TableQuestion
from fairdash.audits.tables.reading import asked_columns, is_cellwise
from fairdash.datasets import sources
from fairdash.metrics import catalog

DEPTHS = (1, 2)


def search_source(
    address: str,
    question: TableQuestion,
    columns: Sequence[str],
    *,
    depth: int = 2,
    min_size: int = 50,
    alpha: float = 0.05,
    most: int = 20,
) -> pd.DataFrame:
    """Search the values of columns, and of two of them together, where rows lie.

    No row is read. A column counts by its values as they stand: cut a number of many
    values in a view. What `fairdash.find_subgroups` searches beyond that (ranges, three
    conditions, permutations) needs rows: draw some.

    Parameters
    ----------
    address : str
        As of `fairdash.datasets.sources.count_source`.
    question : TableQuestion
        Groups (of several all crossed), decision or score, outcome, and conditions on
        rows. The first of its measures is searched, by default the selection rate.
    columns : sequence of str
    depth : {1, 2}, default=2
    min_size : int, default=50
        Fewest rows of a subgroup that the measure is about.
    alpha : float, default=0.05
    most : int, default=20
        Subgroups listed.

    Returns
    -------
    DataFrame
        As of `fairdash.analysis.subgroups.gaps_of_counts`, the surest first.

    Raises
    ------
    ValueError
        As `count_source` does; for a measure that is no rate, a question that needs
        rows, a column of the question that is searched, and when no subgroup has
        enough rows.
    """
    if depth not in DEPTHS:
        raise ValueError(f"`depth` must be 1 or 2 at a source, got {depth!r}.")
    measure = question.measures[0] if question.measures else "selection_rate"
    check_one_of("measure", measure, catalog.RATES)
    if not is_cellwise(question):
        raise ValueError(
            "Units, weights and steps that look at several columns need rows. Draw "
            "some, and search them by `fairdash.find_subgroups`."
        )
    names = sources.source_columns(address)
    whole = question.model_copy(update={"subgroups": ()})
    base = asked_columns(whole, names)
    for column in columns:
        check_one_of("column", column, [name for name in names if name not in base])
    counted = sources.count_choices(address, base, list(dict.fromkeys(columns)), depth)
    counts: dict[tuple[str, ...], pd.DataFrame] = {}
    n_subgroups = 0
    for choice, part in counted.items():
        cells = _cells(part, whole, measure)
        for size in range(1, len(choice) + 1):
            for conditions in combinations(choice, size):
                # Rows of one column are the same in each choice that has it.
                if conditions not in counts:
                    counts[conditions] = _by(cells, conditions, n_subgroups)
                    n_subgroups += counts[conditions]["place"].nunique()
    return gaps_of_counts(
        pd.concat(counts.values(), ignore_index=True),
        min_size=min_size,
        alpha=alpha,
        most=most,
    )


def _cells(
    counted: sources.CountedSource, question: TableQuestion, measure: str
) -> pd.DataFrame:
    """Return the cells that a measure is about: their columns, group, n and k."""
    of_people = question.model_copy(update={"count": counted.count})
    rows = count_rows(counted.frame, of_people)
    decisions, _ = decisions_of(rows, of_people, None)
    decided = np.asarray(decisions, dtype=float)
    if rows.actual is None and measure != "selection_rate":
        raise ValueError(f"{measure!r} needs an outcome: column=value.")
    actual = decided if rows.actual is None else rows.actual.astype(float)
    is_about, is_counted = catalog.rate_of(measure)
    people = np.asarray(rows.people, dtype=np.int64)
    groups = Arguments(rows.frame).groups(list(rows.features))
    cells = rows.frame.assign(
        **{
            _GROUP: np.asarray(groups, dtype=str),
            _N: people,
            _K: people * is_counted(actual, decided),
        }
    )
    return cells[is_about(actual, decided)]


# A table may have columns of any other name: no driver takes a zero character.
_GROUP = "\0group"
_N = "\0n"
_K = "\0k"


def _by(
    cells: pd.DataFrame, conditions: tuple[str, ...], first_place: int
) -> pd.DataFrame:
    """Return n and k of each group in each subgroup; a missing value is in none.

    Subgroups are numbered from ``first_place`` on: two may read the same.
    """
    complete = cells[cells[list(conditions)].notna().all(axis=1)]
    # Columns by their places: a name of a user is none of ours.
    labels = pd.DataFrame(
        {place: value_labels(complete[name]) for place, name in enumerate(conditions)}
    )
    places = list(labels)
    labels["group"] = complete[_GROUP]
    labels["n"] = complete[_N]
    labels["k"] = complete[_K]
    sums = labels.groupby([*places, "group"], observed=True)[["n", "k"]].sum()
    sums = sums.reset_index()
    parts = [
        name + " = " + sums[place].astype(str)
        for place, name in zip(places, conditions, strict=True)
    ]
    return pd.DataFrame(
        {
            "place": first_place + sums.groupby(places, observed=True).ngroup(),
            "subgroup": [" and ".join(texts) for texts in zip(*parts, strict=True)],
            "group": sums["group"],
            "n": sums["n"],
            "k": sums["k"],
        }
    )
