"""Fixtures shared by all tests: a home folder, a real engine."""

import gc
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa
from cases import EXAMPLES, SAMPLE_EXAMPLES
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

os.environ.setdefault("FAIRDASH_NICE", "2")  # training: after tests, but not starved
FUZZ = int(os.environ.get("FAIRDASH_FUZZ", "1"))  # times as many made-up inputs
BROWSER, WALK = Path("tests/browser"), Path("tests/walk")
WALKED = re.compile(r"\[([a-z ]+)")  # the table of a walk comes first
for profile, examples in (("thorough", EXAMPLES), ("sample", SAMPLE_EXAMPLES)):
    settings.register_profile(
        profile,
        deadline=None,  # a busy machine is no failure
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("thorough")


def pytest_configure(config):
    """Make up fewer examples where only a sample of cases is asked for."""
    if not _is_thorough(config):
        settings.load_profile("sample")


def _is_thorough(config):
    return "not thorough" not in config.option.markexpr


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Begin with the browser, which takes longest, and other long files.

    Engines must not wait beside the browser. Of a long file at the end one process
    would go on while the others wait.
    """
    first = f"{BROWSER}/", f"{WALK}/", "tests/test_docs.py"
    items.sort(key=lambda item: not item.nodeid.startswith(first))
    if not _is_thorough(config):
        check_sample(items)


def check_sample(items):
    """Raise where a test has no case in the sample: its claim would not be tried."""
    names, tried = set(), set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        names.add(name)
        if not item.get_closest_marker("thorough"):
            tried.add(name)
    if missed := sorted(names - tried):
        raise pytest.UsageError(f"no case of these is in the sample: {missed}")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let the garbage collector pass over what is imported: it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class _OneHome(LoadFileScheduling):
    """A file is one process's, and so is whatever shares a home folder.

    All files that drive the app in Chromium share one, and so do all walks through
    the sweep over a table, which is trained once.
    """

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        if BROWSER in Path(file).parents:
            return str(BROWSER)
        if WALK in Path(file).parents and (table := WALKED.search(nodeid)):
            return f"{WALK}/{table[1]}"
        return file


@pytest.hookimpl(optionalhook=True)  # `-p no:xdist` leaves it out
def pytest_xdist_make_scheduler(config, log):
    return _OneHome(config, log)


@pytest.fixture(scope="session", autouse=True)
def written_is_kept():
    """Leave to the kernel when a disk writes: no test takes the power away.

    The processes that a test starts wait for the disk as ever.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # of a descriptor, or it raises
        yield


@pytest.fixture(scope="session")
def thorough(request):
    """Whether all cases are asked for, and not a sample: for cases inside a test."""
    return _is_thorough(request.config)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home folder, named by the environment."""
    folder = tmp_path / "home"
    monkeypatch.setenv("FAIRDASH_HOME", str(folder))
    monkeypatch.setenv("FAIRDASH_WORKERS", "2")
    monkeypatch.setenv("FAIRDASH_LINGER", "0.5")
    # set, so that one that a test names is forgotten when it ends
    monkeypatch.setenv("FAIRDASH_SCHEDULER", "")
    monkeypatch.delenv("FAIRDASH_SCHEDULER")
    monkeypatch.delenv("FAIRDASH_DATABASE", raising=False)
    monkeypatch.delenv("FAIRDASH_FILES", raising=False)
    return folder


@pytest.fixture(scope="session")
def postgres_control():
    """A function that has a Postgres of our own "stop" or "start", and its address."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        if os.environ.get("CI") == "true":
            pytest.fail("postgresql is not installed, and CI must not skip it")
        pytest.skip("Debian's postgresql is not installed")
    folder, run = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp")), []
    if os.getuid() == 0:  # which Postgres refuses
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        run = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}"]
        run += ["--clear-groups"]
    options = f"-c listen_addresses= -k {folder} -c fsync=off -c max_connections=200"
    control = [*run, str(programs[-1] / "pg_ctl"), "-s", "-w", "-D", f"{folder}/data"]
    more = {
        "init": ["-o", "-A trust -U fair --no-sync"],
        "start": ["-l", str(folder / "log"), "-o", options],
        "stop": ["-m", "immediate"],
    }

    def go(verb):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*control, verb, *more[verb]], check=True, cwd=folder, **quiet)

    try:
        go("init")
        go("start")
        yield go, f"postgresql+psycopg://fair@/postgres?host={folder}"
    finally:
        go("stop")
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_server(postgres_control):
    """The address of a database of a Postgres of our own, reached by a socket file."""
    return postgres_control[1]


@pytest.fixture(scope="session")
def new_database(postgres_server):
    """A function that makes a database of the newest form and returns its address."""
    from fairdash.store._database import Database

    options = {"isolation_level": "AUTOCOMMIT", "pool_pre_ping": True}  # it may restart
    server = sa.create_engine(postgres_server, **options)
    numbers = count()

    def make(template="form"):
        name = f"fair{next(numbers)}"
        with server.connect() as link:
            link.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        made = sa.make_url(postgres_server).set(database=name)
        return made.render_as_string(hide_password=False)

    form = sa.make_url(make("template0"))
    with tempfile.TemporaryDirectory() as folder:
        Database(Path(folder), form.render_as_string()).close()
    with server.connect() as link:
        link.execute(sa.text(f"ALTER DATABASE {form.database} RENAME TO form"))
    yield make
    server.dispose()


@pytest.fixture
def postgres(home, new_database, monkeypatch):
    """A home folder whose database is a Postgres."""
    monkeypatch.setenv("FAIRDASH_DATABASE", new_database())
    return home


@pytest.fixture(scope="session")
def s3_server():
    """The address of an S3-compatible server on this machine."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server, monkeypatch):
    """The address of an empty bucket, which the environment leads to."""
    import s3fs

    name = f"bucket-{uuid4().hex}"
    variables = {"AWS_ACCESS_KEY_ID": "fair", "AWS_SECRET_ACCESS_KEY": "dash"}
    variables |= {"AWS_ENDPOINT_URL": s3_server, "AWS_DEFAULT_REGION": "us-east-1"}
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    s3fs.S3FileSystem.clear_instance_cache()  # one may be of a test without a login
    files = s3fs.S3FileSystem(use_listings_cache=False)
    files.mkdir(name)
    yield f"s3://{name}/fair"
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def inline(home, monkeypatch):
    """A home folder whose runs are trained in this process: for AppTest."""
    monkeypatch.setenv("FAIRDASH_INLINE", "1")
    # an estimate on a page is the same a second later
    monkeypatch.setattr("fairdash.audits.pace.Pace.slower", lambda pace: 1.0)
    _forget_resources()
    yield home
    _forget_resources()


@pytest.fixture(scope="session")
def trained_homes():
    """Copies of homes, and the run in each, by what was trained in them."""
    return {}


@pytest.fixture
def train_once(inline, trained_homes, tmp_path_factory):
    """Return a function that trains; what an earlier test trained alike is copied."""

    def go(store, train, *arguments, **options):
        if store.runs():
            return train(*arguments, **options)
        there = [(record.id, record.subgroups) for record in store.datasets()]
        key = repr((train.__qualname__, there, arguments, options))
        if key in trained_homes:
            run, source, target = *trained_homes[key], inline
        else:
            run = train(*arguments, **options)
            source, target = inline, tmp_path_factory.mktemp("trained")
            trained_homes[key] = run, target
        store.close()  # the database is one file then
        locks = shutil.ignore_patterns("*.lock")
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=locks)
        return run

    return go


def wait_until(condition, seconds=180):
    """Wait until ``condition()`` holds; fail after ``seconds``."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)


def end_runs(home):
    """Ask for the end of all open runs; an engine stays as long as there is one."""
    from fairdash.store import open_store

    store = open_store(home)
    for run in store.open_runs():
        store.ask_cancel(run.id)
    store.close()


def wait_until_no_engine(home):
    """Wait until the host of a home folder, and so all its workers, have ended."""
    from fairdash.jobs.engine import engine_lives

    wait_until(lambda: not engine_lives(home))


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_healthy(port):
    """Tell whether the app answers on ``port``."""
    address = f"http://127.0.0.1:{port}/ready"
    try:
        with urllib.request.urlopen(address, timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False


def _forget_resources():
    streamlit = sys.modules.get("streamlit")
    if streamlit is not None:
        streamlit.cache_resource.clear()
