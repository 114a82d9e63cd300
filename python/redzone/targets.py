"""A declared target: a callable, what it takes, and what is expected of it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import Place, SpecError, did_you_mean
from .expressions import Expression, Symbol, Value, expression, symbols_of
from .parameters import Parameters, missing_when_made, parameters_of
from .spec import Dim, Knob, Requirement, Tensor, Tolerance, tolerance

CATEGORIES = ("kernel", "puzzle", "twin")
STATES = ("trial", "process")
ARRAYS = ("torch", "numpy", "buffer")


@dataclass(frozen=True)
class Argument:
    """What a call passes for one parameter: a Tensor, an Expression, a Knob, a tuple of expressions,
    or any other value as it is."""

    parameter: str
    value: Any


@dataclass(frozen=True)
class Options:
    """What a declaration says beside its parameters. `target` documents each."""

    name: str = ""
    doc: str = ""
    returns: Any = None
    reference: Callable[..., Any] | None = None
    rejects: Any = ()
    tol: Any = None
    state: str = ""
    deterministic: bool = True
    alignment_changes_bits: bool = False
    remembers_addresses: bool = False
    work: Value | None = None
    require: Any = ()
    category: str = "kernel"
    arrays: str = ""


class Target:
    """A callable with its declaration. Calling it calls the callable itself."""

    def __init__(
        self,
        callable: Callable[..., Any],
        declared: Mapping[str, Any],
        options: Options,
        place: Place,
        *,
        parameters: Parameters | None = None,
    ) -> None:
        self.callable = callable
        self.place = place
        self.options = options
        self.doc = _text(options.doc, "doc") or _first_line(callable)
        self.category = _one_of(options.category, CATEGORIES, "category")
        self.name = _target_name(_text(options.name, "name"), callable, place, self.category)
        self.state = _one_of(options.state or _default_state(callable), STATES, "state")
        self.arrays = options.arrays and _one_of(options.arrays, ARRAYS, "arrays")
        self.deterministic = bool(options.deterministic)
        self.alignment_changes_bits = bool(options.alignment_changes_bits)
        self.remembers_addresses = bool(options.remembers_addresses)
        self.rejects = _exceptions(options.rejects)
        self.tolerance: Tolerance | None = tolerance(options.tol)
        self.work = None if options.work is None else expression(options.work, "work")
        self._requirements = _requirements(options.require, place)
        self.parameters = parameters or parameters_of(callable)
        self._check_class()
        self._check_returns_at_once(callable, _shown(callable))
        self.results = _results(options.returns)
        self.arguments = self._bind(declared)
        self.tensors = self._named_tensors()
        self.symbols = self._symbols()
        self.arguments += self._symbols_by_name()
        self._check_positional()
        self.reference = options.reference
        self.reference_arguments = self._bind_reference()
        self.constraints: list[Requirement] = list(self._requirements)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.callable(*arguments, **named)

    def __repr__(self) -> str:
        return f"<redzone target {self.name} of {self.place}>"

    @property
    def dims(self) -> list[Dim]:
        return [s for s in self.symbols.values() if isinstance(s, Dim)]

    @property
    def knobs(self) -> list[Knob]:
        return [s for s in self.symbols.values() if isinstance(s, Knob)]

    @property
    def outputs(self) -> list[str]:
        """Names of what is judged, arguments first."""
        return [name for name, t in self.tensors.items() if t.role != "in"]

    def add_requirement(self, requirement: Requirement) -> None:
        """Adds a condition of the file, if the target has all that it is about."""
        mine = self.symbols
        if all(mine.get(name) is s for name, s in requirement.condition.symbols.items()):
            self.constraints.append(requirement)

    def _error(self, message: str) -> SpecError:
        return SpecError(message, self.place)

    def _check_class(self) -> None:
        needed = missing_when_made(self.callable)
        if needed:
            takes = ", ".join(f"'{name}'" for name in needed)
            raise self._error(
                f"{_shown(self.callable)} takes {takes} when it is made, and a class is made without"
                " arguments: give defaults, or declare a class that has them"
            )

    def _check_returns_at_once(self, called: Any, shown: str) -> None:
        """A call of what is refused here only makes an object, and runs nothing."""
        kind = _deferred(called)
        if kind:
            raise self._error(f"{shown} is {kind}, and a call of it runs nothing: declare a plain function")

    def _bind(self, declared: Mapping[str, Any]) -> list[Argument]:
        arguments = []
        for name, value in declared.items():
            if not self.parameters.accepts(name):
                hint = did_you_mean(name, self.parameters.names)
                raise self._error(f"'{name}' is no parameter of {_shown(self.callable)}{hint}")
            if isinstance(value, Knob):
                value.rename(name)
            if isinstance(value, Tensor) and value.name not in ("", name):
                raise self._error(f"the tensor '{value.name}' is given for '{name}': leave its name out")
            written = name in self.parameters.written
            if isinstance(value, Tensor) and written != (value.role != "in") and self.parameters.written:
                does = "writes" if written else "does not write"
                raise self._error(
                    f"'{name}' is declared as {type(value).__name__}, and {_shown(self.callable)} {does} it"
                )
            arguments.append(Argument(name, value))
        return arguments

    def _named_tensors(self) -> dict[str, Tensor]:
        tensors = {a.parameter: a.value for a in self.arguments if isinstance(a.value, Tensor)}
        for name, result in self.results.items():
            if name in tensors:
                raise self._error(f"a result and a parameter have the name '{name}': give the result another")
            tensors[name] = result
        if not any(t.role != "in" for t in tensors.values()):
            raise self._error(
                f"{_shown(self.callable)} has no output: declare one by rz.Out, rz.InOut or returns="
            )
        return tensors

    def _symbols(self) -> dict[str, Symbol]:
        used: list[Expression] = []
        for tensor in self.tensors.values():
            used += tensor.expressions()
            if isinstance(tensor.dtype, Knob):
                if not tensor.dtype.name:
                    raise self._error("a knob that is an element type needs a name: rz.knob(..., name=...)")
                used.append(tensor.dtype)
        for argument in self.arguments:
            values = argument.value if isinstance(argument.value, tuple) else (argument.value,)
            used += [v for v in values if isinstance(v, Expression)]
        if self.work is not None:
            used.append(self.work)
        used += [r.condition for r in self._requirements]
        try:
            symbols = symbols_of(used)
        except SpecError as error:
            raise self._error(error.message) from None
        for name, symbol in symbols.items():
            if not name:
                raise self._error("a knob in an expression needs a name: rz.knob(..., name=...)")
            if name in self.tensors and isinstance(symbol, Dim):
                raise self._error(f"a dim and a tensor have the name '{name}'")
        return symbols

    def _symbols_by_name(self) -> list[Argument]:
        """Dims and knobs that the callable names as parameters, and nobody has given."""
        given = {a.parameter for a in self.arguments}
        found = []
        scope = getattr(inspect.unwrap(self.callable), "__globals__", {})
        missing = []
        for name in self.parameters.names:
            if name in given:
                continue
            if name in self.symbols:
                found.append(Argument(name, self.symbols[name]))
            elif name in self.parameters.required:
                declared = [v for v in scope.values() if isinstance(v, Dim) and v.name == name]
                if declared:
                    self.symbols[name] = declared[-1]
                    found.append(Argument(name, declared[-1]))
                else:
                    missing.append(name)
        if missing:
            raise self._error(
                f"parameter '{missing[0]}' of {_shown(self.callable)} is not declared:"
                f" give {missing[0]}=rz.In(...), a dim, a knob or a value"
            )
        return found

    def _check_positional(self) -> None:
        """Parameters that have no name in a call cannot be left out before others."""
        given = {a.parameter for a in self.arguments}
        left_out = ""
        for name in self.parameters.positional:
            if name not in given:
                left_out = left_out or name
            elif left_out:
                raise self._error(
                    f"'{name}' is given, and '{left_out}' before it is not, which {_shown(self.callable)}"
                    " takes by position: give it a value"
                )

    def _bind_reference(self) -> list[Argument]:
        if self.reference is None:
            return []
        if not callable(self.reference):
            raise self._error(f"reference is {self.reference!r}, and must be a callable")
        self._check_returns_at_once(self.reference, f"the reference {_shown(self.reference)}")
        parameters = parameters_of(self.reference)
        if not parameters.known:
            return [Argument(n, t) for n, t in self.tensors.items() if t.role != "out"]
        scalars = {a.parameter: a.value for a in self.arguments if not isinstance(a.value, Tensor)}
        bound = []
        for name in parameters.names:
            if name in self.tensors:
                bound.append(Argument(name, self.tensors[name]))
            elif name in self.symbols:
                bound.append(Argument(name, self.symbols[name]))
            elif name in scalars:
                bound.append(Argument(name, scalars[name]))
            elif name in parameters.required:
                known = [*self.tensors, *self.symbols, *scalars]
                hint = did_you_mean(name, known)
                raise self._error(f"the reference takes '{name}', which the target does not have{hint}")
        return bound


def _text(value: object, option: str) -> str:
    if isinstance(value, str) and not value.isprintable():
        raise SpecError(f"{option} is {value!r}, which cannot be printed in one line")
    if not isinstance(value, str):
        raise SpecError(
            f"{option} is an option, and must be text, not {value!r}: a parameter of that name is"
            f" declared by arguments={{'{option}': ...}}"
        )
    return value


def _one_of(value: object, allowed: Sequence[str], option: str) -> str:
    if value not in allowed:
        raise SpecError(f"{option} is {value!r}{did_you_mean(str(value), allowed)}")
    return str(value)


def _first_line(callable: object) -> str:
    doc = inspect.getdoc(callable) if inspect.isroutine(callable) or inspect.isclass(callable) else None
    line = doc.strip().splitlines()[0] if isinstance(doc, str) and doc.strip() else ""
    return "".join(c if c.isprintable() else "?" for c in line)


def _shown(callable: Any) -> str:
    name = getattr(callable, "__name__", None) or str(callable)
    return f"{name}()"


def _deferred(callable: Any) -> str:
    """What a callable is that does not run when it is called; "" if it does."""
    called = inspect.unwrap(callable)
    while isinstance(called, functools.partial):
        called = inspect.unwrap(called.func)
    if not inspect.isroutine(called):
        kind = called if isinstance(called, type) else type(called)
        called = inspect.getattr_static(kind, "__call__", None)
    if inspect.iscoroutinefunction(called):
        return "a coroutine function"
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        return "a generator function"
    return ""


def _default_state(callable: Any) -> str:
    """What torch.compile returns keeps what it compiled for as long as the process lives."""
    return "process" if is_compiled(callable) else "trial"


def is_compiled(callable: Any) -> bool:
    """Whether it is what torch.compile() returns."""
    return hasattr(callable, "_torchdynamo_orig_callable") or hasattr(callable, "_orig_mod")


def _target_name(name: str, callable: Any, place: Place, category: str) -> str:
    if not name:
        stem = re.sub(r".*[/\\]|\.py$", "", place.file)
        own = getattr(callable, "__name__", "") or type(callable).__name__
        name = re.sub(r"[^a-z0-9_.]+", "_", f"{stem}.{own}".lower()).strip("_.")
    if not re.fullmatch(r"[a-z0-9_.]+", name):
        raise SpecError(f"the name of a target is {name!r}, and must be of a-z 0-9 _ .", place)
    prefix = "" if category == "kernel" else f"{category}."
    return name if name.startswith(prefix) else prefix + name


def _exceptions(rejects: Any) -> tuple[type[BaseException], ...]:
    kinds = tuple(rejects) if isinstance(rejects, (tuple, list)) else (rejects,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise SpecError(f"rejects has {kind!r}, and must name types of exceptions")
    return kinds


def _requirements(given: Any, place: Place) -> list[Requirement]:
    conditions: Iterable[Any] = given if isinstance(given, (tuple, list)) else (given,)
    return [Requirement(expression(c, "a condition of require"), place) for c in conditions]


def _results(returns: Any) -> dict[str, Tensor]:
    """What the callable returns, by name and in order."""
    if returns is None:
        return {}
    if isinstance(returns, Mapping):
        named = list(returns.items())
    elif isinstance(returns, (tuple, list)):
        named = [(getattr(r, "name", "") or f"result{i}", r) for i, r in enumerate(returns)]
    else:
        named = [(getattr(returns, "name", "") or "result", returns)]
    for name, result in named:
        if not isinstance(result, Tensor) or result.role != "out":
            raise SpecError(f"returns has {result!r} for '{name}', and must be rz.Out(...)")
    if len({name for name, _ in named}) < len(named):
        raise SpecError("two results have one name")
    return dict(named)
