"""Findings in a notebook: the same numbers and figures."""

import html
import re

import numpy as np
from reading import ReportPage, value
from toys import people

import fairdash
from fairdash.reports import report


def page_in(shown):
    """Return the page in the frame that a notebook draws."""
    frame = shown._repr_html_()
    (inside,) = re.findall(r'<iframe title="fairdash" srcdoc="([^"]*)"', frame)
    return ReportPage(html.unescape(inside))


def test_an_audit_is_shown_with_its_numbers_and_figures():
    frame = people(900).assign(score=lambda t: 1 / (1 + np.exp(-t["skill"])))
    audit = fairdash.audit(
        (frame["hired"] == "yes").to_numpy(int),
        scores="score",
        sensitive_features="origin",
        subgroups=["branch"],
        frame=frame,
    )
    page = page_in(fairdash.show(audit))
    assert audit.verdict in page.texts["p"]
    table = page.table("Every measure by group")
    for name in ("here", "there"):
        gaps = [value(cell) for cell in table[name]]
        np.testing.assert_allclose(gaps, audit.table[name], atol=5e-4)
    assert len(page.figures) == 1
    inside = page.table("Every measure inside subgroups")
    gaps = [value(cell) for cell in inside["gap"]]
    np.testing.assert_allclose(gaps, audit.local["gap"], atol=5e-4)


def test_a_report_is_shown(swept):
    whole = report(*swept)
    titles = [tag for tag, _ in page_in(fairdash.show(whole)).headings if tag == "h2"]
    assert len(titles) == len(whole.sections)
