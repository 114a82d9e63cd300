"""A process for each trial: forked from one that has imported what is slow to import, or a new
interpreter where a forked process may not be as good.
"""

import ast
import atexit
import contextlib
import ctypes
import importlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

# These modules take seconds to import. They can be imported before the fork of a trial, because in the
# environment of trials their import starts no thread and opens no GPU.
SLOW = ("numpy", "torch", "triton")
RESTARTED = "REDZONE_PROGRAM_RESTARTED"
PR_SET_PDEATHSIG = 1


def environment_of(plan: Mapping[str, Any], source: str) -> dict[str, str]:
    """The environment of the trials of a file with this source."""
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(variable, "1")
    # Fixes the iteration order of sets of strings, so that a failure that depends on it occurs in each
    # process.
    environment["PYTHONHASHSEED"] = "0"
    if plan["device"] != "cuda":
        environment.setdefault("TRITON_INTERPRET", "1")
        # Helion refuses to interpret if Triton's variable is "1", but other code checks for "1".
        if environment["TRITON_INTERPRET"] == "1" and re.search(r"\bhelion\b", source):
            environment["TRITON_INTERPRET"] = "true"
        environment.setdefault("HELION_INTERPRET", "1")
    return environment


def restart(plan: Mapping[str, Any], source: str) -> dict[str, str]:
    """Starts the program anew, with the same words, where the interpreter has another environment than
    trials have: it and native libraries read their variables when they start. Returns the environment
    of trials: in the program that was started so, and where it cannot be started."""
    restarted = os.environ.pop(RESTARTED, None) is not None
    environment = environment_of(plan, source)
    words = sys.orig_argv
    # Excludes a module, a command, and standard input, which can be read only once.
    a_file = words[-len(sys.argv) :] == sys.argv and os.path.isfile(sys.argv[0])
    if not restarted and environment != dict(os.environ) and a_file and hasattr(os, "fork"):
        with contextlib.suppress(OSError):
            os.execve(sys.executable, [sys.executable, *words[1:]], {**environment, RESTARTED: "1"})
    return environment


def imported_by_statement(statement: ast.AST) -> list[str]:
    """Top-level names of modules; a relative import gives "", as no module is called."""
    if isinstance(statement, ast.Import):
        return [alias.name.partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        return ["" if statement.level else str(statement.module).partition(".")[0]]
    return []


def slow_imports(source: str, folder: str) -> list[str]:
    """Those of SLOW that a trial imports before the file can have changed what they do, as by a variable
    of the environment. `folder` has the user's modules that the file imports, and is empty without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # trials print the warnings of the file
        tree = ast.parse(source)

    def is_known(name: str) -> bool:
        beside = os.path.join(folder, name)
        if folder and (os.path.exists(beside) or os.path.exists(f"{beside}.py")):
            return False
        return name in SLOW or name == "redzone" or name in sys.stdlib_module_names

    names: list[str] = []
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the docstring
        imported = imported_by_statement(statement)
        if not imported or not all(map(is_known, imported)):
            break
        names += [name for name in imported if name in SLOW]
    # The module that makes the arrays is imported after the whole file has run, because the file may change
    # the environment or the module search path.
    all_known = all(is_known(name) for node in ast.walk(tree) for name in imported_by_statement(node))
    if all_known and not re.search(r"env|\bsys\b|importlib|__import__", source):
        if "triton" in names:
            names.append("torch")
        names += [kind for kind in ("numpy", "torch") if declares_arrays(tree, kind)]
    return names


def declares_arrays(tree: ast.AST, kind: str) -> bool:
    """Whether a call in the file has arrays="kind"."""
    given = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "arrays"]
    return any(isinstance(value, ast.Constant) and value.value == kind for value in given)


def imports_to_share(
    plan: Mapping[str, Any], source: str, environment: Mapping[str, str]
) -> list[str] | None:
    """What is to be imported before trials are forked. None where a process that is forked from this one
    may not be as good as a new interpreter in that environment."""
    # Flags of the interpreter may make it ignore PYTHONHASHSEED.
    if sys.flags.hash_randomization or environment != dict(os.environ):
        return None
    if not plan["forks"] or not hasattr(os, "fork") or not os.path.isdir("/proc/self/task"):
        return None
    try:
        return slow_imports(source, plan["folder"]) if may_fork() else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a trial reports the error
        return None


def may_fork() -> bool:
    """Nobody would release the locks of another thread, and the driver of a GPU cannot be forked."""
    torch = sys.modules.get("torch")
    threads = len(os.listdir("/proc/self/task"))
    return threads == 1 and threading.active_count() == 1 and not (torch and torch.cuda.is_initialized())


def run_with(imports: list[str], run: Callable[[], int], timeout_s: float) -> int | None:
    """Runs it in a process that has imported these and may fork; its exit code. None, and nothing was
    run, where there is none: an import fails, which a new interpreter says, kills the process, does not
    end in time, or starts a thread."""
    imported, says = os.pipe()

    def import_and_run() -> int:
        os.close(imported)
        try:
            for name in imports:
                importlib.import_module(name)
        except (Exception, SystemExit):
            return 0
        if not may_fork():
            return 0
        os.write(says, b"1")
        os.close(says)
        return run()

    child = fork(import_and_run)
    os.close(says)
    try:
        if select.select([imported], [], [], timeout_s)[0] and os.read(imported, 1):
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            wait(child, 2)  # the interrupted process removes its files
        raise
    finally:
        os.close(imported)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def flush() -> None:
    """A file may have put anything in the place of the streams."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def hear_of_children() -> None:
    """Whoever has started this may have SIGCHLD ignored, and then nobody knows how a process ended."""
    if hasattr(signal, "SIGCHLD"):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def fork(run: Callable[[], Any]) -> int:
    """The number of a process that runs it. It is killed when this one ends."""
    flush()
    hear_of_children()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
        if os.getppid() != parent:  # the parent has already ended
            os._exit(1)
        become(run)
    return child


def run_forked(trial: Callable[[], Any], timeout_s: float) -> int:
    """Runs the trial in a process of its own. Its exit code, negative for a signal, as of subprocess;
    raises TimeoutError."""
    return wait(fork(trial), timeout_s)


def become(run: Callable[[], Any]) -> NoReturn:
    """What an interpreter does that runs it and ends, but for taking its modules down: of these most are
    shared, and none has anything to say of a trial."""
    code: Any = 1
    try:
        # Resets state as in a new interpreter: the temporary folder is determined on first use, and
        # unseeded random numbers differ.
        tempfile.tempdir = None
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed()
        try:
            code = run() or 0
        except SystemExit as end:
            code = end.code or 0
            if not isinstance(code, int):
                print(code, file=sys.stderr)
                code = 1
        except KeyboardInterrupt:
            sys.excepthook(*sys.exc_info())
            flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        threading._shutdown()  # type: ignore[attr-defined]  # joins threads that are no daemons
        atexit._run_exitfuncs()
    finally:
        flush()
        ctypes.CDLL(None).fflush(None)
        os._exit(code & 0xFF)


def wait(child: int, timeout_s: float) -> int:
    """How the process ends; it is killed if it does not in time, or if this one is interrupted."""
    end, pause = time.monotonic() + timeout_s, 0.001
    try:
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
    except BaseException:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        raise


def run_interpreter(words: list[str], environment: Mapping[str, str], timeout_s: float) -> int:
    """The same of this program with other words, in a new interpreter."""
    hear_of_children()
    words = [sys.executable, os.path.abspath(sys.argv[0]), *words]
    try:
        return subprocess.run(words, env=environment, timeout=timeout_s).returncode
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
