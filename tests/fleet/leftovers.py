"""Ends what is left of a cluster (cluster.py) when the process that has started it has ended.

    leftovers.py ROOT

Waits until nobody has its standard input open for writing any more. Then kills all processes of the
cluster, whose configuration is ROOT/slurm.conf; prints those that do not end. If it was sent nothing,
the process was killed: it unmounts what is mounted in the folder of ROOT, and removes that folder.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time


def environment_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def processes_of(root, *variables):
    """Those whose environment has the cluster's configuration, and all of these variables."""
    wanted = {f"SLURM_CONF={root}/slurm.conf".encode(), *(v.encode() for v in variables)}
    return {int(entry.name) for entry in pathlib.Path("/proc").iterdir()
            if entry.name.isdigit() and wanted <= set(environment_of(int(entry.name)))}


def kill_all(root):
    """Those that have not ended after ten seconds. A process that is killed may have started another."""
    end = time.monotonic() + 10
    while (left := processes_of(root)) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    return left


def remove(folder):
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        mounted = line.split()[1]
        if mounted.startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", mounted])
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    cluster = pathlib.Path(sys.argv[1])
    told = sys.stdin.read()
    left = kill_all(cluster)
    if left:
        print(*sorted(left))
    if not told:
        remove(cluster.parent)
