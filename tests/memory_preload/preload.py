"""The C interface of libredzone_memory.so (src/memory_preload/memory_abi.h), for tests."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

GUARD, PLAIN, POOL, CACHING = range(4)
GUARD_AFTER, GUARD_BEFORE = range(2)
OF_TORCH, OF_NUMPY = range(2)


class Trial(ctypes.Structure):
    _fields_ = [
        ("allocator", ctypes.c_int32),
        ("placement", ctypes.c_int32),
        ("poison", ctypes.c_uint32),
        ("align_bytes", ctypes.c_uint32),
        ("most_blocks", ctypes.c_uint64),
        ("most_bytes", ctypes.c_uint64),
        ("wide_canaries", ctypes.c_int32),
    ]


class Counts(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "blocks", "bytes", "plain_blocks", "plain_bytes", "left_out_blocks", "left_out_bytes",
            "unpoisoned_blocks", "survivors", "survivor_bytes", "other_blocks", "other_bytes",
        )
    ]  # fmt: skip


class Block(ctypes.Structure):
    _fields_ = [
        ("call", ctypes.c_int32),
        ("number", ctypes.c_uint32),
        ("maker", ctypes.c_int32),
        ("begin", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("freed", ctypes.c_int32),
    ]


class Damaged(ctypes.Structure):
    _fields_ = [
        ("call", ctypes.c_int32),
        ("number", ctypes.c_uint32),
        ("maker", ctypes.c_int32),
        ("bytes", ctypes.c_uint64),
        ("dirty_before", ctypes.c_uint64),
        ("dirty_after", ctypes.c_uint64),
        ("first_dirty_byte", ctypes.c_int64),
    ]


class Preload:
    """The library of this process, which must have been preloaded."""

    def __init__(self) -> None:
        self._functions: Any = ctypes.CDLL(None)
        if self._functions.rz_memory_abi() != 2:
            raise RuntimeError("the library has another interface")
        self._functions.rz_memory_arm()

    @contextlib.contextmanager
    def trial(
        self,
        allocator: int = GUARD,
        placement: int = GUARD_AFTER,
        poison: int = 0xFFFFFFFF,
        align_bytes: int = 0,
    ) -> Iterator[None]:
        """A trial of one call."""
        trial = Trial(allocator, placement, poison, align_bytes, 0, 0, 0)
        if self._functions.rz_memory_begin_trial(ctypes.byref(trial)) != 0:
            raise RuntimeError("the trial was refused")
        self.begin_call(0)
        try:
            yield
        finally:
            self._functions.rz_memory_end_trial()

    def begin_call(self, call: int) -> None:
        self._functions.rz_memory_begin_call(call)

    def count(self) -> Counts:
        out = Counts()
        self._functions.rz_memory_count(ctypes.byref(out))
        return out

    def find(self, address: int) -> Block | None:
        out = Block()
        found = self._functions.rz_memory_find(ctypes.c_void_p(address), ctypes.byref(out))
        return out if found == 1 else None

    def next_damaged(self) -> Damaged | None:
        out = Damaged()
        return out if self._functions.rz_memory_next_damaged(ctypes.byref(out)) == 1 else None
