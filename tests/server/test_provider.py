"""Logins at a provider on this machine: sound, frozen, gone, or saying nonsense."""

import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from urllib.parse import parse_qs, urlparse

import pytest
import requests
from cases import sampled
from conftest import wait_until
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

pytest.importorskip("authlib", reason="a login needs streamlit[auth]")
import openid

from fairdash.server import places, provider
from fairdash.server.door import Door, Rules
from fairdash.server.limits import Limits
from fairdash.server.login import Login
from fairdash.server.provider import CALLBACK, LOGIN, LOGOUT, Provider
from fairdash.server.serve import listen, make_server
from fairdash.store import SessionFiles

SECRET = "a long random text of ours"
METADATA = "/.well-known/openid-configuration"


@pytest.fixture
def ours():
    """A provider that answers."""
    with openid.Provider().open() as opened:
        yield opened


@pytest.fixture
def browser(ours, tmp_path):
    """A function that opens a browser before one server with a login at `ours`."""
    with ExitStack() as opened:
        port = opened.enter_context(serving(ours, tmp_path))

        def make(address="127.0.0.1"):
            return opened.enter_context(Browser(port, address))

        yield make


@contextmanager
def serving(ours, folder):
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        origin = f"http://localhost:{port}"
        login = Login(origin, SECRET, origin + CALLBACK, ours.client())
        arguments = Provider(login)

        def front(app):
            records = SessionFiles(folder / "sessions")
            return Door(app, Rules(login=login), records, Limits(1000))

        inside = Route("/", lambda _: PlainTextResponse("inside"))
        app = Starlette(
            routes=[*arguments.routes(), inside],
            middleware=[
                Middleware(front),
                Middleware(SessionMiddleware, secret_key=SECRET),
            ],
            lifespan=arguments.open,
        )
        server = make_server(app)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        wait_until(lambda: server.started)
        yield port
        server.should_exit = True
        thread.join()


class Browser(requests.Session):
    """A browser at an address, which is sent on by hand."""

    def __init__(self, port, address):
        super().__init__()
        self.trust_env, self.here = False, f"http://localhost:{port}"
        self.headers["X-Forwarded-For"] = address

    def asks(self, path):
        """Return the answer of our server, or of the provider, to one request."""
        address = path if path.startswith("http") else self.here + path
        return self.get(address, allow_redirects=False, timeout=60)

    def code(self):
        """Begin a login; return where the provider sends back to, with its code."""
        return self.asks(self.asks(LOGIN).headers["Location"]).headers["Location"]

    def is_inside(self):
        return self.asks("/").status_code == 200


def refusal(answer):
    """Return the status of a refusal that is plain and says when to come again."""
    assert answer.text.count("\n") == 1
    assert int(answer.headers["Retry-After"]) > 0
    return answer.status_code


def test_many_logins_ask_for_metadata_and_keys_once(browser, ours):
    strangers = [browser(f"10.0.0.{number}") for number in range(20)]
    with ThreadPoolExecutor(20) as threads:
        answers = threads.map(lambda one: one.asks(LOGIN), strangers)
        assert {answer.status_code for answer in answers} == {302}
    for _ in range(3):
        ann = browser()
        assert not ann.is_inside()
        assert ann.asks(ann.code()).headers["Location"] == "/"
        assert ann.is_inside()
    counts = Counter(ours.asked)
    assert counts == {METADATA: 1, "/keys": 1, "/authorize": 3, "/token": 3}


def test_metadata_is_asked_again_after_a_while_and_kept_meanwhile(
    browser, ours, monkeypatch
):
    monkeypatch.setattr(provider, "KEEP_SECONDS", 0)
    ann = browser()
    assert ann.asks(LOGIN).status_code == 302
    ours.metadata = {"authorization_endpoint": "https://elsewhere.example/a"}
    ours.answers.clear()
    before = ours.asked.count(METADATA)
    assert ours.address in ann.asks(LOGIN).headers["Location"]  # of the one that stands
    wait_until(lambda: ours.asked.count(METADATA) == before + 1)
    ours.answers.set()
    wait_until(lambda: "elsewhere" in ann.asks(LOGIN).headers["Location"])


def test_who_asks_a_frozen_provider_waits_in_small_numbers(browser, ours, monkeypatch):
    monkeypatch.setattr(provider, "PATIENCE", 600)
    monkeypatch.setattr(places, "WAIT_SECONDS", 0.1)
    ours.answers.clear()
    same = [browser("10.0.0.1") for _ in range(places.LOGINS + 5)]
    with ThreadPoolExecutor(64) as threads:
        waiting = [threads.submit(client.asks, LOGIN) for client in same]
        wait_until(lambda: sum(client.done() for client in waiting) == 5)
        refused = [client.result() for client in waiting if client.done()]
        assert {refusal(answer) for answer in refused} == {429}
        n_left = places.LOGINS_AT_ONCE - places.LOGINS
        strangers = [browser(f"10.0.1.{number}") for number in range(n_left + 3)]
        more = [threads.submit(client.asks, LOGIN) for client in strangers]
        wait_until(lambda: sum(client.done() for client in more) == 3)
        assert {refusal(client.result()) for client in more if client.done()} == {503}
        assert ours.asked == [METADATA]
        # who is not logged in is answered meanwhile, and so is a logout
        assert browser().asks("/").status_code == 401
        assert browser().asks(LOGOUT).headers["Location"] == "/"
        ours.answers.set()
        statuses = Counter(client.result().status_code for client in waiting + more)
    assert statuses == {302: places.LOGINS_AT_ONCE, 429: 5, 503: 3}
    assert browser("10.0.0.1").asks(LOGIN).status_code == 302  # places are free again


def test_strangers_who_come_back_with_no_code_stop_no_login(browser, ours):
    strangers = [browser("10.0.0.1") for _ in range(places.LOGINS + 2)]
    forged = []
    for stranger in strangers:
        query = parse_qs(urlparse(stranger.asks(LOGIN).headers["Location"]).query)
        forged.append(f"{CALLBACK}?code=none&state={query['state'][0]}")
    ours.answers.clear()
    with ThreadPoolExecutor(16) as threads:
        pairs = zip(strangers, forged, strict=True)
        waiting = [threads.submit(client.asks, path) for client, path in pairs]
        wait_until(lambda: sum(client.done() for client in waiting) == 2)
        wait_until(lambda: ours.asked.count("/token") == places.LOGINS)
        assert browser("10.0.0.2").asks(LOGIN).status_code == 302
        assert browser("10.0.0.1").asks(LOGIN).status_code == 302
        ours.answers.set()
        statuses = Counter(client.result().status_code for client in waiting)
    assert statuses == {302: places.LOGINS, 429: 2}
    ann = browser("10.0.0.2")
    ann.asks(ann.code())
    assert ann.is_inside()
    assert not any(stranger.is_inside() for stranger in strangers)


@pytest.mark.parametrize("trouble", ["frozen", "of no use"])
def test_a_provider_that_does_not_answer_is_asked_again_later(
    trouble, browser, ours, monkeypatch, caplog
):
    moment = 0.0
    monkeypatch.setattr(provider, "monotonic", lambda: moment)
    monkeypatch.setattr(provider, "PATIENCE", 0.2)
    if trouble == "frozen":
        ours.answers.clear()
    else:
        monkeypatch.setitem(ours.metadata, "token_endpoint", None)
    assert [refusal(browser().asks(LOGIN)) for _ in range(10)] == [503] * 10
    assert ours.asked == [METADATA]
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "provider failed" in line.getMessage()
    assert line.exc_info is None
    ours.answers.set()
    ours.metadata.clear()
    moment += provider.RETRY_SECONDS
    assert browser().asks(LOGIN).status_code == 302


NONSENSE = {
    "no token": {"token_status": 500},
    "another issuer": {"claims": {"iss": "https://evil.example"}},
    "another application": {"claims": {"aud": "evil"}},
    "of another login": {"claims": {"nonce": "1"}},
    "over": {"claims": {"exp": 1000}},
    "text as a number": {"claims": {"iat": "\x1b[2J\n"}},
    "nobody": {"claims": {"sub": "", "email": ""}},
    "another clock": {"claims": {"iat": int(time.time()) - 86400}},
    "no keys": {"metadata": {"jwks_uri": "http://127.0.0.1:1/"}},
    "keys that are none": {"metadata": {"jwks": {"keys": "\x1b"}}},
    "no address": {"metadata": {"token_endpoint": "\x1b"}},
}


@pytest.mark.parametrize("case", sampled(NONSENSE, 2))
def test_what_a_provider_does_is_one_line_and_no_session(case, browser, ours, caplog):
    vars(ours).update(NONSENSE[case])
    ann = browser()
    answer = ann.asks(ann.code())
    if answer.status_code == 503:
        refusal(answer)
    else:
        assert answer.headers["Location"] == "/"
    assert not ann.is_inside()
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert line.exc_info is None
    assert line.getMessage().isprintable()


@pytest.mark.parametrize("content", sampled(['"text"', "[]", "{", "null", "\x1b"], 2))
def test_metadata_that_is_none_is_one_line(content, browser, ours, caplog, monkeypatch):
    monkeypatch.setattr(openid.json, "dumps", lambda _: content)
    assert refusal(browser().asks(LOGIN)) == 503
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert line.exc_info is None
    assert line.getMessage().isprintable()


def test_what_a_stranger_says_is_one_printable_line(browser, ours, caplog):
    text = "%1b[2J%0d%0aforged%c2%9b31m%e2%80%ae"
    for query in (f"error={text}&error_description={text}", f"state={text}&code=1", ""):
        caplog.clear()
        answer = browser().asks(f"{CALLBACK}?{query}")
        assert answer.headers["Location"] == "/"
        lines = [
            record for record in caplog.records if record.name != "fairdash.access"
        ]
        assert len(lines) == query.startswith("error")
        assert all(record.getMessage().isprintable() for record in caplog.records)
        assert all(record.exc_info is None for record in caplog.records)
    assert ours.asked.count("/token") == 0


def test_a_logout_ends_the_session_of_the_provider_too(browser, ours):
    ours.metadata = {"end_session_endpoint": f"{ours.address}/end?a=1"}
    ann = browser()
    ann.asks(ann.code())
    assert ann.is_inside()
    query = parse_qs(urlparse(ann.asks(LOGOUT).headers["Location"]).query)
    assert query["client_id"] == ["fairdash"]
    assert query["post_logout_redirect_uri"] == [ann.here + CALLBACK]
    assert query["id_token_hint"][0].count(".") == 2
    assert not ann.is_inside()
    assert ann.asks(CALLBACK).headers["Location"] == "/"
    assert not [
        cookie for cookie in ann.cookies if cookie.name.startswith("_streamlit")
    ]


def test_a_code_is_proved_where_the_provider_asks_for_it(browser, ours):
    ours.metadata = {"code_challenge_methods_supported": ["S256"]}
    query = parse_qs(urlparse(browser().asks(LOGIN).headers["Location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["scope"] == ["openid email profile"]
    assert query["nonce"]
