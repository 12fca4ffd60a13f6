"""Controls that say which subgroups to look at; a change never retrains."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash.datasets import Dataset, Subgroups, bin_widths, road_table_1
from fairdash.ui.selection import bound, selection

Change = Callable[[Subgroups, Any], Subgroups]  # by what a widget shows

_SIZES = (10, 20, 30, 50, 100, 200, 500)
_OWN = "Own choice"
_TABLE_1 = "ROAD paper, Table 1"
_EVERYBODY = 4  # definitions of Table 1 that are not of one gender


def subgroup_form(
    dataset: Dataset,
    start: Subgroups,
    *,
    bar: tuple[DeltaGenerator, DeltaGenerator],
    options: DeltaGenerator,
) -> Subgroups:
    """Draw the choice of subgroups, ``start`` filled in, and return it.

    Bin width and smallest size go to the ``bar``, columns and presets to a popover.
    """
    frame = dataset.frame
    names = [str(name) for name in frame.columns if name != dataset.roles.target]
    current = selection().subgroups or start
    if not set(current.columns) <= set(names):
        current = start

    def part(name: str, value: Any, change: Change) -> dict[str, Any]:
        """Tie a widget to one part of the definition."""

        def changed(chosen: Any) -> Subgroups:
            return change(selection().subgroups or current, chosen)

        return bound("subgroups", value, shown=lambda _: value, meant=changed, key=name)

    with options:
        preset = _preset(dataset, current, start, part)
        if not preset:
            st.multiselect(
                "Columns",
                names,
                max_selections=4,
                help="Crossed with one another. None: all rows are one subgroup.",
                **part(
                    "columns",
                    list(current.columns),
                    partial(_with_columns, start),
                ),
            )
    columns = [] if preset else current.columns
    binned = [name for name in columns if name in dataset.binned]
    for place, name in zip([bar[0], *[options] * 4], binned, strict=False):
        with place:
            as_chosen = name in start.cuts or name in start.quantiles
            without = "as chosen" if as_chosen else "auto"
            width = current.widths.get(name)
            st.select_slider(
                f"{name.capitalize()} band",
                [None, *sorted({*bin_widths(frame[name]), width or 0.0} - {0.0})],
                format_func=partial(_width_name, without),
                **part(f"width {name}", width, partial(_with_width, start, name)),
            )
    with bar[1]:
        st.select_slider(
            "Smallest subgroup",
            sorted({*_SIZES, start.min_size, current.min_size}),
            help="Gaps of subgroups with fewer rows are not estimated.",
            **part(
                "smallest",
                current.min_size,
                lambda now, size: now.model_copy(update={"min_size": size}),
            ),
        )
    return current


def _width_name(without: str, width: float | None) -> str:
    return without if width is None else f"{width:g}"


def _with_columns(
    start: Subgroups, current: Subgroups, columns: Sequence[str]
) -> Subgroups:
    """Return the subgroups of other columns; a new one is cut as at the start."""
    ways = {}
    for way in ("widths", "quantiles", "cuts"):
        known = {
            name: cut
            for name, cut in getattr(start, way).items()
            if name not in current.columns
        }
        cuts = known | getattr(current, way)
        ways[way] = {name: cuts[name] for name in columns if name in cuts}
    return current.model_copy(update={"columns": tuple(columns), **ways})


def _with_width(
    start: Subgroups, name: str, current: Subgroups, width: float | None
) -> Subgroups:
    """Return the subgroups with a number cut in bins of a width, or as at the start."""
    ways: dict[str, dict[str, Any]] = {}
    for way in ("quantiles", "cuts"):
        ways[way] = {k: v for k, v in getattr(current, way).items() if k != name}
        if width is None and name in getattr(start, way):
            ways[way][name] = getattr(start, way)[name]
    ways["widths"] = {k: v for k, v in current.widths.items() if k != name}
    if width is not None:
        ways["widths"][name] = width
    return current.model_copy(update=ways)


def _preset(
    dataset: Dataset,
    current: Subgroups,
    start: Subgroups,
    part: Callable[[str, Any, Change], dict[str, Any]],
) -> bool:
    """Draw the choice of a definition of Table 1, where age and gender are known.

    Returns whether one is chosen.
    """
    ages, pairs = dataset.binned, dataset.binary
    if not ages or not pairs:
        return False
    age, gender = ages[_likely(ages, "age")], pairs[_likely(pairs, "sex", "gender")]
    size = {"min_size": current.min_size}

    def table_1(age: str, gender: str) -> dict[str, Subgroups]:
        known = road_table_1(age, gender, dataset.frame)
        return {name: one.model_copy(update=size) for name, one in known.items()}

    def at(age: str, gender: str, place: int) -> Subgroups:
        return list(table_1(age, gender).values())[place]

    if current.columns and current.columns[0] in ages:
        age = current.columns[0]
    gender = next((name for name in current.where if name in pairs), gender)
    known = table_1(age, gender)
    chosen = [name for name, one in known.items() if one == current]
    st.segmented_control(
        "Definition",
        [_OWN, _TABLE_1],
        required=True,
        **part(
            "kind",
            _TABLE_1 if chosen else _OWN,
            lambda _, kind: (
                at(age, gender, 0)
                if kind == _TABLE_1
                else start.model_copy(update=size)
            ),
        ),
    )
    if not chosen:
        return False
    place = list(known).index(chosen[0])
    # everybody is of no gender, so another column of genders goes on to its first
    of_gender = place if place >= _EVERYBODY else place + _EVERYBODY
    st.selectbox("Age", ages, **part("age", age, lambda _, age: at(age, gender, place)))
    st.selectbox(
        "Gender",
        pairs,
        **part("gender", gender, lambda _, gender: at(age, gender, of_gender)),
    )
    st.selectbox(
        "Subgroups",
        list(known),
        **part("preset", chosen[0], lambda _, name: known[name]),
    )
    return True


def _likely(names: Sequence[str], *words: str) -> int:
    """Return the place of the first name that has one of ``words`` in it."""
    found = [i for i, name in enumerate(names) if any(w in name.lower() for w in words)]
    return found[0] if found else 0
