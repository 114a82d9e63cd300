# puzzle: load_without_mask
# bug: the kernel loads a whole block, also beyond the end of x
# expect: illegal-access read after x
# minimal: 1 call; N=1
# Only on a CPU: the compiler for a GPU loads what the store needs, and nothing beyond x.
import redzone as rz, triton, triton.language as tl
N = rz.dim("N", 1, 400, tile=128)
@triton.jit
def add_one(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + 1, i < n)
@triton.jit
def masked(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) + 1, i < n)
rz.triton(add_one, twin=masked, name="load_without_mask", grid=(rz.cdiv(N, 128),), n=N, BLOCK=128,
          x=rz.In("f32", N), y=rz.Out("f32", N), reference=lambda x: x + 1)
