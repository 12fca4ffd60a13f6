"""Audit outcomes of any kind: several classes, numbers, or a ranking."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._columns import in_one_order
from fairdash._counts import people_of
from fairdash._escaping import as_printed, visible_table
from fairdash._validation import check_lengths, check_one_of, value_label
from fairdash._wording import UNDEFINED, listing, plural, sentences
from fairdash.audits.answer import Listing
from fairdash.audits.arguments import Arguments
from fairdash.audits.decisions import weights_of
from fairdash.audits.measuring import finding_of, measured
from fairdash.audits.tables.audit import plain_rows
from fairdash.datasets import DrawnRows, Subgroups
from fairdash.metrics import Drawn, Finding, Speech, catalog, sentence
from fairdash.wording import NO_GAP, place_brief, possible

Column = ArrayLike | Hashable
OutcomeKind = Literal["classes", "numbers", "ranking"]
OUTCOME_KINDS: tuple[OutcomeKind, ...] = ("classes", "numbers", "ranking")
MOST_CLASSES = 20
_NAMES = {
    "outcome": "Outcome",
    "measure": "Measure",
    "subgroup": "Subgroup",
    "group": "Group",
    "reference": "Compared with",
    "value": "Value",
    "difference": "Difference",
    "gap": "Gap",
    "ci_low": "Low",
    "ci_high": "High",
    "chance": "By chance",
    "n": "Rows",
    "reason": "Not estimable",
}
OF_CLASS = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision")


@dataclass(frozen=True, eq=False)
class OutcomesAudit:
    """The result of `audit_outcomes`, each table long: a row per estimate.

    Attributes
    ----------
    by_group : DataFrame
        outcome (a class, "top 10%", or ""), measure, group, value, ci_low, ci_high, n.
    gaps : DataFrame
        outcome, measure, group, reference, difference, ci_low, ci_high, n, clear.
        Intervals hold for all pairs of groups, classes and measures at once, of which
        the verdict names the surest.
    local : DataFrame or None
        outcome, measure, subgroup, n, gap, ci_low, ci_high, chance, estimable, reason;
        chance is what the largest gap of a fair model stays below in 95 % of cases, for
        all classes and measures at once.
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
    sample: DrawnRows | None = None
    remarks: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The surest gap, or that none is sure."""
        outcome, first = self.findings[0]
        if not first.sure:
            return self._nothing
        return place_brief(first, _speech(self.kind, outcome, self.feature))

    @property
    def details(self) -> str:
        """The surest five gaps, each with its interval."""
        sure = [part for part in self.findings if part[1].sure]
        gaps = [
            sentence(finding, _speech(self.kind, outcome, self.feature))
            for outcome, finding in sure[:5]
        ]
        return " ".join(gaps) or self._nothing

    @property
    def _nothing(self) -> str:
        """That no gap is sure, and how large those of the first measure may be."""
        first_outcome, first = self.findings[0]
        of_first_measure = [
            finding
            for outcome, finding in self.findings
            if outcome == first_outcome and finding.measure == first.measure
        ]
        return sentences(NO_GAP, possible(of_first_measure))

    def listings(self) -> list[Listing]:
        """Return measures by group, gaps, and gaps inside subgroups, for a reader."""
        tables = [Listing("Measures by group", _readable(self.by_group), self._note())]
        tables.append(Listing("Gaps between groups", _readable(self.gaps)))
        if self.local is not None:
            floor = "By chance: the largest gap of a fair model, in 95% of cases."
            tables.append(
                Listing("Gaps inside subgroups", _readable(self.local), floor)
            )
        return tables

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was found as JSON has it, NaN as None."""
        return {
            "kind": self.kind,
            "verdict": self.verdict,
            "rows": self.n,
            "sample": None if self.sample is None else asdict(self.sample),
            "remarks": list(self.remarks),
            "confidence": self.confidence,
            "by_group": plain_rows(self.by_group),
            "gaps": plain_rows(self.gaps),
            "local": None if self.local is None else plain_rows(self.local),
        }

    def _note(self) -> str:
        note = (
            f"{100 * self.confidence:g}% intervals. Those of gaps hold for all at once."
        )
        if self.kind == "classes":
            note += " Each class is held against the rest."
        if self.kind == "ranking":
            note += " The ranking is taken as given: other rows would move its places."
        return f"{note} {self.sample.sentence}" if self.sample else note

    def __str__(self) -> str:
        """Return verdict and table as text."""
        by_group = visible_table(self.listings()[0].frame)
        table = by_group.to_string(index=False, float_format="%.3f", na_rep=UNDEFINED)
        rows = f"{plural(self.n, 'row')}. {self._note()}"
        notes = [as_printed(text) for text in (rows, *self.remarks)]
        return "\n".join([as_printed(self.verdict), "", table, *notes])


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table that a reader wants, under their headings."""
    columns = [name for name in _NAMES if name in table]
    readable = table[columns].rename(columns=_NAMES)
    readable["Measure"] = readable["Measure"].map(catalog.MEASURE_NAMES)
    readable["Outcome"] = readable["Outcome"].replace("", "all rows")
    return readable


class _OutcomePart(NamedTuple):
    """One outcome with what is predicted of it, by measure."""

    outcome: str
    y: Any
    predicted: dict[str, Any]


@in_one_order
def audit_outcomes(
    y_true: Column | None,
    y_pred: Column,
    *,
    kind: OutcomeKind | str,
    sensitive_features: Column | Sequence[Column],
    frame: pd.DataFrame | None = None,
    subgroups: ArrayLike | Subgroups | Sequence[str] | None = None,
    sample_weight: Column | None = None,
    counts: Column | None = None,
    cluster: Column | None = None,
    top: float = 0.1,
    reference: str | None = None,
    favourable: bool = True,
    min_size: int = 50,
    confidence: float = 0.95,
    checks: bool = True,
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
    sensitive_features, frame, subgroups, reference, favourable
        As of `fairdash.audit`.
    min_size, confidence, checks
        As of `fairdash.audit`.
    sample_weight, cluster : array-like, (n_rows,), or name of a column, optional
        Sampling weights, and the unit of each row.
    counts : array-like, (n_rows,), or name of a column, optional
        How many people each row stands for.
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
    y = columns.values("y_true", y_true)
    predicted = columns.values("y_pred", y_pred)
    groups = columns.groups(sensitive_features)
    sampling = {
        "sample_weight": weights_of(columns, sample_weight, counts),
        "cluster": columns.values("cluster", cluster),
    }
    check_lengths(predicted, groups, y, *sampling.values())
    people = people_of(sampling["sample_weight"])
    if people is not None and kind == "ranking":
        raise ValueError(
            "A ranking is of single people; give one row each, without counts."
        )
    parts = _parts(kind, y, predicted, top)
    rows = {"sensitive_features": groups, **sampling}
    inside = None
    if subgroups is not None:
        labels, min_size = columns.subgroups(
            subgroups, min_size, sampling["sample_weight"]
        )
        inside = {"subgroups": labels, "min_size": min_size}
    feature = columns.feature(sensitive_features)
    # The verdict names the surest gap of all classes and measures, so intervals hold
    # for all of these at once (Bonferroni).
    n_tables = sum(len(part.predicted) for part in parts)
    by_group = []
    gaps = []
    local = []
    findings = []
    for part in parts:
        result = measured(
            part.y,
            part.predicted,
            rows,
            inside,
            _speech(kind, part.outcome, feature),
            confidence=confidence,
            reference=reference,
            favourable=favourable,
            times=n_tables,
        )
        by_group.append(result.by_group.assign(outcome=part.outcome))
        gaps.append(result.gaps.assign(outcome=part.outcome))
        for row in result.gaps.itertuples():
            findings.append((part.outcome, finding_of(row)))
        if result.local is not None:
            local.append(result.local.assign(outcome=part.outcome))
    return OutcomesAudit(
        kind=kind,
        n=len(predicted) if people is None else int(people.sum()),
        by_group=_long(by_group),
        gaps=_long(gaps).drop(columns="value"),
        local=_long(local) if local else None,
        findings=sorted(findings, key=_distance),
        feature=feature,
        confidence=confidence,
        sample=columns.drawn,
        remarks=columns.remarks(sensitive_features, subgroups) if checks else (),
    )


def _long(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all outcomes below each other."""
    table = pd.concat(parts, ignore_index=True)
    columns = (*_NAMES, "clear", "estimable")
    return table[[name for name in columns if name in table]]


def _distance(part: tuple[str, Finding]) -> tuple[bool, float]:
    """Sort sure findings first, by how many widths of its interval each is from 0."""
    _, finding = part
    width = (finding.high - finding.low) or np.inf
    distance = abs(finding.value) / width
    if not np.isfinite(distance):
        distance = 0.0
    return not finding.sure, -distance


def _speech(kind: str, outcome: str, feature: str) -> Speech:
    """Return the words for a positive prediction of an outcome."""
    decided = f"predicted “{outcome}”" if kind == "classes" else f"in the {outcome}"
    return Speech(decided, f"“{outcome}”", feature)


def _parts(kind: str, y: Any, predicted: Any, top: float) -> list[_OutcomePart]:
    """Return the outcomes that predictions of a kind are audited by."""
    if kind == "numbers":
        measures = catalog.NUMBER_MEASURES if y is not None else ["mean_prediction"]
        return [_OutcomePart("", y, dict.fromkeys(measures, predicted))]
    if kind == "ranking":
        return _parts_of_ranking(predicted, top)
    return _parts_of_classes(y, predicted)


def _parts_of_ranking(predicted: Any, top: float) -> list[_OutcomePart]:
    """Return the share in the top, and the exposure over all places."""
    scores = pd.to_numeric(pd.Series(predicted), errors="coerce").to_numpy(float)
    if not 0 < top < 1 or round(top * len(scores)) < 1:
        raise ValueError(
            f"`top` must be a share between 0 and 1 that has a row, got {top}."
        )
    # Rows that share the last place of the top are in it with a chance.
    in_top = Drawn(catalog.share_of_top(scores, top))
    return [
        _OutcomePart(f"top {100 * top:g}%", None, {"selection_rate": in_top}),
        _OutcomePart("", None, {"exposure": predicted}),
    ]


def _parts_of_classes(y: Any, predicted: Any) -> list[_OutcomePart]:
    """Return each class against the rest."""
    predicted_labels = pd.Series(predicted).map(value_label)
    true_labels = None if y is None else pd.Series(y).map(value_label)
    labels = set(predicted_labels)
    if true_labels is not None:
        labels |= set(true_labels)
    classes = sorted(labels)
    if not 2 <= len(classes) <= MOST_CLASSES:
        raise ValueError(
            f"Classes must be 2 to {MOST_CLASSES}, got {len(classes)}: "
            f"{listing(classes[:5])}. For numbers choose the kind 'numbers'."
        )
    measures = OF_CLASS if y is not None else OF_CLASS[:1]
    parts = []
    for name in classes:
        is_true = None
        if true_labels is not None:
            is_true = (true_labels == name).to_numpy(np.int8)
        is_predicted = (predicted_labels == name).to_numpy(np.int8)
        parts.append(_OutcomePart(name, is_true, dict.fromkeys(measures, is_predicted)))
    return parts
