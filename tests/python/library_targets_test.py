#!/usr/bin/env python3
"""library_targets_test.py REDZONE: the targets over PyTorch's libraries, of Triton and of Helion through
`redzone run`, on a CPU, where nothing should be found. The interpreter that runs this test runs the targets.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

import cases  # isort: skip


NOT_JUDGED = 4


class LibraryTargets(cases.FileCase):
    def redzone(self, file, *words, exit_code=0):
        ran = subprocess.run(
            [REDZONE, *map(str, words), str(cases.ROOT / "python/targets" / file), "--python", sys.executable,
             "--json"], cwd=self.folder, capture_output=True, text=True, timeout=800,
        )  # fmt: skip
        self.assertEqual(ran.returncode, exit_code, ran.stdout + ran.stderr)
        return json.loads(ran.stdout)

    def nothing_is_found(self, file, prefix, least):
        names = [t["name"] for t in self.redzone(file, "targets")["targets"] if t["name"].startswith(prefix)]
        self.assertGreaterEqual(len(names), least)
        result = self.redzone(file, "run", "--device", "host", "--plans", 1, "--seed", 1, "--deadline", "60s")
        self.assertEqual(result["verdicts"]["pass"], len(names))
        self.assertEqual(result["verdicts"]["fail"], 0)
        self.assertGreater(result["reference"]["compared_calls"], len(names))

    def test_cudnn(self):
        self.nothing_is_found("torch_cudnn.py", "cudnn.", 9)

    def test_linalg(self):
        self.nothing_is_found("torch_linalg.py", "linalg.", 26)

    def test_attention(self):
        self.nothing_is_found("torch_attention.py", "attention.", 4)

    def test_triton_tutorials(self):
        self.nothing_is_found("triton_tutorials.py", "triton.", 3)

    def test_triton_chunks(self):
        self.nothing_is_found("triton_chunks.py", "triton.", 1)

    @unittest.skipUnless(importlib.util.find_spec("helion"), "no module 'helion'")
    def test_helion_chunks(self):
        self.nothing_is_found("helion_chunks.py", "helion.", 4)

    def test_flashinfer_by_a_stand_in(self):
        stand_in = pathlib.Path(__file__).resolve().parent / "flashinfer_stand_in.py"
        self.nothing_is_found(stand_in, "flashinfer.", 25)

    def test_flashinfer_needs_a_gpu(self):
        words = ("run", "--device", "host", "--plans", 1, "--seed", 1)
        result = self.redzone("flashinfer_entry_points.py", *words, exit_code=NOT_JUDGED)
        self.assertEqual(result["verdicts"]["not_applicable"], len(result["targets"]))
        self.assertIn("FlashInfer's kernels run on a GPU only", json.dumps(result["unjudged"]))


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
