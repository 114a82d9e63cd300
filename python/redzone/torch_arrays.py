"""Tensors of torch over memory that Redzone owns."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import torch

from .arrays import Memory, WrongResult, element_bytes, is_complex, is_integral

_DTYPES: dict[str, Any] = {
    name: getattr(torch, of_torch)
    for name, of_torch in {
        "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "u8": "uint8",
        "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
        "bool": "bool", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "c64": "complex64",
        "c128": "complex128",
    }.items()
    if hasattr(torch, of_torch)
}  # fmt: skip

# Private API, but CUDA graph trees rely on it; without it tensors are made from buffers.
_storage_at = getattr(torch._C, "_construct_storage_from_data_pointer", None)


def dtype_of(name: str) -> torch.dtype:
    """The type of torch for a name of plans."""
    dtype: torch.dtype = _DTYPES[name]
    return dtype


class _CudaMemory:
    """What torch.as_tensor() reads, for a version without `_storage_at`."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3,
        }  # fmt: skip


class TorchArrays:
    dtypes = frozenset(_DTYPES)

    def __init__(self, device: str) -> None:
        torch.set_num_threads(1)
        self._device = (
            torch.device(device, torch.cuda.current_device()) if device == "cuda" else torch.device("cpu")
        )

    def view(self, memory: Memory) -> torch.Tensor:
        dtype = _DTYPES[memory.dtype]
        if 0 in memory.shape:
            return torch.empty_strided(memory.shape, memory.strides, dtype=dtype, device=self._device)
        size = element_bytes(memory.dtype)
        begin, offset = memory.storage, memory.data - memory.storage
        if offset % size:
            # The first element of the tensor is misaligned within a storage that begins at `begin`.
            begin += offset % size
        storage = self._storage(begin, memory.storage + memory.storage_bytes - begin)
        return torch.empty(0, dtype=dtype, device=self._device).set_(
            storage, (memory.data - begin) // size, memory.shape, memory.strides
        )

    def _storage(self, address: int, size: int) -> Any:
        if _storage_at is not None:
            return _storage_at(address, self._device, size)
        if self._device.type == "cuda":
            return torch.as_tensor(_CudaMemory(address, size), device=self._device).untyped_storage()
        buffer = (ctypes.c_char * size).from_address(address)
        return torch.frombuffer(buffer, dtype=torch.uint8).untyped_storage()

    def wrong(self, value: Any, memory: Memory) -> WrongResult | None:
        if not isinstance(value, torch.Tensor):
            return WrongResult("type", f"is {type(value).__name__}, and a tensor is declared")
        if tuple(value.shape) != memory.shape:
            return WrongResult("shape", f"has shape {tuple(value.shape)}, and {memory.shape} is declared")
        if value.dtype != _DTYPES[memory.dtype]:
            return WrongResult("dtype", f"has dtype {value.dtype}, and {_DTYPES[memory.dtype]} is declared")
        if value.layout is not torch.strided:
            return WrongResult("layout", f"has layout {value.layout}, and a strided tensor is declared")
        if value.device.type != self._device.type:
            return WrongResult("device", f"is on {value.device}, and the call ran on {self._device}")
        return None

    def store(self, value: torch.Tensor, memory: Memory) -> None:
        if value.is_cuda:
            # The target may have written the tensor on a stream of its own, while Redzone issues this copy.
            value.record_stream(torch.cuda.current_stream())
        self.view(memory).copy_(value.detach())

    def doubles(self, address: int, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        values = self._values_at(address, shape, dtype)
        if dtype == "bool":
            return values != 0
        return values.to(torch.int64) if is_integral(dtype) else values.clone()

    def store_doubles(self, value: Any, address: int, shape: tuple[int, ...], dtype: str) -> None:
        # A file may have set another default device for new tensors.
        given = isinstance(value, torch.Tensor)
        result = (value if given else torch.as_tensor(value, device="cpu")).detach()
        if tuple(result.shape) != shape:
            raise ValueError(f"has shape {tuple(result.shape)}, and {shape} is declared")
        if result.is_complex() and not is_complex(dtype):
            raise ValueError(f"has dtype {result.dtype}, and {dtype} is declared")
        self._values_at(address, shape, dtype).copy_(result)

    @staticmethod
    def _values_at(address: int, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        """The float64 values as they are, where two are a complex one."""
        value, parts = (torch.complex128, 2) if is_complex(dtype) else (torch.float64, 1)
        if 0 in shape:
            return torch.empty(shape, dtype=value)
        buffer = (ctypes.c_double * (parts * math.prod(shape))).from_address(address)
        return torch.frombuffer(buffer, dtype=value).view(shape)
