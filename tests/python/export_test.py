#!/usr/bin/env python3
"""export_test.py REDZONE [unittest arguments]: findings of Python targets as programs without Redzone.

With numpy or torch installed their arrays are tested, too; buffers always are.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import cases
import redzone
from redzone.standalone.stand_in import stand_in

HEAD = "import redzone as rz\n"
PLAN = """redzone_plan = 1
target = "{target}"

[mode]
launch = "async"
allocator = "guard"
placement = "{placement}"
poison = "0xffffffff"
schedule_seed = 0

[expect]
oracle = "screen"
kind = "{kind}"
{signature}
"""


def plan(calls, target="my.f", kind="uninitialized", placement="guard_after", **signature):
    """The text of a plan; `calls` has the further lines of each call, or None for a synchronization."""
    text = PLAN.format(
        target=target, kind=kind, placement=placement,
        signature="".join(f'{k} = "{v}"\n' for k, v in signature.items()),
    )  # fmt: skip
    for call in calls:
        text += '\n[[step]]\ndo = "sync"\n' if call is None else f'\n[[step]]\ndo = "call"\n{call}\n'
    return text


def without_redzone():
    """The environment of a program that must not find the package."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "REDZONE")}


class ExportCase(cases.FileCase):
    def redzone(self, *words):
        return subprocess.run(
            [REDZONE, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=100
        )

    def file_flags(self, file="my.py"):
        return "--python-file", file, "--python", sys.executable

    def export(self, text, file="my.py", allowed=0):
        """The program for a plan."""
        (self.folder / "plan.toml").write_text(text)
        db = "exported.db"
        (self.folder / db).unlink(missing_ok=True)
        imported = self.redzone("import", "plan.toml", "--db", db, *self.file_flags(file))
        self.assertEqual(imported.returncode, 0, imported.stderr)
        ran = self.redzone("export", 1, "--db", db, "--to", "out", "--standalone", *self.file_flags(file))
        self.assertEqual(ran.returncode, allowed, ran.stdout + ran.stderr)
        return self.folder / ran.stdout.strip() if allowed == 0 else ran.stderr

    def ran(self, program, through=(), **environment):
        """`through`: the words of a command that runs others."""
        self.assertIn(program.suffix, ".py")
        return subprocess.run([*through, sys.executable, program], capture_output=True, text=True,
                              timeout=200, cwd="/", env={**without_redzone(), **environment})  # fmt: skip

    def shows(self, program, reason, through=(), **environment):
        ran = self.ran(program, through, **environment)
        self.assertEqual((ran.returncode, bool(ran.stdout)), (1, True), ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout.splitlines()[-1], reason)

    def shows_not(self, program):
        ran = self.ran(program)
        self.assertEqual((ran.returncode, ran.stdout.splitlines()[-1:]), (0, ["no failure"]), ran.stderr)


class StandIn(unittest.TestCase):
    def test_has_each_name_of_the_package(self):
        self.assertEqual(set(), set(redzone.__all__) - set(vars(stand_in("host"))))


class Plain(ExportCase):
    """Targets of plain Python."""

    def edited(self, program, old, new):
        text = program.read_text()
        self.assertEqual(text.count(old), 1, program)
        other = program.with_name("fixed.py")
        other.write_text(text.replace(old, new))
        return other

    def test_the_file_needs_no_redzone_and_shows_the_failure_until_it_is_fixed(self):
        self.write(HEAD + "N = rz.dim('N', 1, 40)\n@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N))\n"
                   "def f(x, y):\n    for i in range(len(x) // 4 * 4): y[i] = 2 * x[i]\n")  # fmt: skip
        program = self.export(plan(["dims = { N = 5 }\nseed = 3"], buffer="y"))
        self.assertRegex(program.read_text(), r"\n# With Redzone: redzone replay 1 .*--db exported\.db\n")
        self.assertNotIn("each call alone, so", program.read_text())
        self.shows(program, "'y' of call 1 differs")
        self.shows_not(self.edited(program, "len(x) // 4 * 4", "len(x)"))

    def test_each_kind_of_failure(self):
        head = HEAD + "import ctypes, os\nN = rz.dim('N', 1, 40)\n"
        declared = "@rz.target(x=rz.In('f32', N), y=rz.Out('f32', N){})\ndef f(x, y):\n    y[:] = x\n"
        for kind, body, reason, more in (
            ("fault", "    if len(x) > 3: raise KeyError('long')\n", "KeyError: 'long'", ""),
            ("fault", "    raise SystemExit(7)\n", "SystemExit: 7 .call 1", ""),
            ("fault", "    os.kill(os.getpid(), 11)\n", "killed by SIGSEGV in call 1", ""),
            ("fault", "    os._exit(0)\n", "the process ended with exit code 0 in call 1", ""),
            ("fault", "    os._exit(3)\n", "the process ended with exit code 3 in call 1", ""),
            ("input-changed", "    x[1] = 7\n", "the input 'x' was overwritten at element 1", ""),
            ("illegal-access", "    ctypes.string_at(x.address + 16, 1)\n", "SIGSEGV in call 1", ""),
            ("redzone", "    ctypes.memset(x.address - 1, 5, 1)\n", "the byte 1 before 'x' was", ""),
            ("nondeterministic", "    y[0] = int(os.urandom(3).hex(), 16)\n", "'y' of call 1 differs", ""),
            ("reference", "    y[3] = 9\n", "'y': element 3 is 9.0, and the ref",
             ", reference=lambda x: x.tolist()"),
        ):  # fmt: skip
            with self.subTest(kind + " " + body):
                self.write(head + declared.format(more) + body)
                program = self.export(plan(["dims = { N = 4 }"], kind=kind))
                self.shows(program, reason)
                self.shows_not(self.edited(program, body, ""))

    def test_state_of_a_class_of_a_module_and_of_a_result(self):
        program = None
        for body in ("self.n = self.n or len(x)", "global n; n = self.n = n or len(x)"):
            self.write(
                f"{HEAD}N = rz.dim('N', 1, 40)\nn = 0\n"
                f"class F:\n    n = 0\n    def __call__(self, x):\n        {body}\n"
                "        return [v * self.n for v in x]\n"
                "rz.target(F, name='my.f', x=rz.In('f32', N), returns=rz.Out('f32', N))\n"
            )
            calls = ["dims = { N = 1 }", None, "dims = { N = 2 }"]
            program = self.export(plan(calls, kind="history"))
            self.assertIn("# This program compares with each call alone, so it may", program.read_text())
            self.shows(program, "'result' of call 2 differs")
        self.shows_not(self.edited(program, "n or len(x)", "len(x)"))

    def test_scalars_are_what_the_target_gets(self):
        self.write(HEAD + "M, N = rz.dims(M=(1, 9), N=(1, 9))\n"
                   "def f(y, /, N, mode, eps, twice, some, odd):\n"
                   "    assert (N, mode, eps, twice, some) == (3, 'slow', None, 6, (2, 5)), locals()\n"
                   "    assert odd == 1\n    y[:] = [[1, 1]] * 3\n    raise ValueError('as it must be')\n"
                   "rz.target(f, name='my.f', y=rz.Out('f32', N, M), mode=rz.knob('fast', 'slow'),\n"
                   "          eps=rz.knob(1.5, None), twice=rz.cdiv(2 * N + M, 2) + 2, some=(2, M + N), \n"
                   "          odd=rz.where((N % 2 == 1) & (M < 3), 1, 0))\n")  # fmt: skip
        calls = ['dims = { M = 2, N = 3 }\nconfig = { mode = "slow", eps = "None" }']
        self.shows(self.export(plan(calls, kind="fault")), "ValueError: as it must be")

    def test_a_knob_has_any_values(self):
        self.write(HEAD + "N, S = rz.dim('N', 1, 40), rz.knob(1, 2, name='S')\ndef double(v): return 2 * v\n"
                   "types = rz.knob('float64', 'float', name='types')\n"
                   "def f(x, y, flag, mixed, of, types, S, twice):\n"
                   "    got = mixed, of(4), types, S, twice\n"
                   "    assert flag is True and got == (1, 8, 'float', 2, 4), got\n"
                   "    raise ValueError('as it must be')\n"
                   "rz.target(f, name='my.f', x=rz.In(types, N), y=rz.Out('f32', N),\n"
                   "          flag=rz.knob(False, True), mixed=rz.knob('a', 1, None),\n"
                   "          of=rz.knob(abs, double), twice=2 * S)\n"
                   "S, types = rz.knob(5, 6, 7, name='S'), rz.knob('i64', 'i32', name='types')\n"
                   "rz.target(f, name='my.g', x=rz.In(types, N), y=rz.Out('f32', N), flag=rz.knob(7),\n"
                   "          mixed=rz.knob(8), of=rz.knob(9), S=S, twice=1)\n")  # fmt: skip
        config = 'flag = "True", mixed = "1", of = "double", types = "f32", S = 2'
        program = self.export(plan([f"dims = {{ N = 2 }}\nconfig = {{ {config} }}"], kind="fault"))
        self.shows(program, "ValueError: as it must be")

    def test_only_the_chosen_part_of_an_expression_is_evaluated(self):
        self.write(HEAD + "M, N = rz.dims(M=(0, 9), N=(1, 9))\n"
                   "def f(y, some): raise ValueError(f'{some}')\n"
                   "rz.target(f, name='my.f', y=rz.Out('f32', N), some=(rz.where(M > 0, N // M, 7),\n"
                   "          (M > 0) & (N // M > 0), (M == 0) | (N // M > 0), 1 & (M + 2), M | 0))\n"
        )  # fmt: skip
        program = self.export(plan(["dims = { M = 0, N = 3 }"], kind="fault"))
        self.shows(program, r"ValueError: \(7, 0, 1, 1, 0\)")

    def test_arguments_that_cannot_be_made_are_no_failure(self):
        self.write(HEAD + "M, N = rz.dims(M=(0, 9), N=(1, 9))\n"
                   "rz.target(lambda y, some: 0, name='my.f', y=rz.Out('f32', N), some=(N // M,))\n"
        )  # fmt: skip
        ran = self.ran(self.export(plan(["dims = { M = 0, N = 3 }"], kind="fault")))
        self.assertEqual((ran.returncode, ran.stdout), (3, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Athe arguments of call 1 cannot be made: ZeroDivisionError: .*\n\Z")

    def test_a_mistake_of_the_reference_is_no_failure(self):
        for reference, told in (
            ("[[1, 2], [3]]", "the reference of 'result' does not have the declared shape (2, 2)"),
            ("x[9, 9]", "the reference of call 1 raises IndexError: index 9 is out of 2 elements"),
            ("{'y': x}", "the reference of call 1 raises KeyError: 'result'"),
        ):
            with self.subTest(reference):
                self.write(HEAD + "N = rz.dim('N', 1, 9)\ndef f(x): return x\n"
                           "rz.target(f, name='my.f', x=rz.In('f32', N, N), returns=rz.Out('f32', N, N),\n"
                           f"          reference=lambda x: {reference})\n")  # fmt: skip
                ran = self.ran(self.export(plan(["dims = { N = 2 }"], kind="reference")))
                self.assertEqual((ran.returncode, ran.stderr), (3, told + "\n"), ran.stdout)

    def test_sets_of_texts_have_one_order(self):
        self.write(HEAD + "N = rz.dim('N', 1, 40)\nnames = [f'name {i}' for i in range(99)]\n"
                   "@rz.target(y=rz.Out('i32', N))\n"
                   "def f(y): y[:] = [names.index(each) for each in set(names)][:len(y)]\n")  # fmt: skip
        self.shows_not(self.export(plan(["dims = { N = 9 }"], kind="nondeterministic")))

    def test_random_numbers_are_seeded(self):
        self.write(HEAD + "import random\nN = rz.dim('N', 1, 40)\nclass F:\n"
                   "    def __init__(self): self.n = random.random()\n"
                   "    def __call__(self, y): y[:] = [self.n, random.random()]\n"
                   "def reference(y): y[:] = [.8444218515250481, random.random()]\n"
                   "rz.target(F, name='my.f', y=rz.Out('f64', 2 * N // N), reference=reference)\n"
        )  # fmt: skip
        calls = ["dims = { N = 2 }\nseed = 3"]
        self.shows_not(self.export(plan(calls, kind="nondeterministic")))
        self.shows(self.export(plan(calls, kind="reference")), "element 1 is 0.237.* reference has 0.844")

    def test_lists_have_the_declared_shape_at_each_level(self):
        head = HEAD + "M, N = rz.dims(M=(0, 9), N=(0, 9))\n"
        declared = "rz.target(f, name='my.f', x=rz.In('f32', M, N), returns=rz.Out('f32', M, N)"
        for dims, body, more, wrong in (
            ("M = 2, N = 2", "[[1, 2], [3]]", "", "does not have the declared shape"),
            ("M = 0, N = 3", "[]", ", reference=lambda x: x.tolist()", ""),
            ("M = 2, N = 0", "[[], []]", ", reference=lambda x: [[], []]", ""),
            ("M = 2, N = 0", "[]", "", "does not have the declared shape"),
            ("M = 2, N = 2", "(1, 2)", "", "does not have the declared shape"),
            ("M = 2, N = 2", "7", "", "is int, and lists or an rz Array are declared"),
        ):
            with self.subTest(body + more):
                self.write(f"{head}def f(x): return {body}\n{declared}{more})\n")
                program = self.export(plan([f"dims = {{ {dims} }}"], kind="reference" if more else "fault"))
                if wrong:
                    self.shows(program, wrong)
                else:
                    self.shows_not(program)

    def test_a_target_that_a_helper_declares(self):
        self.write("import redzone as rz\nN = rz.dim('N', 1, 40)\n"
                   "@rz.target(y=rz.Out('f32', N))\ndef f(y): raise ValueError('as it must be')\n",
                   "helper.py")  # fmt: skip
        self.write("import helper\n")
        calls = ["dims = { N = 2 }"]
        program = self.export(plan(calls, target="helper.f", kind="fault"))
        self.shows(program, "ValueError: as it must be")
        self.write(HEAD + "rz.target(len, name='helper.g', obj=rz.Out('f32', 2))\n", "helper.py")
        ran = self.ran(program)
        self.assertEqual((ran.returncode, ran.stdout), (3, ""), ran.stderr)
        self.assertEqual(ran.stderr, "my.py declares helper.g, and no 'helper.f'\n")

    def test_no_folder_is_left(self):
        self.write(HEAD + "N = rz.dim('N', 1, 40)\n@rz.target(y=rz.Out('f32', N))\ndef f(y): pass\n")
        program = self.export(plan(["dims = { N = 2 }"], kind="fault"))
        temporary = self.folder / "temporary"
        temporary.mkdir()
        ran = subprocess.run([sys.executable, program], stdout=subprocess.DEVNULL, timeout=200,
                             env={**without_redzone(), "TMPDIR": str(temporary)})  # fmt: skip
        self.assertEqual((ran.returncode, list(temporary.iterdir())), (0, []))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "needs numpy")
    def test_arrays_are_of_the_kind_that_the_file_imports(self):
        self.write("import numpy\n", "helper.py")
        for line, kind in (
            ("import numpy", "ndarray"),
            ("import helper", "ndarray"),
            ("from numpy import float32", "ndarray"),
            ("__import__('numpy')", "Array"),
        ):
            with self.subTest(line):
                self.write(f"{HEAD}{line}\nN = rz.dim('N', 1, 40)\n@rz.target(y=rz.Out('f32', N))\n"
                           "def f(y): raise ValueError(type(y).__name__)\n")  # fmt: skip
                program = self.export(plan(["dims = { N = 2 }"], kind="fault"))
                self.shows(program, f"ValueError: {kind} ")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "needs numpy")
    def test_a_result_may_be_a_scalar_of_numpy(self):
        self.write(HEAD + "import numpy as np\nN = rz.dim('N', 1, 40)\n"
                   "rz.target(np.sum, name='my.f', arguments={'a': rz.In('f64', N)}, returns=rz.Out('f64'),\n"
                   "          reference=lambda a: a.sum())\n")  # fmt: skip
        self.shows_not(self.export(plan(["dims = { N = 9 }"], kind="reference")))

    def test_a_refused_call_is_no_failure(self):
        self.write(HEAD + "N = rz.dim('N', 1, 40)\n"
                   "@rz.target(y=rz.Out('f32', N), rejects=LookupError)\n"
                   "def f(y): raise KeyError('no')\n")  # fmt: skip
        ran = self.ran(self.export(plan(["dims = { N = 5 }"])))
        self.assertEqual(ran.returncode, 0)
        self.assertIn("call 1 is refused: KeyError", ran.stdout)

    def test_without_the_file_it_says_which_one(self):
        self.write(f"{HEAD}N = rz.dim('N', 1, 40)\n@rz.target(y=rz.Out('f32', N))\n"
                   "def f(y): raise ValueError\n")  # fmt: skip
        flags = "--python", sys.executable, "--device", "host", "--plans", 1, "--db", "a.db"
        ran = self.redzone("run", "my.py", *flags)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        ran = self.redzone("export", 1, "--db", "a.db", "--to", "out", "--standalone")
        self.assertEqual(ran.returncode, 2)
        self.assertIn(f" --python-file {self.folder}/my.py", ran.stderr)

    def test_a_module_of_the_user_is_named(self):
        self.write("def double(x, y): y[0] = 2 * x[0]\n", "mine.py")
        self.write(
            f"{HEAD}import mine\nN = rz.dim('N', 1, 40)\n"
            "rz.target(mine.double, name='my.f', x=rz.In('f32', N), y=rz.Out('f32', N))\n"
        )
        program = self.export(plan(["dims = { N = 2 }"], buffer="y"))
        self.assertIn(f"# It imports mine from {self.folder}", program.read_text())
        self.shows(program, "'y' of call 1 differs")

    def test_any_text_of_a_file(self):
        self.write(HEAD + "text = '''three \\\\ quotes'''\n\"\"\"and\n\\x41\"\"\"\nN = rz.dim('N', 1, 40)\n"
                   "@rz.target(y=rz.Out('f32', N))\ndef f(y): raise ValueError(text + 'é\\t')")  # fmt: skip
        self.shows(self.export(plan(["dims = { N = 2 }"], kind="fault")), r"ValueError: three \\ quotesé")

    def test_what_cannot_be_exported_is_refused(self):
        self.write(HEAD + "N = rz.dim('N', 1, 1 << 26)\n@rz.target(y=rz.Out('f32', N))\ndef f(y): pass\n")
        told = self.export(plan(["dims = { N = 2 }"], kind="schedule"), allowed=2)
        self.assertIn("finding 1: a failure of kind 'schedule' does not show without Redzone", told)
        told = self.export(plan(["dims = { N = 40000000 }"]), allowed=2)
        self.assertIn("'y' has more than 16777216 elements", told)

    def test_a_module_that_is_missing_is_no_failure(self):
        self.write(HEAD + "N = rz.dim('N', 1, 9)\n@rz.target(y=rz.Out('f32', N))\ndef f(y): pass\n")
        whole = self.export(plan(["dims = { N = 2 }"]))
        program = self.edited(whole, "N = rz.dim", "import nowhere\nN = rz.dim")
        ran = self.ran(program)
        self.assertEqual(ran.returncode, 3, ran.stdout)
        self.assertIn("No module named 'nowhere'", ran.stderr)


LAYOUTS = ("", "row_padding = 3", "transposed = true", "offset = 5", "broadcast = 0", "unit_stride = 9")
BUFFER_DTYPES = ["f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"]
DTYPES = {
    "buffer": BUFFER_DTYPES,
    "numpy": [d for d in BUFFER_DTYPES if d != "bf16"] + ["c64", "c128"],
    "torch": [*BUFFER_DTYPES, "f8e4m3", "f8e5m2", "c64", "c128"],
}
READ = {
    "buffer": "x.strides, x.tolist()",
    "numpy": "x.strides, x.tobytes()",
    "torch": "x.stride(), x.clone().contiguous().view(torch.uint8).tolist()",
}
FILLS = ("None", "rz.uniform(-3.7, 90)", "rz.integers(0, 100)", "rz.constant(1)", "rz.sums(0, 3)",
         "rz.special_values(0, 1)")


class Values(ExportCase):
    """Calls get the same values, strides and poison under Redzone and in the program."""

    def check(self, kind):
        fills = [(d, f) for d in DTYPES[kind] for f in FILLS if "-" not in f or d[0] not in "uc"]
        tensors = {f"x{i}": f"rz.In('{d}', M, N, fill={f}, layout=L)" for i, (d, f) in enumerate(fills)}
        tensors["y"] = "rz.In('i32', N, fill=rz.offsets(97))"
        tensors["z"] = "rz.InOut('f32', N)"
        self.write(
            HEAD + (f"import {kind}\n" if kind != "buffer" else "") + "M, N = rz.dims(M=(1, 99), N=(1, 99))\n"
            "L = ['row_padding', 'transposed', 'offset', 'broadcast', 'unit_strides']\nimport os\n"
            f"out = os.open({str(self.folder / 'seen')!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
            "def f(**named):\n"
            f"    lines = [f'{{name}} {{({READ[kind]})}}\\n' for name, x in named.items()]\n"
            "    os.write(out, ''.join(lines).encode())  # at once: there are several workers\n"
            f"rz.target(f, name='my.f', arrays={kind!r},\n"
            + ",\n".join(f"  {name}={tensor}" for name, tensor in tensors.items()) + ")\n"
        )  # fmt: skip
        calls = []
        for number, layout in enumerate(LAYOUTS):
            placed = ", ".join(f"{n} = {{ {layout} }}" for n in tensors if n[0] == "x" and layout)
            dims = f"dims = {{ M = {1 if 'unit' in layout else 3}, N = 21 }}"
            calls.append(f"{dims}\nlayout = {{ {placed} }}\nseed = {77 + number}")
        self.shows_not(self.export(plan(calls, kind="fault", where="exception: ValueError")))
        ours = self.seen()
        replay = self.redzone("replay", "plan.toml", "--runs", 1, "--device", "host", *self.file_flags())
        self.assertIn(replay.returncode, (0, 1), replay.stdout + replay.stderr)
        self.assertEqual({line.split()[0] for line in ours}, set(tensors))
        self.assertEqual(ours, self.seen())

    def seen(self):
        """What the calls have got since the last time."""
        file = self.folder / "seen"
        lines = set(file.read_text().splitlines())
        file.write_text("")
        return lines


def add_kind(kind):
    setattr(Values, f"test_{kind}", lambda self: self.check(kind))


for each in DTYPES:
    if each == "buffer" or importlib.util.find_spec(each):
        add_kind(each)


PUZZLES = [file for file in cases.PUZZLES if not cases.lacks_helion(file)]
# Of the call that shows a puzzle.
PUZZLE_LAYOUTS = {"strides_assumed": "layout = { x = { row_padding = 1 } }"}


class Puzzles(ExportCase):
    """One method a puzzle is added below, where there is PyTorch."""

    programs: dict[str, pathlib.Path]  # by puzzle; made at once, since PyTorch takes seconds to import

    @classmethod
    def setUpClass(cls):
        cls.programs = {}
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        plans = []
        for file in PUZZLES:
            plans.append(folder / f"{file.stem}.toml")
            plans[-1].write_text(cls.shown(file))
        flags = ["--db", folder / "x.db", "--python", sys.executable]
        flags += [word for file in PUZZLES for word in ("--python-file", file)]
        ids = range(1, len(plans) + 1)
        for words in (["import", *plans], ["export", *ids, "--to", folder / "out", "--standalone"]):
            ran = subprocess.run([REDZONE, *map(str, [*words, *flags])], capture_output=True, text=True,
                                 cwd=folder, timeout=200)  # fmt: skip
            assert ran.returncode == 0, ran.stdout + ran.stderr
        written = [folder / line for line in ran.stdout.splitlines()]
        cls.programs = dict(zip([file.stem for file in PUZZLES], written, strict=True))

    @staticmethod
    def shown(file):
        """The plan of the minimum that the puzzle states."""
        text = file.read_text()
        expect, minimal = (re.findall(f"# {field}: (.*)", text)[0] for field in ("expect", "minimal"))
        kind, _, rest = expect.rpartition(" | ")[2].partition(" ")
        names = ("access", "side", "buffer") if rest.count(" ") == 2 else ("where",)
        if kind != "illegal-access" and kind != "fault":
            names = ("buffer",)
        signature = dict(zip(names, [rest] if len(names) == 1 else rest.split()))
        calls = minimal.split("; ")[1:]
        dims = [", ".join(d.replace("=", " = ") for d in call.split()) for call in calls]
        layout = PUZZLE_LAYOUTS.get(file.stem, "")
        calls = [f"dims = {{ {d} }}\nseed = {i}\n{layout}" for i, d in enumerate(dims, start=1)]
        return plan(calls, f"puzzle.{file.stem}", kind, **signature)

    def check(self, file):
        if file not in PUZZLES:
            self.skipTest("no module 'helion'")
        program = self.programs[file.stem]
        ran = self.ran(program)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("FAILED: ", ran.stdout)
        twin = program.with_name(f"twin_of_{program.name}")
        twin.write_text(program.read_text().replace('"target": "puzzle.', '"target": "twin.'))
        self.shows_not(twin)


def add_puzzle(file):
    setattr(Puzzles, f"test_{file.stem}", lambda self: self.check(file))


if importlib.util.find_spec("torch"):
    for puzzle in cases.PUZZLES:
        add_puzzle(puzzle)


if __name__ == "__main__":
    REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
