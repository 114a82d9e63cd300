"""Arrays of numpy over memory that Redzone owns."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from .arrays import Memory, WrongResult, element_bytes, is_complex, is_integral

_DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "i8": "int8", "u8": "uint8", "i16": "int16",
    "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "bool": "bool",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip


class NumpyArrays:
    dtypes = frozenset(_DTYPES)

    def view(self, memory: Memory) -> Any:
        dtype = np.dtype(_DTYPES[memory.dtype])
        if 0 in memory.shape:
            return np.empty(memory.shape, dtype)
        size = element_bytes(memory.dtype)
        buffer = (ctypes.c_char * memory.storage_bytes).from_address(memory.storage)
        strides = tuple(s * size for s in memory.strides)
        return np.ndarray(memory.shape, dtype, buffer, memory.data - memory.storage, strides)

    def wrong(self, value: Any, memory: Memory) -> WrongResult | None:
        # The sum or mean of all elements is a scalar (np.generic), not an array.
        if not isinstance(value, (np.ndarray, np.generic)):
            return WrongResult("type", f"is {type(value).__name__}, and an array is declared")
        if value.shape != memory.shape:
            return WrongResult("shape", f"has shape {value.shape}, and {memory.shape} is declared")
        if value.dtype != np.dtype(_DTYPES[memory.dtype]):
            return WrongResult("dtype", f"has dtype {value.dtype}, and {_DTYPES[memory.dtype]} is declared")
        return None

    def store(self, value: Any, memory: Memory) -> None:
        self.view(memory)[...] = value

    def doubles(self, address: int, shape: tuple[int, ...], dtype: str) -> Any:
        values = self._values_at(address, shape, dtype)
        if dtype == "bool":
            return values != 0
        return values.astype(np.int64) if is_integral(dtype) else values.copy()

    def store_doubles(self, value: Any, address: int, shape: tuple[int, ...], dtype: str) -> None:
        result = np.asarray(value)
        if result.shape != shape:
            raise ValueError(f"has shape {result.shape}, and {shape} is declared")
        if np.iscomplexobj(result) and not is_complex(dtype):
            raise ValueError(f"has dtype {result.dtype}, and {dtype} is declared")
        self._values_at(address, shape, dtype)[...] = result

    @staticmethod
    def _values_at(address: int, shape: tuple[int, ...], dtype: str) -> Any:
        """The float64 values as they are, where two are a complex one."""
        value, parts = (np.complex128, 2) if is_complex(dtype) else (np.float64, 1)
        if 0 in shape:
            return np.empty(shape, value)
        buffer = (ctypes.c_double * (parts * math.prod(shape))).from_address(address)
        return np.ndarray(shape, value, buffer)
