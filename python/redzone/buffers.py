"""Tensors as plain buffers, for callables that use neither torch nor numpy."""

from __future__ import annotations

import ctypes
import itertools
import struct
from collections.abc import Iterator
from typing import Any

from .arrays import Memory, WrongResult, element_bytes, is_integral

_FORMATS = {
    "f32": "f", "f64": "d", "f16": "e", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "bool": "?",
}  # fmt: skip


class Array:
    """A tensor: `a[i, j]` reads and writes one element, `a[:] = values` writes all of them from
    nested lists or from another array, `a.tolist()` gives nested lists.

    `address` is that of the first element, for ctypes; strides are in elements.
    """

    def __init__(self, memory: Memory) -> None:
        self.shape = memory.shape
        self.strides = memory.strides
        self.dtype = memory.dtype
        self.address = memory.data
        self._bytes = element_bytes(memory.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self._read(self._at(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if index == slice(None):
            self._assign(value)
        else:
            self._write(self._at(index), value)

    def __iter__(self) -> Iterator[Any]:
        """All elements, in row-major order."""
        return (self[index] for index in self.indices())

    def indices(self) -> Iterator[tuple[int, ...]]:
        """The index of each element, in row-major order."""
        return itertools.product(*map(range, self.shape))

    def tolist(self) -> Any:
        def part(index: tuple[int, ...]) -> Any:
            depth = len(index)
            if depth == len(self.shape):
                return self[index]
            return [part((*index, i)) for i in range(self.shape[depth])]

        return part(())

    def _assign(self, value: Any) -> None:
        wrong = wrong_shape(value, self.shape)
        if wrong:
            raise ValueError(wrong)
        for index in self.indices():
            element = value
            if isinstance(value, Array):
                element = value[index]
            else:
                for i in index:
                    element = element[i]
            self[index] = element

    def _at(self, index: Any) -> int:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape):
            raise IndexError(f"{len(indices)} indices for {len(self.shape)} dims")
        at = self.address
        for i, extent, stride in zip(indices, self.shape, self.strides):
            if not -extent <= i < extent:
                raise IndexError(f"index {i} is out of range for extent {extent}")
            at += (i % extent) * stride * self._bytes
        return at

    def _read(self, at: int) -> Any:
        raw = ctypes.string_at(at, self._bytes)
        if self.dtype == "bf16":
            return struct.unpack("<f", b"\0\0" + raw)[0]
        return struct.unpack("<" + _FORMATS[self.dtype], raw)[0]

    def _write(self, at: int, value: Any) -> None:
        bf16 = self.dtype == "bf16"
        raw = _bf16(float(value)) if bf16 else struct.pack("<" + _FORMATS[self.dtype], value)
        ctypes.memmove(at, raw, self._bytes)


class _Integers(Array):
    """Doubles that are integers."""

    def __getitem__(self, index: Any) -> Any:
        return int(self._read(self._at(index)))


class Buffers:
    dtypes = frozenset((*_FORMATS, "bf16"))

    def view(self, memory: Memory) -> Array:
        return Array(memory)

    def wrong(self, value: Any, memory: Memory) -> WrongResult | None:
        is_scalar = memory.shape == () and isinstance(value, (int, float))
        if not isinstance(value, (Array, list, tuple)) and not is_scalar:
            return WrongResult("type", f"is {type(value).__name__}, and lists or an rz Array are declared")
        wrong = wrong_shape(value, memory.shape)
        return WrongResult("shape", wrong) if wrong else None

    def store(self, value: Any, memory: Memory) -> None:
        Array(memory)[:] = value

    def doubles(self, address: int, shape: tuple[int, ...], dtype: str) -> Array:
        memory = _contiguous(address, shape)
        return _Integers(memory) if is_integral(dtype) or dtype == "bool" else Array(memory)

    def store_doubles(self, value: Any, address: int, shape: tuple[int, ...], dtype: str) -> None:
        Array(_contiguous(address, shape))[:] = value


def wrong_shape(value: Any, shape: tuple[int, ...]) -> str:
    """Why nested lists, or an Array, have not that shape; "" if they have."""
    has = _first_shape(value)
    if has == shape if isinstance(value, Array) else _fits(value, shape):
        return ""
    return f"has {f'shape {has}' if has != shape else 'uneven lists'}, and {shape} is declared"


def _fits(value: Any, shape: tuple[int, ...]) -> bool:
    """Lists say no extents behind one that is 0: [] is of each shape that begins with it."""
    if not shape:
        return not isinstance(value, (list, tuple, Array))
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        return False
    return all(_fits(part, shape[1:]) for part in value)


def _first_shape(value: Any) -> tuple[int, ...]:
    """The shape as the first element of each list has it."""
    if isinstance(value, Array):
        return value.shape
    if not isinstance(value, (list, tuple)):
        return ()
    return (len(value), *(_first_shape(value[0]) if value else ()))


def _contiguous(address: int, shape: tuple[int, ...]) -> Memory:
    strides, count = [], 1
    for extent in reversed(shape):
        strides.append(count)
        count *= extent
    return Memory(address, "f64", shape, tuple(reversed(strides)), address, 8 * count)


def _bf16(value: float) -> bytes:
    """Rounded to the nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return struct.pack("<H", bits >> 16 | 0x40)
    return struct.pack("<H", min(bits + 0x7FFF + (bits >> 16 & 1) >> 16, 0xFFFF))
