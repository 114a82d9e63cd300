"""The C interface of libredzone_worker.so (src/worker_library/public/redzone/worker.h) by ctypes."""

from __future__ import annotations

import ctypes
import os
import struct
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from typing import Any

ABI = 2
MOST_RANK = 5
NO_INTEGER = -(1 << 63)

# The path of the library if it is not beside the package.
VARIABLE = "REDZONE_LIBRARY"


class RawTensor(ctypes.Structure):
    """A tensor of a call, as the library describes it; strides in elements."""

    _fields_ = (
        ("data", c_void_p),
        ("dtype", c_char_p),
        ("rank", c_int),
        ("shape", c_int64 * MOST_RANK),
        ("strides", c_int64 * MOST_RANK),
        ("storage", c_void_p),
        ("storage_bytes", c_uint64),
    )


# The fields of RawTensor for struct: data, dtype, rank, shape, strides, storage, storage_bytes.
RAW_TENSOR = struct.Struct(f"@PPi{MOST_RANK}q{MOST_RANK}qPQ")


MAKE = CFUNCTYPE(c_int, c_void_p, c_char_p)
DESTROY = CFUNCTYPE(None, c_void_p, c_int)
RUN = CFUNCTYPE(None, c_void_p, c_int, c_void_p)
REFERENCE = CFUNCTYPE(None, c_void_p, c_char_p, c_void_p)
TRIAL = CFUNCTYPE(None, c_void_p, c_int)


class Callbacks(ctypes.Structure):
    _fields_ = (
        ("user", c_void_p),
        ("make", MAKE),
        ("destroy", DESTROY),
        ("run", RUN),
        ("collect", RUN),
        ("reference", REFERENCE),
        ("trial", TRIAL),
    )


_DOUBLES = POINTER(POINTER(c_double))
_VALUES = (_DOUBLES, POINTER(c_uint64), POINTER(c_int64), POINTER(c_int))

# The result type and the argument types of each function.
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "rz_worker_abi": (c_int, ()),
    "rz_worker_main": (c_int, (c_int, POINTER(c_char_p), c_char_p, POINTER(Callbacks))),
    "rz_error": (None, (c_char_p, c_char_p)),
    "rz_call_index": (c_int, (c_void_p,)),
    "rz_call_repeat": (c_int64, (c_void_p,)),
    "rz_call_seed": (c_uint64, (c_void_p,)),
    "rz_dim": (c_int64, (c_void_p, c_char_p)),
    "rz_knob_integer": (c_int64, (c_void_p, c_char_p)),
    "rz_knob_text": (c_char_p, (c_void_p, c_char_p)),
    "rz_call_tensor": (c_int, (c_void_p, c_char_p, POINTER(RawTensor))),
    "rz_call_stream": (c_void_p, (c_void_p,)),
    "rz_call_allocate": (c_void_p, (c_void_p, c_char_p, c_uint64)),
    "rz_call_free": (None, (c_void_p, c_void_p)),
    "rz_call_fail": (None, (c_void_p, c_char_p, c_char_p)),
    "rz_call_unsupported": (None, (c_void_p, c_char_p)),
    "rz_reference_dim": (c_int64, (c_void_p, c_char_p)),
    "rz_reference_knob_integer": (c_int64, (c_void_p, c_char_p)),
    "rz_reference_knob_text": (c_char_p, (c_void_p, c_char_p)),
    "rz_reference_input": (c_int, (c_void_p, c_char_p, *_VALUES)),
    "rz_reference_output": (c_int, (c_void_p, c_char_p, *_VALUES)),
    "rz_reference_fail": (None, (c_void_p, c_char_p)),
    "rz_reference_returned": (None, (c_void_p, c_char_p)),
    "rz_progress": (None, (c_char_p,)),
    "rz_compiling": (None, (c_char_p,)),
    "rz_watch_memory": (None, (c_void_p, c_uint64, c_char_p)),
    "rz_use_allocator": (None, ()),
    "rz_use_on": (None, (c_void_p, c_void_p)),
    "rz_host_waits": (None, ()),
}


class LibraryError(Exception):
    """The library is missing, or of another version."""


def library_path() -> str:
    """The library that the driver named, or the one of the folder that the package lies in:
    lib/redzone/python/redzone and lib/redzone/libredzone_worker.so."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "libredzone_worker.so")
    return os.environ.get(VARIABLE) or os.path.normpath(beside)


def open_library() -> ctypes.CDLL:
    """Loads the library and declares its functions. Raises LibraryError."""
    path = library_path()
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise LibraryError(f"cannot use {path}: {error}") from None
    abi = library.rz_worker_abi()
    if abi != ABI:
        raise LibraryError(f"{path} has interface {abi}, and this package is for {ABI}")
    return library
