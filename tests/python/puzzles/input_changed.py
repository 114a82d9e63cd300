# puzzle: input_changed
# bug: the input is scaled in place before it is summed
# kin: ScalingIntelligence/KernelBench#82
# expect: input-changed x
# minimal: 1 call; M=1 N=1
import redzone as rz

M, N = rz.dims(M=(1, 16), N=(1, 64))


def scaled_sum(x): return x.mul_(0.5).sum(-1)


rz.target(scaled_sum, twin=lambda x: scaled_sum(x.clone()), name="input_changed",
          arrays="torch", x=rz.In("f32", M, N), returns=rz.Out("f32", M), reference=lambda x: x.sum(-1) / 2)
