#!/usr/bin/env python3
"""What a worker does with targets that do to its process what they like, over a library that is simulated."""

import builtins
import ctypes
import functools
import importlib
import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
from typing import cast

import cases  # isort: skip

import redzone as rz
from redzone import random_numbers
from redzone.files import Files
from redzone.imports import ImportWatch
from redzone.progress import HELION_COMPILES, Progress
from redzone.registry import registry
from redzone.worker import Worker, kept_in_process

N = rz.dim("N", 1, 9)


class Library:
    """Takes down what the worker tells, and has one tensor for all names."""

    def __init__(self):
        self.told = []
        self.memory = (ctypes.c_float * 3)()

    def rz_call_tensor(self, _, name, out):
        raw = out._obj
        raw.data = raw.storage = ctypes.addressof(self.memory)
        raw.storage_bytes, raw.dtype, raw.rank = 12, b"f32", 1
        raw.shape[0], raw.strides[0] = 3, 1
        return 0

    def rz_dim(self, *_):
        return 3

    def rz_call_seed(self, _):
        return 1

    def rz_call_index(self, _):
        return 0

    rz_call_repeat = rz_knob_integer = rz_knob_text = rz_call_index
    rz_reference_dim = rz_reference_knob_integer = rz_reference_knob_text = rz_dim
    rz_reference_input = rz_reference_output = rz_call_tensor

    def rz_progress(self, what):
        self.told.append(("progress", what))

    def rz_compiling(self, what):
        self.told.append(("compiling", what))

    def rz_call_fail(self, _, code, message):
        self.told.append((code, message))

    def rz_call_unsupported(self, _, reason):
        self.told.append((b"unsupported", reason))

    def rz_error(self, code, message):
        self.told.append((b"error", code, message))


class Calls(unittest.TestCase):
    def told_of(self, function, **options):
        name = f"t{len(registry.targets())}"
        rz.target(
            function, name=name, x=rz.In("f32", N), returns=rz.Out("f32", N), arrays="buffer", **options
        )
        library = Library()
        worker = Worker(Files([__file__]), registry.targets(), cast(ctypes.CDLL, library), "cpu")
        instance = worker.make(None, name.encode())
        if instance >= 0:
            worker.run(None, instance, 1)
        return library.told

    def test_exceptions_are_told_whatever_they_are(self):
        class Silent(Exception):
            def __str__(self):
                raise ValueError

        def raises(error):
            def function(x):
                raise error

            return function

        line = b" in function: raise error"
        self.assertEqual(self.told_of(raises(KeyError("k")))[0][0], b"exception: KeyError" + line)
        code, message = self.told_of(raises(Silent()))[0]
        self.assertEqual(code, b"exception: Silent" + line)
        self.assertIn(b"its text cannot be made (ValueError)", message)
        self.assertIn(b"\\udcff", self.told_of(raises(ValueError("\udcff")))[0][1])
        self.assertIn(b"a\\x00 b", self.told_of(raises(ValueError("a\0\nb")))[0][1])
        self.assertEqual(self.told_of(raises(SystemExit(0)))[0][0], b"exception: SystemExit" + line)
        self.assertEqual(self.told_of(raises(RecursionError()))[0][0], b"exception: RecursionError")

        class Broken:
            def __init__(self):
                raise Silent

            def __call__(self, x):
                pass

        self.assertEqual(
            self.told_of(Broken)[0][:2], (b"error", b"exception: Silent in __init__: raise Silent")
        )

    def test_a_call_ends_the_compilations_that_it_began(self):
        told: list[str] = []
        progress = Progress(told.append, told.append)
        progress.begin("compiles a kernel that has a mistake")
        progress.begin("compiles another")
        progress.settle()
        before = len(told)
        time.sleep(1.2)
        self.assertEqual(len(told), before)
        progress.settle()  # also where nothing compiles

    def test_compilations_of_helion_are_told(self):
        told: list[str] = []
        compiled: list[object] = []

        class BoundKernel:  # as Helion 1.4 has it
            def __init__(self, *arguments):
                compiled.extend(arguments)

            def compile_config(self, config=None, *, allow_print=True):
                compiled.append((config, allow_print))
                raise KeyError

        initialized = BoundKernel.__init__
        module = unittest.mock.Mock(BoundKernel=BoundKernel)
        with (
            unittest.mock.patch.dict(sys.modules, {"helion.runtime.kernel": module}),
            unittest.mock.patch.dict(os.environ, {"HELION_INTERPRET": "1"}),
        ):
            Progress(told.append, told.append).hook()
            self.assertIs(BoundKernel.__init__, initialized)  # interpreted: nothing compiles
            os.environ["HELION_INTERPRET"] = "0"
            progress = Progress(told.append, told.append)
            for _ in range(2):
                progress.hook()
            kernel = BoundKernel(1, 2)
            self.assertEqual((compiled, told), ([1, 2], ["compiles by Helion"]))
            with self.assertRaises(KeyError):
                kernel.compile_config(3, allow_print=False)
        self.assertEqual((compiled[2:], len(told)), ([(3, False)], 2))
        self.assertEqual(progress._over, [])

    @unittest.skipUnless(importlib.util.find_spec("helion"), "no module 'helion'")
    def test_the_methods_of_helion_that_compile_exist(self):
        code = ("from helion.runtime.kernel import BoundKernel\n"
                f"for name in {HELION_COMPILES}: assert name in vars(BoundKernel), name")  # fmt: skip
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200,
                             env={**os.environ, "TRITON_INTERPRET": "0"})  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stderr)


class Imports(cases.FileCase):
    """What is told while modules are imported, whichever way."""

    def setUp(self):
        super().setUp()
        self.told: list[str] = []
        self.watch = ImportWatch(self.told.append)
        before = list(sys.meta_path)
        self.watch.install()
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        self.addCleanup(lambda: sys.meta_path.__setitem__(slice(None), before))

    def module(self, text):
        """The name of a new module."""
        name = f"{self.id().rpartition('.')[2]}_{len(list(self.folder.iterdir()))}"
        self.write(text, f"{name}.py")
        importlib.invalidate_caches()
        self.addCleanup(sys.modules.pop, name, None)
        return name

    def assert_ended(self):
        """Nothing is told any more, and the thread that told it is gone."""
        time.sleep(1.5)
        before = len(self.told)
        time.sleep(0.8)
        self.assertEqual(len(self.told), before)
        self.assertEqual(len(sys._current_frames()), 1)

    def test_a_slow_one_is_told_until_it_ends(self):
        name = self.module("import time\ntime.sleep(1.3)\n")
        importlib.import_module(name)
        self.assertGreaterEqual(self.told.count(f"imports {name}"), 3)
        self.assert_ended()

    def test_what_it_imports_and_what_it_raises(self):
        inner = self.module("import time\ntime.sleep(0.7)\nraise ValueError\n")
        outer = self.module(f"try: import {inner}\nexcept ValueError: pass\nimport time\ntime.sleep(0.7)\n")
        __import__(outer)
        self.assertEqual(self.told[0], f"imports {outer}")
        self.assertGreaterEqual(self.told.count(f"imports {inner}"), 2)
        self.assert_ended()

    def test_that_of_a_thread_and_by_an_own_import(self):
        name = self.module("import time\ntime.sleep(1.3)\n")
        plain = builtins.__import__
        self.addCleanup(setattr, builtins, "__import__", plain)
        builtins.__import__ = functools.partial(plain)
        other = threading.Thread(target=lambda: exec(f"import {name}", {}))
        other.start()
        other.join()
        self.assertGreaterEqual(self.told.count(f"imports {name}"), 3)
        self.assert_ended()

    def test_one_that_is_imported_costs_nothing(self):
        name = self.module("")
        importlib.import_module(name)
        with unittest.mock.patch.object(ImportWatch, "find_spec", side_effect=AssertionError):
            importlib.import_module(name)
            exec(f"import {name}", {})

    def test_a_process_that_is_forked_tells_nothing(self):
        name = self.module("")
        child = os.fork()
        if child == 0:
            importlib.import_module(name)
            os._exit(len(self.told))
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Processes(unittest.TestCase):
    """Each in a process of its own, because it ends."""

    def run_code(self, code):
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
            env={**os.environ, "PYTHONPATH": str(cases.PACKAGE)},
        )  # fmt: skip

    def test_a_child_does_not_return_from_a_callback(self):
        ran = self.run_code(
            "import os\nfrom redzone.worker import kept_in_process\n"
            "def forks():\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n"
            "def raises():\n    if os.fork() == 0: raise ValueError\n    os.wait()\n"
            "for callback in (forks, raises):\n"
            "    kept_in_process(callback)()\n    print('returned', flush=True)\n"
        )
        self.assertEqual((ran.stdout, ran.returncode), ("returned\nreturned\n", 0), ran.stderr)

    def test_an_exception_of_ours_is_no_call_that_went_well(self):
        ran = self.run_code(
            "from redzone.worker import kept_in_process\nimport sys\nsys.stdout = None\n"
            "kept_in_process(lambda: 1 / 0)()\n"
        )
        # How the driver knows a mistake of the harness (src/core/check_failure.h, src/core/error.h).
        source = (cases.ROOT / "src/core/check_failure.h").read_text()
        self.assertIn("redzone: internal check failed: ", source)
        self.assertTrue(ran.stderr.startswith("redzone: internal check failed: "), ran.stderr)
        self.assertIn(f"kCheckFailedExit = {ran.returncode};", (cases.ROOT / "src/core/error.h").read_text())

    def test_values_are_kept(self):
        self.assertEqual(kept_in_process(lambda x: x + 1)(2), 3)


class Randomness(unittest.TestCase):
    def test_each_generator_that_is_imported_is_seeded(self):
        draws = {"random": random.random}
        try:
            import numpy

            # Its generators are imported when somebody asks for them.
            draws["numpy"] = lambda: numpy.random.random()  # noqa: PLW0108
        except ImportError:
            pass
        try:
            import torch

            draws["torch"] = lambda: torch.rand(1).item()
        except ImportError:
            pass
        for name, draw in draws.items():
            with self.subTest(name):
                random_numbers.seed(5)
                first = [draw(), draw()]
                random_numbers.seed(5)
                self.assertEqual([draw(), draw()], first)
                random_numbers.seed(6)
                self.assertNotEqual(draw(), first[0])


if __name__ == "__main__":
    assert pathlib.Path(__file__).exists()
    unittest.main()
