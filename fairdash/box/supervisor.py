"""Fork a process for each request, from one that has loaded what they need.

`fairdash.box.client` runs `main` in an isolated interpreter with an empty environment.
The supervisor itself reads nothing foreign: requests come from the app, and name tasks
of this package. It ends, with all that it forked, when the app does.
"""

import gc
import json
import os
import selectors
import signal
import socket
from typing import Any

from fairdash.box.child import MOST_FILES, load, serve

MOST_REQUEST = 4_096  # bytes
NICENESS = 5
CONTROL = 0  # standard input is a socket to the app


class Supervisor:
    """Children by process id, each with a line to the app that asked for it.

    The app closes the line to have the child killed; how it ended is written there.
    """

    def __init__(self) -> None:
        self._control = socket.socket(fileno=CONTROL)
        self._lines: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._control, selectors.EVENT_READ)
        self._woken, wakes = socket.socketpair()
        for end in (self._woken, wakes):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        self._wakes = wakes

    def run(self) -> None:
        """Serve until the app goes."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    self._woken.recv(MOST_REQUEST)
                    self._reap()
                elif key.fileobj is not self._control:
                    if key.data in self._lines:  # else it was reaped a moment ago
                        os.kill(key.data, signal.SIGKILL)
                        self._selector.unregister(key.fileobj)
                elif not self._take_request():
                    signal.set_wakeup_fd(-1)  # the socket it wakes closes at the end
                    for child in self._lines:
                        os.kill(child, signal.SIGKILL)
                    return

    def _take_request(self) -> bool:
        content, descriptors, _, _ = socket.recv_fds(
            self._control, MOST_REQUEST, MOST_FILES
        )
        if not content:
            return False
        request = json.loads(content)
        try:
            load(request["task"])
        except ImportError as error:  # an extra that is not installed
            _say(socket.socket(fileno=descriptors[0]), error=str(error))
        else:
            gc.freeze()  # what is loaded stays in memory that children share
            self._fork(request, descriptors)
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        return True

    def _fork(self, request: dict[str, Any], descriptors: list[int]) -> None:
        child = os.fork()
        if not child:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                serve(request, descriptors[1:])
            finally:
                os._exit(0)
        self._lines[child] = line = socket.socket(fileno=descriptors[0])
        self._selector.register(line, selectors.EVENT_READ, child)

    def _reap(self) -> None:
        while self._lines:
            child, status, used = os.wait4(-1, os.WNOHANG)
            if not child:
                return
            line = self._lines.pop(child)
            if line in self._selector.get_map():
                self._selector.unregister(line)
            _say(
                line,
                signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
                seconds=used.ru_utime + used.ru_stime,
                memory=used.ru_maxrss << 10,
            )


def _say(line: socket.socket, **facts: Any) -> None:
    with line:
        try:
            line.sendall(json.dumps(facts).encode())
        except OSError:
            return


def main() -> None:
    """Supervise, in a process of its own; pages go first."""
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the app, which ends this
    Supervisor().run()
