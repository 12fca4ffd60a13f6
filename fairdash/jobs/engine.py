"""Find the engine of a server, or start it; kernel locks tell who lives.

A server is a home folder with the homes of its users, if there is a login. One engine
drives the runs of all.
"""

import fcntl
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from fairdash._wording import plural
from fairdash.store import Homes, Snapshot, Store, private, write_file

APPS = "apps.lock"  # shared by all apps of a server
ENGINE = "engine.lock"  # of each home, held by who drives its runs
ATTACH_SECONDS = 10.0  # an engine that is just ending gives its locks up sooner
CARD = "engine.json"  # who the engine is, once it is ready
ENDING = "engine.end"  # asks one engine to end, by when it began
RETRY_SECONDS = 30.0  # after the start of an engine that failed
WATCH_SECONDS = 2.0
QUIET_SECONDS = 20.0  # after the start of an app: the first pages have the processors
TIDY_SECONDS = 3600.0  # between two looks for copies of what was deleted elsewhere
ROOM = 100 << 20  # free bytes below which no training begins
PACKAGE = Path(__file__).parents[1]
LOG_FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"
FOR_DATABASE = "Waits for Postgres"

# By server, the last one with its start. A child that nobody asks after would stay a
# zombie when it ends.
_children: dict[Path, tuple[subprocess.Popen[bytes], float]] = {}


class Lease:
    """A held lock; it is given up by ``close`` or by the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def close(self) -> None:
        """Give the lock up."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def take(path: Path, *, shared: bool = False, patience: float = 0.0) -> Lease | None:
    """Return the lock on a file, or None if it is not to be had within ``patience``."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    deadline = time.monotonic() + patience
    while True:
        # The kernel frees a lock with its process, so a crash leaves none behind.
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.02)
        else:
            return Lease(descriptor)


def attach(home: Path) -> Lease:
    """Tell the engine that an app lives, until the lease is closed or the process ends.

    An engine that runs other code than this process is asked to end, as after an
    upgrade; the next `ensure_engine` starts one that goes on where it stopped.

    Raises
    ------
    TimeoutError
        When an engine does not give way.
    """
    lease = take(home / APPS, shared=True, patience=ATTACH_SECONDS)
    if lease is None:
        raise TimeoutError(f"Another process keeps {home / APPS} to itself.")
    card = engine_card(home)
    if card and card["code"] != code_version():
        _ask_to_end(home, card)
    return lease


def _ask_to_end(home: Path, card: Mapping[str, Any]) -> None:
    """Ask the engine of a card to end.

    By a file: the engine may run in another container on the same folder, where its
    number is that of another process, or of this one.
    """
    if card.get("reads_mark"):
        write_file(home / ENDING, json.dumps(card["since"]))
    elif _is_engine(card["pid"]):  # of version 0.4, which looks for no mark
        with suppress(ProcessLookupError):  # it has ended since
            os.kill(card["pid"], signal.SIGTERM)


def _is_engine(pid: int) -> bool:
    """Tell whether a process of this machine is an engine; True where none can tell."""
    processes = Path("/proc")
    if not (processes / "self").exists():
        return True
    with suppress(OSError):  # it has ended since
        return b"fairdash.jobs.host" in (processes / str(pid) / "cmdline").read_bytes()
    return False


def is_asked_to_end(home: Path, since: float) -> bool:
    """Tell whether the engine that began at ``since`` is asked to end."""
    try:
        return bool(json.loads((home / ENDING).read_text()) == since)
    except FileNotFoundError:
        return False


def engine_lives(home: Path) -> bool:
    """Tell whether a server has an engine on this machine."""
    lock = take(home / ENGINE, shared=True)
    if lock is None:
        return True
    lock.close()
    return False


def ensure_engine(home: Path) -> None:
    """Start the engine of a server unless it lives; return at once.

    This costs microseconds while it lives, so every poll may call it. One that failed
    is left alone for a while: whatever stopped it would stop the next. The caller takes
    the lock and hands it to the new process as an open file: at no moment could a
    second caller start a second engine, however slowly the first one imports.
    """
    lock = take(home / ENGINE)
    if lock is None:
        return
    with lock:
        if home in _children:
            try:
                _children[home][0].wait(ATTACH_SECONDS)  # it has given its lock up
            except subprocess.TimeoutExpired:
                return  # the next poll looks again
        if _start_failed(home):
            return
        (home / CARD).unlink(missing_ok=True)  # the last engine's
        command = [sys.executable, "-P", "-m", "fairdash.jobs.host", str(home)]
        with open(home / "engine.log", "ab", opener=private) as output:
            child = subprocess.Popen(
                [*command, "--lock", str(lock.descriptor)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(lock.descriptor,),
                start_new_session=True,  # out of reach of Ctrl-C in the app's terminal
            )
        _children[home] = child, time.monotonic()


def wake_engine(store: Store) -> None:
    """Start the engine of a store's server unless one lives, here or elsewhere."""
    if not engine_lives(store.root) and not store.has_engine():
        ensure_engine(store.root)


@contextmanager
def watching(server: Store, after: float) -> Iterator[None]:
    """Start the engine of a server ``after`` some seconds, and whenever it is needed.

    So open runs go on when an engine was killed, page or no page; one that has ended
    since it was idle stays away. Where another machine has the engine, copies that this
    one has of an object store are deleted here once they are deleted there.
    """
    stop = threading.Event()

    def look() -> None:
        seconds = after
        first = True
        while not stop.wait(seconds):
            seconds = WATCH_SECONDS
            with suppress(OSError):  # a full disk, no database; pages say so
                if not server.root.is_dir():
                    continue  # its engine would end at once, again and again
                if first or lacks_engine(server):
                    wake_engine(server)
                first = False

    def tidy() -> None:
        seconds = after + QUIET_SECONDS
        while not stop.wait(seconds):
            seconds = TIDY_SECONDS
            with suppress(OSError):
                Homes(server).drop_copies(stop.is_set)

    # Two of them: to tidy many homes takes minutes, and an engine is not to wait.
    threads = [threading.Thread(target=work, daemon=True) for work in (look, tidy)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def lacks_engine(server: Store) -> bool:
    """Tell whether open runs of a server have no engine, here or elsewhere."""
    # To ask all homes for open runs is dear; where an engine lives nobody needs to.
    if engine_lives(server.root) or server.has_engine():
        return False
    return has_open_runs(server)


def has_open_runs(server: Store) -> bool:
    """Tell whether any home of a server has open runs."""
    return bool(server.open_runs() or Homes(server).with_open_runs())


def why_waits(store: Store, snapshot: Snapshot) -> str:
    """Return the reason why an open run waits, "" if it does not."""
    card = engine_card(store.root)
    if lacks_room(store.root):
        return "Waits for room on the disk"
    if _start_failed(store.root):
        return "Engine stopped by an error, see its log; it restarts"
    if snapshot.count("running"):
        return ""
    if card is not None:
        return _why_waits_here(store, snapshot, card)
    if not engine_lives(store.root) and store.has_engine():  # on another machine
        return _behind(_n_running(store, snapshot))
    address = os.environ.get("FAIRDASH_SCHEDULER")
    if address:
        return f"Waits for the scheduler at {address}"
    return "Engine starting"


def _why_waits_here(store: Store, snapshot: Snapshot, card: Mapping[str, Any]) -> str:
    """Return the reason why a run waits, from the card of this machine's engine."""
    if not card["threads"]:
        address = os.environ.get("FAIRDASH_SCHEDULER")
        return f"Waits for a worker at {address}" if address else "Waits for a worker"
    training = card.get("training", {})  # an engine of an earlier version says nothing
    if f"{store.user}/{snapshot.run.id}" in training:
        return ""
    return _behind(sum(training.values()))


def _n_running(store: Store, snapshot: Snapshot) -> int:
    """Return the number of models in training of the other open runs of a home."""
    peers = [run.id for run in store.open_runs() if run.id != snapshot.run.id]
    return sum(store.snapshot(run, curves=False).count("running") for run in peers)


def _behind(n_models: int) -> str:
    return f"Waits behind {plural(n_models, 'other model')}" if n_models else ""


def lacks_room(home: Path) -> bool:
    """Tell whether the disk of a server is too full to begin a training."""
    return shutil.disk_usage(home).free < ROOM


def _start_failed(home: Path) -> bool:
    """Return whether the engine that was started last has just failed."""
    child, started = _children.get(home, (None, 0.0))
    if child is None:
        return False
    status = child.poll()  # in any case: it takes a zombie away
    failed = status is not None and status > 0
    return failed and time.monotonic() - started < RETRY_SECONDS


def engine_card(home: Path) -> dict[str, Any] | None:
    """Return the card of the engine, None while there is none or it is starting."""
    if not engine_lives(home):
        return None
    try:
        card: dict[str, Any] = json.loads((home / CARD).read_text())
    except FileNotFoundError:
        return None
    return card


@lru_cache
def code_version() -> str:
    """Return a hash that changes with any source file of the package."""
    # By size and date, which costs less than reading every file.
    facts = []
    for path in sorted(PACKAGE.rglob("*.py")):
        stat = path.stat()
        facts.append((str(path), stat.st_size, stat.st_mtime_ns))
    return sha256(repr(facts).encode()).hexdigest()


def log_to_stderr() -> None:
    """Write what this process logs to stderr."""
    logging.basicConfig(format=LOG_FORMAT)
    logging.getLogger("fairdash").setLevel(logging.INFO)
