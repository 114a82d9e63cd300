"""How scripts/fuzz adds up parts, with stand-ins for the libFuzzer programs."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Reports the requested number of executions, at most `most`, in libFuzzer's form.
PROGRAM = """#!/bin/sh
# version {version}
. {how}
for word in "$@"; do
  case "$word" in -runs=*) runs=${{word#-runs=}} ;; esac
  case "$word" in -artifact_prefix=*) prefix=${{word#-artifact_prefix=}} ;; esac
done
[ "$runs" -le "$most" ] || runs=$most
echo "$@" >>{log}
echo "#2	INITED cov: 1"
echo "#7	NEW    cov: 2"
[ "$fails" = no ] || exit "$fails"
echo "stat::number_of_executed_units: $runs"
echo "stat::slowest_unit_cpu_us: $slowest"
"""


class Fuzz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        shutil.copy(SCRIPT, self.root / "scripts" / "fuzz")
        self.programs = self.root / "build-fuzz" / "fuzzers"
        self.programs.mkdir(parents=True)
        self.results = self.root / "results.txt"
        self.log = self.root / "log"
        (self.programs / "table").write_text("text 4096 1000 corpus/text\nstore 512 10 corpus/store\n")
        (self.programs / "commit").write_text("c0ffee\n")
        self.program("text")
        self.program("store")

    def program(self, name, most=10**8, slowest=0, fails="no", version=1):
        """A stand-in. It reads its behaviour from a file, so the program itself stays the same."""
        file = self.programs / f"{name}_fuzzer"
        how = self.root / f"{name}.how"
        how.write_text(f"most={most} slowest={slowest} fails={fails}\n")
        file.write_text(PROGRAM.format(version=version, how=how, log=self.log))
        file.chmod(0o755)

    def fuzz(self, *arguments):
        return subprocess.run([self.root / "scripts" / "fuzz", "--no-build", "--results", self.results,
                               "--jobs", "2", *arguments], capture_output=True, text=True).returncode

    def row(self, name):
        """The recorded executions, failures and slowest execution."""
        for line in self.results.read_text().splitlines():
            if line.startswith(name):
                _, _, runs, _, _, failures, slowest = line.split()[1:]
                return int(runs), int(failures), int(slowest)
        return None

    def test_runs_what_the_table_asks_for_and_says_of_what(self):
        self.assertEqual(self.fuzz(), 0)
        self.assertEqual(self.row("text"), (1000, 0, 0))
        self.assertEqual(self.row("store"), (10, 0, 0))
        self.assertRegex(self.results.read_text(), r"\ntext +[0-9a-f]{16} c0ffee +1000 ")
        self.assertIn("command  ./scripts/fuzz --no-build --results", self.results.read_text())
        self.assertIn("-max_len=512", self.log.read_text())

    def test_a_program_that_cannot_start_is_no_failure_of_its_input(self):
        self.program("text", fails=127)
        self.assertEqual(self.fuzz("text"), 3)
        self.assertFalse(self.results.exists())

    def test_parts_add_up_and_what_is_on_record_is_not_run_again(self):
        self.program("text", most=300)
        self.assertEqual(self.fuzz("text"), 0)
        self.assertEqual(self.row("text"), (600, 0, 0))
        self.assertEqual(self.fuzz("text"), 0)
        self.assertEqual(self.row("text"), (1000, 0, 0))
        ran = self.log.read_text()
        self.assertEqual(self.fuzz("text"), 0)
        self.assertEqual(self.log.read_text(), ran)
        seeds = [word for word in ran.split() if word.startswith("-seed=")]
        self.assertEqual(len(seeds), len(set(seeds)), "each part has seeds of its own")

    def test_a_part_of_another_program_does_not_count(self):
        self.assertEqual(self.fuzz("--runs", "400"), 0)
        self.program("text", version=2)
        self.assertEqual(self.fuzz("--runs", "50"), 0)
        self.assertEqual(self.row("text"), (50, 0, 0))
        self.assertEqual(self.row("store"), (400, 0, 0), "its program is the same")

    def test_a_failure_is_exit_1_and_stays_on_record(self):
        self.program("text", fails=77)
        self.assertEqual(self.fuzz("text"), 1)
        self.assertEqual(self.row("text"), (14, 2, 0))
        self.program("text")
        self.assertEqual(self.fuzz("text"), 1)
        self.assertEqual(self.row("text"), (1000, 2, 0))
        self.assertEqual(self.fuzz("store"), 0)

    def test_what_was_interrupted_counts_and_is_no_failure(self):
        self.program("text", fails=72)
        self.assertEqual(self.fuzz("text"), 0)
        self.assertEqual(self.row("text"), (14, 0, 0))

    def test_an_input_of_a_second_is_a_failure(self):
        self.program("text", slowest=999_999)
        self.assertEqual(self.fuzz("text"), 0)
        self.assertEqual(self.row("text"), (1000, 0, 999))
        self.program("text", slowest=1_000_000, version=2)
        self.assertEqual(self.fuzz("text"), 1)

    def test_what_is_mistyped_is_a_usage_error(self):
        self.assertEqual(self.fuzz("tetx"), 2)
        self.assertEqual(self.fuzz("--jobs", "0"), 2)
        self.assertFalse(self.results.exists())

    def test_nothing_that_was_built_is_an_error_of_the_harness(self):
        os.remove(self.programs / "commit")
        self.assertEqual(self.fuzz(), 3)


if __name__ == "__main__":
    unittest.main()
