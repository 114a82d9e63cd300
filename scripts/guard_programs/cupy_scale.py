"""Scales an array by a kernel of CuPy's; `write_after` writes one element beyond it."""
import sys

import cupy

COUNT = 1024

scale = cupy.RawKernel(r"""
extern "C" __global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * i;
}
""", "scale")
x = cupy.zeros(COUNT, dtype=cupy.float32)
beyond = 1 if sys.argv[1] == "write_after" else 0
scale((COUNT // 256 + 1,), (256,), (x, cupy.int32(COUNT + beyond)))
cupy.cuda.Device().synchronize()
print(f"cupy {bool((x == 2 * cupy.arange(COUNT)).all())} {float(cupy.fft.fft(x)[0].real)}")
