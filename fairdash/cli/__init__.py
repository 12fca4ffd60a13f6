"""The command line: serve the app, run a configuration, check a table."""

from fairdash.cli._commands import app

__all__ = ["app"]
