"""The parts of an answer that a page keeps as evidence, with and without a figure."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from fairdash.audits import Answer
from fairdash.audits.answer import Listing

TABLE = pd.DataFrame({"Group": ["a", "b"], "Rate": [0.25, 0.5]})


def _page(answer):
    from fairdash.ui.widgets.results import result_page

    page = result_page("bare")
    page.show(answer)
    page.evidence()


def opened(answer, *names):
    page = AppTest.from_function(_page, args=(answer,))
    page.query_params["opened"] = list(names)
    return page.run()


@pytest.mark.parametrize("parts", [{"table": Listing("Rates", TABLE)}, {"data": TABLE}])
def test_an_answer_without_a_figure_keeps_its_table_and_download(parts):
    page = opened(Answer("Nothing to draw.", **parts), "table")
    assert not page.exception
    (openers,) = page.get("button_group")
    assert openers.label == "Evidence"
    assert [len(page.dataframe), len(page.get("download_button"))] == (
        [1, 0] if "table" in parts else [0, 1]
    )


def test_an_answer_of_words_alone_offers_no_empty_evidence():
    page = opened(Answer("Nothing to draw."))
    assert not page.exception
    assert not page.get("button_group")


def _asked(values):
    import streamlit as st

    from fairdash.audits import Answer
    from fairdash.metrics import Finding
    from fairdash.ui.widgets.results import result_page

    value = st.selectbox("Gap", values)
    ends = value - 0.19, value + 0.19
    gap = Finding("selection_rate", None, "a", "b", value, *ends, 100, sure=True)
    page = result_page("asked")
    page.show(Answer(f"A gap of {value}.", difference=gap))
    page.evidence()


def test_how_sure_counts_the_questions_of_every_window_by_run(home):
    page = AppTest.from_function(_asked, args=([0.2, 0.21, 0.5],))
    page.query_params["run"] = "first"
    page.run()
    assert "different questions" not in shown(page)
    page.selectbox[0].select(0.21).run()
    assert "2 different questions were asked of these rows." in shown(page)
    assert "no longer sure" in shown(page)
    page.selectbox[0].select(0.5).run()
    assert "3 different questions" in shown(page)
    assert "stays sure" in shown(page)
    page.query_params["run"] = "other"
    assert "different questions" not in shown(page.run())
    refreshed = AppTest.from_function(_asked, args=([0.2, 0.21, 0.5],))
    refreshed.query_params["run"] = "first"
    assert "3 different questions" in shown(refreshed.run())
    assert "no longer sure" in shown(refreshed)


def shown(page):
    assert not page.exception
    return " ".join(text.value for text in page.markdown)
