from streamlit.testing.v1 import AppTest


def drawn(script):
    page = AppTest.from_function(script, default_timeout=60).run()
    assert not page.exception
    return page


def test_a_chip_is_coloured_only_if_the_change_is_certain():
    def script():
        from fairdash import _wording
        from fairdash.ui.widgets import blocks

        for card in (
            _wording.Kpi("A", "0.144", "0.092–0.199", delta="−0.076", good=True),
            _wording.Kpi("B", "0.144", delta="+0.076", good=False),
            _wording.Kpi("C", "65.1%", delta="−1.9 pt"),
            _wording.Kpi("D", "6,167", "85.5% of the file"),
        ):
            blocks.card(card)

    fair, worse, unsure, plain = (card.proto for card in drawn(script).metric)
    kind = type(fair)
    assert (fair.color, fair.direction) == (kind.GREEN, kind.DOWN)
    assert (worse.color, worse.direction) == (kind.RED, kind.UP)
    assert (unsure.color, unsure.direction) == (kind.GRAY, kind.DOWN)
    assert plain.delta == ""


def test_a_problem_shows_the_text_of_the_file_as_it_is():
    def script():
        from fairdash import ui

        ui.problem("a_b$ was not loaded", ValueError("cells of [x] and `c_d` differ"))

    (box,) = drawn(script).error
    assert box.proto.title == r"a\_b\$ was not loaded"
    assert box.value == r"cells of \[x\] and \`c\_d\` differ"


def test_a_picture_brings_its_own_words_and_numbers():
    def script():
        import pandas as pd
        import plotly.graph_objects as go

        from fairdash.plots import Picture
        from fairdash.ui.widgets import blocks

        picture = Picture(
            figure=go.Figure({"data": [{"y": [1, 2]}]}),
            headline="It doubles",
            alt="from 1 to 2",
            table=pd.DataFrame({"y": [1, 2]}),
            caption="Two values.",
        )
        blocks.figure(picture, caption="Of 9 models.", key="doubled")

    page = drawn(script)
    (chart,) = page.get("plotly_chart")
    assert chart.proto.alt == "from 1 to 2"
    assert [heading.value for heading in page.header] == ["It doubles"]
    assert [text.value for text in page.caption] == ["Two values. Of 9 models."]
    assert page.dataframe[0].value["y"].tolist() == [1, 2]
