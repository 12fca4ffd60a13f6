"""Names that would be markup reach no label of a widget as such."""

import re

import pytest
from toys import people

from fairdash import ui
from fairdash.datasets import Roles, ScoreColumn, Subgroups
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

MARK = "![x](http://evil.invalid)"
QUICK = {"n_epochs": 4, "batch_size": 128}
NAMES = {name: f"{name} {MARK}" for name in ("age", "branch", "origin", "hired", "p")}


@pytest.fixture
def marked(inline):
    """A table all of whose names are markup."""
    frame = people().assign(p=lambda one: one["skill"].rank(pct=True).round(3))
    frame["branch"] += f" {MARK}"
    frame = frame.rename(columns=NAMES)
    roles = Roles(
        target=NAMES["hired"],
        positive="yes",
        sensitive_feature=NAMES["origin"],
        features=(NAMES["age"], "skill", NAMES["branch"]),
        scores=(ScoreColumn(column=NAMES["p"], kind="probability"),),
        keep={NAMES["branch"]: tuple(sorted(frame[NAMES["branch"]].unique()))},
    )
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    columns = (NAMES["age"], NAMES["branch"])
    subgroups = Subgroups(columns=columns, widths={NAMES["age"]: 20}, min_size=20)
    return ui.store().add_dataset(table, roles, f"People {MARK}", subgroups)


def read_as_markup(page):
    """Return what of a page would be read as markup."""
    texts = []
    for kind in MARKDOWN:
        for element in page.get(kind):
            texts += [element.label if kind in LABELLED else element.value]
    for group in page.get("button_group"):
        texts += [option.content for option in group.proto.options]
    return [text for text in map(str, texts) if re.search(r"(?<!\\)\[x", text)]


LABELLED = (
    "button", "selectbox", "multiselect", "select_slider", "slider", "number_input",
    "text_input", "toggle", "button_group", "expander",
)  # fmt: skip
MARKDOWN = (*LABELLED, "markdown", "caption", "header", "error", "warning", "info")


@pytest.mark.parametrize("name", ["Data", "Local fairness", "Post-process"])
def test_a_name_is_read_as_markup_nowhere(visit, marked, name):
    start_training(marked, MethodGrid(method="unconstrained", params=QUICK), 1)
    page = visit(name, data=marked, searched="yes")
    assert not page.exception
    assert read_as_markup(page) == []
