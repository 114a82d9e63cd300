"""The backends of torch.nn.functional.scaled_dot_product_attention as targets.

    redzone run torch_attention.py --device cuda

A backend that does not take a shape or an address says so, and the call is then not applicable. Results are
compared times the number of keys, of values that are 1, 2 or 3 and weights that are about equal: a key that
is missing changes one by about its value.
"""

import redzone as rz
import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

B, H, S, T, E = rz.dims(B=(1, 16), H=(1, 16), S=(1, 2048), T=(1, 96), E=(1, 256))

LAYOUT = ("heads_first", "slice", "offset")
BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}  # fmt: skip


# Error messages of a backend for an unsupported shape or address.
REFUSALS = ("No available kernel", "not correctly aligned", "no kernel found to launch")


class Refused(Exception):
    """Of a call that a backend does not take."""


def attention(q, k, v, causal):
    """Of [batch, tokens, heads, columns], from the definition, times the number of keys."""
    keys = k.shape[1]
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2) * keys


def by_backend(backend, q, k, v, causal):
    keys = k.shape[1]
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    try:
        with sdpa_kernel([backend]):
            result = functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))
    except RuntimeError as error:
        if any(text in str(error) for text in REFUSALS):
            raise Refused(str(error).splitlines()[0]) from error
        raise
    return result.transpose(1, 2).float() * keys


def declare(name, backend, dtype):
    def run(q, k, v, causal):
        return by_backend(backend, q, k, v, causal)

    def input_of(tokens, fill):
        return rz.In(dtype, B, tokens, H, E, layout=LAYOUT, fill=fill)

    near = rz.uniform(-0.1, 0.1)
    rz.target(
        run, name=f"attention.{name}.{dtype}", doc=f"the backend {backend.name} in {dtype}",
        q=input_of(S, near), k=input_of(T, near), v=input_of(T, rz.integers(1, 3)), causal=rz.knob(0, 1),
        returns=rz.Out("f32", B, S, H, E), reference=attention, rejects=Refused, deterministic=False,
        tol=(0.3, 2**-8 if dtype == "bf16" else 2**-10), work=16 * B * H * S * T * E,
    )  # fmt: skip


for each, backend in BACKENDS.items():
    if rz.device() == "cpu" and each in ("efficient", "cudnn"):
        continue
    declare(each, backend, "bf16")
    if each != "cudnn":
        declare(each, backend, "f32" if each in ("math", "efficient") or rz.device() == "cpu" else "f16")
