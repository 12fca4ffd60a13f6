"""The largest upload the page offers is one that the server takes."""

import tomllib
from pathlib import Path

from fairdash.ui.data.upload import _LARGEST

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def test_the_server_takes_what_the_upload_offers():
    limit = tomllib.loads(CONFIG.read_text())["server"]["maxUploadSize"]
    assert limit > _LARGEST  # the request holds the file and its envelope
