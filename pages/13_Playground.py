"""Playground: what each method does, in two dimensions."""

import streamlit as st

from fairdash import ui
from fairdash.audits.playground import METHODS
from fairdash.ui import pages, playground

view = ui.page(pages.PLAYGROUND)
scene, methods = playground.choose(view.data)
st.markdown(f"**{scene.question}** {scene.look_for}")
playground.draw_plane(scene, methods)
chosen = [METHODS[key] for key in methods]
summaries = [f"{method.label}: {method.summary}" for method in chosen]
st.caption(
    f"{' '.join(summaries)} Figures are of the people drawn here, who are also "
    "those the models were trained on."
)
ui.freeze_imports()
