"""The modules that FlashInfer compiles for flashinfer_entry_points.py.

    python3 flashinfer_modules.py [NAME...]     # compiles them, for minutes; Redzone is not needed

FlashInfer compiles a module when one of its functions is called for the first time, and keeps it in
FLASHINFER_WORKSPACE_BASE, or else in the home folder. A trial has no time for that: targets whose module is
not compiled say so. All are compiled at once, each with as many jobs as FlashInfer's MAX_JOBS says.
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from flashinfer.jit.activation import gen_act_and_mul_module
from flashinfer.jit.attention import modules as attention
from flashinfer.jit.norm import gen_norm_module
from flashinfer.jit.rope import gen_rope_module
from flashinfer.jit.sampling import gen_sampling_module

DTYPE = torch.bfloat16  # of queries, keys, values and results of attention
WIDTH = 128  # columns of a head

# Excluded: position encoding, sliding window, soft cap, and reduction in f16.
PLAIN: tuple[Any, ...] = (WIDTH, WIDTH, 0, False, False, False)
DTYPES = (DTYPE, DTYPE, DTYPE)


def ragged_fa2() -> Any:
    """The module that the wrapper asks for, which has another name than the public one."""
    make = getattr(attention, "_gen_batch_prefill_primary_module", None)
    if make is None:
        return attention.gen_batch_prefill_module("fa2", *DTYPES, torch.int32, *PLAIN)
    return make("fa2", *DTYPES, torch.int32, *PLAIN)


MODULES: dict[str, Callable[[], Any]] = {
    "norm": gen_norm_module,
    "silu": lambda: gen_act_and_mul_module("silu"),
    "gelu": lambda: gen_act_and_mul_module("gelu"),
    "rope": gen_rope_module,
    "sampling": gen_sampling_module,
    "decode": lambda: attention.gen_single_decode_module(*DTYPES, *PLAIN[:-1]),
    "single_fa2": lambda: attention.gen_single_prefill_module("fa2", *DTYPES, *PLAIN),
    "single_fa3": lambda: attention.gen_single_prefill_module("fa3", *DTYPES, *PLAIN),
    "ragged_fa2": ragged_fa2,
    "ragged_fa3": lambda: attention.gen_batch_prefill_module("fa3", *DTYPES, torch.int32, *PLAIN),
}


def is_compiled(name: str) -> bool:
    return bool(MODULES[name]().is_compiled)


def compile_module(name: str) -> str:
    """Compiles as the first call does, in the module's own folder: the record of another build, as
    build_jit_specs() makes, would not be found there, and the call would compile again. What it did."""
    begin = time.monotonic()
    try:
        MODULES[name]().build(need_lock=True)
    except RuntimeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return f"{name}: NOT compiled"
    return f"{name}: compiled in {time.monotonic() - begin:.0f} s"


if __name__ == "__main__":
    names = sys.argv[1:] or list(MODULES)
    with ThreadPoolExecutor(len(names)) as pool:
        for line in pool.map(compile_module, names):
            print(line, flush=True)
    sys.exit(0 if all(is_compiled(name) for name in names) else 1)
