"""How large a file each upload takes, in MB of Streamlit's widget.

`.streamlit/config.toml` lets a request through that holds the largest of them. A model
in ONNX has the limit of `fairdash.brought`, which holds wherever it is read.
"""

TABLE_MB = 500
BUNDLE_MB = 500
FURTHER_TABLE_MB = 200  # beside the table of a page: to join, or to compare with
POLICY_MB = 1
