"""Stands in for the package where there is none: what files of targets call when they are imported.

Only callables, the values of their arguments and their references are left of what is declared; the
rest is in the plan.
"""

import inspect
import operator
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, ClassVar


class Number:
    """An integer expression: a function of the dims and knobs of a call."""

    def __init__(self, value: Callable[[Mapping[str, Any]], Any]) -> None:
        self.value = value

    def __invert__(self) -> "Number":
        return Number(lambda scalars: number(self, scalars) == 0)

    def __neg__(self) -> "Number":
        return Number(lambda scalars: -number(self, scalars))

    __hash__ = object.__hash__


def number(value: Any, scalars: Mapping[str, Any]) -> int:
    return int(value.value(scalars)) if isinstance(value, Number) else int(value)


def calculated(function: Callable[..., Any]) -> Callable[..., Number]:
    """`function` of expressions."""
    return lambda *values: Number(lambda scalars: function(*(number(v, scalars) for v in values)))


def _add_operators() -> None:
    for name in ("add", "sub", "mul", "floordiv", "mod", "and_", "or_"):
        function = getattr(operator, name)
        if name in ("and_", "or_"):
            function = lambda a, b, of=function: of(bool(a), bool(b))  # noqa: E731
        applied = calculated(function)
        setattr(Number, f"__{name.rstrip('_')}__", applied)
        setattr(Number, f"__r{name.rstrip('_')}__", lambda a, b, applied=applied: applied(b, a))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Number, f"__{name}__", calculated(getattr(operator, name)))


_add_operators()


class Dim(Number):
    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        super().__init__(lambda scalars: scalars[name])


class Knob(Number):
    """A setting: plans have integers and text as they are, and the `repr` of other values."""

    known: ClassVar[dict[str, "Knob"]] = {}

    def __init__(self, *values: Any, name: str = "", doc: str = "") -> None:
        super().__init__(lambda scalars: scalars[self.name])
        self.values, self.name = values, name
        if name:
            Knob.known[name] = self

    def decoded(self, written: Any) -> Any:
        return next(v for v in self.values if (v if isinstance(v, (int, str)) else repr(v)) == written)


class Tensor:
    def __init__(self, *_: Any, **__: Any) -> None:
        pass


OPTIONS = (
    "name", "doc", "returns", "reference", "rejects", "tol", "state", "deterministic", "work", "require",
    "category", "arrays",
)  # fmt: skip


class Target:
    """A callable and what is declared of it. Calling it calls the callable itself."""

    known: ClassVar[dict[str, "Target"]] = {}
    file = ""  # that declares targets: its name is part of theirs

    def __init__(self, callable: Any, given: Mapping[str, Any], arguments: Any, category: str) -> None:
        self.callable = callable
        self.options = {name: given[name] for name in OPTIONS if name in given}
        self.parameters = {name: value for name, value in given.items() if name not in OPTIONS}
        self.parameters.update(arguments or {})
        own = getattr(callable, "__name__", "") or type(callable).__name__
        name = self.options.get("name", "")
        category = category or self.options.get("category", "kernel")
        if category != "kernel":
            name = f"{category}.{(name or own).removeprefix('puzzle.').removeprefix(category + '.')}"
        elif not name:
            stem = re.sub(r"\.py$", "", Target.file)
            name = re.sub(r"[^a-z0-9_.]+", "_", f"{stem}.{own}".lower()).strip("_.")
        Target.known[name] = self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.callable(*arguments, **named)


class Launch:
    """What a target of rz.triton calls."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.inner = kernel, kernel
        while not inspect.isfunction(self.inner) and hasattr(self.inner, "fn"):
            self.inner = self.inner.fn
        self.__name__ = self.inner.__name__

    def __call__(self, *, grid: Any, **arguments: Any) -> None:
        self.kernel[grid](**arguments)


def _declare(callable: Any, given: Mapping[str, Any], arguments: Any, twin: Any) -> Target:
    made = Target(callable, given, arguments, "" if twin is None else "puzzle")
    if twin is not None:
        Target(twin, given, arguments, "twin")
    return made


def target(callable: Any = None, /, *, twin: Any = None, arguments: Any = None, **given: Any) -> Any:
    def declare(callable: Any) -> Any:
        _declare(callable, given, arguments, twin)
        return callable

    return declare if callable is None else declare(callable)


def triton(kernel: Any, *, grid: Any, twin: Any = None, arguments: Any = None, **given: Any) -> Target:
    given = {**given, "grid": grid if callable(grid) else tuple(grid)}
    return _declare(Launch(kernel), given, arguments, None if twin is None else Launch(twin))


def op(operation: Any, *, arguments: Any = None, **given: Any) -> Target:
    if not hasattr(operation, "_schema"):
        operation = operation.default
    return _declare(operation, given, arguments, None)


def dims(**ranges: Any) -> list[Dim]:
    return [Dim(name) for name in ranges]


def stand_in(device: str) -> types.ModuleType:
    """A module that files of targets import as `redzone`."""
    module = types.ModuleType("redzone")
    nothing = lambda *_, **__: None  # noqa: E731
    vars(module).update(
        target=target, triton=triton, op=op, require=nothing, dim=Dim, Dim=Dim, dims=dims, knob=Knob,
        Knob=Knob, Tensor=Tensor, In=Tensor, Out=Tensor, InOut=Tensor, Target=Target, Expression=Number,
        uniform=nothing, sums=nothing, integers=nothing, offsets=nothing, constant=nothing,
        SpecError=ValueError,
        cdiv=calculated(lambda a, b: -(-a // b)), minimum=calculated(min), maximum=calculated(max),
        next_power_of_2=calculated(lambda x: 1 if x <= 1 else 1 << (x - 1).bit_length()),
        where=calculated(lambda condition, yes, no: yes if condition else no), device=lambda: device,
    )  # fmt: skip
    return module


def parameters_of(callable: Any) -> list[inspect.Parameter]:
    """Those that have a name; nothing for a builtin without a signature."""
    schema = getattr(callable, "_schema", None)
    if schema is not None:
        return [inspect.Parameter(a.name, inspect.Parameter.KEYWORD_ONLY) for a in schema.arguments]
    if isinstance(callable, Launch):
        callable = callable.inner
    of_class = inspect.isclass(callable)
    try:
        signature = inspect.signature(callable.__call__ if of_class else callable)
    except (TypeError, ValueError):
        return []
    found = list(signature.parameters.values())[1 if of_class else 0 :]
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def scalar(value: Any, scalars: Mapping[str, Any], parameter: str) -> Any:
    """What a call passes for a value that is no tensor."""
    if isinstance(value, Knob):
        return value.decoded(scalars[value.name or parameter])
    if isinstance(value, Number):
        return number(value, scalars)
    if isinstance(value, tuple):
        return tuple(scalar(v, scalars, "") if isinstance(v, Number) else v for v in value)
    return value


def symbol(name: str, scalars: Mapping[str, Any]) -> Any:
    """The value of a dim or of a knob by its name."""
    return Knob.known[name].decoded(scalars[name]) if name in Knob.known else scalars[name]
