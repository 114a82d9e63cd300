"""Runs PyTorch's database of operators on the CPU with its memory from the guard allocator. The operators
are correct, so nothing may fault, write beside a block, or depend on what new memory contains.

  LD_PRELOAD=build/lib/redzone/libredzone_memory.so \\
    build/torch-venv/bin/python tests/memory_preload/operators.py [--jobs N] [--least N] [--only REGEX]

Each sample of an operator runs twice: with the guard page behind its blocks and with it before them, with
another poison. Samples are made, and results compared, outside of the trials. An operator whose results
are uninitialized by its own definition is not compared, and one that is random begins with the same seed.

PyTorch's part for tests needs `numpy` and `expecttest`.

Exit codes: 0 at least --least entries (688) ran, and all as expected; 1 one did not; 3 the library is not
preloaded; 77 a module is missing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import sys
import time
import warnings
from multiprocessing.connection import Connection
from typing import Any

import preload

# Results that are uninitialized memory by definition.
UNINITIALIZED = re.compile(r"^(new_)?empty(_like|_strided|_permuted)?$")
POISONS = (0xFFFFFFFF, 0x5A5A5A5A)


class Failure(Exception):
    """What an operator did that it must not do."""


def make_samples(op: Any, torch: Any) -> list[Any]:
    supported = op.supported_dtypes("cpu")
    for dtype in (torch.float32, torch.float64, torch.int64, torch.bool, *sorted(supported, key=str)):
        if dtype in supported:
            torch.manual_seed(0)
            return list(op.sample_inputs("cpu", dtype))
    return []


class Runner:
    def __init__(self) -> None:
        import torch
        from torch.testing._internal.common_methods_invocations import op_db

        torch.set_num_threads(1)
        self.torch = torch
        self.ops = list(op_db)
        self.memory = preload.Preload()

    def run_once(self, op: Any, sample: Any, placement: int, poison: int) -> tuple[Any, str]:
        """The result, or the exception, of one sample."""
        torch = self.torch
        sample = sample.transform(lambda x: x.clone() if isinstance(x, torch.Tensor) else x)
        torch.manual_seed(0)
        with self.memory.trial(preload.GUARD, placement, poison):
            try:
                result, raised = op(sample.input, *sample.args, **sample.kwargs), ""
            except Exception as error:
                result, raised = None, type(error).__name__
            if (damaged := self.memory.next_damaged()) is not None:
                raise Failure(
                    f"wrote beside torch#{damaged.number} of {damaged.bytes} bytes, "
                    f"first at {damaged.first_dirty_byte}"
                )
            self.blocks += self.memory.count().blocks
        return result, raised

    def equal(self, a: Any, b: Any) -> bool:
        torch = self.torch
        if isinstance(a, torch.Tensor):
            try:
                torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True, check_stride=False)
            except AssertionError:
                return False
            return True
        if isinstance(a, (tuple, list)):
            return len(a) == len(b) and all(self.equal(x, y) for x, y in zip(a, b))
        return True

    def run(self, op: Any) -> dict[str, Any]:
        self.blocks = 0
        samples = make_samples(op, self.torch)
        raised = 0
        for i, sample in enumerate(samples):
            first, why_first = self.run_once(op, sample, preload.GUARD_AFTER, POISONS[0])
            second, why_second = self.run_once(op, sample, preload.GUARD_BEFORE, POISONS[1])
            if why_first != why_second:
                raise Failure(f"sample {i} raised '{why_first}', then '{why_second}'")
            raised += why_first != ""
            if not UNINITIALIZED.match(op.name) and not self.equal(first, second):
                raise Failure(f"sample {i} depends on the contents of new memory")
        return {"samples": len(samples), "raised": raised, "blocks": self.blocks}


def full_name(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def serve(indices: list[int], out: Connection) -> None:
    """In a process of its own: a fault ends it."""
    warnings.simplefilter("ignore")
    runner = Runner()
    for index in indices:
        op = runner.ops[index]
        out.send({"begins": index, "name": full_name(op)})
        try:
            out.send(runner.run(op))
        except Failure as failure:
            out.send({"failure": str(failure)})
        except Exception as error:  # of the samples, and of what they need
            out.send({"skipped": f"{type(error).__name__}: {error}"})
    out.close()


class Share:
    """The entries of one process at a time. A fault costs the process, and the next one goes on."""

    def __init__(self, indices: list[int]) -> None:
        self.left = indices
        self.results: dict[str, dict[str, Any]] = {}
        self.name = ""
        self.start()

    def start(self) -> None:
        self.channel, theirs = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=serve, args=(self.left, theirs))
        self.process.start()
        theirs.close()

    def receive(self) -> bool:
        """One message. False once all entries have their result."""
        try:
            message = self.channel.recv()
        except EOFError:
            self.process.join()
            if self.name:
                self.results[self.name] = {"failure": f"ended its process: {self.process.exitcode}"}
                self.name = ""
            elif self.left:
                raise RuntimeError("a process did not start") from None
            if self.left:
                self.start()
            return bool(self.left)
        if "begins" in message:
            self.name = message["name"]
            self.left = self.left[self.left.index(message["begins"]) + 1 :]
        else:
            self.results[self.name] = message
            self.name = ""
        return True


def run_all(indices: list[int], jobs: int) -> dict[str, dict[str, Any]]:
    shares = [Share(indices[i::jobs]) for i in range(jobs)]
    open_shares = list(shares)
    while open_shares:
        ready = multiprocessing.connection.wait([s.channel for s in open_shares])
        open_shares = [s for s in open_shares if s.channel not in ready or s.receive()]
    return {name: result for share in shares for name, result in share.results.items()}


def report(results: dict[str, dict[str, Any]], least: int, seconds: float) -> int:
    failed = {name: r["failure"] for name, r in results.items() if "failure" in r}
    skipped = {name: r["skipped"] for name, r in results.items() if "skipped" in r}
    ran = [r for r in results.values() if r.get("samples", 0) > r.get("raised", 0)]
    for name, why in sorted(skipped.items()):
        print(f"skipped {name}: {why.splitlines()[0]}")
    for name, why in sorted(failed.items()):
        print(f"FAILED  {name}: {why}")
    summary = {
        "entries": len(results),
        "ran": len(ran),
        "samples": sum(r["samples"] for r in ran),
        "raised": sum(r["raised"] for r in ran),
        "guarded blocks": sum(r["blocks"] for r in ran),
        "failed": len(failed),
        "seconds": round(seconds, 1),
    }
    print(json.dumps(summary))
    return 0 if not failed and len(ran) >= least else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--least", type=int, default=688)
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    options = parser.parse_args()
    begun = time.monotonic()
    try:
        names = [full_name(op) for op in Runner().ops]
    except ModuleNotFoundError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    except AttributeError as error:
        print(f"{error}: LD_PRELOAD does not name the library", file=sys.stderr)
        return 3
    indices = [i for i, name in enumerate(names) if options.only.search(name)]
    results = run_all(indices, max(1, min(options.jobs, len(indices))))
    return report(results, options.least, time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main())
