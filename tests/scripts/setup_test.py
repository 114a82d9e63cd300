"""When and how scripts/setup configures build/, with stand-ins for CMake and Debian's packages."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Leaves the same files as CMake, with the cache variables from its arguments.
CMAKE = """#!/bin/sh
echo "$@" >>{log}
[ "$1" = --preset ] || exit 0
mkdir -p build && touch build/build.ninja
for word in "$@"; do
  case "$word" in -D*) echo "${{word#-D}}" | sed 's/=/:BOOL=/' >>build/CMakeCache.txt ;; esac
done
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        self.tools = pathlib.Path(folder.name) / "tools"
        self.log = pathlib.Path(folder.name) / "log"
        self.signs = "/nowhere"  # of a GPU
        (self.root / "scripts").mkdir(parents=True)
        self.tools.mkdir()
        for name in ("setup", "torch-venv.txt"):
            shutil.copy(SCRIPT.parent / name, self.root / "scripts" / name)
        self.tool("cmake", CMAKE.format(log=self.log))
        self.tool("dpkg-query", "#!/bin/sh\nprintf installed\n")

    def tool(self, name, text):
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def setup(self, *arguments):
        """Runs scripts/setup; returns its calls of CMake."""
        self.log.write_text("")
        ran = subprocess.run([self.root / "scripts/setup", *arguments], capture_output=True, text=True,
                             env={"PATH": f"{self.tools}:/usr/bin:/bin", "REDZONE_GPU_SIGNS": self.signs})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return self.log.read_text().splitlines()

    def test_configures_once_and_builds_each_time(self):
        self.assertEqual(self.setup(), ["--preset release -DREDZONE_TESTS=ON", "--build build"])
        self.assertEqual(self.setup(), ["--build build"])
        self.assertEqual(self.setup("--no-tests")[0], "--preset release -DREDZONE_TESTS=OFF")

    def test_quick_builds_a_part_of_what_is_configured(self):
        quick = "--build build --target quick"
        self.assertEqual(self.setup("--quick"), ["--preset release -DREDZONE_TESTS=OFF", quick])
        self.assertEqual(self.setup("--quick"), [quick])
        self.assertEqual(self.setup(), ["--preset release -DREDZONE_TESTS=ON", "--build build"])
        self.assertEqual(self.setup("--quick"), [quick])

    def test_quick_builds_for_a_gpu_where_there_is_one(self):
        self.signs = f"/nowhere {self.root}"
        self.assertEqual(self.setup("--quick")[-1], "--build build --target quick_cuda")

    def test_warnings_become_errors_where_it_was_configured_without(self):
        self.setup()
        self.assertEqual(self.setup("--werror")[0],
                         "--preset release -DREDZONE_TESTS=ON -DREDZONE_WERROR=ON")
        self.assertEqual(self.setup("--werror"), ["--build build"])
        self.assertEqual(self.setup(), ["--build build"])

    def test_configure_builds_nothing(self):
        self.assertEqual(self.setup("--configure"), ["--preset release -DREDZONE_TESTS=ON"])

    def test_what_cannot_be_installed_is_told_and_nobody_is_asked_for_a_password(self):
        self.tool("dpkg-query", "#!/bin/sh\nexit 1\n")
        self.tool("id", "#!/bin/sh\necho 1000\n")
        self.tool("sudo", f"#!/bin/sh\necho sudo $@ >>{self.log}\nexit 1\n")
        ran = subprocess.run([self.root / "scripts/setup", "--fleet"], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, env={"PATH": f"{self.tools}:/usr/bin:/bin"})
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertRegex(ran.stderr, r"\Asetup: slurmctld slurmd .* could not be installed, .*\n\Z")
        self.assertEqual(self.log.read_text(), "sudo -n apt-get update -qq\n")

    def test_the_tools_of_the_linters_are_fixed_and_not_installed_twice(self):
        installed = self.root / "build/check-venv/installed"
        installed.parent.mkdir(parents=True)
        pinned = next(line for line in SCRIPT.read_text().splitlines() if 'pinned="ruff==' in line)
        installed.write_text(pinned.split('"')[1] + "\n")
        self.assertEqual(self.setup("--check"), [])
        self.assertEqual([f.name for f in installed.parent.iterdir()], ["installed"])

    def test_the_environment_of_torch_is_fixed_and_not_installed_twice(self):
        installed = self.root / "build/torch-venv/installed"
        installed.parent.mkdir(parents=True)
        pinned = self.root / "scripts/torch-venv.txt"
        shutil.copy(pinned, installed)
        self.assertEqual(self.setup("--torch"), [])
        self.assertEqual([f.name for f in installed.parent.iterdir()], ["installed"])
        for line in pinned.read_text().splitlines():
            self.assertRegex(line, "^#|^[a-z-]+==[0-9.]+$")

    def test_an_environment_of_torch_that_came_later_is_tested(self):
        self.setup()
        (self.root / "build/torch-venv").mkdir()
        shutil.copy(self.root / "scripts/torch-venv.txt", self.root / "build/torch-venv/installed")
        self.assertEqual(self.setup()[0], "--preset release -DREDZONE_TESTS=ON")


if __name__ == "__main__":
    unittest.main()
