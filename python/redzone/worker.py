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
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

from . import random_numbers
from .arrays import arrays_named, kind_of
from .calls import BoundCall, BoundReference, Result, WrongCall, WrongReference
from .cuda import CurrentStream, connect_torch
from .description import description
from .device import choose_device
from .files import CODE_HASH, FileError, Files, MissingModule, exception_text
from .imports import ImportWatch
from .learning import Teller
from .library import DESTROY, MAKE, REFERENCE, RUN, TRIAL, Callbacks, LibraryError, open_library
from .numpy_memory import NumpyMemory
from .output import as_bytes, fail_check, flush, write_line
from .progress import Progress, compile_no_vectors, prepare_inductor
from .targets import Target

# Trials run in one thread, which makes them reproducible and lets the process fork. numpy and torch read
# these variables when they are imported.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TORCHINDUCTOR_COMPILE_THREADS")

# Number of uncollected objects after which garbage is collected between trials.
_GARBAGE = 2000


class Instance:
    """A target during a trial, or for the process: its callable, and results not yet collected."""

    def __init__(self, target: Target) -> None:
        self.target = target
        made: Any = target.callable() if inspect.isclass(target.callable) else target.callable
        self.callable: Callable[..., Any] = made
        self.results: dict[tuple[int, int], list[Result]] = {}


class Worker:
    """The callbacks of the library. None of them lets an exception out."""

    def __init__(
        self,
        files: Files,
        targets: Sequence[Target],
        library: ctypes.CDLL,
        device: str,
        teller: Teller | None = None,
    ) -> None:
        self._files = files
        self._library = library
        self._teller = teller
        self._targets = {t.name: t for t in targets}
        arrays = {t.name: arrays_named(kind_of(t), device) for t in targets}
        self._calls = {t.name: BoundCall(t, arrays[t.name], library) for t in targets}
        self._references = {
            t.name: BoundReference(t, arrays[t.name], library) for t in targets if t.reference is not None
        }
        self._instances: dict[int, Instance] = {}
        self._ids = itertools.count()
        self._progress = Progress(
            compiling=self._tell_compiling,
            working=lambda what: library.rz_progress(as_bytes(what)),
        )
        self._cuda = CurrentStream() if device == "cuda" else None
        self._numpy_memory = NumpyMemory()

    def make(self, _: Any, name: bytes) -> int:
        target = self._targets[name.decode()]
        try:
            # An instance that lives as long as the process may import a compiler, which takes seconds.
            with self._progress.during(f"makes {target.name}", target.state == "process"):
                instance = Instance(target)
            self._progress.hook()
        except BaseException as error:
            self._library.rz_error(as_bytes(self._code_of(error)), self._told(error))
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
            random_numbers.seed(self._library.rz_call_seed(call))
            if self._cuda is not None:
                self._cuda.enter(self._library.rz_call_stream(call))
            results = self._calls[target.name].run(instance.callable, call)
            if results:
                instance.results[self._key(call)] = results
        except WrongCall as error:
            self._fail(call, error.code, as_bytes(f"{target.place}: {error}"))
        except target.rejects as error:
            self._library.rz_call_unsupported(call, self._told(error))
        except BaseException as error:
            self._fail(call, self._code_of(error), self._told(error))
        finally:
            self._progress.settle()

    def collect(self, _: Any, key: int, call: int) -> None:
        instance = self._instances[key]
        results = instance.results.pop(self._key(call), None)
        if results is None:
            return
        try:
            if self._cuda is not None:
                self._cuda.enter(self._library.rz_call_stream(call))
            self._calls[instance.target.name].collect(results)
        except BaseException as error:
            self._fail(call, self._code_of(error), self._told(error))

    def reference(self, _: Any, name: bytes, reference: int) -> None:
        target = self._targets[name.decode()]
        try:
            random_numbers.seed(0)
            self._references[target.name].run(reference)
        except WrongReference as error:
            self._library.rz_reference_returned(reference, as_bytes(str(error)))
        except BaseException as error:
            self._library.rz_reference_fail(reference, self._told(error))
        finally:
            self._progress.settle()

    def trial(self, _: Any, begins: int) -> None:
        # Within a trial, only reference counts free objects, so frees happen in the same order each time.
        if begins:
            # Drops results of an earlier trial that ended before they were collected.
            for instance in self._instances.values():
                instance.results.clear()
            self._progress.hook()
            self._numpy_memory.set()
            if self._cuda is not None:
                self._cuda.leave()
            gc.disable()
            return
        if self._teller is not None:
            self._teller.tell()
        if gc.get_count()[0] > _GARBAGE:
            gc.collect()

    def serve(self, arguments: Sequence[str], described: str) -> int:
        """Runs trials until the driver has had enough; the exit code."""
        # An import may take as long as a compilation, because many modules compile code when imported.
        ImportWatch(self._tell_compiling).install()
        callbacks = Callbacks(
            None,
            MAKE(kept_in_process(self.make)),
            DESTROY(kept_in_process(self.destroy)),
            RUN(kept_in_process(self.run)),
            RUN(kept_in_process(self.collect)),
            REFERENCE(kept_in_process(self.reference)),
            TRIAL(kept_in_process(self.trial)),
        )
        words = (ctypes.c_char_p * len(arguments))(*[os.fsencode(a) for a in arguments])
        return int(
            self._library.rz_worker_main(len(arguments), words, described.encode(), ctypes.byref(callbacks))
        )

    def _tell_compiling(self, what: str) -> None:
        self._library.rz_compiling(as_bytes(what))

    def _key(self, call: int) -> tuple[int, int]:
        return self._library.rz_call_index(call), self._library.rz_call_repeat(call)

    def _fail(self, call: int, code: str, message: bytes) -> None:
        self._library.rz_call_fail(call, as_bytes(code), message)

    def _code_of(self, error: BaseException) -> str:
        """The type, and the user's innermost line: most of what a library refuses has one type, and
        its words may depend on the call. Memory and the stack run out anywhere."""
        code = f"exception: {type(error).__name__}"
        anywhere = isinstance(error, (MemoryError, RecursionError)) or code.endswith("OutOfMemoryError")
        at = "" if anywhere else self._files.source_line(error.__traceback__)
        return f"{code} in {at}" if at else code

    def _told(self, error: BaseException) -> bytes:
        """`my.py:12: text`, with the user's innermost line."""
        at = self._files.short_line(error.__traceback__)
        text = exception_text(error)
        return as_bytes(f"{at}: {text}" if at else text)


def kept_in_process(callback: Callable[..., Any]) -> Callable[..., Any]:
    """A callback that returns only in this process, and only if it has done its work.

    A call may fork and let the child return: the child must not talk with the driver. And ctypes
    lets an exception pass for a call that went well.
    """
    us = os.getpid()

    def kept(*arguments: Any) -> Any:
        try:
            result = callback(*arguments)
        except BaseException as error:
            if os.getpid() == us:
                fail_check(f"{callback.__qualname__}: {exception_text(error)}")
        if os.getpid() != us:
            os._exit(0)
        return result

    return kept


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
    of_driver: str
    device: str
    code_hash: str
    description: str

    def make_ready(self) -> None:
        """Does what calls need and a description does not."""
        if self.of_driver == "host":
            prepare_inductor(self.targets)
        elif self.device == "cuda":
            compile_no_vectors(self.targets)

    def worker(self, teller: Teller | None = None) -> Worker:
        """`teller`: who tells what the calls have imported."""
        return Worker(self.files, self.targets, self.library, self.device, teller)


def load(of_driver: str, files: Files, alone: Mapping[str, str] = MappingProxyType({})) -> Prepared:
    """Imports the files for workers of a device of the driver. `alone`: their hashes, for the driver.
    Raises FileError and LibraryError."""
    library = open_library()
    for variable in _THREADS:
        os.environ[variable] = "1"
    device = choose_device(of_driver)
    if device == "cuda":
        connect_torch(library)
    targets = files.load()
    described = description(files, targets, alone)
    text = json.dumps(described, allow_nan=False)
    return Prepared(files, targets, library, of_driver, device, described["code_hash"], text)


def prepare(arguments: Sequence[str]) -> Prepared:
    """The same with the files and the device that the flags of a worker name, and ready for calls. Raises
    FileError as well where the code is another than the driver knows."""
    of_driver = (_values_of("--device", arguments) or ["host"])[-1]
    prepared = load(of_driver, Files(_values_of("--python-file", arguments)))
    prepared.files.check_hash(os.environ.get(CODE_HASH, ""))
    prepared.make_ready()
    return prepared


def wait_for_log() -> None:
    """What user code prints waits for the driver, which reads it soon: a print() that finds the pipe
    full would raise an exception in a call."""
    for stream in (1, 2):
        os.set_blocking(stream, True)


def main() -> NoReturn:
    arguments = sys.argv[1:]
    code = 3
    wait_for_log()
    try:
        prepared = prepare(arguments)
        gc.collect()
        gc.freeze()
        code = prepared.worker().serve(arguments, prepared.description)
    except (FileError, LibraryError) as error:
        write_line(str(error))
        code = 2 if isinstance(error, FileError) and not isinstance(error, MissingModule) else 3
    except Exception as error:
        write_line(f"the worker cannot be prepared: {exception_text(error)}")
    flush()
    # Exit handlers of the user's modules must not run here.
    os._exit(code)


if __name__ == "__main__":
    main()
