"""`redzone guard --framework` over PyTorch itself, without a GPU: whether its allocator is replaced."""

import subprocess
import sys
import unittest

import torch

REDZONE = sys.argv.pop(1)
# Without a driver torch begins, and fails then.
BEGIN = """
import torch
try:
    torch.cuda.init()
except RuntimeError as problem:
    assert "driver" in str(problem), problem
"""
BACKEND = BEGIN + "print(torch.cuda.get_allocator_backend())"


@unittest.skipIf(torch.version.cuda is None, "a PyTorch without CUDA")
class GuardedTorch(unittest.TestCase):
    def guard(self, framework, program, options=()):
        return subprocess.run([REDZONE, "guard", "--no-store", "--framework", framework, "--",
                               sys.executable, *options, "-c", program],
                              capture_output=True, text=True, timeout=120)

    def test_its_allocator_is_replaced(self):
        for framework in ("torch-pluggable", "auto"):
            ran = self.guard(framework, BACKEND)
            self.assertEqual(ran.stdout, "pluggable\n", ran)

    def test_the_report_does_not_say_so_where_nothing_was_allocated(self):
        ran = self.guard("torch-pluggable", BACKEND)
        self.assertIn("PyTorch has allocated nothing through the guard", ran.stderr.splitlines()[0])

    def test_statistics_are_zero_and_the_program_goes_on(self):
        ran = self.guard("auto", BEGIN + "print(torch.cuda.memory_allocated(), torch.ones(3).sum().item())\n"
                                         "assert 'Allocated memory' in torch.cuda.memory_summary(0)\n"
                                         "assert set(torch.cuda.memory_stats(0).values()) == {0}")
        self.assertEqual(ran.stdout, "0 3.0\n", ran)

    def test_an_allocator_of_the_program_goes_first(self):
        library = "libc.so.6"
        ran = self.guard("auto", "import torch\n"
                         f"own = torch.cuda.memory.CUDAPluggableAllocator('{library}', 'malloc', 'free')\n"
                         "torch.cuda.memory.change_current_allocator(own)\n" + BACKEND)
        self.assertEqual((ran.stdout, ran.stderr.count("not replaced")), ("pluggable\n", 0), ran)

    def test_a_python_that_ignores_its_environment_keeps_it(self):
        ran = self.guard("torch-pluggable", BACKEND, options=("-E",))
        self.assertEqual(ran.stdout, "native\n", ran)

    def test_without_the_framework_it_is_left_alone(self):
        ran = self.guard("none", BACKEND)
        self.assertEqual(ran.stdout, "native\n", ran)


if __name__ == "__main__":
    unittest.main()
