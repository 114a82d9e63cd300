#!/usr/bin/env python3
"""compiled_test.py REDZONE: what torch.compile made, on a CPU. The interpreter that runs this test runs
the target, and needs torch and a C++ compiler.
"""

import pathlib
import re
import subprocess
import sys
import unittest

import cases

TEXT = """import redzone as rz, torch
M, N = rz.dims(M=(1, 16), N=(1, 64))
def scale(x): return torch.softmax(x, -1) * 2 + 1
rz.target(torch.compile(scale, dynamic=True), name="my.scale", x=rz.In("f32", M, N),
          returns=rz.Out("f32", M, N), reference=scale)
"""


class Compiled(cases.FileCase):
    def test_plans_are_judged_however_long_the_compiler_takes(self):
        ran = subprocess.run(
            [REDZONE, "run", self.write(TEXT), "--python", sys.executable, "--device", "host", "--seed", "1",
             "--plans", "40"], cwd=self.folder, capture_output=True, text=True, timeout=800,
        )  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("40 pass, 0 fail, 0 inconclusive", ran.stdout)
        self.assertRegex(ran.stdout, r"workers +0 lost")
        self.assertLessEqual(len(re.findall("compiling my.scale", ran.stderr)), 1)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
