"""Playground: what each method does, in two dimensions."""

import streamlit as st

from fairdash import ui
from fairdash.methods import CATALOG
from fairdash.ui import pages, playground

view = ui.page(pages.PLAYGROUND)
scene, methods = playground.choose(view.data)
st.markdown(f"**{scene.question}** {scene.look_for}")
playground.draw_plane(scene, methods)
summaries = [f"{CATALOG[key].label}: {CATALOG[key].summary}" for key in methods]
st.caption(
    f"{' '.join(summaries)} Figures are of the people drawn here, who are also "
    "those the models were trained on."
)
ui.freeze_imports()
