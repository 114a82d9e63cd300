"""The arguments that scripts/check gives each tool, and how it uses their output; with stand-in tools."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
TOOLS = ("clang-format", "clang-tidy", "shellcheck", "codespell", "sim_text", "ruff", "mypy")

# Logs its arguments; prints a message and fails if the test has written the files for that.
TOOL = """#!/bin/sh
echo "{name} $@" >>{log}
[ ! -f {folder}/{name}.says ] || cat {folder}/{name}.says
[ ! -f {folder}/{name}.fails ]
"""


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools = pathlib.Path(folder.name) / "tools"
        self.root = pathlib.Path(folder.name) / "tree"
        self.log = pathlib.Path(folder.name) / "log"
        self.log.touch()
        self.tools.mkdir()
        for name in ("git", "env", "cat", "sh"):
            (self.tools / name).symlink_to(shutil.which(name) or "")
        # This interpreter: the first one on the PATH may be a script that needs more of the PATH.
        (self.tools / "python3").symlink_to(sys.executable)
        for name in (*TOOLS, "cmake"):
            file = self.tools / name
            file.write_text(TOOL.format(name=name, log=self.log, folder=folder.name))
            file.chmod(0o755)
        self.folder = pathlib.Path(folder.name)
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "nothing")
        self.write("scripts/check", SCRIPT.read_text())
        (self.root / "scripts/check").chmod(0o755)
        self.write("scripts/copied_lines.limit", "0\n")
        self.write("scripts/tool", "#!/usr/bin/env python3\n")
        self.write(".ci/run", "#!/usr/bin/env bash\n")
        self.write(".gitignore", "/build/\n")
        for name in ("one.cpp", "one.h", "two.cpp", "lone.h", "kernel.cu"):
            self.write(f"src/{name}", "int a;\nint b;\nint c;\n")
        self.commit()
        self.git("commit", "-q", "--allow-empty", "-m", "as it was")
        self.compiled("src/one.cpp", "src/two.cpp")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
                       cwd=self.root, check=True, capture_output=True)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "as it is")

    def compiled(self, *files):
        self.write("build/tidy/compile_commands.json", json.dumps(
            [{"directory": str(self.root), "file": str(self.root / f), "command": "c++"} for f in files]))

    def check(self, *arguments):
        return subprocess.run([self.root / "scripts/check", *arguments], capture_output=True, text=True,
                              env={"PATH": str(self.tools)})

    def given(self, tool):
        """The arguments of each call of the tool."""
        calls = [line.split() for line in self.log.read_text().splitlines()]
        return [words[1:] for words in calls if words[0] == tool]

    def files_given(self, tool):
        return sorted({word for words in self.given(tool) for word in words if "/" in word
                       and not word.startswith(str(self.root))})

    def test_a_tree_that_has_nothing_passes(self):
        ran = self.check("--all")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        for tool in TOOLS:
            self.assertTrue(self.given(tool), tool)

    def test_each_tool_that_finds_something_fails_the_check_and_is_shown(self):
        for tool in TOOLS:
            with self.subTest(tool):
                (self.folder / f"{tool}.fails").touch()
                (self.folder / f"{tool}.says").write_text("here: it is wrong\n")
                ran = self.check("--all")
                self.assertEqual(ran.returncode, 1, ran.stdout)
                self.assertIn("here: it is wrong", ran.stdout)
                (self.folder / f"{tool}.fails").unlink()
                (self.folder / f"{tool}.says").unlink()

    def test_each_tool_that_is_missing_is_a_failure_with_a_remedy(self):
        for tool in TOOLS:
            with self.subTest(tool):
                (self.tools / tool).rename(self.folder / "aside")
                ran = self.check("--all")
                self.assertEqual(ran.returncode, 3, ran.stdout)
                self.assertIn(f"{tool} is not installed: run ./scripts/setup --check", ran.stdout)
                (self.folder / "aside").rename(self.tools / tool)

    def test_the_fixed_version_of_a_tool_goes_before_that_of_the_system(self):
        self.write("build/check-venv/bin/ruff", "#!/bin/sh\necho fixed\nexit 1\n")
        (self.root / "build/check-venv/bin/ruff").chmod(0o755)
        self.assertIn("fixed", self.check("ruff").stdout)

    def test_only_changed_files_are_read(self):
        self.write("src/two.cpp", "int changed;\n")
        self.commit()
        self.write("src/kernel.cu", "int changed;\n")
        self.write("src/new.cpp", "int added;\n")
        self.compiled("src/one.cpp", "src/two.cpp", "src/new.cpp")
        self.check("format", "tidy")
        self.assertEqual(self.files_given("clang-format"), ["src/kernel.cu", "src/new.cpp", "src/two.cpp"])
        self.assertEqual(self.files_given("clang-tidy"), ["src/new.cpp", "src/two.cpp"])

    def test_what_was_only_moved_or_removed_is_not_read(self):
        self.git("mv", "src/two.cpp", "src/moved.cpp")
        self.git("rm", "-q", "src/one.cpp")
        self.commit()
        self.check("format", "tidy")
        self.assertEqual(self.given("clang-format") + self.given("clang-tidy"), [])

    def test_a_header_is_read_with_its_own_file_or_else_by_itself(self):
        self.write("src/one.h", "int changed;\n")
        self.write("src/lone.h", "int changed;\n")
        self.check("tidy")
        self.assertEqual(self.files_given("clang-tidy"), ["src/lone.h", "src/one.cpp"])

    def test_tidy_reads_the_commands_of_its_own_preset_without_those_of_nvcc(self):
        self.write("src/one.cpp", "int changed;\n")
        file = str(self.root / "src/one.cpp")
        entries = [{"directory": str(self.root), "file": file, "command": f"{compiler} -c {file}"}
                   for compiler in ("c++", "nvcc -forward-unknown-to-host-compiler")]
        self.write("build/tidy/compile_commands.json", json.dumps(entries))
        self.check("tidy")
        self.assertEqual(self.given("cmake"), [["--fresh", "--preset", "tidy"]])
        folder = self.root / "build/tidy/clang"
        self.assertIn(str(folder), self.given("clang-tidy")[0])
        self.assertEqual(json.loads((folder / "compile_commands.json").read_text()), entries[:1])

    def test_what_is_not_compiled_here_is_named(self):
        self.write("elsewhere/device.cpp", "int added;\n")
        ran = self.check("tidy")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertIn("not compiled here, so not read: elsewhere/device.cpp", ran.stdout)

    def test_if_configuring_fails_tidy_is_a_failure_with_a_remedy(self):
        (self.folder / "cmake.fails").touch()
        (self.folder / "cmake.says").write_text("no such library\n")
        self.write("src/one.cpp", "int changed;\n")
        ran = self.check("tidy")
        self.assertEqual(ran.returncode, 3)
        self.assertIn("./scripts/setup --configure", ran.stdout)
        self.assertIn("no such library", ran.stdout)

    def test_the_base_is_where_the_branch_left_origin(self):
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        for name in ("one", "two"):
            self.write(f"src/{name}.cpp", "int changed;\n")
            self.commit()
        self.check("format")
        self.assertEqual(self.files_given("clang-format"), ["src/one.cpp", "src/two.cpp"])

    def test_on_what_origin_has_the_base_is_the_previous_commit(self):
        self.write("src/one.cpp", "int changed;\n")
        self.commit()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.check("format")
        self.assertEqual(self.files_given("clang-format"), ["src/one.cpp"])

    def test_scripts_are_known_by_their_first_line(self):
        self.check("shell", "ruff")
        self.assertEqual(self.files_given("shellcheck"), [".ci/run"])
        self.assertEqual(self.files_given("ruff"), ["scripts/check", "scripts/tool"])

    def copies(self, text, *arguments):
        (self.folder / "sim_text.says").write_text(text)
        return self.check("copies", *arguments)

    def batch(self, lists, one, other):
        """The result of `check batches` for a folder of two sources, which call helpers."""
        self.write("src/part/CMakeLists.txt", f"add_library(rz_part one.cpp other.cpp)\n{lists}\n")
        for name, text in (("one", one), ("other", other)):
            self.write(f"src/part/{name}.cpp", text)
        self.commit()
        return self.check("batches")

    OWN = "namespace {\n\nint sum(int a,\n        int b) {\n  return a + b;\n}\n\n}  // namespace\n"

    def test_a_name_that_another_source_of_a_batch_calls_is_a_failure(self):
        ran = self.batch("redzone_batches(rz_part)", self.OWN, "int three() {\n  return sum(1, 2);\n}\n")
        self.assertEqual(1, ran.returncode)
        self.assertIn("src/part/one.cpp: sum() has a name that src/part/other.cpp calls\n", ran.stdout)

    def test_so_is_a_name_that_two_sources_of_a_batch_define(self):
        ran = self.batch("redzone_batches(rz_part)", self.OWN, self.OWN)
        self.assertEqual(2, ran.stdout.count("sum() has a name that"))

    def test_members_other_namespaces_comments_and_texts_are_not_called(self):
        ran = self.batch("redzone_batches(rz_part)", self.OWN, "int a = x.sum(1) + p->sum(2) + other::sum(3);"
                         '  // sum(4)\nconst char* text = "sum(5)";\nint sum = 6;\n')
        self.assertEqual((0, 1), (ran.returncode, ran.stdout.count("\n")), ran.stdout)

    def test_a_variable_of_that_name_is_no_call(self):
        body = "int three() {{\n  const Plan<int> sum(1, 2);\n  Plan sum(3);\n  {}\n}}\n"
        for line, code in (("return 0;", 0), ("return sum(1, 2);", 1), ("else sum(1);", 1), ("sum(1);", 1)):
            ran = self.batch("redzone_batches(rz_part)", self.OWN, body.format(line))
            self.assertEqual(code, ran.returncode, line)

    def test_what_is_compiled_by_itself_may_have_any_names(self):
        for lists in ("", "redzone_batches(rz_part EXCEPT other.cpp)"):
            self.assertEqual(0, self.batch(lists, self.OWN, self.OWN).returncode, lists)

    def test_the_sources_of_one_test_are_a_batch(self):
        for lists, code in (("redzone_test(part_test\n  SOURCES one.cpp\n    other.cpp LIBS rz_part)", 1),
                            ("redzone_test(one SOURCES one.cpp)\nredzone_test(other SOURCES other.cpp)", 0),
                            ("redzone_test(part_test SOURCES one.cpp other.cpp)\n"
                             "redzone_batches(part_test EXCEPT other.cpp)", 0)):
            self.assertEqual(code, self.batch(lists, self.OWN, self.OWN).returncode, lists)

    def test_names_in_the_bodies_of_functions_and_of_macros_are_not_its_own(self):
        own = ("namespace {\n\nint two() { return sum(1, 1); }\nRC_TEST(a, b) {}\nint c = sum(2, 2);\n\n"
               "}  // namespace\n")
        other = "int sum(int a, int b);\nRC_TEST(c, d) {}\nint e = sum(3, 3);\n"
        ran = self.batch("redzone_batches(rz_part)", own, other)
        self.assertEqual(0, ran.returncode, ran.stdout)

    def test_more_copied_lines_than_allowed_are_a_failure(self):
        blocks = "src/one.cpp: line 1-3   |src/two.cpp: line 1-3  [50]\n"
        ran = self.copies(blocks)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("6 lines were copied, 0 are allowed", ran.stdout)
        self.assertIn("src/two.cpp", ran.stdout)

    def test_puzzles_may_have_a_frame_in_common(self):
        puzzles = "src/targets/puzzles/a.cu: line 1-3   |src/targets/puzzles/b.cu: line 1-3  [50]\n"
        self.assertEqual(0, self.copies(puzzles).returncode)
        ran = self.copies(puzzles + "src/targets/puzzles/a.cu: line 1-3   |src/two.cpp: line 1-3  [50]\n")
        self.assertIn("6 lines were copied, 0 are allowed", ran.stdout)

    def test_blocks_of_changed_files_come_first(self):
        self.write("src/changed.cpp", "int a;\n")
        ran = self.copies("src/one.cpp: line 1-3   |src/two.cpp: line 1-3  [50]\n"
                          "src/three.cpp: line 1-3   |src/changed.cpp: line 1-3  [50]\n", "--base", "HEAD")
        first = re.findall(r"^(src/\w+.cpp): line", ran.stdout, re.MULTILINE)
        self.assertEqual(["src/three.cpp", "src/one.cpp"], first)

    def test_a_line_of_two_blocks_counts_once(self):
        self.write("scripts/copied_lines.limit", "9\n")
        self.commit()
        blocks = ("src/one.cpp: line 1-3   |src/two.cpp: line 1-3  [50]\n"
                  "src/one.cpp: line 2-3   |src/lone.h: line 1-3  [40]\n")
        self.assertEqual(self.copies(blocks, "--base", "HEAD").returncode, 0)

    def test_fewer_copied_lines_are_to_be_written_down(self):
        self.write("scripts/copied_lines.limit", "9\n")
        self.commit()
        ran = self.copies("src/one.cpp: line 1-3   |src/two.cpp: line 1-3  [50]\n", "--base", "HEAD")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("write that into scripts/copied_lines.limit", ran.stdout)

    def test_the_allowed_number_may_not_grow(self):
        self.write("scripts/copied_lines.limit", "6\n")
        self.commit()
        ran = self.copies("src/one.cpp: line 1-3   |src/two.cpp: line 1-3  [50]\n")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("may only fall", ran.stdout)

    def test_a_folder_without_its_history_cannot_be_checked(self):
        shutil.rmtree(self.root / ".git")
        ran = self.check()
        self.assertEqual(ran.returncode, 3)
        self.assertIn("git does not list the files here: fatal: not a git repository", ran.stderr)
        self.assertEqual(self.log.read_text(), "")

    def test_a_base_that_is_no_commit_is_an_error(self):
        ran = self.check("--base", "nowhere")
        self.assertEqual(ran.returncode, 3)
        self.assertIn("no commit 'nowhere'", ran.stderr)

    def test_what_is_mistyped_is_a_usage_error(self):
        ran = self.check("tydi")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("no check 'tydi'", ran.stderr)


if __name__ == "__main__":
    unittest.main()
