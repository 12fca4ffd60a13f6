"""What docs/deploy says of containers is parsed, and its parts run without any."""

from pathlib import Path

import pytest
import typer
import yaml

from fairdash.cli import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
TLS = "/home/fairdash/tls"


@pytest.fixture(scope="module")
def services():
    """The services of both files, the second laid over the first as compose does."""
    named = ("compose.yaml", "compose.stores.yaml")
    found, more = (
        yaml.safe_load((DEPLOY / name).read_text())["services"] for name in named
    )
    for name, one in more.items():
        there = found.setdefault(name, {})
        for key, value in one.items():
            known = there.get(key)
            there[key] = {**known, **value} if isinstance(known, dict) else value
    return found


def lines():
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    found = (line.partition(" ") for line in text.splitlines() if line[:1] not in "#")
    return [(name, rest.strip()) for name, _, rest in found if name]


def test_all_services_share_home_and_certificates(services):
    assert services.keys() == {
        *("certificate", "app", "scheduler", "worker"),
        *("bucket", "database", "files"),
    }
    for name in ("certificate", "app", "scheduler", "worker"):
        one = services[name]
        assert {"home:/home/fairdash/data", f"tls:{TLS}"} <= set(one["volumes"])
        assert one["environment"]["DASK_CONFIG"] == f"{TLS}/dask.yaml"
    for one in services.values():  # each waits for services that are there
        assert one.get("depends_on", {}).keys() <= services.keys()
    known = {**dict(lines())}["ENV"]
    assert "FAIRDASH_HOME=/home/fairdash/data" in known
    folders = "mkdir -m 700 data tls"  # or the volumes would belong to root
    assert folders in [rest for name, rest in lines() if name == "RUN"]
    (port,) = services["app"]["ports"]
    assert port.startswith("127.0.0.1:")  # nobody is let in past the proxy
    assert "8501/ready" in services["app"]["healthcheck"]["test"][-1]
    root = typer.main.get_command(app)
    _, name, *options = services["app"]["command"]
    context = root.get_command(None, name).make_context(name, options)
    assert context.params["address"] == "0.0.0.0"
