#!/usr/bin/env python3
"""hunt_test.py SCRIPT: a hunt over two libraries in two parts, whose rows add up. On the host device nothing
can be judged, which every row says, and the exit code too.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

NOT_JUDGED = 4


def hunt(script, folder, *more):
    return subprocess.run(
        [script, "--device", "host", "--db", f"{folder}/x.db", "--out", f"{folder}/hunt.json",
         "--time", "6s", "--only", "cublaslt,thrust", "--commit", "c1", "--seed", "3", *more],
        stdout=subprocess.DEVNULL).returncode


def main(script):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "hunt.json")

        def rows():
            kept = json.loads(out.read_text())["rows"]
            return [(row["part"], row["library"], row["seconds"]) for row in kept]

        # cuBLASLt has two of three shares of the time, so the first half is within its own.
        assert hunt(script, folder, "--part", "1/2") == NOT_JUDGED
        assert rows() == [("1/2", "cublaslt", 3)], rows()
        assert hunt(script, folder, "--part", "2/2") == NOT_JUDGED
        assert rows() == [("1/2", "cublaslt", 3), ("2/2", "cublaslt", 1), ("2/2", "thrust", 2)], rows()
        # A part that runs again takes its own place.
        assert hunt(script, folder, "--part", "2/2") == NOT_JUDGED
        assert len(rows()) == 3, rows()

        result = json.loads(out.read_text())
        for row in result["rows"]:
            assert row["targets"] > 0 and row["plans"] > 0 and row["verdicts"]["pass"] == 0, row
            assert row["plans"] == row["verdicts"]["not_applicable"], row
            assert all("runs on a GPU only" in t["reason"] for t in row["not_judged"]), row
        text = out.with_suffix(".txt").read_text()
        assert text.startswith("commit  c1\n") and "calls in all: " in text, text

        # Another commit begins anew.
        assert hunt(script, folder, "--part", "2/2", "--commit", "c2") == NOT_JUDGED
        assert len(rows()) == 2, rows()

        for wrong in (("--part", "3/2"), ("--part", "0/2"), ("--time", "ten")):
            assert hunt(script, folder, *wrong) == 2, wrong
        assert hunt(script, folder, "--only", "cublaslt,nothing") == 1


main(sys.argv[1])
