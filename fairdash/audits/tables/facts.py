"""Facts of a table, each computed once for all documents about it.

An audit, a check of limits, a report and evidence packs say the same of the same rows
because they read one `TableFacts`. Each number has its kind: how many rows, of whom,
compared with whom and why, and whether its interval holds for one pair or for all.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._validation import CROSS
from fairdash._wording import listing
from fairdash.audits.arguments import Arguments
from fairdash.audits.decisions import Audit
from fairdash.audits.tables.counting import CountedRows
from fairdash.audits.tables.question import TableQuestion
from fairdash.metrics import LocalMeasure, intervals

MEASURE = "selection_rate"


@dataclass(frozen=True)
class Reference:
    """The group that others are compared with, and why that one.

    Attributes
    ----------
    n, positive : int
        Its rows, and those decided positive.
    named : bool
        Whether the question names it; else the rows chose it.
    favourable : bool
        Whether a positive decision is good: then the highest rate is the best.
    enough : bool
        Whether it has enough rows to be compared; where no group has, the best of all
        is the reference.
    ahead : tuple of (str, int, int)
        Groups with a better rate, with their rows and positive decisions. Unless the
        reference was named they have too few rows to be compared with.
    """

    group: str
    n: int
    positive: int
    named: bool
    favourable: bool
    enough: bool
    ahead: tuple[tuple[str, int, int], ...] = ()

    def words(self, decided: str = "positive") -> str:
        """Return who it is, why, and who is ahead; ``decided`` as "selected"."""
        best = "highest" if self.favourable else "lowest"
        group = f"{self.group} ({self.positive:,} of {self.n:,} {decided})"
        if self.named:
            text = f"Compared with {group}, the group that was named."
        elif self.enough:
            text = (
                f"Compared with {group}: the {best} rate of the groups with enough "
                "rows."
            )
        else:
            text = f"Compared with {group}: the {best} rate; no group has enough rows."
        if not self.ahead:
            return text
        ahead = [
            f"{name} ({positive:,} of {n:,} {decided})"
            for name, n, positive in self.ahead
        ]
        have = "has" if len(ahead) == 1 else "have"
        better = "a higher rate" if self.favourable else "a lower rate"
        text = f"{text} {listing(ahead)} {have} {better}"
        return f"{text}." if self.named else f"{text}, but {have} too few rows."


@dataclass(frozen=True, eq=False)
class GroupFacts:
    """Counts, rates and comparisons of the groups of one column, or of several crossed.

    Attributes
    ----------
    rows : int
        That count here.
    groups : DataFrame
        group, n, positive (rows), rate, low, high: Wilson's interval of this rate
        alone.
    comparisons : DataFrame
        group, reference, then difference and ratio, each with low and high, which hold
        for all ``pairs`` at once (Bonferroni), and alone_low and alone_high, which hold
        for this pair alone; too_few (whether a group expects fewer than five rows of
        either decision).
    pairs : int
        For how many pairs of groups low and high hold at once.
    """

    feature: str
    rows: int
    groups: pd.DataFrame
    reference: Reference
    comparisons: pd.DataFrame
    pairs: int
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as Python's own types; NaN stays."""
        return {
            "feature": self.feature,
            "rows": self.rows,
            "groups": self.groups.to_dict("records"),
            "reference": {**asdict(self.reference), "why": self.reference.words()},
            "comparisons": self.comparisons.to_dict("records"),
            "pairs": self.pairs,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, eq=False)
class TableFacts:
    """The facts of a table that every document about it reads.

    Attributes
    ----------
    parts : mapping of str to GroupFacts
        By column of groups; several that are crossed are joined by " × ".
    """

    rows: CountedRows
    parts: Mapping[str, GroupFacts]

    @classmethod
    def of(
        cls, rows: CountedRows, decided: ArrayLike, question: TableQuestion
    ) -> "TableFacts":
        """Return the facts of rows that were decided so."""
        table = rows.frame
        parts = {
            CROSS.join(columns): group_facts(
                decided,
                Arguments(table).groups(list(columns)),
                feature=CROSS.join(columns),
                reference=question.reference,
                favourable=question.favourable,
                sample_weight=rows.weights(question),
                cluster=None if question.unit is None else table[question.unit].array,
            )
            for columns in rows.crossed
        }
        return cls(rows, parts)

    @classmethod
    def of_audits(
        cls, rows: CountedRows, audits: Mapping[str, Audit], question: TableQuestion
    ) -> "TableFacts":
        """Return the facts of rows from their audits by each column of groups."""
        parts = {
            name: facts_of(
                part.selection,
                feature=name,
                reference=question.reference,
                favourable=question.favourable,
                confidence=part.confidence,
            )
            for name, part in audits.items()
        }
        return cls(rows, parts)

    @property
    def positive(self) -> pd.DataFrame:
        """feature, group, n and positive: rows and positive decisions."""
        columns = ["group", "n", "positive"]
        counts = [
            part.groups[columns].assign(feature=name)
            for name, part in self.parts.items()
        ]
        whole = pd.concat(counts, ignore_index=True)
        return whole[["feature", *columns]]

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as Python's own types; NaN stays."""
        return {
            "rows": self.rows.n,
            "excluded": [part._asdict() for part in self.rows.excluded],
            "remarks": list(self.rows.remarks),
            "values": [value._asdict() for value in self.rows.decision_values],
            "parts": [part.to_dict() for part in self.parts.values()],
        }


def group_facts(
    decided: ArrayLike,
    groups: ArrayLike,
    *,
    feature: str = "",
    reference: str | None = None,
    favourable: bool = True,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> GroupFacts:
    """Return counts, rates and comparisons of the groups of some rows.

    Parameters
    ----------
    decided : array of bool, (n_rows,)
    groups : array, (n_rows,)
    reference, favourable
        As in `facts_of`.
    """
    selection = LocalMeasure.of(
        MEASURE,
        None,
        np.asarray(decided, dtype=bool),
        sensitive_features=groups,
        subgroups=None,
        sample_weight=sample_weight,
        cluster=cluster,
    )
    return facts_of(
        selection, feature=feature, reference=reference, favourable=favourable
    )


def facts_of(
    selection: LocalMeasure,
    *,
    feature: str = "",
    reference: str | None = None,
    favourable: bool = True,
    confidence: float = 0.95,
) -> GroupFacts:
    """Return counts, rates and comparisons of groups whose selection is measured.

    Parameters
    ----------
    selection : LocalMeasure
        Of the selection rate.
    reference : str, optional
        Group that others are compared with; by default the one with the best rate of
        those with enough rows, as `fairdash.metrics.measure_gaps` chooses it.
    """
    estimates = selection.by_group
    rates = estimates.table(confidence=confidence)
    # A sampling weight is no number of people: n counts rows, or people of a count.
    rows = selection.decided_by_group
    table = pd.DataFrame(
        {
            "group": rates["group"].astype(str),
            "n": rows.n,
            "positive": rows.decided,
            "rate": rates["value"],
            "low": rates["ci_low"],
            "high": rates["ci_high"],
        }
    )

    # A reference that the rows choose may be any group, so intervals then hold for all
    # pairs of groups, not only for those with it.
    is_named = reference is not None
    n_groups = len(table)
    n_pairs = n_groups - 1 if is_named else n_groups * (n_groups - 1) // 2
    at_once = intervals.for_all_pairs(confidence, n_groups, held=is_named)
    alone = estimates.gaps(
        reference=reference, favourable=favourable, confidence=confidence
    )
    together = estimates.gaps(
        reference=reference, favourable=favourable, confidence=at_once
    )
    return GroupFacts(
        feature=feature,
        rows=int(rows.n.sum()),
        groups=table,
        reference=_reference(table, together, is_named, favourable),
        comparisons=_comparisons(together, alone),
        pairs=n_pairs,
        confidence=confidence,
    )


def _reference(
    table: pd.DataFrame, pairs: pd.DataFrame, named: bool, favourable: bool
) -> Reference:
    """Return the group that pairs compare with, and the groups with a better rate."""
    name = str(pairs["reference"].iloc[0])
    rates = table.set_index("group")["rate"]
    is_better = rates > rates[name] if favourable else rates < rates[name]
    counts = {}
    for group, n, positive in zip(
        table["group"].tolist(),
        table["n"].tolist(),
        table["positive"].tolist(),
        strict=True,
    ):
        counts[group] = (n, positive)
    n, positive = counts[name]
    return Reference(
        group=name,
        n=n,
        positive=positive,
        named=named,
        favourable=favourable,
        enough=not pairs["too_few"].all(),
        ahead=tuple((group, *counts[group]) for group in is_better.index[is_better]),
    )


def _comparisons(together: pd.DataFrame, alone: pd.DataFrame) -> pd.DataFrame:
    """Return pairs of groups with the intervals of all at once and of each alone."""
    names = {
        "difference": ("ci_low", "ci_high"),
        "ratio": ("ratio_low", "ratio_high"),
    }
    table = together[["group", "reference"]].astype(str)
    for name, (low, high) in names.items():
        table[name] = together[name]
        table[f"{name}_low"] = together[low]
        table[f"{name}_high"] = together[high]
        table[f"{name}_alone_low"] = alone[low]
        table[f"{name}_alone_high"] = alone[high]
    return table.assign(too_few=together["too_few"])
