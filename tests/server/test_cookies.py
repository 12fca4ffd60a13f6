"""The cookies of a user have the form that this version of Streamlit reads."""

from http.cookies import SimpleCookie

import loops
import pytest
from starlette.responses import Response
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.starlette import starlette_auth_routes, starlette_websocket
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from fairdash.server import cookies

SECRET = "a long random text of ours"
ORIGIN = "http://localhost:8501"
FACTS = {"origin": ORIGIN, "is_logged_in": True, "provider": "default"}
CLAIMS = {"sub": "1", "name": "Ann Åström \u2028 \\ \"'; =,", "email_verified": True}
LONG = {f"group{number}": "x" * 100 for number in range(100)}
TOKENS = {"id_token": "a.b.c"}


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    """Streamlit signs with the secret of this test."""
    monkeypatch.setattr(starlette_auth_routes, "get_cookie_secret", lambda: SECRET)


def lines(answer):
    """Return name, value and attributes of each cookie that an answer sets."""
    headers = [v.decode() for name, v in answer.raw_headers if name == b"set-cookie"]
    jars = [SimpleCookie(header) for header in headers]
    return {
        name: (cookie.value, {key: value for key, value in cookie.items() if value})
        for jar in jars
        for name, cookie in jar.items()
    }


@pytest.mark.parametrize("claims", [CLAIMS, CLAIMS | LONG], ids=["short", "in parts"])
def test_what_is_written_is_what_streamlit_writes_and_reads(claims):
    content = claims | FACTS
    ours = Response()
    theirs = Response()
    cookies.write(ours, cookies.USER, content, SECRET)
    cookies.write(ours, cookies.TOKENS, TOKENS, SECRET)
    loops.run(starlette_auth_routes._set_auth_cookie(theirs, content, TOKENS))
    written = lines(ours)
    expected = lines(theirs)
    assert written.keys() >= {cookies.USER, cookies.TOKENS}
    for name in (cookies.USER, cookies.TOKENS):
        assert written[name][1] == expected[name][1]
    sent = {name: value for name, (value, _) in written.items()}

    def part(name):
        return decode_signed_value(SECRET, name, sent.get(name, ""))

    decoded = get_cookie_with_chunks(part, cookies.USER)
    user = starlette_websocket._parse_decoded_user_cookie(decoded, ORIGIN)
    assert user == claims | {"is_logged_in": True, "provider": "default"}
    assert cookies.read(sent, cookies.USER, SECRET) == content
    assert cookies.are_signed(sent, SECRET)
    assert not cookies.are_signed(sent, "another secret")
    assert not cookies.are_signed({}, SECRET)


def test_all_parts_of_a_user_are_deleted_and_nothing_else():
    answer = Response()
    theirs = ["_streamlit_user", "_streamlit_user_12", "_streamlit_user_tokens_1"]
    names = ["_streamlit_xsrf", "_streamlit_user_x", "fairdash_session"]
    cookies.clear(answer, dict.fromkeys([*theirs, *names], "1"))
    assert sorted(lines(answer)) == sorted(theirs)
    assert all(value == "" for value, _ in lines(answer).values())
