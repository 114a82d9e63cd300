"""Sums a tensor through a view that does not own its memory, after the memory has been freed."""
import torch

COUNT = 1 << 14


class View:
    """Memory of a tensor, as another library hands it over."""

    def __init__(self, tensor):
        self.__cuda_array_interface__ = {"shape": (COUNT,), "typestr": "<f4", "version": 3,
                                         "data": (tensor.data_ptr(), False)}


# The driver unmaps freed memory in units of 2 MiB. This tensor keeps the unit of the next one mapped, so
# the sum does not fault without the guard.
beside = torch.zeros(COUNT, device="cuda")
x = torch.randn(COUNT, device="cuda")
view = torch.as_tensor(View(x), device="cuda")
del x
torch.cuda.synchronize()
print(f"sum {view.sum().item()}")
