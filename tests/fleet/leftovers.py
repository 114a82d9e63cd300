"""Ends what is left of a cluster (cluster.py) when the process that has started it has ended.

    leftovers.py ROOT FOLDER

Says "watching", and waits until nobody has its standard input open for writing any more. Then kills all
processes of the cluster, whose configuration is ROOT/slurm.conf. If it was sent anything, its last line is
"ended", or says which do not end. Otherwise the process was killed: it unmounts what is mounted in FOLDER,
and removes that folder, whose name has to begin with rz-fleet-.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

WATCHING, ENDED = "watching", "ended"


def all_processes():
    return {int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()}


def environment_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return 0


def processes_of(root, *variables):
    """Those whose environment has the cluster's configuration, and all of these variables."""
    wanted = {f"SLURM_CONF={root}/slurm.conf".encode(), *(v.encode() for v in variables)}
    return {pid for pid in all_processes() if wanted <= set(environment_of(pid))}


def is_daemon_of(root, pid):
    """Whether it is one of Slurm's programs, with a file of the cluster open: its log. A step's daemon
    may have written its title over its environment, and no daemon of a node is its parent."""
    try:
        if not pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name.startswith("slurm"):
            return False
        opened = [os.readlink(file) for file in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
        return any(file.startswith(f"{root}/") for file in opened)
    except OSError:
        return False


def with_descendants(pids):
    """A job may clear the environment of what it starts."""
    parents = {pid: parent_of(pid) for pid in all_processes()}
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def all_of(root):
    daemons = {pid for pid in all_processes() if is_daemon_of(root, pid)}
    return with_descendants(processes_of(root) | daemons) - {os.getpid()}


def is_dead(pid):
    """Ended, though its parent may not have asked yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (OSError, IndexError):
        return True


def kill_all(root):
    """Those that have not ended after a minute. A process that is killed may have started another."""
    end = time.monotonic() + 60
    seen: set[int] = set()
    while True:
        # What was killed before has lost its environment before it has ended, and those below it
        # their parent.
        seen = {pid for pid in seen | all_of(root) if not is_dead(pid)}
        if not seen or time.monotonic() > end:
            return seen
        for pid in seen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


def mounted_in(folder):
    places = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    return [place for place in places if place == str(folder) or place.startswith(f"{folder}/")]


def remove(folder):
    """Never what is mounted in it."""
    folder = folder.resolve()
    if not folder.name.startswith("rz-fleet-"):
        raise ValueError(f"{folder} is no folder of these tests")
    for place in reversed(mounted_in(folder)):
        subprocess.run(["umount", "--lazy", place])
    if not mounted_in(folder):
        # Not rmtree(): a mount that is being made meanwhile is another file system.
        subprocess.run(["rm", "-rf", "--one-file-system", "--", folder])


if __name__ == "__main__":
    cluster, whole = map(pathlib.Path, sys.argv[1:])
    print(WATCHING, flush=True)
    told = sys.stdin.read()
    left = kill_all(cluster)
    if told:
        print(f"{sorted(left)} do not end" if left else ENDED)
    else:
        remove(whole)
