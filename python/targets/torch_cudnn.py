"""Convolutions, normalization and recurrent layers of PyTorch, which on a GPU are cuDNN's.

    redzone run torch_cudnn.py --device cuda

Inputs of convolutions are small positive integers: a term that is missing or counted twice changes a
result by 1 or more. Sums have so few terms that the rounding of transform-based algorithms (Winograd, FFT),
or that of a result in f16, does not.
"""

import redzone as rz
import torch
from torch.nn import functional

torch.backends.cudnn.allow_tf32 = False

# Batch items, input and output channels per group, groups.
B, C, Z, G = rz.dims(B=(1, 32), C=(1, 16), Z=(1, 64), G=(1, 8))
FEW = rz.dim("FEW", 1, 4)  # channels of a convolution in f16, few enough for sums below 2,048
H, W, D = rz.dims(H=(1, 256), W=(1, 256), D=(1, 32))
KH, KW, KD = rz.dims(KH=(1, 7), KW=(1, 7), KD=(1, 3))
S, P, L = rz.dims(S=(1, 3), P=(0, 3), L=(1, 3))  # stride, padding, dilation
T, F = rz.dims(T=(1, 64), F=(1, 128))

SMALL = rz.integers(1, 3)
CLOSE = (0.4, 2e-6)
SLICED = ("row_padding", "offset", "slice")
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


def points(size, kernel):
    """Of the output of a convolution along one dim."""
    return (size + 2 * P - L * (kernel - 1) - 1) // S + 1


def fits(*sizes_and_kernels):
    return [size + 2 * P >= L * (kernel - 1) + 1 for size, kernel in sizes_and_kernels]


def settings(s, p, d, g):
    return {"stride": s, "padding": p, "dilation": d, "groups": g}


def conv(function):
    return lambda x, w, s, p, d, g: function(x, w, **settings(s, p, d, g))


@rz.target(
    name="cudnn.conv1d", x=rz.In("f32", B, C * G, W, layout=SLICED, fill=SMALL),
    w=rz.In("f32", Z * G, C, KW, fill=SMALL), s=S, p=P, d=L, g=G,
    returns=rz.Out("f32", B, Z * G, points(W, KW)), reference=conv(functional.conv1d), tol=CLOSE,
    require=fits((W, KW)), work=B * Z * G * W * C * KW, deterministic=False,
)  # fmt: skip
def conv1d(x, w, s, p, d, g):
    """a grouped, dilated convolution of signals"""
    return functional.conv1d(x, w, **settings(s, p, d, g))


@rz.target(
    name="cudnn.conv2d", x=rz.In("f32", B, C * G, H, W, layout=SLICED, fill=SMALL),
    w=rz.In("f32", Z * G, C, KH, KW, fill=SMALL), s=S, p=P, d=L, g=G,
    memory=rz.knob("contiguous", "channels_last"),
    returns=rz.Out("f32", B, Z * G, points(H, KH), points(W, KW)), reference=conv(functional.conv2d),
    tol=CLOSE, require=fits((H, KH), (W, KW)), work=B * Z * G * H * W * C * KH * KW, deterministic=False,
)  # fmt: skip
def conv2d(x, w, s, p, d, g, memory):
    """a grouped, dilated convolution of images, in both memory formats"""
    x, w = (t.contiguous(memory_format=FORMATS[memory]) if memory == "channels_last" else t for t in (x, w))
    return functional.conv2d(x, w, **settings(s, p, d, g))


@rz.target(
    name="cudnn.conv2d_half", x=rz.In("f16", B, FEW * G, H, W, layout=SLICED, fill=SMALL),
    w=rz.In("f16", Z * G, FEW, KH, KW, fill=SMALL), s=S, p=P, d=L, g=G,
    memory=rz.knob("contiguous", "channels_last"),
    returns=rz.Out("f16", B, Z * G, points(H, KH), points(W, KW)), reference=conv(functional.conv2d),
    tol=(0.6, 0), require=fits((H, KH), (W, KW)), work=B * Z * G * H * W * FEW * KH * KW,
    deterministic=False,
)  # fmt: skip
def conv2d_half(x, w, s, p, d, g, memory):
    """the same in f16, on the tensor cores"""
    return conv2d(x, w, s, p, d, g, memory)


@rz.target(
    name="cudnn.conv3d", x=rz.In("f32", B, C, D, H, W, layout=SLICED, fill=SMALL),
    w=rz.In("f32", Z, C, KD, KH, KW, fill=SMALL), s=S, p=P, d=L, g=1,
    returns=rz.Out("f32", B, Z, points(D, KD), points(H, KH), points(W, KW)),
    reference=conv(functional.conv3d), tol=CLOSE, require=fits((D, KD), (H, KH), (W, KW)),
    work=B * Z * D * H * W * C * KD * KH * KW, deterministic=False,
)  # fmt: skip
def conv3d(x, w, s, p, d, g):
    """a dilated convolution of volumes"""
    return functional.conv3d(x, w, **settings(s, p, d, g))


@rz.target(
    name="cudnn.conv_transpose2d", x=rz.In("f32", B, C * G, H, W, layout=SLICED, fill=SMALL),
    w=rz.In("f32", C * G, Z, KH, KW, fill=SMALL), s=S, d=L, g=G,
    returns=rz.Out("f32", B, Z * G, (H - 1) * S + L * (KH - 1) + 1, (W - 1) * S + L * (KW - 1) + 1),
    reference=lambda x, w, s, d, g: functional.conv_transpose2d(x, w, stride=s, dilation=d, groups=g),
    tol=CLOSE, work=B * Z * G * H * W * C * KH * KW, deterministic=False,
)  # fmt: skip
def conv_transpose2d(x, w, s, d, g):
    """a transposed convolution: the gradient of a convolution to its input"""
    return functional.conv_transpose2d(x, w, stride=s, dilation=d, groups=g)


def weight_gradient(x, y, kernel_height, kernel_width):
    shape = (y.shape[1], x.shape[1], kernel_height, kernel_width)
    return torch.nn.grad.conv2d_weight(x, shape, y)


@rz.target(
    name="cudnn.conv2d_weight_gradient", x=rz.In("f32", B, C, H, W, fill=SMALL),
    y=rz.In("f32", B, Z, H - KH + 1, W - KW + 1, fill=SMALL), kernel_height=KH, kernel_width=KW,
    returns=rz.Out("f32", Z, C, KH, KW), reference=weight_gradient, tol=CLOSE,
    require=[H >= KH, W >= KW, B * H * W <= 4096], work=B * Z * H * W * C * KH * KW, deterministic=False,
)  # fmt: skip
def conv2d_weight_gradient(x, y, kernel_height, kernel_width):
    """the gradient of a convolution to its weights"""
    return weight_gradient(x, y, kernel_height, kernel_width)


@rz.target(
    name="cudnn.batch_norm", x=rz.In("f32", B, C, H, W, layout=SLICED), weight=rz.In("f32", C),
    bias=rz.In("f32", C), returns=rz.Out("f32", B, C, H, W), tol=(1e-3, 1e-3), require=[B * H * W >= 32],
    reference=lambda x, weight, bias: functional.batch_norm(x, None, None, weight, bias, training=True),
    deterministic=False,
)  # fmt: skip
def batch_norm(x, weight, bias):
    """normalization by the statistics of a batch of at least 32 items"""
    return functional.batch_norm(x, None, None, weight, bias, training=True)


def lstm_of(x, w_in, w_hidden, bias):
    state = torch.zeros(1, x.shape[1], w_hidden.shape[1], dtype=x.dtype, device=x.device)
    weights = [w_in, w_hidden, bias, torch.zeros_like(bias)]
    return torch.lstm(x, (state, state), weights, True, 1, 0.0, False, False, False)[0]


@rz.target(
    name="cudnn.lstm", x=rz.In("f32", T, B, F), w_in=rz.In("f32", 4 * Z, F), w_hidden=rz.In("f32", 4 * Z, Z),
    bias=rz.In("f32", 4 * Z), returns=rz.Out("f32", T, B, Z), reference=lstm_of, tol=(5e-3, 5e-3),
    work=8 * T * B * Z * (F + Z), deterministic=False,
)  # fmt: skip
def lstm(x, w_in, w_hidden, bias):
    """a recurrent layer over sequences of 1 to 64 items"""
    return lstm_of(x, w_in, w_hidden, bias)


@rz.target(
    name="cudnn.max_pool2d", x=rz.In("f32", B, C, H, W, layout=SLICED), k=KH,
    returns=rz.Out("f32", B, C, H - KH + 1, W - KH + 1), require=[H >= KH, W >= KH],
    reference=lambda x, k: functional.max_pool2d(x, k, stride=1),
)  # fmt: skip
def max_pool2d(x, k):
    """the maximum of each window"""
    return functional.max_pool2d(x, k, stride=1)
