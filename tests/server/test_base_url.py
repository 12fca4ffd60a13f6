"""A page asks for the server where the app begins, not below its own path."""

import loops
import pytest
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from fairdash.server.base_url import SCRIPT, BaseUrl

PAGE = "<!DOCTYPE html><html><head><title>t</title></head></html>"


def answer(app, *, accept="text/html,*/*", method="GET"):
    """Return status, headers and body of an app behind the middleware."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    headers = [(b"accept", accept.encode()), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": method, "path": "/Data", "headers": headers}
    loops.run(BaseUrl(app)(scope, receive, send))
    start, *bodies = sent
    body = b"".join(message.get("body", b"") for message in bodies)
    return start["status"], dict(start["headers"]), body


def test_the_page_says_where_the_app_begins():
    status, headers, body = answer(HTMLResponse(PAGE))
    assert status == 200
    assert body.decode() == PAGE.replace("<head>", f"<head>{SCRIPT.decode()}")
    assert int(headers[b"content-length"]) == len(body)


def test_the_page_may_come_in_parts_and_uncompressed():
    calls = []

    async def parts(scope, receive, send):
        calls.append(dict(scope["headers"]))
        kind = [(b"content-type", b"text/html; charset=utf-8")]
        start = {"type": "http.response.start", "status": 200, "headers": kind}
        await send(start)
        for part in (PAGE[:20], PAGE[20:]):
            more = {"type": "http.response.body", "more_body": True}
            await send({**more, "body": part.encode()})
        await send({"type": "http.response.body"})

    _, _, body = answer(parts)
    assert body.count(SCRIPT) == 1
    assert b"accept-encoding" not in calls[0]


@pytest.mark.parametrize(
    ("app", "how"),
    [
        (PlainTextResponse("<head>"), {}),
        (HTMLResponse("<head>", 401), {}),
        (HTMLResponse("<head>"), {"accept": "*/*"}),
        (Response(b"<head>", media_type="application/json"), {}),
    ],
)
def test_all_else_passes_as_it_is(app, how):
    _, headers, body = answer(app, **how)
    assert body == b"<head>"
    assert headers[b"content-length"] == b"6"


def test_the_length_of_a_page_without_its_body_stays():
    page = HTMLResponse(PAGE)

    async def head(scope, receive, send):
        start = {"type": "http.response.start", "status": 200}
        await send({**start, "headers": page.raw_headers})
        await send({"type": "http.response.body", "body": b""})

    _, headers, body = answer(head, method="HEAD")
    assert (body, headers[b"content-length"]) == (b"", str(len(PAGE)).encode())
