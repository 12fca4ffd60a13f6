"""Audit decisions or scores of any model: who is worse off, by which measure."""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import in_one_order
from fairdash._counts import RowCounts, people_of
from fairdash._escaping import as_printed, visible, visible_table
from fairdash._validation import check_lengths, check_one_of
from fairdash._wording import distinct_labels, number, plural
from fairdash.audits.arguments import Arguments
from fairdash.audits.measuring import finding_of, measured
from fairdash.brought import TableModel, positive_scores
from fairdash.datasets import DrawnRows, Subgroups
from fairdash.metrics import (
    MEASURES,
    Finding,
    LocalMeasure,
    Speech,
    as_probabilities,
    both_ways,
    calibration_curve,
    catalog,
    counting,
)
from fairdash.wording import audit_verdict, worst_inside

Column = ArrayLike | Hashable
_GAP_COLUMNS = ("gap", "ci_low", "ci_high")


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of `audit`.

    Attributes
    ----------
    by_group : DataFrame
        measure, then the table of `fairdash.metrics.measure_by_group`.
    gaps : DataFrame
        measure, then the table of `fairdash.metrics.measure_gaps`, clear (whether the
        interval excludes 0, of enough rows to say so) and sentence. Of more than two
        groups the intervals of a measure hold for all pairs at once (Bonferroni), so
        any of them may be named.
    local : DataFrame or None
        measure, then that of `fairdash.metrics.LocalMeasure.table`, then chance: what
        the largest gap of a model that is fair in every subgroup stays below in 95 % of
        cases.
    calibration : DataFrame or None
        See `fairdash.metrics.calibration_curve`; of scores with outcomes.
    verdict : str
        The largest gap of the first measure, over all rows and inside subgroups, see
        `audit_verdict`; of decisions that are all the same, that these say nothing.
    confidence : float
        Of all intervals; chance is 95 % whatever it is.
    findings : list of Finding
        Every gap over all rows, then, of the first measure, one inside a subgroup: the
        widest, or the surest where the widest could be chance. One is sure where its
        interval excludes 0 and no group expects fewer than five rows of either value,
        inside a subgroup where it is beyond chance; ``reason`` says why one is not.
    selection : LocalMeasure
        The selection rate, of the same count of rows as other measures of decisions.
    excluded : dict of str to int
        Rows that were excluded before, by reason.
    recalibrated : bool
        Whether scores that are no probabilities became some, see `audit`.
    sample : DrawnRows, optional
        How many rows of how many ``frame`` is a sample of, where it is one.
    remarks : tuple of str
        What is doubtful about the groups and the rows, with the remedy: a group in two
        spellings, dates as groups, rows that are written several times and the like.
    """

    n: int
    by_group: pd.DataFrame
    gaps: pd.DataFrame
    local: pd.DataFrame | None
    calibration: pd.DataFrame | None
    verdict: str
    confidence: float
    findings: list[Finding]
    selection: LocalMeasure = field(repr=False)
    excluded: dict[str, int] = field(default_factory=dict)
    recalibrated: bool = False
    sample: DrawnRows | None = None
    remarks: tuple[str, ...] = ()

    @property
    def rows(self) -> str:
        """How many rows there are, and what the intervals are: "600 rows, 95% ..."."""
        parts = [f"{plural(self.n, 'row')}, {100 * self.confidence:g}% intervals"]
        if self.recalibrated:
            parts.append(catalog.RECALIBRATED)
        if self.sample:
            parts.append(self.sample.sentence)
        return ". ".join(parts)

    @property
    def table(self) -> pd.DataFrame:
        """Every measure by group: a row per measure, a column per group."""
        wide = self.by_group.pivot_table(
            "value", "measure", "group", sort=False, dropna=False, observed=True
        )
        wide.columns = distinct_labels("", list(map(str, wide)), _GAP_COLUMNS)
        gaps = self.gaps.dropna(subset="difference")
        row_of_widest = gaps["difference"].abs().groupby(gaps["measure"]).idxmax()
        widest = gaps.loc[row_of_widest].set_index("measure")
        table = wide.assign(
            gap=widest["difference"], ci_low=widest["ci_low"], ci_high=widest["ci_high"]
        )
        return table.rename_axis(columns=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was found as JSON has it, NaN as None."""
        findings = pd.DataFrame([asdict(finding) for finding in self.findings])
        return {
            "verdict": self.verdict,
            "rows": self.n,
            "sample": None if self.sample is None else asdict(self.sample),
            "remarks": list(self.remarks),
            "confidence": self.confidence,
            "excluded": [{"reason": r, "rows": n} for r, n in self.excluded.items()],
            "findings": _records(findings),
            "by_group": _records(self.by_group),
            "gaps": _records(self.gaps),
            "local": None if self.local is None else _records(self.local),
        }

    def __str__(self) -> str:
        """Return verdict and table as text."""
        table = visible_table(self.table.map(number)).to_string()
        notes = [as_printed(text) for text in (self.rows, *self.remarks)]
        return "\n".join([as_printed(self.verdict), "", table, *notes])

    def _repr_html_(self) -> str:
        table = visible_table(self.table.map(number)).to_html()
        verdict = _paragraph(self.verdict)
        notes = [_paragraph(text) for text in (self.rows, *self.remarks)]
        return f"{verdict}{table}{''.join(notes)}"


def _records(table: pd.DataFrame) -> Any:
    """Return the rows of a table as JSON has them, NaN as None."""
    return json.loads(table.to_json(orient="records"))


def _paragraph(text: str) -> str:
    return f"<p>{escape(visible(text))}</p>"


@in_one_order
def audit(
    y_true: Column | None,
    y_pred: Column | None = None,
    *,
    scores: Column | None = None,
    model: TableModel | None = None,
    threshold: float | None = None,
    pos_label: Hashable = None,
    sensitive_features: Column | Sequence[Column],
    frame: pd.DataFrame | None = None,
    subgroups: ArrayLike | Subgroups | Sequence[str] | None = None,
    measures: str | Sequence[str] | None = None,
    sample_weight: Column | None = None,
    counts: Column | None = None,
    cluster: Column | None = None,
    reference: str | None = None,
    favourable: bool = True,
    decided: str = "predicted positive",
    outcome: str = "outcome 1",
    min_size: int = 50,
    confidence: float = 0.95,
    checks: bool = True,
    times: int = 1,
) -> Audit:
    """Measure a model that already exists, by group and inside subgroups.

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,), or name of a column
        None where outcomes are unknown: then selection rates alone are compared.
    y_pred : array-like of 0/1, (n_rows,), or name of a column, optional
        Decisions; else those of ``scores``.
    scores : array-like of finite numbers, (n_rows,), or name of a column, optional
        Probabilities, or other scores such as deciles. For calibration and Brier score
        these become probabilities by isotonic regression in ten folds, see
        `fairdash.metrics.as_probabilities`.
    model : object with ``predict_proba``, optional
        Instead of ``scores``: it scores the rows of ``frame``, and its last class is
        outcome 1. Such as a scikit-learn pipeline, or `fairdash.load` of an ONNX file.
    threshold : float, optional
        Scores from it on are positive decisions. Without it those above 1/2, of
        probabilities alone.
    pos_label : str, int or bool, optional
        What outcomes and decisions hold as positive where they are not 0 and 1.
    sensitive_features : array-like of shape (n_rows,), name of a column, or several
        The columns of a list of names are crossed.
    frame : DataFrame, optional
        That names of columns refer to.
    subgroups : array-like, Subgroups or list of column names, optional
        Label of every row, missing for none, or a table whose columns are crossed; or
        how ``frame`` makes them.
    measures : str or sequence of str, optional
        Of `fairdash.metrics.MEASURES`, by default all that can be computed, the first
        of which the verdict is about; or the cost of errors that you weigh,
        "error_cost 3:1" for one false positive as bad as three false negatives.
    sample_weight : array-like, (n_rows,), or name of a column, optional
    counts : array-like, (n_rows,), or name of a column, optional
        How many people a row stands for, as in a published table: n is their sum, and
        every number is that of so many rows. Neither weights nor units beside it.
    cluster : array-like, (n_rows,), or name of a column, optional
        Unit of each row, such as a person with several visits: rows of one unit are not
        independent, and intervals are as wide as that makes them.
    reference : str, optional
        Group that others are compared with; by default the one that is best off.
    favourable : bool, default=True
        Whether a positive decision is good for the person.
    decided, outcome : str
        What a positive decision and the positive outcome are, in sentences: "approved",
        "repayment".
    min_size : int, default=50
        Of an estimable subgroup; a `Subgroups` has its own.
    checks : bool, default=True
        Whether groups and rows are checked for `Audit.remarks`.
    times : int, default=1
        How many audits of these rows one answer has, such as by several columns of
        groups: gaps and what chance shows hold for all of them at once (Bonferroni).

    Raises
    ------
    ValueError
        If no decisions, scores or model with its table are given, a name is no column,
        lengths differ, scores are not finite or without a threshold no probabilities,
        a measure needs what is not given, or the groups name rows, as an identifier
        does.

    Examples
    --------
    >>> import fairdash
    >>> audit = fairdash.audit(
    ...     [0, 1, 0, 1, 0, 1] * 50,
    ...     [0, 1, 1, 1, 0, 0] * 50,
    ...     sensitive_features=["a", "a", "a", "b", "b", "b"] * 50,
    ...     measures=["selection_rate"],
    ... )
    >>> audit.verdict
    'b is predicted positive 33 points less often than a (22 to 43).'
    """
    columns = Arguments(frame)
    if model is not None:
        if frame is None or scores is not None:
            raise ValueError("Give a `model` with its table, `frame`, and no `scores`.")
        scores = positive_scores(model, columns.columns_of(model))
    y = columns.values("y_true", y_true)
    weight = weights_of(columns, sample_weight, counts)
    raw = columns.values("scores", scores)
    if raw is not None:
        raw = counting.finite_numbers("scores", raw)
    if y is not None and pos_label is not None:
        y = counting.labels("y_true", y, pos_label)
    if y_pred is not None:
        pred = _decisions(columns.values("y_pred", y_pred), pos_label)
    elif raw is not None:
        pred = _decided(raw, threshold)
    else:
        raise ValueError("Give decisions as `y_pred`, `scores` or a `model`.")
    groups = columns.groups(sensitive_features)
    unit = columns.values("cluster", cluster)
    check_lengths(pred, groups, y, raw, weight, unit)
    labels = None
    if subgroups is not None:
        labels, min_size = columns.subgroups(subgroups, min_size, weight)
        check_lengths(pred, labels)
    rows: dict[str, Any] = {
        "sensitive_features": groups,
        "sample_weight": weight,
        "cluster": unit,
    }
    inside = None
    if labels is not None:
        inside = {"subgroups": labels, "min_size": min_size}
    feature = columns.feature(sensitive_features)
    speech = Speech(decided, outcome, feature, favourable)
    chosen = _measures(measures, y, raw)
    first_measure = chosen[0]
    predicted = {
        measure: _for_measure(measure, pred, raw, y, weight, unit) for measure in chosen
    }
    by_group, gaps, local, estimates = measured(
        y,
        predicted,
        rows,
        inside,
        speech,
        confidence=confidence,
        reference=reference,
        favourable=favourable,
        times=times,
    )
    findings = [finding_of(row) for row in gaps.itertuples()]
    worst = None
    opposed = None
    if local is not None:
        level = 1 - (1 - confidence) / times  # Bonferroni, for all audits at once
        first_estimates = estimates[first_measure]
        opposed = both_ways([first_estimates], confidence=level)
        worst = worst_inside(
            first_measure,
            first_estimates,
            float(local["chance"].iloc[0]),  # the measure asked first stands first
            confidence=level,
            favourable=favourable,
        )
        if worst is not None:
            findings.append(worst)
    curve = None
    if raw is not None and y is not None:
        curve = calibration_curve(y, raw, confidence=confidence, **rows)
    verdict = audit_verdict(gaps, local, worst, speech, opposed)
    if len(pd.unique(pd.Series(pred))) == 1:
        all_alike = "All rows get the same decision, so gaps in decisions say nothing."
        # Scores may differ between groups though all decisions are the same.
        if first_measure in catalog.SCORE_MEASURES:
            verdict = f"{all_alike} {verdict}"
        else:
            verdict = all_alike
    probabilities = [
        values
        for measure, values in predicted.items()
        if catalog.measure_of(measure).takes == "probability"
    ]
    people = people_of(weight)
    return Audit(
        n=len(pred) if people is None else int(people.sum()),
        by_group=by_group,
        gaps=gaps,
        local=local,
        calibration=curve,
        verdict=verdict,
        confidence=confidence,
        findings=findings,
        selection=_selection(estimates, pred, rows),
        recalibrated=any(values is not raw for values in probabilities),
        sample=columns.drawn,
        remarks=columns.remarks(sensitive_features, subgroups) if checks else (),
    )


def _selection(
    estimates: Mapping[str, LocalMeasure], pred: Any, rows: Mapping[str, Any]
) -> LocalMeasure:
    """Return the selection rate, without another count if decisions are measured."""
    for measure, of_rows in estimates.items():
        if catalog.measure_of(measure).takes == "decision":
            return of_rows.of_same_rows("selection_rate")
    return LocalMeasure.of("selection_rate", None, pred, subgroups=None, **rows)


def weights_of(columns: Arguments, weight: Any, counts: Any) -> Any:
    """Return sampling weights, or counts of people as `RowCounts`; None of neither."""
    if counts is None:
        return columns.values("weight", weight)
    if weight is not None:
        raise ValueError("Give `counts` of people or `sample_weight`, not both.")
    name = counts if isinstance(counts, str) else "counts"
    return RowCounts.of(name, columns.values("counts", counts))


def _decisions(pred: Any, pos_label: Hashable) -> NDArray[np.int8]:
    """Return decisions as 0 and 1; ValueError says what audits other predictions."""
    counting.check_present("y_pred", np.asarray(pred))
    try:
        return counting.labels("y_pred", pred, pos_label)
    except ValueError as error:
        raise ValueError(
            f"{error} `fairdash.audits.tables.audit_outcomes` audits predicted "
            "numbers, more than two classes, and rankings."
        ) from error


def _decided(scores: NDArray[np.float64], threshold: float | None) -> NDArray[np.int8]:
    """Return the decisions of scores: from a threshold on, or above one half."""
    if threshold is not None:
        return (scores >= threshold).astype(np.int8)
    beyond = np.flatnonzero((scores < 0) | (scores > 1))
    if len(beyond):
        raise ValueError(
            f"`scores` are no probabilities: {len(beyond):,} rows are not from 0 to 1, "
            f"the first is {scores[beyond[0]]:g} in row {beyond[0]}. Say from where on "
            "a decision is positive: `threshold`."
        )
    return (scores > 0.5).astype(np.int8)


def _measures(
    named: str | Sequence[str] | None, y: Any, scores: NDArray[np.float64] | None
) -> list[str]:
    """Return the measures asked for, by default all that can be computed."""
    if y is None:
        possible = ["selection_rate"]
    elif scores is None:
        possible = [m for m in MEASURES if m not in catalog.SCORE_MEASURES]
    else:
        possible = list(MEASURES)
    if isinstance(named, str):
        named = [named]
    for measure in named or ():
        if y is not None and catalog.error_costs(measure):
            continue
        check_one_of("measures", measure, (*MEASURES, catalog.COST))
        if measure not in possible:
            need = "`y_true`" if y is None else "`scores`"
            raise ValueError(f"{catalog.MEASURE_NAMES[measure]} needs {need}.")
    return list(named or possible)


def _for_measure(
    measure: str,
    pred: Any,
    scores: NDArray[np.float64] | None,
    y: Any,
    weight: Any,
    unit: Any,
) -> Any:
    """Return what a measure takes of a model: decisions, probabilities or ranks."""
    takes = catalog.measure_of(measure).takes
    if takes == "decision" or scores is None:
        return pred
    if ((scores >= 0) & (scores <= 1)).all():
        return scores
    if takes == "probability":
        return as_probabilities(y, scores, weight, cluster=unit)
    # Ranks stay the same under any increasing map, so the range is enough.
    low = scores.min()
    width = scores.max() - low
    return (scores - low) / max(width, np.finfo(float).tiny)
