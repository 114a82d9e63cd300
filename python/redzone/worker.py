"""`python -m redzone.worker`: a process that runs trials of Python targets for the driver.

It takes the flags of `redzone worker` and `--python-file FILE`, once for each file. Started by the
driver, not by people. What it prints goes to the driver's log of the worker.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import itertools
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from .arrays import arrays_named, kind_of
from .calls import BoundCall, BoundReference, WrongCall
from .cuda import CurrentStream, connect_torch
from .describe import description
from .device import VARIABLE as DEVICE
from .files import FileError, Files, MissingModule, exception_text
from .library import DESTROY, MAKE, REFERENCE, RUN, TRIAL, Callbacks, LibraryError, open_library
from .progress import Progress
from .targets import Target

# Trials run in one thread, the same way each time, and a process with one thread can be forked. Read
# when numpy and torch are imported.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# The garbage of trials is collected between them, once there is this much of it.
_GARBAGE = 2000


class Instance:
    """A target during a trial, or for the process: its callable, and results not yet collected."""

    def __init__(self, target: Target) -> None:
        self.target = target
        made: Any = target.callable() if inspect.isclass(target.callable) else target.callable
        self.callable: Callable[..., Any] = made
        self.results: dict[tuple[int, int], list[Any]] = {}


class Worker:
    """The callbacks of the library. None of them lets an exception out."""

    def __init__(self, files: Files, targets: Sequence[Target], library: ctypes.CDLL, device: str) -> None:
        self._files = files
        self._library = library
        self._targets = {t.name: t for t in targets}
        kinds = {t.name: kind_of(t) for t in targets}
        arrays = {kind: arrays_named(kind, device) for kind in set(kinds.values())}
        self._arrays = {name: arrays[kind] for name, kind in kinds.items()}
        self._calls = {t.name: BoundCall(t, self._arrays[t.name], library) for t in targets}
        self._references = {
            t.name: BoundReference(t, self._arrays[t.name], library)
            for t in targets
            if t.reference is not None
        }
        self._instances: dict[int, Instance] = {}
        self._ids = itertools.count()
        self._progress = Progress(lambda what: library.rz_progress(what.encode()))
        self._cuda = CurrentStream() if device == "cuda" else None

    def make(self, _: Any, name: bytes) -> int:
        try:
            target = self._targets[name.decode()]
            # One for the process may import a compiler, which takes seconds.
            with self._progress.during(f"makes {target.name}", target.state == "process"):
                instance = Instance(target)
            self._progress.hook()
        except BaseException as error:
            self._library.rz_error(self._told(error).encode())
            return -1
        key = next(self._ids)
        self._instances[key] = instance
        return key

    def destroy(self, _: Any, key: int) -> None:
        self._instances.pop(key, None)

    def run(self, _: Any, key: int, call: int) -> None:
        instance = self._instances[key]
        target = instance.target
        try:
            self._seed(target, self._library.rz_call_seed(call))
            if self._cuda is not None:
                self._cuda.enter(self._library.rz_call_stream(call))
            results = self._calls[target.name].run(instance.callable, call)
            if results:
                instance.results[self._key(call)] = results
        except WrongCall as error:
            self._fail(call, error.code, f"{target.place}: {error}")
        except target.rejects as error:
            self._library.rz_call_unsupported(call, self._told(error).encode())
        except BaseException as error:
            self._fail(call, f"exception: {type(error).__name__}", self._told(error))

    def collect(self, _: Any, key: int, call: int) -> None:
        instance = self._instances[key]
        results = instance.results.pop(self._key(call), None)
        if results is None:
            return
        try:
            self._calls[instance.target.name].collect(results, call)
        except BaseException as error:
            self._fail(call, f"exception: {type(error).__name__}", self._told(error))

    def reference(self, _: Any, name: bytes, reference: int) -> None:
        target = self._targets[name.decode()]
        try:
            self._seed(target, 0)
            self._references[target.name].run(reference)
        except BaseException as error:
            told = self._told(error)
            self._library.rz_reference_fail(reference, told.encode())

    def trial(self, _: Any, begins: int) -> None:
        # Frees happen by reference count within a trial, so in the same order each time.
        if begins:
            # Of a trial that ended before they were collected.
            for instance in self._instances.values():
                instance.results.clear()
            self._progress.hook()
            gc.disable()
        elif gc.get_count()[0] > _GARBAGE:
            gc.collect()

    def serve(self, arguments: Sequence[str], described: str) -> int:
        """Runs trials until the driver has had enough; the exit code."""
        callbacks = Callbacks(
            None,
            MAKE(self.make),
            DESTROY(self.destroy),
            RUN(self.run),
            RUN(self.collect),
            REFERENCE(self.reference),
            TRIAL(self.trial),
        )
        words = (ctypes.c_char_p * len(arguments))(*[os.fsencode(a) for a in arguments])
        return int(
            self._library.rz_worker_main(len(arguments), words, described.encode(), ctypes.byref(callbacks))
        )

    def _key(self, call: int) -> tuple[int, int]:
        return self._library.rz_call_index(call), self._library.rz_call_repeat(call)

    def _seed(self, target: Target, seed: int) -> None:
        random.seed(seed)
        self._arrays[target.name].seed(seed)

    def _fail(self, call: int, code: str, message: str) -> None:
        self._library.rz_call_fail(call, code.encode(), message.encode())

    def _told(self, error: BaseException) -> str:
        """`my.py:12: text`, with the user's innermost line."""
        at = self._files.short_line(error.__traceback__)
        text = exception_text(error)
        return f"{at}: {text}" if at else text


def _values_of(flag: str, arguments: Sequence[str]) -> list[str]:
    """Values of `--flag VALUE` and `--flag=VALUE`."""
    found = [arguments[i + 1] for i, a in enumerate(arguments[:-1]) if a == flag]
    return found + [a[len(flag) + 1 :] for a in arguments if a.startswith(flag + "=")]


@dataclass(frozen=True)
class Prepared:
    """All that a worker needs before it has descriptors, which forked processes share."""

    files: Files
    targets: list[Target]
    library: ctypes.CDLL
    device: str
    description: str

    def worker(self) -> Worker:
        return Worker(self.files, self.targets, self.library, self.device)


def prepare(arguments: Sequence[str]) -> Prepared:
    """Imports the files that the flags of a worker name. Raises FileError and LibraryError."""
    library = open_library()
    for variable in _THREADS:
        os.environ.setdefault(variable, "1")
    device = "cuda" if (_values_of("--device", arguments) or ["host"])[-1] == "cuda" else "cpu"
    os.environ[DEVICE] = device
    if device != "cuda":
        # Read when a kernel is declared, so before the files are imported.
        os.environ.setdefault("TRITON_INTERPRET", "1")
    else:
        connect_torch(library)
    files = Files(_values_of("--python-file", arguments))
    targets = files.load()
    return Prepared(files, targets, library, device, json.dumps(description(files, targets)))


def main() -> NoReturn:
    arguments = sys.argv[1:]
    code = 3
    try:
        prepared = prepare(arguments)
        gc.collect()
        gc.freeze()
        code = prepared.worker().serve(arguments, prepared.description)
    except (FileError, LibraryError) as error:
        print(error, file=sys.stderr)
        code = 2 if isinstance(error, FileError) and not isinstance(error, MissingModule) else 3
    sys.stdout.flush()
    sys.stderr.flush()
    # Exit handlers of the user's modules are not Redzone's to run.
    os._exit(code)


if __name__ == "__main__":
    main()
