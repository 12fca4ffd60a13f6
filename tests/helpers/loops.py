"""Coroutines in tests, also where Playwright has left a loop running in this thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run(coroutine):
    """Return what a coroutine returns, run in a loop and a thread of its own."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result()
