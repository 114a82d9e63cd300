#!/usr/bin/env python3
"""run_test.py REDZONE: targets of plain Python through the command, its workers and its oracles."""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import cases

HEAD = "import redzone as rz\nN = rz.dim('N', 1, 40)\n"
REFERENCE = "reference=lambda x: [2 * v for v in x]"


def zygotes(driver):
    """Processes that fork workers for this driver."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if "redzone.zygote " in line and f" {driver} " in line]


class Run(cases.FileCase):
    def redzone(self, *words):
        return subprocess.run(
            [REDZONE, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=100
        )

    def run_file(self, text, *flags, python=sys.executable):
        """The confirmed findings of a run, and what the run printed."""
        name = self.write(text)
        ran = self.redzone("run", name, "--python", python, "--device", "host", "--seed", 1, *flags)
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        listed = self.redzone("findings", "--json")
        found = json.loads(listed.stdout)["findings"]
        return [f for f in found if f["state"] == "confirmed"], ran

    def test_a_finding_is_reduced_and_replayed(self):
        found, ran = self.run_file(
            HEAD + f"@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N), {REFERENCE})\n"
            "def twice(x, y):\n    for i in range(len(x) // 4 * 4): y[i] = 2 * x[i]\n", "--time", "8s",
        )  # fmt: skip
        self.assertEqual([f["signature"]["text"] for f in found], ["uninitialized: y (my.twice)"], ran.stdout)
        self.assertIn("dims = { N = 1 }", found[0]["plan"])
        self.assertIn("--python-file", found[0]["replay"])
        replay = self.redzone("replay", 1, "--python-file", "my.py", "--python", sys.executable)
        self.assertEqual(replay.returncode, 1, replay.stdout + replay.stderr)

    def test_state_of_a_class_is_a_trials(self):
        found, ran = self.run_file(
            HEAD + "class Cached:\n    def __init__(self): self.n = 0\n"
            "    def __call__(self, x):\n        self.n = self.n or len(x)\n"
            "        return [2 * v if self.n == len(x) else 0.0 for v in x]\n"
            f"rz.target(Cached, name='cached', x=rz.In('f32', N), returns=rz.Out('f32', N), {REFERENCE})\n",
            "--time", "10s",
        )  # fmt: skip
        self.assertEqual([f["signature"]["text"] for f in found], ["history: result (cached)"], ran.stdout)
        self.assertEqual(found[0]["calls"], 2)

    def test_exceptions_and_refusals(self):
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), rejects=LookupError)\n"
            "def f(x):\n    if len(x) > 30: raise KeyError('long')\n"
            "    if len(x) > 9: raise ValueError('too long')\n    return x.tolist()\n", "--time", "8s",
        )  # fmt: skip
        self.assertEqual([f["signature"]["kind"] for f in found], ["fault"], ran.stdout)
        self.assertIn("exception: ValueError", found[0]["signature"]["text"])
        self.assertIn("my.py:6: ValueError: too long", found[0]["reason"])
        self.assertIn("dims = { N = 10 }", found[0]["plan"])

    def test_a_wrong_result_names_both(self):
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\n"
            "def f(x):\n    return x.tolist()[:30]\n", "--time", "8s",
        )  # fmt: skip
        self.assertEqual(len(found), 1, ran.stdout)
        self.assertIn("has shape (30,), and (31,) is declared", found[0]["reason"])

    def test_a_right_target_has_no_finding(self):
        found, ran = self.run_file(
            HEAD + f"@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N), {REFERENCE})\n"
            "def twice(x, y):\n    for i in range(len(x)): y[i] = 2 * x[i]\n", "--plans", "60",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout)

    def test_the_zygote_ends_with_the_driver(self):
        name = self.write(HEAD + "@rz.target(x=rz.InOut('f32', N))\ndef f(x): pass\n")
        driver = subprocess.Popen(
            [REDZONE, "run", name, "--python", sys.executable, "--device", "host", "--time", "60s"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(driver.wait)
        until = time.monotonic() + 30
        while not zygotes(driver.pid) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(len(zygotes(driver.pid)), 1)
        driver.kill()
        while zygotes(driver.pid) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(zygotes(driver.pid), [])

    def test_without_a_zygote_workers_start_by_themselves(self):
        # A second thread keeps it from forking.
        found, ran = self.run_file(
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=[1000], daemon=True).start()\n" + HEAD
            + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\n"
            "def f(x):\n    return [v + 1 for v in x]\n", "--plans", "20",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout + ran.stderr)
        self.assertIn("20 pass", ran.stdout)

    def test_a_mistake_ends_the_command(self):
        name = self.write(HEAD + "rz.target(lambda x: 0, name='f', z=rz.In('f32', N))\n")
        ran = self.redzone("run", name, "--python", sys.executable)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("my.py:3: 'z' is no parameter of <lambda>(): there are x", ran.stderr)

    def test_a_shape_without_a_value_names_the_line(self):
        name = self.write(HEAD + "rz.target(lambda x: x, name='f', x=rz.In('f32', N // (N - N)),\n"
                          "          returns=rz.Out('f32', N))\n")  # fmt: skip
        ran = self.redzone("run", name, "--python", sys.executable)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("my.py:3: invalid spec of target 'f'", ran.stderr)
        self.assertIn("divides by zero", ran.stderr)

    def test_a_module_of_the_user_in_the_current_folder_hides_none_of_pythons(self):
        self.write("raise RuntimeError('not this one')\n", "json.py")
        files = pathlib.Path(self.folder) / "files"
        files.mkdir()
        (files / "my.py").write_text(
            HEAD + "rz.target(lambda x: [v + 1 for v in x], name='f', x=rz.In('f32', N),"
            " returns=rz.Out('f32', N))\n"
        )
        ran = self.redzone(
            "run", files / "my.py", "--python", sys.executable, "--device", "host", "--plans", "20"
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("20 pass", ran.stdout)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    os.environ.pop("PYTHONSTARTUP", None)
    unittest.main()
