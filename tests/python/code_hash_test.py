#!/usr/bin/env python3
"""Which sources the hash of a target's code is over."""

import unittest

import cases  # isort: skip
from cases import RIGHT  # isort: skip


class CodeHash(cases.FileCase):
    def test_the_hash_of_a_target_is_over_what_its_file_uses(self):
        def hashes(*files):
            ran, answer = cases.described(*files, cwd=self.folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            return [answer["code_hash"], *(t["code_hash"] for t in answer["target"])]

        self.write("def deep(x): return x\n", "deeper.py")
        self.write("from deeper import deep\ndef helper(x): return deep(x)\n", "helpers.py")
        self.write("from helpers import helper\n" + RIGHT, "first.py")
        self.write("import others\n" + RIGHT.replace("def ", "def other_", 1), "second.py")
        self.write("x = 1\n", "others.py")
        whole, first, second = hashes("first.py", "second.py")
        self.assertEqual(hashes("first.py")[1], first)
        self.assertEqual(hashes("second.py")[1], second)
        self.assertNotEqual(hashes("first.py")[0], whole)
        self.write("x = 2\n", "others.py")
        changed = hashes("first.py", "second.py")
        self.assertEqual(changed[1], first)
        self.assertNotEqual(changed[2], second)
        self.write("def deep(x): return -x\n", "deeper.py")
        self.assertNotEqual(hashes("first.py")[1], first)

    def test_the_hash_of_a_target_covers_values_and_whatever_was_imported_without_a_statement(self):
        self.write("import consts\nOPS = {'double': consts.double}\n", "package/table.py")
        self.write("from .table import OPS\n", "package/__init__.py")
        self.write("def double(x): return 2 * x\n", "consts.py")
        self.write("SCALE = 2\n", "config.py")
        self.write("import importlib\nlater = importlib.import_module('plugins')\n", "loads.py")
        self.write("x = 1\n", "plugins.py")
        text = "from config import SCALE\nfrom package import OPS\nimport loads\n" + RIGHT
        hashes = [self.answer(text)["target"][0]["code_hash"]]
        for file, changed in (("config.py", "SCALE = 3\n"), ("plugins.py", "x = 2\n"),
                              ("consts.py", "def double(x): return x\n"),
                              ("package/__init__.py", "from .table import OPS  # all\n")):  # fmt: skip
            self.write(changed, file)
            hashes.append(self.answer(text)["target"][0]["code_hash"])
        self.assertEqual(len(set(hashes)), len(hashes))

    def hashes_of(self, *files):
        """The hash of each target, by its name."""
        ran, answer = cases.described(*files, cwd=self.folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return {target["name"]: target["code_hash"] for target in answer["target"]}

    def test_the_hash_of_a_target_is_the_same_whatever_other_files_there_are(self):
        other = RIGHT.replace("def ", "def other_", 1)
        self.write("def shared(x): return x\n", "shared.py")
        self.write("def get():\n    import shared\n    return shared\n", "lends.py")
        self.write("import functools\n@functools.cache\ndef get():\n    import shared\n    return shared\n",
                   "lends_once.py")  # fmt: skip
        self.write("def __getattr__(name):\n    import importlib\n    return importlib.import_module(name)\n",
                   "lazy.py")  # fmt: skip
        ways = {  # of importing; the hash covers shared.py where the body of the file runs it
            "import importlib\nimportlib.import_module('shared')\n": True,
            "__import__('shared')\n": True,
            "from lends import get\nget()\n": True,
            "from lends_once import get\nget()\n": True,
            "import lazy\nlazy.shared\n": True,
            "import threading\nt = threading.Thread(target=__import__, args=('shared',))\n"
            "t.start()\nt.join()\n": True,
            "import importlib.util as u\ns = u.spec_from_file_location('it', 'shared.py')\n"
            "m = u.module_from_spec(s)\ns.loader.exec_module(m)\n": True,
            "import runpy\nrun = runpy.run_path('shared.py')\n": True,
            "import importlib.util as u\nu.spec_from_file_location('shared', 'shared.py')\n": False,
            "from lends import get\n": False,
            "def plot():\n    import shared\n": False,
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import shared\n": False,
        }
        for way, covers in ways.items():
            with self.subTest(way):
                self.write(way + RIGHT, "first.py")
                name, alone = next(iter(self.hashes_of("first.py").items()))
                for rest in ("import shared\n", "from lends_once import get\nget()\n", ""):
                    self.write(rest + other, "second.py")
                    self.assertEqual(self.hashes_of("first.py", "second.py")[name], alone, rest)
                    self.assertEqual(self.hashes_of("second.py", "first.py")[name], alone, rest)
                self.write("def shared(x): return -x\n", "shared.py")
                together = self.hashes_of("first.py", "second.py")[name]
                self.assertEqual(together, self.hashes_of("first.py")[name])
                self.assertEqual(together != alone, covers)
                self.write("def shared(x): return x\n", "shared.py")

    def test_a_file_that_needs_another_before_it_has_the_hash_of_all(self):
        self.write("import sys\nsys.here = 1\n" + RIGHT, "first.py")
        self.write("import sys\nsys.here\n" + RIGHT.replace("def ", "def other_", 1), "second.py")
        ran, answer = cases.described("first.py", "second.py", cwd=self.folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        first, second = (t["code_hash"] for t in answer["target"])
        self.assertEqual(second, answer["code_hash"])
        self.assertNotEqual(first, second)

    def test_the_hash_of_generated_code_does_not_depend_on_its_file(self):
        text = ("import importlib.util, tempfile\n"
                "with tempfile.NamedTemporaryFile('w', suffix='.py') as file:\n"
                "    file.write('def kernel(x): return x\\n')\n    file.flush()\n"
                "    spec = importlib.util.spec_from_file_location('made', file.name)\n"
                "    made = importlib.util.module_from_spec(spec)\n"
                "    spec.loader.exec_module(made)\n")  # fmt: skip
        kept = text.replace("suffix='.py'", "suffix='.py', dir='.', delete=False")
        for case in (text, kept):
            self.assertEqual(len({self.answer(case + RIGHT)["code_hash"] for _ in range(2)}), 1)

    def test_a_module_may_start_a_thread_while_it_is_imported(self):
        self.write("import concurrent.futures\npool = concurrent.futures.ThreadPoolExecutor(1)\n"
                   "assert pool.submit(int, '1').result(20) == 1\n", "starts.py")  # fmt: skip
        for name in ("first", "second"):
            text = RIGHT.replace("def ", f"def {name}_", 1)
            self.write("import starts\nstarts.pool.submit(int, '1').result(20)\n" + text, f"{name}.py")
        alone = {**self.hashes_of("first.py"), **self.hashes_of("second.py")}
        self.assertEqual(self.hashes_of("first.py", "second.py"), alone)

    def test_the_hash_does_not_depend_on_where_namesakes_lie(self):
        hashes = set()
        for folder in ("b/z", "a/y", "z/a"):
            for name in ("p", "q"):
                self.write(f"x = '{name}'\n", f"{folder}/{name}/helpers.py")
                text = RIGHT.replace("def ", f"def {name}_", 1)
                self.write("import helpers\n" + text, f"{folder}/{name}/{name}.py")
            found = self.hashes_of(f"{folder}/p/p.py", f"{folder}/q/q.py")
            hashes.add(tuple(sorted(found.items())))
        self.assertEqual(len(hashes), 1)

    def test_the_hash_is_over_the_users_own_modules(self):
        self.write("def helper(x): return x\n", "helpers.py")
        text = "import helpers\n" + RIGHT
        first = self.answer(text)["code_hash"]
        self.assertRegex(first, "^[0-9a-f]{32}$")
        self.assertEqual(self.answer(text)["code_hash"], first)
        self.write("def helper(x): return -x\n", "helpers.py")
        self.assertNotEqual(self.answer(text)["code_hash"], first)
        # Wherever they lie, and extensions, too.
        self.write("x = 1\n", "elsewhere/far/faraway.py")
        (self.folder / "operators.so").write_bytes(b"first")
        far = ("import sys, types; sys.path.append('elsewhere/far'); import faraway\n"
               "m = types.ModuleType('m'); m.__file__ = 'operators.so'; sys.modules['m'] = m\n")  # fmt: skip
        hashes = [self.answer(far + text)["code_hash"]]
        self.write("x = 2\n", "elsewhere/far/faraway.py")
        hashes.append(self.answer(far + text)["code_hash"])
        (self.folder / "operators.so").write_bytes(b"second")
        hashes.append(self.answer(far + text)["code_hash"])
        self.assertEqual(len(set(hashes)), 3)
        # A module that is not imported is none of it.
        second = self.answer(text)["code_hash"]
        self.write("pass\n", "other.py")
        self.assertEqual(self.answer(text)["code_hash"], second)


if __name__ == "__main__":
    unittest.main()
