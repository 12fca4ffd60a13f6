"""Serve the app, in one process or several, and work for others."""

import gc
import logging
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairdash import APP_FOLDER
from fairdash.cli._options import Home, refuse, refusing
from fairdash.cli._processes import Processes
from fairdash.jobs import (
    JsonLines,
    attach,
    ensure_engine,
    log_to_stderr,
    logs_json,
    metrics,
    watching,
)
from fairdash.store import Store, home_folder, keep_days, open_store, trouble

LOOPBACK = ("localhost", "127.0.0.1", "::1")
SWITCH = 0.0001  # seconds until another session may compute, where Python says 0.005
Log = Annotated[
    Literal["text", "json"],
    typer.Option("--log", envvar="FAIRDASH_LOG", help="Lines of text, or of JSON."),
]
log = logging.getLogger("fairdash")


def serve(
    home: Home = None,
    port: Annotated[int, typer.Option(help="Port of the web page.")] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen at.")] = "localhost",
    name: Annotated[
        list[str] | None,
        typer.Option(help="Host name by which a proxy asks for the app; may repeat."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let everybody in who can reach it.")
    ] = False,
    processes: Annotated[
        int, typer.Option(min=1, help="Servers that share the windows of browsers.")
    ] = 1,
    log_as: Log = "text",
) -> None:
    """Serve the app; Ctrl-C stops it. Open runs go on until they are finished.

    Without a login, which an `[auth]` section of .streamlit/secrets.toml sets up, it is
    served to this machine alone. `/ready` answers 200 while the store works, and
    `/metrics` counts runs, models and workers in the format of Prometheus. With several
    processes a browser stays with one of them by a cookie.
    """
    # only this command loads Streamlit; all three are loaded before they are frozen
    import pyarrow  # noqa: F401
    import streamlit

    import fairdash.plots  # noqa: F401

    if streamlit.secrets.load_if_toml_exists() and "auth" in streamlit.secrets:
        os.environ["FAIRDASH_LOGIN"] = "1"
    elif address not in LOOPBACK and not insecure:
        message = f"Whoever reaches {address} could see and delete all data. Set up a"
        raise refuse(
            f"{message} login (docs/security.md), or say --insecure if all may."
        )
    folder = home or home_folder()
    os.environ |= {"FAIRDASH_HOME": str(folder), "FAIRDASH_LOG": log_as}
    hosts = [*LOOPBACK, *(name or [])] if address in LOOPBACK else []
    with refusing():
        keep_days()
    store = open_store(folder)
    log_to_stderr()
    with attach(folder), watching(folder):
        ensure_engine(folder)
        if processes == 1:
            _serve_pages(store, address, port, hosts)
        else:
            Processes(processes, partial(_serve_alone, folder, hosts)).serve(
                address, port
            )
        if left := len(store.open_runs()):
            log.info("%d open runs go on in the background", left)
    store.close()


def worker(
    address: Annotated[str, typer.Argument(help="Such as tls://10.0.0.5:8786.")],
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes. Default: one a core.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address of this machine to listen on, and on no other. A scheduler "
            "on another machine must reach it."
        ),
    ] = "127.0.0.1",
    log_as: Log = "text",
) -> None:
    """Work for a Dask scheduler until Ctrl-C; wait for it when it is away.

    The processes must see the same home folder as the app, under the same path, or be
    told its FAIRDASH_DATABASE and FAIRDASH_FILES. A scheduler on another machine must
    speak TLS: whoever reaches one runs code.
    """
    from fairdash.jobs import serve_worker  # only this command loads Dask

    os.environ["FAIRDASH_LOG"] = log_as
    with refusing():
        serve_worker(address, n_workers=workers or os.cpu_count() or 1, host=host)


cluster = typer.Typer(no_args_is_help=True, help="Train on several machines.")


@cluster.command("init")
def init_cluster(
    folder: Annotated[Path, typer.Argument(help="Folder to write three files to.")],
    days: Annotated[int, typer.Option(min=1, help="For which they are valid.")] = 365,
) -> None:
    """Write a certificate by which scheduler, workers and app know each other.

    Whoever has its key runs code on all. The exit status is 2 when there is one.
    """
    from fairdash.jobs import write_certificates

    with refusing():
        config = write_certificates(folder, days=days)
    typer.echo(
        f"Copy {config.parent} to the same path on every machine, and start there"
    )
    typer.echo(
        f"dask scheduler, fairdash worker and fairdash app with DASK_CONFIG={config}"
    )


def _serve_alone(folder: Path, hosts: Sequence[str], port: int) -> None:
    """Serve pages to a proxy on this machine, in a process of its own."""
    import fairdash.plots  # noqa: F401

    store = open_store(folder)
    log_to_stderr()
    with attach(folder):
        _serve_pages(store, "127.0.0.1", port, hosts)
    store.close()


def _serve_pages(store: Store, address: str, port: int, hosts: Sequence[str]) -> None:
    """Serve the pages and what an operator asks for until a signal comes."""
    from starlette.routing import Route
    from streamlit.starlette import App

    _send_at_once()
    _send_policy()
    if logs_json():
        _log_pages_as_json()
    gc.collect()
    gc.freeze()  # Streamlit collects after every rerun: spare it the modules
    sys.setswitchinterval(SWITCH)
    log.info("serving at http://%s:%d", address, port)
    script = APP_FOLDER / "app.py"
    sys.argv = [str(script)]  # beside it lies Streamlit's configuration
    app = App(
        script,
        routes=[
            Route("/ready", partial(_told, store, False)),
            Route("/metrics", partial(_told, store, True)),
        ],
    )
    options = {
        "server.port": port,
        "server.address": address,
        "server.headless": True,
        "server.fileWatcherType": "none",  # nobody edits pages under a running demo
        "logger.hideWelcomeMessage": True,  # which would ask a server for our address
    }
    if hosts:  # another name for this machine is a trick to be let in
        options["server.allowedHosts"] = list(hosts)
    # asking for a login has read the configuration before these options were known
    again = logging.getLogger("streamlit.config")
    again.addFilter(lambda record: "[server]" not in record.getMessage())
    with suppress(KeyboardInterrupt):  # which uvicorn raises again after its end
        app.run(config=options)


def _told(store: Store, counts: bool, _: object) -> Any:
    """Answer a monitor: 503 when the store does not work, and nothing of why."""
    from starlette.responses import PlainTextResponse

    try:
        words, status = metrics(store), 200
    except (OSError, ValueError) as error:
        log.error("%s", trouble(error) or error)
        words, status = "the store does not work; the log says why\n", 503
    if status == 200 and not counts:
        words = "ready\n"
    return PlainTextResponse(words, status, {"Cache-Control": "no-cache"})


def _log_pages_as_json() -> None:
    """Write the logs of Streamlit and of its server as JSON, those to come as well."""
    from streamlit import logger
    from uvicorn.config import LOGGING_CONFIG

    plain = logger.setup_formatter

    def setup(one: Any) -> None:
        plain(one)
        one.streamlit_console_handler.setFormatter(JsonLines())

    logger.setup_formatter = setup  # type: ignore[assignment]
    logger.update_formatter()
    LOGGING_CONFIG["formatters"]["default"] = {"()": lambda **_: JsonLines()}


def _send_at_once() -> None:
    """Turn Nagle's algorithm off, which delays some answers by 40 ms.

    Streamlit makes its socket in a way that asyncio does not recognise as TCP, and has
    no option for it.
    """
    from streamlit.web.server.starlette import starlette_server

    bind = getattr(starlette_server, "_bind_socket", None)
    if bind is None:
        return

    def bind_without_delay(*args: Any, **options: Any) -> socket.socket:
        bound: socket.socket = bind(*args, **options)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound

    starlette_server._bind_socket = bind_without_delay


# Streamlit needs styles and scripts within the page; nothing comes from elsewhere
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline' blob:; img-src 'self' data: blob:; "
    "font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
    "frame-src 'self' data: blob:; media-src 'self' data: blob:; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)


def _send_policy() -> None:
    """Have each answer forbid the browser to ask, or be framed by, anybody else.

    Streamlit has no option for headers.
    """
    from streamlit.web.server.starlette import starlette_app

    make = getattr(starlette_app, "create_streamlit_middleware", None)
    if make is not None:
        starlette_app.create_streamlit_middleware = lambda: [_policy(), *make()]


def _policy() -> Any:
    """Return a middleware that adds `POLICY` to the headers of an answer."""
    from starlette.middleware import Middleware

    def add_policy(app: Any) -> Any:
        async def answer(scope: Any, receive: Any, send: Any) -> None:
            async def send_with_policy(message: Any) -> None:
                if message["type"] == "http.response.start":
                    header = b"content-security-policy", POLICY.encode()
                    message = {**message, "headers": [*message["headers"], header]}
                await send(message)

            await app(scope, receive, send_with_policy)

        return answer

    return Middleware(add_policy)
