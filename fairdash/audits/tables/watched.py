"""The source of a monitor, which is read batch by batch."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

import pandas as pd

from fairdash._validation import check_one_of, value_labels
from fairdash._wording import plural
from fairdash.audits.tables.counting import named_value
from fairdash.audits.tables.policy import Policy
from fairdash.datasets import join_tables, read_table

PERIODS: dict[str, str] = {"day": "D", "week": "W", "month": "M"}
WATCHED = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy")


@dataclass(frozen=True)
class Monitor:
    """A source that is watched, and the policy it is held to.

    Attributes
    ----------
    name : str
    source : str
        A file, or a pattern of files such as "scores/*.csv". Without ``date`` each
        file is a batch, in the order of their names. Or the address of a database, an
        object store or a folder, which is counted where it lies.
    policy : dict
        Of `Policy`: what is asked and the limits.
    every : {"day", "week", "month"}
        Period of a batch, where ``date`` divides the rows.
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
    def is_counted(self) -> bool:
        """Whether the source is counted where it lies, instead of being read."""
        return "://" in self.source or Path(self.source).is_dir()

    def counting(self, column: str) -> "Monitor":
        """Return this monitor of a table with a column of how many rows there are."""
        return replace(self, policy={**self.policy, "count": column})

    @property
    def limits(self) -> Policy:
        """The policy."""
        return Policy.model_validate(self.policy)


def batches_of(monitor: Monitor) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the label and the rows of each batch, joined with what comes later.

    Raises
    ------
    ValueError
        When a file or a column is missing, or a date cannot be read.
    """
    frames: Iterator[tuple[str, pd.DataFrame]]
    outcomes = _outcomes(monitor)
    frames = ((file.name, read_table(file)) for file in _files(monitor.source))
    if monitor.date is not None:
        whole = pd.concat([frame for _, frame in frames])
        frames = by_period(whole, monitor)
    people = _people(monitor)
    for label, frame in frames:
        batch = frame
        if outcomes is not None:
            batch = _with_outcomes(batch, outcomes, monitor)
        if people is not None:
            name = Path(str(monitor.join)).name
            batch = join_tables(batch, people, monitor.by, name=name)
        _check_groups(batch, label, monitor)
        yield label, batch


def _people(monitor: Monitor) -> pd.DataFrame | None:
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
    """Raise ValueError where a batch lacks a column of groups."""
    policy = monitor.limits
    prepared = {step.column for step in policy.preparation}
    columns = {*frame, *prepared}
    missing = [group for group in policy.groups if group not in columns]
    if missing:
        raise ValueError(
            f"The batch {label} has no column {missing[0]!r}, a group of the policy. "
            "Write it to each batch, or add the monitor with the file that has it: "
            "`--join FILE --by COLUMN`."
        )


def _files(source: str) -> list[Path]:
    """Return the files that fit a pattern, in the order of their names."""
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
    """Return the outcomes that come later, None where there are none."""
    if monitor.outcomes is None:
        return None
    if not Path(monitor.outcomes).is_file():
        raise ValueError(f"There is no file of outcomes {monitor.outcomes!r}.")
    return read_table(Path(monitor.outcomes))


def by_period(
    frame: pd.DataFrame, monitor: Monitor, people: str | None = None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the first day and the rows of each period, in their order.

    ``people`` is the column of how many a row stands for, of a table of counts.
    """
    assert monitor.date is not None
    check_one_of("--date", monitor.date, list(map(str, frame)))
    dates = pd.to_datetime(frame[monitor.date], errors="coerce", format="mixed")
    if dates.isna().any():
        undated = frame[dates.isna()]
        n = len(undated) if people is None else int(undated[people].sum())
        raise ValueError(
            f"Column {monitor.date!r} holds no date in {plural(n, 'row')}; fix or "
            "exclude these."
        )
    if dates.dt.tz is not None:
        # A period has no time zone: a row belongs to the day that its cell says.
        dates = dates.dt.tz_localize(None)
    periods = dates.dt.to_period(PERIODS[monitor.every])
    for period, rows in frame.groupby(periods, sort=True):
        first_day = str(getattr(period, "start_time", period))[:10]
        yield first_day, rows


def _with_outcomes(
    frame: pd.DataFrame, outcomes: pd.DataFrame, monitor: Monitor
) -> pd.DataFrame:
    """Return a batch with the columns of its outcomes, missing where not yet known."""
    key = str(monitor.key)
    for table in (frame, outcomes):
        check_one_of("--key", key, list(map(str, table)))
    repeated = outcomes[key].duplicated()
    if repeated.any():
        first = outcomes.loc[repeated, key].iloc[0]
        raise ValueError(f"The outcomes have the key {str(first)!r} more than once.")
    new = [name for name in outcomes if name == key or name not in frame]
    return frame.merge(outcomes[new], on=key, how="left")


def occurs_elsewhere(frame: pd.DataFrame, monitor: Monitor) -> bool:
    """Return whether values that the policy names but a batch lacks are in another."""
    missing = absent_values(frame, monitor.limits)
    if not missing:
        return False
    # Most batches have all values, so the others are read only here.
    return any_has(missing, (batch for _, batch in batches_of(monitor)), monitor)


def any_has(
    missing: set[str], batches: Iterable[pd.DataFrame], monitor: Monitor
) -> bool:
    """Return whether each value that one batch lacks occurs in some of others."""
    for batch in batches:
        missing = missing & absent_values(batch, monitor.limits)
        if not missing:
            return True
    return False


def absent_values(frame: pd.DataFrame, policy: Policy) -> set[str]:
    """Return which options name a value that does not occur in a table."""
    options = (("--decision", policy.decision), ("--outcome", policy.outcome))
    absent = set()
    for option, text in options:
        if text is not None:
            name, value = named_value(option, text, frame)
            if not (value_labels(frame[name]) == value).any():
                absent.add(option)
    return absent
