"""Has numpy take the memory of arrays from the allocator of a plan."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

# Indices into the table of numpy's C API (numpy/__multiarray_api.h), and the first API version with memory
# handlers: that of numpy 1.22 (numpy/numpyconfig.h).
_FEATURE_VERSION, _SET_HANDLER = 211, 304
_FIRST_WITH_HANDLERS = 0xF

_CAPSULE = b"mem_handler"  # static, because a capsule keeps a pointer to its name


class NumpyMemory:
    """The handler of libredzone_memory.so (src/memory_preload/memory_abi.h), where that is preloaded."""

    def __init__(self) -> None:
        self._handler: int | None = None
        process: Any = ctypes.CDLL(None)
        if hasattr(process, "rz_memory_numpy_handler"):
            process.rz_memory_numpy_handler.restype = ctypes.c_void_p
            self._handler = process.rz_memory_numpy_handler()

    def set(self) -> None:
        """Sets it for this thread, once numpy has been imported: cheap to call for each trial."""
        if self._handler is None:
            return
        table = _interface()
        if table is None:
            return
        handler, self._handler = self._handler, None
        version = ctypes.PYFUNCTYPE(ctypes.c_uint)(table[_FEATURE_VERSION])
        if version() < _FIRST_WITH_HANDLERS:
            return
        make_capsule = _python(
            "PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
        )
        set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
        set_handler(make_capsule(handler, _CAPSULE, None))


def _interface() -> Any:
    """The table of numpy's C interface, if numpy has been imported. Its package had another name
    before numpy 2."""
    for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        capsule = getattr(sys.modules.get(name), "_ARRAY_API", None)
        if capsule is not None:
            pointer_of = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
            return ctypes.cast(pointer_of(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    return None


def _python(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
