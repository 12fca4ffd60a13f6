"""The page of limits: a policy is sent, every limit is judged."""

import streamlit as st

from fairdash import ui
from fairdash.audits import Policy, Source, check_policy

MOST_MB = 1


def ask_policy() -> Policy | None:
    """Draw the upload of a policy; return it once it fits."""
    sent = st.file_uploader(
        "Policy (YAML)", type=["yaml", "yml"], max_upload_size=MOST_MB, key="policy"
    )
    st.caption(
        "A policy names the decision or the score, the columns of the groups and the "
        "limits. `fairdash check` on the command line takes the same file."
    )
    if sent is None:
        return None
    try:
        return Policy.parse(sent.getvalue(), sent.name)
    except ValueError as error:
        ui.problem("The policy cannot be used", error, {})
        return None


def show_limits(dataset_id: str, policy: Policy) -> None:
    """Draw whether the table of a data set keeps the limits of a policy."""
    record = ui.store().dataset_record(dataset_id)
    frame = ui.store().table(record.table_sha256)
    source = Source(record.table_name, record.table_sha256, len(frame), "")
    try:
        checked = check_policy(frame, policy, source)
    except ValueError as error:
        ui.problem("The limits were not checked", error, {})
        return
    ui.show_answer(checked.answer(), "limits")
