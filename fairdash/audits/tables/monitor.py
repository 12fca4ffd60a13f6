"""Watch a deployed model: every batch of its decisions is audited, alarms are rare.

Two alarms stand beside each other. The plain one is a week whose interval breaks a
limit by itself. The sequential one is of `fairdash.analysis.sequential`: over a
year of weeks it is false with a chance of at most .05, whatever the number of looks.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from fairdash._validation import check_one_of, value_labels
from fairdash._wording import Kpi, count, headed, plural
from fairdash.analysis import Earlier, Judgement, sequential, worst
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.tables.claims import Claim, claims_of
from fairdash.audits.tables.counting import Excluded, named_value
from fairdash.audits.tables.judging import Judged, judged_again
from fairdash.audits.tables.limits import check_policy
from fairdash.audits.tables.policy import Limit, Policy
from fairdash.audits.tables.reading import Source
from fairdash.datasets import join_tables, read_table, sources

PERIODS: dict[str, str] = {"day": "D", "week": "W", "month": "M"}
LOOKS: dict[str, int] = {"day": 365, "week": 52, "month": 12}
COLUMNS = [
    "batch", "limit", "feature", "subgroup", "group", "value", "low", "high", "n",
    "batch alone", "evidence", "alarm",
]  # fmt: skip
_HOW = """A row is a batch: the number that is furthest beyond the limit, or nearest to
it, with its interval. The upright mark is the limit. A batch can break it by chance. An
alarm weighs all batches so far; it is false in a year with 5% at most."""
_LAST = 5  # batches that are printed
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
    join : str, optional
        File with further columns, such as people's groups; read at each look.
    by : tuple of str
        What it is joined by, as `fairdash.datasets.join_tables` takes it.
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
    join: str | None = None
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("A monitor needs a name.")
        check_one_of("--every", self.every, PERIODS)
        if (self.outcomes is None) != (self.key is None):
            raise ValueError("Outcomes that come later need both --outcomes and --key.")
        if (self.join is None) != (not self.by):
            raise ValueError(
                "Give `--join FILE` and `--by COLUMN` together, or neither."
            )
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
        Of its rows, with the policy: a batch is audited again when either changes, and
        with weights or units when an earlier batch does.
    recurring : int
        Rows whose unit was in an earlier batch: the alarm counts a unit once.
    """

    label: str
    digest: str
    rows: int
    excluded: tuple[Excluded, ...]
    judged: tuple[Judged, ...]
    claims: tuple[Claim, ...]
    recurring: int = 0


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
        batches: list[Batch] = []
        earlier, policy = Earlier(), self.monitor.limits
        learns = policy.weight is not None or policy.unit is not None
        for label, frame in _batches(self.monitor):
            previous = batches[-1].digest if batches and learns else ""
            digest = _digest(frame, self.monitor, previous)
            batch = before.get(digest)
            if batch is None:
                batch = _audited(frame, self.monitor, label, digest, earlier)
            elif learns:
                claims_of(frame, policy, earlier, may_be_absent=True)
            batches.append(replace(batch, label=label))
        return Watch(self.monitor, tuple(batches))

    def first_batch(self) -> Batch:
        """Audit the first batch of the source; errors are those of `run`."""
        label, frame = next(_batches(self.monitor))
        digest = _digest(frame, self.monitor)
        return _audited(frame, self.monitor, label, digest, Earlier())

    def to_json(self) -> str:
        """Return the monitor with its batches as text that the store keeps."""
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> "Watch":
        """Return what `to_json` made a text of; its batches are judged as now."""
        watch = TypeAdapter(cls).validate_python(json.loads(text))
        policy = watch.monitor.limits
        batches = (
            replace(batch, judged=tuple(judged_again(policy, j) for j in batch.judged))
            for batch in watch.batches
        )
        return replace(watch, batches=tuple(batches))

    def evidence(self, limit: int) -> np.ndarray[Any, Any]:
        """Return the evidence against a limit after each batch; 1/alpha is an alarm.

        Its claims are those of the groups in the first batch that has any.
        """
        own = [[c for c in b.claims if c.limit == limit] for b in self.batches]
        about = [claim.about for claim in next(filter(None, own), [])]
        if not about:
            return np.ones(len(own))
        nothing = (0.0,) * len(sequential.BETS)
        weeks = []
        for claims in own:
            grown = {claim.about: claim.growth for claim in claims}
            weeks.append(np.array([grown.get(claim, nothing) for claim in about]))
        return sequential.evidence(weeks, LOOKS[self.monitor.every])

    def alarms(self, limit: int) -> np.ndarray[Any, Any]:
        """Return after which batches an alarm stands on a limit.

        Limits share alpha: all alarms of a year together are false with .05 at most.
        """
        n = len(self.monitor.limits.limits)
        looks = LOOKS[self.monitor.every]
        return sequential.alarms(self.evidence(limit), looks, sequential.ALPHA / n)

    def table(self) -> pd.DataFrame:
        """Return each batch and limit: value, interval, rows, status, evidence, alarm.

        The value is the one that is furthest beyond the limit, or nearest to it, of
        those with the worst status.
        """
        rows = []
        for at, limit in enumerate(self.monitor.limits.limits):
            series = zip(self.batches, self.evidence(at), self.alarms(at), strict=True)
            for batch, strength, alarm in series:
                judged = _furthest(at, limit, batch)
                if judged is None:
                    continue
                row = {**vars(judged), "batch": batch.label, "limit": limit.words}
                row |= {"batch alone": judged.status.value, "evidence": strength}
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

    @property
    def failing(self) -> list[tuple[str, str]]:
        """Batches that break a limit by themselves: each with limit and estimate."""
        failing = []
        for batch in self.batches:
            for at, limit in enumerate(self.monitor.limits.limits):
                judged = _furthest(at, limit, batch)
                if judged is not None and judged.status is Judgement.FAIL:
                    failing.append((batch.label, f"{limit.words}; {judged.words}"))
        return failing

    def lines(self) -> list[str]:
        """Return the state of the alarm, and the last batches that fail."""
        failing = [f"{batch} fails by itself: {why}" for batch, why in self.failing]
        earlier = len(failing) - _LAST
        if earlier > 0:
            failing = [f"{plural(earlier, 'earlier failure')}", *failing[-_LAST:]]
        return [self._verdict(), *failing, *self._unweighed()]

    def _unweighed(self) -> list[str]:
        """Say which rows the alarm cannot weigh."""
        lines = []
        recurring = sum(batch.recurring for batch in self.batches)
        if recurring:
            whole = sum(batch.rows for batch in self.batches)
            lines.append(
                f"{count(recurring)} of {plural(whole, 'row')} are of units that were "
                "in an earlier batch. They say nothing new, so the alarm leaves them "
                "out."
            )
        silent = [b for b in self.batches if b.claims and not any(map(_bets, b.claims))]
        if silent:
            batches = "1 batch" if len(silent) == 1 else f"{count(len(silent))} batches"
            lines.append(
                f"The alarm could not weigh {batches}: it learns the weights from "
                "earlier batches, or too few rows were new."
            )
        return lines

    def _verdict(self) -> str:
        n, broken = len(self.batches), self.broken
        verdict = f"No alarm in {count(n)} {'batch' if n == 1 else 'batches'}."
        if broken:
            verdict = f"Alarm since {broken[0][1]}: a limit is broken."
        n_failing = len({batch for batch, _ in self.failing})
        if n_failing == 1:
            return f"{verdict} One batch fails by itself."
        if n_failing:
            return f"{verdict} {count(n_failing)} batches fail by themselves."
        return verdict

    def answer(self) -> Answer:
        """Return the series as an answer."""
        n, broken, table = len(self.batches), self.broken, self.table()
        verdict = self._verdict()
        failing = len({batch for batch, _ in self.failing})
        own = {"batch alone": "By itself"}
        details = [f"{words} (since {when})" for words, when in broken]
        details += self.lines()[1:]
        return Answer(
            verdict=verdict,
            cards=[
                Kpi("Batches", str(n)),
                Kpi("Alarms", str(len(broken)), "false in a year: at most 5%"),
                Kpi("Batches that fail", str(failing), "each by itself"),
            ],
            figure=Drawing("plot_limits", self._drawn(), {"headline": verdict[:-1]}),
            table=Listing("Every batch and limit", headed(table, **own)),
            details="; ".join(details),
            how=_HOW,
            file="fairdash-monitor.csv",
            data=table,
        )

    def _drawn(self) -> pd.DataFrame:
        table = self.table()
        limits = self.monitor.limits.limits
        bounds = {limit.words: limit.bound.value for limit in limits}
        axes = {limit.words: limit.of for limit in limits}
        several = len(bounds) > 1
        names = table["batch"] + (": " + table["limit"] if several else "")
        bound = table["limit"].map(bounds)
        axis, status = table["limit"].map(axes), table["batch alone"]
        return table.assign(label=names, limit=bound, axis=axis, status=status)


def audit_batch(
    frame: pd.DataFrame,
    monitor: Monitor,
    label: str,
    digest: str = "",
    earlier: Earlier | None = None,
) -> Batch:
    """Audit the rows of one batch, which is added to what ``earlier`` ones say.

    The value of the decision, and of the outcome, must occur in it or in another batch.
    """
    policy = monitor.limits
    absent = _occurs_elsewhere(frame, monitor)
    checked = check_policy(
        frame, policy, Source.of_frame(label, digest, frame), may_be_absent=absent
    )
    claims = claims_of(frame, policy, earlier, may_be_absent=absent)
    return Batch(
        label,
        digest,
        len(frame),
        checked.audited.rows.excluded,
        checked.judged,
        claims.claims,
        claims.recurring,
    )


def _occurs_elsewhere(frame: pd.DataFrame, monitor: Monitor) -> bool:
    """Tell whether values that the policy names but this batch lacks are in another."""
    missing = _absent(frame, monitor.limits)
    if not missing:
        return False
    for _, other in _batches(monitor):
        missing &= _absent(other, monitor.limits)
        if not missing:
            return True
    return False


def _absent(frame: pd.DataFrame, policy: Policy) -> set[str]:
    options = (("--decision", policy.decision), ("--outcome", policy.outcome))
    absent = set()
    for option, text in options:
        if text is not None:
            name, value = named_value(option, text, frame)
            if not (value_labels(frame[name]) == value).any():
                absent.add(option)
    return absent


def stored_name(text: str) -> str:
    """Return the name in the text of a monitor, even one that cannot be opened."""
    try:
        return str(json.loads(text)["monitor"]["name"])
    except (ValueError, KeyError, TypeError):
        return "(a damaged monitor)"


def _audited(
    frame: pd.DataFrame, monitor: Monitor, label: str, digest: str, earlier: Earlier
) -> Batch:
    try:
        return audit_batch(frame, monitor, label, digest, earlier)
    except ValueError as error:
        raise ValueError(f"The batch {label}: {error}") from error


def _bets(claim: Claim) -> bool:
    return any(claim.growth)


def _furthest(at: int, limit: Limit, batch: Batch) -> Judged | None:
    """Return the estimate that decides a limit in a batch, None without any."""
    judged = [part for part in batch.judged if part.limit == at]
    if not judged:
        return None
    status = worst(part.status for part in judged)

    def beyond(estimate: Judged) -> float:
        if np.isnan(estimate.value):
            return -np.inf
        return estimate.value if limit.bound.upper else -estimate.value

    return max((part for part in judged if part.status is status), key=beyond)


def _batches(monitor: Monitor) -> Iterator[tuple[str, pd.DataFrame]]:
    later = _outcomes(monitor)
    frames: Iterator[tuple[str, pd.DataFrame]]
    frames = ((file.name, read_table(file)) for file in _files(monitor.source))
    if monitor.date is not None:
        frames = _by_period(pd.concat([frame for _, frame in frames]), monitor)
    people = _further(monitor)
    for label, frame in frames:
        batch = frame if later is None else _joined(frame, later, monitor)
        if people is not None:
            name = Path(str(monitor.join)).name
            batch = join_tables(batch, people, monitor.by, name=name)
        _check_groups(batch, label, monitor)
        yield label, batch


def _further(monitor: Monitor) -> pd.DataFrame | None:
    """Return the table that batches are joined with, None without one."""
    if monitor.join is None:
        return None
    if not Path(monitor.join).is_file():
        raise ValueError(
            f"There is no file {monitor.join!r} to join batches with. Put it back, or "
            "remove the monitor and add it with another `--join`."
        )
    return read_table(Path(monitor.join))


def _check_groups(frame: pd.DataFrame, label: str, monitor: Monitor) -> None:
    policy = monitor.limits
    made = {step.column for step in policy.preparation}
    missing = [g for g in policy.groups if g not in frame and g not in made]
    if missing:
        raise ValueError(
            f"The batch {label} has no column {missing[0]!r}, a group of the policy. "
            "Write it to each batch, or add the monitor with the file that has it: "
            "`--join FILE --by COLUMN`."
        )


def _files(source: str) -> list[Path]:
    if "://" in source:
        raise ValueError(
            f"A monitor reads files of this machine, not {sources.shown(source)}. "
            'Write each batch to a file and name these: --source "batches/*.parquet".'
        )
    files = [path for path in sorted(map(Path, glob(source))) if path.is_file()]
    if not files and Path(source).is_file():  # its name may hold a bracket
        files = [Path(source)]
    if not files:
        raise ValueError(
            f"No file fits the source {source!r}. Write the first batch, then add or "
            "run the monitor."
        )
    return files


def _outcomes(monitor: Monitor) -> pd.DataFrame | None:
    if monitor.outcomes is None:
        return None
    if not Path(monitor.outcomes).is_file():
        raise ValueError(f"There is no file of outcomes {monitor.outcomes!r}.")
    return read_table(Path(monitor.outcomes))


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


def _digest(frame: pd.DataFrame, monitor: Monitor, previous: str = "") -> str:
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
    question = json.dumps([list(map(str, frame)), monitor.policy], sort_keys=True)
    return sha256(rows + question.encode() + previous.encode()).hexdigest()
