"""A Dask scheduler elsewhere: whether one answers at an address."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from distributed.comm.core import connect
from distributed.core import send_recv

CONNECT_SECONDS = 5.0


def check_scheduler(address: str) -> None:
    """Raise a ValueError that says what to do unless a scheduler answers.

    Parameters
    ----------
    address : str
        Such as "tcp://10.0.0.5:8786".
    """
    with ThreadPoolExecutor(1) as aside:  # a notebook's thread has a loop of its own
        there = aside.submit(lambda: asyncio.run(answers(address))).result()
    if not there:
        raise ValueError(
            f"No Dask scheduler answers at {address}; on that machine "
            "`dask scheduler --host HOST --port PORT --dashboard-address 127.0.0.1:0` "
            "starts one."
        )


async def answers(address: str) -> bool:
    """Tell whether a scheduler of Dask listens at an address.

    Raises
    ------
    ValueError
        When it is no address.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("tcp", "tls") or not parts.hostname or not parts.port:
        raise ValueError(
            f"A scheduler's address is like tcp://10.0.0.5:8786, got {address!r}."
        )
    try:
        link = await connect(address, timeout=CONNECT_SECONDS)
        asked = send_recv(link, op="identity", close=True)
        told = await asyncio.wait_for(asked, CONNECT_SECONDS)
    except OSError:  # a timeout is one
        return False
    # others may listen there, a worker or, while nobody does, this socket itself
    return isinstance(told, dict) and told.get("type") == "Scheduler"
