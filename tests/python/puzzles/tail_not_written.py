# puzzle: tail_not_written
# bug: only whole blocks of 64 are written
# kin: pytorch/pytorch#120801
# expect: uninitialized y
# minimal: 1 call; N=1
import redzone as rz

N = rz.dim("N", 1, 500, tile=64)


def doubles(x, y, whole=64):
    n = len(x) // whole * whole
    y[:n] = 2 * x[:n]


rz.target(doubles, twin=lambda x, y: doubles(x, y, 1), name="tail_not_written",
          arrays="torch", x=rz.In("f32", N), y=rz.Out("f32", N), reference=lambda x: 2 * x)
