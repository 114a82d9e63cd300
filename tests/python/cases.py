"""Shared by the tests of the Python package: files of targets, and the package's programs."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

# What a file begins with, and a file with a target that is right.
HEAD = "import redzone as rz\nN = rz.dim('N', 1, 100)\n"
RIGHT = HEAD + "@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N))\ndef copy(x, y):\n    y[:] = x\n"

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
PUZZLES = sorted((ROOT / "tests/python/puzzles").glob("*.py"))
sys.path.insert(0, str(PACKAGE))


def lacks_helion(file):
    """Whether a puzzle needs Helion, which this interpreter lacks. A puzzle whose other modules are
    missing fails."""
    imports = re.search(r"^import .*\bhelion\b", file.read_text(), re.MULTILINE)
    return imports is not None and importlib.util.find_spec("helion") is None


def described(*files, cwd, python=sys.executable, timeout=60, **how):
    """Runs `python -m redzone.describe`; what it did, and the answer, or the line in its place (None
    if there is neither)."""
    ours, theirs = os.pipe()
    try:
        ran = subprocess.run(
            [python, "-m", "redzone.describe", "--out-fd", str(theirs), *files],
            cwd=cwd, capture_output=True, text=True, timeout=timeout, pass_fds=[theirs], **how,
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONSAFEPATH": "1"},
        )  # fmt: skip
    finally:
        os.close(theirs)
        with os.fdopen(ours) as answer:
            text = answer.read().removeprefix("\n")  # that the interpreter has started
    if not text or ran.returncode != 0:
        return ran, text or None
    return ran, json.loads(text)


class FileCase(unittest.TestCase):
    """A test with a temporary folder for files of targets."""

    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, text, name="my.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def answer(self, text, **how):
        """The description of a file with this text, which is right."""
        ran, answer = described(self.write(text), cwd=self.folder, **how)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return answer

    def mistake(self, text, exit_code=2):
        """The line about a file with this text, which is wrong."""
        ran, answer = described(self.write(text), cwd=self.folder)
        self.assertEqual(ran.returncode, exit_code, ran.stderr)
        lines = ran.stderr.splitlines()
        self.assertEqual(lines, [answer])
        return lines[0]
