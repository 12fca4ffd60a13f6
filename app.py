"""Home: what the app answers, and where to start or go on."""

import streamlit as st

from fairdash import plots, ui
from fairdash.datasets import SAMPLES
from fairdash.ui import data, pages, runs

view = ui.page(pages.HOME)
runs.note_old_link()
st.markdown(
    "Upload a table, name the outcome and the sensitive column, and compare the known "
    "remedies, each with its uncertainty."
)
with st.container(horizontal=True):
    demo = st.button("Open the demo", type="primary", icon=":material/play_arrow:")
    upload = st.button("Upload a table", icon=":material/upload:")
    methods = st.button("See what each method does", icon=":material/gesture:")
    finished = st.button("See a finished sweep", icon=":material/tune:")
    tour = st.button("Take the tour", icon=":material/signpost:")
    compared = st.button("League table", icon=":material/leaderboard:")
if demo:
    ui.start_audit(data.add_sample("loans"))
if methods:
    ui.open_page(pages.PLAYGROUND, shown_method="road", beside="adversarial")
if finished or tour:
    data.open_finished("loans", tour=tour)
if compared:
    runs.league()
if upload:
    ui.open_page(pages.DATA)

records = ui.store().runs()
st.space("xsmall")
if records:
    ui.heading("Pick up where you were")
    runs.recent_runs(records)
sample = SAMPLES["loans"]
st.header(
    "Start from a sample with a known bias, or from published counts", anchor=False
)
data.sample_cards()
picture = plots.plot_planted(
    sample.truth().rates,
    groups=("Female", "Male"),
    outcome=sample.roles.outcome(),
    feature=sample.roles.sensitive_feature,
)
ui.heading(f"{sample.title}, {picture.headline}")
ui.draw_picture(picture, key="planted")  # loads what draws the figures of all pages
st.caption(picture.caption)
ui.freeze_imports()
