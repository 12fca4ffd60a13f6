"""A task for tests of the box: it does what a message names, as if taken over."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def _grow(amount):
    return len(bytearray(int(amount)))


def _write(size, file):
    file.write(bytes(size))
    file.flush()


def open_anything(files):
    verbs = {
        "read": lambda path: Path(path).read_text(),
        "make": lambda path: Path(path).write_text("x"),
        "temporary": lambda _: tempfile.mkstemp(),
        "connect": lambda port: socket.socket().connect(("127.0.0.1", port)),
        "start": lambda command: subprocess.run(command, check=True),
        "environment": lambda _: dict(os.environ),
        "path": lambda _: sys.path,
        "numpy": lambda _: sys.modules["numpy"].__file__,
        "pid": lambda _: os.getpid(),
        "descriptors": lambda n: [d for d in range(n) if _is_open(d)],
        "grow": _grow,
        "write": lambda size: _write(size, files[1]),
        "source": lambda _: files[0].read().decode(),
        "sleep": time.sleep,
        "spin": lambda _: [None for _ in iter(int, 1)],
        "refuse": _refuse,
        "message": lambda _: opening[0],
        "fail": lambda _: {}["gone"],
    }

    opening = []

    def handle(message):
        verb, argument = json.loads(message)
        opening.append(argument)
        if verb == "answer":
            return bytes(argument)
        try:
            return json.dumps(verbs[verb](argument)).encode()
        except OSError as error:
            raise ValueError(f"OSError {error.errno}") from error

    return handle


def warm_up():
    """Load what a task needs, as tasks of the package do."""
    import numpy  # noqa: F401


def _is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _refuse(reason):
    raise ValueError(reason)
