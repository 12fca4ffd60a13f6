"""The front door: what every request passes before Streamlit sees it.

In this order: the name the server is asked by, the page that asks, the login, limits.
Nothing here asks another machine, but for the session of who has a cookie that we
signed, and a refusal costs no session, thread or memory.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from fairdash.server import cookies
from fairdash.server.access import Line
from fairdash.server.base_url import wants_page
from fairdash.server.limits import Limits, RefusedRequest, Who
from fairdash.server.login import Login
from fairdash.server.meters import Meters, has_token
from fairdash.server.places import Places
from fairdash.server.provider import CALLBACK, LOGIN, LOGOUT
from fairdash.server.sessions import COOKIE, SECONDS, Sessions
from fairdash.server.turns import PROBES
from fairdash.store import SessionRecords, StoreError

OPEN = PROBES | {LOGIN, LOGOUT, CALLBACK}
STORE_SECONDS = 5  # after which a store that did not answer may be asked again
LOOK_SECONDS = 1.0  # between two looks of a window whether its session lasts
_STARTS = {"http.response.start", "websocket.accept", "websocket.http.response.start"}
_HOST = re.compile(r"(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?", re.ASCII)

# Streamlit needs styles and scripts within the page; nothing comes from elsewhere
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline' blob:; img-src 'self' data: blob:; "
    "font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
    "frame-src 'self' data: blob:; media-src 'self' data: blob:; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
}
_TLS = {b"strict-transport-security": b"max-age=31536000"}
_COOKIE = b"set-cookie"
_LOGIN_PAGE = HTMLResponse(
    (Path(__file__).parent / "login.html").read_text(),
    401,
    {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
        "frame-ancestors 'none'",
        "WWW-Authenticate": "Bearer",
    },
)
log = logging.getLogger("fairdash")


@dataclass(frozen=True)
class Rules:
    """Who is let in."""

    hosts: tuple[str, ...] = ()  # names the server may be asked by; any, if none
    login: Login | None = None  # without one all are let in
    proxies: tuple[str, ...] = ()  # elsewhere, believed who asks: addresses, networks
    metrics_token: str = ""  # by which a program reads the metrics; none, if empty


class Door:
    """ASGI middleware that lets in what the rules allow, and dresses each answer.

    Sessions of a login are kept in ``records``; ``meters`` count what passes.
    """

    def __init__(
        self,
        app: ASGIApp,
        rules: Rules,
        records: SessionRecords,
        limits: Limits,
        meters: Meters | None = None,
    ) -> None:
        self._app = app
        self._rules = rules
        self._limits = limits
        self._meters = meters or Meters()
        # A place for each step: who begins takes none from who comes back
        self._places = {path: Places() for path in (LOGIN, CALLBACK)}
        self._sessions = None
        if rules.login:
            self._sessions = Sessions(records, rules.login.secret)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        request = HTTPConnection(scope)
        line = Line(scope)
        answer = _Answer(send, self._is_secure(scope), line)
        try:
            await self._let_in(request, receive, answer)
        except RefusedRequest as refusal:
            self._meters.refuse(refusal.status)
            await _refuse(refusal, scope, receive, answer)
        except Exception:
            if not answer.started:
                unforeseen = RefusedRequest(500, "Something went wrong.")
                await _refuse(unforeseen, scope, receive, answer)
            raise
        finally:
            line.write()

    async def _let_in(
        self, request: HTTPConnection, receive: Receive, answer: "_Answer"
    ) -> None:
        scope = request.scope
        path = scope["path"]
        if has_token(request, self._rules.metrics_token):
            # It asks by the number of a machine, and has no browser to log in with.
            await self._app(scope, receive, answer)
            return
        self._check_names(request)
        user = answer.line.user = await self._user(request)
        if self._sessions and not user and not self._is_open(request):
            if not wants_page(request):
                raise RefusedRequest(401, "Log in first.")
            self._meters.refuse(_LOGIN_PAGE.status_code)
            await _LOGIN_PAGE(scope, receive, answer)
            return
        address = request.client.host if request.client else ""
        who = [Who("address", address)]
        if user:
            who.append(Who("user", user))
        if scope["type"] == "websocket":
            with self._limits.window(who), self._meters.window() as meter:
                answer.watch = meter.send

                async def timed() -> Message:
                    return meter.receive(await receive())

                await self._follow(request, timed, answer)
            return
        async with AsyncExitStack() as limits:
            if self._sessions and path in self._places:
                await limits.enter_async_context(self._places[path].take(address))
            if self._sessions and path == LOGOUT:
                with _refusing():
                    await self._sessions.end(request.cookies)
                answer.set_cookie(COOKIE, "; Max-Age=0")
            elif self._sessions and path == CALLBACK:
                answer.look = lambda lines: self._begin(request, answer, lines)
            count = limits.enter_context(self._limits.body(who))

            async def counted() -> Message:
                message = await receive()
                count(len(message.get("body", b"")))
                return message

            await self._app(scope, counted, answer)

    async def _user(self, request: HTTPConnection) -> str | None:
        if not self._sessions or request.scope["path"] in PROBES:
            return None
        with _refusing():
            return await self._sessions.user(request.cookies)

    def _is_secure(self, scope: Scope) -> bool:
        """Return whether the browser speaks HTTPS, to us or to a proxy before us."""
        if scope["scheme"] in ("https", "wss"):
            return True
        login = self._rules.login
        return login is not None and login.origin.startswith("https:")

    def _check_names(self, request: HTTPConnection) -> None:
        """Refuse a request to another name, or from the page of another server.

        The first is DNS rebinding, the second a request across sites.
        """
        reads = request.scope.get("method") in ("GET", "HEAD")
        # A monitor asks by the number of a machine or a container.
        if reads and request.scope["path"] in PROBES:
            return
        host = request.headers.get("host", "")
        origin = request.headers.get("origin")
        name = _HOST.fullmatch(host.lower())
        hosts = self._rules.hosts
        if not name or (hosts and name[1].strip("[].") not in hosts):
            raise RefusedRequest(
                403, "This server has another name: `fairdash app --name` adds one."
            )
        # A browser names the origin of whatever writes; other programs name none.
        ours = (None, f"http://{host}", f"https://{host}")
        if not reads and origin not in ours:
            log.warning("refused a page of %.99r that is not of %.99r", origin, host)
            raise RefusedRequest(403, "A page of another server may not do this.")

    def _is_open(self, request: HTTPConnection) -> bool:
        return request.scope["type"] == "http" and request.scope["path"] in OPEN

    async def _begin(
        self, request: HTTPConnection, answer: "_Answer", lines: list[str]
    ) -> None:
        """Open a session when the app's answer logs a user in."""
        user_cookies = cookies.set_in(lines)
        if not self._sessions or not user_cookies:
            return
        try:
            # A login gets a new id, which nobody can have planted before.
            await self._sessions.end(request.cookies)
            key = await self._sessions.open(user_cookies)
        except (ValueError, StoreError) as error:
            log.error("a login was refused: %s", error)
        else:
            self._meters.log_in()
            answer.set_cookie(COOKIE, f"{key}; Max-Age={SECONDS}")

    async def _follow(
        self, request: HTTPConnection, receive: Receive, answer: "_Answer"
    ) -> None:
        """Let a window talk to the app for as long as its session lasts.

        Then its browser is sent to the login, so that the page does not stay in sight.
        A store that does not answer ends no window.
        """
        sessions = self._sessions
        if sessions is None:
            return await self._app(request.scope, receive, answer)
        ended = False

        async def lasts() -> bool:
            try:
                return await sessions.user(request.cookies) is not None
            except StoreError:
                return True

        async def receive_meanwhile() -> Message:
            nonlocal ended
            message = asyncio.ensure_future(receive())
            try:
                while await lasts():
                    done, _ = await asyncio.wait({message}, timeout=LOOK_SECONDS)
                    if done:
                        return message.result()
            finally:
                message.cancel()
            ended = True
            return {"type": "websocket.disconnect", "code": 1008}

        await self._app(request.scope, receive_meanwhile, answer)
        if ended:
            await answer({"type": "websocket.send", "bytes": _to_login()})
            await answer({"type": "websocket.close", "code": 1008})


class _Answer:
    """The ``send`` of a request, which adds what every answer carries.

    Once the answer begins, ``look`` is called with the app's lines ``Set-Cookie``.
    """

    def __init__(self, send: Send, secure: bool, line: Line) -> None:
        self._send = send
        self._secure = secure
        self.started = False
        self.line = line
        self._cookies: list[str] = []
        self.look: Callable[[list[str]], Awaitable[None]] | None = None
        self.watch: Callable[[Message], None] | None = None

    def set_cookie(self, name: str, value: str) -> None:
        self._cookies.append(f"{name}={value}; Path=/; HttpOnly; SameSite=Lax")

    async def __call__(self, message: Message) -> None:
        if message["type"] in _STARTS:
            lines = list(message.get("headers", ()))
            if self.look:
                set_by_app = [
                    value.decode("latin-1") for name, value in lines if name == _COOKIE
                ]
                await self.look(set_by_app)
            lines += [(_COOKIE, cookie.encode()) for cookie in self._cookies]
            more = HEADERS
            if self._secure:
                lines = [_secured(*line) for line in lines]
                more = HEADERS | _TLS
            # What the app has set itself stays.
            present = {name for name, _ in lines}
            lines += [
                (name, value) for name, value in more.items() if name not in present
            ]
            message = {**message, "headers": lines}
            self.started = True
            self.line.status = message.get("status", 101)
        await self._send(message)
        if self.watch:
            self.watch(message)


@contextmanager
def _refusing() -> Iterator[None]:
    """Refuse a request whose session the store cannot tell; the log says why."""
    try:
        yield
    except StoreError as error:
        log.error("no session can be read or ended: %s", error)
        words = "The store does not answer. Try again in a few seconds."
        raise RefusedRequest(503, words, STORE_SECONDS) from None


def _secured(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    again = name != _COOKIE or b"; secure" in value.lower()
    return name, value if again else value + b"; Secure"


async def _refuse(
    refusal: RefusedRequest, scope: Scope, receive: Receive, answer: _Answer
) -> None:
    """Say why a request is refused, and read no more of it: the connection ends."""
    if scope["type"] == "websocket":
        answer.line.status = 403
        return await answer({"type": "websocket.close", "code": 1008})
    headers = {"Cache-Control": "no-store", "Connection": "close"}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.retry is not None:
        headers["Retry-After"] = str(refusal.retry)
    words = PlainTextResponse(f"{refusal.words}\n", refusal.status, headers)
    await words(scope, receive, answer)


def _to_login() -> bytes:
    message = ForwardMsg()
    message.auth_redirect.url = "/"
    return message.SerializeToString()
