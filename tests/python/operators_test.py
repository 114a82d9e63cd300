#!/usr/bin/env python3
"""operators_test.py REDZONE: PyTorch's database of operators through `redzone run`, on a CPU. The
interpreter that runs this test runs the targets, and needs torch, numpy and expecttest.
"""

import json
import pathlib
import runpy
import subprocess
import sys
import unittest

import cases  # isort: skip

import torch

FILE = cases.ROOT / "python/targets/torch_operators.py"
LEAST = 688  # that run on a CPU
EACH = 12  # one in so many is run here; a whole run takes minutes beside other tests


class Operators(cases.FileCase):
    def redzone(self, *words):
        ran = subprocess.run(
            [REDZONE, *map(str, words), "--python", sys.executable], cwd=self.folder,
            capture_output=True, text=True, timeout=800,
        )  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def test_nothing_is_found_in_a_sample_of_them(self):
        listed = json.loads(self.redzone("targets", FILE, "--json"))["targets"]
        names = [t["name"] for t in listed if t["name"].startswith("op.")]
        self.assertGreaterEqual(len(names), LEAST)
        chosen = [word for name in names[::EACH] for word in ("--target", name)]
        out = self.redzone("run", FILE, *chosen, "--device", "host", "--plans", 1, "--seed", 1,
                           "--deadline", "30s")  # fmt: skip
        self.assertIn(f"verdicts  {len(chosen) // 2} pass, 0 fail, 0 inconclusive, 0 not applicable", out)

    def test_a_view_is_copied_as_one(self):
        targets = runpy.run_path(str(FILE))
        whole = torch.arange(12.0)
        conjugated = torch.ones(3, dtype=torch.cfloat).conj()
        for value in (whole[2:8:3], whole.view(3, 4).t(), whole[4:4], conjugated, torch.eye(2).to_sparse()):
            copy = targets["copied"](value)
            self.assertEqual(targets["bytes_of"](copy), targets["bytes_of"](value))
            if value.layout is torch.strided and not value.is_conj():
                self.assertEqual(copy.stride(), value.stride())
                self.assertEqual(copy.untyped_storage().nbytes(), value.untyped_storage().nbytes())
                self.assertNotEqual(copy.untyped_storage().data_ptr(), value.untyped_storage().data_ptr())
        one = torch.ones(1).expand(1)
        self.assertEqual(targets["bytes_of"](torch.as_strided(one, (1,), (0,))), targets["bytes_of"](one))
        self.assertNotEqual(targets["bytes_of"](torch.zeros(2)), targets["bytes_of"](torch.ones(2)))


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
