"""Serve the app, and work for others."""

import logging
import os
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from fairdash._wording import plural
from fairdash.cli._options import Home, refuse, refusing
from fairdash.cli._parsing import CommandApp
from fairdash.jobs import engine
from fairdash.store import home_folder, open_store

LOOPBACK = ("localhost", "127.0.0.1", "::1")
log = logging.getLogger("fairdash")


def serve(
    home: Home = None,
    port: Annotated[int, typer.Option(help="Port of the web page.")] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen at.")] = "localhost",
    name: Annotated[
        list[str] | None,
        typer.Option(help="Host name by which a proxy asks for the app; may repeat."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="Address of a proxy on another machine, or a network of them such as "
            "10.0.0.0/24, which says truly who asks; may repeat. Limits then count for "
            "each browser's address."
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let everybody in who can reach it.")
    ] = False,
) -> None:
    r"""Serve the app; Ctrl-C stops it. Open runs go on until they are finished.

    Without a login, which a section `\[auth]` of .streamlit/secrets.toml sets up, only
    this machine reaches it. `/ready` answers 200 while the store works.
    """
    from fairdash.server import Login, Rules, read_token, serve_pages  # loads Streamlit

    with refusing():
        login = Login.find(port)
        proxies = _networks(proxy or [])
        metrics_token = read_token()
    if login:
        os.environ["FAIRDASH_LOGIN"] = "1"
    elif address not in LOOPBACK and not insecure:
        message = f"Whoever reaches {address} could see and delete all data. Set up a"
        raise refuse(
            f"{message} login (docs/security.md), or say --insecure if all may."
        )
    names = [*(name or []), *([urlsplit(login.origin).hostname or ""] if login else [])]
    hosts = (*LOOPBACK, address, *names) if names or address in LOOPBACK else ()
    rules = Rules(tuple(host.lower() for host in hosts), login, proxies, metrics_token)
    folder = home or home_folder()
    os.umask(0o077)  # whatever Streamlit or a library writes is for us only
    os.environ["FAIRDASH_HOME"] = str(folder)
    store = open_store(folder)
    engine.log_to_stderr()
    after = 0.0 if engine.has_open_runs(store) else engine.QUIET_SECONDS
    with engine.attach(store.root), engine.watching(store, after):
        serve_pages(folder, address, port, rules)
        n_open = len(store.open_runs())
        if n_open:
            log.info("%d open runs go on in the background", n_open)
    store.close()


def _networks(proxies: list[str]) -> tuple[str, ...]:
    """Return the addresses and networks of proxies; ValueError if one is neither."""
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError as error:
            raise ValueError(
                f"--proxy takes an address or a network such as 10.0.0.0/24, got "
                f"{proxy!r}: {error}."
            ) from None
    return tuple(proxies)


cluster = CommandApp(
    no_args_is_help=True, add_completion=False, help="Train on several machines."
)


@cluster.command()
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
) -> None:
    """Work for a Dask scheduler until Ctrl-C; wait for it when it is away.

    The processes must see the same home folder as the app, under the same path, or be
    told its FAIRDASH_DATABASE and FAIRDASH_FILES. A scheduler on another machine must
    speak TLS: whoever reaches one runs code.
    """
    from fairdash.jobs import serve_worker  # only this command loads Dask

    os.umask(0o077)
    with refusing():
        serve_worker(address, n_workers=workers or os.cpu_count() or 1, host=host)


@cluster.command("check")
def check(
    address: Annotated[str, typer.Argument(help="Such as tls://10.0.0.5:8786.")],
    host: Annotated[
        str | None, typer.Option(help="Ask for a worker that listens here.")
    ] = None,
) -> None:
    """Ask whether a scheduler answers, and with --host whether it knows a worker.

    The exit status is 2 when it does not.
    """
    from fairdash.jobs import check_cluster

    with refusing():
        n_workers = check_cluster(address, host=host)
    typer.echo(plural(n_workers, "worker"))


@cluster.command("init")
def init_cluster(
    folder: Annotated[Path, typer.Argument(help="Folder to write three files to.")],
    days: Annotated[int, typer.Option(min=1, help="For which they are valid.")] = 365,
    renew: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Keep a certificate that is valid for more than so many days, and "
            "replace any other.",
        ),
    ] = None,
) -> None:
    """Write a certificate by which scheduler, workers and app know each other.

    Whoever has its key runs code on all. The exit status is 2 when there is one and
    --renew is not given. After a renewal all of them must start again.
    """
    from fairdash.jobs import certificate_end, write_certificates

    with refusing():
        config = write_certificates(folder, days=days, renew=renew)
    end = certificate_end(config.parent / "certificate.pem")
    typer.echo(f"The certificate is valid until {end:%Y-%m-%d}.")
    typer.echo(
        f"Copy {config.parent} to the same path on every machine, and start there"
    )
    typer.echo(
        "dask scheduler, fairdash cluster worker and fairdash app with "
        f"DASK_CONFIG={config}"
    )
