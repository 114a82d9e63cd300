"""PyTorch with libredzone_memory.so preloaded: eager, compiled by Inductor, and Triton's interpreter."""

from __future__ import annotations

import ctypes
import os
import signal
import unittest
from collections.abc import Callable
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import preload
import torch

ALLOCATORS = (preload.GUARD, preload.PLAIN, preload.POOL, preload.CACHING)
MEMORY = preload.Preload()


def exit_of(function: Callable[[], object]) -> int:
    """The exit code of a child that runs it, or the number of the signal that ends the child, negated."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        try:
            function()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write_byte(address: int) -> None:
    ctypes.memset(address, 0, 1)


class Eager(unittest.TestCase):
    def test_results_are_those_of_the_c_library(self) -> None:
        x = torch.randn(33, 65)
        weight = torch.randn(65, 17, requires_grad=True)

        def run() -> tuple[Any, ...]:
            y = torch.softmax(x @ weight, -1).sort().values[:, ::2].contiguous()
            (gradient,) = torch.autograd.grad(y.square().sum(), weight)
            return y, gradient, torch.cat([y, y]).cumsum(0), x.to(torch.bfloat16)

        expected = run()
        for allocator in ALLOCATORS:
            for placement in (preload.GUARD_AFTER, preload.GUARD_BEFORE):
                with self.subTest(allocator=allocator), MEMORY.trial(allocator, placement):
                    got = run()
                    counts = MEMORY.count()
                    ours = counts.plain_blocks if allocator == preload.PLAIN else counts.blocks
                    self.assertGreater(ours, 5)
                    self.assertIsNone(MEMORY.next_damaged())
                for a, b in zip(expected, got):
                    self.assertTrue(torch.equal(a, b))

    def test_what_is_not_written_is_poison(self) -> None:
        like = torch.zeros(3, 5)
        makers: dict[str, Callable[[], Any]] = {
            "empty": lambda: torch.empty(3, 5),
            "empty_like": lambda: torch.empty_like(like),
            "empty_strided": lambda: torch.empty_strided((3, 5), (5, 1)),
            "empty_permuted": lambda: torch.empty_permuted((3, 5), (1, 0)),
            "new_empty": lambda: like.new_empty(3, 5),
            "new_empty_strided": lambda: like.new_empty_strided((3, 5), (5, 1)),
            "resize_": lambda: torch.zeros(0).resize_(3, 5),
        }
        for name, make in makers.items():
            with self.subTest(name), MEMORY.trial(poison=0x41424344):
                expected = torch.full((15,), 0x41424344, dtype=torch.int32)
                self.assertTrue(torch.equal(make().flatten().view(torch.int32), expected))
        with MEMORY.trial(poison=0xFFFFFFFF):
            self.assertTrue(torch.empty(7).isnan().all())
            self.assertTrue(torch.zeros(7).eq(0).all())

    def test_tensors_are_aligned_as_pytorch_promises_and_as_asked(self) -> None:
        for elements in range(1, 40):
            with MEMORY.trial():
                self.assertEqual(torch.empty(elements).data_ptr() % 64, 0)
            with MEMORY.trial(align_bytes=16):
                self.assertEqual((torch.empty(elements).data_ptr() + 4 * elements + 15) // 16 * 16 % 4096, 0)

    def test_survivors_keep_their_values(self) -> None:
        kept = []
        for number in range(40):
            with MEMORY.trial(ALLOCATORS[number % 4], poison=0xFFFFFFFF - number):
                kept.append(torch.full((100 + 37 * number,), number))
                for elements in (10, 500, 3000):
                    torch.randn(elements).sort()
            self.assertTrue(all(tensor.eq(value).all() for value, tensor in enumerate(kept)))
        with MEMORY.trial():
            self.assertEqual(MEMORY.count().survivors, 30)
            kept.clear()
            self.assertEqual(MEMORY.count().survivors, 0)

    def test_bad_accesses_fault(self) -> None:
        with MEMORY.trial():
            x = torch.empty(32)
            self.assertEqual(exit_of(lambda: write_byte(x.data_ptr() + 127)), 0)
            self.assertEqual(exit_of(lambda: write_byte(x.data_ptr() + 128)), -signal.SIGSEGV)
            freed = torch.empty(32).data_ptr()
            self.assertEqual(exit_of(lambda: write_byte(freed)), -signal.SIGSEGV)
            found = MEMORY.find(freed)
            assert found is not None
            self.assertEqual((found.number, found.freed), (2, 1))
        with MEMORY.trial(placement=preload.GUARD_BEFORE):
            y = torch.empty(32)
            self.assertEqual(exit_of(lambda: write_byte(y.data_ptr())), 0)
            self.assertEqual(exit_of(lambda: write_byte(y.data_ptr() - 1)), -signal.SIGSEGV)

    def test_writes_into_the_slack_are_found(self) -> None:
        with MEMORY.trial():
            x = torch.empty(7)
            self.assertIsNone(MEMORY.next_damaged())
            write_byte(x.data_ptr() + 28)
            damaged = MEMORY.next_damaged()
            assert damaged is not None
            self.assertEqual((damaged.number, damaged.bytes, damaged.first_dirty_byte), (1, 28, 28))


class Inductor(unittest.TestCase):
    def test_compiled_functions_run_over_poison(self) -> None:
        @torch.compile(dynamic=True)
        def normalize(x: Any) -> Any:
            return torch.softmax(x * 2 + 1, -1).cumsum(0)

        for rows in (3, 17, 64):
            x = torch.randn(rows, 33)
            expected = torch.softmax(x * 2 + 1, -1).cumsum(0)
            for placement in (preload.GUARD_AFTER, preload.GUARD_BEFORE):
                with MEMORY.trial(preload.GUARD, placement):
                    got = normalize(x)
                    self.assertGreater(MEMORY.count().blocks, 0)
                    self.assertIsNone(MEMORY.next_damaged())
                torch.testing.assert_close(got, expected)


class Interpreter(unittest.TestCase):
    """Triton's interpreter computes the address of each element, and numpy makes the access."""

    def setUp(self) -> None:
        import triton
        import triton.language as tl

        @triton.jit
        def masked(x, y, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

        @triton.jit
        def without_mask(x, y, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + i, tl.load(x + i) * 2, mask=i < n)

        self.masked, self.without_mask = masked, without_mask

    def launch(self, kernel: Any, elements: int) -> bool:
        with MEMORY.trial():
            x, y = torch.arange(elements, dtype=torch.float32), torch.empty(elements)
            kernel[((elements + 63) // 64,)](x, y, elements, BLOCK=64)
            return bool(torch.equal(y, x * 2))

    def test_a_load_without_a_mask_faults(self) -> None:
        for elements in (1, 63, 64, 100):
            self.assertTrue(self.launch(self.masked, elements))
        self.assertTrue(self.launch(self.without_mask, 128))
        self.assertEqual(exit_of(lambda: self.launch(self.without_mask, 100)), -signal.SIGSEGV)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
