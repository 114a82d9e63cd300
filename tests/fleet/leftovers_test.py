"""What leftovers.py ends and removes; what needs a Slurm is in slurm_test.py."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import leftovers
from cluster import Ports

# Its own child does not tell whose it is. The job does not end with the child.
JOB = "env -i sleep 1000 & echo $!; exec sleep 1000"


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Leftovers(unittest.TestCase):
    def folder(self, prefix="rz-fleet-"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "slurm").mkdir()
        return folder

    def watching(self, folder):
        watching = subprocess.Popen([sys.executable, "-B", leftovers.__file__, folder / "slurm", folder],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        self.addCleanup(watching.kill)
        assert watching.stdout
        self.assertEqual(watching.stdout.readline().strip(), leftovers.WATCHING)
        return watching

    def job(self, folder):
        """The process, and a child of it in another environment."""
        job = subprocess.Popen(["sh", "-c", JOB], stdout=subprocess.PIPE, text=True, start_new_session=True,
                               env=dict(os.environ, SLURM_CONF=str(folder / "slurm" / "slurm.conf")))
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        assert job.stdout
        self.addCleanup(job.stdout.close)
        child = int(job.stdout.readline())
        self.addCleanup(kill, child)
        return job, child

    def test_ends_the_jobs_of_its_cluster_and_what_they_started(self):
        folder, other = self.folder(), self.folder()
        (job, child), (foreign, foreign_child) = self.job(folder), self.job(other)
        said, _ = self.watching(folder).communicate("the folder is still needed", timeout=100)
        self.assertEqual(said.strip(), leftovers.ENDED)
        self.assertEqual(job.wait(timeout=100), -9)
        self.assertTrue(leftovers.is_dead(child))
        self.assertTrue(folder.exists())
        self.assertEqual((foreign.poll(), leftovers.is_dead(foreign_child)), (None, False))
        self.assertEqual(leftovers.kill_all(other / "slurm"), set())
        self.assertTrue(leftovers.is_dead(foreign_child))

    def test_removes_the_folder_of_one_that_was_killed_and_no_other(self):
        folder, foreign = self.folder(), self.folder("other-")
        self.assertEqual(self.watching(folder).communicate(timeout=100), ("", ""))
        self.assertFalse(folder.exists())
        watching = self.watching(foreign)
        said, why = watching.communicate(timeout=100)
        self.assertEqual((said, watching.returncode), ("", 1))
        self.assertIn("is no folder of these tests", why)
        self.assertTrue((foreign / "slurm").exists())

    def test_removes_nothing_that_is_mounted(self):
        folder, elsewhere = self.folder(), self.folder()
        (elsewhere / "kept").touch()
        ran = subprocess.run(["mount", "--bind", elsewhere, folder / "slurm"], capture_output=True, text=True)
        if ran.returncode != 0:
            self.skipTest(f"this user, or this container, mounts nothing: {ran.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", folder / "slurm"], capture_output=True)
        with unittest.mock.patch("subprocess.run"):  # it cannot be unmounted
            leftovers.remove(folder)
        self.assertTrue((folder / "slurm" / "kept").exists())
        leftovers.remove(folder)
        self.assertFalse(folder.exists())
        self.assertTrue((elsewhere / "kept").exists())


class PortsOfClusters(unittest.TestCase):
    def test_two_clusters_never_have_the_same(self):
        first, second = Ports(), Ports()
        self.addCleanup(first.close)
        self.addCleanup(second.close)
        self.assertTrue(set(first.numbers).isdisjoint(second.numbers))
        numbers = first.numbers
        first.close()
        third = Ports()
        self.addCleanup(third.close)
        self.assertEqual(third.numbers, numbers)


if __name__ == "__main__":
    unittest.main()
