"""A build folder runs on another machine: copied elsewhere and run without an environment, it finds its
own libraries and uses nothing of the folder in which it was built."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()


def run_path(binary):
    """The run path entries of an ELF file."""
    out = subprocess.run(["readelf", "-dW", binary], capture_output=True, text=True, check=True).stdout
    entries = []
    for line in out.splitlines():
        if "RPATH" in line or "RUNPATH" in line:
            entries += line[line.index("[") + 1 : line.rindex("]")].split(":")
    return entries


class MovedBuild(unittest.TestCase):
    folder: tempfile.TemporaryDirectory
    moved: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="redzone-moved-")
        cls.moved = pathlib.Path(cls.folder.name) / "elsewhere"
        for part in ("bin", "lib"):
            shutil.copytree(BUILD / part, cls.moved / part, symlinks=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def redzone(self, *arguments, trace=False):
        environment = {"HOME": self.folder.name, "PATH": "/usr/bin:/bin"}
        if trace:
            environment["LD_DEBUG"] = "libs"
        return subprocess.run(
            [self.moved / "bin/redzone", *arguments],
            cwd=self.folder.name, env=environment, capture_output=True, text=True, errors="replace",
            timeout=200)

    def test_run_paths_name_no_folder_of_the_build(self):
        binaries = [p for p in (*BUILD.glob("bin/*"), *BUILD.glob("lib/**/*.so*")) if p.is_file()]
        self.assertGreater(len(binaries), 5)
        for binary in binaries:
            for entry in run_path(binary):
                self.assertTrue(entry.startswith("$ORIGIN"), f"{binary.name}: {entry}")

    def test_every_library_comes_from_the_moved_folder_or_the_system(self):
        ran = self.redzone("targets", trace=True)
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        loaded = [line.split("calling init: ", 1)[1] for line in ran.stderr.splitlines()
                  if "calling init: " in line]
        self.assertTrue(any(f"{self.moved}/" in os.path.realpath(name) and "muparser" in name
                            for name in loaded), loaded)
        for name in loaded:
            self.assertNotIn(f"{BUILD}/", os.path.realpath(name))

    def test_it_proves_itself_and_finds_a_bug(self):
        doctor = self.redzone("doctor")
        self.assertEqual(doctor.returncode, 0, doctor.stdout + doctor.stderr)
        ran = self.redzone("run", "puzzle.read_past_end", "--device", "host", "--plans", "40")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)


if __name__ == "__main__":
    unittest.main()
