"""When a committed result counts as older than its sources, in a small repository."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()


class StaleResults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "-q", "-b", "main")
        (self.root / "scripts").mkdir()
        shutil.copy(SCRIPT, self.root / "scripts/stale_results")
        self.write("src/engine/a.cpp")
        self.write("src/words/a.cpp")
        self.write("tests/a.cpp")
        self.write("bench/results.table", "# result  sources\n\n*.txt  src :!src/words\n")
        self.measured_at = self.commit()
        self.result(self.measured_at)

    def git(self, *arguments):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=self.root,
                              check=True, capture_output=True, text=True).stdout.strip()

    def write(self, name, text="text\n"):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, summary="as it is"):
        self.git("add", "-A")
        self.git("commit", "-qm", summary)
        return self.git("rev-parse", "HEAD")

    def result(self, commit, name="host.txt"):
        self.write(f"bench/results/{name}", f"commit  {commit}\nspeed   3\n")
        self.commit()

    def changed(self, name, summary="engine: be faster"):
        self.write(name, f"{summary}\n")
        return self.commit(summary)

    def stale(self, *arguments):
        return subprocess.run([sys.executable, "-B", self.root / "scripts/stale_results", *arguments],
                              capture_output=True, text=True)

    def assert_sound(self):
        ran = self.stale()
        self.assertEqual((ran.returncode, ran.stdout), (0, "sound  host.txt\n"), ran.stderr)

    def assert_stale(self, why):
        ran = self.stale()
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn(why, ran.stdout)

    def test_a_result_is_sound_while_its_sources_are_as_they_were(self):
        self.assert_sound()
        self.changed("tests/a.cpp")
        self.changed("src/words/a.cpp")
        self.assert_sound()

    def test_a_change_of_its_sources_makes_it_stale_until_it_is_measured_again(self):
        now = self.changed("src/engine/a.cpp")
        self.assert_stale("1 commits of its sources ago")
        self.assert_stale("engine: be faster")
        self.result(now)
        self.assert_sound()

    def test_a_change_that_was_taken_back_counts_all_the_same(self):
        self.changed("src/engine/a.cpp")
        self.write("src/engine/a.cpp")
        self.commit("engine: be slower")
        self.assert_stale("2 commits")

    def test_a_tree_with_changes_is_no_commit(self):
        for mark in ("-dirty", " and changes"):
            self.result(self.measured_at + mark)
            self.assert_stale("with changes that are in no commit")

    def test_a_commit_that_is_not_in_the_history_says_nothing(self):
        self.git("checkout", "-q", "-b", "aside")
        aside = self.changed("tests/a.cpp", "aside")
        self.git("checkout", "-q", "main")
        for commit in (aside, "0" * 40, "unknown"):
            self.result(commit)
            self.assert_stale("is no commit that HEAD comes from")

    def test_a_result_that_names_no_commit_is_stale(self):
        self.write("bench/results/host.txt", "speed   3\n")
        self.assert_stale("names no commit")

    def test_a_text_may_name_it_with_the_machine(self):
        self.write("bench/results/host.txt", f"redzone {self.measured_at[:7]}, two cores\n")
        self.assert_sound()

    def test_every_commit_that_a_json_or_folder_names_counts(self):
        (self.root / "bench/results/host.txt").unlink()
        self.write("bench/results.table", "night  src\n")
        self.write("bench/results/night/a.json", f'{{\n "commit": "{self.measured_at}"\n}}\n')
        self.commit()
        self.assertEqual(self.stale().returncode, 0)
        now = self.changed("src/engine/a.cpp")
        self.write("bench/results/night/b.json", f'{{\n "commit": "{now}"\n}}\n')
        self.assertEqual(self.stale().returncode, 1)
        self.write("bench/results/night/a.json", f'{{\n "commit": "{now}"\n}}\n')
        self.assertEqual(self.stale().returncode, 0)

    def test_a_result_that_another_script_compares_is_left_to_it(self):
        self.changed("src/engine/a.cpp")
        self.write("bench/results.table", "*.txt  -\n")
        self.assert_sound()

    def test_a_table_that_does_not_fit_is_an_error(self):
        for table, why in (("*.json  src\n", "host.txt has no row"),
                           ("*.txt  src\n*.json  src\n", "*.json matches no result"),
                           ("*.txt  src/gone\n", "no sources src/gone"),
                           ("*.txt  src :!src/gone\n", "no sources :!src/gone"),
                           ("*.txt\n", "no sources")):
            with self.subTest(why):
                self.write("bench/results.table", table)
                ran = self.stale()
                self.assertEqual(ran.returncode, 3, ran.stdout)
                self.assertIn(why, ran.stderr)

    def test_one_result_can_be_asked_for(self):
        self.result("unknown", "other.txt")
        self.assertEqual(self.stale("host.txt").returncode, 0)
        self.assertEqual(self.stale("other.txt").returncode, 1)
        self.assertEqual(self.stale("none.txt").returncode, 2)

    def test_the_table_of_the_project_fits_its_results(self):
        self.assertIn(subprocess.run([sys.executable, "-B", SCRIPT], capture_output=True).returncode, (0, 1))


if __name__ == "__main__":
    unittest.main()
