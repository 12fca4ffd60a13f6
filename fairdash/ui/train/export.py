"""What is taken away of a run: files behind the Export button of every page."""

from collections.abc import Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from pydantic import ValidationError

from fairdash.audits import (
    exported,
    known_models_of,
    own_scores,
    predictions,
    trained_as,
)
from fairdash.brought import can_be_onnx
from fairdash.jobs import pack_runs
from fairdash.reports import (
    SECTION_TITLES,
    SECTIONS,
    SMALLEST_GROUP,
    portable_spec,
    report,
    score_report,
)
from fairdash.store import Snapshot
from fairdash.sweep import python_script
from fairdash.ui.selection import address, selection
from fairdash.ui.widgets.blocks import download, table_download
from fairdash.ui.widgets.frame import View
from fairdash.ui.widgets.state import store

Promise = Mapping[str, Any]
_REPORTS = {
    "Report (HTML)": ("fairdash-report.html", "text/html", "description"),
    "Model card (Markdown)": ("fairdash-card.md", "text/markdown", "badge"),
}


def export_run(view: View, promise: Promise = MappingProxyType({})) -> None:
    """Fill the Export popover: figures as a table, the run as YAML and as Python.

    ``promise`` is what a report certifies, as `fairdash.reports.report` takes it.
    """
    if view.run is None:
        if view.data and own_scores(store(), view.data):
            with view.export():
                _score_files(view.data)
        return
    snapshot = store().snapshot(view.run, curves=False)
    try:
        spec = portable_spec(store(), view.run)
    except ValidationError:  # a run of an older version
        return
    with view.export():
        table_download("Models (CSV)", snapshot.table(), "fairdash-models.csv")
        yaml, icon = spec.to_yaml(), ":material/data_object:"
        download("Configuration (YAML)", yaml, "fairdash-run.yaml", icon=icon)
        _export_report(snapshot, promise)
        _export_model(snapshot)
        _export_bundle(snapshot)
        path = "" if spec.data.sample else "; it asks for the path of the table"
        st.caption(f"The same run, to copy{path}")
        st.code(python_script(spec), language="python", height=220)
        st.code(yaml, language="yaml", height=220)


def _export_report(snapshot: Snapshot, promise: Promise) -> None:
    """Offer the report of a run with a finished model; it is made on the click."""
    known = known_models_of(store(), [snapshot.run.id])
    if not known:
        return
    _report_files(snapshot.run.id, **promise)
    if st.button(
        "Compose the report…",
        type="tertiary",
        width="stretch",
        icon=":material/edit_note:",
        help="Choose and order its sections, add words of your own.",
    ):
        _compose(snapshot, promise)


def _score_files(dataset_id: str) -> None:
    """Offer the report of a data set's own scores, where there is no run."""

    def made() -> str:
        return score_report(store(), dataset_id).to_html()

    download(
        "Report (HTML)",
        made,
        "fairdash-scores.html",
        mime="text/html",
        icon=":material/description:",
        help="One file with every measure of the scores by group and inside subgroups; "
        f"no row of the data, and no group of fewer than {SMALLEST_GROUP} rows.",
    )


def _report_files(run_id: str, **how: Any) -> None:
    """Offer the report as a page and as a card; ``how`` is as of `report`."""
    known, chosen = known_models_of(store(), [run_id]), selection().model
    model = chosen if any(one.id == chosen for one in known) else None
    least = how.get("least", SMALLEST_GROUP)
    for label, (name, mime, icon) in _REPORTS.items():

        def made(kind: str = name) -> str:
            found = report(store(), run_id, model=model, **how)
            return found.to_html() if kind.endswith(".html") else found.to_markdown()

        download(
            label,
            made,
            name,
            mime=mime,
            icon=f":material/{icon}:",
            help="One file with findings, tables and what reproduces them; no row of "
            f"the data, and no group of fewer than {least} rows.",
            key=f"{label} {'composed' if 'title' in how else ''}",
        )


@st.dialog("Compose the report", width="large")
def _compose(snapshot: Snapshot, promise: Promise) -> None:
    title = st.text_input("Title", snapshot.run.name, max_chars=120)
    sections = st.multiselect(
        "Sections",
        SECTIONS,
        default=SECTIONS,
        format_func=SECTION_TITLES.__getitem__,
        help="They stand in the order chosen: remove one and add it again to move it "
        "to the end. One that the run has nothing for is skipped.",
    )
    with st.expander("Comments"):
        comments = {
            name: st.text_area(
                SECTION_TITLES[name],
                placeholder="Stands under the title of the section.",
                height=68,
                key=f"comment {name}",
            ).strip()
            for name in sections
        }
    least = st.number_input(
        "Smallest group shown",
        min_value=1,
        value=SMALLEST_GROUP,
        help="A subgroup in which a group has fewer rows is suppressed.",
    )
    if not sections:
        st.caption("Choose a section.")
        return
    said = {name: text for name, text in comments.items() if text}
    _report_files(
        snapshot.run.id,
        sections=sections,
        comments=said,
        title=title,
        least=least,
        **promise,
    )


def _export_model(snapshot: Snapshot) -> None:
    """Offer the model looked at as a file, unless its version encoded otherwise."""
    run_id, chosen = snapshot.run.id, selection()
    known = known_models_of(store(), [run_id])
    if not known or not trained_as(store(), run_id).now:
        return
    here = [one for one in known if one.id == chosen.model]
    model, seed = (here[0].id, chosen.seed) if here else (None, None)
    if here and seed not in here[0].seeds:
        seed = None
    download(
        f"{here[0].label} (model)" if here else "Model (ZIP)",
        lambda: exported(store(), run_id, model, seed).to_bytes(
            report(store(), run_id, model=model).to_markdown()
        ),
        "fairdash-model.zip",
        icon=":material/deployed_code:",
        help="One trained model: `fairdash.load` and "
        "`fairdash model predict` score the "
        "table's own columns with it.",
    )
    if can_be_onnx((here or known)[0].method):
        download(
            f"{here[0].label} (ONNX)" if here else "Model (ONNX)",
            lambda: exported(store(), run_id, model, seed).to_onnx(),
            "fairdash-model.onnx",
            icon=":material/deployed_code:",
            help="The same for any program that runs ONNX: an input for each column of "
            "the prepared table, P(0) and P(1) out.",
        )
    table_download(
        "Predictions (CSV)",
        lambda: predictions(store(), run_id, model, seed),
        "fairdash-predictions.csv",
        help="What this model says of every row of its data, on one seed.",
    )


def _export_bundle(snapshot: Snapshot) -> None:
    """Offer the run with its table and models, and with what is looked at now."""
    if not snapshot.run.over or not snapshot.count("finished"):
        return
    looked_at = urlencode(address(), doseq=True)

    def made() -> bytes:
        content = BytesIO()
        pack_runs(store(), [snapshot.run.id], content, address=looked_at)
        return content.getvalue()

    download(
        "Bundle (ZIP)",
        made,
        "fairdash-bundle.zip",
        icon=":material/inventory_2:",
        help="The run with its table, rows and all, and its models: import it on Runs, "
        "or by `fairdash store import`, in another home folder.",
    )
