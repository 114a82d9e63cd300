"""Python imports this at its start because `redzone guard --framework` puts this folder first in PYTHONPATH.

It lets frameworks allocate through the guard once the program imports them, and then does what the
sitecustomize does that Python would have found without this one, whatever happens here. Python 2 runs it,
too.
"""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _other_folders():
    return [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != _HERE]


def _run_next():
    try:
        from importlib import machinery, util
    except ImportError:
        return _run_next_of_python_2()
    spec = machinery.PathFinder.find_spec("sitecustomize", _other_folders())
    if spec is None or spec.loader is None:
        return None
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    return spec.loader.exec_module(module)


def _run_next_of_python_2():
    import imp
    try:
        found = imp.find_module("sitecustomize", _other_folders())
    except ImportError:
        return None
    return imp.load_module("sitecustomize", *found)  # type: ignore[arg-type]


# An error in the next sitecustomize is reported by Python's start, as it would be without this file.
try:
    import redzone_guard_frameworks
    redzone_guard_frameworks.install(os.environ.get("REDZONE_GUARD_FRAMEWORKS", ""))
except Exception as problem:
    sys.stderr.write("redzone: guard: no framework is hooked: " + str(problem) + "\n")
finally:
    # Child processes get the folder by the variable; the program itself must not find modules there.
    sys.path[:] = _other_folders()
    _run_next()
