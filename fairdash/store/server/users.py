"""Users of one server: a home folder each, and a trail of what they did."""

import inspect
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdash._validation import check_one_of
from fairdash.store._records import DatasetRecord, RunRecord
from fairdash.store._store import USERS, Store, database_of, files_of

TRAIL = "trail.jsonl"
_FIELDS = ("admins", "viewers")  # viewers, of version 0.3, are users as others are
_WRITES = {
    "add_table": "upload",
    "adopt_table": "upload",
    "add_dataset": "set roles",
    "rename_dataset": "rename",
    "delete_dataset": "delete data set",
    "delete_table": "delete table",
    "log_scores": "add scores",
    "log_model": "add model",
    "delete_scores": "delete scores",
    "add_run": "train",
    "rename_run": "rename",
    "ask_cancel": "cancel",
    "delete_run": "delete run",
    "adopt_scores": "add scores",
    "keep_monitor": "watch",
    "delete_monitor": "delete monitor",
}


@dataclass(frozen=True)
class User:
    """Who is logged in.

    Attributes
    ----------
    id : str
        Of the folder, from issuer and subject: an address may be given away, these
        two are not.
    name : str
        Electronic mail address where the provider says one.
    admin : bool
        Whether the user reads the trail.
    mail : str
        The address, unless the provider says it is unverified: what rights go by.
    """

    id: str
    name: str
    admin: bool = False
    mail: str = ""

    @classmethod
    def of(
        cls, claims: Mapping[str, Any], roles: Mapping[str, Sequence[str]] | None = None
    ) -> "User":
        """Return the user whom a provider names by the claims of an identity token.

        ``roles`` has a list of addresses, ``admins``, in which * stands for anything;
        an address counts when the provider does not say it is unverified.

        Raises
        ------
        ValueError
            When the claims name nobody, or ``roles`` has another field or no list.
        """
        for field, listed in (roles or {}).items():
            check_one_of("the field of [fairdash]", field, _FIELDS)
            if isinstance(listed, str):  # of which every * would be an address
                raise ValueError(
                    f"`{field}` of [fairdash] must be a list of addresses, such as "
                    f"[{listed!r}], got {listed!r}."
                )
        subject = claims.get("sub") or claims.get("email")
        if not subject:
            raise ValueError("The login says neither a subject nor an address.")
        folder = sha256(f"{claims.get('iss', '')}\n{subject}".encode()).hexdigest()[:16]
        mail = str(claims.get("email") or "").lower()
        if str(claims.get("email_verified", True)).lower() == "false":
            mail = ""
        admins = (roles or {}).get("admins", ())
        admin = bool(mail) and any(fnmatch(mail, one.lower()) for one in admins)
        return cls(folder, mail or str(claims.get("name") or subject), admin, mail)


@dataclass(frozen=True)
class Act:
    """One line of the trail: who did what to which thing, in seconds since 1970."""

    time: float
    user: str
    action: str
    what: str


class UserStore(Store):
    """The store of one user: a home folder in that of the server.

    Its verbs are those of `Store`. What changes anything is noted in the trail of the
    server once it was done.

    Parameters
    ----------
    root : Path
        Home folder of the server; the user's is ``root / "users" / user.id``.
    """

    def __init__(self, root: Path, user: User) -> None:
        home = root / USERS / user.id
        super().__init__(home, database_of(home), files_of(home))
        self.root, self.user = root, user
        for verb, action in _WRITES.items():
            setattr(self, verb, self._noted(getattr(self, verb), action))

    def note(self, action: str, what: str) -> None:
        """Add a line to the trail."""
        note(self.root, self.user.name, action, what)

    def _noted(self, verb: Callable[..., Any], action: str) -> Callable[..., Any]:
        signature = inspect.signature(verb)

        @wraps(verb)
        def act(*arguments: Any, **options: Any) -> Any:
            what = self._named(signature.bind(*arguments, **options).arguments)
            done = verb(*arguments, **options)
            self.note(action, what)
            return done

        return act

    def _named(self, given: Mapping[str, Any]) -> str:
        """Return what the arguments of a verb are about, by its name where it has one.

        An id is named while it can be: after the verb it may be deleted.
        """
        if "name" in given:
            return str(given["name"])
        record: dict[str, Callable[[str], RunRecord | DatasetRecord]] = {
            "run_id": self.run,
            "dataset_id": self.dataset_record,
        }
        key, value = next(iter(given.items()))
        with suppress(KeyError, ValueError):  # a part of what is being deleted
            return f"{record[key](value).name} ({value})"
        return str(value)


def note(root: Path, user: str, action: str, what: str) -> None:
    """Add a line to the trail of a server."""
    act = Act(time.time(), user, action, what)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    file = os.open(root / TRAIL, flags, 0o600)
    try:  # in one piece: others write too
        os.write(file, f"{json.dumps(asdict(act))}\n".encode())
    finally:
        os.close(file)


def read_trail(root: Path) -> list[Act]:
    """Return who did what on the server of a home folder, newest first."""
    try:
        lines = (root / TRAIL).read_text().splitlines()
    except FileNotFoundError:
        return []
    return [Act(**json.loads(line)) for line in reversed(lines)]
