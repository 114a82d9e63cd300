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

    def test_a_write_beside_a_block_of_pytorchs_is_named_after_it(self) -> None:
        code, report = self.run_target("scratch_targets.firstsize", "--time", "60s", "--findings", "1")
        self.assertEqual(code, FINDINGS)
        found = {finding["signature"]["text"].split(" (")[0] for finding in report["findings"]}
        kinds = {"illegal-access: write after torch#1", "redzone: write after torch#1"}
        self.assertTrue(found and found <= kinds, found)
        self.assertGreater(report["targets"][0]["own_memory"]["blocks"], 0)

    def test_a_correct_target_has_no_finding_and_all_of_its_memory_is_guarded(self) -> None:
        code, report = self.run_target("scratch_targets.softmax", "--time", "10s")
        self.assertEqual(code, 0, report["findings"])
        memory = report["targets"][0]["own_memory"]
        self.assertGreater(memory["blocks"], 100)
        self.assertEqual(memory["left_out_blocks"] + memory["unguarded_trials"], 0)

    def found_in(self, name: str) -> set[str]:
        code, report = self.run_target(name, "--time", "60s", "--findings", "1")
        self.assertEqual(code, FINDINGS)
        self.assertGreater(report["targets"][0]["own_memory"]["blocks"], 0)
        return {finding["signature"]["text"].split(" (")[0] for finding in report["findings"]}

    def test_what_numpy_has_not_written_is_poison(self) -> None:
        self.assertEqual(self.found_in("numpy_targets.fromone"), {"uninitialized: result"})

    def test_a_write_beside_an_array_of_numpys_is_named_after_it(self) -> None:
        found = self.found_in("numpy_targets.firstsize")
        kinds = {"illegal-access: write after numpy#1", "redzone: write after numpy#1"}
        self.assertTrue(found and found <= kinds, found)

    def test_a_correct_target_of_numpys_has_no_finding(self) -> None:
        code, report = self.run_target("numpy_targets.softmax", "--time", "10s")
        self.assertEqual(code, 0, report["findings"])
        memory = report["targets"][0]["own_memory"]
        self.assertGreater(memory["blocks"], 100)
        self.assertEqual(memory["left_out_blocks"] + memory["unguarded_trials"], 0)


if __name__ == "__main__":
    REDZONE = sys.argv.pop(1)
    unittest.main()
