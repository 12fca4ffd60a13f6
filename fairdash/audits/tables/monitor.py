"""Watch a deployed model: audit every batch of its decisions, with rare alarms.

Two alarms stand beside each other. The plain one is a week whose interval breaks a
limit by itself. The sequential one is of `fairdash.analysis.sequential`: over a
year of weeks it is false with a chance of at most .05, whatever the number of looks.
"""

import json
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from fairdash._wording import Kpi, count, headed, plural
from fairdash.analysis import Earlier, Judgement, sequential, worst
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.tables.claims import Claim, claims_of
from fairdash.audits.tables.counting import Excluded
from fairdash.audits.tables.judging import Judged, judged_again
from fairdash.audits.tables.kept_cells import (
    KeptCells,
    count_batches,
    with_kept,
)
from fairdash.audits.tables.limits import check_policy
from fairdash.audits.tables.policy import Limit
from fairdash.audits.tables.reading import Source
from fairdash.audits.tables.watched import (
    Monitor,
    absent_values,
    any_has,
    batches_of,
    occurs_elsewhere,
)

LOOKS: dict[str, int] = {"day": 365, "week": 52, "month": 12}
COLUMNS = [
    "batch", "limit", "feature", "subgroup", "group", "value", "low", "high", "n",
    "batch alone", "evidence", "alarm",
]  # fmt: skip
_HOW = """A row is a batch: the number that is furthest beyond the limit, or nearest to
it, with its interval. The upright mark is the limit. A batch can break it by chance. An
alarm weighs all batches so far; it is false in a year with 5% at most."""
_LAST = 5  # failing batches that are printed


@dataclass(frozen=True)
class Batch:
    """The result of a batch.

    Attributes
    ----------
    digest : str
        Of its rows, with the policy: a batch is audited again when either changes, and
        with weights or units when an earlier batch does.
    recurring : int
        Rows whose unit was in an earlier batch: the alarm counts a unit once.
    cells : KeptCells, optional
        Of a source that is counted where it lies.
    """

    label: str
    digest: str
    rows: int
    excluded: tuple[Excluded, ...]
    judged: tuple[Judged, ...]
    claims: tuple[Claim, ...]
    recurring: int = 0
    cells: KeptCells | None = None

    @property
    def without_bets(self) -> bool:
        """Whether it has claims, and the alarm could bet on none of them."""
        return bool(self.claims) and not any(any(c.growth) for c in self.claims)


@dataclass(frozen=True, eq=False)
class Watch:
    """A monitor with its batches."""

    monitor: Monitor
    batches: tuple[Batch, ...]

    def run(self) -> "Watch":
        """Audit the batches of the source; those that are as before are kept.

        Raises
        ------
        ValueError
            When the source cannot be read, or a batch has no row that counts.
        """
        if self.monitor.is_counted:
            return self._run_counted()
        audited = {batch.digest: batch for batch in self.batches}
        batches: list[Batch] = []
        earlier = Earlier()
        policy = self.monitor.limits
        # Weights and units are learned from the batches before, so the digest of one
        # then stands for all of these.
        learns = policy.weight is not None or policy.unit is not None
        previous = ""
        for label, frame in batches_of(self.monitor):
            digest = _digest(frame, self.monitor, previous)
            batch = audited.get(digest)
            if batch is None:
                batch = _audited(frame, self.monitor, label, digest, earlier)
            elif learns:
                # For what it adds to ``earlier``; its claims are stored.
                claims_of(frame, policy, earlier, may_be_absent=True)
            batches.append(replace(batch, label=label))
            if learns:
                previous = digest
        return Watch(self.monitor, tuple(batches))

    def _run_counted(self) -> "Watch":
        """Audit the batches of a source that is counted; those deleted there stay."""
        audited = {batch.digest: batch for batch in self.batches}
        cells_by_label = {b.label: b.cells for b in self.batches if b.cells is not None}
        tables = dict(with_kept(count_batches(self.monitor), cells_by_label))
        batches = [self._counted_batch(label, tables, audited) for label in tables]
        return Watch(self.monitor, tuple(batches))

    def _counted_batch(
        self, label: str, tables: dict[str, KeptCells], audited: dict[str, Batch]
    ) -> Batch:
        cells = tables[label]
        frame = cells.frame
        monitor = self.monitor.counting(cells.count)
        digest = _digest(frame, monitor)
        if digest in audited:
            return replace(audited[digest], label=label)
        missing = absent_values(frame, monitor.limits)
        frames = (table.frame for table in tables.values())
        may_be_absent = bool(missing) and any_has(missing, frames, monitor)
        batch = _audited(
            frame, monitor, label, digest, Earlier(), may_be_absent=may_be_absent
        )
        return replace(batch, rows=cells.n_rows, cells=cells)

    def first_batch(self) -> Batch:
        """Audit the first batch of the source; errors are those of `run`."""
        if self.monitor.is_counted:
            tables = count_batches(self.monitor)
            return self._counted_batch(min(tables), tables, {})
        label, frame = next(batches_of(self.monitor))
        digest = _digest(frame, self.monitor)
        return _audited(frame, self.monitor, label, digest, Earlier())

    def to_json(self) -> str:
        """Return the monitor with its batches as text that the store keeps."""
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> "Watch":
        """Return the monitor of a text of `to_json`; its batches are judged as now."""
        watch = TypeAdapter(cls).validate_python(json.loads(text))
        policy = watch.monitor.limits
        batches = []
        for batch in watch.batches:
            judged = tuple(judged_again(policy, part) for part in batch.judged)
            batches.append(replace(batch, judged=judged))
        return replace(watch, batches=tuple(batches))

    def evidence(self, limit: int) -> np.ndarray[Any, Any]:
        """Return the evidence against a limit after each batch; 1/alpha is an alarm.

        Its claims are those of the groups in the first batch that has any.
        """
        # A claim is fixed before its evidence is seen: a group that appears later is
        # not added, so that the family which shares the error rate stays the same.
        claims_by_batch = [
            [claim for claim in batch.claims if claim.limit == limit]
            for batch in self.batches
        ]
        first_claims = next(filter(None, claims_by_batch), [])
        if not first_claims:
            return np.ones(len(self.batches))
        # A claim without rows in a batch keeps its wealth.
        no_growth = (0.0,) * len(sequential.BETS)
        growth_by_batch = []
        for claims in claims_by_batch:
            growth = {claim.about: claim.growth for claim in claims}
            growth_by_batch.append(
                np.array([growth.get(claim.about, no_growth) for claim in first_claims])
            )
        return sequential.evidence(growth_by_batch, LOOKS[self.monitor.every])

    def alarms(self, limit: int) -> np.ndarray[Any, Any]:
        """Return after which batches an alarm stands on a limit.

        Limits share alpha: all alarms of a year together are false with .05 at most.
        """
        n_limits = len(self.monitor.limits.limits)
        looks = LOOKS[self.monitor.every]
        alpha = sequential.ALPHA / n_limits  # Bonferroni
        return sequential.alarms(self.evidence(limit), looks, alpha)

    def table(self) -> pd.DataFrame:
        """Return each batch and limit: value, interval, rows, status, evidence, alarm.

        The value is the one that is furthest beyond the limit, or nearest to it, of
        those with the worst status.
        """
        rows = []
        for index, limit in enumerate(self.monitor.limits.limits):
            evidence = self.evidence(index)
            alarms = self.alarms(index)
            for batch, strength, alarm in zip(
                self.batches, evidence, alarms, strict=True
            ):
                judged = _furthest(index, limit, batch)
                if judged is None:
                    continue
                rows.append(
                    {
                        **vars(judged),
                        "batch": batch.label,
                        "limit": limit.words,
                        "batch alone": judged.status.value,
                        "evidence": strength,
                        "alarm": bool(alarm),
                    }
                )
        return pd.DataFrame(rows, columns=COLUMNS)

    @property
    def broken(self) -> list[tuple[str, str]]:
        """Limits with an alarm, each with the batch that raised it."""
        broken = []
        for index, limit in enumerate(self.monitor.limits.limits):
            alarms = self.alarms(index)
            if alarms.any():
                first = self.batches[int(alarms.argmax())]
                broken.append((limit.words, first.label))
        return broken

    @property
    def failing(self) -> list[tuple[str, str]]:
        """Batches that break a limit by themselves: each with limit and estimate."""
        failing = []
        for batch in self.batches:
            for index, limit in enumerate(self.monitor.limits.limits):
                judged = _furthest(index, limit, batch)
                if judged is not None and judged.status is Judgement.FAIL:
                    failing.append((batch.label, f"{limit.words}; {judged.words}"))
        return failing

    def lines(self) -> list[str]:
        """Return the state of the alarm, and the last batches that fail."""
        failing = [f"{batch} fails by itself: {why}" for batch, why in self.failing]
        n_earlier = len(failing) - _LAST
        if n_earlier > 0:
            failing = [plural(n_earlier, "earlier failure"), *failing[-_LAST:]]
        return [self._verdict(), *failing, *self._unweighed()]

    def _unweighed(self) -> list[str]:
        """Say which rows the alarm cannot weigh."""
        lines = []
        recurring = sum(batch.recurring for batch in self.batches)
        if recurring:
            n_rows = sum(batch.rows for batch in self.batches)
            lines.append(
                f"{count(recurring)} of {plural(n_rows, 'row')} are of units that were "
                "in an earlier batch. They say nothing new, so the alarm leaves them "
                "out."
            )
        n_silent = sum(batch.without_bets for batch in self.batches)
        if n_silent:
            batches = "1 batch" if n_silent == 1 else f"{count(n_silent)} batches"
            lines.append(
                f"The alarm could not weigh {batches}: it learns the weights from "
                "earlier batches, or too few rows were new."
            )
        return lines

    def _verdict(self) -> str:
        n = len(self.batches)
        broken = self.broken
        verdict = f"No alarm in {count(n)} {'batch' if n == 1 else 'batches'}."
        if broken:
            _, first_batch = broken[0]
            verdict = f"Alarm since {first_batch}: a limit is broken."
        n_failing = len({batch for batch, _ in self.failing})
        if n_failing == 1:
            return f"{verdict} One batch fails by itself."
        if n_failing:
            return f"{verdict} {count(n_failing)} batches fail by themselves."
        return verdict

    def answer(self) -> Answer:
        """Return the series as an answer."""
        broken = self.broken
        table = self.table()
        verdict = self._verdict()
        n_failing = len({batch for batch, _ in self.failing})
        headings = {"batch alone": "By itself"}
        details = [f"{limit} (since {batch})" for limit, batch in broken]
        details += self.lines()[1:]  # the first is the verdict
        return Answer(
            verdict=verdict,
            cards=[
                Kpi("Batches", str(len(self.batches))),
                Kpi("Alarms", str(len(broken)), "false in a year: at most 5%"),
                Kpi("Batches that fail", str(n_failing), "each by itself"),
            ],
            figure=Drawing("plot_limits", self._drawn(), {"headline": verdict[:-1]}),
            table=Listing("Every batch and limit", headed(table, **headings)),
            details="; ".join(details),
            how=_HOW,
            file="fairdash-monitor.csv",
            data=table,
        )

    def _drawn(self) -> pd.DataFrame:
        """Return the rows of the figure: `plot_limits` says its columns."""
        table = self.table()
        limits = self.monitor.limits.limits
        bounds = {limit.words: limit.bound.value for limit in limits}
        axes = {limit.words: limit.of for limit in limits}
        labels = table["batch"]
        if len(bounds) > 1:
            labels = labels + ": " + table["limit"]
        return table.assign(
            label=labels,
            limit=table["limit"].map(bounds),
            axis=table["limit"].map(axes),
            status=table["batch alone"],
        )


def audit_batch(
    frame: pd.DataFrame,
    monitor: Monitor,
    label: str,
    digest: str = "",
    earlier: Earlier | None = None,
    may_be_absent: bool | None = None,
) -> Batch:
    """Audit the rows of one batch, which is added to what ``earlier`` ones say.

    The value of the decision, and of the outcome, must occur in it, unless it
    ``may_be_absent``: by default if it occurs in another batch.
    """
    policy = monitor.limits
    source = Source.of_frame(label, digest, frame)
    if may_be_absent is None:
        may_be_absent = occurs_elsewhere(frame, monitor)
    checked = check_policy(frame, policy, source, may_be_absent=may_be_absent)
    claims = claims_of(frame, policy, earlier, may_be_absent=may_be_absent)
    return Batch(
        label=label,
        digest=digest,
        rows=len(frame),
        excluded=checked.audited.rows.excluded,
        judged=checked.judged,
        claims=claims.claims,
        recurring=claims.recurring,
    )


def stored_name(text: str) -> str:
    """Return the name in the text of a monitor, even one that cannot be opened."""
    try:
        return str(json.loads(text)["monitor"]["name"])
    except (ValueError, KeyError, TypeError):
        return "(a damaged monitor)"


def _audited(
    frame: pd.DataFrame,
    monitor: Monitor,
    label: str,
    digest: str,
    earlier: Earlier,
    *,
    may_be_absent: bool | None = None,
) -> Batch:
    try:
        return audit_batch(frame, monitor, label, digest, earlier, may_be_absent)
    except ValueError as error:
        raise ValueError(f"The batch {label}: {error}") from error


def _furthest(index: int, limit: Limit, batch: Batch) -> Judged | None:
    """Return the estimate that decides a limit in a batch, None without any."""
    judged = [part for part in batch.judged if part.limit == index]
    if not judged:
        return None
    status = worst(part.status for part in judged)
    deciding = [part for part in judged if part.status is status]

    def distance(estimate: Judged) -> float:
        """Return how far an estimate is on the broken side of the limit."""
        if np.isnan(estimate.value):
            return -np.inf
        return estimate.value if limit.bound.upper else -estimate.value

    return max(deciding, key=distance)


def _digest(frame: pd.DataFrame, monitor: Monitor, previous: str = "") -> str:
    """Return a digest of rows, their columns, the policy and the batch before."""
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
    question = json.dumps([list(map(str, frame)), monitor.policy], sort_keys=True)
    return sha256(rows + question.encode() + previous.encode()).hexdigest()
