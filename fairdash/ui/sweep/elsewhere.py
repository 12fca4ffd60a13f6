"""Linked pictures of a sweep on other pages: fewer, and below the answer."""

from collections.abc import Sequence

from fairdash.audits import sweeps
from fairdash.ui.linked import draw_linked
from fairdash.ui.sweep.controls import go, limit_here, place_here
from fairdash.ui.widgets.blocks import heading
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.results import Evidence
from fairdash.ui.widgets.state import store

_HOW = """
The sliders go through all settings of the run; on release the page is of the setting
chosen. Grey is the plain model. Numbers are means over seeds, for the subgroups that
the run was measured with.
"""


def settings_evidence(run_id: str | None, shows: Sequence[str]) -> list[Evidence]:
    """Return the opener of the linked pictures; none where a run is no finished sweep.

    Parameters
    ----------
    shows : sequence of str
        The pictures, of `fairdash.linked.EVERY_PART`.
    """
    if run_id is None or not sweeps.can_be_shown(store(), run_id):
        return []
    return [Evidence("settings", "All settings", lambda: _draw(run_id, shows))]


def _draw(run_id: str, shows: Sequence[str]) -> None:
    sweep = sweeps.finished_sweep(store(), run_id, chosen_rule())
    assert sweep is not None, "the same models have finished by every rule"
    heading("All settings of the run", _HOW)
    limit, limited = limit_here(sweep)
    draw_linked(
        sweep,
        place_here(sweep, limit),
        limit=limit,
        limited=limited,
        shows=shows,
        on_place=lambda place: go(sweep, place),
    )
