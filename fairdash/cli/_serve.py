"""Serve the app in this process, with the engine beside it."""

import gc
import os
import socket
from pathlib import Path
from typing import Any

import pyarrow  # noqa: F401
import typer
from streamlit.web import cli
from streamlit.web.server.starlette import starlette_server

import fairdash.plots  # noqa: F401  like pyarrow: imported before it is frozen
from fairdash import APP_FOLDER
from fairdash.jobs import attach, ensure_engine
from fairdash.store import open_store


def serve_app(home: Path, *, port: int, address: str) -> None:
    """Serve the app until Ctrl-C; the engine goes on while a run is open."""
    os.environ["FAIRDASH_HOME"] = str(home)
    store = open_store(home)
    with attach(home):
        ensure_engine(home)
        _send_at_once()
        gc.collect()
        gc.freeze()  # Streamlit collects after every rerun: spare it the modules
        options = {
            "port": port,
            "address": address,
            "headless": "true",
            "fileWatcherType": "none",  # nobody edits pages under a running demo
        }
        flags = [f"--server.{name}={value}" for name, value in options.items()]
        cli.main(
            ["run", str(APP_FOLDER / "app.py"), *flags],
            "streamlit",
            standalone_mode=False,
        )
        if left := len(store.open_runs()):
            runs = "1 run goes" if left == 1 else f"{left} runs go"
            typer.echo(f"{runs} on in the background.")
    store.close()


def _send_at_once() -> None:
    """Turn Nagle's algorithm off, which delays some answers by 40 ms.

    Streamlit makes its socket in a way that asyncio does not recognise as TCP (uvicorn
    issue 3149), and has no option for it.
    """
    bind = getattr(starlette_server, "_bind_socket", None)
    if bind is None:
        return

    def bind_without_delay(*args: Any, **options: Any) -> socket.socket:
        bound: socket.socket = bind(*args, **options)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound

    starlette_server._bind_socket = bind_without_delay
