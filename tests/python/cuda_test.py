#!/usr/bin/env python3
"""What a worker changes in a PyTorch that is built for CUDA. Runs no GPU: nothing is allocated there."""

import ctypes
import os
import unittest
from typing import Any, cast

import torch
from redzone import cuda
from redzone.library import open_library
from torch.cuda import _gpu_trace as trace

FOR_CUDA = hasattr(torch._C, "_cuda_customAllocator")


class Library:
    """Counts what it is told, and has the functions of the allocator by a path."""

    def __init__(self, path=""):
        self._name = path
        self.rz_use_on: Any = None
        self.waits = self.used = 0

    def rz_host_waits(self):
        self.waits += 1

    def rz_use_allocator(self):
        self.used += 1


class Waits(unittest.TestCase):
    def test_the_gate_opens_before_each_kind_of_wait(self):
        library = Library()
        cuda.connect_torch(cast(ctypes.CDLL, library))
        trace.StreamSynchronizationCallbacks.fire_callbacks(7)
        self.assertEqual(library.waits, 1)
        trace.EventSynchronizationCallbacks.fire_callbacks(8)
        self.assertEqual(library.waits, 2)
        trace.DeviceSynchronizationCallbacks.fire_callbacks()
        self.assertEqual(library.waits, 3)
        self.assertEqual(library.used, 0)  # PyTorch keeps its own allocator unless it is asked for


@unittest.skipUnless(FOR_CUDA, "this PyTorch is built without CUDA, and has no pluggable allocator")
class Allocator(unittest.TestCase):
    def test_is_the_librarys_where_the_environment_asks_for_it(self):
        real = open_library()
        library = Library(real._name)
        library.rz_use_on = real.rz_use_on
        self.assertNotIn("Pluggable", type(torch._C._cuda_getAllocator()).__name__)
        os.environ[cuda.ALLOCATOR] = "guarded"
        self.addCleanup(os.environ.pop, cuda.ALLOCATOR)
        cuda.connect_torch(cast(ctypes.CDLL, library))
        self.assertEqual(library.used, 1)
        self.assertIn("Pluggable", type(torch._C._cuda_getAllocator()).__name__)


class Blocks(unittest.TestCase):
    """The functions of the library in a process that is no worker."""

    def test_there_is_no_memory_without_a_gpu_and_nothing_to_free(self):
        if torch.cuda.is_available():
            self.skipTest("this machine has a GPU")
        library = open_library()
        library.rz_allocate.restype = ctypes.c_void_p
        library.rz_allocate.argtypes = (ctypes.c_int64, ctypes.c_int, ctypes.c_void_p)
        self.assertIsNone(library.rz_allocate(64, 0, None))
        self.assertIsNone(library.rz_allocate(0, 0, None))
        library.rz_free(None, 0, 0, None)


if __name__ == "__main__":
    unittest.main()
