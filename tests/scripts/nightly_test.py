#!/usr/bin/env python3
"""nightly_test.py SCRIPT: nights that are killed, ended or cannot begin, and their effect on the store."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
REDZONE = SCRIPT.parent.parent / "build/bin/redzone"
FORMATS = {"index.html", "junit.xml", "night.json", "night.txt", "redzone.sarif", "summary.md"}


def night(folder, *flags, **more):
    return [SCRIPT, "--device", "host", "--workers", "1", *flags], {
        "env": {**os.environ, "REDZONE_STATE": folder, "GITHUB_STEP_SUMMARY": f"{folder}/step.md"},
        "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}


def run(folder, *flags, **more):
    command, how = night(folder, *flags, **more)
    return subprocess.run(command, **how)


def redzone(*words):
    return subprocess.run([REDZONE, *words], capture_output=True, text=True)


def findings(db):
    """Ledger status of the store's findings by signature; {} if the store cannot be read."""
    return {f["signature"]["text"]: f["ledger"]["standing"] for f in confirmed(db)}


def reduced(db):
    """The same for findings that are reduced: until then a finding may get another signature."""
    return {f["signature"]["text"]: f["ledger"]["standing"] for f in confirmed(db)
            if f["reduction"]["end"] != "none"}


def confirmed(db):
    listed = redzone("findings", "--db", db, "--json")
    if listed.returncode != 0:
        return []
    return [f for f in json.loads(listed.stdout)["findings"] if f["state"] == "confirmed"]


class Night(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name, "state")
        self.db, self.good = f"{self.folder}/redzone.db", f"{self.folder}/redzone.db.good"
        self.report = self.folder / "report"

    def files(self, folder=None):
        return {p.name for p in (folder or self.folder).iterdir()}

    def aside(self):
        return sorted(p for p in self.folder.iterdir() if ".aside-" in p.name)

    def store(self):
        return subprocess.run([SCRIPT.parent / "night_store", self.db], capture_output=True, text=True)


class EndedNight(Night):
    def setUp(self):
        super().setUp()
        command, how = night(self.folder, "puzzle.last_tile", "--time", "1h", "--seed", "1",
                             start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.script = subprocess.Popen(command, **how)
        self.addCleanup(self.script.kill)
        while not (found := reduced(self.db)):
            self.assertIsNone(self.script.poll())
            time.sleep(0.05)
        self.found = found
        self.pid = int(re.findall(r"\Aprocess (\d+) ", pathlib.Path(self.db + "-lock").read_text())[0])
        self.addCleanup(self.kill_night)

    def kill_night(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait_for_the_lock(self):
        """Waits until no job uses the store."""
        with open(self.db + "-lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def test_what_it_found_is_copied_when_all_is_killed(self):
        os.killpg(self.script.pid, signal.SIGKILL)
        self.kill_night()
        self.script.wait()
        self.wait_for_the_lock()
        stored = self.store()
        self.assertEqual(stored.returncode, 0, stored.stderr)
        self.assertLessEqual(self.found.items(), findings(self.good).items())
        # A CI job has only the copy in the morning.
        for part in ("", "-wal", "-shm"):
            pathlib.Path(self.db + part).unlink(missing_ok=True)
        self.assertEqual(self.store().returncode, 0)
        self.assertLessEqual(self.found.items(), findings(self.db).items())

    def test_a_night_that_alone_is_killed_has_a_page(self):
        self.kill_night()
        self.assertEqual(self.script.wait(), 137)
        self.assertEqual(self.files(self.report), {"summary.md", "night.txt", "index.html"})
        self.assertIn("It was cut off", (self.report / "summary.md").read_text())
        self.assertLessEqual(self.found.items(), findings(self.good).items())

    def test_a_killed_script_ends_its_night(self):
        os.killpg(self.script.pid, signal.SIGKILL)
        self.script.wait()
        self.wait_for_the_lock()
        self.assertIn("night.json", self.files(self.report))

    def test_it_ends_as_by_ctrl_c_when_the_script_is_told_to(self):
        self.script.terminate()
        self.assertEqual(self.script.wait(), 130)
        self.wait_for_the_lock()
        self.assertEqual(FORMATS, self.files(self.report))
        self.assertFalse(os.path.exists(self.db + "-wal"), "the store was closed")
        self.assertLessEqual(self.found.items(), findings(self.good).items())


class DamagedStore(Night):
    """A store after two nights with one finding, which was then marked known."""

    nights: pathlib.Path

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.nights = pathlib.Path(temporary.name, "state")
        first = run(cls.nights, "puzzle.last_tile", "--plans", "3", "--seed", "1")
        assert first.returncode == 1, first
        marked = redzone("mark", "1", "known", "--link", "https://example.com/1", "--db",
                         f"{cls.nights}/redzone.db")
        assert marked.returncode == 0, marked
        second = run(cls.nights, "twin.last_tile", "--plans", "1")
        assert second.returncode == 0, second

    def setUp(self):
        super().setUp()
        shutil.copytree(self.nights, self.folder)
        self.bytes = pathlib.Path(self.db).read_bytes()
        self.known = findings(self.db)
        self.assertEqual(list(self.known.values()), ["known"])

    def test_its_copy_takes_its_place(self):
        damaged = {"emptied": b"", "first page": bytes(4096) + self.bytes[4096:], "cut": self.bytes[:60],
                   "half": self.bytes[:len(self.bytes) // 2]}
        for name, contents in damaged.items():
            with self.subTest(name):
                pathlib.Path(self.db).write_bytes(contents)
                stored = self.store()
                self.assertEqual(stored.returncode, 0, stored.stderr)
                self.assertIn("going on with", stored.stderr)
                self.assertEqual(findings(self.db), self.known)
                self.assertEqual(findings(self.good), self.known)
                aside, = self.aside()
                self.assertEqual(aside.read_bytes(), contents)
                aside.unlink()

    def test_its_log_goes_with_it(self):
        pathlib.Path(self.db).write_bytes(self.bytes[:60])
        pathlib.Path(self.db + "-wal").write_bytes(b"what a writer left")
        self.assertEqual(self.store().returncode, 0)
        self.assertIn(b"what a writer left", [p.read_bytes() for p in self.aside()])
        self.assertEqual(findings(self.db), self.known)

    def test_one_that_is_gone(self):
        pathlib.Path(self.db).unlink()
        pathlib.Path(self.db + "-wal").write_bytes(b"what a writer left")
        self.assertEqual(self.store().returncode, 0)
        self.assertEqual([p.read_bytes() for p in self.aside()], [b"what a writer left"])
        self.assertEqual(findings(self.db), self.known)

    def test_a_row_that_a_command_refuses(self):
        # Includes a night without its campaign.
        for change in ("UPDATE findings SET state = 'bogus'", "DELETE FROM campaigns", "DROP TABLE ledger"):
            with self.subTest(change):
                pathlib.Path(self.db).write_bytes(self.bytes)
                with sqlite3.connect(self.db) as sql:
                    sql.execute(change)
                sql.close()
                self.assertEqual(redzone("db", "check", "--db", self.db).returncode, 5)
                reported = redzone("report", "--db", self.db)
                self.assertEqual(reported.returncode, 5, reported)
                self.assertEqual(self.store().returncode, 0)
                self.assertEqual(findings(self.db), self.known)

    def test_a_night_after_it_was_emptied(self):
        pathlib.Path(self.db).write_bytes(b"")
        ran = run(self.folder, "twin.last_tile", "--plans", "1")
        self.assertEqual(ran.returncode, 0, ran)
        self.assertEqual(findings(self.db), self.known)
        self.assertEqual(findings(self.good), self.known)

    def test_a_merged_store_that_is_put_in_its_place_stays(self):
        # The store that each runner gets back: pruned, merged with another runner's, and marked.
        other = self.folder.parent / "other"
        ran = run(other, "puzzle.far_write", "--plans", "3", "--seed", "1")
        self.assertEqual(ran.returncode, 1, ran)
        self.assertEqual(redzone("db", "prune", "--keep-days", "0", "--db", self.db).returncode, 0)
        with sqlite3.connect(self.db) as sql:
            sql.execute("UPDATE sqlite_sequence SET seq = 30")  # as if 30 nights had been pruned
        sql.close()
        self.assertEqual(self.store().returncode, 0)
        merged = f"{self.folder}/all.db"
        done = redzone("merge", f"{other}/redzone.db", self.db, "--into", merged)
        self.assertEqual(done.returncode, 0, done)
        marked = redzone("mark", "1", "known", "--link", "https://example.com/2", "--db", merged)
        self.assertEqual(marked.returncode, 0, marked)
        both = findings(merged)
        self.assertEqual(list(both.values()), ["known"] * 2)
        shutil.copy(merged, self.db)
        stored = self.store()
        self.assertEqual((stored.returncode, stored.stderr), (0, ""))
        self.assertEqual(findings(self.db), both)
        self.assertEqual(findings(self.good), both)
        self.assertEqual(self.aside(), [])
        # The earlier store, put back, is recognized as older.
        pathlib.Path(self.db).write_bytes(self.bytes)
        self.assertEqual(self.store().returncode, 0)
        self.assertEqual(findings(self.db), both)
        self.assertEqual(len(self.aside()), 1)

    def test_what_is_done_to_a_link_is_done_to_the_store(self):
        real = self.folder / "disk/real.db"
        real.parent.mkdir()
        os.rename(self.db, real)
        os.symlink(real, self.db)
        with open(f"{real}-lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(self.store().returncode, 3)
        self.assertEqual(self.store().returncode, 0)
        real.write_bytes(self.bytes[:60])
        self.assertEqual(self.store().returncode, 0)
        self.assertTrue(os.path.islink(self.db))
        self.assertEqual(findings(self.db), self.known)
        self.assertEqual(findings(f"{real}.good"), self.known)
        self.assertEqual([p.read_bytes() for p in real.parent.glob("*.aside-*")], [self.bytes[:60]])

    def test_what_is_left_of_copies_that_were_cut_off_goes(self):
        for name in (self.db, self.good):
            for left in (".new-abc123", ".new-abc123-journal"):
                pathlib.Path(name + left).touch()
        self.assertEqual(self.store().returncode, 0)
        self.assertFalse([name for name in self.files() if ".new-" in name])

    def test_a_damaged_copy_is_made_anew(self):
        pathlib.Path(self.good).write_bytes(self.bytes[:60])
        self.assertEqual(self.store().returncode, 0)
        self.assertEqual(findings(self.good), self.known)
        self.assertEqual(len(self.aside()), 1)

    def test_where_nothing_is_sound_all_stays(self):
        for file in (self.db, self.good):
            pathlib.Path(file).write_bytes(self.bytes[:60])
        before = self.files()
        self.assertEqual(self.store().returncode, 3)
        self.assertEqual(self.files(), before)

    def refused(self, code, says):
        ran = run(self.folder, "twin.last_tile", "--plans", "1")
        self.assertEqual(ran.returncode, code, ran)
        self.assertIn(says, ran.stderr)
        self.assertEqual(self.aside(), [])
        self.assertEqual(findings(self.good), self.known)
        self.assertIn(says, (self.report / "summary.md").read_text())

    def test_one_that_is_locked_stays(self):
        writer = sqlite3.connect(self.db, isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("UPDATE findings SET reason = reason")
        self.refused(3, "is locked")
        writer.close()
        self.assertEqual(findings(self.db), self.known)

    def test_one_of_another_job_stays(self):
        with open(self.db + "-lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(3, "another job is using it")

    def test_one_of_a_newer_build_stays(self):
        with sqlite3.connect(self.db) as sql:
            sql.execute("PRAGMA user_version = 999")
        sql.close()
        self.refused(2, "schema version 999")

    def test_a_night_that_cannot_begin_says_so(self):
        (self.folder / "step.md").unlink()
        ran = run(self.folder, "nosuch<&>", "--plans", "1")
        self.assertEqual(ran.returncode, 2, ran)
        for file in ("summary.md", "night.txt"):
            text = (self.report / file).read_text()
            self.assertIn("exit code 2", text)
            self.assertIn("unknown target 'nosuch<&>'", text)
        self.assertIn("'nosuch&lt;&amp;&gt;'", (self.report / "index.html").read_text())
        self.assertEqual((self.folder / "step.md").read_text(), (self.report / "summary.md").read_text())
        # The previous night's report does not count as this night's.
        self.assertEqual(self.files(self.report), {"summary.md", "night.txt", "index.html"})
        self.assertEqual(self.files(self.folder / "report.last"), FORMATS)
        self.assertIn("nothing new", (self.folder / "report.last/night.txt").read_text())
        # A page that explains a missing report does not replace a report either.
        self.assertEqual(run(self.folder, "nosuch", "--plans", "1").returncode, 2)
        self.assertEqual(self.files(self.folder / "report.last"), FORMATS)
        self.assertIn("nothing new", (self.folder / "report.last/night.txt").read_text())
        self.assertIn("'nosuch'", (self.report / "summary.md").read_text())


class Flags(Night):
    def test_those_of_the_user_win(self):
        ran = run(self.folder, "twin.last_tile", "--plans", "1", "--commit", "theirs",
                  f"--db={self.folder}/other.db", "--report", f"{self.folder}/out")
        self.assertEqual(ran.returncode, 0, ran)
        report = json.loads((self.folder / "out/night.json").read_text())["night"]
        self.assertEqual(report["commit"], "theirs")
        self.assertLessEqual({"other.db", "other.db.good"}, self.files())
        self.assertNotIn("redzone.db", self.files())

    def test_a_folder_that_cannot_be_made_is_no_finding(self):
        ran = run("/dev/null/state", "twin.last_tile", "--plans", "1")
        self.assertEqual(ran.returncode, 3, ran)


class FreshClone(Night):
    """A clone whose build fails."""

    def clone(self):
        scripts = self.folder / "clone/scripts"
        scripts.mkdir(parents=True)
        for name in ("nightly", "night_store"):
            shutil.copy(SCRIPT.parent / name, scripts)
        return scripts

    def test_what_is_not_built_says_so(self):
        scripts = self.clone()
        for command in (["nightly", "--help"], ["night_store", self.db]):
            ran = subprocess.run([scripts / command[0], *command[1:]], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 3, ran)
            self.assertIn("run ./scripts/setup", ran.stderr)
        self.assertEqual(self.files(), {"clone"})

    def test_a_store_without_a_name_is_a_usage_error(self):
        scripts = self.clone()
        ran = subprocess.run([scripts / "night_store", ""], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 2, ran)
        self.assertEqual(self.files(), {"clone"})

    def test_what_does_not_build_is_no_finding(self):
        scripts = self.clone()
        (scripts / "setup").write_text("#!/bin/sh\nexit 1\n")
        (scripts / "setup").chmod(0o755)
        line, = (line for line in (SCRIPT.parent / "ci/crontab").read_text().splitlines()
                 if not line.startswith("#"))
        command = line.split(None, 5)[5].replace("/path/to/redzone", str(scripts.parent))
        environment = {name: value for name, value in os.environ.items() if name != "REDZONE_STATE"}
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment)
        self.assertEqual(ran.stderr, "")
        self.assertIn("ended with exit code 3", ran.stdout)
        self.assertIn("scripts/setup failed", ran.stdout)
        self.assertIn("exit code 3", (scripts.parent / "build/nightly/report/summary.md").read_text())


class Workflow(unittest.TestCase):
    def test_nothing_that_a_person_types_is_in_a_line_of_the_shell(self):
        lines = (SCRIPT.parent / "ci/nightly.yml").read_text().splitlines()
        typed = [line for line in lines if re.search(r"\$\{\{.*inputs\.", line)]
        self.assertGreater(len(typed), 4)
        for line in typed:
            self.assertRegex(line, r"^ +(if|[A-Z]+): ")

    def marked(self, typed):
        """Runs the step that marks findings, with scripts that print their arguments."""
        job = (SCRIPT.parent / "ci/nightly.yml").read_text()
        step, = re.findall(r"- name: Mark\n.*?run: \|\n(.*?)\n\n", job, re.DOTALL)
        with tempfile.TemporaryDirectory() as name:
            for tool in ("scripts/night_store", "build/bin/redzone"):
                path = pathlib.Path(name, tool)
                path.parent.mkdir(parents=True)
                path.write_text('#!/bin/sh\nprintf "<%s>" "$@"; echo; [ "$2" != --id=0 ]\n')
                path.chmod(0o755)
            environment = {"PATH": os.environ["PATH"], "REDZONE_STATE": "the state", "FINDING": typed,
                           "MARK": "known", "LINK": "https://x/1", "REASON": "for $a `reason`",
                           "GITHUB_STEP_SUMMARY": f"{name}/step.md"}
            ran = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step], cwd=name,
                                 env=environment, capture_output=True, text=True)
        return ran.returncode, ran.stdout.splitlines()[1:]

    def test_all_numbers_that_were_typed_are_marked(self):
        def line(number):
            return (f"<mark><--id={number}><--as=known><--link><https://x/1><--reason><for $a `reason`>"
                    "<--db><the state/redzone.db>")

        self.assertEqual(self.marked("7"), (0, [line("7")]))
        self.assertEqual(self.marked(" 3  12 * $(ls)"), (0, [line(n) for n in ("3", "12", "*", "$(ls)")]))
        self.assertEqual(self.marked("3 0 5"), (1, [line("3"), line("0")]))
        self.assertNotEqual(self.marked("  ")[0], 0)


if __name__ == "__main__":
    if not os.access(REDZONE, os.X_OK):  # the script would build it, without its tests
        sys.exit(f"{REDZONE} is not there: build it first")
    unittest.main()
