"""Adverse impact: ratios, tests and shortfall by group, as US practice asks.

The four-fifths rule of thumb and the two-standard-deviation test are those of the
Uniform Guidelines on Employee Selection Procedures (1978, 29 CFR 1607) and of Hazelwood
School District v. United States (1977).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact, norm

from fairdash._wording import FOUR_FIFTHS, number, percent
from fairdash.analysis import holm, standardised_difference
from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.audit import decisions_of
from fairdash.audits.tables.counting import count_rows
from fairdash.audits.tables.facts import GroupFacts, TableFacts, group_facts
from fairdash.audits.tables.question import TableQuestion
from fairdash.metrics import counting

# Two-sided chance of two deviations, for a single comparison: .0455.
_TWO_DEVIATIONS = float(2 * norm.sf(2))
_NAMES = {
    "ratio_low": "low",
    "ratio_high": "high",
    "ratio_alone_low": "alone_low",
    "ratio_alone_high": "alone_high",
}
_PAIR_COLUMNS = ("difference", "ratio", *_NAMES.values(), "too_few")


class AdverseImpact(NamedTuple):
    """Tables by columns of groups, each group against the reference of the facts."""

    tables: Mapping[str, pd.DataFrame]
    facts: TableFacts

    def words(self, name: str) -> str:
        """Return with whom a table compares, and why."""
        return self.facts.parts[name].reference.words("selected")

    def sentences(self, name: str) -> list[str]:
        """Return each group of a table in a sentence that counts whole people."""
        rows = self.tables[name].to_dict("records")
        return [_sentence(row) for row in rows]


def adverse_impact(frame: pd.DataFrame, question: TableQuestion) -> AdverseImpact:
    """Return `impact_tests` for each column of groups, and for all of them crossed.

    Raises
    ------
    ValueError
        As `fairdash.audits.tables.counting.count_rows`; for weights and units, since
        the tests count people; for an unfavourable decision, since they are about being
        selected.
    """
    check_counts_people(question)
    rows = count_rows(frame, question)
    if rows.decided is None and question.score is None:
        raise ValueError("Give one of `--decision` and `--score`.")
    decided, scores = decisions_of(rows, question, None)
    if scores is not None and rows.people is not None:
        raise ValueError(
            "Means of scores need one row for each person; give --decision with "
            "--count."
        )
    facts = TableFacts.of(rows, decided, question)
    tables = {}
    for columns, (name, part) in zip(rows.crossed, facts.parts.items(), strict=True):
        groups = Arguments(rows.frame).groups(list(columns))
        tables[name] = _tests(part, groups, scores)
    return AdverseImpact(_at_once(tables), facts)


def check_counts_people(question: TableQuestion) -> None:
    """Raise ValueError where a question is not about how many people were selected."""
    if question.weight is not None or question.unit is not None:
        raise ValueError(
            "This pack counts people; give no weight and no unit. Of a table of counts "
            "give the column of counts."
        )
    if not question.favourable:
        raise ValueError(
            "This pack is about being selected. Name the favourable value of the "
            "decision, and leave out `favourable: false`."
        )


def impact_tests(
    selected: Any, groups: Any, *, scores: Any = None, reference: str | None = None
) -> pd.DataFrame:
    r"""Return each group against the most selected one that has enough rows.

    Parameters
    ----------
    selected : array of bool, (n_rows,)
    groups : array of str, (n_rows,)
    scores : array of numbers, (n_rows,), optional
    reference : str, optional
        Group that others are compared with.

    Returns
    -------
    DataFrame, one row per other group
        group, reference, n, selected, rate, reference_n, reference_selected,
        reference_rate, difference, ratio, low and high (95 %, for all pairs at once),
        alone_low and alone_high (95 %, this pair alone), below_four_fifths (the ratio
        itself), too_few (see `GroupFacts.comparisons`), deviations
        (:math:`(p_g - p_r) / \sqrt{p (1 - p) (1/n_g + 1/n_r)}` with the rate p of both
        together), p_at_once (Holm's for all groups at once), two_deviations (as much as
        one group beyond 2 on either side: p_at_once below .0455), p_two_deviations and
        p_fisher (both two-sided, this pair alone), shortfall (:math:`n_g p - x_g`: how
        many more were selected at the rate of both; negative where more were),
        smd, smd_low and smd_high (mean score less that of the reference, over their
        pooled standard deviation, with its interval at 95 %; NaN without scores).
    """
    facts = group_facts(selected, groups, reference=reference)
    return _at_once({"": _tests(facts, groups, scores)})[""]


def _at_once(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return tables with which groups are beyond two deviations among all (Holm)."""
    # The groups of all tables are one family of tests: a pack shows all of them, and
    # a reader looks for the one that stands out.
    p_by_table = [table["p_two_deviations"] for table in tables.values()]
    adjusted = holm(np.concatenate(p_by_table))
    result = {}
    start = 0
    for name, table in tables.items():
        end = start + len(table)
        p = adjusted[start:end]
        result[name] = table.assign(p_at_once=p, two_deviations=p < _TWO_DEVIATIONS)
        start = end
    return result


def _tests(part: GroupFacts, groups: Any, scores: Any) -> pd.DataFrame:
    """Return a row of tests for each comparison of a group with the reference."""
    counts = part.groups.set_index("group")
    names, codes = counting.group_codes(groups, groups)
    rows = []
    for pair in part.comparisons.rename(columns=_NAMES).to_dict("records"):
        group = pair["group"]
        reference = pair["reference"]
        row = _test(pair, counts.loc[group], counts.loc[reference])
        row |= dict.fromkeys(("smd", "smd_low", "smd_high"), np.nan)
        if scores is not None:
            values = np.asarray(scores, dtype=float)
            smd = standardised_difference(
                values[codes == names.index(group)],
                values[codes == names.index(reference)],
            )
            row |= {"smd": smd.value, "smd_low": smd.low, "smd_high": smd.high}
        rows.append(row)
    return pd.DataFrame(rows)


def _test(pair: Mapping[Any, Any], group: Any, reference: Any) -> dict[str, Any]:
    """Test the selection of a group against that of the reference."""
    n = int(group["n"])
    x = int(group["positive"])
    m = int(reference["n"])
    y = int(reference["positive"])
    # Under the hypothesis of one rate for both, its estimate is the pooled rate.
    pooled = (x + y) / (n + m)
    standard_error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    deviations = np.nan
    if standard_error > 0:
        deviations = (x / n - y / m) / standard_error
    selected_or_not = np.array([[x, n - x], [y, m - y]])
    return {
        "group": pair["group"],
        "reference": pair["reference"],
        "n": n,
        "selected": x,
        "rate": float(group["rate"]),
        "reference_n": m,
        "reference_selected": y,
        "reference_rate": float(reference["rate"]),
        **{name: pair[name] for name in _PAIR_COLUMNS},
        "below_four_fifths": bool(pair["ratio"] < FOUR_FIFTHS),
        "deviations": deviations,
        "two_deviations": False,  # of all groups at once: see `_at_once`
        "p_two_deviations": 2 * norm.sf(abs(deviations)),
        "p_fisher": fisher_exact(selected_or_not)[1],
        "shortfall": n * pooled - x,
    }


def _sentence(row: Mapping[Any, Any]) -> str:
    """Say a row of tests in whole people."""
    text = (
        f"{row['group']}: {row['selected']:,} of {row['n']:,} selected "
        f"({percent(row['rate'])}), against {row['reference_selected']:,} of "
        f"{row['reference_n']:,} of {row['reference']} "
        f"({percent(row['reference_rate'])})."
    )
    if np.isfinite(row["ratio"]):
        side = "below" if row["below_four_fifths"] else "not below"
        text += f" The ratio is {number(row['ratio'])}, {side} four fifths."
    people = round(abs(row["shortfall"]))
    if people:
        side = "fewer" if row["shortfall"] > 0 else "more"
        noun = "person" if people == 1 else "people"
        text += f" That is {people:,} {side} {noun} than at the rate of both together."
    if row["too_few"]:
        text += " One of the two has too few rows for tests and intervals to say much."
    return text
