#!/usr/bin/env python3
"""bench_test.py REDZONE: `redzone bench --part python` on a CPU. The interpreter that runs this test runs the
targets, and needs torch and Triton.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import unittest

import cases

COUNTED = """import redzone as rz, torch
N = rz.dim("N", 1, 9)
class Counted:
    def __init__(self): open("made", "a").write("!")
    def __call__(self, x, y): open("calls", "a").write(f"{len(x)} "); y.copy_(x)
rz.target(Counted, name="my.counted", x=rz.In("f32", N), y=rz.Out("f32", N))
"""


class Bare(cases.FileCase):
    def ask(self, workload, *lines):
        """What `python -m redzone.bare` answers over its socket."""
        (self.folder / "calls.json").write_text(json.dumps(workload))
        ours, theirs = socket.socketpair()
        with ours, theirs, ours.makefile("r") as answers:
            process = subprocess.Popen(
                [sys.executable, "-m", "redzone.bare", "--workload", "calls.json",
                 "--socket-fd", str(theirs.fileno()), "--device", "host",
                 "--python-file", self.write(COUNTED)],
                cwd=self.folder, pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": str(cases.PACKAGE), "PYTHONSAFEPATH": "1",
                     "REDZONE_LIBRARY": str(REDZONE.parent.parent / "lib/redzone/libredzone_worker.so")},
            )  # fmt: skip
            theirs.close()
            told = [answers.readline()]
            for line in lines:
                ours.sendall(line.encode() + b"\n")
                told.append(answers.readline())
            ours.shutdown(socket.SHUT_RDWR)
            self.assertEqual(process.wait(timeout=60), 0)
        return told

    def test_it_makes_each_call_of_each_plan(self):
        plans = [[{"N": 3}, {"N": 4}], [{"N": 5}]]
        told = self.ask(
            {"target": "my.counted", "plans": plans, "hash": "abc"}, "async 0", "async 0", "screen 0"
        )
        self.assertEqual(told[0], "ready abc\n")
        for answer in told[1:3]:  # plans, trials, calls, mappings, seconds
            self.assertRegex(answer, r"^ok 2 2 3 0 [0-9.e-]+\n$")
        self.assertEqual(told[3], "error unknown mix screen\n")
        self.assertEqual((self.folder / "calls").read_text(), "3 4 5 3 4 5 ")
        self.assertEqual((self.folder / "made").read_text(), "!!!!")

    def test_a_call_that_raises_is_told(self):
        told = self.ask({"target": "my.counted", "plans": [[{}]], "hash": "abc"})
        self.assertEqual(told, ["error NameError: name 'N' is not defined\n"])


class Bench(cases.FileCase):
    def bench(self, python):
        ran = subprocess.run(
            [REDZONE, "bench", "--quick", "--part", "python", "--device", "host", "--python", python,
             "--out", "bench.json"], cwd=self.folder, capture_output=True, text=True, timeout=500,
        )  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return json.loads((self.folder / "bench.json").read_text())["python"], ran.stdout

    def test_calls_and_faults_are_measured(self):
        python, text = self.bench(sys.executable)
        self.assertIsNone(python["why_not"])
        self.assertIn("torch", python["made_by"])
        self.assertEqual([t["workload"] for t in python["targets"]], ["softmax", "triton_add"])
        for target in python["targets"]:
            columns = {c["name"]: c for c in target["columns"]}
            for name in ("bare", "screen-1-worker", "screen", "screen-no-reference"):
                self.assertIsNone(columns[name]["why_not"], columns[name])
                self.assertGreater(columns[name]["calls_per_s"], 0)
                self.assertEqual(columns[name]["plans"] % target["plans"], 0)
            self.assertIsNotNone(columns["memcheck-bare"]["why_not"])
            self.assertEqual(columns["screen"]["calls_compared"], columns["screen"]["calls_with_reference"])
            per_plan = {n: columns[n]["calls"] / columns[n]["plans"] for n in ("bare", "screen")}
            # Two trials, of which one need not repeat calls.
            self.assertLess(per_plan["bare"], per_plan["screen"])
            self.assertLessEqual(per_plan["screen"], 2 * per_plan["bare"])
        fault = python["fault_cost"]
        self.assertIsNone(fault["why_not"])
        for kind in ("with_spare", "without_spare"):
            self.assertGreater(fault[kind]["faults"], 0)
            self.assertGreater(fault[kind]["next_result_ms"], 0)
        self.assertIn("faults of puzzle.add_without_mask", text)

    def test_an_interpreter_without_torch_is_told(self):
        lacks = f"{sys.base_prefix}/bin/python3"
        if subprocess.run([lacks, "-c", "import torch"], capture_output=True).returncode == 0:
            self.skipTest("the interpreter of this environment has torch itself")
        python, text = self.bench(lacks)
        self.assertIn("no module 'torch'", python["why_not"])
        self.assertIn("Python targets: not measured: ", text)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
