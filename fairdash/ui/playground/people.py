"""The people of a scene in this session: those that the scene draws, or the reader."""

from dataclasses import dataclass
from typing import Any, Self

import streamlit as st

from fairdash.audits import playground
from fairdash.datasets import Roles, Subgroups
from fairdash.ui import pages
from fairdash.ui.selection import Fields, bound, choose
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store

_DRAWN = "playground people"  # of the session: by scene, what was drawn last
_ALL = 100  # per cent
_LARGEST = 200  # per cent of group B as it is


@dataclass(frozen=True)
class ChangeFields(Fields):
    """Changes of the people in the address, in per cent."""

    # The size of group B, which links of earlier versions could only make smaller.
    remaining_b: int | None = None
    wrong_outcomes: int | None = None
    wrong_records: int | None = None


@dataclass(frozen=True)
class DrawnPeople:
    """People of a scene, and how many edits of this session they come after.

    ``is_drawn`` tells whether a reader drew them: to go back to those of the scene is
    an edit, too, after which they are the scene's.
    """

    scene: playground.Scene
    people: playground.People
    edit: int
    is_drawn: bool

    @classmethod
    def of(cls, scene: playground.Scene) -> Self:
        """Return the people of a scene as session and address have them."""
        drawn, edit = st.session_state.get(_DRAWN, {}).get(scene.key, (None, 0))
        people = scene.people() if drawn is None else drawn
        chosen = ChangeFields.here()
        changed = people.changed(
            size_of_b=_share(chosen.remaining_b, 1.0, most=_LARGEST),
            wrong_outcomes=_share(chosen.wrong_outcomes, 0.0),
            wrong_records=_share(chosen.wrong_records, 0.0),
        )
        return cls(scene, changed, edit, is_drawn=drawn is not None)

    def take(self, fields: Any) -> None:
        """Make people that a browser has drawn those of the scene.

        They hold what was changed in the address, which therefore goes. Fields that no
        browser of ours sends change nothing.
        """
        if (
            self.people.axes
            or not isinstance(fields, dict)
            or not isinstance(fields.get("edit"), int)
        ):
            return
        try:
            people = playground.People.drawn(fields)
        except ValueError:
            return
        self._keep(people, fields["edit"])
        choose(remaining_b=None, wrong_outcomes=None, wrong_records=None)

    def _keep(self, people: playground.People | None, edit: int) -> None:
        """Keep what is drawn of the scene in this session; None is the scene itself."""
        drawn = st.session_state.get(_DRAWN, {})
        st.session_state[_DRAWN] = {**drawn, self.scene.key: (people, edit)}

    def offer(self) -> None:
        """Draw what can be done with the people: change, restore, take along."""
        with st.container(horizontal=True):
            with st.popover("Change the people"):
                _change_sliders()
            if self.is_drawn and st.button("Back to the people of the scene"):
                self._keep(None, self.edit + 1)
                st.rerun(scope="fragment")
            if not self.people.axes and st.button(
                "Take this table along",
                help="Makes a data set of these people, on which all pages work.",
            ):
                take_along(self.people, f"Playground: {self.scene.title.lower()}")


def take_along(people: playground.People, name: str) -> None:
    """Keep people as a data set of the app and open it on Data.

    Its subgroups are the quarters of the plane.
    """
    across, up, group, outcome = playground.COLUMNS
    roles = Roles(
        target=outcome,
        positive="1",
        sensitive_feature=group,
        features=(across, up),
        subgroup_columns=(across, up),
    )
    quarters = Subgroups(columns=(across, up), cuts={across: (0.0,), up: (0.0,)})
    digest = store().add_frame(people.table(), f"{name}.parquet")
    dataset = store().add_dataset(digest, roles, name, quarters)
    open_page(pages.DATA, data=dataset)


def _change_sliders() -> None:
    sizes = range(5, _LARGEST + 1, 5)
    st.slider(
        "Size of group B (%)",
        5,
        _LARGEST,
        step=5,
        help="100 is group B as it is. Above, people are added close to its members.",
        **bound("remaining_b", _ALL, among=sizes, by_value=True),
    )
    half = range(0, 51, 5)
    st.slider(
        "Wrong outcomes of group B (%)",
        0,
        50,
        step=5,
        **bound("wrong_outcomes", 0, among=half, by_value=True),
    )
    st.slider(
        "Wrong group records (%)",
        0,
        50,
        step=5,
        help="The method sees the recorded group. Rings mark whom it sees wrongly.",
        **bound("wrong_records", 0, among=half, by_value=True),
    )


def _share(percent: int | None, usual: float, most: int = _ALL) -> float:
    if percent is None:
        return usual
    return min(max(percent, 0), most) / _ALL
