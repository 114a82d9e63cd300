#!/usr/bin/env python3
"""wheel_test.py SCRIPT BUILD: the wheel of a build, installed in a clean environment, finds a bug there."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

import cases

TARGET = """
import redzone as rz
N = rz.dim("N", 1, 40)

@rz.target(x=rz.In("f32", N), y=rz.Out("f32", N))
def tail(x, y):
    for i in range(len(x) // 4 * 4): y[i] = x[i]
"""


class Wheel(cases.FileCase):
    def run_ok(self, *words, allowed=(0,), **more):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "REDZONE"))}
        ran = subprocess.run(
            [*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=200,
            env={**environment, **more},
        )  # fmt: skip
        self.assertIn(ran.returncode, allowed, ran.stdout + ran.stderr)
        return ran.stdout

    def test_an_installed_wheel_finds_a_bug(self):
        made = pathlib.Path(self.run_ok(SCRIPT, "--build", BUILD, "--out", self.folder).strip())
        self.assertRegex(made.name, r"^redzone-[0-9.]+-py3-none-manylinux_2_\d+_x86_64\.whl$")
        venv = self.folder / "venv"
        self.run_ok(sys.executable, "-m", "venv", venv)
        self.run_ok(venv / "bin/pip", "install", "--no-index", "--quiet", made)
        name = self.write(TARGET)
        out = self.run_ok(
            venv / "bin/redzone", "run", name, "--device", "host", "--time", "60s", "--findings", "1",
            "--seed", "1", allowed=(1,), VIRTUAL_ENV=str(venv),
        )  # fmt: skip
        self.assertIn("uninitialized: y (my.tail)", out)
        found = json.loads(self.run_ok(venv / "bin/redzone", "findings", "--json"))["findings"]
        self.assertIn(f"--python-file {self.folder.resolve() / name}", found[0]["replay"])

    def test_a_record_of_each_file(self):
        made = pathlib.Path(self.run_ok(SCRIPT, "--build", BUILD, "--out", self.folder).strip())
        with zipfile.ZipFile(made) as packed:
            names = set(packed.namelist())
            record = packed.read(next(n for n in names if n.endswith("/RECORD"))).decode()
            self.assertEqual({line.split(",")[0] for line in record.splitlines()}, names)
            modes = {n: packed.getinfo(n).external_attr >> 16 & 0o111 for n in names}
        self.assertTrue(modes["redzone/_redzone/bin/redzone"])
        self.assertFalse(modes["redzone/__init__.py"])

    def test_an_incomplete_build_is_named(self):
        (self.folder / "bin").mkdir()
        shutil.copy("/bin/true", self.folder / "bin/redzone")
        ran = subprocess.run([SCRIPT, "--build", self.folder], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 3)
        self.assertTrue(
            re.fullmatch(r"wheel: .*libredzone_worker\.so is missing: .*\n", ran.stderr), ran.stderr
        )


if __name__ == "__main__":
    SCRIPT, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
