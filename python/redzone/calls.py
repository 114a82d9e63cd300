"""Calls of one target: from the library's names and memory to Python arguments, and back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from ctypes import POINTER, byref, c_double, c_int, c_int64, c_uint64
from typing import Any, NamedTuple

from .arrays import Arrays, Memory
from .expressions import Expression
from .library import MOST_RANK, RAW_TENSOR, RawTensor
from .spec import Dim, Knob, Tensor
from .targets import Argument, Target

Scalars = dict[str, Any]
Result = tuple[Any, Memory]  # the returned value, and the output that it is for


class WrongCall(Exception):
    """A call returned something else than what is declared."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class WrongReference(ValueError):
    """A reference returned something else than values of the outputs. The text follows "returned"."""


class ScalarReader:
    """Reads dims and knobs of a call, or of a reference, by the library's functions."""

    def __init__(self, target: Target, library: ctypes.CDLL, prefix: str) -> None:
        self._dims = [(s.name, s.name.encode()) for s in target.symbols.values() if isinstance(s, Dim)]
        self._knobs = [(s, s.name.encode()) for s in target.symbols.values() if isinstance(s, Knob)]
        self._dim = getattr(library, "rz_dim" if not prefix else f"{prefix}_dim")
        self._integer = getattr(library, f"{prefix or 'rz'}_knob_integer")
        self._text = getattr(library, f"{prefix or 'rz'}_knob_text")

    def read(self, handle: int) -> Scalars:
        """By name; knobs as plans write them."""
        values: Scalars = {name: self._dim(handle, encoded) for name, encoded in self._dims}
        for knob, encoded in self._knobs:
            if knob.is_text:
                values[knob.name] = self._text(handle, encoded).decode()
            else:
                values[knob.name] = self._integer(handle, encoded)
        return values


def scalar_value(value: Any, scalars: Mapping[str, Any]) -> Any:
    """What a call passes for a value that is no tensor."""
    if isinstance(value, Knob):
        return value.decoded(scalars[value.name])
    if isinstance(value, Expression):
        return value.value(scalars)
    if isinstance(value, tuple) and any(isinstance(v, Expression) for v in value):
        return tuple(scalar_value(v, scalars) for v in value)
    return value


def _dtype_of(tensor: Tensor, scalars: Scalars) -> str:
    dtype = tensor.dtype
    return str(scalars[dtype.name]) if isinstance(dtype, Knob) else dtype


class _Named(NamedTuple):
    """A tensor of a target, as the library is asked for it."""

    name: str
    encoded: bytes
    dtype: str  # "" if a knob determines it

    @classmethod
    def of(cls, name: str, tensor: Tensor) -> _Named:
        return cls(name, name.encode(), "" if isinstance(tensor.dtype, Knob) else tensor.dtype)


class BoundCall:
    """Calls `target` as the library says. Made once for a target; all state is in the arguments."""

    def __init__(self, target: Target, arrays: Arrays, library: ctypes.CDLL) -> None:
        self._target = target
        self._arrays = arrays
        self._find = library.rz_call_tensor
        self._scalars = ScalarReader(target, library, "")
        self._tensors = [
            _Named.of(a.parameter, a.value) for a in target.arguments if isinstance(a.value, Tensor)
        ]
        self._others = [(a.parameter, a.value) for a in target.arguments if not isinstance(a.value, Tensor)]
        self._positional = target.parameters.positional
        self._results = [_Named.of(name, tensor) for name, tensor in target.results.items()]
        self._raw = RawTensor()

    def run(self, instance: Callable[..., Any], call: int) -> list[Result]:
        """Calls, and returns the results in order. Raises what the callable raises, and WrongCall."""
        view = self._arrays.view
        named = {t.name: view(self._memory(call, t)) for t in self._tensors}
        if self._others:
            scalars = self._scalars.read(call)
            for name, value in self._others:
                named[name] = scalar_value(value, scalars)
        if self._positional:
            first = [named.pop(name) for name in self._positional if name in named]
            returned = instance(*first, **named)
        else:
            returned = instance(**named)
        return self._checked(returned, call) if self._results else []

    def collect(self, results: list[Result]) -> None:
        """Copies the results of run() into the outputs of its call."""
        for value, memory in results:
            self._arrays.store(value, memory)

    def _checked(self, returned: Any, call: int) -> list[Result]:
        results = []
        for tensor, value in zip(self._results, self._in_order(returned)):
            name = tensor.name
            if value is None:
                raise WrongCall("returned: None", f"the result '{name}' is None, and a tensor is declared")
            memory = self._memory(call, tensor)
            wrong = self._arrays.wrong(value, memory)
            if wrong is not None:
                raise WrongCall(f"returned: {wrong.code}", f"the result '{name}' {wrong.message}")
            results.append((value, memory))
        return results

    def _in_order(self, returned: Any) -> list[Any]:
        names = [result.name for result in self._results]
        if isinstance(returned, Mapping):
            return [returned.get(name) for name in names]
        if len(names) == 1 and not (isinstance(returned, tuple) and len(returned) == 1):
            return [returned]
        if not isinstance(returned, (tuple, list)) or len(returned) != len(names):
            got = (
                f"{len(returned)} values" if isinstance(returned, (tuple, list)) else type(returned).__name__
            )
            raise WrongCall("returned: count", f"it returned {got}, and {len(names)} results are declared")
        return list(returned)

    def _memory(self, call: int, tensor: _Named) -> Memory:
        raw = self._raw
        if self._find(call, tensor.encoded, byref(raw)) != 0:
            raise LookupError(f"the library knows no tensor '{tensor.name}'")
        # Unpack all fields at once, because reading a single field by name costs as much.
        data, _, rank, *rest = RAW_TENSOR.unpack_from(raw)
        dtype = tensor.dtype or raw.dtype.decode()
        shape, strides = tuple(rest[:rank]), tuple(rest[MOST_RANK : MOST_RANK + rank])
        return Memory(data, dtype, shape, strides, rest[-2], rest[-1])


class BoundReference:
    """Calls the reference of `target`."""

    def __init__(self, target: Target, arrays: Arrays, library: ctypes.CDLL) -> None:
        self._target = target
        self._arrays = arrays
        self._input = library.rz_reference_input
        self._output = library.rz_reference_output
        self._scalars = ScalarReader(target, library, "rz_reference")

    def run(self, reference: int) -> None:
        """Raises what the reference raises, and WrongReference."""
        target = self._target
        scalars = self._scalars.read(reference)
        named: dict[str, Any] = {}
        written: set[str] = set()
        for argument in target.reference_arguments:
            named[argument.parameter] = self._value(argument, reference, scalars, written)
        assert target.reference is not None
        self._store(target.reference(**named), named, written, reference, scalars)

    def _value(self, argument: Argument, reference: int, scalars: Scalars, written: set[str]) -> Any:
        tensor = argument.value
        if not isinstance(tensor, Tensor):
            return scalar_value(tensor, scalars)
        find = self._input
        if tensor.role == "out":
            written.add(argument.parameter)
            find = self._output
        address, shape = self._doubles(find, reference, argument.parameter)
        return self._arrays.doubles(address, shape, _dtype_of(tensor, scalars))

    def _store(
        self, returned: Any, named: dict[str, Any], written: set[str], reference: int, scalars: Scalars
    ) -> None:
        outputs = self._target.outputs
        if returned is None and written:
            results = {name: named[name] for name in outputs if name in named}
        elif isinstance(returned, Mapping):
            results = dict(returned)
        elif len(outputs) == 1 and not (isinstance(returned, tuple) and len(returned) == 1):
            results = {outputs[0]: returned}
        elif isinstance(returned, (tuple, list)) and len(returned) == len(outputs):
            results = dict(zip(outputs, returned))
        else:
            raise WrongReference(f"{type(returned).__name__}, and must return {', '.join(outputs)}")
        for name in outputs:
            if results.get(name) is None:
                raise WrongReference(f"no value for '{name}'")
            address, shape = self._doubles(self._output, reference, name)
            dtype = _dtype_of(self._target.tensors[name], scalars)
            try:
                self._arrays.store_doubles(results[name], address, shape, dtype)
            except ValueError as error:
                raise WrongReference(f"a value for '{name}' that {error}") from None

    @staticmethod
    def _doubles(find: Any, reference: int, name: str) -> tuple[int, tuple[int, ...]]:
        at = POINTER(c_double)()
        count, rank = c_uint64(), c_int()
        shape = (c_int64 * MOST_RANK)()
        if find(reference, name.encode(), byref(at), byref(count), shape, byref(rank)) != 0:
            raise LookupError(f"the library knows no tensor '{name}'")
        return ctypes.cast(at, ctypes.c_void_p).value or 0, tuple(shape[: rank.value])
