"""What calls get: tensors of torch, arrays of numpy, or plain buffers, over memory of the trial."""

import ctypes
import itertools
import math
import os
import struct
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from .fills import BYTES, bits_of
from .memory import Buffer, CudaMemory, HostMemory

# Names of the element types in torch and numpy.
NAMES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "u8": "uint8",
    "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
    "bool": "bool", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
# Formats of struct for buffers; a bf16 is the upper half of an f32.
FORMATS = {
    "f32": "f", "f64": "d", "f16": "e", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "bool": "?", "bf16": "H",
}  # fmt: skip
EMPTY = {f"aten::{n}" for n in ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")}


class TorchArrays:
    """Tensors of torch over buffers."""

    def __init__(self, device: str) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.device = torch, device

    def dtype(self, name: str) -> Any:
        return getattr(self.torch, NAMES[name])

    def view(self, buffer: Buffer) -> Any:
        tensor = buffer.tensor
        dtype, shape, strides = self.dtype(tensor["dtype"]), tensor["shape"], tensor["strides"]
        first = tensor["lead_bytes"] + tensor["origin_bytes"]
        return self.over(buffer.memory, tensor["storage_bytes"], dtype, first, shape, strides)

    def over(self, memory: Any, size: int, dtype: Any, first: int, shape: Any, strides: Any) -> Any:
        torch, device = self.torch, self.device
        if 0 in shape:
            return torch.empty_strided(shape, strides, dtype=dtype, device=device)
        if isinstance(memory, CudaMemory):
            whole, first = memory.whole, first + memory.before
        else:
            whole = torch.frombuffer(memory.buffer(size), dtype=torch.uint8)
        return torch.empty(0, dtype=dtype, device=device).set_(
            whole.untyped_storage(), first // dtype.itemsize, shape, strides
        )

    def wide(self, value: Any) -> Any:
        """A copy as a reference gets it: of float64, int64 or bool."""
        torch = self.torch
        if value.dtype == torch.bool:
            return value.clone()
        if value.is_complex():
            return value.to(torch.complex128, copy=True).cpu()
        return value.to(torch.float64 if value.is_floating_point() else torch.int64, copy=True).cpu()

    def zeros(self, shape: Any) -> Any:
        return self.torch.zeros(shape, dtype=self.torch.float64)

    def wrong_shape(self, value: Any, shape: tuple[int, ...]) -> str:
        """What the value of a reference is not."""
        has = tuple(self.torch.as_tensor(value).shape)
        return f"has shape {has}, and {shape} is declared" if has != shape else ""

    def flat(self, value: Any) -> list[Any]:
        """The elements as numbers."""
        value = self.torch.as_tensor(value).detach().cpu()
        value = value.to(self.torch.complex128 if value.is_complex() else self.torch.float64)
        return list(value.flatten().tolist())

    def contents(self, value: Any) -> bytes:
        value = value.detach().cpu().resolve_conj().contiguous()
        return ctypes.string_at(value.data_ptr(), value.numel() * value.element_size())

    def wrong(self, value: Any, tensor: Mapping[str, Any]) -> str:
        """What a returned value is not."""
        if not isinstance(value, self.torch.Tensor):
            return f"is {type(value).__name__}, and a tensor is declared"
        for what, has, declared in (
            ("shape", tuple(value.shape), tuple(tensor["shape"])),
            ("dtype", value.dtype, self.dtype(tensor["dtype"])),
            ("device", value.device.type, self.device),
        ):
            if has != declared:
                return f"has {what} {has}, and {declared} is declared"
        return ""

    def finish(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def guarding(self, trial: Mapping[str, Any]) -> Any:
        """While it is entered, what torch.empty() and its kin return is poisoned and guarded."""
        from torch.utils._python_dispatch import TorchDispatchMode

        arrays, device = self, self.device
        kind: type[CudaMemory | HostMemory] = CudaMemory if device == "cuda" else HostMemory

        class Guarding(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                made = func(*args, **(kwargs or {}))
                if func._schema.name not in EMPTY or made.device.type != device or made.numel() == 0:
                    return made
                size = made.untyped_storage().nbytes()
                # The alignment of torch's allocations.
                memory = kind(size, align=64, after=trial["after"], skew=0)
                memory.write((struct.pack("<I", trial["poison"]) * (memory.room // 4 + 1))[: memory.room])
                shape, strides = tuple(made.shape), made.stride()
                return arrays.over(memory, size, made.dtype, 0, shape, strides)

        return Guarding()


class NumpyArrays:
    """Arrays of numpy over buffers."""

    def __init__(self, device: str) -> None:
        import numpy

        self.numpy = numpy

    def dtype(self, name: str) -> Any:
        return self.numpy.dtype(NAMES[name])

    def view(self, buffer: Buffer) -> Any:
        tensor, dtype = buffer.tensor, self.dtype(buffer.tensor["dtype"])
        if 0 in tensor["shape"]:
            return self.numpy.empty(tensor["shape"], dtype)
        first = tensor["lead_bytes"] + tensor["origin_bytes"]
        memory = buffer.memory.buffer(tensor["storage_bytes"])
        return self.numpy.ndarray(
            tensor["shape"], dtype, memory, first, [s * dtype.itemsize for s in tensor["strides"]]
        )

    def wide(self, value: Any) -> Any:
        kinds = {"b": "bool", "c": "complex128", "f": "float64"}
        return value.astype(kinds.get(value.dtype.kind, "int64"))

    def zeros(self, shape: Any) -> Any:
        return self.numpy.zeros(shape)

    def wrong_shape(self, value: Any, shape: tuple[int, ...]) -> str:
        has = self.numpy.asarray(value).shape
        return f"has shape {has}, and {shape} is declared" if has != shape else ""

    def flat(self, value: Any) -> list[Any]:
        value = self.numpy.asarray(value)
        wide = "complex128" if value.dtype.kind == "c" else "float64"
        return list(value.astype(wide).ravel().tolist())

    def contents(self, value: Any) -> bytes:
        return bytes(self.numpy.ascontiguousarray(value).tobytes())

    def wrong(self, value: Any, tensor: Mapping[str, Any]) -> str:
        # The sum or mean of all elements is a scalar, not an array.
        if not isinstance(value, (self.numpy.ndarray, self.numpy.generic)):
            return f"is {type(value).__name__}, and an array is declared"
        if value.shape != tuple(tensor["shape"]):
            return f"has shape {value.shape}, and {tuple(tensor['shape'])} is declared"
        if value.dtype != self.dtype(tensor["dtype"]):
            return f"has dtype {value.dtype}, and {self.dtype(tensor['dtype'])} is declared"
        return ""

    def finish(self) -> None:
        pass


class Array:
    """A tensor as a buffer, for callables that use neither torch nor numpy: `a[i, j]` reads and
    writes an element, `a[:] = values` all of them, `a.tolist()` gives nested lists."""

    def __init__(self, buffer: Buffer) -> None:
        tensor = buffer.tensor
        self.shape, self.strides = tuple(tensor["shape"]), tuple(tensor["strides"])
        self.dtype, self.bytes = tensor["dtype"], BYTES[tensor["dtype"]]
        self.address = buffer.memory.at + tensor["lead_bytes"] + tensor["origin_bytes"]

    def __len__(self) -> int:
        return int(self.shape[0])

    def place(self, index: Any) -> int:
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self.shape):
            raise IndexError(f"an element of {len(self.shape)} dims has an index for each")
        at = self.address
        for i, extent, stride in zip(index, self.shape, self.strides):
            if not -extent <= i < extent:
                raise IndexError(f"index {i} is out of {extent} elements")
            at += (i % extent) * stride * self.bytes
        return at

    def __getitem__(self, index: Any) -> Any:
        raw = ctypes.string_at(self.place(index), self.bytes)
        if self.dtype == "bf16":
            return struct.unpack("<f", b"\0\0" + raw)[0]
        return struct.unpack("<" + FORMATS[self.dtype], raw)[0]

    def __setitem__(self, index: Any, value: Any) -> None:
        if index == slice(None):
            if not fits(value, self.shape):
                raise ValueError(f"what is assigned does not have the shape {self.shape}")
            for each, item in zip(self.indices(), elements(value)):
                self[each] = item
        else:
            raw = bits_of(self.dtype, value).to_bytes(self.bytes, "little")
            ctypes.memmove(self.place(index), raw, self.bytes)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in self.indices())

    def indices(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*map(range, self.shape))

    def tolist(self) -> Any:
        def part(*index: int) -> Any:
            if len(index) == len(self.shape):
                return self[index]
            return [part(*index, i) for i in range(self.shape[len(index)])]

        return part()


def fits(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether nested lists or an array have the shape: all lists of a level are of its length, and an
    empty one has no further levels."""
    if isinstance(value, Array):
        return value.shape == shape
    if not isinstance(value, (list, tuple)):
        return shape == ()
    return shape != () and len(value) == shape[0] and all(fits(part, shape[1:]) for part in value)


def elements(value: Any) -> Iterator[Any]:
    """The elements of nested lists or of an array, in row-major order."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from elements(part)
    elif isinstance(value, Array):
        yield from value
    else:
        yield value


class PlainArrays:
    """Buffers, for plain Python."""

    def __init__(self, device: str) -> None:
        pass

    def view(self, buffer: Buffer) -> Array:
        return Array(buffer)

    def wide(self, value: Array) -> Array:
        dtype = "bool" if value.dtype == "bool" else "i64" if value.dtype[0] in "iu" else "f64"
        made = self.zeros(value.shape, dtype)
        made[:] = value
        return made

    def zeros(self, shape: Any, dtype: str = "f64") -> Array:
        count = math.prod(shape)
        strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        tensor = {
            "dtype": dtype, "real": dtype, "role": "in", "shape": shape, "strides": strides, "align": 8,
            "skew": 0, "size": [count], "stride": [1], "numel": count, "lead_bytes": 0, "origin_bytes": 0,
            "storage_bytes": count * BYTES[dtype], "fill": {"kind": "constant", "lo": 0, "seed": 0},
        }  # fmt: skip
        return Array(Buffer("", tensor, {"poison": 0, "after": True}, False))

    def wrong_shape(self, value: Any, shape: tuple[int, ...]) -> str:
        return "" if fits(value, shape) else f"does not have the declared shape {shape}"

    def flat(self, value: Any) -> list[Any]:
        return list(elements(value))

    def contents(self, value: Any) -> bytes:
        return repr(list(elements(value))).encode()

    def wrong(self, value: Any, tensor: Mapping[str, Any]) -> str:
        scalar = tuple(tensor["shape"]) == () and isinstance(value, (int, float))
        if not isinstance(value, (Array, list, tuple)) and not scalar:
            return f"is {type(value).__name__}, and lists or an rz Array are declared"
        return self.wrong_shape(value, tuple(tensor["shape"]))

    def finish(self) -> None:
        pass


# The modules whose import selects each kind of tensors; the first kind that matches is used.
KINDS = {"torch": ("torch", "triton", "torchvision", "helion", "flashinfer"), "numpy": ("numpy",)}


def kind_of(module: types.ModuleType, folder: str) -> str:
    """Of the arrays of a file that declares none: what it imports, itself or by modules in `folder`."""
    imported = imported_by(module, folder)
    return next((kind for kind, of in KINDS.items() if not imported.isdisjoint(of)), "buffer")


def imported_by(module: types.ModuleType, folder: str) -> set[str]:
    """Top-level names of the modules that its names come from, through the user's modules."""
    below = os.path.join(os.path.realpath(folder), "") if folder else None
    seen: set[str] = set()
    todo = [module]
    while todo:
        for value in list(vars(todo.pop()).values()):
            name = module_of(value)
            if not isinstance(name, str) or name in seen:
                continue
            seen.add(name)
            other = sys.modules.get(name)
            file = getattr(other, "__file__", None)
            if other and below and isinstance(file, str) and os.path.realpath(file).startswith(below):
                todo.append(other)
    return {name.partition(".")[0] for name in seen}


def module_of(value: Any) -> Any:
    """The name of the module, or of the one that the value is from; some values raise when asked."""
    try:
        return value.__name__ if isinstance(value, types.ModuleType) else value.__module__
    except Exception:
        return None


def arrays_of(kind: str, device: str) -> Any:
    kinds = {"torch": TorchArrays, "numpy": NumpyArrays, "buffer": PlainArrays}
    return kinds[kind](device)
