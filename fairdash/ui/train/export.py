"""Exports of a run: files behind the Export button of every page."""

from functools import partial
from io import BytesIO
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st
from pydantic import ValidationError

from fairdash.audits import PortableModel, portable, sweeps, tables, trials
from fairdash.brought import can_be_onnx
from fairdash.jobs import pack_runs
from fairdash.reports import SMALLEST_GROUP, pack, portable_spec, report, score_report
from fairdash.store import Snapshot
from fairdash.sweep import python_script
from fairdash.ui.selection import SharedFields, address
from fairdash.ui.widgets.blocks import download, table_download
from fairdash.ui.widgets.frame import View
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.state import store

_PRIVATE = f"no row of the data, and no group of fewer than {SMALLEST_GROUP} rows."


def export_run(view: View) -> None:
    """Fill the Export popover: figures as a table, the run as YAML and as Python."""
    if view.run is None:
        if view.data and trials.own_scores(store(), view.data):
            with view.export():
                _score_report(view.data)
        return
    snapshot = store().snapshot(view.run, curves=False)
    try:
        spec = portable_spec(store(), view.run)
    except ValidationError:  # a run of an older version
        return
    rule = chosen_rule()
    with view.export():
        table_download(
            "Models (CSV)",
            lambda: sweeps.model_rows(store(), snapshot, rule),
            "fairdash-models.csv",
        )
        yaml = spec.to_yaml()
        icon = ":material/data_object:"
        download("Configuration (YAML)", yaml, "fairdash-run.yaml", icon=icon)
        _export_model(snapshot)
        _export_bundle(snapshot)
        path = "" if spec.data.sample else "; it asks for the path of the table"
        st.caption(f"The same run, to copy{path}")
        st.code(python_script(spec), language="python", height=220)
        st.code(yaml, language="yaml", height=220)


def _score_report(dataset_id: str) -> None:
    download(
        "Report (HTML)",
        lambda: score_report(store(), dataset_id).to_html(),
        "fairdash-scores.html",
        mime="text/html",
        icon=":material/description:",
        help=f"Every measure of the scores by group and inside subgroups; {_PRIVATE}",
    )


def _export_model(snapshot: Snapshot) -> None:
    """Offer report, model card, packs, model and predictions of the model looked at."""
    run_id = snapshot.run.id
    chosen = SharedFields.here()
    rule = chosen_rule()
    models = trials.known_models_of(store(), [run_id])
    if not models:
        return
    # The model of the address may be of another run: then an export takes its default.
    looked_at = next((model for model in models if model.id == chosen.model), None)
    model = None
    seed = None
    label = "Model"
    if looked_at is not None:
        model = looked_at.id
        label = looked_at.label
        if chosen.seed in looked_at.seeds:
            seed = chosen.seed

    def written(form: Literal["html", "md"]) -> str:
        document = report(store(), run_id, model=model, rule=rule)
        return document.to_html() if form == "html" else document.to_markdown()

    def exported() -> PortableModel:
        return portable.exported(store(), run_id, model, seed, rule)

    words = f"Findings, tables and what reproduces them; {_PRIVATE}"
    download(
        "Report (HTML)",
        lambda: written("html"),
        "fairdash-report.html",
        mime="text/html",
        icon=":material/description:",
        help=words,
    )
    download(
        "Model card (Markdown)",
        lambda: written("md"),
        "fairdash-card.md",
        mime="text/markdown",
        icon=":material/badge:",
        help=words,
    )
    pages = {"eu-ai-act": "EU AI Act, Annex IV (HTML)"}
    if len(models) > 1:
        pages["adverse-impact"] = "Less discriminatory models (HTML)"
    for name, title in pages.items():
        write_pack = partial(_pack, name, run_id)
        download(title, write_pack, f"fairdash-{name}.html", mime="text/html")
    # An earlier version encoded tables otherwise: its models cannot leave this store.
    if not trials.trained_as(store(), run_id).now:
        return
    download(
        f"{label} (model)" if looked_at else "Model (ZIP)",
        lambda: exported().to_bytes(written("md")),
        "fairdash-model.zip",
        icon=":material/deployed_code:",
        help="`fairdash.load` and `fairdash model predict` score the table's own "
        "columns with it.",
    )
    if can_be_onnx((looked_at or models[0]).method):
        download(
            f"{label} (ONNX)",
            lambda: exported().to_onnx(),
            "fairdash-model.onnx",
            icon=":material/deployed_code:",
            help="For any program that runs ONNX: an input for each column of the "
            "prepared table, P(0) and P(1) out.",
        )
    table_download(
        "Predictions (CSV)",
        lambda: portable.predictions(store(), run_id, model, seed, rule),
        "fairdash-predictions.csv",
        help="What this model says of every row of its data, on one seed. Decisions of "
        "a random mixture are drawn.",
    )


def _pack(name: Any, run_id: str) -> str:
    # The packs of a run ask nothing of a table.
    no_question = tables.TableQuestion(groups=())
    return pack(name, run_id, no_question, store=store(), frame=None).to_html()


def _export_bundle(snapshot: Snapshot) -> None:
    if not snapshot.run.over or not snapshot.count("finished"):
        return
    page = urlencode(address(), doseq=True)

    def packed() -> bytes:
        content = BytesIO()
        pack_runs(store(), [snapshot.run.id], content, address=page)
        return content.getvalue()

    download(
        "Bundle (ZIP)",
        packed,
        "fairdash-bundle.zip",
        icon=":material/inventory_2:",
        help="The run, its models and all rows of its table. Import it in another home "
        "folder: on Runs, or by `fairdash store import`.",
    )
