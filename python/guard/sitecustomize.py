"""Python imports this at its start because `redzone guard --framework` puts this folder first in PYTHONPATH.

It lets frameworks allocate through the guard once the program imports them, and then does what the
sitecustomize does that Python would have found without this one.
"""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_next():
    folders = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


# Kept for processes of this one by the variable; the program itself finds nothing there.
import redzone_guard_frameworks  # noqa: E402

sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != _HERE]
redzone_guard_frameworks.install(os.environ.get("REDZONE_GUARD_FRAMEWORKS", ""))
# What fails in it is said by Python's own start, as without this file.
_run_next()
