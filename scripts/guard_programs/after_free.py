"""Sums a tensor through a view that does not own its memory, after the memory has been freed."""
import torch

COUNT = 1 << 20


class View:
    """Memory of a tensor, as another library hands it over."""

    def __init__(self, tensor):
        self.__cuda_array_interface__ = {"shape": (COUNT,), "typestr": "<f4", "version": 3,
                                         "data": (tensor.data_ptr(), False)}


x = torch.randn(COUNT, device="cuda")
view = torch.as_tensor(View(x), device="cuda")
del x
torch.cuda.synchronize()
print(f"sum {view.sum().item()}")
