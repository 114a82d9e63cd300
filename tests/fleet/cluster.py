"""A real Slurm of two nodes on this machine, with a configuration, a key and ports of its own.

Nothing of the system's configuration is read or changed. It needs what ./scripts/setup --fleet
installs, and runs as the user who starts it. All its processes end with the one that has started it,
however that ends: leftovers.py sees to that.
"""
import contextlib
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import sys
import time

from leftovers import ENDED, WATCHING, parent_of, processes_of

CONFIGURATION = """
ClusterName=redzone
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits for as long as a credential lives.
AuthInfo=socket={root}/munge.socket,cred_expire=5
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
# The shards of a fleet are spread over both nodes.
SelectTypeParameters=CR_CPU,CR_LLN
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=0
ReturnToService=2
# A node that is busy for less is not lost.
SlurmdTimeout=20
SlurmctldTimeout=20
KillWait=5
GresTypes=gpu
NodeName=DEFAULT Gres=gpu:4 CPUs=4 State=UNKNOWN
# The features are in the place of models of GPU.
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} Feature=made-up-100
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} Feature=made-up-200
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=ALL MaxTime=INFINITE State=UP
PartitionName=cpu Nodes=ALL MaxTime=INFINITE State=UP
"""
# For one wait, and for a command of Slurm. Nothing takes as long, however busy the machine is: these end
# what would never end.
LONGEST_WAIT, LONGEST_COMMAND = 400, 60


class Ports:
    """Three ports that nobody uses, and no other cluster of these tests will until close(). They are
    below those that the kernel gives to connections."""

    def __init__(self):
        first = os.getpid() % 1500
        for group in (*range(first, 1500), *range(first)):
            self.numbers = [20000 + 8 * group + n for n in range(3)]
            # A name that the kernel keeps as long as the socket is open, for those who share the ports.
            self.claim = socket.socket(socket.AF_UNIX)
            try:
                self.claim.bind(f"\0rz-fleet-ports-{group}")
                if self.are_free():
                    return
            except OSError:
                pass
            self.claim.close()
        raise OSError("no free ports")

    def are_free(self):
        with contextlib.ExitStack() as sockets:
            for port in self.numbers:
                try:
                    sockets.enter_context(socket.socket()).bind(("", port))
                except OSError:
                    return False
        return True

    def close(self):
        self.claim.close()


class Cluster:
    """Started by the constructor; stop() ends every process of it."""

    def __init__(self, root, folder):
        """`root` is a folder in `folder`, which is removed if this process is killed."""
        self.root = pathlib.Path(root)
        for name in ("state", "spool-n1", "spool-n2"):
            (self.root / name).mkdir()
        self.root.chmod(0o755)
        self.environment = dict(os.environ, SLURM_CONF=str(self.root / "slurm.conf"))
        # Not the variables USER and LOGNAME, which another user may have left.
        user = pwd.getpwuid(os.getuid()).pw_name
        self.ports = Ports()
        (self.root / "slurm.conf").write_text(CONFIGURATION.format(
            root=self.root, host=socket.gethostname(), user=user, ports=self.ports.numbers))
        # In the place of GPUs: Slurm wants devices, and opens none.
        (self.root / "gres.conf").write_text("".join(
            f"NodeName=n[1-2] Name=gpu File=/dev/{name}\n" for name in ("null", "zero", "full", "random")))
        self.processes = {}
        # In a session of its own and no child, so that what ends this process and its children does not
        # end it.
        self.leftovers = subprocess.Popen(
            ["setsid", "--fork", sys.executable, "-B", pathlib.Path(__file__).with_name("leftovers.py"),
             self.root, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        key = self.root / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        try:
            assert self.leftovers.stdout
            if self.leftovers.stdout.readline().strip() != WATCHING:
                raise RuntimeError("leftovers.py does not run")
            self.start("munged", "--foreground", f"--key-file={key}", f"--socket={self.root}/munge.socket",
                       f"--pid-file={self.root}/munged.pid", f"--seed-file={self.root}/munged.seed",
                       f"--log-file={self.root}/munged.log", "--force")
            credential = ["munge", "-n", f"--socket={self.root}/munge.socket"]
            self.wait_for(lambda: self.slurm(*credential), "a credential of munged")
            self.start("slurmctld", "-D", "-i")
            self.wait_for(lambda: "is UP" in (self.slurm("scontrol", "ping") or ""), "slurmctld")
            for node in ("n1", "n2"):
                self.start_node(node)
            self.wait_for_nodes()
        except BaseException:
            self.stop()
            raise

    def start(self, program, *arguments, name=None):
        path = pathlib.Path("/usr/sbin") / program
        with (self.root / f"{name or program}.out").open("ab") as output:
            self.processes[name or program] = subprocess.Popen(
                [path, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)

    def start_node(self, node):
        self.start("slurmd", "-D", "-N", node, name=node)

    def wait_for_nodes(self):
        idle = ("sinfo", "-h", "-N", "-t", "idle", "-o", "%N")
        # A node has a line for each of its partitions.
        self.wait_for(lambda: set((self.slurm(*idle) or "").split()) == {"n1", "n2"}, "two idle nodes")

    def slurm(self, *words):
        """What a command of Slurm prints; None if it fails, or does not answer."""
        try:
            ran = subprocess.run(words, env=self.environment, capture_output=True, text=True,
                                 timeout=LONGEST_COMMAND)
        except subprocess.TimeoutExpired:
            return None
        return ran.stdout if ran.returncode == 0 else None

    def told(self):
        """What Slurm says of its nodes, its queue, and the jobs that it still knows."""
        asked = (("sinfo", "-N", "-l"), ("squeue", "-l"), ("scontrol", "--oneliner", "show", "job"))
        return "".join(f"\n== {' '.join(words)}\n{self.slurm(*words)}" for words in asked)

    def logs(self):
        return "".join(f"\n== {log.name}\n{log.read_text(errors='replace')[-1500:]}"
                       for log in sorted([*self.root.glob("*.log"), *self.root.glob("*.out")]))

    def wait_for(self, condition, what):
        """Raises TimeoutError also where a daemon has ended that nobody has told to."""
        begun = time.monotonic()
        while not condition():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise TimeoutError(f"{what}: {name} has ended with {process.returncode}{self.logs()}")
            if time.monotonic() - begun > LONGEST_WAIT:
                load = pathlib.Path("/proc/loadavg").read_text().strip()
                raise TimeoutError(
                    f"{what}: not after {LONGEST_WAIT} s, load {load}{self.told()}{self.logs()}")
            time.sleep(0.3)
        print(f"{time.monotonic() - begun:6.1f} s until: {what}", file=sys.stderr, flush=True)

    def processes_with(self, *variables):
        """Those of this cluster's jobs whose environment has all of these."""
        return processes_of(self.root, *variables)

    def kill_program(self, action, *variables):
        """Redzone's processes with this word on their command line, in jobs with these variables."""
        for pid in self.processes_with(*variables):
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if action.encode() in words[1:3]:
                    os.kill(pid, signal.SIGKILL)

    def processes_on(self, node):
        """Those of the node's jobs, with the step daemons above them."""
        pids = self.processes_with(f"SLURMD_NODENAME={node}")
        pids |= {parent_of(pid) for pid in pids}
        return pids - {0, 1, os.getpid(), *(p.pid for p in self.processes.values())}

    def kill_task(self, task):
        """The processes of this task of an array, without a warning; those that start meanwhile, too."""
        for _ in range(3):
            for pid in self.processes_with(f"SLURM_ARRAY_TASK_ID={task}"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def kill_node(self, node):
        """As a power cut does: its daemon, the steps' daemons, and their processes, at once."""
        slurmd = self.processes.pop(node)
        slurmd.kill()
        slurmd.wait()
        for _ in range(3):  # what was being started meanwhile
            for pid in self.processes_on(node):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def stop(self):
        """Ends the daemons in the order in which none of them complains, and then what is left of all."""
        for node in {"n1", "n2"} & set(self.processes):
            self.kill_node(node)
        for process in reversed(list(self.processes.values())):
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.ports.close()
        try:
            said, _ = self.leftovers.communicate("the folder is still needed", timeout=120)
        except subprocess.TimeoutExpired:
            said = "leftovers.py does not end"
        if said.strip() != ENDED:
            raise RuntimeError(f"processes of the cluster may be left: {said.strip() or 'leftovers.py died'}")
