"""The commands that serve: the app with the engine beside it, workers elsewhere."""

import gc
import os
import socket
from typing import Annotated, Any

import typer

from fairdash import APP_FOLDER
from fairdash.cli._options import Home, refuse
from fairdash.jobs import attach, ensure_engine
from fairdash.store import home_folder, open_store

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def serve(
    home: Home = None,
    port: Annotated[int, typer.Option(help="Port of the web page.")] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen at.")] = "localhost",
    name: Annotated[
        list[str] | None,
        typer.Option(help="Host name by which a proxy asks for the app; may repeat."),
    ] = None,
) -> None:
    """Serve the app; Ctrl-C stops it. Open runs go on until they are finished."""
    # only this command loads Streamlit; all three are loaded before they are frozen
    import pyarrow  # noqa: F401
    from streamlit.web import cli

    import fairdash.plots  # noqa: F401

    folder = home or home_folder()
    os.environ["FAIRDASH_HOME"] = str(folder)
    store = open_store(folder)
    with attach(folder):
        ensure_engine(folder)
        _send_at_once()
        gc.collect()
        gc.freeze()  # Streamlit collects after every rerun: spare it the modules
        options = {
            "port": port,
            "address": address,
            "headless": "true",
            "fileWatcherType": "none",  # nobody edits pages under a running demo
        }
        flags = [f"--server.{option}={value}" for option, value in options.items()]
        if address in LOOPBACK:  # another name for it is a trick to be let in
            hosts = [*LOOPBACK, *(name or [])]
            flags += [f"--server.allowedHosts={host}" for host in hosts]
        cli.main(
            ["run", str(APP_FOLDER / "app.py"), *flags],
            "streamlit",
            standalone_mode=False,
        )
        if left := len(store.open_runs()):
            runs = "1 run goes" if left == 1 else f"{left} runs go"
            typer.echo(f"{runs} on in the background.")
    store.close()


def worker(
    address: Annotated[str, typer.Argument(help="Such as tcp://10.0.0.5:8786.")],
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
) -> None:
    """Work for a Dask scheduler until Ctrl-C; wait for it when it is away.

    The processes must see the same home folder as the app, under the same path. The
    scheduler is not authenticated: keep it on a trusted network, or use TLS.
    """
    from fairdash.jobs import serve_worker  # only this command loads Dask

    try:
        serve_worker(address, n_workers=workers or os.cpu_count() or 1, host=host)
    except ValueError as error:
        raise refuse(error) from error


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
