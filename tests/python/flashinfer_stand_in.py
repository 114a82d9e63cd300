"""FlashInfer's entry points computed by PyTorch, and targets over them that run on a CPU: what the targets
pass, and what they expect, is tested without FlashInfer and without a GPU.
"""

import math
import pathlib
import sys
import types

import redzone as rz
import torch
from torch.nn import functional


def rmsnorm(x, weight, eps, out=None):
    wide = x.float()
    out.copy_(wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps) * weight.float())


def gemma_rmsnorm(x, weight, eps, out=None):
    rmsnorm(x, weight.float() + 1, eps, out)


def fused_add_rmsnorm(x, residual, weight, eps):
    residual += x
    rmsnorm(residual, weight, eps, x)


def silu_and_mul(x, out):
    gate, up = x.float().chunk(2, -1)
    return out.copy_(functional.silu(gate) * up)


def gelu_and_mul(x, out):
    gate, up = x.float().chunk(2, -1)
    return out.copy_(functional.gelu(gate) * up)


def apply_rope_with_cos_sin_cache_inplace(positions, query, key, head_size, cache, is_neox=True):
    for x in (query, key):
        heads = x.view(x.shape[0], -1, head_size)[..., : cache.shape[1]]
        half = cache.shape[1] // 2
        at = cache[positions.long()][:, None]
        cosine, sine = at[..., :half], at[..., half:]
        left, right = (
            (heads[..., :half], heads[..., half:]) if is_neox else (heads[..., 0::2], heads[..., 1::2])
        )
        a, b = left.float().clone(), right.float().clone()
        left.copy_(a * cosine - b * sine)
        right.copy_(a * sine + b * cosine)


def keeping(probs, least):
    kept = probs.where(probs >= least, 0)
    return kept / kept.sum(-1, keepdim=True)


def kth_largest(x, k):
    return x.sort(-1, descending=True).values.gather(-1, k.long()[:, None] - 1)


def top_k_renorm_probs(probs, top_k):
    return keeping(probs, kth_largest(probs, top_k))


def top_p_renorm_probs(probs, top_p, is_deterministic=False):
    falling = probs.double().sort(-1, descending=True).values
    needed = (falling.cumsum(-1) < top_p.double()[:, None]).sum(-1) + 1
    return keeping(probs, kth_largest(probs, needed))


def top_k_mask_logits(logits, top_k):
    return logits.where(logits >= kth_largest(logits, top_k), -math.inf)


def softmax(logits, temperature):
    return (logits / temperature[:, None]).softmax(-1)


def sampling_from_probs(probs, indices, seed, offset):
    return probs[indices.long()].argmax(-1).to(indices.dtype)


def top_k_sampling_from_probs(probs, top_k, seed, offset):
    assert top_k == 1
    return probs.argmax(-1).int()


def single_prefill_with_kv_cache(q, k, v, causal, backend, return_lse):
    groups = q.shape[1] // k.shape[1]
    scores = torch.einsum("qhd,khd->hqk", q.float(), k.float().repeat_interleave(groups, 1)) / math.sqrt(
        q.shape[2]
    )
    if causal:
        row, column = torch.arange(q.shape[0])[:, None], torch.arange(k.shape[0])
        scores = scores.where(column <= row + k.shape[0] - q.shape[0], -math.inf)
    weights = scores.softmax(-1)
    out = torch.einsum("hqk,khd->qhd", weights, v.float().repeat_interleave(groups, 1))
    return out.to(q.dtype), (scores.logsumexp(-1) / math.log(2)).mT.contiguous()


def single_decode_with_kv_cache(q, k, v, return_lse):
    assert q.is_contiguous() and k.is_contiguous() and v.is_contiguous()
    out, lse = single_prefill_with_kv_cache(q[None], k, v, False, "", True)
    return out[0], lse[0]


class BatchPrefillWithRaggedKVCacheWrapper:
    def __init__(self, workspace, layout, backend):
        assert layout == "NHD"

    def plan(self, q_offsets, k_offsets, q_heads, k_heads, width, causal, q_data_type):
        self.planned = q_offsets.tolist(), k_offsets.tolist(), causal

    def run(self, q, k, v, return_lse):
        q_offsets, k_offsets, causal = self.planned
        assert len(q_offsets) == len(k_offsets)
        out, lse = torch.empty_like(q, memory_format=torch.contiguous_format), torch.empty(q.shape[:2])
        for b in range(len(q_offsets) - 1):
            rows, keys = slice(*q_offsets[b : b + 2]), slice(*k_offsets[b : b + 2])
            if rows.stop > rows.start:
                inputs = q[rows], k[keys], v[keys]
                out[rows], lse[rows] = single_prefill_with_kv_cache(*inputs, causal, "", True)
        return out, lse


stand_in = types.ModuleType("flashinfer")
stand_in.__dict__.update({name: value for name, value in globals().items() if not name.startswith("_")})
stand_in.sampling = stand_in  # type: ignore[attr-defined]
modules = types.ModuleType("flashinfer_modules")
modules.is_compiled = lambda name: True  # type: ignore[attr-defined]
sys.modules.update({"flashinfer": stand_in, "flashinfer_modules": modules})
torch.cuda.get_device_capability = lambda *_: (9, 0)
rz.device = lambda: "cuda"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/targets"))
import flashinfer_entry_points  # noqa: F401
