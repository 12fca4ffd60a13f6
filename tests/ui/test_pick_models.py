"""Widgets that choose models and subgroups show what the address states."""

from streamlit.testing.v1 import AppTest


def test_columns_stay_chosen_where_fewer_of_them_lower_the_limit():
    def page():
        from types import SimpleNamespace

        from fairdash.datasets import Subgroups
        from fairdash.ui.widgets.pick_models import subgroup_form

        columns = ("age", "branch", "origin", "skill", "town")
        dataset = SimpleNamespace(
            frame=dict.fromkeys((*columns, "hired")),
            roles=SimpleNamespace(target="hired"),
        )
        subgroup_form(dataset, Subgroups(columns=columns))

    run = AppTest.from_function(page).run()
    assert len(run.multiselect[0].value) == 5  # one more than a reader may cross
    fewer = ["age", "branch", "origin", "skill"]
    run.multiselect[0].set_value(fewer).run()
    assert not run.exception
    assert run.multiselect[0].value == fewer
