#!/usr/bin/env python3
"""plugin_test.py REDZONE: the pytest plugin, in a pytest of its own. Needs pytest and pytest-xdist."""

import os
import pathlib
import subprocess
import sys
import unittest

import cases

TARGETS = """
import redzone as rz
N = rz.dim("N", 1, 40)

@rz.target(x=rz.In("f32", N), y=rz.Out("f32", N))
def right(x, y):
    y[:] = x.tolist()

@rz.target(x=rz.In("f32", N), returns=rz.Out("f32", N))
def wrong(x):
    if len(x) > 9: raise ValueError("too long")
    return x.tolist()

def test_right(redzone):
    redzone.check(right, plans=20)

def test_wrong(redzone):
    redzone.check(wrong, time="6s")

def test_no_target(redzone):
    redzone.check(len)
"""


class Plugin(cases.FileCase):
    def pytest(self, *words):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "redzone.pytest_plugin", "-q", *words],
            cwd=self.folder, capture_output=True, text=True, timeout=200,
            env={**os.environ, "PYTHONPATH": str(cases.PACKAGE), "REDZONE": str(REDZONE), "CI": "1"},
        )  # fmt: skip

    def test_what_is_found_is_told_and_replayed_first(self):
        self.write(TARGETS, "test_mine.py")
        ran = self.pytest("test_mine.py", "-n", "2")
        self.assertIn("2 failed, 1 passed", ran.stdout.replace("1 passed, 2 failed", "2 failed, 1 passed"))
        self.assertIn("too long", ran.stdout)
        self.assertIn("dims = { N = 10 }", ran.stdout)
        self.assertIn("redzone replay 1", ran.stdout)
        self.assertIn("len is no target: declare it by @rz.target", ran.stdout)
        # Fails by what is stored, before anything is fuzzed.
        again = self.pytest("test_mine.py", "-k", "wrong", "--durations=1")
        self.assertIn("redzone replay 1", again.stdout)
        # And passes once it is fixed.
        self.write(TARGETS.replace("len(x) > 9", "len(x) > 99"), "test_mine.py")
        fixed = self.pytest("test_mine.py", "-k", "wrong")
        self.assertEqual(fixed.returncode, 0, fixed.stdout)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
