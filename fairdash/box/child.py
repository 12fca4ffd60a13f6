"""The boxed process: it locks itself in, then answers one message at a time.

A message is sent after its length; an answer after its length and a letter for its
kind, which the length does not count.

A task is a function of this package that takes the open files of a request and returns
a `Handler`. It is called while modules can still be loaded, and reads nothing foreign;
its handler is called for each message after the lock.
"""

import fcntl
import math
import os
import resource
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from socket import socket
from typing import Any, BinaryIO, Literal

from fairdash.box.confine import close_the_kernel, drop_privileges, limit_tasks

Handler = Callable[[bytes], bytes]

FIRST = 3  # number of the channel; the files follow it, nothing else is open
MOST_FILES = 64
# Kinds of answers.
DONE = b"+"
REFUSED = b"-"
FAILED = b"!"
FULL = b"m"
MOST_TEXT = 20_000  # bytes of an answer that is not `DONE`
HEAD = struct.Struct(">Q")
BLOCK = 1 << 20


def load(task: str) -> Callable[[Sequence[BinaryIO]], Handler]:
    """Return the task that ``module:function`` names.

    A function ``warm_up`` of its module is called first: it loads what is loaded late.
    """
    name, _, function = task.partition(":")
    module = import_module(name)
    if hasattr(module, "warm_up"):
        module.warm_up()
    return getattr(module, function)


def serve(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Lock this process in and answer until the channel ends or stays silent.

    ``descriptors`` are the channel and the files of the request.
    """
    _renumber(descriptors)
    channel = socket(fileno=FIRST)
    channel.settimeout(request["idle"])
    files = []
    for number in range(FIRST + 1, FIRST + len(descriptors)):
        # The first file is read; those after it are written.
        mode: Literal["rb", "r+b"] = "rb" if number == FIRST + 1 else "r+b"
        files.append(os.fdopen(number, mode, closefd=False))
    handler = load(request["task"])(files)
    _lock(FIRST + len(descriptors), request["memory"], request["written"])
    with suppress(EOFError, OSError):
        while True:
            message = _receive(channel)
            _allow_seconds(request["seconds"], for_good=request["single"])
            kind, content = _answer(handler, message)
            del message  # of up to the size of an upload, while the answer is sent
            channel.sendall(HEAD.pack(len(content)) + kind)
            channel.sendall(content)


def _receive(channel: socket) -> bytearray:
    (size,) = HEAD.unpack(_read(channel, HEAD.size))
    return _read(channel, size)


def _read(channel: socket, size: int) -> bytearray:
    content = bytearray()
    while len(content) < size:
        block = channel.recv(min(size - len(content), BLOCK))
        if not block:
            raise EOFError
        content += block
    return content


def _answer(handler: Handler, message: bytearray) -> tuple[bytes, bytes]:
    try:
        return DONE, handler(bytes(message))
    except ValueError as error:
        return REFUSED, _text(str(error))
    except MemoryError:
        return FULL, b""
    except Exception:
        # A library met what its authors did not think of.
        return FAILED, _text(traceback.format_exc(limit=-20))


def _text(text: str) -> bytes:
    # A character has four bytes at most.
    return text[: MOST_TEXT // 4].encode(errors="replace")


def _renumber(descriptors: Sequence[int]) -> None:
    """Give descriptors the numbers from `FIRST` on, and close all others."""
    # Copied beyond all of them first: a descriptor may have the number of another one.
    beyond = FIRST + len(descriptors) + max(descriptors)
    copies = [
        fcntl.fcntl(descriptor, fcntl.F_DUPFD, beyond) for descriptor in descriptors
    ]
    for number, descriptor in enumerate(copies, start=FIRST):
        os.dup2(descriptor, number, inheritable=False)
    # Standard input was the line to the app, and nothing foreign is printed.
    os.dup2(1, 0)
    os.dup2(1, 2)
    os.closerange(FIRST + len(descriptors), os.sysconf("SC_OPEN_MAX"))


def _lock(n_open: int, memory: int, written: int) -> None:
    """Open no further file, write so many bytes to each, take so much more memory.

    What code could take back, it can no longer once the kernel is closed to it.
    """
    # Where there is no /proc, memory is not limited.
    with suppress(OSError):
        with open("/proc/self/statm") as file:
            n_pages = int(file.read().split()[0])
        used = n_pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory,) * 2)
    os.closerange(n_open, os.sysconf("SC_OPEN_MAX"))
    limit_tasks()
    drop_privileges()
    # Before the limit of open files: the kernel's rules need a number for a moment.
    close_the_kernel()
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Every number below is taken, so none is free for another file, pipe or socket.
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open, n_open))
    sys.setrecursionlimit(1_000)


def _allow_seconds(seconds: int, *, for_good: bool) -> None:
    """Let the next message take so long, and ``for_good`` none after it take more."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    soft = math.ceil(used) + seconds
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if for_good:
        # One second more, so that the signal is the one that names the limit.
        hard = soft + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
