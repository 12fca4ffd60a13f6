"""The front door, served by uvicorn before an app that knows what reaches it."""

import json
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection

import pytest
import requests
from conftest import wait_until
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from fairdash.server import door, limits, sessions
from fairdash.server.door import Door, Rules
from fairdash.server.limits import Limits
from fairdash.server.login import Login
from fairdash.server.serve import listen, make_server
from fairdash.server.sessions import DAYS
from fairdash.store import SessionFiles, StoreError, User

SECRET = "a long random text of ours"
LOGIN = Login("http://localhost", SECRET)
PAGE = {"Accept": "text/html,application/xhtml+xml"}
UPLOAD = "/_stcore/upload_file/a/b"
STREAM = "/_stcore/stream"


class Behind:
    """The app behind the door, which knows what reached it."""

    def __init__(self):
        self.reached, self.query, self.client, self.size = [], "", "", 0
        self.windows = 0
        self.claims = {"iss": "https://accounts.example", "sub": "ann"}
        self.late = 0  # seconds by which the provider's clock is ahead
        results = ["GET", "HEAD", "PUT", "DELETE", "POST", "OPTIONS"]
        self.routes = [
            Route("/oauth2callback", self.callback),
            WebSocketRoute(STREAM, self.window),
            Route("/fails", self.fail),
            Route("/{path:path}", self.answer, methods=results),
        ]

    async def answer(self, request):
        self.reached.append(request.url.path)
        self.query, self.client = request.url.query, request.client.host
        async for part in request.stream():
            self.size += len(part)
        answer = PlainTextResponse("what is behind the door")
        answer.set_cookie("_streamlit_xsrf", "1")
        return answer

    async def callback(self, request):
        """Answer as Streamlit does: old cookies go, the user comes in two parts."""
        answer = RedirectResponse("/")
        answer.delete_cookie("_streamlit_user")
        text = json.dumps({"iat": time.time() + self.late} | self.claims)
        parts = ["chunks-2", text[:9], text[9:]]
        for name, part in zip(("", "_1", "_2"), parts, strict=True):
            name = f"_streamlit_user{name}"
            value = create_signed_value(SECRET, name, part).decode()
            answer.set_cookie(name, value, httponly=True)
        answer.set_cookie("_streamlit_user_tokens", "1")
        return answer

    async def window(self, websocket):
        await websocket.accept()
        self.windows += 1
        try:
            while True:
                await websocket.send_bytes(await websocket.receive_bytes())
        except WebSocketDisconnect:
            self.windows -= 1

    async def fail(self, request):
        raise RuntimeError("of /srv/secret")


class Browser(requests.Session):
    """What asks a server, with the cookies it was given."""

    def __init__(self, port):
        super().__init__()
        self.trust_env, self.port = False, port

    def request(self, method, path, **options):
        url = f"http://localhost:{self.port}{path}"
        return super().request(method, url, **{**options, "allow_redirects": False})

    def cookie(self):
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def has(self, cookies):
        """Have these cookies and no other."""
        self.cookies.clear()
        self.cookies.update(cookies)

    def window(self):
        """Open a websocket."""
        url = f"ws://localhost:{self.port}{STREAM}"
        return connect(url, additional_headers={"Cookie": self.cookie()})

    def opens(self, **headers):
        """Return whether a websocket can be opened, without a word if not."""
        link = HTTPConnection("localhost", self.port, timeout=30)
        headers = {
            "Cookie": self.cookie(),
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            **headers,
        }
        link.request("GET", STREAM, headers=headers)
        answer = link.getresponse()
        assert answer.status in (101, 403)
        if answer.status == 403:
            assert answer.read() == b""
        link.close()
        return answer.status == 101


@pytest.fixture
def behind():
    return Behind()


@pytest.fixture
def browser(behind, tmp_path):
    """A function that serves the app behind a door and returns who asks there."""
    with ExitStack() as served:

        def make(body=1000, **rules):
            def front(app):
                records = SessionFiles(tmp_path / "sessions")
                return Door(app, Rules(**rules), records, Limits(body))

            app = Starlette(routes=behind.routes, middleware=[Middleware(front)])
            return served.enter_context(Browser(served.enter_context(serving(app))))

        yield make


@contextmanager
def serving(app):
    with listen("localhost", 0) as listening:
        server = make_server(app)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        wait_until(lambda: server.started)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def log_in(browser):
    answer = browser.get("/oauth2callback")
    assert answer.status_code == 307
    return answer


def set_cookies(answer):
    return answer.raw.headers.getlist("set-cookie")


def test_a_host_or_a_page_that_is_not_ours_reaches_nothing(browser, behind):
    ours = browser(hosts=("localhost", "fair.example", "::1"))
    our_host = f"localhost:{ours.port}"
    for host in ("fair.example", "FAIR.example.:8501", "[::1]:80"):
        assert ours.get("/", headers={"Host": host}).status_code == 200
    behind.reached.clear()
    wrong = ("evil.example", "fair.example.evil", "a b", "fair.example:1:2", "u@::1")
    for host in wrong:
        answer = ours.get("/", headers={"Host": host})
        assert answer.status_code == 403, host
        assert "--name" in answer.text
        assert not ours.opens(Host=host)
    for origin in ("http://evil.example", "null", "http://localhost:81", our_host):
        for method in ("PUT", "DELETE", "POST", "OPTIONS"):
            answer = ours.request(method, UPLOAD, headers={"Origin": origin})
            assert answer.status_code == 403
        assert not ours.opens(Origin=origin)
    assert behind.reached == []
    for origin in (f"http://{our_host}", f"https://{our_host}"):
        assert ours.put(UPLOAD, headers={"Origin": origin}).status_code == 200
        assert ours.opens(Origin=origin)
    # where any name will do it must still be one: what is none Streamlit looks up
    assert browser().get("/", headers={"Host": "a/b"}).status_code == 403


def test_before_a_login_there_is_one_page_and_nothing_else(browser, behind):
    stranger = browser(login=LOGIN)
    for path in ("/", "/Data", "/?run=1", "/media/a.csv"):
        answer = stranger.get(path, headers=PAGE)
        assert answer.status_code == 401
        assert '<a href="/auth/login">Log in</a>' in answer.text
        assert f"{DAYS} days" in answer.text
        assert "<script" not in answer.text
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src")
    closed = ("/", "/media/a.csv", "/static/a.js", "/_stcore/health/", "/media/b.csv")
    closed += ("/_stcore/metrics", "/_stcore/host-config", "/ready/", "/ready%2Fa")
    for path in closed:
        answer = stranger.get(path)
        assert (answer.status_code, answer.text) == (401, "Log in first.\n"), path
    for method in ("PUT", "DELETE", "POST", "OPTIONS"):
        assert stranger.request(method, UPLOAD, headers=PAGE).status_code == 401
    assert not stranger.opens()
    assert behind.reached == []
    for path in ("/ready", "/_stcore/health", "/auth/logout"):
        assert stranger.get(path).status_code == 200


def test_a_login_is_a_cookie_and_a_file_that_nobody_else_reads(browser, tmp_path):
    ann = browser(login=LOGIN)
    (line,) = [x for x in set_cookies(log_in(ann)) if x.startswith("fairdash_session=")]
    _, *attributes = line.split("; ")
    lasts = f"Max-Age={DAYS * 86400}"
    assert {*attributes} == {lasts, "Path=/", "HttpOnly", "SameSite=Lax"}
    assert ann.get("/media/a.csv").status_code == 200
    (file,) = (tmp_path / "sessions").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert ann.cookies["fairdash_session"] not in file.name + file.read_text()


def test_a_logout_ends_the_session_in_all_windows_and_for_copies(browser, behind):
    ann = browser(login=LOGIN)
    log_in(ann)
    copied = ann.cookies.get_dict()
    elsewhere = browser(login=LOGIN)  # another process, or this one started again
    elsewhere.has(copied)
    with elsewhere.window() as window:
        window.send(b"still there")
        assert window.recv() == b"still there"
        assert ann.get("/auth/logout").status_code == 200
        assert "fairdash_session" not in ann.cookies
        to_login = ForwardMsg.FromString(window.recv(timeout=60))
        assert to_login.auth_redirect.url == "/"
        with pytest.raises(ConnectionClosed) as closed:
            window.recv(timeout=60)
        assert closed.value.rcvd.code == 1008
    wait_until(lambda: behind.windows == 0)
    behind.reached.clear()
    for thief in (ann, elsewhere):
        thief.has(copied)
        assert thief.get("/media/a.csv").status_code == 401
        assert thief.put(UPLOAD).status_code == 401
        assert not thief.opens()
    assert behind.reached == []


def test_a_session_is_of_one_login_and_of_one_secret_and_ends(
    browser, behind, monkeypatch, tmp_path
):
    folder = tmp_path / "sessions"
    ann = browser(login=LOGIN)
    bob = browser(login=LOGIN)
    log_in(ann)
    first = ann.cookies.get_dict()
    behind.claims = behind.claims | {"sub": "bob"}
    log_in(bob)
    bobs = bob.cookies.get_dict()
    del bobs["fairdash_session"]
    for changed in (bobs, {"_streamlit_user_2": ""}, {"fairdash_session": "../a"}):
        ann.has(first | changed)
        assert ann.get("/").status_code == 401
    ann.has(first)
    assert ann.get("/").status_code == 200
    users = {json.loads(file.read_text())["user"] for file in folder.iterdir()}
    claims = [{**behind.claims, "sub": name} for name in ("ann", "bob")]
    assert users == {User.of(claim).id for claim in claims}

    second_browser = browser(login=Login(LOGIN.origin, "another secret"))
    second_browser.has(first)
    assert second_browser.get("/").status_code == 401
    log_in(ann)  # again: the one before ends
    again = ann.cookies.get_dict()
    ann.has(first)
    assert ann.get("/").status_code == 401

    behind.late = DAYS * 86400 + 60
    monkeypatch.setattr(sessions, "time", lambda: time.time() + behind.late)
    ann.has(again)
    assert ann.get("/").status_code == 401
    log_in(ann)
    assert len(list(folder.iterdir())) == 1  # those that ended are gone


def test_every_answer_has_its_headers_and_by_tls_more(browser):
    for origin in ("http://localhost", "https://localhost"):
        client = browser(login=Login(origin, SECRET), hosts=("localhost",))
        answers = [
            client.get("/", headers=PAGE),
            client.get("/media/a.csv"),
            client.get("/media/a.csv", headers={"Host": "evil.example"}),
            client.get("/ready"),
            log_in(client),
        ]
        assert [item.status_code for item in answers] == [401, 401, 403, 200, 307]
        for answer in answers:
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "same-origin"
            assert "default-src" in answer.headers["Content-Security-Policy"]
            assert "Server" not in answer.headers
            is_tls = origin.startswith("https")
            assert ("Strict-Transport-Security" in answer.headers) == is_tls
            lines = set_cookies(answer)
            assert all(line.lower().count("; secure") == is_tls for line in lines)
        assert len(set_cookies(answers[-1])) == 6  # which keeps its own back


def test_windows_are_limited_for_a_user_and_for_an_address(browser, monkeypatch):
    monkeypatch.setattr(limits, "WINDOWS", 1)
    ann = browser(login=LOGIN)
    anybody = browser()
    log_in(ann)
    with ann.window():
        assert not ann.opens()
    wait_until(ann.opens)
    with anybody.window():
        assert anybody.opens()  # users may share an address
        with ExitStack() as windows:
            for _ in range(limits.ADDRESS - 1):
                windows.enter_context(anybody.window())
            assert not anybody.opens()


def test_bytes_are_counted_as_they_come(browser, behind, monkeypatch):
    client = browser(body=300_000)

    def put(size, announced=None):
        """Send a body whose length is told as it is, wrongly, or in parts."""
        link = HTTPConnection("localhost", client.port, timeout=30)
        content = (b"x" * 1000 for _ in range(size // 1000))
        headers = {} if announced is None else {"Content-Length": str(announced)}
        with suppress(ConnectionError):  # where the rest is not read
            link.request("PUT", UPLOAD, content, headers, encode_chunked=not headers)
        with closing(link):
            answer = link.getresponse()
            return answer.status, answer.read().decode()

    assert put(300_000)[0] == 200
    assert behind.size == 300_000
    for announced in (None, 301_000, 10**12):
        behind.size = 0
        status, words = put(301_000, announced)
        assert status == 413
        assert "Send a smaller file" in words
        assert behind.size <= 300_000
    behind.size = 0
    assert put(301_000, 1000)[0] == 200
    assert behind.size == 1000
    monkeypatch.setattr(limits, "IN_FLIGHT", 100)
    status, words = put(1000)
    assert status == 429
    assert "Wait for it" in words


def access_lines(caplog):
    """Return the records of the access log."""
    return [record for record in caplog.records if record.name == "fairdash.access"]


def test_the_log_has_one_line_a_request_without_its_query(browser, behind, caplog):
    ann = browser(login=LOGIN)
    with caplog.at_level("INFO", "fairdash.access"):
        ann.get("/media/a.csv?state=secret")
        log_in(ann)
        ann.get("/a%0ab%1b%e2%80%ae c?code=secret")
        ann.put(UPLOAD, data=b"x" * 2000)
        with suppress(requests.ConnectionError):
            ann.get("/fails")
        with ann.window():
            pass
        wait_until(lambda: len(access_lines(caplog)) >= 6)
    lines = access_lines(caplog)
    words = [line.getMessage().split(" ") for line in lines]
    user = User.of(behind.claims).id
    # a request that fails is logged when it ends, which may be after the next began
    assert sorted(line[:4] for line in words) == sorted(
        [
            ["-", "GET", "/media/a.csv", "401"],
            ["-", "GET", "/oauth2callback", "307"],
            [user, "GET", "/a%0Ab%1B%E2%80%AE%20c", "404"],
            [user, "PUT", UPLOAD, "413"],
            [user, "GET", "/fails", "500"],
            [user, "WEBSOCKET", STREAM, "101"],
        ]
    )
    for *_, milliseconds, unit in words:
        assert float(milliseconds) >= 0
        assert unit == "ms"
    assert {item.levelname for item in lines} == {"INFO"}


def test_a_store_that_does_not_answer_is_said_and_ends_no_window(
    browser, monkeypatch, caplog
):
    ann = browser(login=LOGIN)
    log_in(ann)
    monkeypatch.setattr(sessions, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(door, "LOOK_SECONDS", 0.01)
    looks = []

    def fail(*_):
        looks.append(1)
        raise StoreError("The database is away.")

    with ann.window() as window:
        monkeypatch.setattr(SessionFiles, "get", fail)
        wait_until(lambda: len(looks) > 5)
        window.send(b"still there")
        assert window.recv() == b"still there"
        answer = ann.get("/media/a.csv")
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        monkeypatch.undo()
        monkeypatch.setattr(SessionFiles, "delete", fail)
        assert ann.get("/auth/logout").status_code == 503
        assert "fairdash_session" in ann.cookies  # it has not ended
        assert "The database is away." in caplog.text
        assert "Traceback" not in caplog.text
        stranger = browser(login=LOGIN)
        assert stranger.get("/").status_code == 401
