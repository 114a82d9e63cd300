"""The backends of torch.nn.functional.scaled_dot_product_attention as targets.

    redzone run torch_attention.py --device cuda

A backend that does not take a shape refuses it; the call is then not applicable.
"""

import redzone as rz
import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

B, H, S, T, E = rz.dims(B=(1, 16), H=(1, 16), S=(1, 2048), T=(1, 2048), E=(1, 256))

LAYOUT = ("heads_first", "slice", "offset")
BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}  # fmt: skip


def attention(q, k, v, causal):
    """Of [batch, tokens, heads, columns], from the definition."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2)


def declare(name, backend, dtype, tol):
    def run(q, k, v, causal):
        with sdpa_kernel([backend]):
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            return functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal)).transpose(1, 2)

    def input_of(tokens):
        return rz.In(dtype, B, tokens, H, E, layout=LAYOUT)

    rz.target(
        run, name=f"attention.{name}.{dtype}", doc=f"the backend {backend.name} in {dtype}",
        q=input_of(S), k=input_of(T), v=input_of(T), causal=rz.knob(0, 1),
        returns=rz.Out(dtype, B, S, H, E), reference=attention, tol=tol, rejects=RuntimeError,
        work=4 * B * H * S * T * E, deterministic=False,
    )  # fmt: skip


for each, backend in BACKENDS.items():
    if rz.device() == "cpu" and each in ("efficient", "cudnn"):
        continue
    declare(each, backend, "bf16", (0.03, 0.03))
    if each != "cudnn":
        declare(each, backend, "f32" if each in ("math", "efficient") or rz.device() == "cpu" else "f16",
                (0.005, 0.01))  # fmt: skip
