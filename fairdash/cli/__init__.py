"""The command line: serve the app, run a configuration, audit a table."""

import sys
from typing import TYPE_CHECKING

from fairdash._lazy import lazy, load

__all__ = [
    "app",
    "main",
]

if TYPE_CHECKING:
    from fairdash.cli._commands import app
else:
    __getattr__, __dir__ = lazy(__name__, __file__)


def main() -> None:
    """Run a command; without the extra "app", say what to install."""
    try:
        commands = load("fairdash.cli._commands")
    except ImportError as error:
        sys.exit(f"The command line is not installed. {error}")
    commands.app()
