"""Delete what nobody used for a set time."""

import math
import os
import time
from contextlib import closing, suppress
from pathlib import Path

from fairdash._wording import utc
from fairdash.store._disk import write_file
from fairdash.store._store import USERS, Store, open_store
from fairdash.store._trouble import StoreError
from fairdash.store.server.users import note

DAY = 86400.0
LEAP_DAYS = 30.0  # after the last sign of use, at which a clock is no longer trusted
CLOCK = "clock"  # of the server: the last time at which its clock was plausible


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


def expire(root: Path, days: float) -> list[str]:
    """Delete what nobody used for ``days`` days; return the names.

    An entry was used when it was added, and when the last run on it was started or
    ended; an entry with an open run is in use. All users of the server are looked
    through, and the trail notes each deletion.

    Raises
    ------
    ClockError
        When the clock is earlier than the newest entry of the server, or more than 30
        days later than that and the last call. Nothing is deleted then.
    """
    now = time.time()
    homes = (root, *sorted((root / USERS).glob("*")))
    used = {home: _last_use(home, now) for home in homes}
    _check_clock(root, [moment for found in used.values() for moment in found.values()])
    write_file(root / CLOCK, repr(now))
    deleted = []
    for home, moments in used.items():
        with closing(open_store(home)) as store:
            names = {entry.id: entry.name for entry in store.kept()}
            for key, moment in moments.items():
                if moment >= now - days * DAY or key not in names:
                    continue
                with suppress(ValueError):  # used, or deleted, by others just now
                    store.remove(key)
                    deleted.append(names[key])
                    note(root, "fairdash", f"expire of {home.name}", names[key])
    return deleted


def _last_use(home: Path, now: float) -> dict[str, float]:
    with closing(open_store(home)) as store:
        return _moments(store, now)


def _moments(store: Store, now: float) -> dict[str, float]:
    """Return when each entry was last used."""
    used = {entry.id: entry.created for entry in store.kept()}
    for run in store.runs():
        end = run.finished or (run.created if run.over else now)
        before = used.get(run.dataset_id, run.created)  # it may be new
        used[run.dataset_id] = max(before, run.created, end)
    return used


def _check_clock(root: Path, moments: list[float]) -> None:
    now, entry = time.time(), max(moments, default=-math.inf)
    newest = entry
    with suppress(FileNotFoundError, ValueError):
        newest = max(entry, float((root / CLOCK).read_text()))
    if now < entry - DAY:
        why = f"earlier than the newest entry here, of {utc(entry)}"
    elif newest > -math.inf and now > newest + LEAP_DAYS * DAY:
        why = f"{(now - newest) / DAY:.0f} days after the last use, at {utc(newest)}"
    else:
        return
    raise ClockError(
        f"Nothing was deleted: the clock of this machine says {utc(now)}, {why}. Set "
        "the clock. If it is right, add a table or start a run, and try again."
    )
