#!/usr/bin/env python3
"""puzzles_test.py REDZONE [unittest arguments]: the Python puzzles on a CPU.

Each is found by two seeds, and reduced to the minimum that its first lines state; the twins have no
finding. The interpreter that runs this test runs the targets, and needs torch and Triton. Puzzles that need
Helion are skipped where it is missing.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

import cases  # isort: skip

FILES = cases.PUZZLES
SEEDS = (1, 2)
TIME = "60s"  # at most: a run ends with the first finding that is reduced
TWIN_PLANS = 300  # of each
MOST_LINES = 20


class Note:
    """The first lines of a puzzle's file, in the format of src/targets/puzzles/kit.h; a failure of
    the callable itself also has the code of its exception."""

    def __init__(self, file):
        self.file = file
        self.text = file.read_text()
        found = re.findall(r"^# (puzzle|bug|kin|expect|minimal): (.*)$", self.text, re.MULTILINE)
        fields = {key: [value for k, value in found if k == key] for key, _ in found}
        self.name = fields["puzzle"][0]
        expect = re.fullmatch(r"((?:[a-z-]+)(?: \| [a-z-]+)*) ?(.*)", fields["expect"][0])
        assert expect is not None, fields
        self.kinds, self.rest = expect[1].split(" | "), expect[2]
        self.minima = [self.calls(line) for line in fields["minimal"]]

    @staticmethod
    def calls(line):
        count, _, calls = line.partition("; ")
        read = [{k: int(v) for k, v in (p.split("=") for p in call.split())} for call in calls.split("; ")]
        assert count == f"{len(read)} call{'s' if len(read) > 1 else ''}", line
        return read

    def matches(self, signature):
        where = f"{signature['where']} {signature['access']} {signature['side']} {signature['buffer']}"
        return signature["kind"] in self.kinds and all(word in where for word in self.rest.split())


def redzone(*words):
    return subprocess.run([REDZONE, *map(str, words)], capture_output=True, text=True, timeout=800)


def calls_of(plan):
    steps = [s for s in tomllib.loads(plan)["step"] if s["do"] == "call"]
    return list(itertools.chain(*([s["dims"]] * s.get("repeat", 1) for s in steps)))


class Case(unittest.TestCase):
    def run_targets(self, *words):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        db = pathlib.Path(folder.name) / "redzone.db"
        ran = redzone("run", *words, "--python", sys.executable, "--device", "host", "--deadline", "20s",
                      "--db", db)  # fmt: skip
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        found = json.loads(redzone("findings", "--db", db, "--json").stdout)["findings"]
        return db, [f for f in found if f["state"] == "confirmed"], ran


class Puzzles(Case):
    """One method a puzzle is added below."""

    def found_and_reduced(self, note, seed):
        db, found, ran = self.run_targets(
            note.file, "--target", f"puzzle.{note.name}", "--time", TIME, "--findings", 1, "--seed", seed
        )
        right = [f for f in found if note.matches(f["signature"])]
        self.assertTrue(right, ran.stdout + ran.stderr)
        finding = right[0]
        if finding["reduction"]["end"] != "1-minimal":
            reduce = redzone("reduce", finding["id"], "--db", db, "--python-file", note.file,
                             "--python", sys.executable)  # fmt: skip
            self.assertEqual(reduce.returncode, 1, reduce.stdout + reduce.stderr)
            again = json.loads(redzone("findings", "--db", db, "--json").stdout)["findings"]
            finding = next(f for f in again if f["id"] == finding["id"])
        self.assertIn(calls_of(finding["plan"]), note.minima, finding["plan"])
        self.assertEqual(finding["reliability"]["k"], finding["reliability"]["n"])

    def check(self, note):
        if cases.lacks_helion(note.file):
            self.skipTest("no module 'helion'")
        preload = REDZONE.parent.parent / "lib/redzone/libredzone_memory.so"
        if "torch#" in note.rest and not preload.exists():
            self.skipTest(f"needs guarded memory of torch: no {preload.name} in this build")
        self.assertLessEqual(len(note.text.splitlines()), MOST_LINES)
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.found_and_reduced(note, seed)


class Twins(Case):
    def test_nothing_is_found(self):
        """All in one campaign: to import PyTorch takes longer than the plans of a twin."""
        files = [file for file in FILES if not cases.lacks_helion(file)]
        for file in set(FILES) - set(files):
            with self.subTest(file.stem):
                self.skipTest("no module 'helion'")
        twins = [word for file in files for word in (file, "--target", f"twin.{file.stem}")]
        _, found, ran = self.run_targets(*twins, "--plans", TWIN_PLANS, "--seed", 1)
        self.assertEqual(found, [], ran.stdout)
        self.assertIn(f"plans     {len(files) * TWIN_PLANS:,} ", ran.stdout)


def add(note):
    setattr(Puzzles, f"test_{note.name}", lambda self: self.check(note))


for puzzle in FILES:
    add(Note(puzzle))


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
