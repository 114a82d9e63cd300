#!/usr/bin/env python3
"""plugin_test.py REDZONE: the pytest plugin, in a pytest of its own. Needs pytest and pytest-xdist."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import cases

TARGETS = """
import redzone as rz
N = rz.dim("N", 1, 40)

@rz.target(x=rz.In("f32", N), y=rz.Out("f32", N))
def right(x, y):
    y[:] = x.tolist()

@rz.target(x=rz.In("f32", N), returns=rz.Out("f32", N))
def wrong(x):
    if len(x) > 9: raise ValueError("too long")
    return x.tolist()

def test_right(redzone):
    redzone.check(right, plans=20)

def test_wrong(redzone):
    redzone.check(wrong, time="6s")

def test_no_target(redzone):
    redzone.check(len)
"""


# C code of a suite, as an extension module has it.
NATIVE = """
import ctypes, pytest
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

@pytest.mark.parametrize("size", [2048, SIZE])
def test_fill(size):
    block = libc.malloc(2048)
    libc.memset(block, 0, size)
    libc.free(block)
"""


class Plugin(cases.FileCase):
    def pytest(self, *words, command=None, script=False):
        """`script`: as the script `pytest` runs it, which does not search the working folder."""
        runs = ["-m", "pytest"]
        if script:
            runs = ["-P", "-c", "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"]
        return subprocess.run(
            [sys.executable, *runs, "-p", "redzone.pytest_plugin", "-q", *words],
            cwd=self.folder, capture_output=True, text=True, timeout=200,
            env={
                **os.environ, "PYTHONPATH": str(cases.PACKAGE), "REDZONE": str(command or REDZONE), "CI": "1",
            },
        )  # fmt: skip

    def test_what_is_found_is_told_and_replayed_first(self):
        self.write(TARGETS, "test_mine.py")
        ran = self.pytest("test_mine.py", "-n", "2")
        self.assertIn("2 failed, 1 passed", ran.stdout.replace("1 passed, 2 failed", "2 failed, 1 passed"))
        self.assertIn("too long", ran.stdout)
        self.assertIn("dims = { N = 10 }", ran.stdout)
        self.assertIn("redzone replay 1", ran.stdout)
        self.assertIn("plan (1 call, minimal):", ran.stdout)
        self.assertIn("len is no target: declare it by @rz.target", ran.stdout)
        self.assertNotIn("pytest_plugin.py", ran.stdout)
        # Fails by what is stored, before anything is fuzzed.
        again = self.pytest("test_mine.py", "-k", "wrong", "--durations=1")
        self.assertIn("redzone replay 1", again.stdout)
        # And passes once it is fixed.
        self.write(TARGETS.replace("len(x) > 9", "len(x) > 99"), "test_mine.py")
        fixed = self.pytest("test_mine.py", "-k", "wrong")
        self.assertEqual(fixed.returncode, 0, fixed.stdout)
        # Another bug is told, and not the one that is fixed.
        another = TARGETS.replace("len(x) > 9: raise ValueError", "len(x) > 19: raise KeyError")
        self.write(another, "test_mine.py")
        other = self.pytest("test_mine.py", "-k", "wrong")
        self.assertIn("KeyError", other.stdout)
        self.assertIn("dims = { N = 20 }", other.stdout)
        # What is no call of the target any more is told, and no failure.
        self.write(TARGETS.replace("1, 40", "1, 5"), "test_mine.py")
        smaller = self.pytest("test_mine.py", "-k", "wrong")
        self.assertEqual(smaller.returncode, 0, smaller.stdout)
        self.assertIn("finding 1 of ", smaller.stdout)
        self.assertIn("cannot be replayed", smaller.stdout)

    def test_a_suite_runs_under_the_guard(self):
        self.write(NATIVE.replace("SIZE", "2049"), "test_native.py")
        for words in ((), ("-n", "2")):
            ran = self.pytest("test_native.py", "--redzone-guard", *words)
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            self.assertIn("1 byte after a live block of 2,048 bytes", ran.stderr)
            self.assertIn("test_native.py", ran.stderr)
        self.assertTrue((self.folder / ".redzone" / "guard.db").exists())
        # Without a mistake the suite's own outcome counts.
        self.write(NATIVE.replace("SIZE", "2047"), "test_native.py")
        flags = "--redzone-guard-flags=--placement guard_before"
        passed = self.pytest("test_native.py", "--redzone-guard", flags)
        self.assertEqual(passed.returncode, 0, passed.stdout + passed.stderr)
        self.assertIn("2 passed", passed.stdout)
        self.assertIn("redzone guard:", passed.stderr)
        # What the suite imports is found as without the guard: the working folder is not searched.
        self.write("raise ImportError('not the installed one')", "textwrap.py")
        cpu = "--redzone-guard-flags=--cpu"
        script = self.pytest("test_native.py", "--redzone-guard", cpu, script=True)
        self.assertEqual(script.returncode, 0, script.stdout + script.stderr)
        (self.folder / "textwrap.py").unlink()
        quote = self.pytest("test_native.py", "--redzone-guard", "--redzone-guard-flags='")
        self.assertEqual(quote.returncode, 4, quote.stdout + quote.stderr)
        self.write("def test_no(): assert 1 == 2\n", "test_native.py")
        failed = self.pytest("test_native.py", "--redzone-guard")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("1 failed", failed.stdout)
        self.assertIn("no finding", failed.stderr)
        mistake = self.pytest("test_native.py", "--redzone-guard", command="/no/such/redzone")
        self.assertEqual(mistake.returncode, 4)
        self.assertIn("no redzone command", mistake.stderr)

    def test_what_keeps_a_run_from_judging_is_told(self):
        self.write(
            "import redzone as rz\nN = rz.dim('N', 1, 9)\n"
            "def raises(x): raise KeyError('no such thing')\n"
            "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), reference=raises)\n"
            "def wrong_reference(x): return x.tolist()\n"
            "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), rejects=ValueError)\n"
            "def refuses(x): raise ValueError('no such length')\n"
            "def test_reference(redzone): redzone.check(wrong_reference, plans=9)\n"
            "def test_refuses(redzone): redzone.check(refuses, plans=9)\n"
            "def test_flags(redzone): redzone.check(refuses, time='soon')\n",
            "test_mine.py",
        )
        ran = self.pytest("test_mine.py")
        self.assertIn("3 failed", ran.stdout)
        self.assertIn("test_mine.py:3: KeyError: 'no such thing'", ran.stdout)
        self.assertIn("test_mine.py:7: ValueError: no such length (not-applicable, plans: 9)", ran.stdout)
        self.assertIn("redzone run: exit code 2: ", ran.stdout)
        self.assertNotIn("not applicable: launch modes", ran.stdout)
        self.assertNotIn("UsageError", ran.stdout)

    def test_what_is_asked_wrongly_is_told_in_a_line(self):
        self.write(
            "import redzone as rz\nN = rz.dim('N', 1, 9)\n"
            "def declared():\n"
            "    @rz.target(x=rz.InOut('f32', N))\n    def local(x): pass\n    return local\n"
            "at_the_top = declared()\n"
            "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), reference=lambda x: [*x, 1])\n"
            "def lists(x): return x.tolist()\n"
            "def test_local(redzone):\n"
            "    @rz.target(name='other', x=rz.InOut('f32', N))\n    def other(x): pass\n"
            "    redzone.check(other, plans=5)\n"
            "def test_seconds(redzone): redzone.check(at_the_top, time=0.5)\n"
            "def test_none(redzone): redzone.check(at_the_top, time=None)\n"
            "def test_negative(redzone): redzone.check(at_the_top, time=-1)\n"
            "def test_shapes(redzone): redzone.check(lists, plans=20)\n",
            "test_mine.py",
        )
        ran = self.pytest("test_mine.py")
        self.assertIn("4 failed, 1 passed", ran.stdout)
        self.assertIn("test_mine.py:11: other is declared in a function, which nobody calls", ran.stdout)
        for time in ("None", "-1"):
            self.assertIn(f"time is {time}, and must be a number of seconds or a text like '20s'", ran.stdout)
        shapes = [line for line in ran.stdout.splitlines() if line.startswith("test_mine.lists: ")]
        self.assertEqual(len(shapes), 1, ran.stdout)
        self.assertRegex(shapes[0], r"reference\(\) returned a value for 'result' that has shape \(\d+,\)")
        self.assertRegex(shapes[0], r"\(harness-error, plans: 20, further shapes alike: \d\)$")

    def test_files_of_one_name(self):
        for folder, limit in (("a", 3), ("b", 5)):
            self.write(
                "import redzone as rz\nN = rz.dim('N', 1, 9)\n@rz.target(x=rz.InOut('f32', N))\n"
                f"def short(x):\n    if len(x) > {limit}: raise ValueError('too long')\n"
                "def test_short(redzone): redzone.check(short, plans=30)\n",
                f"{folder}/test_mine.py",
            )
        ran = self.pytest("a", "b", "--import-mode=importlib", "--rootdir", ".")
        self.assertIn("2 failed", ran.stdout)
        self.assertIn("dims = { N = 4 }", ran.stdout)
        self.assertIn("dims = { N = 6 }", ran.stdout)
        for folder in ("a", "b"):
            store = self.folder / ".redzone" / folder / "test_mine.py" / "test_mine.short.db"
            self.assertTrue(store.is_file(), store)

    def test_where_stores_are(self):
        from redzone.pytest_plugin import store_of

        stores = {"/r/t.py": "t.f.db", "/r/a/t.py": "a/t.py/t.f.db", "/s/t.py": "s/t.py/t.f.db"}
        for file, store in stores.items():
            self.assertEqual(store_of("/r", file, "t.f"), f"/r/.redzone/{store}")

    def test_a_missing_command_is_told(self):
        self.write(TARGETS, "test_mine.py")
        ran = self.pytest("test_mine.py", "-k", "right", command=self.folder / "none")
        self.assertIn("no redzone command: put it on the PATH", ran.stdout)
        self.assertNotIn("UsageError", ran.stdout)

    def test_a_known_bug_that_comes_back_is_no_pass(self):
        finding = {
            "id": 1, "state": "confirmed", "signature": {"text": "fault: f"}, "reason": "too long",
            "plan": "", "calls": 1, "replay": "redzone replay 1",
        }  # fmt: skip
        command = self.folder / "redzone"
        for standing, failed in (("new", 1), ("quarantined", 0)):
            # Finds nothing new, whatever it is asked to do.
            said = json.dumps({"findings": [{**finding, "ledger": {"standing": standing}}]})
            command.write_text(f"#!{sys.executable}\nprint({said!r})\n")
            command.chmod(0o755)
            self.write(TARGETS, "test_mine.py")
            ran = self.pytest("test_mine.py", "-k", "right", command=command)
            self.assertEqual(ran.returncode, failed, ran.stdout)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
