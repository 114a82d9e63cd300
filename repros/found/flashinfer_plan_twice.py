#!/usr/bin/env python3
"""FlashInfer: plan() for the next batch changes the plan of a batch that the GPU has not reached yet.

    python3 flashinfer_plan_twice.py    exit 1: the bug shows, 0: it does not, 2: not known

A BatchPrefillWithRaggedKVCacheWrapper copies its plan from one page-locked buffer to the GPU, without waiting
for the copy. Offsets that are on the host, as plan() accepts them, make nothing else wait, so a second plan()
writes into the buffer while the first copy is still in the queue of a busy stream. Two batches of two
requests with other lengths are planned and run one after the other, behind 50 ms of other work: first with a
synchronize() between them, then without.
"""

import itertools
import sys

HEADS, WIDTH = 8, 128
BATCHES = ([0, 16, 512], [0, 496, 512])  # where each request begins


def main():
    import flashinfer
    import torch

    if not torch.cuda.is_available():
        sys.exit(2)  # needs a GPU
    gpu = torch.cuda.get_device_name()
    print(f"FlashInfer {flashinfer.__version__}, PyTorch {torch.__version__}, {gpu}", flush=True)
    torch.manual_seed(0)
    q, k, v = (torch.randn(512, HEADS, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    offsets = [torch.tensor(each, dtype=torch.int32) for each in BATCHES]

    def expected(begins):
        parts = []
        for begin, end in itertools.pairwise(begins):
            of = [t[begin:end].transpose(0, 1).double() for t in (q, k, v)]
            parts.append(torch.nn.functional.scaled_dot_product_attention(*of).transpose(0, 1))
        return torch.cat(parts)

    wrong = 0
    for backend in ("fa2", "fa3"):
        workspace = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
        wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(workspace, "NHD", backend=backend)
        for waits in (True, False):
            results = []
            torch.cuda.synchronize()
            torch.cuda._sleep(int(1e8))  # about 50 ms of a GPU
            for each in offsets:
                wrapper.plan(each, each, HEADS, HEADS, WIDTH, q_data_type=q.dtype)
                results.append(wrapper.run(q, k, v))
                if waits:
                    torch.cuda.synchronize()
            for which, (result, begins) in enumerate(zip(results, BATCHES), 1):
                error = (result.double() - expected(begins)).abs().max().item()
                bad = not error < 0.05
                wrong += bad
                between = "a synchronize() between" if waits else "nothing between"
                print(f"{backend}, {between:<23}: batch {which}, largest error {error:.3g}"
                      + ("  WRONG" if bad else ""), flush=True)  # fmt: skip
    print("the bug shows" if wrong else "the bug does not show")
    sys.exit(1 if wrong else 0)


main()
