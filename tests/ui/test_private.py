"""What pages use of Streamlit beyond its promise works as they need it."""

from streamlit import error_util
from streamlit.testing.v1 import AppTest


def test_what_a_page_raises_is_told_by_one_function_alone(monkeypatch):
    def page():
        import streamlit as st

        from fairdash.ui import private

        private.tell_errors_by(lambda ex: st.warning(f"told: {ex}"))
        raise RuntimeError("a path of the server")

    for name in ("_log_uncaught_app_exception", "show_uncaught_app_exception"):
        monkeypatch.setattr(error_util, name, getattr(error_util, name))
    run = AppTest.from_function(page).run()
    assert [box.value for box in run.warning] == ["told: a path of the server"]
    assert not run.exception


def test_the_main_part_is_the_page_also_inside_a_column():
    def page():
        import streamlit as st

        from fairdash.ui import private

        with st.columns(2)[0], private.main_part():
            st.write("over the whole page")

    run = AppTest.from_function(page).run()
    assert run.main.children[1].value == "over the whole page"


def test_polls_of_a_page_that_is_left_are_forgotten():
    def page():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from fairdash.ui import private

        @st.fragment(run_every=60)
        def poll():
            st.write("polled")

        poll()
        fragments = get_script_run_ctx().fragment_storage
        st.session_state["before"] = len(fragments._fragments)
        private.drop_polls()
        st.session_state["after"] = len(fragments._fragments)

    run = AppTest.from_function(page).run()
    assert (run.session_state["before"], run.session_state["after"]) == (1, 0)


def test_a_script_ends_without_an_error_before_its_last_line():
    def page():
        import streamlit as st

        from fairdash.ui import private

        st.write("first")
        private.end_script()
        st.write("last")

    run = AppTest.from_function(page).run()
    assert [words.value for words in run.markdown] == ["first"]
    assert not run.exception


def test_the_way_back_of_a_browser_is_told_from_a_link():
    def page():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from fairdash.ui import private

        by_link = private.went_back()
        get_script_run_ctx().is_history_navigation = True
        st.session_state["said"] = by_link, private.went_back()

    assert AppTest.from_function(page).run().session_state["said"] == (False, True)


def test_the_memory_of_an_uploaded_file_is_given_back():
    def page():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from fairdash.ui import private

        uploaded = st.file_uploader("A table")
        if uploaded is not None:
            context = get_script_run_ctx()

            def kept():
                files = context.uploaded_file_mgr
                return len(files.get_files(context.session_id, [uploaded.file_id]))

            before = kept()
            private.forget_upload(uploaded)
            st.session_state["kept"] = before, kept()

    run = AppTest.from_function(page).run()
    run.file_uploader[0].upload("people.csv", b"a,b", "text/csv").run()
    assert not run.exception
    assert run.session_state["kept"] == (1, 0)


def test_what_the_browser_shows_is_known_when_a_run_begins():
    def page():
        import streamlit as st

        from fairdash.ui import private

        st.session_state["seen"] = [private.is_shown("n", value) for value in (1, 3)]
        st.number_input("n", 0, 9, 1, key="n")

    run = AppTest.from_function(page).run()
    assert run.session_state["seen"] == [False, False]  # there was no field before
    run.number_input(key="n").set_value(3).run()
    assert run.session_state["seen"] == [False, True]


def test_what_a_page_wrote_is_known_until_a_run_has_sent_it():
    def page():
        import streamlit as st

        from fairdash.ui import private

        seen = st.session_state.setdefault("seen", [])
        seen.append(private.is_written("n"))
        if len(seen) == 1:
            st.session_state["n"] = 3
        st.number_input("n", 0, 9, key="n")
        if len(seen) == 1:
            st.rerun()

    run = AppTest.from_function(page).run().run()
    assert run.session_state["seen"] == [False, True, False]
