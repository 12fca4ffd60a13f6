"""Watch a deployed model: every batch of its decisions is audited, alarms are rare.

Two alarms stand beside each other. The plain one is a week whose interval breaks a
limit by itself. The sequential one is of `fairdash.audits.tables.sequential`: over a
year of weeks it is false with a chance of at most .05, whatever the number of looks.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from fairdash._validation import check_one_of
from fairdash._wording import Kpi, count, headed, plural
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.tables.audit import Source
from fairdash.audits.tables.claims import Claim, claims_of
from fairdash.audits.tables.counting import Excluded
from fairdash.audits.tables.limits import Judged, check_policy
from fairdash.audits.tables.policy import Limit, Policy
from fairdash.audits.tables.sequential import ALPHA, BETS, alarms, evidence
from fairdash.datasets import read_table

PERIODS: dict[str, str] = {"day": "D", "week": "W", "month": "M"}
LOOKS: dict[str, int] = {"day": 365, "week": 52, "month": 12}
COLUMNS = [
    "batch", "limit", "feature", "subgroup", "group", "value", "low", "high", "n",
    "batch alone", "evidence", "alarm",
]  # fmt: skip
_HOW = """A row is a batch: the number that is furthest beyond the limit, or nearest to
it, with its interval. The upright mark is the limit. A batch can break it by chance. An
alarm weighs all batches so far; it is false in a year with 5% at most."""
WATCHED = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy")


@dataclass(frozen=True)
class Monitor:
    """What is watched.

    Attributes
    ----------
    name : str
    source : str
        A file, or a pattern of files such as "scores/*.csv". Without ``date`` each
        file is a batch, in the order of their names.
    policy : dict
        Of `Policy`: what is asked and the limits.
    every : {"day", "week", "month"}
        A batch, where ``date`` divides the rows.
    date : str, optional
        Column of dates.
    outcomes, key : str, optional
        File of outcomes that come later, and the column of both that joins them.
    hook : str, optional
        Command or URL that gets a new alarm as JSON; the operator must allow it.
    """

    name: str
    source: str
    policy: dict[str, Any]
    every: str = "week"
    date: str | None = None
    outcomes: str | None = None
    key: str | None = None
    hook: str | None = None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("A monitor needs a name.")
        check_one_of("--every", self.every, PERIODS)
        if (self.outcomes is None) != (self.key is None):
            raise ValueError("Outcomes that come later need both --outcomes and --key.")
        for limit in self.limits.limits:
            check_one_of("measure", limit.measure, WATCHED)

    @property
    def limits(self) -> Policy:
        """The policy."""
        return Policy.model_validate(self.policy)


@dataclass(frozen=True)
class Batch:
    """What a batch came to.

    Attributes
    ----------
    digest : str
        Of its rows, with the policy: a batch is audited again when either changes.
    """

    label: str
    digest: str
    rows: int
    excluded: tuple[Excluded, ...]
    judged: tuple[Judged, ...]
    claims: tuple[Claim, ...]


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
        before = {batch.digest: batch for batch in self.batches}
        batches = []
        for label, frame in _batches(self.monitor):
            digest = _digest(frame, self.monitor)
            batch = before.get(digest)
            if batch is None:
                batch = audit_batch(frame, self.monitor, label, digest)
            batches.append(replace(batch, label=label))
        return Watch(self.monitor, tuple(batches))

    def to_json(self) -> str:
        """Return the monitor with its batches as text that the store keeps."""
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> "Watch":
        """Return what `to_json` made a text of."""
        return TypeAdapter(cls).validate_python(json.loads(text))

    def evidence(self, limit: int) -> np.ndarray[Any, Any]:
        """Return the evidence against a limit after each batch; 1/alpha is an alarm.

        Its claims are those of the groups in the first batch that has any.
        """
        own = [[c for c in b.claims if c.limit == limit] for b in self.batches]
        about = [claim.about for claim in next(filter(None, own), [])]
        if not about:
            return np.ones(len(own))
        nothing = (0.0,) * len(BETS)
        weeks = []
        for claims in own:
            grown = {claim.about: claim.growth for claim in claims}
            weeks.append(np.array([grown.get(claim, nothing) for claim in about]))
        return evidence(weeks, LOOKS[self.monitor.every])

    def alarms(self, limit: int) -> np.ndarray[Any, Any]:
        """Return after which batches an alarm stands on a limit.

        Limits share alpha: all alarms of a year together are false with .05 at most.
        """
        n = len(self.monitor.limits.limits)
        looks = LOOKS[self.monitor.every]
        return alarms(self.evidence(limit), looks, ALPHA / n)

    def table(self) -> pd.DataFrame:
        """Return each batch and limit: value, interval, rows, status, evidence, alarm.

        The value is the one that is furthest beyond the limit, or nearest to it.
        """
        rows = []
        for at, limit in enumerate(self.monitor.limits.limits):
            series = zip(self.batches, self.evidence(at), self.alarms(at), strict=True)
            for batch, strength, alarm in series:
                judged = [part for part in batch.judged if part.limit == at]
                if not judged:
                    continue
                worst = _worst(limit, judged)
                row = {**vars(worst), "batch": batch.label, "limit": limit.words}
                row |= {"batch alone": worst.status, "evidence": strength}
                rows.append({**row, "alarm": bool(alarm)})
        return pd.DataFrame(rows, columns=COLUMNS)

    @property
    def broken(self) -> list[tuple[str, str]]:
        """Limits with an alarm, each with the batch that raised it."""
        broken = []
        for at, limit in enumerate(self.monitor.limits.limits):
            stands = self.alarms(at)
            if stands.any():
                broken.append((limit.words, self.batches[int(stands.argmax())].label))
        return broken

    def answer(self) -> Answer:
        """Return the series as an answer."""
        n, broken, table = len(self.batches), self.broken, self.table()
        verdict = f"No alarm in {count(n)} {'batch' if n == 1 else 'batches'}."
        if broken:
            verdict = f"Alarm since {broken[0][1]}: a limit is broken."
        failing = table.loc[table["batch alone"] == "fail", "batch"].nunique()
        own = {"batch alone": "By itself"}
        return Answer(
            verdict=verdict,
            cards=[
                Kpi("Batches", str(n)),
                Kpi("Alarms", str(len(broken)), "false in a year: at most 5%"),
                Kpi("Batches that fail", str(failing), "each by itself"),
            ],
            figure=Drawing("plot_limits", self._drawn(), {"headline": verdict[:-1]}),
            table=Listing("Every batch and limit", headed(table, **own)),
            details="; ".join(f"{words} (since {when})" for words, when in broken),
            how=_HOW,
            file="fairdash-monitor.csv",
            data=table,
        )

    def _drawn(self) -> pd.DataFrame:
        table = self.table()
        bounds = {
            limit.words: limit.bound.value for limit in self.monitor.limits.limits
        }
        several = len(bounds) > 1
        names = table["batch"] + (": " + table["limit"] if several else "")
        bound = table["limit"].map(bounds)
        return table.assign(label=names, limit=bound, status=table["batch alone"])


def audit_batch(
    frame: pd.DataFrame, monitor: Monitor, label: str, digest: str = ""
) -> Batch:
    """Audit the rows of one batch."""
    policy = monitor.limits
    checked = check_policy(frame, policy, Source(label, digest, len(frame), ""))
    rows = checked.audited.rows
    return Batch(
        label,
        digest,
        len(frame),
        rows.excluded,
        checked.judged,
        tuple(claims_of(frame, policy)),
    )


def _worst(limit: Limit, judged: Sequence[Judged]) -> Judged:
    def beyond(estimate: Judged) -> float:
        if np.isnan(estimate.value):
            return -np.inf
        return estimate.value if limit.at_most is not None else -estimate.value

    return max(judged, key=beyond)


def _batches(monitor: Monitor) -> Iterator[tuple[str, pd.DataFrame]]:
    files = sorted(map(Path, glob(monitor.source))) or [Path(monitor.source)]
    if not files[0].is_file():
        raise ValueError(f"No file fits the source {monitor.source!r}.")
    later = None
    if monitor.outcomes is not None:
        if not Path(monitor.outcomes).is_file():
            raise ValueError(f"There is no file of outcomes {monitor.outcomes!r}.")
        later = read_table(Path(monitor.outcomes))
    frames = [(file.name, read_table(file)) for file in files]
    if monitor.date is not None:
        frames = list(_by_period(pd.concat([f for _, f in frames]), monitor))
    for label, frame in frames:
        yield label, frame if later is None else _joined(frame, later, monitor)


def _by_period(
    frame: pd.DataFrame, monitor: Monitor
) -> Iterator[tuple[str, pd.DataFrame]]:
    assert monitor.date is not None
    check_one_of("--date", monitor.date, list(map(str, frame)))
    dates = pd.to_datetime(frame[monitor.date], errors="coerce", format="mixed")
    if dates.isna().any():
        n = int(dates.isna().sum())
        raise ValueError(
            f"Column {monitor.date!r} holds no date in {plural(n, 'row')}; fix or "
            "exclude these."
        )
    if dates.dt.tz is not None:
        dates = dates.dt.tz_localize(None)
    periods = dates.dt.to_period(PERIODS[monitor.every])
    for period, rows in frame.groupby(periods, sort=True):
        yield str(getattr(period, "start_time", period))[:10], rows


def _joined(frame: pd.DataFrame, later: pd.DataFrame, monitor: Monitor) -> pd.DataFrame:
    key = str(monitor.key)
    for table in (frame, later):
        check_one_of("--key", key, list(map(str, table)))
    if later[key].duplicated().any():
        first = later.loc[later[key].duplicated(), key].iloc[0]
        raise ValueError(f"The outcomes have the key {str(first)!r} more than once.")
    new = [name for name in later if name == key or name not in frame]
    return frame.merge(later[new], on=key, how="left")


def _digest(frame: pd.DataFrame, monitor: Monitor) -> str:
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
    question = json.dumps([list(map(str, frame)), monitor.policy], sort_keys=True)
    return sha256(rows + question.encode()).hexdigest()
