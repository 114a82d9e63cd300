#!/usr/bin/env python3
"""compiled_test.py REDZONE: what torch.compile made, on a CPU. The interpreter that runs this test runs
the target, and needs torch and a C++ compiler.
"""

import os
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import cases
import torch
import torch._inductor.config as inductor_config
import torch._inductor.cpu_vec_isa as isa
from redzone.progress import Progress, compile_no_vectors, prepare_inductor
from redzone.worker import prepare

TEXT = """import redzone as rz, torch
M, N = rz.dims(M=(1, 16), N=(1, 64))
def scale(x): return torch.softmax(x, -1) * 2 + 1
rz.target(torch.compile(scale, dynamic=True), name="my.scale", x=rz.In("f32", M, N),
          returns=rz.Out("f32", M, N), reference=scale)
"""


class Compiled(cases.FileCase):
    def test_plans_are_judged_however_long_the_compiler_takes(self):
        ran = subprocess.run(
            [REDZONE, "run", self.write(TEXT), "--python", sys.executable, "--device", "host", "--seed", "1",
             "--plans", "40"], cwd=self.folder, capture_output=True, text=True, timeout=800,
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "compiled")},
        )  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("40 pass, 0 fail, 0 inconclusive", ran.stdout)
        self.assertRegex(ran.stdout, r"workers +0 lost")
        # Two seconds of compiling are told; there may be fewer.
        self.assertLessEqual(ran.stderr.count("compiling my.scale"), 1)

    def test_inductor_knows_the_instructions_before_workers_are_forked(self):
        # As torch 2.11 keeps it: workers inherit the answer, and start no process for it.
        with unittest.mock.patch.object(isa, "pick_vec_isa", wraps=isa.pick_vec_isa) as picked:
            prepare_inductor([unittest.mock.Mock(callable=torch.compile(torch.sin))])
        picked.assert_called_once()

    def test_a_worker_of_a_gpu_asks_nothing_about_the_processor(self):
        # As torch 2.11 keeps it: with this setting no process is started.
        compiled, eager = (unittest.mock.Mock(callable=f) for f in (torch.compile(torch.sin), torch.sin))
        cpp = inductor_config.cpp
        for targets, before, after in (
            ([compiled], None, False),
            ([compiled], True, True),
            ([eager], None, None),
        ):
            with unittest.mock.patch.object(cpp, "vec_isa_ok", before):
                compile_no_vectors(targets)
                self.assertEqual(cpp.vec_isa_ok, after)
        with (
            unittest.mock.patch.object(cpp, "vec_isa_ok", False),
            unittest.mock.patch("subprocess.check_call") as ran,
        ):
            self.assertFalse(isa.VecAVX2())
        ran.assert_not_called()

    def test_compilations_are_told_after_dynamo_was_reset(self):
        told: list[str] = []
        progress = Progress(told.append, told.append)
        for _ in range(2):
            torch._dynamo.reset()
            told.clear()
            progress.hook()
            progress.hook()
            self.assertEqual(len(torch._dynamo.callback_handler.start_callbacks), 1)
            torch.compile(torch.sin, backend="eager", dynamic=True)(torch.ones(2))
            self.assertEqual(set(told), {"compiles by torch.compile"})

    def test_it_is_asked_where_calls_are_run(self):
        for device, times in (("host", 1), ("none", 0)):
            file = self.write(TEXT.replace("my.scale", f"my.{device}"), f"{device}.py")
            with (
                unittest.mock.patch("redzone.worker.open_library"),
                unittest.mock.patch("redzone.worker.prepare_inductor") as asked,
            ):
                prepare(["--device", device, "--python-file", str(self.folder / file)])
            self.assertEqual(asked.call_count, times, device)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
