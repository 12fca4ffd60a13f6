"""Replicas of the app behind the balancer of docs/deploy, on this machine."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from caddy import installed_caddy
from conftest import free_port, is_healthy, wait_until
from openid import SECRETS

CADDYFILE = Path(__file__).parents[2] / "docs" / "deploy" / "Caddyfile"
APP = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
SECRET = "the same for all replicas, long enough to sign cookies"


@dataclass
class Replica:
    """A process of the app, with a home folder as on a machine of its own."""

    folder: Path
    home: Path
    port: int
    process: subprocess.Popen | None = None

    def start(self):
        """Serve; return at once."""
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*APP, "--port", str(self.port), "--home", str(self.home)],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def is_ready(self):
        """Tell whether it answers."""
        return is_healthy(self.port)

    def stop(self, number=signal.SIGINT):
        """End the process by a signal, if it lives."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=120)

    @property
    def log(self):
        """What it has written so far."""
        return (self.folder / "log").read_text()


@contextmanager
def balanced(folder, provider, homes):
    """Serve a replica for each home behind Caddy; yield its address and the replicas.

    ``provider`` is the address of the provider of their login.
    """
    caddy = installed_caddy()
    port = free_port()
    address = f"http://localhost:{port}"
    replicas = []
    for number, home in enumerate(homes):
        own_folder = folder / f"replica{number}"
        (own_folder / ".streamlit").mkdir(parents=True)
        secrets = SECRETS.format(app=address, provider=provider, secret=SECRET)
        (own_folder / ".streamlit" / "secrets.toml").write_text(secrets)
        replicas.append(Replica(own_folder, home, free_port()))
    started = []
    try:
        for replica in replicas:
            replica.start()
            started.append(replica)
        for replica in replicas:
            wait_until(replica.is_ready)
        with _balancer(caddy, folder, port, replicas):
            yield address, replicas
    finally:
        for replica in started:
            replica.stop()


@contextmanager
def _balancer(caddy, folder, port, replicas):
    variables = {
        "FAIRDASH_SITE": f":{port}",
        "FAIRDASH_REPLICAS": " ".join(f"127.0.0.1:{each.port}" for each in replicas),
        "HOME": str(folder),
    }
    command = [caddy, "run", "--adapter", "caddyfile", "--config"]
    with open(folder / "balancer.log", "wb") as log:
        process = subprocess.Popen(
            [*command, str(CADDYFILE)],
            env={**os.environ, **variables},
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: is_healthy(port))
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)
