"""What an operator measures: what is counted, who may read it, and no user's word."""

import httpx2
import loops
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from toys import people_csv, specification

from fairdash import box
from fairdash.jobs import engine, queue
from fairdash.jobs._serve import _announce
from fairdash.server import metrics
from fairdash.server.door import Door, Rules
from fairdash.server.limits import Limits
from fairdash.server.login import Login
from fairdash.server.meters import METRICS, Meters, read_token
from fairdash.server.metrics import Metrics
from fairdash.store import Homes, StoreError, open_store

TOKEN = "0123456789abcdef"
OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0"}
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}", **OPENMETRICS}
USER = "0123456789abcdef"  # the name of a home
TABLE = "hiring of Ann.csv"


@pytest.fixture
def store(home, tmp_path):
    """A server with an open run, and one of a user."""
    (tmp_path / TABLE).write_bytes(people_csv())
    store = open_store(home)
    queue(store, specification(tmp_path / TABLE), name="secret plans")
    of_user = open_store(home / "users" / USER)
    queue(of_user, specification(tmp_path / TABLE), name="plans of a user")
    Homes.mark(of_user)
    of_user.close()
    yield store
    store.close()


def front(store, meters, **rules):
    """Return the metrics behind a door."""
    route = Route(METRICS, Metrics(meters, store).answer)
    options = (Rules(**rules), store.sessions(), Limits(1000), meters)
    return Starlette(routes=[route], middleware=[Middleware(Door, *options)])


def get(app, path=METRICS, host="localhost", **headers):
    async def ask():
        transport = httpx2.ASGITransport(app=app)
        address = f"http://{host}"
        async with httpx2.AsyncClient(transport=transport, base_url=address) as client:
            return await client.get(path, headers=headers)

    return loops.run(ask())


def samples(text):
    """Return the value of each sample by its name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_stranger_is_refused_and_the_operator_asks_by_a_token(store):
    meters = Meters()
    login = Login("http://localhost", "a long random text")
    app = front(store, meters, login=login, hosts=("localhost",), metrics_token=TOKEN)
    for wrong in ("", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer "):
        refused = get(app, Authorization=wrong)
        assert (refused.status_code, refused.text) == (401, "Log in first.\n")
    # a probe of another machine, and by no other path
    assert get(app, host="10.0.0.7:8501", **WITH_TOKEN).status_code == 200
    assert get(app, path="/metrics/", **WITH_TOKEN).status_code == 401
    assert get(app, host="10.0.0.7:8501").status_code == 403
    # without a token of the operator none is one
    closed = front(store, Meters(), login=login)
    assert get(closed, Authorization="Bearer ").status_code == 401


def test_a_token_that_can_be_guessed_is_refused(monkeypatch):
    monkeypatch.delenv("FAIRDASH_METRICS_TOKEN", raising=False)
    assert read_token() == ""
    monkeypatch.setenv("FAIRDASH_METRICS_TOKEN", TOKEN)
    assert read_token() == TOKEN
    monkeypatch.setenv("FAIRDASH_METRICS_TOKEN", TOKEN[:-1])
    with pytest.raises(ValueError, match="has 15 characters; give it at least 16"):
        read_token()


def test_the_numbers_are_those_of_all_homes_and_hold_no_word_of_a_user(store):
    text = get(front(store, Meters()), **OPENMETRICS).text
    values = samples(text)
    assert text.endswith("# EOF\n")
    assert values["fairdash_store_up",] == 1
    assert values["fairdash_open_runs",] == 2
    n_models = store.queue().models
    assert n_models > 1
    assert values["fairdash_open_models",] == 2 * n_models
    assert values["fairdash_engine_up",] == 0
    assert 0 < values["fairdash_disk_free_bytes",] <= values["fairdash_disk_bytes",]
    assert values["process_resident_memory_bytes",] > 0
    for word in (USER, "Ann", "plans", "sex", "Female", str(store.home)):
        assert word not in text


def test_plain_text_is_given_to_who_accepts_no_other(store):
    answer = get(front(store, Meters()), Accept="*/*")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "fairdash_store_up 1.0\n" in answer.text
    assert "# EOF" not in answer.text


def test_the_engine_says_what_it_trains_and_how_models_ended(store):
    training = {"/abc": 2, f"{USER}/def": 1}
    ended = {"finished": 5, "failed": 1}
    _announce(store.root, "tcp://localhost:1", 4, training, ended, 1000.0)
    with engine.take(store.root / engine.ENGINE):
        text = get(front(store, Meters()), **OPENMETRICS).text
    values = samples(text)
    assert USER not in text
    assert values["fairdash_engine_up",] == 1
    assert values["fairdash_worker_threads",] == 4
    assert values["fairdash_training_models",] == 3
    assert values["fairdash_models_total", "finished"] == 5
    assert values["fairdash_models_total", "failed"] == 1


def test_a_store_that_fails_is_said_and_the_rest_is_there(store, monkeypatch, caplog):
    def fail():
        raise StoreError("The database /srv/secret is damaged.")

    monkeypatch.setattr(store, "queue", fail)
    text = get(front(store, Meters()), **OPENMETRICS).text
    values = samples(text)
    assert values["fairdash_store_up",] == 0
    assert ("fairdash_open_runs",) not in values
    assert values["fairdash_disk_bytes",] > 0
    assert "secret" not in text
    assert "/srv/secret" in caplog.text


def test_the_store_is_asked_once_in_some_seconds(store, monkeypatch):
    looks = []
    moment = 100.0
    count = store.queue
    monkeypatch.setattr(store, "queue", lambda: looks.append(1) or count())
    monkeypatch.setattr(metrics, "monotonic", lambda: moment)
    app = front(store, Meters())
    formats = [f"application/openmetrics-text;version=1.{n}.0" for n in range(3)]
    for seconds, n_looks in ((0, 1), (4, 1), (2, 2)):
        moment += seconds
        for accepted in formats:  # whatever version is asked for
            assert get(app, Accept=accepted).status_code == 200
        assert len(looks) == n_looks


def test_a_window_counts_while_it_is_open_and_its_releases_are_timed():
    meters = Meters()

    def count(name, **labels):
        return meters.registry.get_sample_value(name, labels)

    def rerun(*, poll=False):
        message = BackMsg()
        message.rerun_script.is_auto_rerun = poll
        return {"type": "websocket.receive", "bytes": message.SerializeToString()}

    def finish(status):
        message = ForwardMsg(script_finished=status)
        return {"type": "websocket.send", "bytes": message.SerializeToString()}

    done = finish(ForwardMsg.FINISHED_SUCCESSFULLY)
    with meters.window() as window:
        assert count("fairdash_sessions") == 1
        window.send(done)  # which nothing asked for
        for message in ({"bytes": b"no message"}, {"text": "word"}, rerun(), rerun()):
            assert window.receive(message) is message
        window.send({"bytes": b"\xff" * 20})
        window.send(finish(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
        assert count("fairdash_release_seconds_count", kind="release") is None
        window.send(done)
        window.send(done)
        assert count("fairdash_release_seconds_count", kind="release") == 1
        window.receive(rerun(poll=True))
        window.send(finish(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
        assert count("fairdash_release_seconds_count", kind="poll") == 1
    assert count("fairdash_sessions") == 0


def test_uses_of_the_box_are_counted_by_how_they_end():
    before = box.uses()
    box.confinement()
    after = box.uses()
    assert after == before | {"answered": before["answered"] + 1}
    with pytest.raises(box.Ended):
        box.run("fairdash.no_module:task", b"")
    assert box.uses() == after | {"ended": after["ended"] + 1}
