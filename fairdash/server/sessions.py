"""The login, and the sessions it opens: the server knows them, and a logout ends them.

Streamlit's own cookie cannot be withdrawn: whoever has a copy is let in for 30 days. So
a request also needs a cookie of a session, which is a file in the home folder. All
processes of the server see it, and a restart keeps it.
"""

import hmac
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from time import time
from typing import Any, Self
from urllib.parse import urlsplit

import streamlit
from streamlit.auth_util import (
    get_cookie_with_chunks,
    is_authlib_installed,
    validate_auth_credentials,
)
from streamlit.errors import StreamlitAuthError
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from fairdash.store import User

DAYS = 30  # a session ends then at the latest, as Streamlit's cookie does
SECONDS = DAYS * 86400
COOKIE = "fairdash_session"
_OF_USER = re.compile(rf"{USER_COOKIE_NAME}(_\d+)?")


@dataclass(frozen=True)
class Login:
    """The login that ``[auth]`` of the secrets sets up."""

    origin: str  # of the pages: scheme and host of `redirect_uri`
    secret: str = field(repr=False)  # signs cookies; with another one all sessions end

    @classmethod
    def find(cls, port: int) -> Self | None:
        """Return the login, None where there is none; ValueError if it cannot work."""
        secrets = streamlit.secrets
        if not secrets.load_if_toml_exists() or "auth" not in secrets:
            return None
        if not is_authlib_installed():
            raise ValueError('A login needs Authlib: `pip install "fairdash[login]"`.')
        try:
            validate_auth_credentials("default")
        except StreamlitAuthError as error:
            raise ValueError(f"The login cannot work: {error}") from error
        auth = secrets["auth"]
        page = urlsplit(str(auth["redirect_uri"]).replace("{port}", str(port)))
        return cls(f"{page.scheme}://{page.netloc}", str(auth["cookie_secret"]))


class Sessions:
    """The open sessions, a file each in a folder.

    A session is bound to the user cookie of the login that opened it, and named by a
    digest, so that no one who reads the folder can enter.
    """

    def __init__(self, folder: Path, secret: str) -> None:
        self._folder, self._secret = folder, secret

    def open(self, cookies: Mapping[str, str]) -> str:
        """Open a session for the user whom Streamlit's cookies name; return its id.

        Raises ValueError when they name nobody.
        """
        user = User.of(self._claims(cookies))
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time() - SECONDS:
                    path.unlink()
        key = token_urlsafe(32)
        record = {"user": user.id, "until": time() + SECONDS}
        record |= {"cookies": sorted(cookies), "digest": _digest(cookies, cookies)}
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(self._file(key), flags, 0o600), "w") as file:
            json.dump(record, file)
        return key

    def user(self, cookies: Mapping[str, str]) -> str | None:
        """Return the id of the user whose open session a request's cookies name."""
        try:
            record = json.loads(self._file(cookies.get(COOKIE, "")).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        same = hmac.compare_digest(
            record["digest"], _digest(cookies, record["cookies"])
        )
        return record["user"] if same and time() < record["until"] else None

    def end(self, cookies: Mapping[str, str]) -> None:
        """End the session that a request's cookies name, if there is one."""
        self._file(cookies.get(COOKIE, "")).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        digest = hmac.new(self._secret.encode(), key.encode(), sha256)
        return self._folder / digest.hexdigest()

    def _claims(self, cookies: Mapping[str, str]) -> dict[str, Any]:
        def read(name: str) -> bytes | None:
            return decode_signed_value(self._secret, name, cookies.get(name, ""))

        return json.loads(get_cookie_with_chunks(read, USER_COOKIE_NAME) or "{}")


def user_cookies(lines: list[str]) -> dict[str, str]:
    """Return the cookies that name a user, of the ``Set-Cookie`` lines of an answer.

    A long one comes in parts with a number each.
    """
    pairs = (line.partition(";")[0].partition("=") for line in lines)
    cookies = {k: value.strip('"') for k, _, value in pairs if _OF_USER.fullmatch(k)}
    return {name: value for name, value in cookies.items() if value}  # not deleted


def _digest(cookies: Mapping[str, str], names: Iterable[str]) -> str:
    values = [cookies.get(name, "") for name in sorted(names)]
    return sha256(json.dumps(values).encode()).hexdigest()
