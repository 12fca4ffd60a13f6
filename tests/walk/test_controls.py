"""Every control of every page, set to other values: what the page then says is so.

A walk begins where a page opens and sets its controls one after the other, in an order
and to values drawn by a seed, so that each acts on a state that others left. By default
a page is walked on one table; ``FAIRDASH_WALK=all`` walks each on all, from the opened
state as well, and sets each control to several values.
"""

from itertools import cycle
from zlib import crc32

import numpy as np
import pytest
from walk_reading import Reading
from walk_rules import faults
from walk_steps import controls, steps
from walk_tables import EVERY, TABLES

from fairdash.ui import pages

PAGES = [page.name for page in pages.pages() if page.pick]
# steps of a walk: controls that appear on the way are set as well
_MOST = 40
_MOST_OF_A_SAMPLE = 4


def _walks():
    """Return table and page of each walk: all, or each page once."""
    names = cycle(["three groups", "turned", "counts"])
    for page in PAGES:
        for name in TABLES if EVERY else [next(names)]:
            yield name, page


def _drawn(*names):
    return np.random.default_rng(crc32(" ".join(names).encode()))


def _faults_after(page, name, facts, step):
    """Take a step; return what is wrong after it."""
    step.take(page)
    reading = Reading.of(name, page)
    wrong = faults(reading, facts)
    if not reading.refusals and not step.holds(page):
        wrong.append(f"{step} does not stay")
    return wrong


@pytest.mark.parametrize("name, page", list(_walks()))
def test_a_page_says_what_is_so_whatever_its_controls_are_set_to(
    walk, name, page, thorough
):
    through = walk(name)
    rng = _drawn(name, page)
    state = through.open(page)
    path = []
    tried = set()
    for _ in range(_MOST if thorough else _MOST_OF_A_SAMPLE):
        remaining = [item for item in controls(state) if item not in tried]
        if not remaining:
            break
        control = remaining[rng.integers(len(remaining))]
        tried.add(control)
        for step in steps(state, *control, rng):
            path.append(str(step))
            wrong = _faults_after(state, page, through.facts, step)
            assert wrong == [], " · ".join(path)
            if state.error:  # of what cannot be asked: the way out is another road
                state = through.open(page)
                path = []


@pytest.mark.skipif(not EVERY, reason="FAIRDASH_WALK=all takes each step by itself")
@pytest.mark.parametrize("name, page", list(_walks()) if EVERY else [])
def test_a_page_says_what_is_so_after_any_one_step(walk, name, page):
    through = walk(name)
    rng = _drawn(page, name)
    opened = through.open(page)
    wrong = {}
    for control in controls(opened):
        for step in steps(opened, *control, rng, most=4):
            state = through.open(page)
            if not step.is_offered(state):  # Data keeps what was chosen before
                continue
            if problems := _faults_after(state, page, through.facts, step):
                wrong[str(step)] = problems
    assert wrong == {}
