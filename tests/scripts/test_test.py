"""scripts/test with --gpu in parts: which tests a part runs, and what is kept of the parts; with
stand-ins for CTest and the GPU."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Twelve tests, of which it runs those that -I selects, as CTest does.
CTEST = """#!/bin/bash
start=1 stride=1
while [ $# -gt 0 ]; do
  case "$1" in
    -I) start=${2%%,*}; stride=${2##*,} ;;
    -N) echo "Total Tests: 12"; exit 0 ;;
  esac
  shift
done
for ((i = start; i <= 12; i += stride)); do
  echo "  $i/12 Test #$i: case$i ...   $(cat "$(dirname "$0")/outcome")    0.1 sec"
done
echo "100% tests passed"
"""

SMI = """#!/bin/sh
case "$*" in *name*) cat "$(dirname "$0")/gpu" ;; *) echo 580.1 ;; esac
"""


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        self.tools = pathlib.Path(folder.name) / "tools"
        (self.root / "scripts").mkdir(parents=True)
        (self.root / "build").mkdir()
        self.tools.mkdir()
        shutil.copy(SCRIPT, self.root / "scripts/test")
        for name, text in (("ctest", CTEST), ("nvidia-smi", SMI)):
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        self.given("one", "NVIDIA H100")

    def given(self, commit, gpu, outcome="Passed"):
        (self.root / "build/commit").write_text(commit + "\n")
        (self.tools / "gpu").write_text(gpu + "\n")
        (self.tools / "outcome").write_text(outcome)

    def ran(self, *arguments, code=0):
        ran = subprocess.run([self.root / "scripts/test", "--gpu", "--no-build", *arguments],
                             capture_output=True, text=True,
                             env={"PATH": f"{self.tools}:/usr/bin:/bin"})
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def recorded(self, gpu="nvidia-h100"):
        return (self.root / f"bench/results/{gpu}-tests.txt").read_text()

    def cases(self):
        return sorted(int(line.split("#")[1].split(":")[0])
                      for line in self.recorded().splitlines() if "Test #" in line)

    def test_the_parts_together_run_each_test_once(self):
        for part in ("2/3", "1/3", "3/3"):
            said = self.ran("--part", part).stdout
        self.assertEqual(self.cases(), list(range(1, 13)))
        self.assertEqual(self.recorded().count("commit  one"), 1)
        self.assertNotIn("has not run yet", said)

    def test_says_which_parts_are_missing(self):
        said = self.ran("--part", "2/3").stdout
        self.assertEqual(self.cases(), [2, 5, 8, 11])
        self.assertIn("part 1/3 of this commit has not run yet", said)
        self.assertIn("part 3/3 of this commit has not run yet", said)
        self.assertNotIn("part 2/3 of this commit has not run yet", said)

    def test_parts_of_another_commit_or_gpu_are_not_kept(self):
        self.ran("--part", "1/2")
        self.given("two", "NVIDIA H100")
        self.ran("--part", "2/2")
        self.assertEqual(self.cases(), [2, 4, 6, 8, 10, 12])
        self.given("two", "NVIDIA H200")
        self.ran("--part", "1/2")
        self.assertNotIn("#2:", self.recorded("nvidia-h200"))

    def test_a_whole_run_begins_anew(self):
        self.ran("--part", "1/2")
        self.ran()
        self.assertEqual(self.cases(), list(range(1, 13)))
        self.assertNotIn("part ", self.recorded())

    def test_a_skipped_test_fails_the_part(self):
        self.given("one", "NVIDIA H100", "***Skipped")
        self.ran("--part", "1/2", code=1)

    def test_other_parts_are_refused(self):
        for wrong in ("0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", ""):
            self.ran("--part", wrong, code=2)
        self.ran("--part", code=2)


if __name__ == "__main__":
    unittest.main()
