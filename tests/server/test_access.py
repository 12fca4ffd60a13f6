"""What the access log says at which level."""

import logging

import pytest

from fairdash.server.access import Line


@pytest.mark.parametrize(
    ("path", "status", "level"),
    [
        ("/Data", 200, logging.INFO),
        ("/static/js/index.js", 200, logging.DEBUG),
        ("/static/js/index.js", 304, logging.DEBUG),
        ("/static/js/none.js", 404, logging.INFO),
        ("/static", 200, logging.INFO),
    ],
)
def test_only_files_of_streamlit_itself_are_at_debug(path, status, level, caplog):
    line = Line({"type": "http", "method": "GET", "path": path})
    line.status = status
    with caplog.at_level(logging.DEBUG, "fairdash.access"):
        line.write()
    (record,) = caplog.records
    assert record.levelno == level
    assert path in record.getMessage()
