"""What a reader sets while the server has yet to repeat what it was told before."""

import re
from contextlib import closing

import pytest
from conftest import wait_until
from driving import SECONDS, fill_in, open_window

from fairdash.audits import sweeps
from fairdash.jobs import cancel, finished_file, unpack_runs
from fairdash.linked import LinkedView, linked_data, script
from fairdash.store import open_store

pytestmark = pytest.mark.browser
# Two keys; then the server, still at work, repeats the setting of the first.
TWO_KEYS = """async ([source, bytes]) => {
  document.body.innerHTML = `<div data-test-script-state="notRunning">
    <i class="fairdash-place">0</i>
    <div class="parent"><div class="linked"></div></div></div>`
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }))
  const draw = (await import(url)).default
  const told = []
  const setStateValue = (name, value) => told.push(value)
  const parentElement = document.querySelector(".parent")
  const data = Uint8Array.from(bytes)
  draw({ data, parentElement, setStateValue, setTriggerValue() {} })
  const pause = ms => new Promise(done => setTimeout(done, ms))
  while (!document.querySelector(".linked input")) await pause(50)
  await pause(600)  // where the server stands has been seen
  const [first, second] = document.querySelectorAll(".linked input")
  const move = async input => {
    input.value = input.value === input.max ? 0 : input.max
    input.dispatchEvent(new Event("change"))
    await pause(150)
  }
  await move(first)
  await move(second)
  const before = [first.value, second.value]
  const now = Date.now
  Date.now = () => now() + 3000
  document.querySelector("[data-test-script-state]").dataset.testScriptState = "running"
  document.querySelector(".fairdash-place").textContent = told[0]
  await pause(600)
  Date.now = now
  return { told, before, after: [first.value, second.value] }
}"""


def test_what_the_server_says_late_sets_no_slider_back(browser, home):
    with closing(open_store(home)) as store:
        (run,), _ = unpack_runs(store, finished_file("hiring"))
        sweep = sweeps.finished_sweep(store, run)
        data = linked_data(sweep, LinkedView(0.05))
    page = open_window(browser)
    seen = page.evaluate(TWO_KEYS, [script(), list(data)])
    page.close()
    assert len(set(seen["told"])) == 2
    assert seen["after"] == seen["before"]


def test_what_is_typed_while_answers_are_late_is_what_is_trained(
    slow_page, server, audited, home
):
    page = slow_page  # it hears 2.5 s late
    page.goto(f"{server}/Train?{audited}")
    page.get_by_text("Locality (τ)").wait_for()
    with closing(open_store(home)) as store:
        before = {run.id for run in store.runs()}
        fill_in(page, "Seeds", 2)
        page.get_by_role("button", name="More settings").click()
        page.wait_for_timeout(1500)
        fill_in(page, "Epochs", 7)
        page.wait_for_timeout(1700)  # meanwhile comes the page as the seeds changed it
        fill_in(page, "Batch size", 304)
        page.keyboard.press("Escape")
        page.get_by_role("button", name=re.compile(r"Train \d seeds")).click()
        wait_until(lambda: before < {run.id for run in store.runs()}, SECONDS)
        (run,) = (run for run in store.runs() if run.id not in before)
        cancel(store, run.id)
    assert len(run.spec["seeds"]) == 2
    (remedy,) = (grid for grid in run.spec["methods"] if grid["method"] == "road")
    assert remedy["params"] == {"n_epochs": 7, "batch_size": 304}
