"""Take from this process what no reader of a file needs, by what the kernel has.

Three layers, each of which is left out where the kernel lacks it:

- *Privileges* are dropped for good: no capability, nothing gained by ``execve``, no
  look at this process by others of the account.
- *Landlock* forbids to open, create or remove any file, TCP, signals to processes
  outside, and abstract sockets.
- *Seccomp* allows a list of system calls and refuses all others: those that compute,
  take memory, start threads, and use the files that are open already.

`fairdash.box.probe` tells which of it holds.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

_libc = ctypes.CDLL(None)
_libc.syscall.restype = ctypes.c_long

# of Linux; the same on all architectures that are listed below
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION = 1
# all accesses that a version of Landlock knows: of files, of TCP, of other processes
_LANDLOCK_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
_LANDLOCK_TCP = {4: 0b11}
_LANDLOCK_SCOPES = {6: 0b11}

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION = 0x20080522

_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_ALL_THREADS = 1
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERROR = 0x00050000
_EXTRA_TASKS = 512  # threads of libraries, where seccomp does not count for us

# Name: number on x86_64, on aarch64; None where there is no such call.
_SYSCALLS: dict[str, tuple[int | None, int | None]] = {
    # files that are open already
    "read": (0, 63),
    "readv": (19, 65),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "preadv2": (327, 286),
    "write": (1, 64),
    "writev": (20, 66),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "pwritev2": (328, 287),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fadvise64": (221, 223),
    "sendfile": (40, 71),
    "copy_file_range": (326, 285),
    "dup": (32, 23),
    "close": (3, 57),
    # the channel
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    # memory
    "brk": (12, 214),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "mincore": (27, 232),
    "membarrier": (324, 283),
    # threads
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "getcpu": (309, 168),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # signals of this process
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    # time, chance, facts
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "getcwd": (79, 17),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    # with conditions, see `_conditions`
    "newfstatat": (262, 79),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "tgkill": (234, 131),
    "clone": (56, 220),
    # of which glibc falls back to clone, whose flags can be looked at
    "clone3": (435, 435),
}
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

_AT_EMPTY_PATH = 0x1000
_FCNTLS = (0, 1, 2, 3, 4, 1030)  # duplicate, flags; not who is sent a signal
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000


def drop_privileges() -> None:
    """Give up all capabilities, and end when the process that forked this one does."""
    if sys.platform != "linux":
        return
    capset = {"x86_64": 126, "aarch64": 91}.get(platform.machine())
    if capset is not None:
        header = ctypes.create_string_buffer(struct.pack("Ii", _CAPABILITY_VERSION, 0))
        _syscall(capset, header, ctypes.create_string_buffer(24))
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def limit_tasks() -> None:
    """Let the account have few more processes and threads than the system has now.

    The limit counts those of the account elsewhere too, so it cannot be a small number;
    threads that libraries start must still fit.
    """
    with suppress(OSError, ValueError):  # no /proc, or a lower limit already
        with open("/proc/loadavg") as file:
            n_tasks = int(file.read().split()[3].partition("/")[2])
        most = n_tasks + _EXTRA_TASKS
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def close_the_kernel() -> None:
    """Forbid this thread and those it starts all but computing, as far as is possible.

    `drop_privileges` comes first. Where the kernel refuses a layer the others hold.
    """
    if sys.platform != "linux":
        return
    _restrict_by_landlock(landlock_version())
    _restrict_by_seccomp()


def _syscall(number: int, *arguments: Any) -> int:
    whole = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *whole))


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_long(0)
    _libc.prctl(option, ctypes.c_long(value), zero, zero, zero)


def _known(by_version: Mapping[int, int], version: int) -> int:
    accesses = [bits for least, bits in by_version.items() if least <= version]
    return max(accesses, default=0)


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has, less than 1 if none."""
    return _syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION)


def _restrict_by_landlock(version: int) -> None:
    if version < 1:
        return
    handled = [
        _known(by_version, version)
        for by_version in (_LANDLOCK_FILES, _LANDLOCK_TCP, _LANDLOCK_SCOPES)
    ]
    # Without a rule, nothing of what is handled is allowed.
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", *handled), 24)
    ruleset = _syscall(_LANDLOCK_CREATE_RULESET, attributes, size, 0)
    if ruleset >= 0:
        _syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _restrict_by_seccomp() -> None:
    machine = platform.machine()
    if machine not in _ARCHITECTURES or sys.maxsize < 2**32:
        return
    instructions = b"".join(_filter(machine))
    program = _Program(len(instructions) // 8, instructions)
    seccomp = {"x86_64": 317, "aarch64": 277}[machine]
    _syscall(
        seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_ALL_THREADS, ctypes.byref(program)
    )


# Instructions of the classic Berkeley packet filter, 8 bytes each.
def _load(offset: int) -> bytes:
    return struct.pack("HBBI", 0x20, 0, 0, offset)


def _and(mask: int) -> bytes:
    return struct.pack("HBBI", 0x54, 0, 0, mask)


def _unless_equal(value: int, skip: int) -> bytes:
    """Skip so many instructions unless what was loaded has this value."""
    return struct.pack("HBBI", 0x15, 0, skip, value)


def _skip_if_equal(value: int, skip: int) -> bytes:
    return struct.pack("HBBI", 0x15, skip, 0, value)


def _return(action: int) -> bytes:
    return struct.pack("HBBI", 0x06, 0, 0, action)


def _argument(n: int) -> int:
    return 16 + 8 * n  # its lower half; calls below look at integers of 32 bits


def _when(number: int, *body: bytes) -> Iterator[bytes]:
    """Do the body, which returns, when the call has this number."""
    yield _unless_equal(number, len(body))
    yield from body


def _one_of(n: int, values: tuple[int, ...]) -> list[bytes]:
    """Allow the call when an argument has one of these values."""
    allowed = [
        step for value in values for step in (_unless_equal(value, 1), _return(_ALLOW))
    ]
    return [_load(_argument(n)), *allowed, _return(_ERROR | errno.EPERM)]


def _masked(n: int, mask: int, value: int) -> list[bytes]:
    """Allow the call when these bits of an argument have this value."""
    return [
        _load(_argument(n)),
        _and(mask),
        _unless_equal(value, 1),
        _return(_ALLOW),
        _return(_ERROR | errno.EPERM),
    ]


def _conditions() -> dict[str, list[bytes]]:
    # A process may send signals to itself, as abort does, and look at its limits only.
    process = os.getpid()
    return {
        "newfstatat": _masked(3, _AT_EMPTY_PATH, _AT_EMPTY_PATH),  # fstat of glibc
        "fcntl": _one_of(1, _FCNTLS),
        "prctl": _one_of(0, (_PR_SET_NAME,)),
        "prlimit64": _one_of(0, (0, process)),
        "tgkill": _one_of(0, (process,)),  # abort
        "clone": _masked(0, _CLONE_THREAD | _CLONE_NAMESPACES, _CLONE_THREAD),
        "clone3": [_return(_ERROR | errno.ENOSYS)],
    }


def _filter(machine: str) -> Iterator[bytes]:
    architecture, column = _ARCHITECTURES[machine]
    yield _load(4)
    yield _skip_if_equal(architecture, 1)
    yield _return(_KILL)  # numbers mean other calls there
    yield _load(0)
    conditions = _conditions()
    for name, numbers in _SYSCALLS.items():
        number = numbers[column]
        if number is not None:
            yield from _when(number, *conditions.get(name, [_return(_ALLOW)]))
    yield _return(_ERROR | errno.EPERM)
