"""A model that exists already: from its file to its error rates in three clicks."""

import pytest
from driving import settle
from playwright.sync_api import expect
from toys import people_csv, pipeline_as_onnx

pytestmark = pytest.mark.browser


def send(page, server, content, folder):
    """Upload a table from Home."""
    path = folder / "table.csv"
    path.write_bytes(content)
    page.goto(server)
    page.get_by_role("button", name="Upload a table").click()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_text("Rows used").wait_for()
    settle(page)


def test_a_model_file_is_brought_and_audited(page, server, tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    send(page, server, people_csv(seed=7), tmp_path)
    page.get_by_role("button", name="Bring a model").click()
    field = page.get_by_test_id("stFileUploader").filter(has_text="ONNX file")
    content = pipeline_as_onnx()
    file = {"name": "hire.onnx", "mimeType": "", "buffer": content}
    field.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Audit this model").click()
    page.get_by_role("heading", name="Every measure of hire").wait_for()
    settle(page)
    expect(page.locator(".js-plotly-plot").first).to_contain_text("hire > 0.5")
