# puzzle: wrong_for_shape
# bug: more than 16 columns are summed in two halves, and the last column of an odd number is lost
# expect: reference result
# minimal: 1 call; M=1 N=17
import redzone as rz

M, N = rz.dims(M=(1, 8), N=(1, 64))


def summed(x, lost=1):
    half = x.shape[1] // 2
    if x.shape[1] <= 16:
        return x.sum(-1)
    return x[:, :half].sum(-1) + x[:, half : 2 * half + 1 - lost].sum(-1)


rz.target(summed, twin=lambda x: summed(x, 0), name="wrong_for_shape", arrays="torch", x=rz.In("f32", M, N),
          returns=rz.Out("f32", M), reference=lambda x: x.sum(-1))
