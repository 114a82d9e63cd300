"""Shared by the tests: running the exporter like a user, and small packages as its input."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "src" / "targets" / "triton"
SHARED_CACHE = ROOT / "build" / "triton-cache"

KERNEL = """
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["pitch"])
def add(x, y, rows, n, pitch, RDIM: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr = 1):
    for i in range(0, n):
        at = (tl.program_id(0) * n + i) * pitch + tl.arange(0, RDIM)
        tl.store(y + at, tl.load(x + at, tl.arange(0, RDIM) < rows, 0.0) + BLOCK + WIDE)
"""

# A description of `add`, in TOML.
DESCRIPTION = """
name = "test.add"
doc = "adds a constant"
work = "N * R"
grid = ["cdiv(R, BLOCK)"]

[[dim]]
name = "N"
max = 100

[[dim]]
name = "R"
min = 17
max = 64

[[tensor]]
name = "x"
dtype = "f32"
role = "in"
shape = ["N", "R"]
align_bytes = 4

[[tensor]]
name = "y"
dtype = "f32"
role = "out"
shape = ["N", "R"]
tolerance = { abs = 0.0, rel = 1e-6 }

[[argument]]
name = "rows"
kind = "int"
value = "R"
specialize = false

[[argument]]
name = "n"
kind = "int"
value = "N"

[[argument]]
name = "pitch"
kind = "int"
type = "i64"
value = "R"

[[argument]]
name = "RDIM"
kind = "constexpr"
value = "next_power_of_2(R)"
"""

CONFIGS = """
[[config]]
BLOCK = 32
num_warps = 4

[[config]]
BLOCK = 64
num_warps = 8
"""


def export(*arguments, cache=SHARED_CACHE):
    """Runs the exporter; the result has exit code, stdout and stderr."""
    environment = dict(os.environ, TRITON_CACHE_DIR=str(cache))
    command = [sys.executable, str(ROOT / "scripts" / "triton_export.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def read_target(folder):
    return tomllib.loads((Path(folder) / "target.toml").read_text())


def metadata(folder, variant):
    return json.loads((Path(folder) / "cubin" / (variant["file"] + ".json")).read_text())


def cubin_of(folder, variant):
    return Path(folder) / "cubin" / (variant["file"] + ".cubin")


class ExporterCase(unittest.TestCase):
    """A test with a temporary folder that contains the kernel, a description and configs."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("kernel.py", KERNEL)
        self.write("add.toml", DESCRIPTION)
        self.write("configs.toml", CONFIGS)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def function(
        self, out="out", describe="add.toml", configs="configs.toml", name="add", **options
    ):
        return export(
            "function",
            f"{self.folder / 'kernel.py'}:{name}",
            "--describe",
            self.folder / describe,
            "--configs",
            self.folder / configs,
            "--out",
            self.folder / out,
            **options,
        )

    def ok(self, result):
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def refused(self, result, *parts):
        """Expects exit code 2 and one line on stderr that contains all of `parts`."""
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for part in parts:
            self.assertIn(str(part), result.stderr)
