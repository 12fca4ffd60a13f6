"""What strangers who press "Log in" cost a server: 600 logins, 200 at once.

A served app with a login, a provider on this machine, strangers in another process. The
provider is sound; frozen since somebody has logged in; frozen from the start; gone.
Meanwhile a monitor asks `/ready` on one connection, another one on a new connection
each time, Ann (who is logged in, where anybody can) asks for a page, and Bob logs in
again and again from an address of his own. Printed for each:

- milliseconds until `/ready` answers each monitor, the half and the longest, and a page
  for Ann; in brackets how long the server's event loop computed meanwhile, at most;
- MB by which the server has grown, at the end;
- what the strangers were answered; how many of Bob's logins came through;
- the server's processor time a login, in ms, and tracebacks in its log.

    python benchmarks/server/bench_logins.py [--logins 600] [--at-once 200]
"""

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import requests

TESTS = Path(__file__).parents[2] / "tests"
sys.path += [str(TESTS), str(TESTS / "helpers")]

from openid import SECRETS, Provider  # noqa: E402

MB = 1e6
STATES = "sound", "frozen, known", "frozen, unknown", "gone"
SERVE = """
import sys
from pathlib import Path
from fairdash.server import Login, Rules, serve_pages
port = int(sys.argv[2])
rules = Rules(("localhost", "127.0.0.1"), Login.find(port))
serve_pages(Path(sys.argv[1]), "localhost", port, rules)
"""
STRANGERS = """
import sys, urllib.error, urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None
opener = urllib.request.build_opener(Stay)
def ask(number):
    url = f"http://localhost:{sys.argv[1]}/auth/login"
    # of fifty addresses, so that the limit of all is what is met
    headers = {"X-Forwarded-For": f"10.0.{number % 50}.1"}
    try:
        opener.open(urllib.request.Request(url, headers=headers), timeout=120)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        return type(error).__name__
with ThreadPoolExecutor(int(sys.argv[3])) as threads:
    print(dict(Counter(threads.map(ask, range(int(sys.argv[2]))))))
"""


class Browser(requests.Session):
    """A browser at an address, which is sent on by hand."""

    def __init__(self, port, address):
        super().__init__()
        self.trust_env, self.here = False, f"http://localhost:{port}"
        self.headers["X-Forwarded-For"] = address

    def asks(self, path):
        """Return the answer to one request."""
        address = path if path.startswith("http") else self.here + path
        return self.get(address, allow_redirects=False, timeout=120)

    def logs_in(self):
        """Return whether a login opens the pages."""
        path = "/auth/login"
        for _ in ("our server", "the provider", "our server again"):
            answer = self.asks(path)
            if answer.status_code != 302:
                return False
            path = answer.headers["Location"]
        return self.asks("/").status_code == 200


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(provider, folder):
    """Serve the app behind a login; yield its port, its process and its log."""
    port = free_port()
    (folder / ".streamlit").mkdir()
    app = f"http://localhost:{port}"
    secrets = SECRETS.format(app=app, provider=provider, secret=os.urandom(32).hex())
    (folder / ".streamlit" / "secrets.toml").write_text(secrets)
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(folder / "home"), str(port)],
            cwd=folder,
            env=os.environ | {"FAIRDASH_HOME": str(folder / "home")},
            stdout=log,
            stderr=log,
        )
    try:
        while not answers(app):
            time.sleep(0.1)
        yield port, psutil.Process(server.pid), folder / "log"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=120)


def answers(app):
    try:
        return requests.get(f"{app}/ready", timeout=5).status_code == 200
    except requests.RequestException:
        return False


def loop_ms(pid):
    """Return the processor time of a process's first thread, the event loop's."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


class Watch(threading.Thread):
    """Milliseconds of each answer that a browser waits for, one after the other.

    On a busy machine others' work counts in them; ``loops`` are those that the server's
    event loop computed meanwhile, for whomever.
    """

    def __init__(self, pid, browser, path, status, *, anew=False):
        super().__init__(daemon=True)
        self.pid, self.browser, self.path, self.status = pid, browser, path, status
        self.anew = anew  # a connection for each request
        self.waits, self.loops, self.others = [], [], Counter()
        self.over = threading.Event()

    def run(self):
        """Ask until the end."""
        while not self.over.wait(0.02):
            if self.anew:
                self.browser.close()
            began = time.perf_counter()
            computed = loop_ms(self.pid)
            status = self.browser.asks(self.path).status_code
            self.waits.append(1000 * (time.perf_counter() - began))
            self.loops.append(loop_ms(self.pid) - computed)
            if status != self.status:
                self.others[status] += 1

    def end(self):
        """Return the half, the longest, and the longest of the event loop."""
        self.over.set()
        self.join()
        text = f"{statistics.median(self.waits):3.0f} {max(self.waits):4.0f}"
        text += f" ({max(self.loops):3.0f})"
        return text + (f" {dict(self.others)}" if self.others else "")


def measure(state, logins, at_once):
    """Print what the strangers cost while the provider is in a state."""
    with (
        tempfile.TemporaryDirectory() as name,
        Provider().open() as provider,
    ):
        address = f"http://127.0.0.1:{free_port()}" if state == "gone" else None
        if state == "frozen, unknown":
            provider.answers.clear()
        with served(address or provider.address, Path(name)) as (port, process, log):
            ann = Browser(port, "10.1.0.1")
            is_known = state in STATES[:2] and ann.logs_in()
            if state == "frozen, known":
                provider.answers.clear()
            memory = process.memory_info().rss
            used = sum(process.cpu_times()[:2])
            watches = [
                Watch(process.pid, Browser(port, "10.2.0.1"), "/ready", 200),
                Watch(process.pid, Browser(port, "10.2.0.2"), "/ready", 200, anew=True),
                Watch(process.pid, ann, "/", 200 if is_known else 401),
            ]
            for watch in watches:
                watch.start()
            strangers = subprocess.Popen(
                [sys.executable, "-c", STRANGERS, *map(str, (port, logins, at_once))],
                stdout=subprocess.PIPE,
                text=True,
            )
            with ThreadPoolExecutor(1) as bob:
                message = bob.submit(lambda: strangers.communicate()[0].strip())
                came = Counter()
                while not message.done() and state == "sound":
                    came[Browser(port, "10.3.0.1").logs_in()] += 1
                words = message.result()
            used = 1000 * (sum(process.cpu_times()[:2]) - used) / logins
            waits = [watch.end() for watch in watches]
            grown = (process.memory_info().rss - memory) / MB
            tracebacks = log.read_text().count("Traceback")
    print(
        f"{state:16} /ready {waits[0]}  anew {waits[1]}  page {waits[2]}  "
        f"grown {grown:3.0f} MB  {used:4.1f} ms a login  {tracebacks} tracebacks  "
        f"strangers {words}  Bob {came[True]} of {came.total()}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logins", type=int, default=600)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--state", choices=STATES, action="append")
    options = parser.parse_args()
    for state in options.state or STATES:
        measure(state, options.logins, options.at_once)


if __name__ == "__main__":
    main()
