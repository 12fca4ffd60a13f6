"""Every page after a default sweep, on tables made for it: what it says is so.

Three seeds, two methods beside the plain model, eight tables. ``FAIRDASH_WALK=all``
opens every page on every model of every sweep.
"""

from itertools import cycle

import pytest
from cases import THOROUGH
from walk_facts import PLAIN
from walk_rules import faults
from walk_tables import EVERY, FEW, TABLES

from fairdash.ui import pages

# Drift asks for another table
FIRST = [page.name for page in pages.pages() if page.pick and page != pages.DRIFT]
# pages that are opened on any model, and their tables in the sample
OF_MODELS = {"Sweep": "turned", "Local fairness": "sixty rows", "Train": "three groups"}
REMEDIES = [
    "Zhang λ 1",
    "Zhang λ 6",
    "ROAD λ 1 τ 0.1",
    "ROAD λ 1 τ 0.6",
    "ROAD λ 6 τ 0.1",
    "ROAD λ 6 τ 0.6",
]


def _on_tables():
    """Return each table with each page; in the sample each page is on one of few."""
    others = [name for name in TABLES if name not in FEW]
    for row, name in enumerate([*FEW, *others]):
        for column, page in enumerate(FIRST):
            in_sample = row == column % len(FEW)
            yield pytest.param(name, page, marks=() if in_sample else THOROUGH)


def _on_models():
    """Return a table, a page and a model for each case: all, or each once a table."""
    remedies = cycle(REMEDIES)
    for name in TABLES:
        for page, of_sample in OF_MODELS.items():
            marks = () if name == of_sample else THOROUGH
            for label in REMEDIES if EVERY else [next(remedies)]:
                yield pytest.param(name, page, label, marks=marks)


@pytest.mark.parametrize(("name", "page"), list(_on_tables()))
def test_a_page_says_what_is_so_when_it_is_opened(walk, name, page):
    through = walk(name)
    reading = through.read(page)
    assert reading.refusals == []
    assert faults(reading, through.facts) == []
    if reading.nothing:
        assert through.facts.label_of(reading.chip) == PLAIN


@pytest.mark.parametrize("name, page, label", list(_on_models()))
def test_a_page_says_what_is_so_of_any_model(walk, name, page, label):
    through = walk(name)
    reading = through.read(page, label)
    assert through.facts.label_of(reading.chip) == label
    assert faults(reading, through.facts) == []
