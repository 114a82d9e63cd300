# puzzle: raises_for_shape
# bug: pairs are formed by a view, which an odd number of elements above 8 does not have
# expect: fault exception: RuntimeError
# minimal: 1 call; N=9
import redzone as rz

N = rz.dim("N", 1, 300)


def pairs(x):
    if len(x) <= 8:
        return x.sum()
    return x.view(-1, 2).sum(-1).sum()


rz.target(pairs, twin=lambda x: x.sum(), name="raises_for_shape", arrays="torch", x=rz.In("f32", N),
          returns=rz.Out("f32"), reference=lambda x: x.sum())
