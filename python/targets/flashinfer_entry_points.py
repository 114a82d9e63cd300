"""FlashInfer's Python entry points as targets: attention, norms, activations, rotary embeddings, sampling.

    python3 flashinfer_modules.py                            # compiles them first, for minutes
    redzone run flashinfer_entry_points.py --device cuda

The kernels run on a GPU only: elsewhere the targets are listed, and not applicable. A comment says what
FlashInfer's docstrings (0.7.2.post1) promise. None of them mentions the alignment of an address or a stride,
and most kernels read 16 bytes at a time wherever the number of columns allows it. What fails for a reason
that is known is a target of its own, so that it hides nothing else: tensors that are aligned to their
elements only (`.unaligned`), rows with padding that the activations do not see (`.rows`), offsets on the host
(`.host_offsets`) and strides of dims of size 1 (`.unit_strides`).
"""

import functools
import math
import random
import sys
from typing import Any

import redzone as rz
import torch
from torch.nn import functional

if rz.device() == "cuda":
    import flashinfer
    import flashinfer_modules

WIDTH = 128  # columns of an attention head
VECTOR = 8  # elements of 2 bytes per vector load

B, M, N = rz.dims(B=(1, 32), M=(1, 256), N=(1, 8192))  # batch items, rows, columns
HK, G = rz.dims(HK=(1, 8), G=(1, 8))  # key/value heads, query heads per key/value head
GD = rz.dim("GD", values=[1, 2, 3, 4, 6, 8])  # the decode refuses groups of 5 and 7: "Unsupported group_size"
TQ = rz.dim("TQ", 1, 2048, tile=128)  # total queries of all sequences
X = rz.dim("X", 0, 4096, tile=128)  # number of keys beyond the number of queries
L = rz.dim("L", 0, 63)  # selects the lengths of the sequences
T, P = rz.dims(T=(1, 256), P=(1, 512))  # tokens, positions
E = rz.dim("E", values=[64, 128, 256])  # columns of a head
R = rz.dim("R", values=[32, 64, 128, 256])  # rotated columns of a head
V = rz.dim("V", 2, 32768)  # classes

ROWS = ("row_padding", "offset")
NHD = ("row_padding", "offset", "slice", "heads_first")
HALF = 2**-9  # tolerance for a result in f16: two roundings


class Refused(Exception):
    """Of a call that cannot be made here."""


@functools.cache
def refusal(module):
    """Why nothing that needs a module of FlashInfer can run here, or ""."""
    if rz.device() != "cuda":
        return "FlashInfer's kernels run on a GPU only"
    if module.endswith("fa3") and torch.cuda.get_device_capability()[0] != 9:
        return "FlashInfer's backend fa3 is for compute capability 9.0"
    if not flashinfer_modules.is_compiled(module):
        compiles = f"{sys.executable} {flashinfer_modules.__file__} {module}"
        return f"FlashInfer's module {module} is not compiled: {compiles}"
    return ""


def need(module):
    if reason := refusal(module):
        raise Refused(reason)


def entry_point(name, module, **given):
    """Declares a function as a target that needs a module of FlashInfer."""

    def declare(function):
        @functools.wraps(function)
        def run(*arguments, **named):
            need(module)
            return function(*arguments, **named)

        rz.target(run, name=f"flashinfer.{name}", rejects=Refused, **given)
        return function

    return declare


# --- Norms -------------------------------------------------------------------------------------------------
#
# "input: Input tensor, 2D shape (batch_size, hidden_size) or 3D shape (batch_size, num_heads, hidden_size)",
# "out: The output tensor, if specified, the kernel will update this tensor inplace". Elements are 2 or 3: one
# missing square changes a mean of up to 256 squares by more than the tolerance, and eight missing squares
# change a mean of up to 2,048.

TWO_OR_THREE = rz.integers(2, 3)
NORM = 2.0**-10
EPSILON = 1e-6


def divided_by_rms(x, factor):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPSILON) * factor


def declare_norms(suffix, **how):
    """`how`: the alignment of all tensors."""
    row = {"layout": ROWS, **how}
    x = rz.In("f16", M, N, fill=TWO_OR_THREE, **row)
    weight = rz.In("f16", N, fill=rz.integers(1, 3), **how)
    out = rz.Out("f16", M, N, tol=(0, NORM), **row)

    @entry_point(f"rmsnorm{suffix}", "norm", x=x, weight=weight, out=out, reference=divided_by_weighted)
    def rmsnorm(x, weight, out):
        """rows divided by their root mean square, into a tensor that is given"""
        flashinfer.rmsnorm(x, weight, EPSILON, out=out)

    @entry_point(
        f"gemma_rmsnorm{suffix}", "norm", x=x, weight=weight, out=out,
        reference=lambda x, weight: divided_by_rms(x, weight + 1),
    )  # fmt: skip
    def gemma_rmsnorm(x, weight, out):
        """the same times a weight to which 1 is added"""
        flashinfer.gemma_rmsnorm(x, weight, EPSILON, out=out)

    # "Step 1: residual[i] += input[i]. Step 2: input[i] = (residual[i] / RMS(residual)) * weight[i]"
    @entry_point(
        f"fused_add_rmsnorm{suffix}", "norm",
        x=rz.InOut("f16", M, N, fill=TWO_OR_THREE, tol=(0, NORM), **row),
        residual=rz.InOut("f16", M, N, fill=TWO_OR_THREE, tol=(0, 0), **row), weight=weight,
        reference=lambda x, residual, weight: (divided_by_rms(x + residual, weight), x + residual),
    )  # fmt: skip
    def fused_add_rmsnorm(x, residual, weight):
        """a sum and its norm, both in place"""
        flashinfer.fused_add_rmsnorm(x, residual, weight, EPSILON)


def divided_by_weighted(x, weight):
    return divided_by_rms(x, weight)


declare_norms("", align=16, granule=VECTOR)
declare_norms(".unaligned", align=2)


@entry_point(
    "rmsnorm.heads", "norm", weight=rz.In("f16", E, align=16, fill=rz.integers(1, 3)),
    x=rz.In("f16", T, HK, E, layout=NHD, align=16, granule=VECTOR, fill=TWO_OR_THREE),
    out=rz.Out("f16", T, HK, E, layout=NHD, align=16, granule=VECTOR, tol=(0, NORM)),
    reference=divided_by_weighted,
)  # fmt: skip
def rmsnorm_of_heads(x, weight, out):
    """the norm of each head, as of the queries in a packed tensor"""
    flashinfer.rmsnorm(x, weight, EPSILON, out=out)


# --- Activations -------------------------------------------------------------------------------------------
#
# "input: Input tensor, shape (..., 2 * hidden_size)", "out: The output tensor, if specified, the kernel will
# update this tensor inplace". The documentation does not require contiguous tensors, and strides are not
# checked: rows of a wider tensor are a target of their own, `.rows`.


def declare_activation(name, function, reference):
    doc = f"{name} of the left half of each row, times the right half"
    variants: dict[str, dict[str, Any]] = {
        "": {"align": 16}, ".unaligned": {"align": 2, "layout": "offset"},
        ".rows": {"align": 16, "layout": "row_padding", "granule": VECTOR},
    }  # fmt: skip
    for suffix, how in variants.items():
        entry_point(
            f"{name}_and_mul{suffix}", name, doc=doc, tol=(HALF, HALF),
            x=rz.In("f16", M, 2 * N, fill=rz.uniform(-4, 4), **how), out=rz.Out("f16", M, N, **how),
            reference=lambda x: reference(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1],
        )(function)  # fmt: skip


def silu_and_mul(x, out):
    flashinfer.silu_and_mul(x, out)


def gelu_and_mul(x, out):
    flashinfer.gelu_and_mul(x, out)


declare_activation("silu", silu_and_mul, functional.silu)
declare_activation("gelu", gelu_and_mul, functional.gelu)


# --- Rotary embeddings -------------------------------------------------------------------------------------
#
# "positions: shape (nnz)", "query: shape (nnz, num_q_heads * head_size)", "cos_sin_cache: shape (max_seq_len,
# rotary_dim). Cosine is the first half and Sine is the second half", "The result is inplace applied". Queries
# and keys may be rows of a packed tensor, as in the example of apply_rope_inplace, which uses these kernels.


def rotated(x, positions, cache, width, is_neox):
    tokens, heads, turned = x.shape[0], x.shape[1] // width, cache.shape[1]
    x = x.reshape(tokens, heads, width)
    cosine, sine = cache[positions][:, None].chunk(2, -1)
    part, rest = x[..., :turned], x[..., turned:]
    left, right = part.chunk(2, -1) if is_neox else (part[..., ::2], part[..., 1::2])
    pair = left * cosine - right * sine, right * cosine + left * sine
    part = torch.cat(pair, -1) if is_neox else torch.stack(pair, -1).flatten(-2)
    return torch.cat([part, rest], -1).reshape(tokens, heads * width)


def rotated_pair(query, key, positions, cache, width, is_neox):
    return rotated(query, positions, cache, width, is_neox), rotated(key, positions, cache, width, is_neox)


@entry_point(
    "apply_rope", "rope", positions=rz.In(rz.knob("i32", "i64", name="index"), T, fill=rz.integers(0, P - 1)),
    query=rz.InOut("f16", T, HK * G * E, layout=ROWS, align=16, granule=VECTOR),
    key=rz.InOut("f16", T, HK * E, layout=ROWS, align=16, granule=VECTOR),
    cache=rz.In("f32", P, R, align=16), width=E, is_neox=rz.knob(1, 0), require=[R <= E],
    reference=rotated_pair, tol=(HALF, HALF),
)  # fmt: skip
def apply_rope(positions, query, key, cache, width, is_neox):
    """the first columns of heads, or all, turned in pairs and in place"""
    flashinfer.apply_rope_with_cos_sin_cache_inplace(positions, query, key, width, cache, bool(is_neox))


# --- Sampling ----------------------------------------------------------------------------------------------
#
# "probs: Probabilities, shape (batch_size, num_classes)", "top_k: Either a scalar or a tensor of shape
# (batch_size,) [...] should be in (0, num_classes)". The treatment of equal probabilities is not
# documented, so all probabilities of a row differ; they are within a factor of two, so that each counts.


def ranks(x):
    """Of the elements in their rows, from 0."""
    return x.argsort(stable=True).argsort(stable=True)


def as_probabilities(x):
    weights = (ranks(x) + (x.shape[-1] + 1)).to(torch.float64)
    return weights / weights.sum(-1, keepdim=True)


def largest(x, k):
    """Whether an element is one of the k largest of its row."""
    return ranks(x) >= x.shape[-1] - k[:, None]


def renormed(x, k):
    kept = as_probabilities(x) * largest(x, k)
    return kept / kept.sum(-1, keepdim=True)


CLASSES = {
    "x": rz.InOut("f32", B, V, align=16, tol=(0, 1e-6)), "k": rz.In("i32", B, fill=rz.integers(1, V - 1)),
}  # fmt: skip
RENORMED: dict[str, Any] = {
    "returns": {"kept": rz.Out("f32", B, V, tol=(1e-9, 8e-6))}, "deterministic": False,
}  # fmt: skip


@entry_point(
    "top_k_renorm_probs", "sampling", **CLASSES, **RENORMED,
    reference=lambda x, k: (as_probabilities(x), renormed(x, k)),
)  # fmt: skip
def top_k_renorm_probs(x, k):
    """the k largest probabilities of each row, made to sum to 1"""
    x.copy_(as_probabilities(x))
    return flashinfer.top_k_renorm_probs(x, k)


# "We mask out the probabilities less than `threshold` where the cumulative sum of probs[probs >= threshold]
# is `top_p`": with a top_p half a probability below the sum of the k largest, all k are kept.
@entry_point(
    "top_p_renorm_probs", "sampling", **CLASSES, **RENORMED, is_deterministic=rz.knob(False, True),
    reference=lambda x, k: (as_probabilities(x), renormed(x, k)),
)  # fmt: skip
def top_p_renorm_probs(x, k, is_deterministic):
    """the largest probabilities of each row that sum to p, made to sum to 1"""
    probabilities = as_probabilities(x)
    falling = probabilities.sort(-1, descending=True).values
    last = (k.long() - 1)[:, None]
    p = (falling.cumsum(-1) - falling / 2).gather(-1, last)[:, 0]
    x.copy_(probabilities)
    return flashinfer.top_p_renorm_probs(x, p.float(), is_deterministic)


# "We keep the top-k logits, set the rest to negative infinity."
@entry_point(
    "top_k_mask_logits", "sampling", **CLASSES, returns={"kept": rz.Out("f32", B, V, tol=(1e-9, 1e-6))},
    reference=lambda x, k: (as_probabilities(x), as_probabilities(x).where(largest(x, k), -1.0)),
)  # fmt: skip
def top_k_mask_logits(x, k):
    """the k largest of each row, and -inf for the others, which is compared as -1"""
    x.copy_(as_probabilities(x))
    return flashinfer.top_k_mask_logits(x, k).nan_to_num(nan=math.nan, neginf=-1.0)


# "logits: Two-dimensional CUDA tensor of logits", "temperature: Either a scalar or a tensor of shape
# (batch_size,)". Logits are about equal, so a missing term changes a sum by 1 / V.
def declare_softmax(suffix, **how):
    @entry_point(
        f"softmax{suffix}", "sampling", x=rz.In("f32", B, V, fill=rz.uniform(-0.1, 0.1), **how),
        temperature=rz.In("f32", B, fill=rz.uniform(0.5, 2)), returns=rz.Out("f32", B, V),
        reference=lambda x, temperature: (x / temperature[:, None]).softmax(-1), tol=(1e-12, 1e-5),
    )  # fmt: skip
    def softmax(x, temperature):
        """softmax of each row by its own temperature"""
        return flashinfer.sampling.softmax(x, temperature)


declare_softmax("", align=16)
declare_softmax(".unaligned", align=4, layout="offset")


# "indices: if indices[i] = j, then the i-th output will be sampled from probs[j]", "the output tensor will
# have the same dtype as indices". If a row is 1 for one class, each sample is that class.
@entry_point(
    "sampling_from_probs", "sampling", probs=rz.InOut("f32", B, V, fill=rz.constant(0), tol=(0, 0), align=16),
    chosen=rz.In("i64", B, fill=rz.integers(0, V - 1)), indices=rz.In("i32", T, fill=rz.integers(0, B - 1)),
    seed=rz.knob(0, 1, 2**31), returns={"samples": rz.Out("i32", T)},
    reference=lambda probs, chosen, indices: (probs.scatter(-1, chosen[:, None], 1.0), chosen[indices]),
)  # fmt: skip
def sampling_from_probs(probs, chosen, indices, seed):
    """samples of rows in which one class has all of the probability"""
    probs.scatter_(-1, chosen[:, None], 1.0)
    return flashinfer.sampling.sampling_from_probs(probs, indices, seed=seed, offset=0)


@entry_point(
    "top_k_sampling_from_probs", "sampling", x=CLASSES["x"], returns={"samples": rz.Out("i32", B)},
    reference=lambda x: (as_probabilities(x), x.argsort(stable=True)[:, -1]),
)  # fmt: skip
def top_k_sampling_from_probs(x):
    """samples of the largest class"""
    x.copy_(as_probabilities(x))
    return flashinfer.sampling.top_k_sampling_from_probs(x, 1, seed=1, offset=0)


# --- Attention ---------------------------------------------------------------------------------------------
#
# "q: shape [qo_len, num_qo_heads, head_dim_qk]", "k: shape [kv_len, num_kv_heads, head_dim_qk] if kv_layout
# is NHD", "num_qo_heads must be a multiple of num_kv_heads". No strides are named, and the functions pass
# them on; those of dims that are used are multiples of 16 bytes, as TMA requires. fa3 hands TMA those of dims
# of size 1, too (flashinfer-ai/flashinfer#2150). Only the decode requires contiguous tensors.
#
# There is a key for each query, so that each row sees a key. A missing key changes the logarithm of the sum
# by about 1 / keys, and the result by about its value / keys, which exceeds the tolerance for up to 30 keys.

NEAR = rz.uniform(-0.1, 0.1)
NHD_ARGUMENT: dict[str, Any] = {"layout": NHD, "align": 16, "granule": VECTOR}
UNIT_STRIDES = NHD_ARGUMENT | {"layout": (*NHD, "unit_strides")}
ATTENTION, LOGARITHM = (2**-6, 2**-7), (1e-4, 0)
# fa2 sums powers that are rounded to bf16: the relative error of a sum is up to 2^-9, and the error of its
# logarithm up to 0.0028.
LOGARITHM_OF = {"fa2": (3e-3, 0), "fa3": LOGARITHM}
WORKSPACE_BYTES = 128 * 1024 * 1024  # "The recommended size is 128MB"


def attended(q, k, v, causal):
    """softmax(q k^T) v of [tokens, heads, columns], and the base-2 logarithm of the sums, in q's type."""
    heads = q.shape[1] // k.shape[1]
    q, k, v = (t.transpose(0, 1) for t in (q, k.repeat_interleave(heads, 1), v.repeat_interleave(heads, 1)))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
        scores = scores.masked_fill(~seen.tril(k.shape[1] - q.shape[1]), -math.inf)
    lse = scores.logsumexp(-1).mT / math.log(2)
    return (scores.softmax(-1) @ v).transpose(0, 1), lse


def offsets_of(total, batch, lengths):
    """Offsets of sequences, of about equal lengths for 0, else of random ones, some of which may be empty."""
    if lengths == 0:
        return [total * b // batch for b in range(batch + 1)]
    return [0, *sorted(random.Random(lengths).choices(range(total + 1), k=batch - 1)), total]


def offsets_of_both(queries, more_keys, batch, lengths):
    """Of the queries and of the keys, of which each sequence has as many or more."""
    q = offsets_of(queries, batch, lengths)
    more = offsets_of(more_keys, batch, lengths)
    return q, [a + b for a, b in zip(q, more)]


def ragged_attention(q, k, v, causal, batch, lengths):
    q_offsets, k_offsets = offsets_of_both(q.shape[0], k.shape[0] - q.shape[0], batch, lengths)
    parts = [
        attended(q[a:b], k[c:d], v[c:d], causal)
        for a, b, c, d in zip(q_offsets, q_offsets[1:], k_offsets, k_offsets[1:])
        if b > a
    ]
    return tuple(torch.cat(part) for part in zip(*parts))


def prefill(tokens, keys, backend, argument):
    return {
        "q": rz.In("bf16", tokens, HK * G, WIDTH, fill=NEAR, **argument),
        "k": rz.In("bf16", keys, HK, WIDTH, fill=NEAR, **argument),
        "v": rz.In("bf16", keys, HK, WIDTH, fill=rz.integers(1, 3), **argument),
        "causal": rz.knob(0, 1), "work": 16 * tokens * keys * HK * G * WIDTH, "deterministic": False,
        "returns": {"o": rz.Out("bf16", tokens, HK * G, WIDTH, tol=ATTENTION),
                    "lse": rz.Out("f32", tokens, HK * G, tol=LOGARITHM_OF[backend])},
    }  # fmt: skip


def declare_ragged(backend, suffix="", place="device", argument=NHD_ARGUMENT):
    """`place`: where the offsets are. plan() waits for those on the device, and for nothing otherwise."""

    class Ragged:
        """One wrapper for all calls of a trial, planned anew for each, as nothing forbids."""

        def __init__(self):
            self.wrapper = None

        def __call__(self, q, k, v, causal, batch, lengths):
            need(f"ragged_{backend}")
            if self.wrapper is None:
                workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=q.device)
                made = flashinfer.BatchPrefillWithRaggedKVCacheWrapper
                self.wrapper = made(workspace, "NHD", backend=backend)
            both = offsets_of_both(q.shape[0], k.shape[0] - q.shape[0], batch, lengths)
            on = q.device if place == "device" else "cpu"
            offsets = [torch.tensor(each, dtype=torch.int32, device=on) for each in both]
            self.wrapper.plan(
                *offsets, q.shape[1], k.shape[1], WIDTH, causal=bool(causal), q_data_type=q.dtype
            )  # fmt: skip
            return self.wrapper.run(q, k, v, return_lse=True)

    rz.target(
        Ragged, name=f"flashinfer.ragged_prefill.{backend}{suffix}", rejects=Refused, batch=B, lengths=L,
        doc=f"BatchPrefillWithRaggedKVCacheWrapper by {backend}, offsets on the {place}",
        reference=ragged_attention, **prefill(TQ, TQ + X, backend, argument),
    )  # fmt: skip


def declare_single(backend, suffix="", argument=NHD_ARGUMENT):
    def single(q, k, v, causal):
        return flashinfer.single_prefill_with_kv_cache(
            q, k, v, causal=bool(causal), backend=backend, return_lse=True
        )  # fmt: skip

    entry_point(
        f"single_prefill.{backend}{suffix}", f"single_{backend}", reference=attended,
        doc=f"single_prefill_with_kv_cache by {backend}", **prefill(TQ, TQ + X, backend, argument),
    )(single)  # fmt: skip


# fa3 encodes strides of dims of size 1, too.
for name, argument in (("fa2", UNIT_STRIDES), ("fa3", NHD_ARGUMENT)):
    declare_ragged(name, argument=argument)
    declare_ragged(name, ".host_offsets", place="host", argument=argument)
    declare_single(name, argument=argument)
declare_ragged("fa3", ".unit_strides", argument=UNIT_STRIDES)
declare_single("fa3", ".unit_strides", argument=UNIT_STRIDES)


def decoded(q, k, v):
    o, lse = attended(q[None], k, v, False)
    return o[0], lse[0]


@entry_point(
    "single_decode", "decode", q=rz.In("bf16", HK * GD, WIDTH, fill=NEAR, align=16),
    k=rz.In("bf16", X + 1, HK, WIDTH, fill=NEAR, align=16),
    v=rz.In("bf16", X + 1, HK, WIDTH, fill=rz.integers(1, 3), align=16),
    reference=decoded, deterministic=False,
    returns={"o": rz.Out("bf16", HK * GD, WIDTH, tol=ATTENTION),
             "lse": rz.Out("f32", HK * GD, tol=LOGARITHM)},
)  # fmt: skip
def single_decode(q, k, v):
    """one query of each head over the keys of one request"""
    return flashinfer.single_decode_with_kv_cache(q, k, v, return_lse=True)
