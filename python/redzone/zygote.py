"""A process that forks workers which have imported the files.

Forked by the one that describes the files to the driver (redzone/describe.py), unless what they did
cannot be forked, and ends with the driver. A proxy (src/worker_library/proxy.cpp) sends the flags of
a worker and three descriptors (output, socket, black box), and gets the id of the worker, or -1 if it
must start one itself. Then it gets the status that the worker ended with.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import gc
import os
import resource
import selectors
import signal
import socket
import struct
from collections.abc import Sequence
from typing import Any, NoReturn

from .files import exception_text
from .learning import Listener, Modules, Teller, import_all, new_of, packages
from .output import flush, write_line
from .worker import Prepared, wait_for_log

_NUMBER = struct.Struct("i")
_REFUSED = -1
_MOST_FLAGS = 1 << 20
_DESCRIPTORS = 3
_WAITING = 64  # proxies that wait while the process gets ready
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # linux/fcntl.h; Python has it since 3.10
_LONGEST_IMPORT_S = 120
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


def start_zygote(prepared: Prepared, driver: int, name: str) -> None:
    """Forks a process that listens at the abstract `name` and ends with the process `driver`. Does
    nothing where that cannot be: proxies then become workers themselves. Raises what the files have
    put in the place of what this needs, and OSError, also where another listens at that name."""
    if not can_fork() or has_children():
        return
    watched = os.pidfd_open(driver)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(f"\0{name}")
    listener.listen(_WAITING)
    child = os.fork()
    if child != 0:
        # Must happen before this process ends, because the driver then kills the group of this process.
        os.setpgid(child, child)
        return
    try:
        os.setpgid(0, 0)
        _serve(prepared, watched, listener)
    finally:
        os._exit(0)


def _serve(prepared: Prepared, driver: int, listener: socket.socket) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    # The same limits as in other workers (src/exec/worker_process.cpp): a crash writes no core dump and
    # starts no core-dump handler.
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0 if most == 0 else 1, most))
    # Waits for the first proxy, because many commands need no worker.
    with selectors.DefaultSelector() as first:
        first.register(listener, selectors.EVENT_READ)
        first.register(driver, selectors.EVENT_READ)
        if any(key.fileobj == driver for key, _ in first.select()):
            return
    prepared.make_ready()
    if not can_fork():
        return
    gc.collect()
    gc.freeze()
    Zygote(listener, driver, prepared).serve()


def adopt_orphans() -> None:
    """What the files start stays a child of this process when its own parent ends: has_children()."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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


def has_children() -> bool:
    """Whether a process runs that the files have started: it would end with this one, and they may need
    it."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            children = file.read().split()
    except OSError:  # the kernel lacks that file: counts any child, even if it has ended
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return True
        return False
    return any(_runs(child) for child in children)


def _runs(process: str) -> bool:
    """False for one that has ended and that nobody has waited for."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Zygote:
    def __init__(self, listener: socket.socket, driver: int, prepared: Prepared) -> None:
        self._listener = listener
        self._driver = driver
        self._prepared = prepared
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(listener, selectors.EVENT_READ)
        self._waiting.register(driver, selectors.EVENT_READ)
        self._packages = packages()
        self._asked: set[str] = set()  # modules that calls have imported
        self._to_learn: Modules = {}
        self._learning: Modules = {}  # modules that the process `_tries` tries to import
        self._tries = 0
        self._can_fork = True
        self._children_before: Any = None
        self._keep_children()

    def _keep_children(self) -> None:
        """What was imported may have told the system to forget children, whose ends the proxies wait for."""
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if before != signal.SIG_DFL:
            self._children_before = before

    def serve(self) -> None:
        """Returns when the driver has ended."""
        while True:
            for key, _ in self._waiting.select():
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj == self._driver:
                    return
                elif isinstance(key.data, Listener):
                    self._hear(key.data)
                elif key.data is None:
                    self._learn(key)
                else:
                    self._reap(key)

    def _accept(self) -> None:
        link, _ = self._listener.accept()
        _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.getuid():
            link.close()
            return
        arguments, descriptors = _receive(link)
        if len(descriptors) != _DESCRIPTORS or not self._can_fork:
            _send(link, _REFUSED)
            link.close()
        else:
            self._fork(link, arguments, descriptors)
        for fd in descriptors:
            os.close(fd)

    def _fork(self, link: socket.socket, arguments: list[str], descriptors: Sequence[int]) -> None:
        proxy = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        waits, tells = os.pipe()
        hears, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            child = os.fork()
        except OSError:
            for end in (waits, tells, hears, told):
                os.close(end)
            _send(link, _REFUSED)
            link.close()
            return
        if child == 0:
            os.close(tells)
            # If this process ends before it answers, the proxy itself becomes the worker.
            if not os.read(waits, 1):
                os._exit(0)
            os.close(waits)
            os.close(hears)
            self._become_worker(link, proxy, arguments, descriptors, told)
        os.close(told)
        with contextlib.suppress(OSError):  # torch may report about a thousand modules at once
            fcntl.fcntl(hears, _F_SETPIPE_SZ, _PIPE_BYTES)
        self._waiting.register(hears, selectors.EVENT_READ, Listener(hears))
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

    def _hear(self, listener: Listener) -> None:
        heard = listener.hear()
        if heard is None:
            self._waiting.unregister(listener.pipe)
            os.close(listener.pipe)
            return
        self._to_learn.update(new_of(heard, self._asked, self._packages))
        self._try_out()

    def _try_out(self) -> None:
        """Imports what is to be learned in a process of its own, which then shows whether this one could
        still be forked."""
        if self._learning or not self._to_learn:
            return
        self._learning, self._to_learn = self._to_learn, {}
        self._asked.update(self._learning)
        try:
            child = os.fork()
        except OSError:
            self._learning = {}
            return
        if child == 0:
            code = 1
            try:
                ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(_LONGEST_IMPORT_S)
                if import_all(self._learning) and can_fork() and not has_children():
                    code = 0
            finally:
                os._exit(code)
        self._tries = child
        self._waiting.register(os.pidfd_open(child), selectors.EVENT_READ)

    def _learn(self, key: selectors.SelectorKey) -> None:
        """Imports what could be imported."""
        self._waiting.unregister(key.fileobj)
        os.close(key.fd)
        _, status = os.waitpid(self._tries, 0)
        if status == 0:
            us = os.getpid()
            import_all(self._learning)
            if os.getpid() != us:  # a module has forked
                os._exit(0)
            self._keep_children()
            self._can_fork = can_fork()
            gc.collect()
            gc.freeze()
        self._learning = {}
        self._try_out()

    def _become_worker(
        self,
        link: socket.socket,
        proxy: int,
        arguments: list[str],
        descriptors: Sequence[int],
        told: int,
    ) -> NoReturn:
        code = 3
        try:
            # Joins the proxy's group, because the driver sends signals to that group.
            os.setpgid(0, proxy)
            output, channel, box = descriptors
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            wait_for_log()
            self._forget()
            link.close()
            flags = [*arguments, "--socket-fd", str(channel), "--black-box-fd", str(box)]
            code = self._prepared.worker(Teller(told)).serve(flags, self._prepared.description)
        except BaseException as error:
            write_line(exception_text(error))
        finally:
            flush()
            os._exit(code)

    def _forget(self) -> None:
        """In a worker: closes what is the zygote's alone, and ends what it has set."""
        for key in list(self._waiting.get_map().values()):
            os.close(key.fd)
            if isinstance(key.data, tuple):
                key.data[1].close()  # belongs to another proxy
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
