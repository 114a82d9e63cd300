"""`python -m redzone.bare --workload FILE --socket-fd N FLAGS...`: makes the calls of a benchmark's plans as
a user's own loop does, without Redzone's memory, checks and references.

Started by `redzone bench`, not by people. The workload is a JSON object: the name of the target, the
calls of each plan, and a hash, which is answered first. Lines over the socket are those of
src/bench/bare_loop.h; there is one mix.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from .calls import scalar_value
from .errors import SpecError
from .files import FileError, exception_text
from .library import LibraryError
from .spec import Knob, Tensor
from .targets import Target
from .worker import prepare

_MIX = "async"

Call = tuple[Sequence[Any], Mapping[str, Any]]  # arguments by position and by name


class Loop:
    """All calls of the plans, with tensors of their own, in torch's memory."""

    def __init__(self, target: Target, plans: Sequence[Sequence[Mapping[str, Any]]], device: str) -> None:
        import torch

        torch.set_num_threads(1)
        self._torch = torch
        self._target = target
        self._device = device
        self._plans = [[self._call(call) for call in plan] for plan in plans]
        self._calls = sum(map(len, self._plans))

    def run(self, milliseconds: int) -> tuple[int, int, float]:
        """Makes all calls again and again for at least that long: plans, calls and seconds."""
        passes, begun = 0, time.perf_counter()
        while True:
            for plan in self._plans:
                self._run_plan(plan)
            passes += 1
            took = time.perf_counter() - begun
            if 1000 * took >= milliseconds:
                return passes * len(self._plans), passes * self._calls, took

    def _run_plan(self, plan: Sequence[Call]) -> None:
        call: Any = self._target.callable
        if inspect.isclass(call):
            call = call()
        for positional, named in plan:
            call(*positional, **named)
        if self._device == "cuda":
            self._torch.cuda.synchronize()

    def _call(self, scalars: Mapping[str, Any]) -> Call:
        named = {
            a.parameter: self._tensor(a.value, scalars)
            if isinstance(a.value, Tensor)
            else scalar_value(a.value, scalars)
            for a in self._target.arguments
        }
        first = [named.pop(name) for name in self._target.parameters.positional if name in named]
        return first, named

    def _tensor(self, tensor: Tensor, scalars: Mapping[str, Any]) -> Any:
        from .torch_arrays import dtype_of

        name = scalars[tensor.dtype.name] if isinstance(tensor.dtype, Knob) else tensor.dtype
        shape = [extent.value(scalars) for extent in tensor.shape]
        return self._torch.rand(shape, device=self._device).to(dtype_of(name))


def serve(link: socket.socket, loop: Loop, workload_hash: str) -> None:
    """Answers requests until the other end is closed."""
    with link, link.makefile("r") as requests:
        link.sendall(f"ready {workload_hash}\n".encode())
        for line in requests:
            mix, _, milliseconds = line.strip().partition(" ")
            if mix != _MIX:
                answer = f"error unknown mix {mix}"
            else:
                plans, calls, seconds = loop.run(int(milliseconds))
                answer = f"ok {plans} {plans} {calls} 0 {seconds}"
            link.sendall(answer.encode() + b"\n")


def main() -> NoReturn:
    parser = argparse.ArgumentParser(prog="python -m redzone.bare")
    parser.add_argument("--workload", required=True)
    parser.add_argument("--socket-fd", type=int, required=True)
    options, flags = parser.parse_known_args()
    link = socket.socket(fileno=options.socket_fd)
    try:
        with open(options.workload) as file:
            workload = json.load(file)
        prepared = prepare(flags)
        target = next(t for t in prepared.targets if t.name == workload["target"])
        serve(link, Loop(target, workload["plans"], prepared.device), workload["hash"])
    except (FileError, LibraryError, SpecError) as error:
        link.sendall(f"error {error}\n".encode())
    except Exception as error:
        link.sendall(f"error {exception_text(error)}\n".encode())
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
