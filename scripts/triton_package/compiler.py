"""Compiles the variants of a package ahead of time: no GPU, no torch."""

import concurrent.futures.process
import json
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from .compiled import Binary, count_error
from .errors import PackageError
from .model import DTYPES, knob_numbers

# Most shared memory that a block may have, in bytes (CUDA programming guide, compute capabilities).
_SHARED_BYTES = {80: 166912, 86: 101376, 89: 101376, 90: 232448, 100: 232448, 120: 101376}


@dataclass(frozen=True)
class Source:
    """The compiler's input for a variant; equal sources give one cubin."""

    signature: tuple
    constants: tuple
    aligned: tuple  # positions of the arguments that are multiples of 16
    options: tuple


def source_of(package, variant):
    signature, constants, aligned = [], [], []
    for i, a in enumerate(package.arguments):
        a_class = variant.classes.get(a.name)
        if a.kind == "constexpr":
            signature.append((a.name, "constexpr"))
            constants.append(((i,), variant.constants[a.name]))
        elif a_class == "1":
            signature.append((a.name, "constexpr"))
            constants.append(((i,), 1))
        else:
            signature.append((a.name, _type_of(package, a, variant)))
            if a_class == "16":
                aligned.append((i,))
    return Source(
        tuple(signature), tuple(constants), tuple(aligned), tuple(sorted(variant.options().items()))
    )


def _type_of(package, argument, variant):
    if argument.kind not in ("tensor", "descriptor"):
        return argument.type
    tensor = next(t for t in package.tensors if t.name == argument.value)
    element = DTYPES[tensor.dtype_for(variant.knobs)]
    if argument.kind == "tensor":
        return "*" + element
    numbers = knob_numbers(package.knobs, variant.knobs)
    return f"tensordesc<{element}{[e(numbers) for e in argument.block_shape]}>"


def compile_sources(package, kernel, sources, arch, verbose, describe):
    """A Binary for each source, in order. `describe(source)` names the variant in error messages;
    `verbose` shows the compiler's output."""
    jobs = min(len(sources), os.cpu_count() or 1)
    # fork: the workers inherit the kernel, which cannot be pickled. This process runs no threads.
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(
        jobs, context, initializer=_start_worker, initargs=(kernel, arch, verbose)
    ) as pool:
        try:
            results = list(pool.map(_compile, sources, chunksize=1))
        except concurrent.futures.process.BrokenProcessPool:
            raise PackageError(
                package.file, "", "the compiler crashed (--verbose shows how)"
            ) from None
    for source, result in zip(sources, results):
        if isinstance(result, str):
            raise PackageError(package.file, f"variant[{describe(source)}]", result)
    return results


_worker: dict = {}


def _start_worker(kernel, arch, verbose):
    _worker.update(kernel=kernel, arch=arch)
    if not verbose:
        # A failing pass prints the whole module, from C++.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)


def _compile(source):
    """A Binary, or the error message."""
    arch = _worker["arch"]
    ast = ASTSource(
        _worker["kernel"],
        dict(source.signature),
        dict(source.constants),
        {at: [["tt.divisibility", 16]] for at in source.aligned},
    )
    try:
        compiled = triton.compile(
            ast, target=GPUTarget("cuda", arch, 32), options=_typed(dict(source.options))
        )
    except Exception as e:  # the compiler's errors have no common class
        lines = [line.strip() for line in str(e).splitlines() if line.strip()]
        return f"does not compile: {type(e).__name__}: {lines[-1] if lines else 'no message'}"
    metadata = next(p for n, p in compiled.metadata_group.items() if n.endswith(".json"))
    text = Path(metadata).read_bytes()
    shared = json.loads(text)["shared"]
    most = _SHARED_BYTES.get(arch)
    if most is not None and shared > most:
        return f"needs {shared} bytes of shared memory, and sm_{arch} has {most}"
    wrong = count_error(compiled.asm["ptx"], parameter_count(source))
    return wrong or Binary(compiled.asm["cubin"], text)


def _typed(options):
    return {k: bool(v) if k.startswith("launch_") else v for k, v in options.items()}


def parameter_count(source):
    """The number of parameters of the compiled kernel: arguments other than constants (a descriptor
    counts as its map, its shape and its strides) and two scratch pointers."""
    count = 2
    for _, kind in source.signature:
        if kind.startswith("tensordesc"):
            count += 1 + 2 * (kind.count(",") + 1)
        elif kind != "constexpr":
            count += 1
    return count
