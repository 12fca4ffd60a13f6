"""Fixtures shared by all tests: a home folder, a real engine."""

import fcntl
import gc
import hashlib
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
from contextlib import closing, contextmanager
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
BROWSER = Path("tests/browser")
WALK = Path("tests/walk")
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
    if _is_thorough(config):
        mark_inner_cases(items)
    else:
        check_sample(items)


def check_sample(items):
    """Raise where a test has no case in the sample: its claim would not be tried."""
    names = set()
    tried = set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        names.add(name)
        if not item.get_closest_marker("thorough"):
            tried.add(name)
    if missed := sorted(names - tried):
        raise pytest.UsageError(f"no case of these is in the sample: {missed}")


def mark_inner_cases(items):
    """Mark tests whose cases are inside of them: each has more beyond the sample.

    Hypothesis makes up inputs of a test, or its cases follow from ``thorough``.
    """
    for item in items:
        made_up = getattr(item.obj, "is_hypothesis_test", False)
        if made_up or "thorough" in item.fixturenames:
            item.add_marker("thorough")


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


@pytest.fixture(scope="session")
def times(thorough):
    """Return a function: how often a sample does what all cases do so many times."""

    def go(n, share=0.3):
        return n if thorough else round(share * n)

    return go


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
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    run = []
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
        url = sa.make_url(postgres_server).set(database=name)
        return url.render_as_string(hide_password=False)

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


class KeptHomes:
    """Home folders with a run each, that one test makes and others copy.

    They lie in a folder that all processes of a test run share.
    """

    def __init__(self, folder):
        self._folder = folder

    def run_in(self, home, key, make):
        """Have a run in a home folder: copied, or made and kept for whoever is next.

        Parameters
        ----------
        key : str
            What was made: homes of one key are alike.
        make : callable
            Makes the run in ``home``, closes its store, and returns the run's id.
        """
        kept = self._folder / hashlib.sha256(key.encode()).hexdigest()[:16]
        kept.mkdir(exist_ok=True)
        with _locked(kept / "lock"):
            if (kept / "run").exists():
                _copy_home(kept / "home", home)
                return (kept / "run").read_text()
            run = make()
            _copy_home(home, kept / "home")
            (kept / "run").write_text(run)
        return run


@contextmanager
def _locked(path):
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a forked process may have the file too


def _copy_home(source, target):
    locks = shutil.ignore_patterns("*.lock")
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=locks)


@pytest.fixture(scope="session")
def kept_homes(tmp_path_factory):
    """The homes of this test run."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # of all workers
    folder = shared / "kept"
    folder.mkdir(exist_ok=True)
    return KeptHomes(folder)


@pytest.fixture
def train_once(inline, kept_homes):
    """Return a function that trains; what an earlier test trained alike is copied."""

    def go(store, train, *arguments, **options):
        if store.runs():
            return train(*arguments, **options)
        prepared = [(record.id, record.subgroups) for record in store.datasets()]

        def make():
            run = train(*arguments, **options)
            store.close()  # the database is one file then
            return run

        store.close()  # another database may take the place of this one
        name = train.__module__, train.__qualname__
        key = repr((name, prepared, arguments, options))
        return kept_homes.run_in(inline, key, make)

    return go


@pytest.fixture(scope="session")
def swept_home(kept_homes):
    """Return a function that puts the sweep over a table of the walk into a home."""
    from walk_tables import TABLES, add_walk_table, sweep_table

    from fairdash.store import open_store

    def go(name, home):
        table = TABLES[name]

        def make():
            with closing(open_store(home)) as store:
                return sweep_table(store, add_walk_table(store, table), table.limit)

        return kept_homes.run_in(home, f"walk {name}", make)

    return go


@pytest.fixture(scope="session")
def finished_sweep(kept_homes):
    """Return a function that puts the finished sweep of a sample into a home folder.

    It unpacks the file that comes with the sample, once for all tests.
    """
    from fairdash.jobs import finished_file, unpack_runs
    from fairdash.store import open_store

    def go(name, home):
        def make():
            with closing(open_store(home)) as store:
                (run,), _ = unpack_runs(store, finished_file(name))
            return run

        return kept_homes.run_in(home, f"finished {name}", make)

    return go


def wait_until(condition, seconds=180, *, pause=0.1):
    """Wait until ``condition()`` holds; fail after ``seconds``.

    It is asked every ``pause`` seconds: seldom where asking itself takes a while.
    """
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(pause)


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
