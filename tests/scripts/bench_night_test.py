#!/usr/bin/env python3
"""bench_night_test.py SCRIPT: a night in three parts, the first of them killed, whose figures add up."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TARGETS = ["puzzle.last_tile", "puzzle.far_write"]


def start(script, folder, time, *more):
    return subprocess.Popen(
        [script, "--device", "host", "--db", f"{folder}/x.db", "--out", f"{folder}/out", "--time", time,
         "--seed", "5", *more, *TARGETS], start_new_session=True)


def of_the_store(folder):
    night = subprocess.run(
        [pathlib.Path(sys.argv[1]).parent.parent / "build/bin/redzone", "report", "--format", "json",
         "--db", f"{folder}/x.db"], capture_output=True, text=True)
    return json.loads(night.stdout)["night"] if night.returncode == 0 else {"findings": []}


def main(script):
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        first = start(script, folder, "1h")
        while not any(f["confidence"] == "confirmed" for f in of_the_store(folder)["findings"]):
            assert first.poll() is None, "it ended before it was killed"
            time.sleep(0.1)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        out = pathlib.Path(folder, "out")
        assert not out.exists(), "a killed part writes nothing"
        killed = of_the_store(folder)

        assert start(script, folder, "1h", "--piece", "2s").wait() == 130
        second = json.loads((out / "figures.json").read_text())
        # No time is left, so this part ends the night.
        assert start(script, folder, "1s").wait() == 1
        figures = json.loads((out / "figures.json").read_text())
        wall = time.monotonic() - begun

        assert (second["parts"], figures["parts"]) == (2, 3), figures
        assert killed["campaign"] == 1 and killed["plans"] <= second["plans"] <= figures["plans"]
        for part in ("self_proof", "replay", "fuzz"):
            grew = [killed[f"{part}_seconds"], second["seconds"][part], figures["seconds"][part]]
            assert grew == sorted(grew), (part, grew)
        assert second["seconds"]["all"] < figures["seconds"]["all"] <= wall
        assert abs(sum(figures["seconds"][p] for p in ("self_proof", "replay", "fuzz"))
                   - figures["seconds"]["all"]) < 1e-6
        assert figures["budget_seconds"] == 1
        for key in ("plans", "calls", "device_seconds"):
            assert abs(sum(t[key] for t in figures["targets"]) - figures[key]) < 1e-6, key
        assert [t["name"] for t in figures["targets"]] == sorted(TARGETS)
        assert sum(figures["verdicts"].values()) == figures["plans"]
        assert figures["exit_code"] == 1 and figures["findings"]["new"] >= 1, figures["findings"]
        assert figures["device"] == "host" and figures["commit"]
        assert "<html" in (out / "index.html").read_text() and (out / "night.txt").exists()


main(sys.argv[1])
