"""The server of the pages: the front door, sessions, limits."""

from fairdash.server.door import Rules
from fairdash.server.login import Login
from fairdash.server.meters import read_token
from fairdash.server.serve import serve_pages

__all__ = [
    "Login",
    "Rules",
    "read_token",
    "serve_pages",
]
