"""Delete what nobody used for a set time: first into the bin, a week later for good."""

import json
import math
import os
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from fairdash._wording import utc
from fairdash.store._disk import write_file
from fairdash.store._store import USERS, Store, open_store
from fairdash.store._trouble import StoreError
from fairdash.store.server.users import note

DAY = 86400.0
BIN_DAYS = 7.0
LEAP_DAYS = 30.0  # after the newest entry, at which a clock is no longer trusted
BIN = "bin.json"  # of a home folder: since when each of its entries lies in the bin
CLOCK = "clock"  # of the server: the last time at which its clock was plausible


@dataclass
class Expired:
    """Names of what was deleted for good, and of what lies in the bin."""

    deleted: list[str] = field(default_factory=list)
    binned: list[str] = field(default_factory=list)


class ClockError(StoreError):
    """The clock of this machine is not plausible: nothing is deleted by it."""


def keep_days() -> float:
    """Return after how many days without use things are deleted; infinity is never.

    Raises ValueError when ``$FAIRDASH_KEEP_DAYS`` is no number of at least 1.
    """
    text = os.environ.get("FAIRDASH_KEEP_DAYS") or "inf"
    with suppress(ValueError):
        if (days := float(text)) >= 1:
            return days
    raise ValueError(
        f"FAIRDASH_KEEP_DAYS is {text!r}; name a number of days, 1 or more."
    )


def expire(root: Path, days: float, *, clock_is_right: bool = False) -> Expired:
    """Put what nobody used for ``days`` days into the bin; a week later delete it.

    An entry was used when it was added, and when the last run on it was started or
    ended; an entry with an open run is in use. Use takes an entry out of the bin. All
    users of the server are looked through, and the trail notes each deletion.

    Raises
    ------
    ClockError
        When the clock is earlier than the newest entry of the server, or more than 30
        days later than that and the last call, unless ``clock_is_right``. Nothing is
        deleted then.
    """
    now = time.time()
    homes = (root, *sorted((root / USERS).glob("*")))
    if not clock_is_right:
        _check_clock(root, homes, now)
    write_file(root / CLOCK, repr(now))
    expired = Expired()
    for home in homes:
        with closing(open_store(home)) as store:
            deleted, binned = _expire_home(store, days, now)
        expired.binned += binned
        expired.deleted += deleted
        for name in deleted:
            note(root, "fairdash", f"expire of {home.name}", name)
    return expired


def _check_clock(root: Path, homes: tuple[Path, ...], now: float) -> None:
    entry = -math.inf
    for home in homes:
        with closing(open_store(home)) as store:
            entry = max(entry, _newest(store))
    newest = entry
    with suppress(FileNotFoundError, ValueError):
        newest = max(entry, float((root / CLOCK).read_text()))
    if now < newest - DAY:
        why = f"earlier than the newest entry here, of {utc(newest)}"
    elif newest > -math.inf and now > newest + LEAP_DAYS * DAY:
        why = f"{(now - newest) / DAY:.0f} days after the last use, at {utc(newest)}"
    else:
        return
    raise ClockError(
        f"Nothing was deleted: the clock of this machine says {utc(now)}, {why}. Set "
        "the clock. If it is right, run `fairdash store expire DAYS --clock-is-right`."
    )


def _newest(store: Store) -> float:
    moments = [entry.created for entry in store.kept()]
    for run in store.runs():
        moments += [run.created, run.finished or run.created]
    return max(moments, default=-math.inf)


def _expire_home(store: Store, days: float, now: float) -> tuple[list[str], list[str]]:
    """Return the names that were deleted, and those in the bin of one home folder."""
    kept = store.kept()
    used = {entry.id: entry.created for entry in kept}
    for run in store.runs():
        end = run.finished or (run.created if run.over else now)
        before = used.get(run.dataset_id, run.created)  # it may be new
        used[run.dataset_id] = max(before, run.created, end)
    old = {entry.id: entry.name for entry in kept if used[entry.id] < now - days * DAY}
    since = _read_bin(store.home)
    # a time to come is of a clock that was wrong: the week begins anew
    binned = {key: min(since.get(key, now), now) for key in old}
    deleted = []
    for key in [key for key in binned if now - binned[key] >= BIN_DAYS * DAY]:
        del binned[key]
        with suppress(ValueError):  # used, or deleted, by others just now
            store.remove(key)
            deleted.append(old[key])
    if binned != since:
        write_file(store.home / BIN, json.dumps(binned))
    return deleted, [old[key] for key in binned]


def _read_bin(home: Path) -> dict[str, float]:
    with suppress(FileNotFoundError, ValueError):  # a damaged one begins anew
        return {
            str(key): float(since)
            for key, since in json.loads((home / BIN).read_text()).items()
        }
    return {}
