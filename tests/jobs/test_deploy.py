"""What docs/deploy says of containers is parsed, and its parts run without any."""

import re
import tomllib
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


def test_every_container_is_bounded_and_has_no_rights_of_root(services):
    for name, one in services.items():
        assert {"mem_limit", "pids_limit"} <= one.keys(), name
        assert one["security_opt"] == ["no-new-privileges:true"], name
        if name not in ("database", "files"):  # images of others
            assert one["read_only"] is True, name
            assert one["cap_drop"] == ["ALL"], name


def test_what_is_up_is_asked_whether_it_works(services):
    root = typer.main.get_command(app)
    for name in ("scheduler", "worker"):
        _, *test = services[name]["healthcheck"]["test"]
        words = " ".join(test).replace("$$(hostname -i)", "10.0.0.6").split()
        program, group, command, *options = words
        assert program == "fairdash"
        check = root.get_command(None, group).get_command(None, command)
        context = check.make_context(command, options)
        assert context.params["address"] == "tls://scheduler:8786"
        assert bool(context.params["host"]) == (name == "worker")
    for name in ("app", "worker"):
        after = services[name]["depends_on"]["scheduler"]
        assert after == {"condition": "service_healthy"}
    _, group, command, *options = services["certificate"]["command"]
    init = root.get_command(None, group).get_command(None, command)
    assert init.make_context(command, options).params["renew"] == 60


def test_an_image_has_the_version_as_its_tag(services):
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tag = f"fairdash:{pyproject['project']['version']}"
    for name, one in services.items():
        if name not in ("database", "files"):
            assert one["image"] == tag
    assert f"-t {tag} " in (DEPLOY / "Containerfile").read_text()
    assert f"-t {tag} " in (ROOT / "docs" / "start" / "operator.md").read_text()


def test_an_image_is_built_of_what_it_needs_alone():
    everything, *wanted = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert everything == "*"
    names = {line[1:].split("/")[0] for line in wanted if line.startswith("!")}
    package = {"fairdash", "pages", "sample_data", "app.py", ".streamlit"}
    build = {"pyproject.toml", "setup.py", "README.md", "LICENSE", "requirements"}
    assert names == package | build
    assert "!.streamlit/config.toml" in wanted  # and not the login's secrets


def test_an_image_takes_nothing_without_its_hash():
    steps = [rest for name, rest in lines() if name == "RUN" and "pip" in rest]
    installed = re.findall(r"pip install ([^&]*)", " ".join(steps))
    *others, ours = installed
    assert len(others) == 2
    assert all("--require-hashes --no-deps -r" in one for one in others)
    assert "--no-deps --no-build-isolation" in ours
