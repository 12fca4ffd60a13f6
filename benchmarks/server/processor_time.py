"""The processor time of another process."""

import os
from pathlib import Path


def processor_seconds(pid):
    """Return the processor time that a process has taken (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
