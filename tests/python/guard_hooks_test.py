"""What `redzone guard --framework` puts into a program's Python: with stand-ins for the frameworks and the
preloaded library, and with PyTorch where there is one."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOOKS = ROOT / "python/guard"

# The preloaded library as the hooks see it, and a sitecustomize that puts it there.
STAND_IN = """
import ctypes, sys
import redzone_guard_frameworks as frameworks

FUNCTION = ctypes.CFUNCTYPE(None)(lambda: None)

class Library:
    told = []
    def __getattr__(self, name):
        return FUNCTION
    def redzone_guard_cupy_replaced(self):
        self.told.append("cupy")

frameworks.library = Library
"""

# init() is what torch does at the first use of a device.
TORCH = """
class _C:
    def _cuda_init():
        cuda.memory.used.append("begun")
from torch import cuda
class version:
    cuda = "13.0"
"""

# Keeps what it is told.
TORCH_CUDA = """
from torch.cuda import memory
from torch.cuda.memory import *
def init():
    import torch
    torch._C._cuda_init()
"""

TORCH_MEMORY = """
used = []

class Inner:
    def __getattr__(self, name):
        if name in ("set_record_stream_fn", "set_begin_allocate_to_pool", "set_end_allocate_to_pool_fn",
                    "set_release_pool"):
            return lambda address: used.append((name, isinstance(address, int)))
        raise AttributeError(name)

class CUDAPluggableAllocator:
    def __init__(self, *words):
        used.append(words[1:])
        self.inner = Inner()
    def allocator(self):
        return self.inner

def change_current_allocator(allocator):
    used.append("changed")

def memory_stats_as_nested_dict(device=None):
    raise RuntimeError("CUDAPluggableAllocator does not yet support getDeviceStats")

def reset_peak_memory_stats(device=None):
    raise RuntimeError("not supported")

reset_accumulated_memory_stats = reset_peak_memory_stats
"""


class Hooks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_torch(self, memory=TORCH_MEMORY):
        self.write("torch/__init__.py", TORCH)
        self.write("torch/cuda/__init__.py", TORCH_CUDA)
        self.write("torch/cuda/memory.py", memory)

    def python(self, program, frameworks="torch,cupy", options=(), hooks=HOOKS):
        environment = {**os.environ, "PYTHONPATH": f"{hooks}:{self.folder}",
                       "PYTHONDONTWRITEBYTECODE": "1", "REDZONE_GUARD_FRAMEWORKS": frameworks}
        return subprocess.run([sys.executable, *options, "-c", program], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=60)

    def says(self, expected, program, **how):
        ran = self.python(program, **how)
        self.assertEqual((ran.returncode, ran.stderr, ran.stdout), (0, "", expected))

    def used(self, program="import torch; torch.cuda.init()", **how):
        """What the stand-in for torch was told."""
        ran = self.python(program + "\nfor one in torch.cuda.memory.used: print(one)", **how)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran)
        return ran.stdout.splitlines()

    def test_torch_gets_the_allocator_with_its_streams_and_pools(self):
        self.write_torch()
        self.write("sitecustomize.py", STAND_IN)
        lines = self.used("import torch; torch.cuda.init(); torch.cuda.init()")
        self.assertEqual(lines[0], "('redzone_guard_malloc', 'redzone_guard_free')")
        self.assertEqual(sorted(lines[1:5]), ["('set_begin_allocate_to_pool', True)",
                                              "('set_end_allocate_to_pool_fn', True)",
                                              "('set_record_stream_fn', True)",
                                              "('set_release_pool', True)"])
        self.assertEqual(lines[5:], ["changed", "begun", "begun"])

    def test_a_torch_that_uses_no_device_is_as_it_was(self):
        self.write_torch()
        self.write("sitecustomize.py", STAND_IN)
        self.assertEqual(self.used("import torch"), [])

    def test_an_allocator_of_the_program_goes_first(self):
        self.write_torch()
        self.write("sitecustomize.py", STAND_IN)
        for module in ("torch.cuda.memory", "torch.cuda"):
            self.assertEqual(self.used(f"import torch; {module}.change_current_allocator(1)\n"
                                       "torch.cuda.init()"), ["changed", "begun"])

    def test_statistics_of_torch_are_zero(self):
        self.write_torch()
        self.write("sitecustomize.py", STAND_IN)
        self.says("0 0 None\n", "import torch; from torch import cuda; cuda.init()\n"
                  "print(cuda.memory_stats_as_nested_dict()['allocated_bytes']['all']['peak'], "
                  "cuda.memory.memory_stats_as_nested_dict(0)['num_ooms'], "
                  "cuda.reset_peak_memory_stats())")

    def test_a_torch_that_lacks_a_setter_keeps_its_allocator(self):
        self.write_torch(TORCH_MEMORY.replace('"set_release_pool"', '"other"'))
        self.write("sitecustomize.py", STAND_IN)
        ran = self.python("import torch; torch.cuda.init(); print('changed' in torch.cuda.memory.used)")
        self.assertEqual((ran.returncode, ran.stdout), (0, "False\n"))
        self.assertEqual(ran.stderr, "redzone: guard: the allocator of torch was not replaced: "
                                     "set_release_pool\n")

    def test_a_torch_without_cuda_is_left_alone(self):
        self.write_torch()
        self.write("torch/__init__.py", TORCH.replace('"13.0"', "None"))
        self.write("sitecustomize.py", STAND_IN)
        self.assertEqual(self.used(), ["begun"])

    def test_only_what_is_named_is_hooked(self):
        self.write_torch()
        self.write("sitecustomize.py", STAND_IN)
        for frameworks in ("cupy", "jax,,x"):
            self.assertEqual(self.used(frameworks=frameworks), ["begun"])

    def test_without_the_library_nothing_is_replaced(self):
        self.write_torch()
        self.assertEqual(self.used(), ["begun"])

    def test_a_module_that_is_loaded_already(self):
        self.write_torch()
        self.write("early.pth", "")
        self.write("sitecustomize.py", STAND_IN)
        program = ("import torch, redzone_guard_frameworks as f\n"
                   "f.install('torch'); torch.cuda.init()")
        self.assertIn("changed", self.used(program, frameworks=""))

    def test_cupy_allocates_without_its_pool(self):
        self.write("cupy/__init__.py", "from cupy import cuda")
        self.write("cupy/cuda.py", "chosen = []\nset_allocator = chosen.append")
        self.write("sitecustomize.py", STAND_IN)
        self.says("[None] ['cupy']\n", "import cupy, redzone_guard_frameworks as f\n"
                  "print(cupy.cuda.chosen, f.library.told)")

    def test_a_module_that_is_looked_for_before_it_is_imported(self):
        self.write_torch()
        self.write("sitecustomize.py", STAND_IN)
        self.assertIn("changed", self.used("import importlib.util as u; u.find_spec('torch')\n"
                                           "import torch; torch.cuda.init()"))

    def test_a_module_is_as_its_own_loader_makes_it(self):
        self.write_torch()
        self.says("SourceFileLoader SourceFileLoader True\n",
                  "import torch, inspect\n"
                  "print(type(torch.__loader__).__name__, type(torch.__spec__.loader).__name__, "
                  "'class version' in inspect.getsource(torch))")

    def test_a_module_that_fails_fails_as_without_the_hook(self):
        self.write("torch/__init__.py", "raise OSError('no driver')")
        ran = self.python("import torch")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("OSError: no driver", ran.stderr)
        ran = self.python("import cupy")
        self.assertIn("ModuleNotFoundError: No module named 'cupy'", ran.stderr)

    def test_the_next_sitecustomize_runs(self):
        self.write("sitecustomize.py", "import sys\nsys.mine = __file__")
        self.says(f"{self.folder}/sitecustomize.py sitecustomize\n",
                  "import sys, sitecustomize\n"
                  "print(sys.mine, sys.modules['sitecustomize'].__name__)\n"
                  "assert sitecustomize.__file__ == sys.mine")

    def test_the_next_sitecustomize_runs_though_the_hooks_fail(self):
        hooks = self.folder / "broken"
        hooks.mkdir()
        (hooks / "sitecustomize.py").write_text((HOOKS / "sitecustomize.py").read_text())
        (hooks / "redzone_guard_frameworks.py").write_text("raise OSError('broken hooks')")
        self.write("sitecustomize.py", "import sys\nsys.mine = 1")
        ran = self.python("import sys; print(sys.mine)", hooks=hooks)
        self.assertEqual((ran.returncode, ran.stdout), (0, "1\n"))
        self.assertEqual(ran.stderr, "redzone: guard: no framework is hooked: broken hooks\n")

    def test_what_fails_in_the_next_one_is_said_and_the_program_runs(self):
        self.write("sitecustomize.py", "raise RuntimeError('broken')")
        ran = self.python("print('on')")
        self.assertEqual((ran.returncode, ran.stdout), (0, "on\n"))
        self.assertIn("RuntimeError: broken", ran.stderr)

    def test_the_program_sees_no_folder_of_the_guard(self):
        self.says("True\n", f"import sys; print({str(HOOKS)!r} not in sys.path)")
        self.says(f"{HOOKS}:{self.folder}\n", "import os; print(os.environ['PYTHONPATH'])")

    def test_a_python_that_ignores_its_environment_is_left_alone(self):
        self.says("False\n", "import sys; print('redzone_guard_frameworks' in sys.modules)",
                  options=("-E",))


if __name__ == "__main__":
    unittest.main()
