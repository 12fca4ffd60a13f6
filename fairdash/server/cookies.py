"""The cookies by which Streamlit knows a user: pages read them as ``st.user``.

Their form is Streamlit's own, of version 1.67, and no public function writes it.
``tests/server/test_cookies.py`` reads with Streamlit what is written here, and fails
when another version has another form.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from streamlit.auth_util import get_cookie_with_chunks, set_cookie_with_chunks
from streamlit.web.server.starlette.starlette_app_utils import (
    create_signed_value,
    decode_signed_value,
)
from streamlit.web.server.starlette.starlette_server_config import (
    AUTH_COOKIE_MAX_AGE_SECONDS,
    TOKENS_COOKIE_NAME,
    USER_COOKIE_NAME,
)

USER = USER_COOKIE_NAME
TOKENS = TOKENS_COOKIE_NAME
SECONDS = AUTH_COOKIE_MAX_AGE_SECONDS
_OF_USER = re.compile(rf"{USER}(_\d+)?")
_OURS = re.compile(rf"({USER}|{TOKENS})(_\d+)?")
_ATTRIBUTES = f"; Path=/; HttpOnly; SameSite=lax; Secure; Max-Age={SECONDS}"


def read(cookies: Mapping[str, str], name: str, secret: str) -> dict[str, Any]:
    """Return what a cookie says that we signed, nothing if it is not one of ours."""

    def part(name: str) -> bytes | None:
        return decode_signed_value(secret, name, cookies.get(name, ""))

    return json.loads(get_cookie_with_chunks(part, name) or "{}")


def are_signed(cookies: Mapping[str, str], secret: str) -> bool:
    """Return whether cookies name a user, signed by us: a cheap first look."""
    return decode_signed_value(secret, USER, cookies.get(USER, "")) is not None


def write(answer: Response, name: str, content: dict[str, Any], secret: str) -> None:
    """Set a cookie, in parts where browsers would take no cookie as long."""

    def sign(name: str, value: str) -> bytes:
        return create_signed_value(secret, name, value)

    def put(name: str, value: str) -> None:
        answer.set_cookie(
            name, sign(name, value).decode(), max_age=SECONDS, httponly=True
        )

    size = len(_ATTRIBUTES)
    set_cookie_with_chunks(put, sign, name, content, cookie_attr_size=size)


def clear(answer: Response, cookies: Mapping[str, str]) -> None:
    """Delete all cookies of a user, and all parts of them, that a browser has sent."""
    for name in cookies:
        if _OURS.fullmatch(name):
            answer.delete_cookie(name)


def set_in(lines: list[str]) -> dict[str, str]:
    """Return the cookies that name a user, of the ``Set-Cookie`` lines of an answer.

    A long one comes in parts with a number each.
    """
    cookies = {}
    for line in lines:
        pair, _, _ = line.partition(";")
        name, _, value = pair.partition("=")
        if _OF_USER.fullmatch(name):
            cookies[name] = value.strip('"')
    # An empty value deletes a cookie.
    return {name: value for name, value in cookies.items() if value}
