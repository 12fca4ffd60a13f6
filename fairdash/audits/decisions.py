"""Audit decisions or scores of any model: who is worse off, by which measure."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._change import excludes_zero
from fairdash._columns import in_one_order
from fairdash._counts import RowCounts, people_of
from fairdash._escaping import as_printed, visible, visible_table
from fairdash._validation import check_lengths, check_one_of
from fairdash._wording import distinct_labels, number, plural
from fairdash.analysis import cells_of
from fairdash.audits.arguments import Arguments
from fairdash.brought import TableModel, positive_scores
from fairdash.datasets import DrawnRows, Subgroups
from fairdash.metrics import (
    MEASURES,
    TOO_FEW,
    Finding,
    LocalMeasure,
    Speech,
    as_probabilities,
    both_ways,
    calibration_curve,
    catalog,
    counting,
    intervals,
    measure_by_group,
    measure_gaps,
    sentence,
)
from fairdash.wording import audit_verdict, worst_inside

Column = ArrayLike | Hashable
_GAP_COLUMNS = ("gap", "ci_low", "ci_high")


@dataclass(frozen=True, eq=False)
class Audit:
    """What `audit` found.

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
    excluded: dict[str, int] = field(default_factory=dict)
    recalibrated: bool = False
    sample: DrawnRows | None = None
    remarks: tuple[str, ...] = ()

    @property
    def rows(self) -> str:
        """How many rows there are, and what the intervals are: "600 rows, 95% ..."."""
        rows = f"{plural(self.n, 'row')}, {100 * self.confidence:g}% intervals"
        more = [catalog.RECALIBRATED] if self.recalibrated else []
        more += [self.sample.sentence] if self.sample else []
        return ". ".join([rows, *more])

    @property
    def table(self) -> pd.DataFrame:
        """Every measure by group: a row per measure, a column per group."""
        wide = self.by_group.pivot_table(
            "value", "measure", "group", sort=False, dropna=False, observed=True
        )
        wide.columns = distinct_labels("", list(map(str, wide)), _GAP_COLUMNS)
        gaps = self.gaps.dropna(subset="difference")
        size = gaps["difference"].abs().groupby(gaps["measure"]).idxmax()
        widest = gaps.loc[size].set_index("measure")
        return wide.assign(
            gap=widest["difference"], ci_low=widest["ci_low"], ci_high=widest["ci_high"]
        ).rename_axis(columns=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was found as JSON has it, NaN as None."""
        tables = {
            "findings": pd.DataFrame([asdict(finding) for finding in self.findings]),
            "by_group": self.by_group,
            "gaps": self.gaps,
            "local": self.local,
        }
        return {
            "verdict": self.verdict,
            "rows": self.n,
            "sample": None if self.sample is None else asdict(self.sample),
            "remarks": list(self.remarks),
            "confidence": self.confidence,
            "excluded": [{"reason": r, "rows": n} for r, n in self.excluded.items()],
            **{
                name: None
                if table is None
                else json.loads(table.to_json(orient="records"))
                for name, table in tables.items()
            },
        }

    def __str__(self) -> str:
        """Return verdict and table as text."""
        shown = visible_table(self.table.map(number)).to_string()
        notes = map(as_printed, (self.rows, *self.remarks))
        return "\n".join([as_printed(self.verdict), "", shown, *notes])

    def _repr_html_(self) -> str:
        shown = visible_table(self.table.map(number)).to_html()
        verdict, *notes = (
            f"<p>{escape(visible(text))}</p>"
            for text in (self.verdict, self.rows, *self.remarks)
        )
        return f"{verdict}{shown}{''.join(notes)}"


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
    raw = None if raw is None else counting.finite_numbers("scores", raw)
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
    if raw is None and weight is None and unit is None:
        cells = cells_of(y, pred, groups, labels)
        if cells is not None:
            y, pred, groups, labels = map(cells.of, (y, pred, groups, labels))
            weight = cells.counts
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
    predicted = {m: _for_measure(m, pred, raw, y, weight, unit) for m in chosen}
    how: Any = {"reference": reference, "favourable": favourable, "times": times}
    at_once = 1 - (1 - confidence) / times
    by_group, gaps, local, estimates = measured(
        y, predicted, rows, inside, speech, confidence=confidence, **how
    )
    findings, worst = [finding_of(row) for row in gaps.itertuples()], None
    opposed = None
    if local is not None:
        opposed = both_ways([estimates[chosen[0]]], confidence=at_once)
        worst = worst_inside(
            chosen[0],
            estimates[chosen[0]],
            float(local["chance"].iloc[0]),  # the measure asked first stands first
            confidence=at_once,
            favourable=favourable,
        )
        findings += [] if worst is None else [worst]
    curve = None
    if raw is not None and y is not None:
        curve = calibration_curve(y, raw, confidence=confidence, **rows)
    verdict = audit_verdict(gaps, local, worst, speech, opposed)
    if len(pd.unique(pd.Series(pred))) == 1:
        alike = "All rows get the same decision, so gaps in decisions say nothing."
        verdict = f"{alike} {verdict}" if chosen[0] in catalog.SCORE_MEASURES else alike
    graded = [
        scores
        for measure, scores in predicted.items()
        if catalog.measure_of(measure).takes == "probability"
    ]
    people = people_of(weight)
    return Audit(
        len(pred) if people is None else int(people.sum()),
        by_group,
        gaps,
        local,
        curve,
        verdict,
        confidence,
        findings,
        recalibrated=any(scores is not raw for scores in graded),
        sample=columns.drawn,
        remarks=columns.remarks(sensitive_features, subgroups) if checks else (),
    )


def weights_of(columns: Arguments, weight: Any, counts: Any) -> Any:
    """Return sampling weights, or counts of people as `RowCounts`; None of neither."""
    if counts is None:
        return columns.values("weight", weight)
    if weight is not None:
        raise ValueError("Give `counts` of people or `sample_weight`, not both.")
    name = counts if isinstance(counts, str) else "counts"
    return RowCounts.of(name, columns.values("counts", counts))


def measured(
    y: Any,
    predicted: Mapping[str, Any],
    rows: Mapping[str, Any],
    inside: Mapping[str, Any] | None,
    speech: Speech,
    *,
    confidence: float,
    reference: str | None,
    favourable: bool,
    times: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame | None, dict[str, LocalMeasure]]:
    """Measure rows by group and, with subgroups, ``inside`` these.

    ``predicted`` are the predictions by measure. Gaps hold for all pairs of groups and
    for so many tables at once, ``times``, as chance does. Returns by_group, gaps and
    local of an `Audit`, and what local is computed by.
    """
    by_group = _every(
        predicted,
        lambda m: measure_by_group(m, y, predicted[m], confidence=confidence, **rows),
    )
    n_groups, held = by_group["group"].nunique(), reference is not None
    level = intervals.for_all_pairs(confidence, n_groups, held=held, times=times)
    options = {"confidence": level, "reference": reference, "favourable": favourable}
    gaps = _every(
        predicted, lambda m: _gaps(m, speech, y, predicted[m], **options, **rows)
    )
    if inside is None:
        return by_group, gaps, None, {}
    estimates = {
        m: LocalMeasure.of(m, y, predicted[m], **inside, **rows) for m in predicted
    }
    local = _every(predicted, lambda m: _local(estimates[m], confidence, times))
    return by_group, gaps, local, estimates


def _decisions(pred: Any, pos_label: Hashable) -> NDArray[np.int8]:
    counting.check_present("y_pred", np.asarray(pred))
    try:
        return counting.labels("y_pred", pred, pos_label)
    except ValueError as error:
        raise ValueError(
            f"{error} `fairdash.audits.tables.audit_outcomes` audits predicted "
            "numbers, more than two classes, and rankings."
        ) from error


def _every(
    measures: Iterable[str], table: Callable[[str], pd.DataFrame]
) -> pd.DataFrame:
    tables = [table(measure).assign(measure=measure) for measure in measures]
    whole = pd.concat(tables, ignore_index=True)
    return whole[["measure", *whole.columns.drop("measure")]]


def _decided(scores: NDArray[np.float64], threshold: float | None) -> NDArray[np.int8]:
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
    possible = ["selection_rate"]
    if y is not None:
        possible = [m for m in MEASURES if m not in catalog.SCORE_MEASURES]
        if scores is not None:
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
    takes = catalog.measure_of(measure).takes
    if takes == "decision" or scores is None:
        return pred
    if ((scores >= 0) & (scores <= 1)).all():
        return scores
    if takes == "probability":
        return as_probabilities(y, scores, weight, cluster=unit)
    low, high = scores.min(), scores.max()
    return (scores - low) / max(high - low, np.finfo(float).tiny)


def _gaps(
    measure: str, speech: Speech, y: Any, predicted: Any, **options: Any
) -> pd.DataFrame:
    gaps = measure_gaps(measure, y, predicted, **options)
    clear = excludes_zero(gaps["ci_low"], gaps["ci_high"]) & ~gaps["too_few"]
    table = gaps.assign(measure=measure, clear=clear)
    sentences = [sentence(finding_of(row), speech) for row in table.itertuples()]
    return table.assign(sentence=sentences)


def finding_of(row: Any) -> Finding:
    """Return a row of the gaps of an audit as a finding."""
    ends = float(row.difference), float(row.ci_low), float(row.ci_high)
    sure = bool(row.clear)
    why = "" if sure else "the interval reaches 0"
    if row.too_few:
        sure, why = False, TOO_FEW
    names = row.measure, None, str(row.group), str(row.reference)
    return Finding(*names, *ends, int(row.n), sure, why)


def _local(estimates: LocalMeasure, confidence: float, times: int) -> pd.DataFrame:
    chance = np.nan
    if estimates.estimable.any():
        samples = estimates.noise_floor().samples
        chance = float(np.quantile(samples, 1 - 0.05 / times))
    level = 1 - (1 - confidence) / times
    return estimates.table(confidence=level).assign(chance=chance)
