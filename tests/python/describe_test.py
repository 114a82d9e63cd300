#!/usr/bin/env python3
"""Files of targets become descriptions, or one line about what is wrong with them."""

import importlib.machinery
import importlib.util
import os
import py_compile
import subprocess
import sys
import unittest
import unittest.mock
from typing import Any

import cases  # isort: skip
from cases import HEAD, RIGHT  # isort: skip

import redzone as rz
from redzone.description import describe_target
from redzone.device import choose_device
from redzone.registry import registry


class Descriptions(cases.FileCase):
    def test_a_function(self):
        target = self.answer(
            "import redzone as rz\n"
            "M, N = rz.dims(M=(0, 64), N=(1, 300, {'tile': 64, 'multiple_of': 2}))\n"
            "rz.require(N % 4 == 0)\n"
            "K = rz.dim('K', values=[1, 5])\n"
            "rz.require(K <= N)\n"
            "@rz.target(x=rz.In('float32', M, N, layout=['strided', 'slice'], granule=4, align=64,\n"
            "                   fill=rz.sums(-2, 2)),\n"
            "           rows=rz.In('i32', M + 1, fill=rz.offsets(N)), mode=rz.knob('fast', 'slow'),\n"
            "           block=rz.knob(64, 128), scale=rz.knob(1.5, None),\n"
            "           returns=rz.Out('bf16', M, N // 2, tol=(1e-2, 0)), reference=lambda x: x, tol=1e-3,\n"
            "           work=M * N, deterministic=False, alignment_changes_bits=True,\n"
            "           remembers_addresses=True)\n"
            "def f(x, rows, mode, block, scale, N):\n"
            "    'Does it.'\n"
        )["target"][0]
        self.assertEqual(target["name"], "my.f")
        self.assertEqual((target["file"], target["line"]), ("my.py", 6))
        self.assertEqual(
            (target["doc"], target["category"], target["state"]), ("Does it.", "kernel", "trial")
        )
        self.assertEqual(
            [(d["name"], d["min"], d["max"]) for d in target["dim"]], [("M", 0, 64), ("N", 1, 300)]
        )
        self.assertEqual((target["dim"][1]["tile"], target["dim"][1]["multiple_of"]), (64, 2))
        # The condition on K is for other targets.
        self.assertEqual(
            target["constraint"],
            [{"kind": "require", "holds": "N - floordiv(N, 4) * 4 == 0", "text": "my.py:3: N % 4 == 0"}],
        )
        self.assertEqual(
            {k["name"]: k["values"] for k in target["knob"]},
            {"mode": ["fast", "slow"], "block": [64, 128], "scale": ["1.5", "None"]},
        )
        x, rows, result = target["tensor"]
        self.assertEqual((x["dtype"], x["role"], x["shape"], x["align_bytes"]), ("f32", "in", ["M", "N"], 64))
        self.assertNotIn("align_bytes", rows)
        self.assertEqual(
            x["layout"],
            {"row_padding": True, "transposed": True, "offset": True, "unit_strides": True, "slice": True,
             "granule_elems": 4},
        )  # fmt: skip
        self.assertEqual(x["fill"], {"kind": "sums", "lo": -2.0, "hi": 2.0})
        self.assertEqual(rows["fill"], {"kind": "offsets", "total": "N"})
        self.assertEqual((result["name"], result["role"], result["returned"]), ("result", "out", True))
        self.assertEqual(result["shape"], ["M", "floordiv(N, 2)"])
        self.assertEqual(result["tolerance"], {"abs": 0.01, "rel": 0.0})
        self.assertEqual(target["tolerance"], {"abs": 0.001, "rel": 0.001})
        self.assertEqual(
            (target["work"], target["deterministic"], target["has_reference"]), ("M * N", False, True)
        )
        self.assertIs(target["alignment_changes_bits"], True)
        self.assertIs(target["remembers_addresses"], True)

    def test_a_counted_output(self):
        count, kept, rows = self.answer(
            HEAD + "@rz.target(count=rz.Out('i32'), kept=rz.Out('i64', N, counted_by='count'),\n"
            "           rows=rz.Out('f32', 1, N, counted_by=('count', 1)))\n"
            "def f(count, kept, rows):\n"
            "    pass\n"
        )["target"][0]["tensor"]
        self.assertNotIn("counted_by", count)
        self.assertEqual(kept["counted_by"], {"tensor": "count", "dim": 0})
        self.assertEqual(rows["counted_by"], {"tensor": "count", "dim": 1})

    def test_a_class_a_call_and_a_twin(self):
        targets = self.answer(
            HEAD + "class Right:\n    def __call__(self, x, y): pass\n"
            "class Wrong(Right): pass\n"
            "rz.target(Wrong, name='copy', twin=Right, x=rz.In('i64', N), y=rz.Out('i64', N))\n"
            "dt = rz.knob('f32', 'f16', name='dt')\n"
            "rz.target(lambda name, dt: None, name='named', arguments={'name': rz.InOut(dt, N)})\n"
        )["target"]
        self.assertEqual(
            [(t["name"], t["category"]) for t in targets],
            [("puzzle.copy", "puzzle"), ("twin.copy", "twin"), ("named", "kernel")],
        )
        self.assertEqual(targets[2]["tensor"][0]["dtype_of"], "dt")

    def test_a_class_is_made_without_arguments(self):
        declared = "rz.target(C, name='c', x=rz.InOut('f32', N))\n"
        rest = "    def __call__(self, x): pass\n" + declared
        told = self.mistake(HEAD + "class C:\n    def __init__(self, a, b, c=1, *d): pass\n" + rest)
        line = (HEAD + rest).count("\n") + 2
        self.assertEqual(
            told,
            f"my.py:{line}: C() takes 'a', 'b' when it is made, and a class is made without arguments: give"
            " defaults, or declare a class that has them",
        )
        for right in (
            "class C:\n    def __init__(self, a=1, *b, **c): pass\n",
            "class C:\n    def __new__(cls): return super().__new__(cls)\n    def __init__(self): pass\n",
            "import functools\ndef given(f):\n    @functools.wraps(f)\n"
            "    def g(self): f(self, 1)\n    return g\n"
            "class C:\n    @given\n    def __init__(self, a): pass\n",
            "class C:\n    __signature__ = 7\n    def __init__(self): pass\n",
        ):
            with self.subTest(right):
                self.assertEqual(len(self.answer(HEAD + right + rest)["target"]), 1)

    def test_an_object_in_the_place_of_a_module_may_raise(self):
        self.write(RIGHT.replace("def ", "def other_", 1), "second.py")
        for raised in ("RuntimeError", "KeyboardInterrupt"):
            text = (f"import sys\nclass Lazy:\n    def __getattr__(self, name): raise {raised}(name)\n"
                    "sys.modules['lazy'] = Lazy()\n")  # fmt: skip
            self.write(text + RIGHT, "first.py")
            ran, answer = cases.described("first.py", "second.py", cwd=self.folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(len(answer["target"]), 2)

    def test_what_is_imported_sees_no_frames_of_ours(self):
        self.write("import warnings\nwarnings.warn('old', stacklevel=2)\n", "warns.py")
        ran, _ = cases.described(self.write("import warns\n" + RIGHT), cwd=self.folder)
        self.assertRegex(ran.stderr, r"my\.py:\d+: UserWarning: old")

    def test_a_file_with_the_name_of_a_module_of_python(self):
        name = self.write("import random\n" + RIGHT + "random.random()\n", "random.py")
        ran, answer = cases.described(name, cwd=self.folder)
        self.assertEqual((ran.returncode, answer["target"][0]["name"]), (0, "random.copy"))
        name = self.write(RIGHT, "json.py")
        ran, answer = cases.described(name, cwd=self.folder)
        self.assertEqual((ran.returncode, answer["target"][0]["name"]), (0, "json.copy"))

    def test_a_helper_declares_for_the_file_that_calls_it(self):
        self.write(
            "import redzone as rz\ndef declare(f, n):\n    rz.require(n > 1)\n"
            "    return rz.target(f, x=rz.InOut('f32', n))\n", "below/helpers.py",
        )  # fmt: skip
        text = HEAD + "from below.helpers import declare\ndef f(x): pass\ndeclare(f, N)\n"
        target = self.answer(text)["target"][0]
        self.assertEqual((target["file"], target["line"]), ("my.py", 5))
        self.assertEqual(target["constraint"][0]["text"], "my.py:5: N > 1")

    def test_a_file_that_another_one_has_imported(self):
        self.write(RIGHT, "b.py")
        self.write("import b\n" + RIGHT, "a.py")
        _, answer = cases.described("a.py", "b.py", cwd=self.folder)
        self.assertEqual({(t["name"], t["file"]) for t in answer["target"]},
                         {("a.copy", "a.py"), ("b.copy", "b.py")})  # fmt: skip

    def test_knobs_are_the_same_text_in_each_process(self):
        text = HEAD + (
            "class Plain: pass\nclass Named:\n    def __repr__(self): return 'named'\n"
            "def relu(x): pass\n"
            "rz.target(lambda x, a, b: 0, name='f', x=rz.InOut('f32', N), a=rz.knob(relu, max, Named()),\n"
            "          b=rz.knob({'one', 'two', 'three'}, float('nan'), 2**70))\n"
        )
        knobs = [k["values"] for k in self.answer(text)["target"][0]["knob"]]
        self.assertEqual(knobs[0], ["relu", "max", "named"])
        self.assertEqual(knobs[1][1:], ["nan", str(2**70)])
        for value in ("Plain()", "object()", "__import__('functools').partial(relu)", "lambda: 0, lambda: 1"):
            line = self.mistake(text + f"rz.knob({value})\n")
            wrong = "has the value .*, which is another text in each process|lists the value '<lambda>' twice"
            self.assertRegex(line, rf"^my\.py:9: a knob ({wrong})")

    def test_a_knob_of_element_types(self):
        types = "type('float32', (), {}), 'half', 'bf16'"
        target = self.answer(
            HEAD + f"rz.target(lambda x, t: 0, name='f', x=rz.InOut(rz.knob({types}, name='t'), N))\n"
        )["target"][0]
        self.assertEqual(target["knob"][0]["values"], ["f32", "f16", "bf16"])

    def test_the_default_tolerance_is_that_of_the_type(self):
        n = rz.dim("N", 1, 9)
        table: list[tuple[Any, dict[str, Any], float | None]] = [
            ("f32", {}, None), ("c64", {}, None), ("i8", {}, None), ("f16", {}, 2**-9),
            ("bf16", {}, 2**-7), ("f8e4m3", {}, 2**-2), ("f8e5m2", {}, 2**-1),
            (rz.knob("f32", "bf16", "f16", name="D"), {}, 2**-7),
            (rz.knob("f32", "f64", name="D"), {}, None), ("bf16", {"tol": 1e-3}, None),
        ]  # fmt: skip
        for i, (dtype, options, allowed) in enumerate(table):
            rz.target(
                lambda a, b, c: 0, name=f"t{i}", a=rz.In(dtype, n), b=rz.InOut(dtype, n),
                c=rz.InOut(dtype, n, tol=(0.5, 0)), **options,
            )  # fmt: skip
            described = describe_target(registry.targets()[-1], "my.py")
            tensors = {t["name"]: t.get("tolerance") for t in described["tensor"]}
            want = allowed and {"abs": allowed, "rel": allowed}
            self.assertEqual(tensors, {"a": None, "b": want, "c": {"abs": 0.5, "rel": 0}}, (dtype, options))

    def test_several_files(self):
        files = [self.write(RIGHT, "a.py"), self.write(RIGHT, "below/b.py")]
        _, answer = cases.described(*files, cwd=self.folder)
        self.assertEqual([(t["name"], t["file"]) for t in answer["target"]],
                         [("a.copy", "a.py"), ("b.copy", "below/b.py")])  # fmt: skip

    def test_helpers_of_one_name_beside_two_files(self):
        for folder, size in (("a", 10), ("b", 20), ("a/sub", 30)):
            self.write(f"MOST = {size}\n", f"{folder}/sizes.py")
            self.write("", f"{folder}/parts/__init__.py")
            self.write(f"NAME = 'f{size}'\n", f"{folder}/parts/names.py")
            self.write("import redzone as rz\nimport sizes\nfrom parts.names import NAME\n"
                       "N = rz.dim('N', 1, sizes.MOST)\n"
                       "rz.target(lambda x: 0, name=NAME, x=rz.InOut('f32', N))\n",
                       f"{folder}/{folder[-1]}.py")  # fmt: skip
        self.write("import redzone as rz\nfrom sizes import MOST\n"
                   "rz.target(lambda x: 0, name='again', x=rz.InOut('f32', rz.dim('N', 1, MOST)))\n",
                   "a/more.py")  # fmt: skip
        names = ["a/a.py", "b/b.py", "a/sub/b.py", "a/more.py"]
        for order in (names, names[::-1]):
            ran, answer = cases.described(*order, cwd=self.folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            most = {t["name"]: t["dim"][0]["max"] for t in answer["target"]}
            self.assertEqual(most, {"f10": 10, "f20": 20, "f30": 30, "again": 10})
        before = answer["code_hash"]
        self.write("MOST = 20 + 0\n", "b/sizes.py")
        self.assertNotEqual(cases.described(*order, cwd=self.folder)[1]["code_hash"], before)

    def test_a_late_import_of_a_name_that_two_folders_have_is_refused(self):
        for folder in ("a", "b"):
            self.write(f"HERE = {folder!r}\n", f"{folder}/helper.py")
            self.write("import redzone as rz\nimport helper\nHERE = helper.HERE\n"
                       "def late(x):\n    import helper\n"
                       f"rz.target(late, name={folder!r}, x=rz.InOut('f32', 1))\n",
                       f"{folder}/my.py")  # fmt: skip
        ran = subprocess.run(
            [sys.executable, "-c", "from redzone.files import Files\n"
             "for t in Files(['a/my.py', 'b/my.py']).load():\n"
             "    print(t.callable.__globals__['HERE'])\n    try: t(0)\n"
             "    except ImportError as e: print(e)\n"],
            cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(cases.PACKAGE), "PYTHONSAFEPATH": "1"},
        )  # fmt: skip
        root = self.folder.resolve()
        refused = (f"'helper' is {root}/a/helper.py and {root}/b/helper.py: import it at the top of the"
                   " file, or rename one of them")  # fmt: skip
        self.assertEqual(ran.stdout.splitlines(), ["a", refused, "b", refused], ran.stderr)

    def test_on_a_cpu_the_interpreters_of_triton_and_helion_are_on(self):
        said = "import os\nSAID = [os.environ[f'{n}_INTERPRET'] for n in ('TRITON', 'HELION')]\n"
        self.write(said, "helion.py")
        # The arrays are torch's where Helion is imported, unless the file says otherwise.
        buffers = RIGHT.replace("target(", "target(arrays='buffer', ")
        self.answer("import os\nassert os.environ['TRITON_INTERPRET'] == '1'\nimport helion\n"
                    "assert helion.SAID == ['true', '1'], helion.SAID\n" + buffers)  # fmt: skip

    def test_a_probe_for_helion_where_it_is_not_installed_changes_nothing(self):
        finders = list(sys.meta_path)
        self.addCleanup(sys.meta_path.__setitem__, slice(None), finders)
        with unittest.mock.patch.dict(os.environ, {"TRITON_INTERPRET": "1"}):
            for _ in range(2):
                choose_device("host")
            (added,) = [finder for finder in sys.meta_path if finder not in finders]
            sys.meta_path[:] = [added]
            self.assertIsNone(importlib.util.find_spec("helion"))
            self.assertEqual(os.environ["TRITON_INTERPRET"], "1")
            found = importlib.machinery.ModuleSpec("helion", None)
            sys.meta_path.append(unittest.mock.Mock(find_spec=lambda *_: found))
            self.assertIs(importlib.util.find_spec("helion"), found)
            self.assertEqual(os.environ["TRITON_INTERPRET"], "true")


class HostileFiles(cases.FileCase):
    def test_what_it_prints_is_not_in_the_answer(self):
        ran, answer = cases.described(
            self.write("import os\nprint('hello')\nos.system('echo from a child')\n" + RIGHT), cwd=self.folder
        )
        self.assertEqual((ran.returncode, ran.stdout), (0, ""))
        self.assertEqual(sorted(ran.stderr.splitlines()), ["from a child", "hello"])
        self.assertEqual(len(answer["target"]), 1)

    def test_forks(self):
        for body in ("os.fork()\n", "if os.fork() == 0:\n    import time; time.sleep(1)\n"):
            self.assertEqual(len(self.answer("import os\n" + body + RIGHT)["target"]), 1)

    def test_a_child_that_fails_says_nothing(self):
        answer = self.answer("import os\nif os.fork() == 0: raise ValueError('child')\n" + RIGHT)
        self.assertEqual(len(answer["target"]), 1)

    def test_ends_of_the_process(self):
        self.assertEqual(
            self.mistake("import sys\n\nsys.exit(0)\n"),
            "my.py:3: the file called sys.exit(0) when it was imported",
        )
        self.assertEqual(self.mistake("x = 1\nraise KeyboardInterrupt\n"), "my.py:2: KeyboardInterrupt")

    def test_an_end_without_an_answer(self):
        # The driver says what it is, as it knows by the empty line that the file was imported.
        for code in ("import os\nos._exit(2)\n", "import os\nprint('a.py:1: b', flush=True)\nos._exit(3)\n"):
            ran, answer = cases.described(self.write(code), cwd=self.folder)
            self.assertEqual((ran.returncode, answer), (int(code[-3]), None))

    def test_changes_the_folder(self):
        self.write(RIGHT, "other.py")
        name = self.write("import os\nos.chdir('/')\n" + RIGHT)
        ran, answer = cases.described(name, "other.py", cwd=self.folder)
        self.assertEqual((ran.returncode, [t["file"] for t in answer["target"]]), (0, ["my.py", "other.py"]))

    def test_puts_something_in_the_place_of_the_streams(self):
        for stream in ("None", "object()", "open('/dev/full', 'w')"):
            change = f"import sys\nsys.stdout = {stream}\n"
            self.assertEqual(len(self.answer(change + RIGHT)["target"]), 1)
            line = self.mistake(change + "x = zz\n")
            self.assertEqual(line, "my.py:3: NameError: name 'zz' is not defined")

    def test_the_driver_gets_the_line_alone(self):
        for noise in ("print('no newline', end='')", "sys.stdout.buffer.write(bytes(range(256)))"):
            name = self.write(f"import sys\n{noise}\nx = zz\n")
            ran, line = cases.described(name, cwd=self.folder, errors="replace")
            self.assertEqual((ran.returncode, line), (2, "my.py:3: NameError: name 'zz' is not defined"))

    def test_closes_what_it_has_not_opened(self):
        self.assertEqual(
            cases.described(
                self.write("import os\nos.closerange(3, 99)\nf = open('log', 'w')\n" + RIGHT), cwd=self.folder
            )[0].stderr,
            "my.py:1: closes descriptors that it has not opened\n",
        )
        self.assertEqual((self.folder / "log").read_text(), "")

    def test_exceptions_that_cannot_be_told(self):
        broken = "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n"
        self.assertEqual(self.mistake(broken), "my.py:3: E: its text cannot be made (ValueError)")
        self.assertEqual(self.mistake("raise ValueError('\\udcff')\n"), "my.py:1: ValueError: \\udcff")

    def test_values_that_raise_when_they_are_looked_at(self):
        proxy = "class P:\n    def __getattribute__(self, name): raise RuntimeError(name)\np = P()\n"
        self.assertEqual(len(self.answer(proxy + RIGHT)["target"]), 1)

    def test_bytecode_of_an_older_file_is_not_run(self):
        def described():
            _, answer = cases.described("my.py", cwd=self.folder)
            return answer["target"][0]["dim"][0]["max"]

        path = self.folder / self.write(RIGHT)
        self.assertEqual(described(), 100)
        compiled = importlib.util.cache_from_source(str(path))
        py_compile.compile(str(path), compiled)
        was = path.stat()
        path.write_text(RIGHT.replace("100", "200"))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        self.assertEqual(described(), 200)

    def test_the_name_of_a_file(self):
        for name in ("my \"file\" of 'mine'.py", "\u044f\u0434\u0440\u043e.py", "new\nline.py"):
            ran, answer = cases.described(self.write(RIGHT, name), cwd=self.folder)
            self.assertEqual((ran.returncode, answer["target"][0]["file"]), (0, name))
        name = os.fsdecode(b"\xff.py")
        self.write(RIGHT, name)
        ran, line = cases.described(name, cwd=self.folder)
        self.assertEqual((ran.returncode, line), (2, "\\udcff.py:1: the name of the file is not UTF-8"))

    def test_exit_handlers_do_not_run(self):
        self.answer("import atexit, os\natexit.register(os._exit, 9)\n" + RIGHT)


class Mistakes(cases.FileCase):
    def test_imports(self):
        self.assertEqual(self.mistake("x = 1\ny = zz\n"), "my.py:2: NameError: name 'zz' is not defined")
        self.assertEqual(self.mistake("def f(:\n"), "my.py:1: SyntaxError: invalid syntax")
        self.assertEqual(
            self.mistake("pass\n"), "my.py:1: declares no target: use @rz.target, rz.triton or rz.op"
        )
        line = self.mistake("\nimport no_such_module\n", exit_code=3)
        self.assertTrue(line.startswith("my.py:2: no module 'no_such_module' for /"), line)
        self.assertIn("--python", line)
        self.write("def f():\n    raise ValueError('two\\nlines')\n", "helpers.py")
        self.assertEqual(self.mistake("import helpers\nhelpers.f()\n"), "helpers.py:2: ValueError: two lines")
        self.assertEqual(
            self.mistake("import random\nrandom.seed = None\n" + RIGHT),
            "my.py:1: random numbers cannot be seeded once it is imported: TypeError: 'NoneType' object is"
            " not callable",
        )
        self.assertEqual(
            self.mistake("import struct\nstruct.unpack = None\n" + RIGHT),
            "my.py:5: buffer arrays do not work once the file is imported: TypeError: 'NoneType' object is"
            " not callable",
        )
        # What no file has, as the code of exec() and of frozen modules, is no line of the user's.
        self.assertEqual(self.mistake("\nexec('raise ValueError(1)')\n"), "my.py:2: ValueError: 1")
        ran, _ = cases.described("none.py", cwd=self.folder)
        self.assertEqual((ran.returncode, ran.stderr), (2, "none.py:1: no such file\n"))

    def test_declarations(self):
        table = [
            ("rz.target(lambda x: 0, name='f', y=rz.Out('f32', N))",
             "'y' is no parameter of <lambda>(): there are x"),
            ("rz.target(lambda x, y, eps: 0, name='f', x=rz.In('f32', N), y=rz.Out('f32', N))",
             "parameter 'eps' of <lambda>() is not declared: give eps=rz.In(...), a dim, a knob or a value"),
            ("rz.In('f33', N)", "no element type 'f33': did you mean 'f32'?"),
            ("rz.In('f32', N, layout='contigous')", "no layout 'contigous': did you mean 'contiguous'?"),
            ("rz.In('f32', 1.5)", "extent 0 of a shape is 1.5, and must be an integer or"),
            ("rz.In('f32', N, N, N, N, N, N)", "a shape has 6 dims, and 5 are the most"),
            ("rz.In('f32', N, align=3)", "align is 3, and must be a power of two"),
            ("rz.In('f32', N, tol='x')",
             "the tolerance is 'x', and must be a number or (abs, rel), both >= 0"),
            ("rz.Out('f32', N, fill=rz.constant(1))", "an output has no fill: it is not initialized"),
            ("rz.dim('cdiv')", "'cdiv' is reserved in expressions, so no dim can have that name"),
            ("rz.dim('K', 5, 4)", "max of dim 'K' is 4, less than min = 5"),
            ("rz.dim('K', 5, 7, multiple_of=8)", "dim 'K' has no multiple of 8 in 5..7"),
            ("rz.dims(K=(1, 2, {'tiles': 3}))", "dim 'K' has no option 'tiles': did you mean 'tile'?"),
            ("rz.knob()", "a knob has no values"),
            ("rz.knob(1, 1)", "a knob lists the value 1 twice"),
            ("rz.target(lambda x: 0, name='F x', x=rz.InOut('f32', N))",
             "the name of a target is 'F x', and must be of a-z 0-9 _ ."),
            ("rz.target(lambda x: 0, name='f', x=rz.In('f32', N))",
             "<lambda>() has no output: declare one by rz.Out, rz.InOut or returns="),
            ("rz.target(lambda x: 0, name='f', x=rz.In('f32', N), returns=rz.In('f32', N))", "returns has "),
            ("rz.target(lambda x: 0, name='f', x=rz.InOut('f32', N), reference=lambda z: 0)",
             "the reference takes 'z', which the target does not have"),
            ("rz.target(lambda x: 0, name='f', x=rz.InOut('f32', N, rz.dim('N', 2, 3)))",
             "'N' is declared twice, and both are used here"),
            ("rz.target(lambda name: 0, name=rz.InOut('f32', N))",
             "name is an option, and must be text, not "),
            ("rz.target(lambda x: 0, name='f', x=rz.InOut('f32', N), rejects='ValueError')",
             "rejects has 'ValueError', and must name types of exceptions"),
            ("rz.target(lambda x: 0, name='f', x=rz.InOut('f32', N), state='call')",
             "state is 'call': there are process, trial"),
            ("[rz.target(lambda x: 0, name='f', x=rz.InOut('f32', N)) for _ in (1, 2)]",
             "the target 'f' is declared twice, also at my.py:3"),
            ("rz.target(lambda a, b=0, c=0, /: 0, name='f', a=rz.InOut('f32', N), c=3)",
             "'c' is given, and 'b' before it is not, which <lambda>() takes by position: give it a value"),
            ("rz.In('f32', N, fill=rz.constant(float('-inf')))", "constant(-inf) takes a finite number"),
            ("rz.In('f32', N + 2**60)", "an operand is 1152921504606846976, and 2^53 is the most"),
            ("for _ in range(12): N = N + N", "an expression has more than 2000 characters"),
            ("rz.dim('if')", "'if' is a word of Python, so no dim can have that name"),
            ("rz.target(lambda x: 0, name='f', x=rz.InOut('f32', N), doc='two\\nlines')", "doc is 'two"),
            ("rz.require(True)", "rz.require takes a condition on dims, not True"),
            ("rz.target(3)", "rz.target takes a function or a class, not 3"),
        ]  # fmt: skip
        for code, message in table:
            with self.subTest(code):
                line = self.mistake(HEAD + code + "\n")
                self.assertTrue(line.startswith(f"my.py:3: {message}"), line)

    def test_what_runs_nothing_when_it_is_called(self):
        io = "x=rz.InOut('f32', N)"
        table = [
            (f"@rz.target({io})\nasync def f(x): pass", "f() is a coroutine function"),
            (f"rz.target(lambda x: (yield), name='f', {io})", "<lambda>() is a generator function"),
            (f"@rz.target({io})\nclass F:\n    async def __call__(self, x): yield",
             "F() is a generator function"),
            (f"rz.target(lambda x: 0, name='f', {io}, reference=lambda x: (yield))",
             "the reference <lambda>() is a generator function"),
        ]  # fmt: skip
        for code, problem in table:
            with self.subTest(code):
                line = self.mistake(HEAD + code + "\n")
                told = f"my.py:3: {problem}, and a call of it runs nothing: declare a plain function"
                self.assertEqual(line, told)

    def test_two_files_with_one_name_of_a_target(self):
        for name in ("a/my.py", "b/my.py"):
            self.write(RIGHT, name)
        ran, line = cases.described("a/my.py", "b/my.py", cwd=self.folder)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(line, "b/my.py:3: the target 'my.copy' is declared twice, also at a/my.py:3")

    def test_the_line_is_the_declarations(self):
        line = self.mistake(HEAD + "\n\n@rz.target(x=rz.In('f32', N))\ndef f(y): pass\n")
        self.assertEqual(line, "my.py:5: 'x' is no parameter of f(): there are y")


if __name__ == "__main__":
    os.environ.pop("PYTHONSTARTUP", None)
    unittest.main()
