"""Targets of the test that fuzzes memory which PyTorch allocates: one with a bug, and one without."""

import ctypes

import redzone as rz
import torch

N = rz.dim("N", 1, 300)


def copy(to: torch.Tensor, source: torch.Tensor) -> None:
    """As a kernel does that is given pointers."""
    ctypes.memmove(to.data_ptr(), source.data_ptr(), source.numel() * source.element_size())


@rz.target(x=rz.In("f32", N), returns=rz.Out("f32", N), reference=lambda x: x * 2)
class FirstSize:
    """Its scratch has the size of the first call."""

    def __init__(self) -> None:
        self.scratch: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.scratch is None:
            self.scratch = torch.empty_like(x)
        copy(self.scratch, x)
        y = torch.empty_like(x)
        copy(y, self.scratch[: x.numel()])
        return y * 2


@rz.target(x=rz.In("f32", N, 37), returns=rz.Out("f32", N, 37), reference=lambda x: torch.softmax(x, -1))
def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)
