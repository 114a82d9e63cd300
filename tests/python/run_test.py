#!/usr/bin/env python3
"""run_test.py REDZONE: targets of plain Python through the command, its workers and its oracles."""

import importlib.util
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

import cases

HEAD = "import redzone as rz\nN = rz.dim('N', 1, 40)\n"
REFERENCE = "reference=lambda x: [2 * v for v in x]"
# Ends with the first finding; a busy machine takes a while until then.
FIRST = "--findings", "1", "--time", "60s"


def zygotes(driver):
    """Processes that fork workers for this driver: leaders of a group, which those workers are not, and
    no children of the driver, as the one that describes the files is."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,pgid,args"], capture_output=True, text=True).stdout
    lines = [line.split(maxsplit=3) for line in listed.splitlines()]
    return [
        int(pid) for pid, parent, group, words in lines
        if pid == group and parent != str(driver)
        and "redzone.describe " in words and f"--driver {driver} " in words
    ]  # fmt: skip


class Run(cases.FileCase):
    def redzone(self, *words):
        return subprocess.run(
            [REDZONE, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=100
        )

    def run_file(self, text, *flags, python=sys.executable):
        """The confirmed findings of a run, and what the run printed."""
        name = self.write(text)
        ran = self.redzone("run", name, "--python", python, "--device", "host", "--seed", 1, *flags)
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        listed = self.redzone("findings", "--json")
        found = json.loads(listed.stdout)["findings"]
        return [f for f in found if f["state"] == "confirmed"], ran

    def test_a_finding_is_reduced_and_replayed(self):
        found, ran = self.run_file(
            HEAD + f"@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N), {REFERENCE})\n"
            "def twice(x, y):\n    for i in range(len(x) // 4 * 4): y[i] = 2 * x[i]\n", *FIRST,
        )  # fmt: skip
        self.assertEqual([f["signature"]["text"] for f in found], ["uninitialized: y (my.twice)"], ran.stdout)
        self.assertIn("dims = { N = 1 }", found[0]["plan"])
        self.assertIn("--python-file", found[0]["replay"])
        replay = self.redzone("replay", 1, "--python-file", "my.py", "--python", sys.executable)
        self.assertEqual(replay.returncode, 1, replay.stdout + replay.stderr)

    def test_state_of_a_class_is_a_trials(self):
        found, ran = self.run_file(
            HEAD + "class Cached:\n    def __init__(self): self.n = 0\n"
            "    def __call__(self, x):\n        self.n = self.n or len(x)\n"
            "        return [2 * v if self.n == len(x) else 0.0 for v in x]\n"
            f"rz.target(Cached, name='cached', x=rz.In('f32', N), returns=rz.Out('f32', N), {REFERENCE})\n",
            "--time", "10s",
        )  # fmt: skip
        # In little time it may be a wrong result as well.
        named = {f["signature"]["text"]: f for f in found}
        self.assertIn("history: result (cached)", named, ran.stdout)
        self.assertEqual(named["history: result (cached)"]["calls"], 2)

    def test_exceptions_and_refusals(self):
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), rejects=LookupError)\n"
            "def f(x):\n    if len(x) > 30: raise KeyError('long')\n"
            "    if len(x) > 9: raise ValueError('too long')\n    return x.tolist()\n", *FIRST,
        )  # fmt: skip
        self.assertEqual([f["signature"]["kind"] for f in found], ["fault"], ran.stdout)
        self.assertIn("exception: ValueError", found[0]["signature"]["text"])
        self.assertIn("my.py:6: ValueError: too long", found[0]["reason"])
        self.assertIn("dims = { N = 10 }", found[0]["plan"])

    def test_a_wrong_result_names_both(self):
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\n"
            "def f(x):\n    return x.tolist()[:30]\n", *FIRST,
        )  # fmt: skip
        self.assertEqual(len(found), 1, ran.stdout)
        self.assertIn("has shape (30,), and (31,) is declared", found[0]["reason"])

    def test_a_right_target_has_no_finding(self):
        found, ran = self.run_file(
            HEAD + f"@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N), {REFERENCE})\n"
            "def twice(x, y):\n    for i in range(len(x)): y[i] = 2 * x[i]\n", "--plans", "60",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout)

    def test_the_zygote_ends_with_the_driver(self):
        name = self.write(HEAD + "@rz.target(x=rz.InOut('f32', N))\ndef f(x): pass\n")
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        lock = self.folder / "lock"
        with open(lock, "w") as held:  # as a job of cron holds one
            driver = subprocess.Popen(
                ["sh", "-c", 'ulimit -S -c $(ulimit -H -c) && exec "$0" "$@"', REDZONE, "run", name,
                 "--python", sys.executable, "--device", "host", "--time", "60s"],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[held.fileno()],
            )  # fmt: skip
        self.addCleanup(driver.wait)
        until = time.monotonic() + 30
        while not zygotes(driver.pid) and time.monotonic() < until:
            time.sleep(0.05)
        (zygote,) = zygotes(driver.pid)
        limited = re.compile(rf"Max core file size +{min(most, 1) if most >= 0 else 1} ")
        limits = pathlib.Path(f"/proc/{zygote}/limits")
        while not limited.search(limits.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertRegex(limits.read_text(), limited)
        inherited = [os.readlink(f.path) for f in os.scandir(f"/proc/{zygote}/fd")]
        self.assertNotIn(str(lock), inherited)
        driver.kill()
        while zygotes(driver.pid) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(zygotes(driver.pid), [])

    def test_the_end_of_the_zygote_is_no_finding(self):
        begun = self.folder / "begun"  # its calls, behind those that prove the oracles
        name = self.write(
            HEAD + f"@rz.target(x=rz.InOut('f32', N))\ndef f(x): open({str(begun)!r}, 'w').close()\n"
        )
        driver = subprocess.Popen(
            [REDZONE, "run", name, "--python", sys.executable, "--device", "host", "--time", "6s"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.addCleanup(driver.kill)
        while not begun.exists() and driver.poll() is None:
            time.sleep(0.05)
        killed, until = 0, time.monotonic() + 4
        while time.monotonic() < until:
            for zygote in zygotes(driver.pid):
                os.kill(zygote, signal.SIGKILL)
                killed += 1
            time.sleep(1)
        out, _ = driver.communicate(timeout=60)
        self.assertGreater(killed, 0)
        self.assertEqual(driver.returncode, 0, out)
        self.assertIn("0 new, 0 known", out)

    def test_what_a_file_does_to_its_process(self):
        """None of it makes a finding, or keeps the plans from being run."""
        thread = (
            "import threading, time\nthreading.Thread(target=time.sleep, args=[999], daemon=True).start()\n"
        )
        at_import = {
            "a fork": "import os\nos.fork()\n",
            "a fork in a process with threads": "import os\nos.fork()\n" + thread,
            "no SIGCHLD": "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n",
            "streams": "import sys\nsys.stdout = sys.stderr = None\n",
            "the folder": "import os\nos.chdir('/')\n",
            "no sockets": "import socket\nsocket.socket = None\n",
            "no pidfd_open": "import os\ndel os.pidfd_open\n",
            "a process that goes on": "import subprocess\nsubprocess.run('sleep 600 &', shell=True)\n",
        }
        in_a_call = {
            "a fork that returns": "    import os\n    os.fork()\n",
            "a fork that raises": "    import os\n    if os.fork() == 0: raise ValueError\n",
            "much text": "    print('x' * 999_999)\n",
            "bytes": "    import os\n    os.write(1, bytes(range(256)))\n",
            "a text stream that is gone": "    import sys\n    sys.stdout = None\n",
            "the folder": "    import os\n    os.chdir('/')\n",
            "a handler": "    import signal\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n",
        }
        rest = "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), reference=lambda x: x)\ndef f(x):\n"
        files = [(what, code + HEAD + rest) for what, code in at_import.items()]
        files += [(what, HEAD + rest + code) for what, code in in_a_call.items()]
        for what, text in files:
            with self.subTest(what):
                found, ran = self.run_file(text + "    return x.tolist()\n", "--plans", "15")
                self.assertEqual((found, ran.returncode), ([], 0), ran.stdout + ran.stderr)
                self.assertIn("15 pass", ran.stdout)
                (self.folder / "redzone.db").unlink()

    def test_two_exceptions_of_one_type_are_two_findings(self):
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\ndef f(x):\n"
            "    if len(x) == 13: raise ValueError('unlucky')\n"
            "    if len(x) > 30: raise ValueError(f'{len(x)} is too long')\n    return x.tolist()\n",
            "--findings", "2", "--time", "60s",
        )  # fmt: skip
        plans = {f["signature"]["where"].partition(" in ")[2]: f["plan"] for f in found}
        self.assertEqual(len(plans), 2, ran.stdout)
        self.assertIn("dims = { N = 13 }", plans["f: if len(x) == 13: raise ValueError('unlucky')"])
        longer = "f: if len(x) > 30: raise ValueError(f'{len(x)} is too long')"
        self.assertIn("dims = { N = 31 }", plans[longer])

    def test_an_exception_without_a_text_is_no_pass(self):
        found, ran = self.run_file(
            HEAD + "class Silent(Exception):\n    def __str__(self): raise ValueError\n"
            "@rz.target(x=rz.InOut('f32', N))\ndef f(x):\n    if len(x) > 9: raise Silent\n", *FIRST,
        )  # fmt: skip
        signatures = [f["signature"]["text"] for f in found]
        text = "fault: exception: Silent in f: if len(x) > 9: raise Silent (my.f)"
        self.assertEqual(signatures, [text], ran.stdout)
        self.assertIn("dims = { N = 10 }", found[0]["plan"])

    def test_knobs_that_are_functions_and_dims_that_are_empty(self):
        found, ran = self.run_file(
            "import redzone as rz\nN = rz.dim('N', 0, 5)\n"
            "@rz.target(x=rz.In('f32', N), how=rz.knob(min, max), order=rz.knob(frozenset('abc'), None),\n"
            "           returns=rz.Out('f32', N), reference=lambda x: x)\n"
            "def f(x, how, order):\n    return [how(v, v) for v in x]\n", "--plans", "40",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout + ran.stderr)
        self.assertIn("40 pass", ran.stdout)

    def test_no_axis_of_enqueued_work(self):
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.InOut('f32', N))\ndef f(x):\n    if len(x) > 9: raise ValueError\n",
            *FIRST,
        )  # fmt: skip
        self.assertEqual(len(found), 1, ran.stdout)
        axes = {row["axis"] for row in found[0]["attribution"]}
        self.assertIn("allocator", axes)
        self.assertEqual(axes & {"launch", "schedule", "graph", "streams"}, set())

    def test_without_a_zygote_workers_start_by_themselves(self):
        # A second thread keeps it from forking.
        found, ran = self.run_file(
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=[1000], daemon=True).start()\n" + HEAD
            + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\n"
            "def f(x):\n    return [v + 1 for v in x]\n", "--plans", "20",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout + ran.stderr)
        self.assertIn("20 pass", ran.stdout)

    def test_a_file_that_is_changed_meanwhile_is_told_and_not_mixed(self):
        # A second thread keeps workers from being forked: each imports the file.
        begun = self.folder / "begun"
        text = (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=[1000], daemon=True).start()\n" + HEAD
            + f"@rz.target(x=rz.InOut('f32', N))\ndef f(x): open({str(begun)!r}, 'w').close()\n"
        )  # fmt: skip
        driver = subprocess.Popen(
            [REDZONE, "run", self.write(text), "--python", sys.executable, "--device", "host",
             "--plans", "5000"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.addCleanup(driver.kill)
        while not begun.exists() and driver.poll() is None:
            time.sleep(0.01)
        self.write(text + "# changed\n")
        out, _ = driver.communicate(timeout=90)
        self.assertEqual(driver.returncode, 3, out)
        lines = [line for line in out.splitlines() if "was changed while the command ran" in line]
        self.assertEqual(len(lines), 1, out)
        self.assertIn("my.py:1: was changed", lines[0])

    def test_a_process_that_compiles_is_told_once_and_is_no_hang(self):
        # For longer than 30 deadlines, after which other progress does not count.
        found, ran = self.run_file(
            "import ctypes, os, time\nlibrary = ctypes.CDLL(os.environ['REDZONE_LIBRARY'])\ncompiled = []\n"
            + HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\ndef f(x):\n"
            "    for _ in range(0 if compiled else 120):\n"
            "        library.rz_compiling(b'compiles f'); time.sleep(0.1)\n"
            "    compiled.append(1)\n    return [v + 1 for v in x]\n",
            "--plans", "20", "--deadline", "350ms", "--workers", "1",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout + ran.stderr)
        self.assertIn("20 pass", ran.stdout)
        self.assertEqual(ran.stderr.count("compiling my.f (2 s so far)"), 1, ran.stderr)

    def test_a_call_that_imports_for_some_deadlines_is_no_hang(self):
        self.write("import time\ntime.sleep(4)\nvalue = 1\n", "slow.py")
        found, ran = self.run_file(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N))\ndef f(x):\n"
            "    import slow\n    return [v + slow.value for v in x]\n",
            "--plans", "3", "--deadline", "1s", "--workers", "1",
        )  # fmt: skip
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout + ran.stderr)
        self.assertIn("3 pass", ran.stdout)

    def test_workers_are_forked_with_what_calls_have_imported(self):
        log = self.folder / "imported"
        note = f"import os\nprint(os.getpid(), os.getppid(), file=open({str(log)!r}, 'a'))\n"
        thread = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        # What has a thread cannot be forked.
        for name, more, learned in (("quiet", "", True), ("busy", thread, False)):
            with self.subTest(name):
                log.unlink(missing_ok=True)
                self.write("", "site-packages/kit/__init__.py")
                self.write(note + more, f"site-packages/kit/{name}.py")
                path = str(self.folder / "site-packages")
                found, ran = self.run_file(
                    f"import sys\nsys.path.append({path!r})\nimport kit\n" + HEAD
                    + f"@rz.target(x=rz.InOut('f32', N))\ndef f(x):\n    import kit.{name}\n",
                    "--time", "6s", "--workers", "2",
                )  # fmt: skip
                self.assertEqual((found, ran.returncode), ([], 0), ran.stdout)
                lines = [line.split() for line in log.read_text().splitlines()]
                zygote = {parent for _, parent in lines}
                self.assertEqual(len(zygote & {process for process, _ in lines}), int(learned), lines)

    def test_a_mistake_ends_the_command(self):
        name = self.write(HEAD + "rz.target(lambda x: 0, name='f', z=rz.In('f32', N))\n")
        ran = self.redzone("run", name, "--python", sys.executable)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("my.py:3: 'z' is no parameter of <lambda>(): there are x", ran.stderr)

    def test_what_is_no_file_says_what_it_is(self):
        os.mkdir(self.folder / "folder.py")
        os.mkfifo(self.folder / "pipe.py")
        for name, what in (
            ("folder.py", "is a folder, not a file"),
            ("pipe.py", "is not a regular file"),
            ("none.py", "no such file"),
        ):
            ran = self.redzone("run", name, "--python", sys.executable)
            self.assertEqual((ran.returncode, ran.stderr), (2, f"redzone: {name}: {what}\n"))

    def test_a_reference_of_another_shape_is_told_once(self):
        name = self.write(
            HEAD + "@rz.target(x=rz.In('f32', N), returns=rz.Out('f32', N), reference=lambda x: [*x, 1])\n"
            "def f(x): return x.tolist()\n"
        )
        ran = self.redzone("run", name, "--python", sys.executable, "--device", "host", "--plans", "30")
        told = [line for line in ran.stdout.splitlines() if line.startswith("  SPEC ")]
        self.assertEqual(len(told), 1, ran.stdout)
        self.assertRegex(
            told[0],
            r"'my.f': reference\(\) returned a value for 'result' that has shape \(\d+,\), and \(\d+,\) is"
            r" declared \(30 plans not judged; \d+ further shapes alike\)$",
        )

    def test_a_file_that_ends_the_process_is_named(self):
        for code in (0, 2, 3):
            name = self.write(f"import os\nprint('other.py:3: a line', flush=True)\nos._exit({code})\n")
            ran = self.redzone("run", name, "--python", sys.executable)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            ended = f"my.py:1: ended the process with exit code {code} while it was imported"
            self.assertEqual(ran.stderr.splitlines(), [f"redzone: {ended}; it printed: other.py:3: a line"])

    def test_complex_values_are_compared(self):
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("no numpy")
        head = "import numpy, redzone as rz\nN = rz.dim('N', 0, 40)\nC = rz.knob('c64', 'c128', name='C')\n"
        declared = "@rz.target(x=rz.In(C, 2, N), y=rz.Out(C, 2, N), reference=lambda x: x * 2j)\n"
        right = "def twice(x, y): y[...] = x * y.dtype.type(2j)\n"
        found, ran = self.run_file(head + declared + right, "--plans", "30")
        self.assertEqual((found, ran.returncode), ([], 0), ran.stdout)
        self.assertIn("30 pass", ran.stdout)
        found, ran = self.run_file(head + declared + right.replace("2j", "2"), "--plans", "10")
        self.assertEqual([f["signature"]["text"] for f in found], ["reference: y (my.twice)"], ran.stdout)

    def test_a_shape_without_a_value_names_the_line(self):
        name = self.write(HEAD + "rz.target(lambda x: x, name='f', x=rz.In('f32', N // (N - N)),\n"
                          "          returns=rz.Out('f32', N))\n")  # fmt: skip
        ran = self.redzone("run", name, "--python", sys.executable)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("my.py:3: invalid spec of target 'f'", ran.stderr)
        self.assertIn("divides by zero", ran.stderr)

    def test_a_module_of_the_user_in_the_current_folder_hides_none_of_pythons(self):
        self.write("raise RuntimeError('not this one')\n", "json.py")
        files = pathlib.Path(self.folder) / "files"
        files.mkdir()
        (files / "my.py").write_text(
            HEAD + "rz.target(lambda x: [v + 1 for v in x], name='f', x=rz.In('f32', N),"
            " returns=rz.Out('f32', N))\n"
        )
        ran = self.redzone(
            "run", files / "my.py", "--python", sys.executable, "--device", "host", "--plans", "20"
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("20 pass", ran.stdout)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    for variable in ("PYTHONSTARTUP", "PYTHONUNBUFFERED"):
        os.environ.pop(variable, None)
    unittest.main()
