#!/usr/bin/env python3
"""FlashInfer: a misaligned address where a tensor begins one element late.

    python3 flashinfer_alignment.py     exit 1: the bug shows, 0: it does not, 2: not known

Each argument in turn is a slice of a larger tensor and begins one element after an aligned address; shapes
and strides are those of a dense tensor. The documentation asks for no alignment. Last, the ragged prefill by
fa3 gets keys of one head with a stride of 1 in that dim, as a transpose gives it, which no access uses.
"""

import subprocess
import sys

CASES = [
    ("rmsnorm", "x"), ("rmsnorm", "weight"), ("rmsnorm", "out"), ("gemma_rmsnorm", "x"),
    ("fused_add_rmsnorm", "x"), ("fused_add_rmsnorm", "residual"),
    ("silu_and_mul", "x"), ("silu_and_mul", "out"), ("gelu_and_mul", "x"), ("softmax", "logits"),
    ("ragged_prefill", "nothing"), ("ragged_prefill", "k"),
]  # fmt: skip

FAULTS = ("misaligned address", "illegal instruction")


def run(name, late):
    """The largest error of one call."""
    import flashinfer
    import torch

    torch.manual_seed(0)
    functional = torch.nn.functional

    def made(which, *shape, dtype=torch.bfloat16):
        begin = int(which == late)
        storage = torch.zeros(torch.Size(shape).numel() + begin, device="cuda", dtype=dtype)
        return storage[begin:].view(shape).copy_(torch.randn(shape))

    def normed(x, weight):
        return functional.rms_norm(x, x.shape[1:], weight, eps=1e-6)

    x, weight = made("x", 4, 128), made("weight", 128)
    exact, w = x.double(), weight.double()
    if name == "rmsnorm":
        got, want = flashinfer.rmsnorm(x, weight, out=made("out", 4, 128)), normed(exact, w)
    elif name == "gemma_rmsnorm":
        got, want = flashinfer.gemma_rmsnorm(x, weight), normed(exact, 1 + w)
    elif name == "fused_add_rmsnorm":
        residual = made("residual", 4, 128)
        want = normed(exact + residual.double(), w)
        flashinfer.fused_add_rmsnorm(x, residual, weight)
        got = x
    elif name in ("silu_and_mul", "gelu_and_mul"):
        activation = functional.silu if name == "silu_and_mul" else functional.gelu
        got = getattr(flashinfer, name)(x, out=made("out", 4, 64))
        want = activation(exact[:, :64]) * exact[:, 64:]
    elif name == "softmax":
        logits = made("logits", 4, 128, dtype=torch.float32)
        got, want = flashinfer.sampling.softmax(logits, temperature=1.0), logits.double().softmax(-1)
    else:
        q, k, v = made("q", 32, 1, 128), made("kv", 32, 1, 128), made("kv", 32, 1, 128)
        if late == "k":
            k = torch.randn(32, 128, 1, device="cuda").bfloat16().transpose(1, 2)
        workspace = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
        wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(workspace, "NHD", backend="fa3")
        begins = torch.tensor([0, 32], dtype=torch.int32)
        wrapper.plan(begins, begins, 1, 1, 128, q_data_type=q.dtype)
        got = wrapper.run(q, k, v)
        of = [t.transpose(0, 1).double() for t in (q, k, v)]
        want = functional.scaled_dot_product_attention(*of).transpose(0, 1)
    torch.cuda.synchronize()
    return (got.double() - want).abs().max().item()


def main():
    import flashinfer
    import torch

    if len(sys.argv) > 1:
        name, late = sys.argv[1:]
        how = "one element late" if late != "k" else "with a stride of 1 in its dim of size 1"
        how = "" if late == "nothing" else how
        try:
            error = run(name, late)
            said, code = f"largest error {error:.3g}", int(not error < 0.1)
        except RuntimeError as error:
            said = str(error).splitlines()[0]
            code = 1 if any(fault in said for fault in FAULTS) else 2
        wrong = "  WRONG" if code and "largest" in said else ""
        print(f"{name:<18}{late} {how}: {said}{wrong}", flush=True)
        sys.exit(code)
    if not torch.cuda.is_available():
        sys.exit(2)  # needs a GPU
    gpu = torch.cuda.get_device_name()
    print(f"FlashInfer {flashinfer.__version__}, PyTorch {torch.__version__}, {gpu}", flush=True)
    # A process for each, because a misaligned access ends all work of one.
    running = [subprocess.Popen([sys.executable, "-W", "ignore", __file__, *case],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for case in CASES]  # fmt: skip
    codes = []
    for process in running:
        print(process.communicate()[0], end="", flush=True)
        codes.append(process.returncode)
    # The one that is right, and what failed in another way.
    if codes[CASES.index(("ragged_prefill", "nothing"))] != 0 or not set(codes) <= {0, 1}:
        print("some of them could not be run")
        sys.exit(2)
    shows = any(codes)
    print("the bug shows" if shows else "the bug does not show")
    sys.exit(1 if shows else 0)


main()
