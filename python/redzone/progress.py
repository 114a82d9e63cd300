"""Tells the driver that the process compiles, which is no hang.

The hooks of torch's compilers, of Triton and of Helion are found when they are imported: importing them
for their hooks would cost a second in each process.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .targets import Target, is_compiled

# Report interval for a compilation, and the time after which it counts as a hang and is no longer reported.
_EVERY_S = 0.5
_MOST_S = 600.0
# Methods of Helion's BoundKernel that compile.
HELION_COMPILES = ("__init__", "autotune", "compile_config")


class Progress:
    """Reports compilations by `compiling` and other work by `working`, from a thread of its own while
    one goes on."""

    def __init__(self, compiling: Callable[[str], None], working: Callable[[str], None]) -> None:
        self._compiling = compiling
        self._working = working
        self._hooked: set[str] = set()
        self._over: list[threading.Event] = []

    def hook(self) -> None:
        """Hooks what was imported since the last call, and what forgot it. Cheap where nothing did."""
        self._hook_dynamo(sys.modules.get("torch._dynamo.callback"))
        for name, hook in (("triton", self._hook_triton), ("helion.runtime.kernel", self._hook_helion)):
            if name in sys.modules and name not in self._hooked:
                self._hooked.add(name)
                hook(sys.modules[name])

    def begin(self, what: str) -> None:
        """A compilation begins; they may nest."""
        self._begin(what, self._compiling)

    def _begin(self, what: str, report: Callable[[str], None]) -> None:
        over = threading.Event()
        self._over.append(over)
        report(what)

        def tell() -> None:
            for _ in range(int(_MOST_S / _EVERY_S)):
                if over.wait(_EVERY_S):
                    return
                report(what)

        threading.Thread(target=tell, name="redzone-progress", daemon=True).start()

    @contextlib.contextmanager
    def during(self, what: str, long: bool) -> Iterator[None]:
        """Reports work of the block as progress, if it may be long: a thread costs more than most
        trials."""
        if not long:
            yield
            return
        self._begin(what, self._working)
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        """The innermost compilation has ended."""
        if self._over:
            self._over.pop().set()

    def settle(self) -> None:
        """Nothing compiles any more. Compilers do not tell of the end of one that failed."""
        while self._over:
            self.end()

    def _hook_dynamo(self, callback: Any) -> None:
        handler = getattr(callback, "callback_handler", None)
        # torch._dynamo.reset() and a strict torch.export remove all callbacks.
        if handler is None or self._dynamo_begins in handler.start_callbacks:
            return
        handler.register_start_callback(self._dynamo_begins)
        handler.register_end_callback(self._dynamo_ends)

    def _dynamo_begins(self, *_: Any) -> None:
        self.begin("compiles by torch.compile")

    def _dynamo_ends(self, *_: Any) -> None:
        self.end()

    def _hook_triton(self, triton: Any) -> None:
        runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
        if runtime is None:
            return
        before, after = runtime.jit_cache_hook, runtime.jit_post_compile_hook

        def begins(*arguments: Any, **named: Any) -> Any:
            self.begin(f"compiles the Triton kernel {_kernel(named)}")
            return before(*arguments, **named) if before is not None else None

        def ends(*arguments: Any, **named: Any) -> Any:
            self.end()
            return after(*arguments, **named) if after is not None else None

        runtime.jit_cache_hook, runtime.jit_post_compile_hook = begins, ends

    def _hook_helion(self, kernel: Any) -> None:
        """Helion calls nobody when it lowers a function, searches for a configuration, or writes a kernel
        for one. Where it interprets nothing is compiled."""
        if os.environ.get("HELION_INTERPRET", "").strip().lower() in ("1", "true", "yes", "on"):
            return
        bound = getattr(kernel, "BoundKernel", None)
        for name in HELION_COMPILES:
            method = getattr(bound, name, None)
            if method is not None:
                setattr(bound, name, self._told(method, "compiles by Helion"))

    def _told(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """The function, each call of which is a compilation."""

        @functools.wraps(function)
        def told(*arguments: Any, **named: Any) -> Any:
            self.begin(what)
            try:
                return function(*arguments, **named)
            finally:
                self.end()

        return told


def prepare_inductor(targets: Iterable[Target]) -> None:
    """Lets Inductor find out which instructions its C++ compiler and the processor have, if a target
    is compiled: a process for each set of them, which imports torch. Processes that are forked
    afterwards need not."""
    if not any(is_compiled(t.callable) for t in targets):
        return
    # Private API: without it each worker determines the instructions itself
    with contextlib.suppress(Exception):
        importlib.import_module("torch._inductor.compile_fx")
        importlib.import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()


def compile_no_vectors(targets: Iterable[Target]) -> None:
    """Keeps Inductor from finding out about the processor, which takes each process that compiles for a
    GPU some 40 s: ten processes, one after the other, each of which imports torch. Only the code around
    kernels is compiled for the processor there. What the user has set stays."""
    if not any(is_compiled(t.callable) for t in targets):
        return
    with contextlib.suppress(Exception):  # private API
        cpp = importlib.import_module("torch._inductor.config").cpp
        if cpp.vec_isa_ok is None:
            cpp.vec_isa_ok = False


def _kernel(named: dict[str, Any]) -> str:
    function = named.get("fn")
    return str(getattr(function, "name", None) or getattr(function, "__name__", None) or "")
