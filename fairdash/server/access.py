"""The access log: one line a request.

A line says the user's id, which is the name of a home folder, or "-"; the method; the
path; the status; the milliseconds. A window's line comes when it closes. The query
stays out: it may hold a code of a login, or names of a table. A page loads a hundred
files of Streamlit's own; those that are there are logged at debug.
"""

import logging
from time import perf_counter
from urllib.parse import quote

from starlette.types import Scope

ASSETS = "/static/"  # scripts, styles and fonts, the same for everybody
log = logging.getLogger("fairdash.access")


class Line:
    """The line that a request writes into the log when it ends."""

    def __init__(self, scope: Scope) -> None:
        self._method = scope.get("method", "WEBSOCKET")
        self._path = scope["path"]
        self._began = perf_counter()
        self.user: str | None = None
        self.status: int | None = None  # none where nobody waited for an answer

    def write(self) -> None:
        """Write the line. A path is quoted, so that it stays one word of one line."""
        is_asset = self._path.startswith(ASSETS) and self.status in (200, 304)
        log.log(
            logging.DEBUG if is_asset else logging.INFO,
            "%s %s %s %s %.0f ms",
            self.user or "-",
            quote(self._method),
            quote(self._path),
            self.status or "-",
            1000 * (perf_counter() - self._began),
        )
