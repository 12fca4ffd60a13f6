"""What Streamlit's own browser code shows of a text is the text, wherever it stands.

Only the browser can tell: it replaces after parsing, where no backslash helps.
"""

import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from conftest import free_port, is_healthy, wait_until
from driving import SECONDS, open_window, settle
from hostile_texts import in_every_place, read_back

pytestmark = pytest.mark.browser
SCRIPT = """
import sys
import streamlit as st
sys.path.insert(0, {helpers!r})
from fairdash._escaping import plain, visible
from hostile_texts import in_every_place

texts = in_every_place()
some = texts[:: {step}]
with st.container(key="words"):
    for text in texts:
        st.markdown(plain(text))
with st.container(key="strong"):
    for text in some:
        st.markdown(f"**{{plain(text)}}** · **{{plain(text)}}**")
with st.container(key="caption"):
    for text in some:
        st.caption(plain(text))
with st.container(key="heading"):
    for text in some:
        st.header(plain(text), anchor=False)
with st.container(key="metric"):
    for text in some:
        st.metric(plain(text), plain(text), delta_description=plain(text))
with st.container(key="button"):
    for place, text in enumerate(some):
        st.button(plain(text), key=f"button {{place}}")
with st.container(key="message"):
    for text in some:
        st.error(plain(text), title=plain(text))
with st.container(key="pills"):
    st.pills("", range(len(texts)), format_func=lambda place: plain(texts[place]))
with st.container(key="radio"):
    st.radio("", range(len(some)), format_func=lambda place: plain(some[place]))
with st.container(key="chosen"):
    st.multiselect(
        "", range(len(some)), range(len(some)),
        format_func=lambda place: visible(some[place]),
    )
st.container(key="end").write("end")
"""
STEP = 5  # of the texts in most elements: each mark stands there in several places
WORDS = "[data-testid=stMarkdownContainer]"
CAPTION = "[data-testid=stCaptionContainer]"
# where the texts of a kind of element are, and how often each is there
KINDS = {
    "words": (WORDS, 1),
    "strong": (f"{WORDS} strong", 2),
    "caption": (CAPTION, 1),
    "heading": ("[data-testid=stHeading]", 1),
    "metric": (f"{WORDS}, {CAPTION}", 3),
    "button": (WORDS, 1),
    "message": (WORDS, 2),
    "pills": (f"button {WORDS}", 1),
    "radio": (f"[role=radiogroup] {WORDS}", 1),
    "chosen": ("[data-tag] [title]", 1),
}


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A window on a page that shows every text in every kind of element."""
    folder = tmp_path_factory.mktemp("texts")
    helpers = os.path.join(os.path.dirname(os.path.dirname(__file__)), "helpers")
    script = folder / "script.py"
    script.write_text(SCRIPT.format(helpers=helpers, step=STEP))
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = {"server.port": port, "server.headless": "true"}
    options |= {"browser.gatherUsageStats": "false", "server.fileWatcherType": "none"}
    command += [f"--{name}={value}" for name, value in options.items()]
    with open(folder / "log", "wb") as log:
        app = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_until(lambda: is_healthy(port), SECONDS)
        window = open_window(browser)
        window.goto(f"http://localhost:{port}")
        window.locator(".st-key-end").wait_for()
        settle(window)
        yield window
        window.close()
    finally:
        os.killpg(app.pid, signal.SIGTERM)
        app.wait(timeout=60)


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_is_read_back_from_every_kind_of_element(page, kind):
    texts = in_every_place()
    if kind not in ("words", "pills"):
        texts = texts[::STEP]
    part, times = KINDS[kind]
    elements = page.locator(f".st-key-{kind}").locator(part)
    content = Counter(map(read_back, elements.all_inner_texts()))
    wanted = Counter(dict.fromkeys(texts, times))
    assert list((wanted - content).elements()) == []  # lost
    assert list((content - wanted).elements()) == []  # read otherwise


def test_no_text_makes_a_link_or_a_picture(page):
    # the icons of messages are not ours to count
    assert page.locator("[data-testid=stMain] a[href]").count() == 0
    assert page.locator("[data-testid=stMain] img").count() == 0
