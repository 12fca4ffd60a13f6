"""What serves the pages: the front door, sessions, limits."""

from fairdash.server.door import Rules
from fairdash.server.serve import serve_pages
from fairdash.server.sessions import Login

__all__ = [
    "Login",
    "Rules",
    "serve_pages",
]
