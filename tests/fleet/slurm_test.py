"""Fleets on a real Slurm of two nodes on this machine: what is lost with a node, a hub, a time limit.

    slurm_test.py REDZONE [CLASS...]

The machine may be busy with other work. So what has to be cut off in its middle is not measured in seconds
but in plans, of which the machine does so many in NIGHT_SECONDS at that time, or has far more time than the
test takes; and a test goes on when a condition holds, however long that takes.
"""
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from cluster import LONGEST_WAIT, Cluster

REDZONE = pathlib.Path(sys.argv.pop(1)).resolve()
TARGETS = ["puzzle.far_write", "puzzle.last_tile", "puzzle.complex_pitch"]
NIGHTS = ["--device", "host", "--workers", "1"]
SITE = """
shards = ["--partition=gpu", "--gres=gpu:1", "--cpus-per-task=1"]
hub = ["--partition=cpu"]
snapshot_seconds = 2
"""
# Of a shard that has the machine for itself. It is cut off when its first snapshots are there.
NIGHT_SECONDS = 15


def findings_in(store):
    """Signatures of the confirmed and flaky findings of a store, by whether the plan is minimal."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(store, folder)  # it may be replaced while it is read
            rows = sqlite3.connect(copy).execute(
                "SELECT kind, target, location, buffer, side, access, minimal FROM findings WHERE state IN "
                "('confirmed', 'flaky')").fetchall()
    except FileNotFoundError:
        return {}
    return {row[:-1]: bool(row[-1]) for row in rows}


class FleetTest(unittest.TestCase):
    """Tests of one class share a cluster."""

    root: pathlib.Path
    cluster: Cluster

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="rz-fleet-", dir="/tmp")  # sockets have short names
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        cls.root.chmod(0o755)
        (cls.root / "slurm").mkdir()
        (cls.root / "site.toml").write_text(SITE)
        cls.cluster = Cluster(cls.root / "slurm", cls.root)
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        self.run_folder = self.root / self._testMethodName

    def fleet(self, action, *flags, expect=(0,), environment=None):
        ran = subprocess.run([REDZONE, "fleet", action, "--dir", self.run_folder, *flags], text=True,
                             capture_output=True, cwd=self.root, timeout=LONGEST_WAIT,
                             env=environment or self.cluster.environment)
        self.assertIn(ran.returncode, expect, ran.stdout + ran.stderr + self.logs())
        return ran

    def submit(self, shards, *night, site=None):
        """`night`: its length."""
        self.asked = shards
        self.fleet("submit", "--shards", str(shards), *night, "--site", site or self.root / "site.toml",
                   *NIGHTS, *TARGETS)
        return json.loads((self.run_folder / "jobs.json").read_text())

    def plans(self):
        """The length of a night of NIGHT_SECONDS, as the machine is now. The rate of a short one."""
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            ran = subprocess.run([REDZONE, "nightly", *NIGHTS, *TARGETS, "--plans", "100", "--json", "--db",
                                  f"{folder}/redzone.db"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        night = json.loads(ran.stdout)["night"]
        each = round(NIGHT_SECONDS * night["plans"] / night["fuzz_seconds"] / len(TARGETS))
        print(f"{each} plans of each target are a night", file=sys.stderr)
        return "--plans", str(each)

    def mount(self, options, folder):
        ran = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], text=True,
                             capture_output=True)
        if ran.returncode != 0:
            self.skipTest(f"this user, or this container, mounts no file system: {ran.stderr.strip()}")

    def attempts(self):
        found = {}
        for file in sorted((self.run_folder / "attempts").glob("*.json")):
            with contextlib.suppress(json.JSONDecodeError):  # it was just created
                found[file.stem] = json.loads(file.read_text())
        return found

    def shards(self):
        """Those of shards: 0 is the hub, and behind the last shard are the examinations."""
        return {name: status for name, status in self.attempts().items() if 0 < int(name[:4]) <= self.asked}

    def snapshot_findings(self):
        found = {}
        for file in (self.run_folder / "snapshots").glob("*.db"):
            found.update(findings_in(file))
        return found

    def reducers(self):
        """By finding that is reduced: the shards that did it, each in its own store."""
        shards: dict[tuple, set[int]] = {}
        for file in (self.run_folder / "snapshots").glob("*.db"):
            if 0 < int(file.name[:4]) <= self.asked:
                for finding, minimal in findings_in(file).items():
                    if minimal:
                        shards.setdefault(finding, set()).add(int(file.name[:4]))
        return shards

    def logs(self):
        logs = sorted((self.run_folder / "logs").glob("*")) if (self.run_folder / "logs").exists() else []
        return "".join(f"\n== {log.name}\n{log.read_text(errors='replace')[-2000:]}" for log in logs)

    def wait_for(self, condition, what):
        try:
            self.cluster.wait_for(condition, what)
        except TimeoutError as error:
            self.fail(f"{error}\n{self.logs()}\n{json.dumps(self.attempts(), indent=1)}")

    def wait_for_report(self):
        self.wait_for((self.run_folder / "report" / "fleet.json").exists, "the report")
        self.wait_for_empty_queue()
        return json.loads((self.run_folder / "report" / "fleet.json").read_text())

    def wait_for_empty_queue(self):
        self.wait_for(lambda: self.cluster.slurm("squeue", "-h") == "", "an empty queue")

    def check_nothing_is_lost(self, before):
        """What snapshots had then, and have now, is in the hub's store."""
        merged = findings_in(self.run_folder / "hub.db")
        self.assertLessEqual(set(before) | set(self.snapshot_findings()), set(merged))
        self.assertTrue(merged)


class Nodes(FleetTest):
    def test_a_killed_node_and_a_killed_hub_lose_nothing_that_was_published(self):
        jobs = self.submit(3, *self.plans())
        self.wait_for(lambda: self.reducers() and len(self.shards()) == 3 and "0000-1" in self.attempts() and
                      all(status["snapshot"] > 0 for status in self.shards().values()),
                      "snapshots of all shards")
        # The hub stays.
        other = self.attempts()["0000-1"]["host"]
        lost_node = {"n1": "n2", "n2": "n1"}[other]
        self.cluster.kill_node(lost_node)
        lost = [name for name, status in self.shards().items() if status["host"] == lost_node]
        self.assertTrue(lost)
        before = self.snapshot_findings()
        again = [f"{name[:5]}2" for name in lost]
        # An attempt is claimed before it takes the snapshot up, and says so only then.
        self.wait_for(lambda: all(self.attempts().get(name, {}).get("taken_up") == 1 for name in again),
                      "the lost shards on the other node, with their snapshots")
        self.assertEqual({self.attempts()[name]["host"] for name in again}, {other})
        # As long as the hub answers no finding is reduced by two shards.
        self.assertEqual({finding: shards for finding, shards in self.reducers().items() if len(shards) > 1},
                         {})
        # The hub, too: the last job merges what it had not.
        self.assertIsNotNone(self.cluster.slurm("scancel", "--signal=KILL", "--full", jobs["hub"]))
        report = self.wait_for_report()
        self.check_nothing_is_lost(before)
        self.assertEqual([shard["state"] for shard in report["shards"]], ["ended"] * 3)
        self.assertEqual(sorted(f"{loss['number']:04}-{loss['attempt']}" for loss in report["losses"]
                                if loss["job"] == "shard"),
                         sorted(lost))
        self.assertGreater(report["hub"]["granted"], 0, report["hub"])
        # The page of the night, and its exit code.
        told = self.fleet("report", expect=(1,)).stdout
        self.assertIn("Lost", told)
        self.assertTrue((self.run_folder / "report" / "index.html").exists())
        plain = subprocess.run([REDZONE, "report", "--db", self.run_folder / "hub.db"], capture_output=True,
                               text=True)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("of 3", plain.stdout)
        self.cluster.start_node(lost_node)
        self.cluster.wait_for_nodes()


class Crashes(FleetTest):
    def test_a_hub_and_a_night_that_crash_are_started_again(self):
        self.submit(2, *self.plans())
        self.wait_for(lambda: self.reducers() and all(
            self.attempts().get(name, {}).get("snapshot", 0) > 0 for name in ("0001-1", "0002-1")),
            "snapshots of both shards")
        before = self.snapshot_findings()
        node = self.attempts()["0001-1"]["host"]
        self.cluster.kill_program("nightly", "SLURM_ARRAY_TASK_ID=1")
        self.cluster.kill_program("hub", "SLURM_JOB_NAME=redzone-hub")
        self.wait_for(lambda: self.attempts().get("0001-2", {}).get("taken_up") == 1, "shard 1 again")
        self.assertNotEqual(self.attempts()["0001-2"]["host"], node, "there is another node")
        report = self.wait_for_report()
        self.check_nothing_is_lost(before)
        self.assertIn("0000-2", self.attempts(), "the hub again, or the last job")
        self.assertEqual([shard["state"] for shard in report["shards"]], ["ended"] * 2)
        why = {(loss["job"], loss["number"], loss["attempt"]): loss["why"] for loss in report["losses"]}
        self.assertEqual(why[("shard", 1, 1)], "the night was killed by signal 9")
        self.assertEqual(why[("hub", 1, 1)], "it ended without a word")
        # A hub that was away for a while leaves few findings that two shards reduced.
        reducers = self.reducers()
        twice = [finding for finding, shards in reducers.items() if len(shards) > 1]
        print(f"{len(twice)} of {len(reducers)} findings were reduced by both shards", file=sys.stderr)


class TimeLimits(FleetTest):
    def test_a_time_limit_ends_no_shard_for_good(self):
        site = self.root / "short.toml"
        # Slurm looks every half minute whether the signal is due in the next: it comes after 15 to 45 s,
        # before the night ends, and leaves more than a minute to publish.
        site.write_text('shards = ["--gres=gpu:1", "--time=2", "--signal=B:TERM@75"]\nsnapshot_seconds = 2\n')
        self.submit(1, "--time", "55s", site=site)
        self.wait_for(lambda: self.attempts().get("0001-1", {}).get("ended"), "the signal")
        self.assertEqual(self.attempts()["0001-1"]["exit_code"], 130)
        before = self.snapshot_findings()
        report = self.wait_for_report()
        self.assertGreater(report["shards"][0]["attempts"], 1)
        self.assertEqual(report["shards"][0]["state"], "ended")
        self.assertEqual(report["losses"], [])
        self.check_nothing_is_lost(before)


class Models(FleetTest):
    def test_shards_and_examinations_run_on_their_model_and_go_on_where_they_were_preempted(self):
        site = self.root / "models.toml"
        site.write_text(SITE + "shards_reduce = false\n" + "".join(
            f'[[model]]\nname = "m{n}"\noptions = ["--constraint=made-up-{n}"]\n' for n in (100, 200)))
        jobs = self.submit(2, *self.plans(), site=site)
        self.wait_for(lambda: self.attempts().get("0001-1", {}).get("snapshot", 0) > 0 and
                      self.snapshot_findings(), "a snapshot of shard 1")
        before = self.snapshot_findings()
        # As a preemption without a signal: nobody is warned, and the job is queued again.
        self.cluster.kill_task(1)
        task = f"{jobs['shards'][0]}_1"

        def ended():
            state = self.cluster.slurm("squeue", "-h", "-o", "%t", "-j", task)
            return state is not None and "R" not in state

        self.wait_for(ended, "the end of shard 1")
        self.assertIsNotNone(self.cluster.slurm("scontrol", "requeue", task))
        self.wait_for(lambda: "0001-2" in self.attempts(), "shard 1 again")
        report = self.wait_for_report()
        self.check_nothing_is_lost(before)
        self.assertEqual([(loss["job"], loss["number"], loss["attempt"]) for loss in report["losses"]],
                         [("shard", 1, 1)])
        self.assertEqual(self.attempts()["0001-2"]["taken_up"], 1)
        self.assertEqual([(shard["host"], shard["state"]) for shard in report["shards"]],
                         [("n1", "ended"), ("n2", "ended")])
        self.assertEqual([(model["name"], model["host"], model["state"]) for model in report["models"]],
                         [("m100", "n1", "ended"), ("m200", "n2", "ended")])
        # Its runs came by the snapshot of the examination.
        with tempfile.TemporaryDirectory() as folder:
            hub = sqlite3.connect(shutil.copy(self.run_folder / "hub.db", folder))
            bisected, = hub.execute("SELECT count(DISTINCT finding_id) FROM probes").fetchone()
        self.assertGreaterEqual(bisected, len(before))
        self.assertEqual(self.reducers(), {})
        self.assertTrue(all(findings_in(self.run_folder / "hub.db").values()), "examinations reduce them")


class Fleets(FleetTest):
    def test_a_full_disk_of_a_node_ends_its_shard_and_loses_nothing(self):
        disk = self.root / "disk"
        disk.mkdir()
        self.mount("size=700k", disk)
        self.addCleanup(lambda: subprocess.run(["umount", "--lazy", disk], check=True))
        shipped = REDZONE.parent.parent / "lib/redzone/fleet/job.sbatch"
        # One of the two shards is on it.
        (self.root / "job.sbatch").write_text(shipped.read_text().replace(
            "set -u\n", f'set -u\n[ "${{SLURM_ARRAY_TASK_ID:-}}" != 1 ] || REDZONE_LOCAL={disk}\n'))
        site = self.root / "disk.toml"
        site.write_text(SITE + 'script = "job.sbatch"\n')
        # The disk is full before a hundred plans have run.
        self.submit(2, "--plans", "100", site=site)
        report = self.wait_for_report()
        self.assertIn("no space left", self.logs())
        self.assertEqual(report["shards"][1]["state"], "ended")
        self.assertNotEqual(report["shards"][0]["state"], "running")
        self.check_nothing_is_lost({})
        self.assertGreater(report["shards"][1]["plans"], 0)

    def test_only_what_is_cancelled_or_stopped_ends_for_good(self):
        jobs = self.submit(2, "--time", "3600s")
        first, last = (f"{jobs['shards'][0]}_{n}" for n in (1, 2))
        self.wait_for(lambda: self.snapshot_findings() and {"0001-1", "0002-1"} <= self.attempts().keys(),
                      "a finding, and both shards")
        before = self.snapshot_findings()
        status = self.fleet("status").stdout
        self.assertIn("running", status)
        self.assertIn("redzone-hub", status)
        # As a preemption with a signal, of the task whose number is that of the whole array.
        self.assertIsNotNone(self.cluster.slurm("scancel", "--signal=TERM", "--batch", last))
        self.wait_for(lambda: "0002-2" in self.attempts(), "shard 2 again")
        self.assertEqual(self.attempts()["0002-1"]["exit_code"], 130)
        self.assertEqual(self.attempts()["0001-1"]["ended"], "", "it had no signal")
        self.assertIsNotNone(self.cluster.slurm("scancel", first))
        self.wait_for(lambda: self.attempts()["0001-1"]["ended"], "the end of shard 1")
        self.wait_for(lambda: self.cluster.slurm("squeue", "-h", "-j", first) == "",
                      "a queue without the shard that was cancelled")
        self.fleet("stop")
        report = self.wait_for_report()
        self.assertEqual({shard["state"] for shard in report["shards"]}, {"cut off"})
        self.assertEqual([shard["attempts"] for shard in report["shards"]], [1, 2])
        self.check_nothing_is_lost(before)

    def test_a_shared_folder_that_cannot_be_written_submits_nothing(self):
        self.run_folder.mkdir()
        for options, code, says in (("size=4k", 3, "No space left"), ("ro", 2, "Read-only")):
            self.mount(options, self.run_folder)
            try:
                if code == 3:
                    (self.run_folder / "full").write_bytes(b"x" * 4096)
                refused = self.fleet("submit", "--shards", "2", *TARGETS, expect=(code,))
                self.assertIn(says, refused.stderr)
                self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
                self.assertFalse((self.run_folder / "fleet.json").exists())
                self.assertEqual(self.cluster.slurm("squeue", "-h"), "")
            finally:
                subprocess.run(["umount", "--lazy", self.run_folder], check=True)

    def test_mistakes_submit_nothing(self):
        site = self.root / "wrong.toml"
        site.write_text('sbatch = ["--partition=nowhere"]\nshards = []\n')
        wrong = self.fleet("submit", "--shards", "2", "--site", site, *TARGETS, expect=(2,))
        self.assertIn("invalid partition specified: nowhere", wrong.stderr)
        self.assertEqual(len(wrong.stderr.splitlines()), 1, wrong.stderr)
        self.assertFalse((self.run_folder / "fleet.json").exists(), "another fleet can use the folder")
        none = self.fleet("submit", "--shards", "2", *TARGETS, expect=(3,),
                          environment=dict(os.environ, PATH="/nonexistent"))
        self.assertIn("fleets need Slurm's commands", none.stderr)
        (self.root / "newer.db").write_bytes(b"")
        newer = sqlite3.connect(self.root / "newer.db")
        newer.execute("PRAGMA application_id = 0x52445a4e")
        newer.execute("PRAGMA user_version = 1000")
        newer.execute("CREATE TABLE t (x)")
        newer.commit()
        newer.close()
        other = self.fleet("submit", "--shards", "2", "--known", self.root / "newer.db", *TARGETS,
                           expect=(2,))
        self.assertEqual(len(other.stderr.splitlines()), 1, other.stderr)
        if os.getuid() != 0:  # root may write everywhere
            self.run_folder.chmod(0o555)
            self.fleet("submit", "--shards", "2", *TARGETS, expect=(2,))
            self.run_folder.chmod(0o755)
        self.assertEqual(self.cluster.slurm("squeue", "-h"), "")
        jobs = self.submit(1, "--time", "3600s")
        second = self.fleet("submit", "--shards", "2", *TARGETS, expect=(2,))
        self.assertIn("holds a fleet already", second.stderr)
        self.assertEqual(json.loads((self.run_folder / "jobs.json").read_text()), jobs)
        for job in [*jobs["shards"], *jobs["examinations"], jobs["hub"], jobs["report"]]:
            self.cluster.slurm("scancel", job)
        self.wait_for_empty_queue()


if __name__ == "__main__":
    unittest.main(verbosity=2)
