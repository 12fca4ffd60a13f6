"""The sessions that logins open: the server knows them, and a logout ends them.

Streamlit's own cookie cannot be withdrawn: whoever has a copy is let in for 30 days. So
a request also needs a cookie of a session, which is kept in the store. All processes of
the server see it, also on other machines, and a restart keeps it.
"""

import asyncio
import hmac
import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from secrets import token_urlsafe
from time import monotonic, time
from typing import Any, TypeAlias

from fairdash.server import cookies as user_cookies
from fairdash.store import SessionRecords, User

DAYS = 30  # a session ends then at the latest, as Streamlit's cookie does
SECONDS = DAYS * 86400
CLOCK_SECONDS = 600  # by which the clocks of replicas and provider may differ
COOKIE = "fairdash_session"
FRESH_SECONDS = 1.0  # for which a record is believed before it is read again
Record: TypeAlias = dict[str, Any]
MANY = 4096  # records that are remembered at once


class Sessions:
    """The open sessions.

    A session is bound to the user cookie of the login that opened it, and named by a
    digest, so that no one who reads the records can enter. It lasts for `DAYS` from its
    start; one that starts in the future, by a clock that was wrong, is none.
    """

    def __init__(self, records: SessionRecords, secret: str) -> None:
        self._records = records
        self._secret = secret
        self._fresh: dict[str, tuple[float, Record]] = {}  # until when, and the record

    async def open(self, cookies: Mapping[str, str]) -> str:
        """Open a session for the user whom Streamlit's cookies name; return its id.

        Raises ValueError when they name nobody, or the provider's clock says another
        time than ours: then an end could not be told.
        """
        claims = user_cookies.read(cookies, user_cookies.USER, self._secret)
        user = User.of(claims)
        opened = time()
        vouched = _agree(claims.get("iat"), opened)
        key = token_urlsafe(32)
        # The digest binds the session to this login: the same key with the cookies of
        # another user opens nothing.
        record = {
            "user": user.id,
            "opened": opened,
            "cookies": sorted(cookies),
            "digest": _digest(cookies, cookies),
        }
        # Sessions are deleted only where another clock says that they are over.
        if vouched:
            last = opened + CLOCK_SECONDS
            await asyncio.to_thread(self._records.keep, opened - SECONDS, last)
        await asyncio.to_thread(self._records.add, self._name(key), record)
        return key

    async def user(self, cookies: Mapping[str, str]) -> str | None:
        """Return the id of the user whose open session a request's cookies name.

        Nothing is read for who has no cookie that we signed. Raises StoreError when the
        records cannot be read.
        """
        key = cookies.get(COOKIE)
        if not key or not user_cookies.are_signed(cookies, self._secret):
            return None
        record = await self._record(self._name(key))
        if record is None or not _lasts(record):
            return None
        digest = _digest(cookies, record["cookies"])
        # Compared in constant time, so that how long it takes says nothing.
        if not hmac.compare_digest(record["digest"], digest):
            return None
        return record["user"]

    async def end(self, cookies: Mapping[str, str]) -> None:
        """End the session that a request's cookies name, if there is one."""
        if await self.user(cookies):
            name = self._name(cookies[COOKIE])
            await asyncio.to_thread(self._records.delete, name)
            self._fresh.pop(name, None)

    async def _record(self, name: str) -> Record | None:
        """Return a record, believed for `FRESH_SECONDS` after it was read."""
        until, record = self._fresh.get(name, (0.0, None))
        if monotonic() < until:
            return record
        # From before the read: a session that ends meanwhile is not believed longer.
        began = monotonic()
        record = await asyncio.to_thread(self._records.get, name)
        self._fresh.pop(name, None)
        if record is not None:
            # All of them go: each can be read again from the store.
            if len(self._fresh) >= MANY:
                self._fresh.clear()
            self._fresh[name] = began + FRESH_SECONDS, record
        return record

    def _name(self, key: str) -> str:
        """Return the name of a record, from which no key can be computed."""
        return hmac.new(self._secret.encode(), key.encode(), sha256).hexdigest()


def _agree(issued: object, now: float) -> bool:
    """Return whether the provider's clock confirms ours; ValueError if it differs."""
    if not isinstance(issued, int | float):
        return False
    difference = abs(issued - now)
    if difference > CLOCK_SECONDS:
        raise ValueError(
            "The clock of this server and that of the login's provider differ by "
            f"{difference / 60:,.0f} minutes. Set the clock."
        )
    return True


def _lasts(record: Mapping[str, float]) -> bool:
    # A record of an earlier version has only its end.
    opened = record.get("opened", record.get("until", 0) - SECONDS)
    age = time() - opened
    return -CLOCK_SECONDS <= age < SECONDS


def _digest(cookies: Mapping[str, str], names: Iterable[str]) -> str:
    values = [cookies.get(name, "") for name in sorted(names)]
    return sha256(json.dumps(values).encode()).hexdigest()
