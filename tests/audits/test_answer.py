"""A new question is a function of a few lines; every place renders its answer."""

import pandas as pd
from reading import ReportPage, figures, numbers, words
from streamlit.testing.v1 import AppTest

import fairdash
from fairdash._wording import Kpi, percent
from fairdash.audits import Answer, Drawing, Listing
from fairdash.cli._options import say
from fairdash.metrics import Finding, Speech, sentence
from fairdash.reports import blocks_of

OF_FIGURE = {
    "subgroup": "label",
    "ratio": "value",
    "ratio_low": "low",
    "ratio_high": "high",
}


def who_is_hired(rates):
    """Answer a question that no room of the package asks."""
    gap = Finding("selection_rate", None, "here", "there", -0.24, -0.3, -0.18)
    return Answer(
        sentence(gap, Speech("hired", feature="origin")),
        [Kpi("Largest share", percent(rates["ratio"].max()))],
        Drawing(
            "plot_limits",
            rates.rename(columns=OF_FIGURE).assign(limit=0.8, status="fail"),
            {"headline": "Both are below four fifths"},
        ),
        Listing("Who is hired", rates, "Shares of applicants."),
        "300 applicants.",
        difference=gap,
        facts=("People", "300 rows"),
        file="hired.csv",
        data=rates,
    )


RATES = pd.DataFrame(
    {
        "subgroup": ["East", "West"],
        "n": [20, 10],
        "ratio": [0.7, 0.3],
        "ratio_low": [0.6, 0.2],
        "ratio_high": [0.8, 0.4],
        "estimable": True,
        "reason": "",
    }
)
SAID = "origin: here is hired 24 points less often than origin: there (18 to 30)."


def page_of(answer):
    """A page declares the place of an answer and nothing else."""
    from fairdash import ui

    page = ui.result_page("hired")
    page.show(answer)
    page.evidence(first="table")


def test_a_page_renders_a_new_question(inline):
    answer = who_is_hired(RATES)
    page = AppTest.from_function(page_of, args=(answer,), default_timeout=60).run()
    assert not page.exception
    assert SAID in words(page)
    assert "People · 300 rows" in words(page)
    assert numbers(page) == {"Largest share": "70.0%"}
    assert figures(page) == 1
    pd.testing.assert_frame_equal(page.dataframe[-1].value, RATES)


def test_a_report_and_a_notebook_render_it():
    answer = who_is_hired(RATES)
    kinds = [block.kind for block in blocks_of(answer)]
    assert kinds == ["words", "cards", "figure"]
    page = ReportPage(fairdash.show(answer).page)
    assert SAID in page.texts["p"]
    assert [*page.table("Who is hired").index] == ["East", "West"]
    assert len(page.figures) == 1


def test_the_shell_prints_it_and_writes_its_numbers(tmp_path, capsys):
    say(who_is_hired(RATES), tmp_path / "hired.csv")
    printed = capsys.readouterr().out
    assert SAID in printed
    assert "East 20 0.700" in " ".join(printed.split())
    assert pd.read_csv(tmp_path / "hired.csv")["subgroup"].tolist() == ["East", "West"]
