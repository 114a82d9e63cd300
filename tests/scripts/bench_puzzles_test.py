#!/usr/bin/env python3
"""bench_puzzles_test.py SCRIPT: the results that the script writes for two puzzles."""

import json
import pathlib
import subprocess
import sys
import tempfile


def main(script):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "puzzles.json")
        subprocess.run([script, "--device", "host", "--time", "6s", "--runs", "2", "--out", out,
                        "puzzle.last_tile", "puzzle.far_write"], check=True)
        result = json.loads(out.read_text())
        assert [r["puzzle"] for r in result["puzzles"]] == ["puzzle.last_tile", "puzzle.far_write"]
        assert result["of"] == result["found"] == result["replayed"] == 2, result
        assert result["environment"]["device"] == "host" and result["environment"]["toolkit"]
        assert result["campaign"]["plans"] == sum(result["campaign"]["verdicts"].values())
        for row in result["puzzles"]:
            for finding in row["findings"]:
                assert finding["replays"] == 2 and finding["signature"], finding
        other = subprocess.run([script, "--device", "host", "puzzle.last_tyle"], capture_output=True)
        assert other.returncode == 2, other


main(sys.argv[1])
