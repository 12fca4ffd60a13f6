from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from fairdash.datasets import Subgroups
from fairdash.sweep import MethodGrid
from fairdash.ui.selection import Selection, entry, with_entry

names = st.text("abcdef0123456789", min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.10g}"))
selections = st.builds(
    Selection,
    run=st.none() | names,
    models=st.lists(names, max_size=4).map(tuple),
    seed=st.none() | st.integers(0, 99),
    method=st.just("road"),
    point=st.dictionaries(st.sampled_from(["tau", "slack", "fair_radius"]), names).map(
        lambda point: tuple(sorted(point.items()))
    ),
    k=st.none() | st.integers(1, 3),
    gamma=st.none() | numbers,
    slack=st.none() | numbers,
    form=st.none()
    | st.just(MethodGrid(method="road", params={"tau": 0.5, "n_epochs": 7})),
    target_rate=st.none() | st.sampled_from(["accuracy", "balanced", "0.25"]),
    subgroups=st.none()
    | st.just(Subgroups(columns=("age", "ü & ="), widths={"age": 5.0}, min_size=30)),
)


def as_lists(address):
    return {name: [v] if isinstance(v, str) else v for name, v in address.items()}


@given(selections)
def test_an_address_states_the_whole_selection(chosen):
    assert Selection.parse(as_lists(chosen.address())) == chosen


pieces = st.text("ab=% ", max_size=4)


@given(st.dictionaries(pieces, pieces), pieces, pieces)
def test_an_entry_is_set_and_the_others_stay(known, name, value):
    texts = ()
    for one, text in known.items():
        texts = with_entry(texts, one, text)
    texts = with_entry(texts, name, value)
    for one, text in {**known, name: value}.items():
        assert entry(texts, one) == text
    assert len(texts) == len({*known, name})
    assert entry(with_entry(texts, name, None), name) is None


@given(st.dictionaries(st.sampled_from(["k", "gamma", "subgroups", "seed"]), st.text()))
def test_a_value_of_another_type_is_dropped_and_the_rest_kept(address):
    chosen = Selection.parse({"run": ["1"]} | as_lists(address))
    assert chosen.run == "1"
    assert chosen.k is None or isinstance(chosen.k, int)
    assert chosen.gamma is None or abs(chosen.gamma) < float("inf")


def test_another_run_keeps_what_belongs_to_the_table():
    chosen = Selection(
        run="1", data="a", model="x", k=2, subgroups=Subgroups(columns=("age",))
    )
    same_table = chosen.of_run("2", "a")
    assert same_table == Selection(
        run="2", data="a", k=2, subgroups=Subgroups(columns=("age",))
    )
    assert chosen.of_run("3", "b") == Selection(run="3", data="b", k=2)


def page():
    import streamlit as st

    from fairdash.ui.selection import bound, selection

    k = st.radio("k", [1, 2, 3], **bound("k", 1, among=[1, 2, 3]))
    st.slider("gamma", 0.0, 1.0, **bound("gamma", 0.1))
    st.caption(f"{k} {selection().k}")


def test_a_widget_shows_the_address_and_writes_it_back():
    app = AppTest.from_function(page)
    app.query_params["gamma"] = "0.98"
    app.query_params["k"] = "7"
    app.run()
    assert app.slider[0].value == 0.98
    assert app.radio[0].value == 1
    app.radio[0].set_value(2).run()
    assert app.query_params["k"] == "2"
    assert app.query_params["gamma"] == "0.98"
    again = AppTest.from_function(page)
    for name, values in app.query_params.items():
        again.query_params[name] = values
    again.run()
    assert (again.radio[0].value, again.slider[0].value) == (2, 0.98)


def menu():
    import streamlit as st

    from fairdash.ui.selection import arrive, choose, menu_address, selection

    page, further = st.session_state["page"], st.session_state["further"]
    arrive(page)
    st.caption(str(selection().k))
    menu_address(page)
    if further:
        choose(k=further)  # as inside a fragment: the menu is not drawn again


def test_a_link_drawn_before_the_last_choice_leads_to_that_choice():
    app = AppTest.from_function(menu)

    def show(page, k, further=None):
        app.session_state["page"], app.session_state["further"] = page, further
        app.query_params.clear()
        app.query_params.update({"run": "1", "k": k})
        app.run()
        assert not app.exception
        return app.caption[0].value

    assert show("Sweep", "1", further=2) == "1"
    assert app.query_params["k"] == "2"
    assert show("Weights", "1") == "2"  # by the menu
    assert app.query_params == {"run": "1", "k": "2"}
    assert show("Weights", "1") == "1"  # Back, or typed
    assert show("Sweep", "3") == "3"
    assert show("Sweep", "1", further=2) == "1"
    assert show("Weights", "3") == "3"  # another link
