"""What a process says, as lines on stderr."""

import logging

FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"


def log_to_stderr() -> None:
    """Write what this process logs to stderr."""
    logging.basicConfig(format=FORMAT)
    logging.getLogger("fairdash").setLevel(logging.INFO)
