"""What calls get as tensors: tensors of torch, arrays of numpy, or plain buffers.

All of them are views of memory that Redzone owns. A view is made for each call, because a callable
may change the shape of the one that it got.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Container
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from .errors import SpecError
from .modules import file_of
from .spec import DTYPES, Knob
from .targets import Target


class Memory(NamedTuple):
    """A tensor in memory: element [i0, i1, ...] is at data + sum(i_k * strides[k]) elements, and
    `storage_bytes` from `storage` belong to it. A tuple, because each call makes several."""

    data: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    storage: int
    storage_bytes: int


@dataclass(frozen=True)
class WrongResult:
    """What is wrong with a returned value: a code that groups findings, and a message."""

    code: str
    message: str


class Arrays(Protocol):
    """One kind of tensors. Values of references are float64, complex128, int64 or bool."""

    @property
    def dtypes(self) -> Container[str]:
        """The element types that it has, by the names of plans."""

    def view(self, memory: Memory) -> Any:
        """The tensor of a call."""

    def wrong(self, value: Any, memory: Memory) -> WrongResult | None:
        """Why a returned value cannot be what `memory` is declared to be."""

    def store(self, value: Any, memory: Memory) -> None:
        """Copies a returned value that is not wrong."""

    def doubles(self, address: int, shape: tuple[int, ...], dtype: str) -> Any:
        """A copy of float64 values for a reference; `dtype` is that of the call. An element of a complex
        type is two of them, its parts."""

    def store_doubles(self, value: Any, address: int, shape: tuple[int, ...], dtype: str) -> None:
        """Copies what a reference returned. Raises ValueError for another shape, and for complex values
        where `dtype` has none."""


# Modules that a file of targets imports for each kind of tensor; the first kind with an imported module is
# used.
_KINDS = {"torch": ("torch", "triton", "torchvision", "helion", "flashinfer"), "numpy": ("numpy",)}


def kind_of(target: Target) -> str:
    """Which arrays the calls of a target get: as declared, or what its file imports, itself or by
    modules of the user. What another file imports makes no difference."""
    if target.arrays:
        return target.arrays
    imported = _imported_by(target.place.file)
    return next((kind for kind, of in _KINDS.items() if not imported.isdisjoint(of)), "buffer")


def _imported_by(file: str) -> set[str]:
    """Top-level names of the modules that a file's names come from, through the user's modules."""
    path = os.path.realpath(file)
    folder = os.path.dirname(path) + os.sep
    found: set[str] = set()
    seen: set[str] = set()
    todo = [m for m in list(sys.modules.values()) if _is_file(m, path)]
    while todo:
        module = todo.pop()
        for value in list(vars(module).values()):
            name = _module_of(value)
            if not isinstance(name, str) or name in seen:
                continue
            seen.add(name)
            found.add(name.partition(".")[0])
            other = sys.modules.get(name)
            if other is not None and _is_below(other, folder):
                todo.append(other)
    return found


def _module_of(value: Any) -> Any:
    """The name of the module, or of the one that the value is from; some values raise when asked."""
    try:
        return value.__name__ if isinstance(value, ModuleType) else value.__module__
    except Exception:
        return None


def _is_file(module: ModuleType, path: str) -> bool:
    file = file_of(module)
    # Compare names first, so that links are resolved for only a few of thousands of modules.
    return os.path.basename(file) == os.path.basename(path) and os.path.realpath(file) == path


def _is_below(module: ModuleType, folder: str) -> bool:
    file = file_of(module)
    return file != "" and os.path.realpath(file).startswith(folder)


def arrays_named(kind: str, device: str) -> Arrays:
    """Imports what the arrays need."""
    if kind == "torch":
        from .torch_arrays import TorchArrays

        return TorchArrays(device)
    if kind == "numpy":
        from .numpy_arrays import NumpyArrays

        return NumpyArrays()
    from .buffers import Buffers

    return Buffers()


def check_arrays(target: Target, arrays: Arrays) -> None:
    """Whether the arrays of a target can be what its tensors are declared to be."""
    kind = kind_of(target)
    for name, tensor in target.tensors.items():
        knob = isinstance(tensor.dtype, Knob)
        for dtype in tensor.dtype.written if isinstance(tensor.dtype, Knob) else [tensor.dtype]:
            if dtype not in arrays.dtypes:
                where = f" (knob '{tensor.dtype}')" if knob else ""
                instead = "another version of torch" if kind == "torch" else "arrays='torch'"
                raise SpecError(
                    f"tensor '{name}' is {dtype}{where}, which {kind} arrays cannot be: use {instead}",
                    target.place,
                )
        if kind == "torch" and "reversed" in tensor.layouts:
            raise SpecError(
                f"tensor '{name}' has the layout 'reversed', and torch has no negative strides", target.place
            )


def try_out(arrays: Arrays) -> None:
    """Makes, copies and reads a small tensor. Raises what becomes of it where a file has put something of
    its own in the place of what torch or numpy have."""
    values = (ctypes.c_float * 4)(1, 2, 3, 4)
    doubles = (ctypes.c_double * 4)(1, 2, 3, 4)
    at, at_doubles = ctypes.addressof(values), ctypes.addressof(doubles)
    memory = Memory(at, "f32", (4,), (1,), at, ctypes.sizeof(values))
    tensor = arrays.view(memory)
    wrong = arrays.wrong(tensor, memory)
    arrays.store(tensor, memory)
    arrays.store_doubles(arrays.doubles(at_doubles, (4,), "f32"), at_doubles, (4,), "f32")
    if wrong is not None or list(values) != [1, 2, 3, 4] or list(doubles) != [1, 2, 3, 4]:
        raise ValueError("a tensor of 1, 2, 3 and 4 " + (wrong.message if wrong else "has other values"))


def element_bytes(dtype: str) -> int:
    return DTYPES[dtype]


def is_complex(dtype: str) -> bool:
    return dtype[0] == "c"


def is_integral(dtype: str) -> bool:
    return dtype[0] in "iu"
