"""New York City's Local Law 144: impact ratios, and what unknown people could change.

The rules (6 RCNY § 5-300 to 5-304) ask, for sex, race or ethnicity and both crossed,
for the applicants of each category, the share selected (or scored above the median of
the sample) and the impact ratio: that share over the largest share of a category. A
category of less than 2 % of the data may be excluded, with its numbers stated; the
number of people whose category is unknown is stated.

What a published audit lacks are the bounds of each ratio over all ways in which the
unknown people could belong to categories (L. Gerchick et al., Auditing the audits,
FAccT 2025).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of, value_labels
from fairdash.audits.tables.counting import TableQuestion, count_rows, named_value
from fairdash.metrics import counting, intervals

SMALL = 0.02  # share of the known people below which a category has no ratio
CROSSED = " × "

Counts = NDArray[np.int64]


class Unknown(NamedTuple):
    """People whose category is unknown, and how many of them were selected."""

    n: int
    selected: int


NOBODY = Unknown(0, 0)


def impact_table(counts: pd.DataFrame, unknown: Unknown = NOBODY) -> pd.DataFrame:
    r"""Return the impact ratio of every category, with interval and bounds.

    Parameters
    ----------
    counts : DataFrame
        category, n and selected: one row per category.
    unknown : Unknown
        People who may belong to any category.

    Returns
    -------
    DataFrame
        category, n, selected, rate, ratio (:math:`r_c / \max_k r_k` over the
        categories that count), low and high (95 %, Donner and Zou 2012, for all pairs
        at once; of a ratio to the most selected category), bound_low and bound_high
        (over all assignments of the unknown people) and included.

    Raises
    ------
    ValueError
        When a count is negative, more are selected than there are, or no category
        counts.
    """
    check_counts(counts, unknown)
    n = counts["n"].to_numpy(np.int64)
    selected = counts["selected"].to_numpy(np.int64)
    included = (n >= SMALL * max(n.sum(), 1)) & (n > 0)
    if not included.any():
        raise ValueError("No category has enough people for an impact ratio.")
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(n > 0, selected / n, np.nan)
    best = rate[included].max()
    ratio = np.where(included & (best > 0), rate / (best or np.nan), np.nan)
    low, high = _intervals(counts, included)
    bounds = np.full((len(n), 2), np.nan)
    bounds[included] = ratio_bounds(n[included], selected[included], unknown)
    return counts[["category", "n", "selected"]].assign(
        rate=rate,
        ratio=ratio,
        low=low,
        high=high,
        bound_low=bounds[:, 0],
        bound_high=bounds[:, 1],
        included=included,
    )


def ratio_bounds(n: Counts, selected: Counts, unknown: Unknown) -> NDArray[np.float64]:
    r"""Return the least and the largest impact ratio over all assignments, exactly.

    With s of u unknown people selected, the ratio of category c is least where all who
    were not selected belong to c, and all who were to another category k:

    .. math:: \min\Bigl(1, \min_k
       \frac{x_c}{n_c + u - s} \Big/ \frac{x_k + s}{n_k + s}\Bigr)

    It is largest where all who were selected belong to c, and the others fill the other
    categories so that the largest of their rates is as small as it can be.

    Returns
    -------
    array, (n_categories, 2); NaN where every assignment selects nobody
    """
    s, rest = unknown.selected, unknown.n - unknown.selected
    bounds = np.full((len(n), 2), np.nan)
    for c in range(len(n)):
        others = np.arange(len(n)) != c
        if not others.any():
            bounds[c] = 1.0 if selected[c] + s else np.nan
            continue
        x, m = selected[others], n[others]
        worst = selected[c] / (n[c] + rest)
        rival = ((x + s) / (m + s)).max()
        least = min(1.0, worst / rival) if rival > 0 else np.nan
        best = (selected[c] + s) / (n[c] + s)
        rival = _lowest_maximum(x, m, rest)
        # where no other category selects anybody, this one is the most selected
        most = min(1.0, best / rival) if rival > 0 else (1.0 if best > 0 else np.nan)
        if np.isnan(least) and not np.isnan(most):
            least = most
        bounds[c] = least, most
    return bounds


def check_counts(counts: pd.DataFrame, unknown: Unknown = NOBODY) -> None:
    """Raise ValueError, with the category, where counts cannot be."""
    rows = counts[["category", "n", "selected"]].itertuples(index=False)
    for name, n, selected in [*rows, ("unknown", *unknown)]:
        if not 0 <= selected <= n:
            raise ValueError(
                f"Category {str(name)!r} has {selected} selected of {n}; fix the "
                "counts."
            )


class BiasAudit(NamedTuple):
    """Impact tables by columns of categories, with the unknown people of each."""

    tables: Mapping[str, pd.DataFrame]
    unknown: Mapping[str, Unknown]
    kind: str  # "selection" or "scoring"
    rows: int
    excluded: str

    def words(self, name: str) -> str:
        """Return the note of a table: unknown people and small categories."""
        table, missing = self.tables[name], self.unknown[name]
        people = "1 person" if missing.n == 1 else f"{missing.n:,} people"
        text = f"{people} of unknown category"
        small = table.loc[~table["included"], "category"]
        if len(small):
            text += f"; less than 2 % of the data, without ratio: {', '.join(small)}"
        return f"{text}."


def bias_audit(frame: pd.DataFrame, question: TableQuestion) -> BiasAudit:
    """Return the impact tables of each column of categories, and of both crossed.

    With a decision these are of selection rates; with a score, of the share above the
    median of all scores.

    Raises
    ------
    ValueError
        When a column or a value is missing, or there is neither decision nor score.
    """
    flags, kind, excluded = _selected(frame, question)
    features = [named_value("--group", name, frame)[0] for name in question.groups]
    labels = {name: value_labels(frame[name]) for name in features}
    if len(features) > 1:
        parts = pd.DataFrame(labels)
        whole = parts.notna().all(axis=1)
        crossed = parts.fillna("").astype(str).agg(CROSSED.join, axis=1)
        labels[CROSSED.join(features)] = crossed.where(whole)
    tables, unknown, rows = {}, {}, flags.notna()
    for name, categories in labels.items():
        missing = categories.isna() & rows
        unknown[name] = Unknown(int(missing.sum()), int(flags[missing].sum()))
        used = rows & ~missing
        groups = flags[used].astype(int).groupby(categories[used].astype(str))
        counts = pd.DataFrame({"n": groups.size(), "selected": groups.sum()})
        counts = counts.rename_axis("category").reset_index()
        tables[name] = impact_table(counts, unknown[name])
    return BiasAudit(tables, unknown, kind, int(rows.sum()), excluded)


def published_audit(counts: pd.DataFrame) -> BiasAudit:
    """Return the impact table of counts that an audit published.

    Parameters
    ----------
    counts : DataFrame
        category, n and selected; a category "unknown" is of people who may belong to
        any other.

    Raises
    ------
    ValueError
        When a column is missing, or a count is no whole number or cannot be.
    """
    for name in ("category", "n", "selected"):
        check_one_of("column", name, list(map(str, counts)))
    table = counts[["category"]].astype(str)
    for name in ("n", "selected"):
        number = counting.finite_numbers(name, counts[name])
        if (number % 1).any():
            raise ValueError(f"Column {name!r} must hold whole numbers.")
        table[name] = number.astype(np.int64)
    missing = table["category"].str.lower() == "unknown"
    people = table.loc[missing, ["n", "selected"]].sum()
    unknown = {"category": Unknown(int(people["n"]), int(people["selected"]))}
    impact = impact_table(table[~missing], unknown["category"])
    n = int(table["n"].sum())
    return BiasAudit({"category": impact}, unknown, "selection", n, "counts as given")


def inconsistencies(published: pd.DataFrame, *, digits: int = 2) -> list[str]:
    """Return where published rates and ratios do not follow from published counts.

    Parameters
    ----------
    published : DataFrame
        As of `published_audit`, and any of rate and ratio as they were printed. The
        largest rate is that of the categories with a printed ratio.
    digits : int, default=2
        Decimals of the printed numbers; half a unit of the last one is allowed.
    """
    counted = published[published["n"] > 0]
    rate = counted["selected"] / counted["n"]
    named = counted["ratio"].notna() if "ratio" in counted else rate.notna()
    right = {"rate": rate, "ratio": rate / rate[named].max()}
    allowed = 0.5 * 10.0**-digits + 1e-9
    words = []
    for name in [name for name in right if name in counted]:
        wrong = (counted[name] - right[name]).abs() > allowed
        for at, row in counted[wrong].iterrows():
            printed = f"The {name} of {row['category']} is printed as {row[name]:g}"
            words.append(f"{printed}; its counts give {right[name][at]:.{digits}f}.")
    return words


def _selected(
    frame: pd.DataFrame, question: TableQuestion
) -> tuple["pd.Series[bool]", str, str]:
    decided = TableQuestion(
        groups=(), decision=question.decision, score=question.score, rows=question.rows
    )
    rows = count_rows(frame, decided)
    if rows.decided is not None:
        values, kind = rows.decided, "selection"
    elif question.score is not None:
        check_one_of("--score", question.score, list(map(str, frame)))
        scores = rows.scores(question.score)
        values, kind = scores > np.median(scores), "scoring"
    else:
        raise ValueError("Give one of `--decision` and `--score`.")
    flags = pd.Series(pd.NA, index=frame.index, dtype="boolean")
    flags.iloc[rows.number] = values
    return flags, kind, rows.words


def _intervals(
    counts: pd.DataFrame, included: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.full(len(counts), np.nan), np.full(len(counts), np.nan)
    n, selected = (counts.loc[included, name].to_numpy() for name in ("n", "selected"))
    if len(n) < 2:
        return low, high
    level = intervals.for_all_pairs(0.95, len(n))
    rate, best = selected / n, (selected / n).argmax()
    ends = intervals.wilson_interval(selected, n, confidence=level)
    rates = intervals.Interval(rate, *ends)
    largest = intervals.Interval(*(part[best] for part in rates))
    low[included], high[included] = intervals.ratio_of(rates, largest)
    low[np.flatnonzero(included)[best]] = high[np.flatnonzero(included)[best]] = np.nan
    return low, high


def _lowest_maximum(x: Counts, m: Counts, rest: int) -> float:
    """Return the least that the largest of x / (m + b) can be, b whole of sum rest."""
    if not x.any():
        return 0.0
    low, high = 0.0, float((x / m).max())

    def needed(top: float) -> Counts:
        extra = np.ceil(x / top - m - 1e-9)
        return np.maximum(extra, 0).astype(np.int64)

    for _ in range(100):
        middle = (low + high) / 2
        if middle > 0 and needed(middle).sum() <= rest:
            high = middle
        else:
            low = middle
    return float((x / (m + needed(high))).max())
