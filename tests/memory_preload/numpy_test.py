"""The preloaded library under numpy's arrays. Run by preloaded.sh."""

from __future__ import annotations

import ctypes
import unittest

import numpy as np
import preload
from redzone.numpy_memory import NumpyMemory

MEMORY = preload.Preload()
ALLOCATORS = (preload.GUARD, preload.PLAIN, preload.POOL, preload.CACHING)


def write_byte(address: int) -> None:
    ctypes.memset(address, 0x5A, 1)


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        NumpyMemory().set()

    def test_what_is_not_written_is_poison_and_what_must_be_zero_is(self) -> None:
        with MEMORY.trial(poison=0x41424344):
            for x in (np.empty((3, 5), np.int32), np.empty_like(np.zeros((3, 5), np.int32))):
                self.assertTrue((x == 0x41424344).all())
            self.assertTrue((np.zeros((3, 5), np.int32) == 0).all())
            self.assertIsNotNone(MEMORY.find(np.zeros(5).ctypes.data))

    def test_outside_of_a_call_memory_is_the_c_librarys(self) -> None:
        x = np.empty(100)
        self.assertIsNone(MEMORY.find(x.ctypes.data))
        with MEMORY.trial():
            self.assertIsNotNone(MEMORY.find(np.empty(100).ctypes.data))

    def test_writes_into_the_slack_are_found_and_named(self) -> None:
        with MEMORY.trial():
            np.empty(3)
            x = np.empty(7, np.float32)
            write_byte(x.ctypes.data + 28)
            damaged = MEMORY.next_damaged()
            assert damaged is not None
            self.assertEqual((damaged.number, damaged.maker), (2, preload.OF_NUMPY))
            self.assertEqual((damaged.bytes, damaged.first_dirty_byte), (28, 28))

    def test_arrays_are_aligned_as_malloc_promises_and_no_further(self) -> None:
        for elements in range(1, 40):
            with MEMORY.trial():
                address = np.empty(elements, np.float32).ctypes.data
                self.assertEqual((address + 4 * elements + 15) // 16 * 16 % 4096, 0)

    def test_arrays_grow_and_outlive_their_trial(self) -> None:
        kept = []
        for number in range(40):
            with MEMORY.trial(ALLOCATORS[number % 4], poison=0xFFFFFFFF - number):
                x = np.full(10 + 37 * number, number)
                x.resize(2000)
                kept.append((number, x))
                np.sort(np.arange(3000)[::-1])
        for number, x in kept:
            size = 10 + 37 * number
            self.assertTrue((x[:size] == number).all() and (x[size:] == 0).all())


if __name__ == "__main__":
    unittest.main()
