"""scripts/release runs every step, also after a failed one; with stand-ins for the steps."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
SCRIPTS = ("stale_results", "check", "sanitize", "fuzz", "setup")


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        self.log = pathlib.Path(folder.name) / "log"
        self.tools = pathlib.Path(folder.name) / "tools"
        (self.root / "scripts").mkdir(parents=True)
        self.tools.mkdir()
        shutil.copy(SCRIPT, self.root / "scripts/release")
        (self.root / "bench/results").mkdir(parents=True)
        (self.root / "bench/results/host-fuzz.txt").write_text("on record\n")
        (self.root / ".gitignore").write_text("/build-*/\n")
        for name in SCRIPTS:
            self.stand_in(self.root / "scripts" / name)
        for name in ("cmake", "ctest"):
            self.stand_in(self.tools / name)
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=self.root,
                       check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "as it is")

    def stand_in(self, file, status=0):
        file.write_text(f'#!/bin/sh\necho "{file.name} $@" >>{self.log}\nexit {status}\n')
        file.chmod(0o755)

    def release(self, *steps):
        return subprocess.run([self.root / "scripts/release", *steps], capture_output=True, text=True,
                              env={"PATH": f"{self.tools}:/usr/bin:/bin"})

    def test_all_steps_run_with_what_they_are_for(self):
        ran = self.release()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        said = self.log.read_text()
        for call in ("stale_results ", "check --all", "cmake --preset clang", "cmake --build --preset clang",
                     "ctest --test-dir build-clang", "sanitize asan", "sanitize tsan", "fuzz --results"):
            self.assertIn(call, said)
        self.assertEqual((self.root / "build-fuzz/release.txt").read_text(), "on record\n")

    def test_a_stale_result_refuses_the_release_after_the_other_steps(self):
        self.stand_in(self.root / "scripts/stale_results", 1)
        self.commit()
        ran = self.release()
        self.assertEqual(ran.returncode, 1)
        self.assertIn("release: failed: results\n", ran.stderr)
        self.assertIn("fuzz --results", self.log.read_text())

    def test_each_part_of_a_step_that_fails_fails_it(self):
        for file, failed in ((self.root / "scripts/check", "check"), (self.tools / "cmake", "clang"),
                             (self.tools / "ctest", "clang"), (self.root / "scripts/sanitize", "asan tsan"),
                             (self.root / "scripts/fuzz", "fuzz")):
            with self.subTest(failed):
                self.stand_in(file, 1)
                self.commit()
                ran = self.release()
                self.assertEqual(ran.returncode, 1)
                self.assertIn(f"release: failed: {failed}\n", ran.stderr)
                self.stand_in(file)

    def test_what_is_not_committed_cannot_be_released(self):
        (self.root / "new.cpp").touch()
        ran = self.release()
        self.assertEqual(ran.returncode, 2)
        self.assertFalse(self.log.exists())

    def test_a_step_can_be_asked_for(self):
        self.assertEqual(self.release("tsan").returncode, 0)
        self.assertEqual(self.log.read_text(), "sanitize tsan\n")
        self.assertEqual(self.release("tasn").returncode, 2)


if __name__ == "__main__":
    unittest.main()
