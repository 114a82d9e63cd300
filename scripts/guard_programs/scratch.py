"""pytorch/pytorch#175385: a compiled function whose Triton kernel builds TMA descriptors on the device.
Inductor's C++ wrapper gives the kernel scratch memory for one block, and the kernel writes that of all."""
import torch
import torch._inductor.config as config
import triton
import triton.language as tl

config.cpp_wrapper = True
BLOCK = 64


@triton.jit
def copy_tiles(source, target, rows, columns, block: tl.constexpr):
    read = tl.make_tensor_descriptor(source, shape=[rows, columns], strides=[columns, 1],
                                     block_shape=[block, block])
    write = tl.make_tensor_descriptor(target, shape=[rows, columns], strides=[columns, 1],
                                      block_shape=[block, block])
    row, column = tl.program_id(0) * block, tl.program_id(1) * block
    write.store([row, column], read.load([row, column]) + 1.0)


def add_one(x):
    y = torch.empty_like(x)
    rows, columns = x.shape
    copy_tiles[(rows // BLOCK, columns // BLOCK)](x, y, rows, columns, BLOCK)
    return y


compiled = torch.compile(add_one, fullgraph=True)
for n in (256, 512):
    x = torch.randn(n, n, device="cuda")
    y = compiled(x)
    torch.cuda.synchronize()
    print(f"{n} {torch.equal(y, x + 1)}", flush=True)
