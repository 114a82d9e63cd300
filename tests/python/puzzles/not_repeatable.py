# puzzle: not_repeatable
# bug: the result has noise that no seed decides
# expect: nondeterministic result
# minimal: 1 call; N=1
import os

import redzone as rz

N = rz.dim("N", 1, 64)


def noisy(x): return x + os.urandom(1)[0]


rz.target(noisy, twin=lambda x: x + 1, name="not_repeatable",
          arrays="torch", x=rz.In("f32", N), returns=rz.Out("f32", N))
