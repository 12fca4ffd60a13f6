"""The page of limits: a policy is written or sent, every limit is judged."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from fairdash import ui
from fairdash._escaping import plain
from fairdash.audits import tables
from fairdash.reports import Report, adverse_pack, ll144_pack
from fairdash.ui.widgets.blocks import download
from fairdash.ui.widgets.uploads import POLICY_MB

_HEIGHT = 380  # pixels of the policy's text


def ask_policy(dataset_id: str) -> tables.Policy | None:
    """Draw the policy's text; return the policy if it fits.

    It begins as a policy on the outcomes of the table, inside the subgroups that other
    pages look at; an uploaded one replaces it.
    """
    record = ui.store().dataset_record(dataset_id)
    dataset = ui.store().dataset(dataset_id)
    subgroups = ui.chosen_subgroups(dataset, record.subgroups)
    with st.popover("Policy", icon=":material/edit:"):
        sent = st.file_uploader(
            "Upload a policy",
            type=["yaml", "yml"],
            max_upload_size=POLICY_MB,
            key="policy",
        )
        text = st.text_area(
            "Or write one (YAML): `fairdash check` takes the same",
            tables.first_policy(record.roles, _table(dataset_id)[0], subgroups),
            height=_HEIGHT,
            width=440,
            key=f"policy of {dataset_id} in {hash(subgroups)}",
            disabled=sent is not None,
        ).encode()
        st.download_button("Download", text, "policy.yaml", on_click="ignore")
    name = "The policy"
    if sent is not None:
        name = sent.name
        text = sent.getvalue()
    try:
        return tables.Policy.parse(text, name)
    except ValueError as error:
        ui.problem("The policy cannot be used", error, {})
        return None


def judge(dataset_id: str, policy: tables.Policy) -> tables.PolicyCheck | None:
    """Hold the table of a data set against a policy, or say why it cannot be."""
    frame, source = _table(dataset_id)
    try:
        return tables.check_policy(frame, policy, source)
    except ValueError as error:
        ui.problem("The limits were not checked", error, {})
        return None


def show_remarks(checked: tables.PolicyCheck) -> None:
    """Say what is doubtful about the table, with the remedy."""
    for remark in checked.audited.rows.remarks:
        st.caption(plain(remark))


def offer_packs(dataset_id: str, policy: tables.Policy) -> None:
    """Draw what writes the table's evidence packs, as the policy reads it."""

    def written(made: Callable[..., Report]) -> str:
        frame, source = _table(dataset_id)
        return made(frame, policy.question, source).to_html()

    try:
        tables.check_counts_people(policy.question)
    except ValueError as error:  # why a pack would refuse
        st.caption(f"No evidence pack: {error}")
        return
    law = partial(written, ll144_pack)
    download("Local Law 144 (HTML)", law, "fairdash-ll144.html", mime="text/html")
    tests = partial(written, adverse_pack)
    download("Adverse impact (HTML)", tests, "fairdash-adverse-impact.html")


def _table(dataset_id: str) -> tuple[pd.DataFrame, tables.Source]:
    record = ui.store().dataset_record(dataset_id)
    frame = ui.store().table(record.table_sha256)
    source = tables.Source.of_frame(record.table_name, record.table_sha256, frame)
    return frame, source
