"""What is shared on purpose: a copy that every user of a server opens by its link."""

import json
import re
import secrets
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from fairdash.jobs.bundle import Unpacked, pack_runs, unpack_runs
from fairdash.store import SHARED, Forbidden, KeptReport, Store, UserStore, open_store

_TOKEN = re.compile("[A-Za-z0-9_-]{22}")


@dataclass(frozen=True)
class Share:
    """A run as it was when it was shared, or a snapshot of its report.

    Attributes
    ----------
    token : str
        The part of the link that nobody can guess.
    by, run, name : str
        Id of the user, id and name of the run.
    created : float
        Seconds since 1970.
    """

    token: str
    by: str
    run: str
    name: str
    created: float


def share_run(store: UserStore, run_id: str, *, address: str = "") -> Share:
    """Put a copy of a finished run, with its table, where its link opens it.

    It stays when the run is deleted, until `withdraw`. Raises ValueError as `pack_runs`
    does, and OSError when the user may share nothing.

    Parameters
    ----------
    address : str
        Query of the page that the link opens, so that it shows what was looked at.
    """
    token, run = _new_token(store), store.run(run_id)
    bundle = _file(store.root, token)
    pack_runs(store, [run_id], bundle, address=address)
    share = Share(token, store.user.id, run_id, run.name, time.time())
    return _shared(store, share, bundle)


def share_report(store: UserStore, key: str) -> Share:
    """Put a copy of a snapshot, which holds no row, where its link opens it.

    It stays when the snapshot is deleted, until `withdraw`. Raises ValueError when
    there is no such snapshot, and OSError when the user may share nothing.
    """
    token, (kept, page) = _new_token(store), store.kept_report(key)
    file = _file(store.root, token, ".html")
    file.write_text(page)
    share = Share(token, store.user.id, kept.run, kept.title, kept.created)
    return _shared(store, share, file)


def open_report(store: Store, key: str) -> tuple[KeptReport, str]:
    """Return a snapshot and its page: one's own, or one that was shared by this key.

    One that was shared has no address: its run is somebody else's. Raises ValueError as
    `Store.kept_report` does.
    """
    if isinstance(store, UserStore) and _TOKEN.fullmatch(key):
        file = _file(store.root, key, ".html")
        if not file.exists():
            raise ValueError("No snapshot is shared by this link (any more).")
        share, page = _read(file.with_suffix(".json")), file.read_text()
        store.note("open shared", f"{share.name} ({share.run})")
        about = share.name, share.run, "", share.created, len(page.encode())
        return KeptReport(key, *about), page
    return store.kept_report(key)


def shares(store: UserStore) -> list[Share]:
    """Return what a user shares, newest first; an admin sees what everybody shares."""
    found = []
    for file in (store.root / SHARED).glob("*.json"):
        with suppress(FileNotFoundError):  # withdrawn just now
            found.append(_read(file))
    if store.user.role != "admin":
        found = [one for one in found if one.by == store.user.id]
    return sorted(found, key=lambda one: one.created, reverse=True)


def open_share(store: UserStore, token: str) -> Unpacked:
    """Copy a shared run into the home folder of a user, a viewer's too.

    Raises ValueError when nothing is shared under this token (any more), or it was
    trained by a version whose models are others.
    """
    bundle = _file(store.root, token)
    if not bundle.exists():
        raise ValueError(
            "Nothing is shared by this link (any more); ask for a new one."
        )
    own = open_store(store.home)
    try:
        found = unpack_runs(own, bundle)
    finally:
        own.close()
    store.note("open shared", f"{store.run(found.runs[0]).name} ({found.runs[0]})")
    return found


def withdraw(store: UserStore, token: str) -> None:
    """Make a link open nothing; copies that were opened before stay.

    Raises ValueError when the user shares nothing under this token.
    """
    share = next((one for one in shares(store) if one.token == token), None)
    if share is None:
        raise ValueError("You share nothing by this link.")
    for suffix in (".zip", ".html", ".json"):
        _file(store.root, token, suffix).unlink(missing_ok=True)
    store.note("stop sharing", f"{share.name} ({share.run})")


def _new_token(store: UserStore) -> str:
    if store.user.role == "viewer":
        raise Forbidden(f"{store.user.name} may open what was shared, not share it.")
    (store.root / SHARED).mkdir(mode=0o700, exist_ok=True)
    return secrets.token_urlsafe(16)


def _shared(store: UserStore, share: Share, file: Path) -> Share:
    """Note what was shared, beside its file and in the trail."""
    file.chmod(0o600)
    half = file.with_suffix(".half")  # others list what is shared meanwhile
    half.write_text(json.dumps(asdict(share)))
    half.replace(file.with_suffix(".json"))
    store.note("share", f"{share.name} ({share.run})")
    return share


def _read(file: Path) -> Share:
    return Share(**json.loads(file.read_text()))


def _file(root: Path, token: str, suffix: str = ".zip") -> Path:
    if not _TOKEN.fullmatch(token):
        raise ValueError("This is no link to a shared run.")
    return root / SHARED / f"{token}{suffix}"
