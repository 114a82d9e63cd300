"""Runs the calls of a plan without Redzone, and compares what they gave.

Each trial runs in a process of its own, and each call in one where a trial has its calls alone.
"""

import contextlib
import faulthandler
import importlib.util
import inspect
import json
import math
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Mapping
from typing import Any

from .arrays import arrays_of, kind_of
from .failure import CannotRun, Failed, Refused
from .memory import Buffer
from .processes import imports_to_share, restart, run_forked, run_interpreter, run_with
from .stand_in import Target, Tensor, parameters_of, scalar, stand_in

SHOWS, SHOWS_NOT, CANNOT_RUN = 1, 0, 3


class CallRun:
    """The buffers of a call, and what it returned."""

    def __init__(
        self, number: int, plan: Mapping[str, Any], trial: Mapping[str, Any], declared: Target, arrays: Any
    ) -> None:
        self.number, self.call, self.arrays = number, plan["calls"][number], arrays
        self.declared = declared
        cuda = plan["device"] == "cuda"
        self.buffers = {n: Buffer(n, t, trial, cuda) for n, t in self.call["tensors"].items()}
        self.scalars = declared.scalars(self.call)
        self.results: dict[str, Any] = {}
        self.inputs = {
            n: arrays.wide(arrays.view(b)) for n, b in self.buffers.items() if b.tensor["role"] != "out"
        }

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Those without a name, and those by name."""
        declared = self.declared
        named: dict[str, Any] = {}
        for name, value in declared.parameters.items():
            if isinstance(value, Tensor):
                named[name] = self.arrays.view(self.buffers[name])
            else:
                named[name] = scalar(value, self.scalars)
        parameters = parameters_of(declared.callable)
        for parameter in parameters:
            if parameter.name not in named and parameter.name in self.scalars:
                named[parameter.name] = self.scalars[parameter.name]
        first = [named.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in named]
        return first, named

    def run(self, instance: Any, first: list[Any], named: dict[str, Any]) -> None:
        """Raises what the callable raises, and Failed for a wrong result."""
        seed(self.call["seed"])
        returned = instance(*first, **named)
        results = [name for name in self.buffers if name not in self.declared.parameters]
        if results:
            self.results = self.checked(returned, results)

    def checked(self, returned: Any, names: list[str]) -> dict[str, Any]:
        if isinstance(returned, Mapping):
            results = {name: returned.get(name) for name in names}
        elif len(names) == 1 and not (isinstance(returned, tuple) and len(returned) == 1):
            results = {names[0]: returned}
        elif isinstance(returned, (tuple, list)) and len(returned) == len(names):
            results = dict(zip(names, returned))
        else:
            raise Failed(f"it returned {type(returned).__name__}, and {len(names)} results are declared")
        for name, value in results.items():
            wrong = self.arrays.wrong(value, self.buffers[name].tensor)
            if wrong:
                raise Failed(f"the result '{name}' {wrong}")
        return results

    def outputs(self) -> dict[str, Any]:
        """Arguments that were written, and results, by name."""
        written = {n: b for n, b in self.buffers.items() if b.tensor["role"] != "in"}
        return {n: self.results[n] if n in self.results else self.arrays.view(b) for n, b in written.items()}

    def compare_with_reference(self, outputs: Mapping[str, Any]) -> None:
        """Raises Failed where an output differs, and CannotRun for a mistake of the reference."""
        try:
            wanted = self.wanted(list(outputs))
        except Exception as error:
            raise CannotRun(f"the reference of call {self.number + 1} raises {told(error)}") from None
        for name, found in outputs.items():
            self.compare(name, found, wanted[name])

    def wanted(self, order: list[str]) -> dict[str, Any]:
        """The outputs by the reference."""
        declared = self.declared
        reference = declared.options["reference"]
        names = [p.name for p in parameters_of(reference)] or list(self.inputs)
        named: dict[str, Any] = {}
        for name in names:
            if name in self.inputs:
                named[name] = self.inputs[name]
            elif name in self.buffers:
                named[name] = self.arrays.zeros(self.buffers[name].tensor["shape"])
            elif name in declared.parameters:
                named[name] = scalar(declared.parameters[name], self.scalars)
            elif name in self.scalars:
                named[name] = self.scalars[name]
        seed(0)
        wanted = reference(**named)
        if wanted is None:
            wanted = {name: named.get(name) for name in order}
        elif not isinstance(wanted, Mapping):
            whole = len(order) == 1 and not (isinstance(wanted, tuple) and len(wanted) == 1)
            wanted = dict(zip(order, [wanted] if whole else wanted))
        return {name: wanted[name] for name in order}

    def compare(self, name: str, found: Any, wanted: Any) -> None:
        tensor = self.buffers[name].tensor
        wrong = self.arrays.wrong_shape(wanted, tuple(tensor["shape"]))
        if wrong:
            raise CannotRun(f"the reference of '{name}' {wrong}")
        got, want = self.arrays.flat(found), self.arrays.flat(wanted)
        absolute, relative = tensor["tolerance"]
        for index, (a, b) in enumerate(zip(got, want)):
            if a == b or (a != a and b != b):
                continue
            if not abs(a - b) <= absolute + relative * abs(b) < math.inf:
                raise Failed(f"'{name}': element {index} is {a}, and the reference has {b}")


def seed(number: int) -> None:
    """Seeds Python's random numbers, and those of numpy and torch as far as anybody has imported them."""
    random.seed(number)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(number % (1 << 32))
    if torch is None:
        return
    # torch.manual_seed() would initialize the generators of all devices.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.default_generators[torch.cuda.current_device()].manual_seed(number)


def run_trial(
    plan: Mapping[str, Any],
    source: str,
    folder: str,
    which: int,
    only: int | None,
    say: Callable[[str], None],
) -> dict[str, str]:
    """Runs a trial of the plan in this process, or one call of it. The outputs as bytes."""
    faulthandler.enable()
    how, device = plan["trials"][which], plan["device"]
    declared, module = load(plan, source, folder)
    seed(0)
    arrays = arrays_of(declared.options.get("arrays") or kind_of(module, plan["folder"]), device)
    guarded = plan["guards_empty"] and hasattr(arrays, "guarding")
    instance = declared.callable() if inspect.isclass(declared.callable) else declared.callable
    rejects = declared.options.get("rejects", ())
    rejects = tuple(rejects) if isinstance(rejects, (tuple, list)) else (rejects,)
    fresh: list[CallRun] = []
    kept: dict[str, str] = {}

    def collect() -> None:
        arrays.finish()
        for run in fresh:
            outputs = run.outputs()
            kept.update({f"{run.number}:{n}": arrays.contents(v).hex() for n, v in outputs.items()})
            for buffer in run.buffers.values():
                buffer.check()
            if plan["reference"]:
                run.compare_with_reference(outputs)
        fresh.clear()

    def arguments_for(step: int, with_buffers: bool) -> tuple[list[Any], dict[str, Any]]:
        """Of the next call, in buffers of its own or in those of the call before."""
        try:
            if with_buffers:
                fresh.append(CallRun(step, plan, how, declared, arrays))
            return fresh[-1].arguments()
        except Exception as error:
            arrays.finish()  # on a GPU this may also raise the error of an earlier call
            raise CannotRun(f"the arguments of call {step + 1} cannot be made: {told(error)}") from None

    with arrays.guarding(how) if guarded else contextlib.nullcontext():
        for step in plan["steps"]:
            if step is None:
                collect()
            elif only is None or step == only:
                for repeat in range(plan["calls"][step]["repeat"]):
                    say(f"call {step + 1}")
                    first, named = arguments_for(step, repeat == 0 or plan["own_buffers"])
                    try:
                        fresh[-1].run(instance, first, named)
                    except Failed:
                        raise
                    except rejects as error:
                        raise Refused(f"call {step + 1} is refused: {told(error)}") from None
    say("the comparison")
    collect()
    return kept


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"


def load(plan: Mapping[str, Any], source: str, folder: str) -> tuple[Target, types.ModuleType]:
    """Imports the user's file from a temporary folder; the target of the plan, and the module."""
    sys.modules["redzone"] = stand_in(plan["device"])
    path = os.path.join(folder, plan["file"])
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(source)
    if plan["folder"]:
        sys.path.insert(0, plan["folder"])
    name = re.sub(r"\W", "_", f"repro_{os.path.splitext(plan['file'])[0]}")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if plan["target"] not in Target.known:
        raise CannotRun(f"{plan['file']} declares {', '.join(Target.known)}, and no '{plan['target']}'")
    return Target.known[plan["target"]], module


class Processes:
    """Runs trials, or calls of them, each in a process of its own."""

    def __init__(
        self, plan: Mapping[str, Any], source: str, environment: Mapping[str, str], forks: bool
    ) -> None:
        self.plan, self.source, self.environment, self.forks = plan, source, environment, forks

    def run(self, which: int, only: int | None) -> Any:
        folder = tempfile.mkdtemp(prefix="repro-")
        answer = os.path.join(folder, "answer.json")
        timeout_s = self.plan["timeout_s"]
        try:
            if self.forks:
                code = run_forked(lambda: run_child(self.plan, self.source, which, only, answer), timeout_s)
            else:
                words = ["--trial", str(which), str(only), answer]
                code = run_interpreter(words, self.environment, timeout_s)
            return outputs_of(code, answer)
        except TimeoutError:
            raise Failed(f"it did not end within {timeout_s} s") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def outputs_of(code: int, answer: str) -> Any:
    """Of a process that ended with the exit code, negative for a signal."""
    said: dict[str, Any] = {}
    if os.path.exists(answer):
        with open(answer, encoding="utf-8") as file:
            said = json.load(file)
    at = said.get("at", "the import of the file")
    if code < 0:
        raise Failed(f"the process was killed by {signal.Signals(-code).name} in {at}")
    if "failed" in said:
        raise Failed(f"{said['failed']} ({at})")
    if "refused" in said:
        raise Refused(said["refused"])
    if "outputs" in said:
        return said["outputs"]
    if "cannot_run" in said or "at" not in said:
        sys.exit(CANNOT_RUN)
    raise Failed(f"the process ended with exit code {code} in {at}")


def run_child(plan: Mapping[str, Any], source: str, which: int, only: int | None, answer: str) -> int:
    said: dict[str, Any] = {}

    def write() -> None:
        with open(answer + ".new", "w", encoding="utf-8") as file:
            json.dump(said, file)
        os.replace(answer + ".new", answer)  # written first, because the call may end the process at any time

    def say(at: str) -> None:
        said["at"] = at
        write()

    try:
        said["outputs"] = run_trial(plan, source, os.path.dirname(answer), which, only, say)
    except CannotRun as error:
        print(error, file=sys.stderr)
        said["cannot_run"] = True
    except Failed as failed:
        said["failed"] = str(failed)
    except Refused as refused:
        said["refused"] = str(refused)
    except ImportError as error:
        if "at" not in said:
            print(f"{told(error)}: run it with an interpreter that has the module", file=sys.stderr)
            return CANNOT_RUN
        said["failed"] = told(error)
    except (Exception, SystemExit) as error:
        if "at" not in said:
            raise
        said["failed"] = told(error)
    write()
    return 0


def main(plan: Mapping[str, Any], source: str) -> int:
    """Exit code: 1 the failure shows, 0 it does not, 3 it cannot run."""
    if sys.argv[1:2] == ["--trial"]:
        number, call, answer = sys.argv[2:]
        return run_child(plan, source, int(number), None if call == "None" else int(call), answer)
    environment = restart(plan, source)

    def run(forks: bool) -> int:
        return compare_trials(plan, Processes(plan, source, environment, forks))

    imports = imports_to_share(plan, source, environment)
    if not imports:
        return run(forks=imports is not None)
    code = run_with(imports, lambda: run(forks=True), plan["timeout_s"])
    if code is None:
        return run(forks=False)
    if code < 0:
        print(f"the process that forks trials was killed by {signal.Signals(-code).name}", file=sys.stderr)
        return CANNOT_RUN
    return code


def compare_trials(plan: Mapping[str, Any], processes: Processes) -> int:
    """Runs them and says what they gave; the exit code."""
    seen: list[dict[str, str]] = []
    for which, how in enumerate(plan["trials"]):
        calls = dict.fromkeys(s for s in plan["steps"] if s is not None) if how["alone"] else [None]
        try:
            outputs: dict[str, str] = {}
            for only in calls:
                outputs.update(processes.run(which, only))
        except Failed as failed:
            print(f"{how['what']}: FAILED: {failed}")
            return SHOWS
        except Refused as refused:
            print(f"{how['what']}: {refused}")
            return SHOWS_NOT
        print(f"{how['what']}: ran")
        seen.append(outputs)
    for how, other in zip(plan["trials"][1:], seen[1:]):
        for key, contents in seen[0].items():
            if contents != other[key]:
                call, _, name = key.partition(":")
                runs = f'"{plan["trials"][0]["what"]}" and "{how["what"]}"'
                print(f"FAILED: '{name}' of call {int(call) + 1} differs between {runs}")
                return SHOWS
    print("no failure")
    return SHOWS_NOT
