"""What docs/deploy says of containers is parsed, and its parts run without any."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer
import yaml
from caddy import installed_caddy

from fairdash.cli import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
TLS = "/home/fairdash/tls"


FILES = "compose.yaml", "compose.stores.yaml"
SCALED = *FILES, "compose.scale.yaml"
OTHERS = {"database", "files"}  # whose images are not ours
OURS = {"certificate", "app", "scheduler", "worker", "bucket"}
REPLICAS = "app", "app2", "app3"


class Loader(yaml.SafeLoader):
    """Reads YAML with the tag by which compose drops what an earlier file says."""


class Reset:
    """What stands in place of a value that is dropped."""


Loader.add_constructor("!reset", lambda *_: Reset)


def laid_over(below, above):
    """Return one part of a file laid over another as compose does."""
    if not isinstance(below, dict):
        return above
    merged = dict(below)
    for key, value in above.items():
        if value is Reset:
            merged.pop(key, None)
        else:
            merged[key] = laid_over(merged.get(key), value)
    return merged


def composed(names):
    """Return what the files of these names say together."""
    content = {}
    for name in names:
        content = laid_over(content, yaml.load((DEPLOY / name).read_text(), Loader))
    return content


@pytest.fixture(scope="module", params=[FILES, SCALED], ids=["plain", "scaled"])
def services(request):
    """The services of two files, or of all three."""
    return composed(request.param)["services"]


@pytest.fixture(scope="module")
def scaled():
    """All that the three files say together."""
    return composed(SCALED)


def lines():
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    pairs = (line.partition(" ") for line in text.splitlines() if line[:1] not in "#")
    return [(name, rest.strip()) for name, _, rest in pairs if name]


def test_all_services_share_home_and_certificates(services):
    more = {"app2", "app3", "balancer"} & services.keys()
    assert services.keys() == OURS | OTHERS | more
    for name in OURS - {"bucket"} | more - {"balancer"}:
        service = services[name]
        assert {"home:/home/fairdash/data", f"tls:{TLS}"} <= set(service["volumes"])
        assert service["environment"]["DASK_CONFIG"] == f"{TLS}/dask.yaml"
    for service in services.values():  # each waits for services that are there
        assert service.get("depends_on", {}).keys() <= services.keys()
    environment = {**dict(lines())}["ENV"]
    assert "FAIRDASH_HOME=/home/fairdash/data" in environment
    folders = "mkdir -m 700 data tls"  # or the volumes would belong to root
    assert folders in [rest for name, rest in lines() if name == "RUN"]
    (port,) = [
        port for service in services.values() for port in service.get("ports", ())
    ]
    assert port.startswith("127.0.0.1:")  # nobody is let in past the proxy
    assert "8501/ready" in services["app"]["healthcheck"]["test"][-1]
    root = typer.main.get_command(app)
    _, name, *options = services["app"]["command"]
    context = root.get_command(None, name).make_context(name, options)
    assert context.params["address"] == "0.0.0.0"


def test_every_container_is_bounded_and_has_no_rights_of_root(services):
    for name, service in services.items():
        assert {"mem_limit", "pids_limit"} <= service.keys(), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        if name not in OTHERS:
            assert service["read_only"] is True, name
            assert service["cap_drop"] == ["ALL"], name


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
    for name, service in services.items():
        if name == "balancer":
            assert service["image"] == tag.replace("fairdash", "fairdash-balancer")
        elif name not in OTHERS:
            assert service["image"] == tag
    assert f"-t {tag} " in (DEPLOY / "Containerfile").read_text()
    assert f"-t {tag} " in (ROOT / "docs" / "start" / "operator.md").read_text()


def test_replicas_are_alike_and_the_balancer_knows_them(scaled, tmp_path):
    services = scaled["services"]
    first, *others = (services[name] for name in REPLICAS)
    for one in others:
        one_built = {**one, "build": first["build"]}
        assert one_built == first
    site = adapted(DEPLOY / "Caddyfile", tmp_path)
    assert site["upstreams"] == [{"dial": f"{name}:8501"} for name in REPLICAS]
    assert site["health_checks"]["active"]["uri"] == "/ready"
    selection = site["load_balancing"]["selection_policy"]
    assert selection == {"policy": "cookie", "name": "fairdash_replica"}
    balancer = services["balancer"]
    assert balancer["volumes"] == ["./Caddyfile:/etc/caddy/Caddyfile:ro"]
    assert balancer["build"]["target"] == "balancer"
    targets = [rest for name, rest in lines() if name == "FROM"]
    assert "${BASE} AS balancer" in targets
    assert targets[-1] == "${BASE}"  # what is built where no target is named


def test_a_replica_believes_the_network_of_the_balancer_alone(scaled):
    services = scaled["services"]
    (facts,) = scaled["networks"]["front"]["ipam"]["config"]
    root = typer.main.get_command(app)
    for name in REPLICAS:
        _, command, *options = services[name]["command"]
        context = root.get_command(None, command).make_context(command, options)
        assert context.params["proxy"] == [facts["subnet"]]
    members = {
        name for name, one in services.items() if "front" in one.get("networks", ())
    }
    assert members == {*REPLICAS, "balancer"}
    assert services["balancer"]["networks"] == ["front"]  # it reaches no store
    before = services["balancer"]["environment"]["FAIRDASH_BEFORE"]
    assert before == facts["gateway"]


def adapted(file, folder):
    """Return what Caddy makes of its file, of the one site in it."""
    command = [
        installed_caddy(),
        "adapt",
        "--adapter",
        "caddyfile",
        "--config",
        str(file),
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    text = subprocess.run(command, env=environment, check=True, capture_output=True)
    (server,) = json.loads(text.stdout)["apps"]["http"]["servers"].values()
    assert server["listen"] == [":8501"]
    (route,) = server["routes"]
    (proxy,) = route["handle"]
    return proxy


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
    *commands, ours = installed
    assert len(commands) == 2
    assert all("--require-hashes --no-deps -r" in command for command in commands)
    assert "--no-deps --no-build-isolation" in ours
