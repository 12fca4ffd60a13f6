"""Tell a page where the app begins, so that it asks nowhere else.

Streamlit's page at ``/Data`` looks for the server below its own path first: it asks
``/Data/_stcore/health`` before ``/_stcore/health``, and each 404 stands in the
console. The page asks at once where ``BACKEND_BASE_URL`` says.
"""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Pages lie beside each other, also behind a proxy that puts a path before them.
SCRIPT = (
    b"<script>window.__streamlit = "
    b'{BACKEND_BASE_URL: new URL(".", location.href).href}</script>'
)
_HEAD = b"<head>"


class BaseUrl:
    """ASGI middleware that writes `SCRIPT` into the page of the app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; only what asks for a page is looked at."""
        if scope["type"] != "http" or not wants_page(HTTPConnection(scope)):
            return await self._app(scope, receive, send)
        # A compressed page could not be written into. Without extensions Starlette
        # sends the body in messages, not as the path of a file.
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        plain = {**scope, "headers": headers, "extensions": {}}
        await self._app(plain, receive, _Page(send))


def wants_page(request: HTTPConnection) -> bool:
    """Return whether a browser asks for a page to show."""
    accepted = request.headers.get("accept", "")
    return request.scope.get("method") in ("GET", "HEAD") and "text/html" in accepted


class _Page:
    """Send an answer on; hold one that is a page until it is whole."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_page(self._start)
        else:
            await self._send(message)

    async def _send_page(self, start: Message) -> None:
        body = self._body.replace(_HEAD, _HEAD + SCRIPT, 1)
        headers = list(start["headers"])
        # An answer to HEAD has the length of the page, and no body to write into.
        if self._body:
            length = str(len(body)).encode()
            headers = [
                (name, length if name == b"content-length" else value)
                for name, value in headers
            ]
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _is_page(start: Message) -> bool:
    kind = dict(start["headers"]).get(b"content-type", b"")
    return start["status"] == 200 and kind.startswith(b"text/html")
