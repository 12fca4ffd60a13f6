"""What docs/deploy says of containers is parsed, and its parts run without any."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import s3fs
import typer
import yaml
from conftest import free_port, wait_until, wait_until_no_engine
from toys import people_csv, specification

from fairdash.cli import app
from fairdash.jobs import queue
from fairdash.store import open_store

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
TLS = "/home/fairdash/tls"
AWS = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


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


def test_the_container_file_installs_what_there_is():
    known = dict(lines())
    assert list(dict.fromkeys(name for name, _ in lines())) == [
        "FROM", "RUN", "COPY", "USER", "WORKDIR", "ENV", "EXPOSE", "CMD"
    ]  # fmt: skip
    assert (ROOT / "constraints.txt").exists()
    project = (ROOT / "pyproject.toml").read_text()
    extras = re.search(r"/src\[([\w,]+)\]", (DEPLOY / "Containerfile").read_text())
    for extra in extras[1].split(","):
        assert f"\n{extra} = [" in project
    command = json.loads(known["CMD"])
    assert command[:2] == ["fairdash", "app"]
    assert known["USER"] != "root"


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


def test_the_worker_is_asked_for_as_the_shell_knows_it(services):
    shell, flag, line = services["worker"]["command"]
    assert (shell, flag) == ("sh", "-c")
    program, room, name, *options = shlex.split(
        line.replace("$$(hostname -i)", "10.0.0.6")
    )
    assert (program, room) == ("fairdash", "cluster")
    command = typer.main.get_command(app).get_command(None, room).commands[name]
    params = command.make_context(name, options).params
    address = services["app"]["environment"]["FAIRDASH_SCHEDULER"]
    assert (params["address"], params["host"]) == (address, "10.0.0.6")


SECRETS = """
[auth]
redirect_uri = "http://localhost/oauth2callback"
cookie_secret = "a long random text"
client_id = "fairdash"
client_secret = "known to both"
server_metadata_url = "http://localhost/.well-known/openid-configuration"
"""


def test_the_services_run_one_by_one_and_train_together(
    services, home, tmp_path, monkeypatch, new_database, s3_server
):
    pytest.importorskip("authlib", reason="a login needs streamlit[auth]")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS)
    home.mkdir(mode=0o700)
    (tmp_path / "people.csv").write_bytes(people_csv())

    # what is another host, folder or port in a container
    port, page = str(free_port()), str(free_port())
    here = {
        "scheduler:8786": f"127.0.0.1:{port}",
        "8786": port,
        TLS: str(tmp_path / "tls"),
        services["app"]["environment"]["FAIRDASH_DATABASE"]: new_database(),
        "http://files:7070": s3_server,
        "${STORES_PASSWORD:?}": "secret",
        "$$(hostname -i)": "127.0.0.1",
        "localhost:8501": f"localhost:{page}",
    }

    def placed(text):
        for there, mine in here.items():
            text = text.replace(there, mine)
        return text

    begun = []

    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, 15)

    def begin(name, *more):
        one = services[name]
        known = {k: placed(v) for k, v in one["environment"].items()}
        paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        command = [*map(placed, one["command"]), *more]
        log = tmp_path / f"{name}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(
                command,
                cwd=tmp_path,
                env={**os.environ, **known, "PATH": paths, "FAIRDASH_HOME": str(home)},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        begun.append(process)
        ends.callback(process.wait, 120)
        ends.callback(end, process)
        return lambda words: process.poll() is None and words in log.read_text()

    for name in ("FAIRDASH_DATABASE", "FAIRDASH_FILES", *AWS):
        monkeypatch.setenv(name, placed(services["app"]["environment"][name]))
    with ExitStack() as ends:
        ends.callback(s3fs.S3FileSystem.clear_instance_cache)
        for name in ("certificate", "certificate", "bucket"):  # as after a restart
            begin(name)
            assert not begun[-1].wait(90), (tmp_path / f"{name}.log").read_text()
        store = open_store(home)
        ends.callback(store.close)
        run = queue(store, specification(tmp_path / "people.csv"))
        said = begin("scheduler")
        wait_until(lambda: said(f":{port}"))
        said = begin("worker")
        wait_until(lambda: said(f"workers at tls://127.0.0.1:{port}"))
        begin("app", "--port", page)
        check = [placed(part) for part in services["app"]["healthcheck"]["test"]]
        assert check[:2] == ["CMD", "python"]
        check = [sys.executable, *check[2:]]
        quiet = subprocess.DEVNULL
        wait_until(lambda: not subprocess.run(check, stderr=quiet).returncode)
        wait_until(lambda: store.run(run).over)
        assert store.run(run).status == "finished", store.run(run).error
    wait_until_no_engine(home)
    assert not (home / "store.db").exists()
