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
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import CROSS, check_one_of
from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.adverse import check_counts_people
from fairdash.audits.tables.audit import decisions_of
from fairdash.audits.tables.counting import CountedRows, count_rows
from fairdash.audits.tables.facts import GroupFacts, group_facts
from fairdash.audits.tables.question import TableQuestion
from fairdash.metrics import counting, intervals

SMALL = 0.02  # share of the known people below which a category has no ratio

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
        categories that count), reference (the category of that largest rate),
        alone_low and alone_high (95 %, Donner and Zou 2012, of this ratio alone), low
        and high (95 % for all pairs of categories at once), bound_low and bound_high
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
    largest = counts["category"].iloc[int(np.where(included, rate, -1.0).argmax())]
    alone = _intervals(counts, included, 0.95)
    together = intervals.for_all_pairs(0.95, int((n > 0).sum()))
    low, high = _intervals(counts, included, together)
    bounds = np.full((len(n), 2), np.nan)
    bounds[included] = ratio_bounds(n[included], selected[included], unknown)
    return counts[["category", "n", "selected"]].assign(
        rate=rate,
        ratio=ratio,
        reference=pd.Series(str(largest), counts.index).where(included),
        alone_low=alone[0],
        alone_high=alone[1],
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
    """Impact tables by columns of categories, with the unknown people of each.

    ``facts`` are those of `fairdash.audits.tables.facts` for the rows of each table;
    published counts have none. ``assessed`` are all people with a decision or score,
    known or not, with the rows that are left out; ``counted`` those of each table.
    """

    tables: Mapping[str, pd.DataFrame]
    unknown: Mapping[str, Unknown]
    kind: str  # "selection" or "scoring"
    facts: Mapping[str, GroupFacts]
    rows: int
    assessed: CountedRows | None = None
    counted: Mapping[str, CountedRows] = {}

    @property
    def excluded(self) -> str:
        """How many rows do not count in any table, and why."""
        return "counts as given" if self.assessed is None else self.assessed.words

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is doubtful about the rows of any table, each once."""
        every = [text for rows in self.counted.values() for text in rows.remarks]
        return tuple(dict.fromkeys(every))

    def words(self, name: str) -> str:
        """Return the note of a table: denominator, unknown people, small categories."""
        table, missing = self.tables[name], self.unknown[name]
        decided = "selected" if self.kind == "selection" else "above the median"
        base = table[table["category"] == self.largest(name)].iloc[0]
        text = [
            f"Ratios divide by the rate of {base['category']} ({base['selected']:,} of "
            f"{base['n']:,} {decided}), the largest of a category with 2 % of the "
            "known people or more",
            f"{people_words(missing.n)} of unknown category",
        ]
        if missing.n:
            text[-1] += f", {missing.selected:,} of them {decided}"
        each = [
            f"{row.category} ({row.selected:,} of {row.n:,} {decided})"
            for row in table[~table["included"]].itertuples()
        ]
        if each:
            text.append(
                f"Less than 2 % of the known people, so without a ratio: "
                f"{', '.join(each)}; the rules ask the auditor to say why"
            )
        return ". ".join([*text, *self._elsewhere(name)]) + "."

    def largest(self, name: str) -> str:
        """Return the category of a table whose rate the ratios divide by."""
        return str(self.tables[name]["reference"].dropna().iloc[0])

    def _elsewhere(self, name: str) -> list[str]:
        """Say where the audit of the same file counts or compares otherwise."""
        if name not in self.facts:
            return []
        rows, reference = self.counted[name], self.facts[name].reference
        text = [
            f"{people_words(part.rows)} of {part.reason} left out"
            for part in rows.excluded
            if part.column in rows.features and part.reason == f"another {part.column}"
        ]
        if reference.group != self.largest(name):
            why = "was named" if reference.named else "has enough rows for an interval"
            text.append(
                f"The audit of these rows compares with {reference.group}, which {why}"
            )
        if more := self.only_here(name):
            text.append(
                f"{people_words(more)} of this table have no value in another column "
                "of groups: the audit and the tests of adverse impact, which count the "
                "same rows in all their tables, leave them out"
            )
        return text

    def only_here(self, name: str) -> int:
        """Return how many people of a table have no value in another column."""
        return len(self.counted[name].number) - min(
            len(rows.number) for rows in self.counted.values()
        )


def people_words(n: int) -> str:
    """Return "1 person" or "3 people"."""
    return "1 person" if n == 1 else f"{n:,} people"


def bias_audit(frame: pd.DataFrame, question: TableQuestion) -> BiasAudit:
    """Return the impact tables of each column of categories, and of both crossed.

    With a decision, or a score and its threshold, these are of selection rates; with a
    score, of the share above the median of all scores. A table is of the people whose
    categories in it are known.

    Raises
    ------
    ValueError
        When a column or a value is missing, or there is neither decision nor score; for
        weights, units and an unfavourable decision, since the rules count people who
        are selected.
    """
    check_counts_people(question)
    frame, question = question.prepared(frame)
    assessed = count_rows(frame, question.model_copy(update={"groups": ()}))
    selected, kind = _selected(assessed, question)
    flags = np.zeros(len(frame), dtype=bool)
    flags[assessed.number] = np.asarray(selected, dtype=bool)
    times = np.ones(len(frame))
    if assessed.people is not None:
        times[assessed.number] = assessed.people
    named = question.groups
    several = [named] if len(named) > 1 else []
    tables, unknown, facts, counted = {}, {}, {}, {}
    for columns in [*((column,) for column in named), *several]:
        asked = question.model_copy(update={"groups": tuple(columns)})
        rows = count_rows(frame, asked)
        name = CROSS.join(rows.features)
        labels = frame[list(rows.features)].isna().any(axis=1).to_numpy()
        missing = assessed.number[labels[assessed.number]]
        unknown[name] = Unknown(
            int(times[missing].sum()), int(times[missing][flags[missing]].sum())
        )
        facts[name] = group_facts(
            flags[rows.number],
            Arguments(rows.frame).groups(list(rows.features)),
            feature=name,
            reference=question.reference,
            sample_weight=rows.people,
        )
        counted[name] = rows
        counts = facts[name].groups.rename(
            columns={"group": "category", "positive": "selected"}
        )
        tables[name] = impact_table(counts, unknown[name])
    n = assessed.n
    return BiasAudit(tables, unknown, kind, facts, n, assessed, counted)


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
    return BiasAudit({"category": impact}, unknown, "selection", {}, n)


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


def _selected(rows: CountedRows, question: TableQuestion) -> tuple[Any, str]:
    if rows.decided is None and question.score is None:
        raise ValueError("Give one of `--decision` and `--score`.")
    if question.score is not None and question.threshold is None:
        check_one_of("--score", question.score, list(map(str, rows.frame)))
        scores = rows.scores(question.score)
        if not np.isin(scores, (0, 1)).all():  # else it is a decision
            if rows.people is not None:
                raise ValueError(
                    "The median of scores needs one row for each person; give "
                    "--decision with --count."
                )
            return scores > np.median(scores), "scoring"
    decided, _ = decisions_of(rows, question, None)
    return decided, "selection"


def _intervals(
    counts: pd.DataFrame, included: NDArray[np.bool_], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.full(len(counts), np.nan), np.full(len(counts), np.nan)
    n, selected = (counts.loc[included, name].to_numpy() for name in ("n", "selected"))
    if len(n) < 2:
        return low, high
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
