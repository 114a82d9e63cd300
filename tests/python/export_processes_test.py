#!/usr/bin/env python3
"""export_processes_test.py REDZONE [unittest arguments]: the processes of programs without Redzone."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import export_test
from export_test import HEAD, plan, without_redzone
from redzone.standalone.processes import environment_of, slow_imports


class ProgramCase(export_test.ExportCase):
    """Programs whose trials tell something of their process."""

    CALLS = ("dims = { N = 1 }", None, "dims = { N = 2 }")

    def exported(self, head, body, kind="history", calls=CALLS):
        self.write(f"{HEAD}{head}\nN = rz.dim('N', 1, 40)\n@rz.target(y=rz.Out('f32', N))\n"
                   f"def f(y):\n    for i in range(len(y)): y[i] = 0\n    {body}\n")  # fmt: skip
        return self.export(plan(calls, kind=kind))

    def told(self, head, body="say()", flags=(), environment=None, **what):
        """What each process of the program says of itself, and the program's exit code."""
        said = self.folder / "said"
        said.unlink(missing_ok=True)
        program = self.exported(f"import os, sys, tempfile\n{head}\ndef say(what=None):\n"
                                f"    with open({str(said)!r}, 'a') as out:\n"
                                "        print(os.getpid(), os.getppid(), what, file=out)\n",
                                body, **what)  # fmt: skip
        ran = subprocess.run([sys.executable, *flags, program], capture_output=True, text=True, timeout=200,
                             cwd="/", env={**without_redzone(), **(environment or {})})  # fmt: skip
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        return [line.split(maxsplit=2) for line in said.read_text().splitlines()], ran

    def without_forking(self, program, *lines):
        """The program, which first runs the lines and cannot fork any more."""
        text, start = program.read_text(), "    sys.exit(main(PLAN, SOURCE))"
        self.assertIn(start, text)
        first = "".join(f"    {line}\n" for line in (*lines, "run_forked = None"))
        program.write_text(text.replace(start, first + start))
        return program


class Processes(ProgramCase):
    """Each trial has a process as good as a new interpreter, forked or not."""

    def test_each_trial_has_a_process_and_each_call_where_calls_are_alone(self):
        lines, ran = self.told("")
        self.assertEqual((ran.returncode, len({pid for pid, *_ in lines}), len(lines)), (0, 3, 4), lines)
        # All of one process, which has become what it was told to run with.
        self.assertEqual(len({parent for _, parent, _ in lines}), 1, lines)

    def test_the_environment_and_the_flags_hold_for_each_trial(self):
        body = ("say(({n: os.environ.get(n) for n in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'MINE')}, "
                "sys.flags.hash_randomization, sys.flags.optimize, sys._xoptions.get('mine'), "
                "[n for n in os.environ if n.startswith('REDZONE')]))")  # fmt: skip
        given = {"OMP_NUM_THREADS": "3", "MINE": "7"}
        want = str(({"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "1", "MINE": "7"}, 0, 1, "8", []))
        # One that has all of it does not start anew.
        full = {**given, "PYTHONHASHSEED": "0", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                "TRITON_INTERPRET": "1", "HELION_INTERPRET": "1"}  # fmt: skip
        for environment in (given, full):
            lines, _ = self.told("", body, ("-O", "-X", "mine=8"), environment)
            self.assertEqual([what for *_, what in lines], [want] * 4)

    def test_helion_has_another_word_in_the_variable_of_triton(self):
        for source, given, want in (
            ("import torch", None, "1"),
            ("import torch", "1", "1"),
            ("import helion", None, "true"),
            ("import torch, helion", "1", "true"),
            ("import redzone as rz, helion.language as hl", "1", "true"),
            ("kernels = __import__('helion')", "1", "true"),
            ("import helion", "0", "0"),
            ("import helions", "1", "1"),
        ):
            with self.subTest(source, given=given), unittest.mock.patch.dict(os.environ):
                os.environ.pop("TRITON_INTERPRET", None)
                if given is not None:
                    os.environ["TRITON_INTERPRET"] = given
                self.assertEqual(environment_of({"device": "host"}, source)["TRITON_INTERPRET"], want)

    def test_a_start_that_changes_the_environment_is_not_repeated_for_ever(self):
        (self.folder / "sitecustomize.py").write_text("import os\nos.environ.pop('OMP_NUM_THREADS', None)\n")
        lines, _ = self.told("", environment={"PYTHONPATH": str(self.folder)})
        self.assertEqual(len({pid for pid, *_ in lines}), 3, lines)

    def test_flags_that_ignore_the_environment_do_not_change_the_order_of_sets(self):
        lines, _ = self.told("", "say(sys.flags.hash_randomization)", ("-I",))
        self.assertEqual([what for *_, what in lines], ["0"] * 4)

    def test_without_fork_each_trial_has_a_new_interpreter(self):
        program = self.exported("", "if len(y) > 1: raise ValueError('as it must be')", "fault")
        program.write_text(program.read_text().replace('hasattr(os, "fork")', "False"))
        self.shows(program, "ValueError: as it must be .call 2")
        program = self.exported("import os", "os.kill(os.getpid(), 9)", "fault")
        program.write_text(program.read_text().replace('hasattr(os, "fork")', "False"))
        self.shows(program, "killed by SIGKILL in call 1")

    def test_an_ignored_end_of_children_hides_no_crash(self):
        program = self.exported("import os", "os.kill(os.getpid(), 9)", "fault")
        ignoring = ("sh", "-c", "trap '' CHLD; exec \"$@\"", "sh")
        self.shows(program, "killed by SIGKILL in call 1", ignoring)
        program.write_text(program.read_text().replace('hasattr(os, "fork")', "False"))
        self.shows(program, "killed by SIGKILL in call 1", ignoring)

    def test_a_thread_of_the_parent_forbids_to_fork(self):
        program = self.exported("", "raise ValueError('as it must be')", "fault")
        thread = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
        self.shows(self.without_forking(program, thread), "ValueError: as it must be")

    def test_what_addresses_decide_has_new_interpreters(self):
        program = self.exported("import os", "y[0] = os.getpid()", "nondeterministic", ("dims = { N = 1 }",))
        self.shows(self.without_forking(program), "'y' of call 1 differs")

    def test_state_of_a_trial_is_not_in_the_next(self):
        state = ("n = (builtins.seen, os.environ.get('SEEN'), os.getcwd(), tempfile.gettempdir(), "
                 "sys.getrecursionlimit(), 'wave' in sys.modules)\n    say(n)\n    builtins.seen = 1\n"
                 "    os.environ.update(SEEN='1', TMPDIR='/')\n    os.chdir('/usr')\n    import wave\n"
                 "    sys.setrecursionlimit(777)\n    tempfile.tempdir = None")  # fmt: skip
        head = "import builtins\nbuiltins.seen = getattr(builtins, 'seen', 0) or 0"
        lines, _ = self.told(head, state)
        fresh = [what for *_, what in (lines[0], *lines[2:])]
        self.assertEqual(len(set(fresh)), 1, lines)
        self.assertNotEqual(lines[1][2], lines[0][2])

    def test_a_file_may_say_where_temporary_folders_are(self):
        lines, _ = self.told(f"os.environ['TMPDIR'] = {str(self.folder)!r}", "say(tempfile.gettempdir())")
        self.assertEqual({what for *_, what in lines}, {str(self.folder)})

    def test_what_is_to_run_at_the_end_of_a_process_runs(self):
        head = ("import atexit, threading, time\natexit.register(lambda: say('at exit'))\n"
                "threading.Thread(target=lambda: (time.sleep(.3), say('thread'))).start()")  # fmt: skip
        lines, ran = self.told(head, "sys.stdout.write('some text ')")
        self.assertEqual([what for *_, what in lines], ["thread", "at exit"] * 3)
        self.assertEqual(ran.stdout.count("some text "), 4)

    def test_a_call_that_does_not_end_is_killed(self):
        program = self.exported(
            "import os, signal, time\nsignal.signal(15, signal.SIG_IGN)",
            "print('pid', os.getpid(), flush=True)\n    time.sleep(99)",
            "hang",
        )
        program.write_text(program.read_text().replace('"timeout_s": 60,', '"timeout_s": 10,'))
        ran = self.ran(program)
        self.assertEqual((ran.returncode, ran.stdout.splitlines()[1:]),
                         (1, ["as found: FAILED: it did not end within 10 s"]), ran.stderr)  # fmt: skip
        self.assertFalse(pathlib.Path("/proc", ran.stdout.split()[1]).exists())

    def test_an_interrupt_is_told_as_a_signal(self):
        program = self.exported("", "raise KeyboardInterrupt", "fault")
        self.shows(program, "killed by SIGINT in call 1")

    def test_a_file_that_ends_the_interpreter_cannot_run(self):
        for head, told in (
            ("import sys\nsys.exit(0)", ""),
            ("raise SystemExit('no such device')", "no such device\n"),
            ("1 / 0", "ZeroDivisionError: division by zero\n"),
            ("import json.nowhere", "No module named 'json.nowhere'"),
        ):
            with self.subTest(head):
                whole = self.exported("import os", "pass")
                text = whole.read_text()
                self.assertEqual(text.count("import os\nN = rz.dim"), 1)
                whole.write_text(text.replace("import os\nN = rz.dim", f"{head}\nN = rz.dim"))
                ran = self.ran(whole)
                self.assertEqual((ran.returncode, ran.stdout), (3, ""), ran.stderr)
                self.assertIn(told, ran.stderr)

    def with_numpy(self, program, text):
        """Has the file import a numpy of this text first; the environment where it is found."""
        (self.folder / "modules").mkdir(exist_ok=True)
        (self.folder / "modules" / "numpy.py").write_text(text)
        source = program.read_text()
        self.assertEqual(source.count("import os\nN = rz.dim"), 1)
        source = source.replace("import os\nN = rz.dim", "import numpy\nN = rz.dim")
        program.write_text(source.replace("@rz.target(", "@rz.target(arrays='buffer', "))
        return {"PYTHONPATH": str(self.folder / "modules")}

    def test_an_import_is_shared_and_what_it_does_is_told_of_a_trial(self):
        said = self.folder / "imports"
        text = (f"import os, types\nopen({str(said)!r}, 'a').write(str(os.getpid()) + ' ')\n"
                "random = types.SimpleNamespace(seed=lambda number: None)\n")  # fmt: skip
        for kind, more, code, told, imports in (
            ("history", "", 0, "no failure", 1),
            ("history", "os._exit(0)", 3, "", 2),
            ("fault", "os.kill(os.getpid(), 11)", 1, "killed by SIGSEGV in the import of the file", 2),
            ("hang", "import time\nwhile True: time.sleep(9)", 1, "it did not end within 10 s", 2),
            ("fault", "import threading\n"
             "threading.Thread(target=threading.Event().wait, daemon=True).start()", 0, "no failure", 2),
        ):  # fmt: skip
            with self.subTest(more):
                said.unlink(missing_ok=True)
                program = self.exported("import os", "pass", kind)
                program.write_text(program.read_text().replace('"timeout_s": 60,', '"timeout_s": 10,'))
                ran = self.ran(program, **self.with_numpy(program, text + more))
                self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
                self.assertIn(told, "".join(ran.stdout.splitlines()[-1:]))
                self.assertEqual(len(said.read_text().split()), imports)

    def test_nothing_of_a_program_outlives_it(self):
        program = self.exported("import os", "open('/proc/self/fd/1', 'w').write('trial')\n    "
                                "import time\n    while True: time.sleep(9)", "fault")  # fmt: skip
        environment = self.with_numpy(
            program, "import types\nrandom = types.SimpleNamespace(seed=lambda number: None)\n"
        )
        # Its output ends when none of its processes has it open any more.
        with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True, cwd="/",
                              env={**without_redzone(), **environment}) as ran:  # fmt: skip
            assert ran.stdout
            self.assertEqual(ran.stdout.read(5), "trial")
            ran.kill()
            self.assertEqual(ran.communicate(timeout=100), ("", None))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "needs numpy")
    def test_numbers_that_nobody_has_seeded_differ(self):
        lines, _ = self.told("import numpy\nn = numpy.random.rand()", "say(n)")
        self.assertEqual(len({what for *_, what in lines}), 3, lines)

    def test_what_may_be_imported_before_the_file(self):
        for source, names in (
            ("'''text'''\nimport os, redzone as rz\nfrom numpy import array\nimport torch.nn as nn",
             ["numpy", "torch"]),
            ("import os\nos.environ['A'] = '1'\nimport torch", []),
            ("import numpy\nimport mine\nimport torch", ["numpy"]),
            ("from . import numpy", []),
            ("import numpy\ndef f():\n    import torch", ["numpy"]),
            ("import triton", ["triton", "torch"]),
            ("import triton, os\nos.putenv('A', '1')", ["triton"]),
            ("rz.target(f, arrays='torch')", ["torch"]),
            ("import sys\nsys.path.insert(0, '/mine')\nrz.target(f, arrays='torch')", []),
            ("rz.target(f, arrays='torch')\nimport mine", []),
        ):  # fmt: skip
            with self.subTest(source):
                self.assertEqual(slow_imports(source, ""), names)
        (self.folder / "torch").mkdir()
        self.assertEqual(slow_imports("import numpy\nimport torch", str(self.folder)), ["numpy"])


@unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
class OnPyTorch(ProgramCase):
    """PyTorch takes seconds to import."""

    def test_pytorch_is_imported_once_and_is_new_in_each_trial(self):
        program = self.exported("import torch", "y[0] = torch.get_default_dtype().itemsize\n"
                                "    torch.set_default_dtype(torch.float64)")  # fmt: skip
        text, fork = program.read_text(), "return wait(fork(trial)"
        self.assertEqual(text.count(fork), 1)
        program.write_text(text.replace(fork, f"assert 'torch' in sys.modules; print('forks'); {fork}"))
        ran = self.ran(program)
        *_, last = ran.stdout.splitlines()
        self.assertRegex(last, "FAILED: 'y' of call 2 differs between .as found. and .each call alone.")
        self.assertEqual(ran.stdout.splitlines().count("forks"), 3)

    def test_an_open_gpu_forbids_to_fork(self):
        program = self.exported("import torch", "raise ValueError('as it must be')", "fault")
        opened = "if len(sys.argv) == 1: import torch; torch.cuda.is_initialized = lambda: True"
        self.shows(self.without_forking(program, opened), "ValueError: as it must be")


if __name__ == "__main__":
    export_test.REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
