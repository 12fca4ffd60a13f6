"""Serve the pages, and what an operator asks for."""

import asyncio
import gc
import logging
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import cast

import pyarrow  # noqa: F401  # loaded before it is frozen, as the figures are
import streamlit.emojis  # noqa: F401
import uvicorn
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp
from streamlit import config
from streamlit.starlette import App
from threadpoolctl import threadpool_limits

import fairdash.plots  # noqa: F401
from fairdash import APP_FOLDER, box
from fairdash.datasets import overviews, reading
from fairdash.jobs import BUNDLE_TASK, engine
from fairdash.server.base_url import BaseUrl
from fairdash.server.door import Door, Rules
from fairdash.server.limits import MIB, Limits
from fairdash.server.meters import METRICS, Meters
from fairdash.server.metrics import Metrics
from fairdash.server.peers import Peers
from fairdash.server.provider import Provider
from fairdash.server.turns import (
    BACKLOG,
    CONNECTIONS,
    READY,
    RequestsByTurns,
    Server,
    Turns,
)
from fairdash.store import Store, open_store, trouble

SWITCH = 0.0001  # seconds until another session may compute, where Python says 0.005
READY_SECONDS = 1.0  # for which a look at the store is believed
FAILS = "the store does not work; the log says why\n"
PING_SECONDS = 30  # between two of a websocket, as Streamlit's own runner has it
log = logging.getLogger("fairdash")


def serve_pages(home: Path, address: str, port: int, rules: Rules) -> None:
    """Serve the pages of a home folder until a signal comes."""
    engine.log_to_stderr()
    Thread(target=_open_box, daemon=True).start()
    store = open_store(home)
    provider = Provider(rules.login) if rules.login else None
    routes = provider.routes() if provider else []
    records = store.sessions()
    meters = Meters()
    limits = cache(_limits)  # the app reads the configuration, which says them

    def door(app: ASGIApp) -> Door:
        return Door(app, rules, records, limits(), meters)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        """Keep what only users need."""
        if provider is None:
            yield
            return
        async with provider.open(app), Peers(store.documents, limits()).open():
            yield

    app = App(
        APP_FOLDER / "app.py",  # beside it lies Streamlit's configuration
        routes=[
            Route(READY, Readiness(store).answer),
            Route(METRICS, Metrics(meters, store).answer),
            *routes,
        ],
        middleware=[Middleware(door), Middleware(BaseUrl)],
        lifespan=lifespan,
    )
    _configure(port)
    gc.collect()
    gc.freeze()  # Streamlit collects after every rerun: spare it the modules
    # while models train, two threads of a sum wait for each other
    threadpool_limits(1, user_api="blas")
    sys.setswitchinterval(SWITCH)
    with listen(address, port) as listening, engine.attach(store.root):
        log.info("serving at http://%s:%d", address, port)
        with suppress(KeyboardInterrupt):  # which uvicorn raises again after its end
            make_server(app, rules.proxies).run(sockets=[listening])
    store.close()


def _open_box() -> None:
    log_confinement()  # first, since readers take a while to load
    box.start(reading.TASK, overviews.TASK, BUNDLE_TASK)


def log_confinement() -> None:
    """Log what the box holds here, as a warning where code in it is not confined."""
    try:
        confinement = box.confinement()
    except ValueError as error:
        log.error("the box does not work: %s", error)
        return
    level = logging.INFO if confinement.holds else logging.WARNING
    log.log(level, confinement.sentence)


class Readiness:
    """The answer to a monitor: 503 when the store fails, without the reason.

    However many ask, the store is asked once a second.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._until = 0.0
        self._works: asyncio.Future[bool] | None = None

    async def answer(self, _request: Request) -> PlainTextResponse:
        """Answer one request."""
        over = self._works is None or self._works.done()
        if over and monotonic() >= self._until:
            self._until = monotonic() + READY_SECONDS
            self._works = asyncio.ensure_future(asyncio.to_thread(self._look))
        works = self._works is not None and await asyncio.shield(self._works)
        words, status = ("ready\n", 200) if works else (FAILS, 503)
        return PlainTextResponse(words, status, {"Cache-Control": "no-cache"})

    def _look(self) -> bool:
        try:
            self._store.check()
        except (OSError, ValueError) as error:
            log.error("%s", trouble(error) or error)
            return False
        return True


def _limits() -> Limits:
    upload = config.get_option("server.maxUploadSize") + 1  # its envelope
    return Limits(upload * MIB)


def _configure(port: int) -> None:
    # asking for a login has read the configuration before these options were known
    again = logging.getLogger("streamlit.config")
    again.addFilter(lambda record: "[server]" not in record.getMessage())
    options = {
        "server.port": port,
        "server.fileWatcherType": "none",  # nobody edits pages under a running demo
    }
    config.get_config_options(force_reparse=True, options_from_flags=options)


def listen(address: str, port: int) -> socket.socket:
    """Return a socket that sends at once: to wait for more delays answers by 40 ms."""
    many = ":" in address
    family = socket.AF_INET6 if many else socket.AF_INET
    listening = socket.create_server(
        (address, port), family=family, backlog=BACKLOG, dualstack_ipv6=many
    )
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def make_server(app: ASGIApp, proxies: Sequence[str] = ()) -> Server:
    """Return a server with the settings of Streamlit's own runner.

    It believes ``proxies``, by address or network, and those on this machine who asks,
    and by TLS or not, and nobody else.
    """
    # uvicorn calls it, and asks nothing else of it
    protocol = cast("type[asyncio.Protocol]", partial(RequestsByTurns, Turns()))
    option = config.get_option
    ping = option("server.websocketPingInterval") or PING_SECONDS
    settings = uvicorn.Config(
        app,
        http=protocol,
        backlog=CONNECTIONS,
        ws="websockets-sansio",
        ws_ping_interval=ping,
        ws_ping_timeout=ping,
        ws_max_size=option("server.maxWidgetStateSize") * 1_000_000,  # it takes no more
        ws_per_message_deflate=option("server.enableWebsocketCompression"),
        ssl_certfile=option("server.sslCertFile"),
        ssl_keyfile=option("server.sslKeyFile"),
        forwarded_allow_ips=["127.0.0.1", "::1", *proxies],
        server_header=False,
        access_log=False,
        log_config=None,
        log_level="warning",
    )
    return Server(settings)
