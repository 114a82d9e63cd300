"""What scripts/guard_gpu judges and writes, with stand-ins for the guard, the compiler and the programs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Finds what a guard would, by the words of the command; `lazy` finds nothing at all, and `blind` does not
# judge.
REDZONE = """#!{python}
import json, pathlib, subprocess, sys
words = sys.argv[1:]
mode = pathlib.Path({mode!r}).read_text()
if words[0] == "doctor":
    gpu = "none" if mode == "no gpu" else "NVIDIA H0, 1 GB"
    print(json.dumps({{"lines": [{{"what": "GPU", "found": gpu}},
                                 {{"what": "CUDA driver", "found": "1.2"}}]}}))
    sys.exit(0)
options, command = words[:words.index("--")], words[words.index("--") + 1:]
is_program = command[0].endswith(("program", "program_shared"))
deed = command[-1] if is_program else pathlib.Path(command[1]).name + command[-1]
error = "device-error: error 700 from cuCtxSynchronize"
before = error if "guard_before" in options else "canary: write before a block allocated in main"
signature = {{"write_after": error, "read_after": error, "write_before": before,
              "slack": "canary: write after a block allocated in main",
              "double_free": "bad-free: cuMemFree of a freed block allocated in main",
              "triton_add.pyunmasked": error}}.get(deed, "")
if "after_free" in deed and "all" in options:
    signature = error
if "--narrow" in options and signature == error:
    signature = "device-error: error 700 in (anonymous namespace)::fill"
tensors = {{"write_after": error, "write_before": before, "slack": before}}
if "planted" in deed:
    signature = tensors.get(command[-1], "")
    if command[-1] == "read_before" and "guard_before" in options:
        signature = error
if "scratch" in deed or command[-1] == "copy_beyond":
    signature = error
if "guard_before" in options and (deed in ("read_after",) or "triton" in deed):
    signature = ""
if deed == "after_free" and "all" in options:
    signature = error
if deed == "cupy_scale.pywrite_after":
    signature = error
if command[-1] == "no_record_stream" and "all" in options:
    signature = error
if mode == "lazy":
    signature = ""
ran = subprocess.run(command)
if mode == "empty report":
    pathlib.Path(words[words.index("--output") + 1]).touch()
    sys.exit(1)
report = {{"judged": True, "processes_not_judged": int(mode == "blind"), "exit_code": ran.returncode,
           "counters": {{"device_blocks": 1234}}, "processes": [{{"state": "no allocation seen"}}],
           "findings": [{{"signature": signature}}] if signature else []}}
pathlib.Path(words[words.index("--output") + 1]).write_text(json.dumps(report))
sys.exit(1 if signature else ran.returncode)
"""

PROGRAM = """#!/bin/sh
case "$1" in
often) printf 'cudaMalloc 10.50 us\\ncudaMallocAsync 2.00 us\\n' ;;
after_free | unwritten) echo "$1: cudaSuccess -nan" ;;
*) echo "$1: cudaSuccess 3" ;;
esac
"""

# Finds what is read beyond the memory of the driver's.
SANITIZER = """#!/bin/sh
case "$*" in
*read_after) exit 77 ;;
*planted.py*write_after) test -z "$PYTORCH_NO_CUDA_MEMORY_CACHING" || exit 77 ;;
esac
"""

NVCC = f"""#!/bin/sh
while [ "$1" != -o ]; do shift; done
cat >"$2" <<'END'
{PROGRAM}END
chmod +x "$2"
"""

TRAINING = "bench/guard/training_step.py"

PYTHON_PROGRAMS = {
    "graph.py": "import os, sys\nsys.exit(1) if 'PYTORCH_NO_CUDA_MEMORY_CACHING' in os.environ else None\n"
                "print('graph True')",
    "after_free.py": "print('sum 1')",
    "triton_add.py": "print('1048576 True')",
    "planted.py": "import os, sys\n"
                  "if 'TORCH_CUDA_SANITIZER' in os.environ and sys.argv[1] == 'missing_wait':\n"
                  "    sys.exit('UnsynchronizedAccessError')\n"
                  "print(sys.argv[1], 1024.0)",
    "scratch.py": "print('256 False')",
    "operator_samples.py": "print('{\"samples\": 7, \"refused\": 1}')",
    "training_loop.py": "print('10000 steps, loss 2.0 then 1.0, learned True')",
    "jax_step.py": "print('jax on gpu: learned True')",
    "cupy_scale.py": "print('cupy True 1.0')",
    "all_reduce.py": "",
    "suite.py": "",
}


class GuardGpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("scripts/guard_programs", "build/bin", "bench/results", "bench/guard", "tools",
                     "modules"):
            (self.root / name).mkdir(parents=True)
        for name in ("guard_gpu", "bench_tools.py"):
            shutil.copy(SCRIPT.parent / name, self.root / "scripts" / name)
        for name, text in PYTHON_PROGRAMS.items():
            (self.root / "scripts/guard_programs" / name).write_text(text + "\n")
        (self.root / TRAINING).write_text("print('\"us\": 3250.0, \"loss\": 0.5')\n")
        for name in ("torch", "triton"):
            (self.root / "modules" / f"{name}.py").write_text("__version__ = '9.8'\n")
        (self.root / "build/commit").write_text("0123abcd\n")
        self.mode = self.root / "mode"
        self.mode.write_text("right")
        self.stand_in("build/bin/redzone", REDZONE.format(python=sys.executable, mode=str(self.mode)))
        self.stand_in("tools/nvcc", NVCC)
        self.stand_in("tools/compute-sanitizer", SANITIZER)
        self.result = self.root / "bench/results/nvidia-h0-guard.txt"

    def stand_in(self, name, text):
        path = self.root / name
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *arguments, **environment):
        given = os.environ | {"PATH": f"{self.root}/tools:{os.environ['PATH']}",
                              "PYTHONPATH": str(self.root / "modules")} | environment
        return subprocess.run([sys.executable, self.root / "scripts/guard_gpu", *arguments], env=given,
                              capture_output=True, text=True)

    def test_what_is_as_expected_is_written(self):
        ran = self.run_script("--runs", "1")
        self.assertEqual(ran.returncode, 0, ran)
        text = self.result.read_text()
        self.assertTrue(text.startswith("commit  0123abcd\ngpu     NVIDIA H0, 1 GB\ndriver  1.2\n"), text)
        self.assertIn("torch 9.8, triton 9.8", text)
        self.assertRegex(text, r"C\+\+: write past a block +0  device-error: error 700 from cuCtxSynchronize")
        self.assertRegex(text, r"--placement guard_before +0  device-error")
        self.assertRegex(text, r"use after cudaFree, sample +0  no finding")
        self.assertRegex(text, r"which PyTorch refuses +1  no finding")
        self.assertRegex(text, r"us  cudaMalloc, kernel, cudaFree +"
                               r"plain 10.50  guarded 10.50  --retire all 10.50")
        self.assertEqual(len(re.findall(r"us  training step.*plain 3250.00  guarded 3250.00", text)), 2)

    def test_the_table(self):
        ran = self.run_script("--table", "--jobs", "4")
        self.assertEqual(ran.returncode, 0, ran)
        self.assertFalse(self.result.exists())
        text = (self.root / "bench/results/nvidia-h0-guard-table.txt").read_text()
        rows = {tuple(line[:57].split(None, 1)): line[57:].split()[:5] for line in text.splitlines()}
        rows = {(kind, name.strip()): row for (kind, name), row in
                ((key, row) for key, row in rows.items() if len(key) == 2)}
        self.assertEqual(rows[("C++", "read past a block")], ["yes", "no", "yes", "-", "-"])
        self.assertEqual(rows[("PyTorch", "write past a tensor")], ["yes", "yes", "no", "yes", "no"])
        self.assertEqual(rows[("PyTorch", "missing wait between two streams")],
                         ["no", "no", "no", "no", "yes"])
        self.assertEqual(len([key for key in rows if key[0] in ("C++", "PyTorch")]), 20)
        self.assertIn("device-error: error 700 in (anonymous namespace)::fill", text)

    def test_a_table_without_what_the_guard_must_find(self):
        self.mode.write_text("lazy")
        ran = self.run_script("--table")
        self.assertEqual(ran.returncode, 1, ran)
        text = (self.root / "bench/results/nvidia-h0-guard-table.txt").read_text()
        self.assertEqual(len(re.findall("NOT AS EXPECTED", text)), 16)

    # The guard makes the file before it runs the program, and is killed with it.
    def test_a_guard_that_does_not_end(self):
        self.mode.write_text("empty report")
        ran = self.run_script("--table")
        self.assertEqual(ran.returncode, 1, ran)
        self.assertEqual(len(re.findall("NOT AS EXPECTED", ran.stdout)), 20)

    # Stand-ins for modules, of which `pytest` does as its count of elements says.
    def test_programs_without_a_mistake(self):
        for name in ("expecttest", "jax", "cupy"):
            (self.root / "modules" / f"{name}.py").write_text("")
        (self.root / "modules/torch.py").write_text(
            "__version__ = '9.8'\nclass cuda:\n    device_count = staticmethod(lambda: 1)\n")
        (self.root / "modules/pytest.py").write_text(
            "import os, sys\nright = os.environ['SUITE_COUNT'] == '1000'\n"
            "print('1 passed' if right else 'finding 1: canary: write in test_fill (suite_test.py)')\n"
            "sys.exit(not right)\n")
        ran = self.run_script("--correct", "1s")
        self.assertEqual(ran.returncode, 0, ran)
        text = (self.root / "bench/results/nvidia-h0-guard-correct.txt").read_text()
        self.assertIn("command ./scripts/guard_gpu --correct 1s\n", text)
        self.assertEqual(len(re.findall(r"operators, . of 4.*no finding  1,234 blocks  .*\"samples\": 7",
                                        text)), 4, text)
        self.assertRegex(text, r"CuPy: a kernel that writes past.* device-error: error 700")
        self.assertEqual(len(re.findall("NCCL.*not run: 1 GPU", text)), 3, text)
        self.assertRegex(text, r"pytest --redzone-guard: a write.*exit code 1  canary: write")

        (self.root / "modules/jax.py").unlink()
        self.mode.write_text("lazy")
        ran = self.run_script("--correct", "1s")
        self.assertEqual(ran.returncode, 1, ran)
        self.assertRegex(ran.stdout, r"CuPy: a kernel that writes past.*NOT AS EXPECTED: found nothing")
        self.assertRegex(ran.stdout, r"JAX.*not run: no module jax")

    def refused(self, status, *words, limit="60"):
        ran = self.run_script("--runs", "1", "--limit", limit)
        self.assertEqual(ran.returncode, status, ran)
        for word in words:
            self.assertIn(word, ran.stdout + ran.stderr)
        self.assertFalse(self.result.exists())

    def test_a_guard_that_finds_nothing(self):
        self.mode.write_text("lazy")
        self.refused(1, "NOT AS EXPECTED: found nothing instead of 'device-error: error 700'")

    def test_a_guard_that_does_not_judge(self):
        self.mode.write_text("blind")
        self.refused(1, "processes were not judged")

    def test_a_program_that_fails_without_the_guard(self):
        self.stand_in("tools/nvcc", NVCC.replace('*) echo', 'clean) exit 9 ;;\n*) echo'))
        self.refused(1, "without the guard: exit code 9 instead of 0")

    def test_a_program_that_does_not_end(self):
        self.stand_in("tools/nvcc", NVCC.replace('*) echo', 'clean) sleep 300 ;;\n*) echo'))
        self.refused(1, "killed after 2 s", "without the guard: exit code -9 instead of 0",
                     limit="2")

    def test_a_step_that_computes_something_else(self):
        (self.root / TRAINING).write_text(
            "import os\nprint('\"us\": 3250.0, \"loss\": 0.%d' % os.getpid())\n")
        self.refused(1, "not the same in all runs")

    def test_what_is_missing(self):
        self.mode.write_text("no gpu")
        self.refused(3, "guard_gpu: no GPU")
        self.mode.write_text("right")
        (self.root / "modules/triton.py").write_text("import no_such_module\n")
        self.refused(3, "no_such_module")

    def test_wrong_flags(self):
        self.assertEqual(self.run_script("--runs", "0").returncode, 2)
        self.assertEqual(self.run_script("--table", "--jobs", "0").returncode, 2)
        self.assertEqual(self.run_script("--table", "--correct", "1s").returncode, 2)
        self.assertEqual(self.run_script("--correct", "soon").returncode, 2)
        self.assertEqual(self.run_script("--colour").returncode, 2)


unittest.main()
