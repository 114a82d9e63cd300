"""Layer norm of rows with its gradients, by two Triton kernels and an autograd function; the gradients of
weight and bias are sums over rows that each program adds to atomically."""
import figures
import torch
import triton
import triton.language as tl

ROWS, COLUMNS = 2048, 1000
CALLS, WARM = 500, 20
EPS = 1e-5


@triton.jit
def forward_rows(x, y, weight, bias, mean, scale, columns, eps, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    middle = tl.sum(value) / columns
    offset = tl.where(inside, value - middle, 0.0)
    one_by_deviation = 1 / tl.sqrt(tl.sum(offset * offset) / columns + eps)
    tl.store(mean + row, middle)
    tl.store(scale + row, one_by_deviation)
    w = tl.load(weight + at, mask=inside)
    b = tl.load(bias + at, mask=inside)
    tl.store(y + row * columns + at, offset * one_by_deviation * w + b, mask=inside)


@triton.jit
def backward_rows(x, dy, dx, weight, dweight, dbias, mean, scale, columns, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    inside = at < columns
    s = tl.load(scale + row)
    normal = (tl.load(x + row * columns + at, mask=inside, other=0.0) - tl.load(mean + row)) * s
    normal = tl.where(inside, normal, 0.0)
    gradient = tl.load(dy + row * columns + at, mask=inside, other=0.0)
    scaled = gradient * tl.load(weight + at, mask=inside, other=0.0)
    along = tl.sum(scaled * normal) / columns
    tl.store(dx + row * columns + at, (scaled - normal * along - tl.sum(scaled) / columns) * s,
             mask=inside)
    tl.atomic_add(dweight + at, gradient * normal, mask=inside)
    tl.atomic_add(dbias + at, gradient, mask=inside)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        y = torch.empty_like(x)
        mean, scale = torch.empty(ROWS, device="cuda"), torch.empty(ROWS, device="cuda")
        forward_rows[(ROWS,)](x, y, weight, bias, mean, scale, COLUMNS, EPS,
                              triton.next_power_of_2(COLUMNS))
        ctx.save_for_backward(x, weight, mean, scale)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, scale = ctx.saved_tensors
        dx, dweight, dbias = torch.empty_like(x), torch.zeros_like(weight), torch.zeros_like(weight)
        backward_rows[(ROWS,)](x, dy, dx, weight, dweight, dbias, mean, scale, COLUMNS,
                               triton.next_power_of_2(COLUMNS))
        return dx, dweight, dbias


figures.need_gpu()
torch.manual_seed(0)
x = torch.randn(ROWS, COLUMNS, device="cuda", requires_grad=True)
weight = torch.rand(COLUMNS, device="cuda", requires_grad=True)
bias = torch.rand(COLUMNS, device="cuda", requires_grad=True)
dy = torch.randn(ROWS, COLUMNS, device="cuda")


def gradients(function):
    return torch.autograd.grad(function(x, weight, bias), (x, weight, bias), dy)


def reference(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (COLUMNS,), weight, bias, EPS)


for ours, theirs in zip(gradients(LayerNorm.apply), gradients(reference), strict=True):
    assert torch.allclose(ours, theirs, atol=1e-3, rtol=1e-3)
figures.measure("call", lambda: gradients(LayerNorm.apply), WARM, CALLS)
