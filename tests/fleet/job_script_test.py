"""The batch script of a fleet's jobs without Slurm: which job it has queued again, by the end of its program.

    job_script_test.py JOB_SBATCH

Slurm's commands and Redzone are scripts here: what they are asked is kept. tests/fleet/slurm_test.py has the
real Slurm.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
SHOWN = ("JobId=7 JobState=RUNNING Reason=None Partition=gpu ExcNodeList=(null) Features=h100 "
         "TresPerNode=gres:gpu:1")


class JobScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "run").mkdir()
        self.shown, self.others = SHOWN, 0

    def program(self, name, text):
        file = self.folder / name
        file.write_text("#!/bin/bash\n" + text)
        file.chmod(0o755)
        return file

    def ran(self, code, role="shard", restarts=None):
        """What Slurm was asked to do when the program ended with `code`, and how the script ended."""
        asked = self.folder / "asked"
        asked.write_text("")
        self.program("scontrol", f'[[ "$*" != *show* ]] || exec echo "{self.shown}"\necho "$*" >>{asked}\n')
        self.program("sbatch", f"exit {self.others}\n")
        redzone = self.program("redzone", f'[ {code} -lt 200 ] || kill -9 $$\nexit {code}\n')
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", SLURM_JOB_ID="7",
                           SLURMD_NODENAME="n1", SLURM_ARRAY_JOB_ID="5", SLURM_ARRAY_TASK_ID="2")
        if restarts is not None:
            environment["SLURM_RESTART_COUNT"] = str(restarts)
        ended = subprocess.run(["bash", SCRIPT, role, redzone, self.folder / "run", "f1", "1"], text=True,
                               capture_output=True, env=environment, timeout=60)
        return asked.read_text().splitlines(), ended.returncode

    def test_what_has_ended_is_complete(self):
        for code in (0, 1, 4):
            self.assertEqual(self.ran(code), ([], 0))

    def test_what_was_interrupted_goes_on_unless_somebody_has_ended_it(self):
        self.assertEqual(self.ran(130, restarts=50)[0], ["requeue 5_2"])
        self.shown = SHOWN.replace("RUNNING", "CANCELLED,COMPLETING")
        self.assertEqual(self.ran(130)[0], [])
        self.assertEqual(self.ran(75)[0], [])
        self.shown = self.shown.replace("Reason=None", "Reason=TimeLimit")
        self.assertEqual(self.ran(130)[0], ["requeue 5_2"])
        (self.folder / "run" / "stop").touch()
        self.assertEqual(self.ran(130)[0], [])
        self.assertEqual(self.ran(75)[0], [])

    def test_what_failed_goes_on_on_another_node(self):
        self.assertEqual(self.ran(75, restarts=50)[0], ["requeue 5_2", "update JobId=5_2 ExcNodeList=n1"])
        self.shown = SHOWN.replace("ExcNodeList=(null)", "ExcNodeList=n7")
        self.assertEqual(self.ran(75)[0], ["requeue 5_2", "update JobId=5_2 ExcNodeList=n7,n1"])
        self.others = 1  # there is no other node
        self.assertEqual(self.ran(75)[0], ["requeue 5_2"])

    def test_what_cannot_count_its_failures_is_started_a_few_times(self):
        for role in ("shard", "hub", "examine"):
            for code in (2, 3, 200):  # 200: killed
                self.assertEqual(self.ran(code, role)[0][:1], ["requeue 5_2"])
                self.assertEqual(self.ran(code, role, restarts=2)[0][:1], ["requeue 5_2"])
                self.assertEqual(self.ran(code, role, restarts=3)[0], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
