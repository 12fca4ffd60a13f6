"""What a bundle says of a sweep is drawn only if it has the form of that sweep."""

import json
import zlib

import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st
from toys import people, train_sweep

from fairdash.audits import linked, linked_form, sweeps
from fairdash.store import open_store

WRONG = ["", "text", -0.5, 1.5, -1, 10**9, 1e308, None, True, [], {}, [[]], "\ud800"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A sweep and what was measured of it, as plain JSON."""
    store = open_store(tmp_path_factory.mktemp("form") / "home")
    run = train_sweep(store, people(600), "Form", subgroups=("branch", "age"))
    sweep = sweeps.finished_sweep(store, run)
    linked.summary(sweep)
    (content,) = store.summaries(run).values()
    yield sweep, json.loads(zlib.decompress(content))
    store.close()


def read(sweep, changed):
    content = zlib.compress(json.dumps(changed).encode())
    return linked_form.form_of(content, sweep)


def leaves(value, path=()):
    """Yield the way to every place of a JSON value."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    if isinstance(value, dict | list):
        for key, entry in entries:
            if isinstance(entry, dict | list):
                yield from leaves(entry, (*path, key))
            else:
                yield (*path, key)


def with_other(value, path, new):
    copied = json.loads(json.dumps(value))
    parent = copied
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = new
    return copied


def test_what_was_measured_is_read_as_it_is(made):
    sweep, measured = made
    form = read(sweep, measured)
    assert form.model_dump(mode="json") == measured


@examples(60)
@given(data=st.data())
def test_a_value_of_another_kind_is_refused_or_one_that_a_picture_can_draw(made, data):
    sweep, measured = made
    path = data.draw(st.sampled_from([way for way in leaves(measured) if way]))
    new = data.draw(st.sampled_from(WRONG))
    form = read(sweep, with_other(measured, path, new))
    if form is not None:
        n_groups = 2
        n_places = len(form.subgroups)
        assert len(form.settings) == len(sweep.result.means)
        for setting in form.settings:
            assert [len(row) for row in setting.rates] == [n_groups] * n_places
            assert len(setting.local) == len(setting.against) == n_places


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("version",), linked_form.VERSION - 1),
        (("subgroups", 0), "a subgroup of another table"),
        (("settings", 0), None),
        (("settings", 0, "local"), []),
        (("settings", 0, "against", 0), 2),
        (("settings", 0, "rates", 0), [0.5]),
        (("settings", 0, "chance"), -0.1),
        (("settings", 0, "weights"), {"first_bin": 0}),
        (("n_test",), 10**6),
    ],
)
def test_what_does_not_fit_the_sweep_is_refused(made, path, new):
    sweep, measured = made
    assert read(sweep, with_other(measured, path, new)) is None


def test_weights_of_a_method_without_and_too_many_bins_are_refused(made):
    sweep, measured = made
    methods = sweep.result.means["method"].tolist()
    weights = measured["settings"][methods.index("road")]["weights"]
    plain = ("settings", methods.index("unconstrained"), "weights")
    assert read(sweep, with_other(measured, plain, weights)) is None
    road = ("settings", methods.index("road"), "weights")
    wide = {**weights, "density": [[0.1] * 51] * 2}
    assert read(sweep, with_other(measured, road, wide)) is None
    assert read(sweep, with_other(measured, road, {**weights, "first_bin": 50})) is None


def test_what_is_no_compressed_json_is_refused(made):
    sweep, measured = made
    text = json.dumps(measured).encode()
    for content in (b"", b"text", zlib.compress(text)[:-9], zlib.compress(b"[1,")):
        assert linked_form.form_of(content, sweep) is None
    bomb = zlib.compress(text[:-1] + b" " * (17 << 20) + b"}")
    assert linked_form.form_of(bomb, sweep) is None


def test_a_summary_that_does_not_fit_is_measured_anew_and_takes_its_place(made):
    sweep, measured = made
    store = sweep.store
    run = sweep.run.id
    expected = linked.summary(sweep)
    ((name, stored),) = store.summaries(run).items()
    store.delete_summary(run, name)
    broken = with_other(measured, ("settings", 0, "local"), [])
    store.keep_summary(run, name, zlib.compress(json.dumps(broken).encode()))
    assert linked.summary(sweep) == expected
    assert store.summaries(run) == {name: stored}
