"""`redzone guard --framework` over PyTorch itself, without a GPU: whether its allocator is replaced."""

import subprocess
import sys
import unittest

import torch

REDZONE = sys.argv.pop(1)
BACKEND = "import torch; print(torch.cuda.get_allocator_backend())"


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
            self.assertIn("PyTorch's pluggable allocator", ran.stderr.splitlines()[0])

    def test_statistics_are_zero_and_the_program_goes_on(self):
        ran = self.guard("auto", "import torch\n"
                                 "print(torch.cuda.memory_allocated(), torch.ones(3).sum().item())")
        self.assertEqual(ran.stdout, "0 3.0\n", ran)

    def test_a_python_that_ignores_its_environment_keeps_it(self):
        ran = self.guard("torch-pluggable", "import torch", options=("-E",))
        self.assertIn("PyTorch's allocator was not replaced", ran.stderr.splitlines()[0])

    def test_without_the_framework_it_is_left_alone(self):
        ran = self.guard("none", BACKEND)
        self.assertEqual(ran.stdout, "native\n", ran)


if __name__ == "__main__":
    unittest.main()
