"""Audit outcomes of any kind: several classes, numbers, or a ranking."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._validation import check_lengths, check_one_of, value_label
from fairdash._wording import listing, plural
from fairdash.audits.answer import Answer, Listing
from fairdash.audits.arguments import Arguments
from fairdash.audits.short_verdicts import NO_GAP, brief, place_brief
from fairdash.audits.tables.audit import plain_rows
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    Finding,
    LocalMeasure,
    Speech,
    catalog,
    intervals,
    measure_by_group,
    measure_gaps,
    sentence,
)

Column = ArrayLike | Hashable
OutcomeKind = Literal["classes", "numbers", "ranking"]
OUTCOME_KINDS: tuple[OutcomeKind, ...] = ("classes", "numbers", "ranking")
MOST_CLASSES = 20
_OF_CLASS = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision")


@dataclass(frozen=True, eq=False)
class OutcomesAudit:
    """What `audit_outcomes` found, each table long: a row per estimate.

    Attributes
    ----------
    by_group : DataFrame
        outcome (a class, "top 10%", or ""), measure, group, value, ci_low, ci_high, n.
    gaps : DataFrame
        outcome, measure, group, reference, difference, ci_low, ci_high, n, clear.
        Intervals hold for all pairs of groups and, of a measure, for all classes.
    local : DataFrame or None
        outcome, measure, subgroup, n, gap, ci_low, ci_high, chance, estimable, reason;
        chance is what the largest gap of a fair model stays below in 95 % of cases, for
        all classes at once.
    findings : list of (str, Finding)
        Every gap with its outcome, those that are sure first, the surest before others.
    """

    kind: str
    n: int
    by_group: pd.DataFrame
    gaps: pd.DataFrame
    local: pd.DataFrame | None
    findings: list[tuple[str, Finding]]
    feature: str
    confidence: float

    @property
    def verdict(self) -> str:
        """The surest gap in at most 20 words, or that none is sure."""
        outcome, first = self.findings[0]
        if not first.sure:
            return NO_GAP
        return brief(place_brief(first, self._speech(outcome)))

    def _speech(self, outcome: str) -> Speech:
        decided = (
            f"predicted “{outcome}”" if self.kind == "classes" else f"in the {outcome}"
        )
        return Speech(decided, f"“{outcome}”", self.feature)

    def answer(self) -> Answer:
        """Return the verdict, and every measure by group with its interval."""
        sure = [(o, f) for o, f in self.findings if f.sure]
        words = [sentence(f, self._speech(o)) for o, f in sure[:5]]
        names = {
            "outcome": "Outcome",
            "measure": "Measure",
            "group": "Group",
            "value": "Value",
            "ci_low": "Low",
            "ci_high": "High",
            "n": "Rows",
        }
        table = self.by_group[list(names)].rename(columns=names)
        table["Measure"] = table["Measure"].map(catalog.MEASURE_NAMES)
        table["Outcome"] = table["Outcome"].replace("", "all rows")
        return Answer(
            self.verdict,
            table=Listing("Measures by group", table, self._note()),
            facts=(plural(self.n, "row"),),
            details=" ".join(words) or NO_GAP,
            file="fairdash-audit.csv",
            data=self.by_group,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was found as JSON has it, NaN as None."""
        tables = {"by_group": self.by_group, "gaps": self.gaps, "local": self.local}
        return {
            "kind": self.kind,
            "verdict": self.verdict,
            "rows": self.n,
            "confidence": self.confidence,
            **{
                name: None if table is None else plain_rows(table)
                for name, table in tables.items()
            },
        }

    def _note(self) -> str:
        note = f"{100 * self.confidence:g}% intervals."
        if self.kind == "classes":
            note += " Gaps hold for all classes at once: each class against the rest."
        if self.kind == "ranking":
            note += " The ranking is taken as given: other rows would move its places."
        return note

    def __str__(self) -> str:
        """Return verdict and table as text."""
        table = self.answer().table
        assert table is not None, "every audit has a table"
        shown = table.frame.to_string(index=False, float_format="%.3f")
        return f"{self.verdict}\n\n{shown}\n{plural(self.n, 'row')}. {self._note()}"


@dataclass(frozen=True)
class _Part:
    """A measure of one class, of all rows, or of the top of a ranking."""

    outcome: str
    measure: str
    y: Any
    predicted: Any


def audit_outcomes(
    y_true: Column | None,
    y_pred: Column,
    *,
    kind: OutcomeKind | str,
    sensitive_features: Column | Sequence[Column],
    frame: pd.DataFrame | None = None,
    subgroups: ArrayLike | Subgroups | Sequence[str] | None = None,
    sample_weight: Column | None = None,
    cluster: Column | None = None,
    top: float = 0.1,
    reference: str | None = None,
    favourable: bool = True,
    min_size: int = 50,
    confidence: float = 0.95,
) -> OutcomesAudit:
    """Measure predictions that are not 0 or 1, by group and inside subgroups.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or name of a column
        Classes or numbers; None where they are unknown, and for a ranking.
    y_pred : array-like of shape (n_rows,), or name of a column
        Predicted classes or numbers; of a ranking scores, the largest first.
    kind : {"classes", "numbers", "ranking"}
        Of classes each is held against the rest: how often it is predicted, and with
        ``y_true`` its true and false positive rate and precision. Of numbers the mean
        prediction and, with ``y_true``, mean error and mean absolute error. Of a
        ranking the share in the ``top``, and exposure
        (`fairdash.metrics.group.catalog.exposure`).
    sensitive_features, frame, subgroups, reference, favourable, min_size, confidence
        As of `fairdash.audit`.
    sample_weight, cluster : array-like, (n_rows,), or name of a column, optional
        Sampling weights, and the unit of each row.
    top : float, default=0.1
        Share of rows that the top of a ranking has.

    Raises
    ------
    ValueError
        If a name is no column, lengths differ, numbers are not finite, there are fewer
        than two or more than 20 classes, or the top has no row.

    Examples
    --------
    >>> audit = audit_outcomes(
    ...     None, [3.0, 1.0, 2.0, 5.0] * 40, kind="numbers",
    ...     sensitive_features=["a", "a", "b", "b"] * 40,
    ... )
    >>> audit.verdict
    'The mean prediction is 1.500 lower for a than for b.'
    """
    check_one_of("kind", kind, OUTCOME_KINDS)
    columns = Arguments(frame)
    y, predicted = columns.values("y_true", y_true), columns.values("y_pred", y_pred)
    groups = columns.groups(sensitive_features)
    sampling = {
        "sample_weight": columns.values("sample_weight", sample_weight),
        "cluster": columns.values("cluster", cluster),
    }
    check_lengths(predicted, groups, y, *sampling.values())
    parts = _parts(kind, y, predicted, top)
    n_classes = len({part.outcome for part in parts})
    inside = None
    if subgroups is not None:
        labels, min_size = columns.subgroups(subgroups, min_size)
        inside = {"subgroups": labels, "min_size": min_size}
    by_group, gaps, local = [], [], []
    for part in parts:
        rows: Any = {
            "measure": part.measure,
            "y_true": part.y,
            "y_pred": part.predicted,
            "sensitive_features": groups,
            **sampling,
        }
        about = {"outcome": part.outcome, "measure": part.measure}
        values = measure_by_group(confidence=confidence, **rows)
        by_group.append(values.assign(**about))
        held, n_groups = reference is not None, len(values)
        level = intervals.for_all_pairs(
            confidence, n_groups, held=held, times=n_classes
        )
        table = measure_gaps(
            confidence=level, reference=reference, favourable=favourable, **rows
        )
        clear = (table["ci_low"] > 0) | (table["ci_high"] < 0)
        gaps.append(table.assign(**about, clear=clear & ~table["too_few"]))
        if inside is not None:
            measured = LocalMeasure.of(**rows, **inside)
            local.append(_local(measured, confidence, n_classes).assign(**about))
    names = ["outcome", "measure", "group"]
    ends = ["ci_low", "ci_high", "n"]
    every = pd.concat(gaps, ignore_index=True)
    every = every[[*names, "reference", "difference", *ends, "clear"]]
    return OutcomesAudit(
        kind,
        len(predicted),
        pd.concat(by_group, ignore_index=True)[[*names, "value", *ends]],
        every,
        pd.concat(local, ignore_index=True)[_LOCAL] if local else None,
        _findings(every),
        columns.feature(sensitive_features),
        confidence,
    )


_LOCAL = [
    "outcome", "measure", "subgroup", "n", "gap", "ci_low", "ci_high", "chance",
    "estimable", "reason",
]  # fmt: skip


def complete_rows(
    frame: pd.DataFrame, columns: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the rows that have all columns, and how many have not, by reason.

    Raises ValueError for a column that the table lacks, or when no row is left.
    """
    complete, excluded = np.ones(len(frame), bool), {}
    for column in columns:
        check_one_of("column", column, [str(name) for name in frame])
        without = frame[column].isna().to_numpy() & complete
        if without.any():
            excluded[f"no {column}"] = int(without.sum())
        complete &= ~without
    if not complete.any():
        reasons = listing(f"{n:,} rows have {why}" for why, n in excluded.items())
        raise ValueError(f"No row is left to audit: {reasons or 'the table is empty'}.")
    return frame[complete], excluded


def _parts(kind: str, y: Any, predicted: Any, top: float) -> list[_Part]:
    if kind == "numbers":
        able = catalog.NUMBER_MEASURES if y is not None else ["mean_prediction"]
        return [_Part("", measure, y, predicted) for measure in able]
    if kind == "ranking":
        scores = pd.to_numeric(pd.Series(predicted), errors="coerce").to_numpy(float)
        if not 0 < top < 1 or round(top * len(scores)) < 1:
            raise ValueError(
                f"`top` must be a share between 0 and 1 that has a row, got {top}."
            )
        cut = np.sort(scores)[-round(top * len(scores))]
        first = (scores >= cut).astype(np.int8)  # rows of one score stay together
        return [
            _Part(f"top {100 * top:g}%", "selection_rate", None, first),
            _Part("", "exposure", None, predicted),
        ]
    columns = [pd.Series(c).map(value_label) for c in (y, predicted) if c is not None]
    classes = sorted(set().union(*(set(column) for column in columns)))
    if not 2 <= len(classes) <= MOST_CLASSES:
        shown = listing(classes[:5])
        raise ValueError(
            f"Classes must be 2 to {MOST_CLASSES}, got {len(classes)}: {shown}. For "
            "numbers choose the kind 'numbers'."
        )
    measures = _OF_CLASS if y is not None else _OF_CLASS[:1]
    return [
        _Part(name, measure, *(_flags(c, name) for c in (y, predicted)))
        for name in classes
        for measure in measures
    ]


def _flags(column: Any, name: str) -> Any:
    if column is None:
        return None
    return (pd.Series(column).map(value_label) == name).to_numpy(np.int8)


def _local(measured: LocalMeasure, confidence: float, n_classes: int) -> pd.DataFrame:
    chance = np.nan
    if measured.estimable.any():
        samples = measured.noise_floor().samples
        chance = float(np.quantile(samples, 1 - 0.05 / n_classes))
    level = 1 - (1 - confidence) / n_classes
    return measured.table(confidence=level).assign(chance=chance)


def _findings(gaps: pd.DataFrame) -> list[tuple[str, Finding]]:
    """Return gaps as findings: sure ones by how many half widths they are from 0."""
    distance = gaps["difference"].abs() / (gaps["ci_high"] - gaps["ci_low"])
    order = gaps.assign(unsure=~gaps["clear"], near=-distance.fillna(0))
    order = order.sort_values(["unsure", "near"], kind="stable")
    why = "the interval reaches 0, or rows are too few"
    findings = []
    for row in order.to_dict("records"):
        names = str(row["measure"]), None, str(row["group"]), str(row["reference"])
        ends = float(row["difference"]), float(row["ci_low"]), float(row["ci_high"])
        n, clear = int(row["n"]), bool(row["clear"])
        finding = Finding(*names, *ends, n, clear, "" if clear else why)
        findings.append((str(row["outcome"]), finding))
    return findings
