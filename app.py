"""Home: what the app answers, and where to start or go on."""

import streamlit as st

from fairdash import ui

view = ui.page("Home", "Where is a model unfair, and what does mending it cost?")
st.markdown(
    "Upload a table, name the outcome and the sensitive column, and compare the known "
    "remedies, each with its uncertainty."
)
with st.container(horizontal=True):
    demo = st.button("Open the demo", type="primary", icon=":material/play_arrow:")
    upload = st.button("Upload a table", icon=":material/upload:")
if demo:
    ui.start_audit(ui.add_sample("loans"))
if upload:
    ui.open_page("pages/1_Data.py")

runs = ui.store().runs()
st.space("xsmall")
if runs:
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        ui.heading("Pick up where you were")
        ui.recent_runs(runs)
    with right:
        ui.latest_result(runs)
else:
    ui.first_look()
st.subheader("Start from a sample with a planted, known bias", anchor=False)
ui.sample_cards()
st.subheader("Or from a public table, fetched from its publisher", anchor=False)
ui.public_cards()
ui.settle()
