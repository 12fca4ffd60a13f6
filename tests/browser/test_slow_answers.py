"""The linked pictures while the server has yet to repeat what it was told."""

from contextlib import closing

import pytest
from driving import open_window

from fairdash.audits import sweeps
from fairdash.jobs import finished_file, unpack_runs
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
