"""New York City's Local Law 144: impact ratios, and what unknown people could change.

The rules (6 RCNY § 5-300 to 5-304) ask, for sex, race or ethnicity and both crossed,
for the applicants of each category, the share selected (or scored above the median of
the sample) and the impact ratio: that share over the largest share of a category. A
category of less than 2 % of the data may be excluded, with its numbers stated; the
number of people whose category is unknown is stated. `fairdash.analysis.impact_ratios`
holds the statistics, with the bounds of each ratio over all ways in which the unknown
people could belong to categories.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash._validation import CROSS, check_one_of
from fairdash.analysis import impact_ratios
from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.adverse import check_counts_people
from fairdash.audits.tables.audit import decisions_of
from fairdash.audits.tables.counting import CountedRows, count_rows
from fairdash.audits.tables.facts import GroupFacts, group_facts
from fairdash.audits.tables.question import TableQuestion
from fairdash.metrics import counting


class BiasAudit(NamedTuple):
    """Impact tables by columns of categories, with the unknown people of each.

    ``facts`` are those of `fairdash.audits.tables.facts` for the rows of each table;
    published counts have none. ``assessed`` are all people with a decision or score,
    known or not, with the rows that are left out; ``counted`` those of each table.
    """

    tables: Mapping[str, pd.DataFrame]
    unknown: Mapping[str, impact_ratios.Unknown]
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
        """Doubts about the rows of any table, each once."""
        remarks = [text for rows in self.counted.values() for text in rows.remarks]
        return tuple(dict.fromkeys(remarks))

    def words(self, name: str) -> str:
        """Return the note of a table: denominator, unknown people, small categories."""
        table = self.tables[name]
        unknown = self.unknown[name]
        decided = "selected" if self.kind == "selection" else "above the median"
        base = table[table["category"] == self.largest(name)].iloc[0]
        denominator = (
            f"Ratios divide by the rate of {base['category']} ({base['selected']:,} of "
            f"{base['n']:,} {decided}), the largest of a category with 2 % of the "
            "known people or more"
        )
        unknown_people = f"{people_words(unknown.n)} of unknown category"
        if unknown.n:
            unknown_people += f", {unknown.selected:,} of them {decided}"
        parts = [denominator, unknown_people]
        small = [
            f"{row.category} ({row.selected:,} of {row.n:,} {decided})"
            for row in table[~table["included"]].itertuples()
        ]
        if small:
            parts.append(
                f"Less than 2 % of the known people, so without a ratio: "
                f"{', '.join(small)}; the rules ask the auditor to say why"
            )
        parts += self._differences_from_audit(name)
        return ". ".join(parts) + "."

    def largest(self, name: str) -> str:
        """Return the category of a table whose rate the ratios divide by."""
        return str(self.tables[name]["reference"].dropna().iloc[0])

    def _differences_from_audit(self, name: str) -> list[str]:
        """Say where the audit of the same file counts or compares otherwise."""
        if name not in self.facts:
            return []
        rows = self.counted[name]
        reference = self.facts[name].reference
        parts = [
            f"{people_words(excluded.rows)} of {excluded.reason} left out"
            for excluded in rows.excluded
            if excluded.column in rows.features
            and excluded.reason == f"another {excluded.column}"
        ]
        if reference.group != self.largest(name):
            why = "was named" if reference.named else "has enough rows for an interval"
            parts.append(
                f"The audit of these rows compares with {reference.group}, which {why}"
            )
        n_only_here = self.only_here(name)
        if n_only_here:
            parts.append(
                f"{people_words(n_only_here)} of this table have no value in another "
                "column of groups: the audit and the tests of adverse impact, which "
                "count the same rows in all their tables, leave them out"
            )
        return parts

    def only_here(self, name: str) -> int:
        """Return how many people of a table have no value in another column."""
        fewest = min(len(rows.number) for rows in self.counted.values())
        return len(self.counted[name].number) - fewest


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
    decisions, kind = _selected(assessed, question)
    selected = np.zeros(len(frame), dtype=bool)
    selected[assessed.number] = np.asarray(decisions, dtype=bool)
    people = np.ones(len(frame))
    if assessed.people is not None:
        people[assessed.number] = assessed.people

    groupings: list[tuple[str, ...]] = [(column,) for column in question.groups]
    if len(groupings) > 1:
        groupings.append(tuple(question.groups))
    tables = {}
    unknown = {}
    facts = {}
    counted = {}
    for columns in groupings:
        # The rules ask for all people of a table: one without a race counts by sex.
        rows = count_rows(frame, question.model_copy(update={"groups": columns}))
        features = list(rows.features)
        name = CROSS.join(features)
        counted[name] = rows
        has_no_category = frame[features].isna().any(axis=1).to_numpy()
        missing = assessed.number[has_no_category[assessed.number]]
        missing_selected = missing[selected[missing]]
        unknown[name] = impact_ratios.Unknown(
            int(people[missing].sum()), int(people[missing_selected].sum())
        )
        facts[name] = group_facts(
            selected[rows.number],
            Arguments(rows.frame).groups(features),
            feature=name,
            reference=question.reference,
            sample_weight=rows.people,
        )
        counts = facts[name].groups.rename(
            columns={"group": "category", "positive": "selected"}
        )
        tables[name] = impact_ratios.impact_table(counts, unknown[name])
    return BiasAudit(tables, unknown, kind, facts, assessed.n, assessed, counted)


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
        numbers = counting.finite_numbers(name, counts[name])
        if (numbers % 1).any():
            raise ValueError(f"Column {name!r} must hold whole numbers.")
        table[name] = numbers.astype(np.int64)
    is_unknown = table["category"].str.lower() == "unknown"
    people = table.loc[is_unknown, ["n", "selected"]].sum()
    unknown = impact_ratios.Unknown(int(people["n"]), int(people["selected"]))
    impact = impact_ratios.impact_table(table[~is_unknown], unknown)
    n = int(table["n"].sum())
    name = "category"
    return BiasAudit({name: impact}, {name: unknown}, "selection", {}, n)


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
    has_ratio = rate.notna()
    if "ratio" in counted:
        has_ratio = counted["ratio"].notna()
    recomputed = {"rate": rate, "ratio": rate / rate[has_ratio].max()}
    tolerance = 0.5 * 10.0**-digits + 1e-9
    sentences = []
    for name, values in recomputed.items():
        if name not in counted:
            continue
        is_wrong = (counted[name] - values).abs() > tolerance
        for index, row in counted[is_wrong].iterrows():
            printed = f"The {name} of {row['category']} is printed as {row[name]:g}"
            sentences.append(f"{printed}; its counts give {values[index]:.{digits}f}.")
    return sentences


def _selected(rows: CountedRows, question: TableQuestion) -> tuple[Any, str]:
    """Return who was selected, or scored above the median, and which of the two."""
    if rows.decided is None and question.score is None:
        raise ValueError("Give one of `--decision` and `--score`.")
    if question.score is not None and question.threshold is None:
        check_one_of("--score", question.score, list(map(str, rows.frame)))
        scores = rows.scores(question.score)
        is_decision = np.isin(scores, (0, 1)).all()
        if not is_decision:
            if rows.people is not None:
                raise ValueError(
                    "The median of scores needs one row for each person; give "
                    "--decision with --count."
                )
            return scores > np.median(scores), "scoring"
    decided, _ = decisions_of(rows, question, None)
    return decided, "selection"
