"""`redzone run` of Python targets whose memory PyTorch or numpy allocates. Arguments: the redzone binary."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

FOLDER = pathlib.Path(__file__).parent
REDZONE = ""
FINDINGS = 1  # exit code


class Run(unittest.TestCase):
    def run_target(self, name: str, *limits: str) -> tuple[int, dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            targets = FOLDER / f"{name.split('.')[0]}.py"
            command = [REDZONE, "run", name, "--python-file", str(targets), "--python", sys.executable]
            command += [*limits, "--seed", "1", "--json", "--db", f"{folder}/redzone.db"]
            ran = subprocess.run(command, capture_output=True, text=True)
        self.assertIn(ran.returncode, (0, FINDINGS), ran.stderr)
        return ran.returncode, json.loads(ran.stdout)

    def assert_clean_and_guarded(self, name: str) -> None:
        code, report = self.run_target(name, "--time", "10s")
        self.assertEqual(code, 0, report["findings"])
        memory = report["targets"][0]["own_memory"]
        self.assertGreater(memory["blocks"], 100)
        self.assertEqual(memory["left_out_blocks"] + memory["unguarded_trials"], 0)

    def found_in(self, name: str) -> set[str]:
        code, report = self.run_target(name, "--time", "60s", "--findings", "1")
        self.assertEqual(code, FINDINGS)
        self.assertGreater(report["targets"][0]["own_memory"]["blocks"], 0)
        return {finding["signature"]["text"].split(" (")[0] for finding in report["findings"]}

    def assert_writes_after(self, block: str, name: str) -> None:
        found = self.found_in(name)
        kinds = {f"illegal-access: write after {block}", f"redzone: write after {block}"}
        self.assertTrue(found and found <= kinds, found)

    def test_a_write_beside_a_block_is_named_after_it(self) -> None:
        self.assert_writes_after("torch#1", "scratch_targets.firstsize")
        self.assert_writes_after("numpy#1", "numpy_targets.firstsize")

    def test_what_numpy_has_not_written_is_poison(self) -> None:
        self.assertEqual(self.found_in("numpy_targets.fromone"), {"uninitialized: result"})

    def test_a_correct_target_has_no_finding_and_all_of_its_memory_is_guarded(self) -> None:
        self.assert_clean_and_guarded("scratch_targets.softmax")
        self.assert_clean_and_guarded("numpy_targets.softmax")


if __name__ == "__main__":
    REDZONE = sys.argv.pop(1)
    unittest.main()
