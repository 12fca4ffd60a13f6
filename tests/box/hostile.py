"""A task that does what code would that has taken a boxed process over.

Nothing of it is used but by tests of the box. Each attempt says how it ended: by
"done", or by the name of the error that the kernel gave.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import socket
import tempfile
import threading
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
# numbers of x86_64; aarch64 has others
_PTRACE = 101
_VM_READ = 310
_IO_URING = 425
_PIDFD_OPEN = 434
_X32 = 0x40000000


def _call(number, *arguments):
    whole = [ctypes.c_long(argument) for argument in arguments]
    if _libc.syscall(ctypes.c_long(number), *whole) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _fork():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def _own_signals_elsewhere(process):
    fcntl.fcntl(3, fcntl.F_SETOWN, process)


def _raise_limit(which):
    try:
        resource.setrlimit(which, (1 << 40, 1 << 40))
    except ValueError as error:  # as the module words EPERM
        raise PermissionError(errno.EPERM, str(error)) from error


def _exec():
    os.execv("/bin/true", ["true"])


def _thread():
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


ATTEMPTS = {
    "files": {
        "read": lambda at: Path(at["secret"]).read_text(),
        "read shadow": lambda at: Path("/etc/shadow").read_text(),
        "list": lambda at: os.listdir(at["folder"]),
        "write": lambda at: Path(at["secret"]).write_text("x"),
        "make": lambda at: Path(at["folder"], "made").write_text("x"),
        "make a folder": lambda at: os.mkdir(Path(at["folder"], "made")),
        "make a nameless file": lambda at: os.open(
            at["folder"], os.O_TMPFILE | os.O_WRONLY
        ),
        "temporary": lambda at: tempfile.mkstemp(dir=at["folder"]),
        "remove": lambda at: os.unlink(at["secret"]),
        "rename": lambda at: os.rename(at["secret"], at["secret"] + "2"),
        "link": lambda at: os.link(at["secret"], at["secret"] + "2"),
        "empty": lambda at: os.truncate(at["secret"], 0),
        "change its mode": lambda at: os.chmod(at["secret"], 0o666),
        "file in memory": lambda at: os.memfd_create("x"),
    },
    "limits": {
        "files": lambda at: _raise_limit(resource.RLIMIT_NOFILE),
        "memory": lambda at: _raise_limit(resource.RLIMIT_AS),
        "seconds": lambda at: _raise_limit(resource.RLIMIT_CPU),
        "written": lambda at: _raise_limit(resource.RLIMIT_FSIZE),
        "go first": lambda at: os.nice(-1),
    },
    "connections": {
        "tcp": lambda at: socket.socket().connect(("127.0.0.1", at["port"])),
        "listen": lambda at: socket.socket().bind(("127.0.0.1", 0)),
        "udp": lambda at: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
            b"x", ("127.0.0.1", at["port"])
        ),
        "unix": lambda at: socket.socket(socket.AF_UNIX).connect(at["unix"]),
        "abstract": lambda at: socket.socket(socket.AF_UNIX).connect(at["abstract"]),
        "netlink": lambda at: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
        "pair": lambda at: socket.socketpair(),
        "io_uring": lambda at: _call(_IO_URING, 1, 0),
    },
    "processes": {
        "fork": lambda at: _fork(),
        "exec": lambda at: _exec(),
        "spawn": lambda at: os.posix_spawn("/bin/true", ["true"], {}),
        "namespace": lambda at: _call(272, 0x10000000),
        "other numbers": lambda at: _call(_X32 | 57),
    },
    "signals": {
        "kill a sibling": lambda at: os.kill(at["sibling"], 9),
        "kill the supervisor": lambda at: os.kill(os.getppid(), 0),
        "kill all": lambda at: os.kill(-1, 0),
        "trace": lambda at: _call(_PTRACE, 16, at["sibling"], 0, 0),
        "read memory": lambda at: _call(_VM_READ, at["sibling"], 0, 0, 0, 0, 0),
        "hold": lambda at: _call(_PIDFD_OPEN, at["sibling"], 0),
        "have signals sent": lambda at: _own_signals_elsewhere(at["sibling"]),
    },
    "allowed": {"thread": lambda at: _thread(), "pid": lambda at: os.getpid()},
}


def open_hostile(files):
    def handle(message):
        kind, verb, at = json.loads(message)
        for number in (0, 1, 2):  # or the limit of open files alone might refuse
            os.close(number)
        try:
            ATTEMPTS[kind][verb](at)
        except OSError as error:
            return errno.errorcode[error.errno].encode()
        return b"done"

    return handle
