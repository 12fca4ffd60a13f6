"""The frame of every page: menu, title, picker, Export; and what a failing page says.

No traceback and no path of the server reaches a browser.
"""

import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.logger import get_logger

from fairdash._escaping import plain, visible
from fairdash._wording import clock_time, shortened
from fairdash.audits import sweeps
from fairdash.jobs import Unpacked
from fairdash.store import DatasetRecord, RunRecord, trouble
from fairdash.sweep import unsupported_methods
from fairdash.ui import pages, private, selection
from fairdash.ui.widgets.blocks import empty, problem
from fairdash.ui.widgets.state import end_page, store, theme_watch, who
from fairdash.ui.widgets.tour import present_button, show_tour

_HERE = Path(__file__).parent
_ANOTHER = ""  # the entry of the picker that is no data set; ids are never empty
_PICKER = 240  # pixels: what `shortened` leaves of a name fits in


@dataclass(frozen=True)
class View:
    """The selection of a page: ids of a run and a data set, and the Export corner."""

    run: str | None
    data: str | None
    _corner: DeltaGenerator
    # Whether the page shows the pictures of its run for a room, and nothing else.
    on_stage: bool = False

    def export(self) -> DeltaGenerator:
        """Return the Export popover; call once, when there is something to export."""
        return self._corner.popover("Export", icon=":material/ios_share:")

    def present(self) -> None:
        """Draw the button that begins the show mode; in a tour its own has one."""
        if selection.SharedFields.here().tour is None:
            with self._corner:
                present_button(selection.address(opened=None, show=1))


def page(entry: pages.Page) -> View:
    """Draw the frame of a page and return what the address selects.

    The address carries ``?run=`` and ``?data=``, so that a refresh or a second tab
    shows the same. An id that does not exist (any more) stops the page with a message.
    The title is the question. A page that picks runs opens on the newest one. On a page
    that ``shows`` sweeps the address may ask for the show mode: nothing is drawn then,
    and the view is ``on_stage``.
    """
    st.set_page_config(
        page_title=f"{entry.name} · fairdash",
        page_icon=str(_HERE / "favicon.svg"),
        layout="wide",
    )
    st.html(_HERE / "frame.css")
    st.logo(str(_HERE / "logo.svg"), size="large")
    _stop_unless_let_in()
    selection.arrive(entry.name)
    run = st.query_params.get("run") or None
    data = st.query_params.get("data") or None
    gone = missing(run, data)
    if not gone:
        run, data = _agree(run, data, entry.pick)
    if entry.shows and not gone and _on_stage(run):
        theme_watch()
        return View(run, data, st.container(), on_stage=True)
    # Links of a page whose run is gone would lead to the same message.
    _menu({} if gone else selection.menu_address(entry.name))
    corner = _title_row(entry.question)
    if entry.pick and not gone:
        with corner:
            _picker(entry.pick, run if entry.pick == "run" else data)
    if gone:
        what, title = gone
        body = (
            "It was deleted, or the address comes from another machine. "
            "Everything kept here is listed under Runs."
        )
        problem(title, body, {"Show what is here": lambda: _leave(what)})
        end_page()
    show_tour()
    if entry.pick and run:
        _stop_if_unsupported(run)
    if data:
        _say_notes(data)
    if data and entry.weighting:
        roles = store().dataset_record(data).roles
        if roles.count is not None:
            st.caption(f"{entry.counting or entry.weighting} {plain(roles.count)}.")
        elif roles.sample_weight is not None:
            st.caption(f"{entry.weighting} {plain(roles.sample_weight)}.")
    return View(run, data, corner)


def _on_stage(run_id: str | None) -> bool:
    if selection.SharedFields.here().show is None:
        return False
    return sweeps.can_be_shown(store(), run_id)


def _say_notes(dataset_id: str) -> None:
    """Say below the question that rows are drawn, or columns of another table."""
    record = store().dataset_record(dataset_id)
    try:
        sentences = store().table_notes(record.table_sha256).sentences
    except (ValueError, OSError):
        # The page itself says that the table is damaged.
        return
    for sentence in sentences:
        st.caption(plain(sentence))


def _stop_unless_let_in() -> None:
    """End the page with the button to log in where a login is needed."""
    configured = st.secrets.load_if_toml_exists() and "auth" in st.secrets
    if not configured and "FAIRDASH_LOGIN" not in os.environ:
        return
    if st.user.get("is_logged_in"):
        user = who()
        name = None if user is None else plain(user.name)
        icon = ":material/logout:"
        if st.sidebar.button("Log out", type="tertiary", icon=icon, help=name):
            st.logout()
        return
    st.title("Log in", anchor=False)
    if st.button("Log in", type="primary", icon=":material/login:"):
        st.login()
    end_page()


def open_page(
    page: pages.Page, run: str | None = None, data: str | None = None, **more: Any
) -> None:
    """Go to a page with a run and a data set in its address.

    What else is chosen goes along as far as it is of them; ``more`` are other fields.
    """
    chosen: selection.Address = {}
    if run or data:
        # Names of what is unfolded are names of the page that is left.
        chosen = selection.with_run(selection.address(opened=None), run, data)
    selection.open_at(page.path, chosen | selection.stated(**more))


def open_unpacked(unpacked: Unpacked) -> None:
    """Show the first run of a bundle as it was left."""
    run = store().run(unpacked.runs[0])
    looked_at = parse_qs(unpacked.address)
    selection.write(looked_at | {"run": [run.id], "data": [run.dataset_id]})
    page = pages.SWEEP if sweeps.is_sweep(store(), run.id) else pages.TRAIN
    open_page(page, run=run.id, data=run.dataset_id)


def _leave(what: str) -> None:
    selection.choose(**{what: None})
    st.rerun()


def stop_empty(
    title: str, body: str, remedies: Mapping[str, Callable[[], None]]
) -> None:
    """End a page that has nothing to show yet with the box of `empty`."""
    empty(title, body, remedies)
    end_page()


def missing(run: str | None, data: str | None) -> tuple[str, str] | None:
    """Return which of the two the store does not have, and a title that says so."""
    if run and run not in {record.id for record in store().runs()}:
        return "run", f"The run {run} was not found"
    if data and data not in {record.id for record in store().datasets()}:
        return "data", f"The data set {data} was not found"
    return None


def _stop_if_unsupported(run_id: str) -> None:
    run = store().run(run_id)
    gone = unsupported_methods(run.spec)
    if not gone:
        return
    problem(
        f"{run.name} is no longer supported",
        f"It asks for {', '.join(gone)}, which this version cannot open. Sweep the "
        "data anew; the run can be deleted under Runs.",
        {"New sweep of this data": lambda: open_page(pages.SWEEP, data=run.dataset_id)},
    )
    end_page()


def _agree(
    run: str | None, data: str | None, pick: str | None
) -> tuple[str | None, str | None]:
    """Return a run and a data set that go together, and write them into the address.

    A page that picks runs follows the run, any other page the data set.
    """
    if run is None and pick == "run":
        run = _newest_run(data)
    if run is not None:
        of_run = store().run(run).dataset_id
        if pick == "run" or data is None:
            data = of_run
        elif data != of_run:
            run = None
    selection.choose(run=run, data=data)
    return run, data


def _newest_run(data: str | None) -> str | None:
    """Return the newest run that can be opened, of a data set if there is one."""
    for record in store().runs():
        if data not in (None, record.dataset_id):
            continue
        if not unsupported_methods(record.spec):
            return record.id
    return None


def _menu(links_to: selection.Address) -> None:
    with st.sidebar:
        for heading, listed in pages.sections().items():
            with st.container(gap="xxsmall"):
                if heading:
                    st.caption(heading)
                for entry in listed:
                    st.page_link(
                        entry.path,
                        label=entry.name,
                        icon=f":material/{entry.icon}:",
                        width="stretch",
                        query_params=links_to or None,
                    )
        theme_watch()


def _title_row(question: str) -> DeltaGenerator:
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        gap="small",
    ):
        st.title(question, anchor=False, width="stretch")
        return st.container(
            horizontal=True,
            width="content",
            vertical_alignment="center",
            gap="xsmall",
            wrap=False,
        )


def _picker(kind: Literal["run", "data"], current: str | None) -> None:
    """Draw the menu of runs or data sets; a choice opens it on this page."""
    if kind == "run":
        label = "Run"
        names = _distinct(store().runs())
    else:
        label = "Data set"
        names = _distinct(store().datasets())
    if not names:
        return
    index = list(names).index(current) if current else None
    if kind == "data":
        names[_ANOTHER] = "Another table…"
    short = shortened(names)
    chosen = st.selectbox(
        label,
        list(names),
        index=index,
        format_func=lambda key: visible(short[key]),
        placeholder=f"Open a {label.lower()}",
        label_visibility="collapsed",
        width=_PICKER,
        key=f"pick {kind} {current}",
    )
    if chosen == _ANOTHER:
        open_page(pages.DATA)
    if chosen not in (None, current):
        run = chosen if kind == "run" else None
        data = store().run(run).dataset_id if run else chosen
        selection.write(selection.with_run(selection.address(), run, data))
        st.rerun()


def _distinct(records: Sequence[RunRecord] | Sequence[DatasetRecord]) -> dict[str, str]:
    """Return names by id; the time, and then a number, tells equal ones apart."""
    names = {record.id: record.name for record in records}
    times = {record.id: clock_time(record.created) for record in records}
    created = {record.id: record.created for record in records}
    by_age = sorted(created, key=created.__getitem__)
    numbers = {key: f"no. {i}" for i, key in enumerate(by_age, start=1)}
    for suffixes in (times, numbers):
        uses = Counter(names.values())
        for key, name in names.items():
            if uses[name] > 1:
                names[key] = f"{name} · {suffixes[key]}"
    return names


log = get_logger("fairdash")


class Incident(Exception):
    """An error that nobody foresaw, by its number."""

    alternate_name = ""  # the box on the page names no type


def tell(ex: BaseException) -> None:
    """Say what stopped a page.

    That is a store that does not work, a run or data set that was deleted in another
    window while the page was drawn, or else an incident: its number stands on the page,
    and in the log beside the traceback.
    """
    with private.main_part():
        gone = None
        try:
            chosen = selection.SharedFields.here()
            why = trouble(ex)
            if not why:
                gone = missing(chosen.run, chosen.data)
        except OSError as second_error:
            # The store failed while it was asked what is missing.
            why = trouble(second_error)
        if why:
            log.error("%s", why)
            problem("The store does not work", why)
        elif gone:
            _, title = gone
            problem(title, "It was deleted in another window.")
        else:
            _report_incident(ex)


def _report_incident(error: BaseException) -> None:
    """Log an error with a number, and show only the number.

    A traceback has paths of the server and rows of the data in it.
    """
    number = secrets.token_hex(3)
    log.error("incident %s", number, exc_info=error)
    st.exception(
        Incident(
            f"Something unexpected went wrong: incident {number}. What was "
            "finished is not lost. Load the page again; the server's log says "
            "under this number what happened."
        )
    )


private.tell_errors_by(tell)
