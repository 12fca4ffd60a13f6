from hypothesis import given
from hypothesis import strategies as st
from streamlit.elements.lib import policies
from streamlit.testing.v1 import AppTest
from toy_fields import ToyFields

from fairdash.datasets import Subgroups
from fairdash.sweep import MethodGrid
from fairdash.ui import selection
from fairdash.ui.selection import SharedFields, entry, stated, with_entry, with_run

names = st.text("abcdef0123456789", min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.10g}"))


chosen_fields = st.fixed_dictionaries(
    {
        "run": st.none() | names,
        "models": st.lists(names, max_size=4).map(tuple),
        "seed": st.none() | st.integers(0, 99),
        "subgroups": st.none()
        | st.just(
            Subgroups(columns=("age", "ü & ="), widths={"age": 5.0}, min_size=30)
        ),
        "k": st.none() | st.integers(1, 3),
        "gamma": st.none() | numbers,
        "form": st.none()
        | st.just(MethodGrid(method="road", params={"tau": 0.5, "n_epochs": 7})),
    }
)


@given(chosen_fields)
def test_an_address_states_what_every_page_and_what_one_page_lets_choose(chosen):
    address = stated(**chosen)
    fields = vars(SharedFields.read(address)) | vars(ToyFields.read(address))
    assert {name: fields[name] for name in chosen} == chosen


pieces = st.text("ab=% ", max_size=4)


@given(st.dictionaries(pieces, pieces), pieces, pieces)
def test_an_entry_is_set_and_the_others_stay(entries, name, value):
    texts = ()
    for entry_name, text in entries.items():
        texts = with_entry(texts, entry_name, text)
    texts = with_entry(texts, name, value)
    for entry_name, text in {**entries, name: value}.items():
        assert entry(texts, entry_name) == text
    assert len(texts) == len({*entries, name})
    assert entry(with_entry(texts, name, None), name) is None


def test_another_run_keeps_what_belongs_to_the_table():
    table = Subgroups(columns=("age",))
    before = stated(run="1", data="a", model="x", person=3, k=2, subgroups=table)
    assert with_run(before, "2", "a") == stated(run="2", data="a", k=2, subgroups=table)
    assert with_run(before, "3", "b") == stated(run="3", data="b", k=2)


def page():
    import streamlit as st
    from toy_fields import ToyFields

    from fairdash.ui.selection import bound

    k = st.radio("k", [1, 2, 3], **bound("k", 1, among=[1, 2, 3]))
    st.slider("gamma", 0.0, 1.0, **bound("gamma", 0.1))
    st.caption(f"{k} {ToyFields.here().k}")


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


def test_a_click_made_before_the_last_choice_arrived_does_not_undo_it(monkeypatch):
    app = AppTest.from_function(page).run()
    app.radio[0].set_value(2).run()
    app.query_params.clear()  # the browser has not heard of it
    app.slider[0].set_value(0.5).run()
    assert (app.radio[0].value, app.slider[0].value) == (2, 0.5)
    assert app.caption[0].value == "2 2"
    assert app.query_params == {"k": "2", "gamma": "0.5"}
    monkeypatch.setattr(selection.private, "went_back", lambda: True)
    app.query_params.clear()
    app.run()
    assert (app.radio[0].value, app.slider[0].value) == (1, 0.1)


def menu():
    import streamlit as st
    from toy_fields import ToyFields

    from fairdash.ui.selection import arrive, choose, menu_address

    page = st.session_state["page"]
    further = st.session_state["further"]
    arrive(page)
    st.caption(str(ToyFields.here().k))
    menu_address(page)
    if further:
        choose(k=further)  # as inside a fragment: the menu is not drawn again


def test_a_link_drawn_before_the_last_choice_leads_to_that_choice(monkeypatch):
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
    with monkeypatch.context() as patch:
        patch.setattr(selection.private, "went_back", lambda: True)
        assert show("Weights", "1") == "1"
    assert show("Sweep", "3") == "3"
    assert show("Sweep", "1", further=2) == "1"
    assert show("Weights", "3") == "3"  # another link


def test_a_value_is_sent_to_the_browser_only_until_it_shows_it(monkeypatch):
    # whether Streamlit has warned of a value that is written and an argument, too
    monkeypatch.setattr(policies, "_shown_default_value_warning", False)

    def page():
        import streamlit as st
        import toy_fields  # noqa: F401  declares the field "k"

        from fairdash.ui.selection import bound

        st.number_input("k", 0, 9, **bound("k", 1, by_value=True))
        if st.query_params.get("k") == "5" and "again" not in st.session_state:
            st.session_state["again"] = True
            st.rerun()  # before the browser has heard of the new value

    def look(run):
        field = run.run().number_input[0]
        return field.value, field.proto.set_value

    run = AppTest.from_function(page)
    assert look(run) == (1, False)
    run.query_params["k"] = "3"
    assert look(run) == (3, True)
    assert look(run) == (3, False)
    run.query_params["k"] = "5"
    assert look(run) == (5, True)
    assert look(run) == (5, False)
    assert not policies._shown_default_value_warning
