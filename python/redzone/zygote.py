"""`python -m redzone.zygote LISTENER DRIVER FLAGS...`: forks workers that have imported the files.

Started by redzone_worker_proxy (src/worker_library/proxy.cpp) with a listening socket, and ends
with the driver. A proxy sends the flags and three descriptors (output, socket, black box), and gets
the id of the worker, or -1 if it must start one itself: the files cannot be imported, or what they
did cannot be forked. Then it gets the status that the worker ended with.
"""

from __future__ import annotations

import array
import contextlib
import gc
import os
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .files import FileError, exception_text
from .library import LibraryError
from .output import flush, write_line
from .worker import Prepared, prepare, wait_for_log

_NUMBER = struct.Struct("i")
_REFUSED = -1
_MOST_FLAGS = 1 << 20
_DESCRIPTORS = 3


def can_fork() -> bool:
    """No other thread runs, whose locks nobody would release, and no driver of a GPU is open."""
    if len(os.listdir("/proc/self/task")) > 1:
        return False
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("/dev/nvidia"):
                return False
        except OSError:
            continue
    return True


class Zygote:
    def __init__(self, listener: socket.socket, driver: int, prepared: Prepared | None) -> None:
        self._listener = listener
        self._driver = driver
        self._prepared = prepared
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(listener, selectors.EVENT_READ)
        self._waiting.register(driver, selectors.EVENT_READ)
        # A file may have told the system to forget children, whose ends the proxies wait for.
        self._children_before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def serve(self) -> None:
        """Returns when the driver has ended."""
        while True:
            for key, _ in self._waiting.select():
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj == self._driver:
                    return
                else:
                    self._reap(key)

    def _accept(self) -> None:
        link, _ = self._listener.accept()
        _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.getuid():
            link.close()
            return
        arguments, descriptors = _receive(link)
        if self._prepared is None or len(descriptors) != _DESCRIPTORS:
            _send(link, _REFUSED)
            link.close()
        else:
            self._fork(link, arguments, descriptors)
        for fd in descriptors:
            os.close(fd)

    def _fork(self, link: socket.socket, arguments: list[str], descriptors: Sequence[int]) -> None:
        proxy = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        waits, tells = os.pipe()
        try:
            child = os.fork()
        except OSError:
            os.close(waits)
            os.close(tells)
            _send(link, _REFUSED)
            link.close()
            return
        if child == 0:
            os.close(tells)
            # If this process ends before it has answered, the proxy is the worker.
            if not os.read(waits, 1):
                os._exit(0)
            os.close(waits)
            self._become_worker(link, proxy, arguments, descriptors)
        _send(link, child)
        os.close(waits)
        os.write(tells, b"!")
        os.close(tells)
        ended = os.pidfd_open(child)
        self._waiting.register(ended, selectors.EVENT_READ, (child, link))

    def _reap(self, key: selectors.SelectorKey) -> None:
        child, link = key.data
        self._waiting.unregister(key.fileobj)
        os.close(key.fd)
        _, status = os.waitpid(child, 0)
        _send(link, status)
        link.close()

    def _become_worker(
        self, link: socket.socket, proxy: int, arguments: list[str], descriptors: Sequence[int]
    ) -> NoReturn:
        code = 3
        try:
            # Of the proxy's group, which the driver signals.
            os.setpgid(0, proxy)
            output, channel, box = descriptors
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            wait_for_log()
            self._forget()
            link.close()
            assert self._prepared is not None
            flags = [*arguments, "--socket-fd", str(channel), "--black-box-fd", str(box)]
            code = self._prepared.worker().serve(flags, self._prepared.description)
        except BaseException as error:
            write_line(exception_text(error))
        finally:
            flush()
            os._exit(code)

    def _forget(self) -> None:
        """In a worker: closes what is the zygote's alone, and ends what it has set."""
        for key in list(self._waiting.get_map().values()):
            os.close(key.fd)
            if key.data is not None:
                key.data[1].close()  # another proxy's
        self._waiting.close()
        if self._children_before is not None:
            signal.signal(signal.SIGCHLD, self._children_before)


def _receive(link: socket.socket) -> tuple[list[str], list[int]]:
    """Flags and descriptors; none of both from a proxy that is gone."""
    descriptors = array.array("i")
    try:
        room = socket.CMSG_SPACE(_DESCRIPTORS * 4)
        data, parts, _, _ = link.recvmsg(_MOST_FLAGS, room, socket.MSG_CMSG_CLOEXEC)
    except OSError:
        return [], []
    for level, kind, part in parts:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(part[: len(part) // 4 * 4])
    return [os.fsdecode(word) for word in data.split(b"\0")[:-1]], descriptors.tolist()


def _send(link: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # the driver has killed the proxy
        link.sendall(_NUMBER.pack(number))


def main() -> NoReturn:
    listener, driver, arguments = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(listener, False)
    try:
        watched: Any = os.pidfd_open(driver)
    except OSError:
        os._exit(0)
    prepared: Prepared | None = None
    try:
        prepared = prepare(arguments)
        if not can_fork():
            prepared = None
        gc.collect()
        gc.freeze()
    except (FileError, LibraryError):
        pass  # the worker that the proxy becomes says why
    Zygote(socket.socket(fileno=listener), watched, prepared).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
