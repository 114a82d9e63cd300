#!/usr/bin/env python3
"""inductor_test.py REDZONE: the targets over Inductor and AOTInductor on a CPU, where nothing should be
found, and how their packages are built. The interpreter that runs this test runs the targets, and needs
torch and a C++ compiler. What was compiled is kept in TORCHINDUCTOR_CACHE_DIR: later runs are short.
"""

import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import cases
import torch

TARGETS = cases.ROOT / "python/targets"
sys.path.insert(0, str(TARGETS))
import aoti_package  # isort: skip


class Targets(cases.FileCase):
    def test_nothing_is_found(self):
        ran = subprocess.run(
            [REDZONE, "run", TARGETS / "torch_inductor.py", "--python", sys.executable, "--device", "host",
             "--seed", "1", "--plans", "1", "--json"], cwd=self.folder, capture_output=True, text=True,
            timeout=800,
        )  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        result = json.loads(ran.stdout)
        functions = {f"{w}.{f}" for w in ("cpp", "python") for f in ("masked_softmax", "norm", "rotated")}
        self.assertEqual({t["target"] for t in result["targets"]},
                         {f"inductor.{f}" for f in functions | {"package.norm"}})  # fmt: skip
        self.assertEqual(result["verdicts"]["pass"], 7)
        self.assertGreater(result["reference"]["compared_calls"], 7)
        self.assertEqual(result["campaign"]["workers_lost"], 0)


class Packages(cases.FileCase):
    """With a compiler that takes its time, and writes a package in two parts."""

    def setUp(self):
        super().setUp()
        self.built = 0
        self.fails_at = 0
        for name, stand_in in {
            "aoti_package.cache_dir": lambda: str(self.folder),
            "torch.export.export": unittest.mock.Mock(),
            "torch._inductor.aoti_compile_and_package": self.compile,
            "torch._inductor.aoti_load_package": lambda path: pathlib.Path(path).read_text,
        }.items():
            patch = unittest.mock.patch(name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)

    def compile(self, _, package_path):
        self.built += 1
        with open(package_path, "w") as package:
            package.write("first")
            package.flush()
            time.sleep(0.2)
            if self.built == self.fails_at:
                raise RuntimeError("no compiler")
            package.write(" second")
        return package_path

    def made(self):
        return aoti_package.Package("sum", __file__, torch.sin, (torch.ones(1),), ({},))()

    def names(self):
        return {path.suffix for path in (self.folder / "redzone").iterdir()}

    def test_one_of_those_that_need_it_builds_it(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.made())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((results, self.built), (["first second"] * 4, 1))
        self.assertEqual(self.names(), {".lock", ".pt2"})

    def test_a_build_that_ends_early_leaves_no_package(self):
        self.fails_at = 1
        with self.assertRaises(RuntimeError):
            self.made()
        self.assertEqual(self.names(), {".lock", ".building"})
        self.assertEqual((self.made(), self.built), ("first second", 2))
        self.assertEqual(self.names(), {".lock", ".pt2"})

    def test_another_source_is_another_package(self):
        self.made()
        aoti_package.Package("sum", cases.__file__, torch.sin, (torch.ones(1),), ({},))
        self.assertEqual(self.built, 2)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
