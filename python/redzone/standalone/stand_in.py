"""Stands in for the package where there is none: what files of targets call when they are imported.

Only callables, the values of their arguments and their references are left of what is declared; the
rest is in the plan.
"""

import inspect
import operator
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar


class Declared:
    """A value of a declaration, with those that it is made of."""

    def __init__(self, *parts: Any, **more: Any) -> None:
        self.parts = (*parts, *more.values())


class Number(Declared):
    """An integer expression: a function of the dims and knobs of a call."""

    def __init__(self, value: Callable[[Mapping[str, Any]], Any], *parts: Any) -> None:
        super().__init__(*parts)
        self.value = value

    def __invert__(self) -> "Number":
        return Number(lambda scalars: number(self, scalars) == 0, self)

    def __neg__(self) -> "Number":
        return Number(lambda scalars: -number(self, scalars), self)

    def __and__(self, other: Any) -> "Number":
        return both(self, other)

    def __rand__(self, other: Any) -> "Number":
        return both(other, self)

    def __or__(self, other: Any) -> "Number":
        return either(self, other)

    def __ror__(self, other: Any) -> "Number":
        return either(other, self)

    __hash__ = object.__hash__


def number(value: Any, scalars: Mapping[str, Any]) -> int:
    return int(value.value(scalars)) if isinstance(value, Number) else int(value)


def calculated(function: Callable[..., Any]) -> Callable[..., Number]:
    """`function` of expressions."""
    return lambda *values: Number(lambda scalars: function(*(number(v, scalars) for v in values)), *values)


# Operands that are not needed are not evaluated, because the condition may guard against their division by 0.
def both(a: Any, b: Any) -> Number:
    return Number(lambda scalars: bool(number(a, scalars) and number(b, scalars)), a, b)


def either(a: Any, b: Any) -> Number:
    return Number(lambda scalars: bool(number(a, scalars) or number(b, scalars)), a, b)


def where(condition: Any, yes: Any, no: Any) -> Number:
    def chosen(scalars: Mapping[str, Any]) -> int:
        return number(yes if number(condition, scalars) else no, scalars)

    return Number(chosen, condition, yes, no)


def _add_operators() -> None:
    for name in ("add", "sub", "mul", "floordiv", "mod"):
        applied = calculated(getattr(operator, name))
        setattr(Number, f"__{name}__", applied)
        setattr(Number, f"__r{name}__", lambda a, b, applied=applied: applied(b, a))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Number, f"__{name}__", calculated(getattr(operator, name)))


_add_operators()


class Dim(Number):
    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        super().__init__(lambda scalars: scalars[name])


class Knob(Number):
    """A setting: one of any values of Python."""

    def __init__(self, values: Sequence[Any], name: str = "", doc: str = "") -> None:
        super().__init__(lambda scalars: scalars[self.name])
        self.values, self.name = list(values), name


def knob(*values: Any, name: str = "", doc: str = "") -> Knob:
    return Knob(values, name)


class Tensor(Declared):
    pass


def knobs_in(value: Any) -> Iterator[Knob]:
    """The knobs of what is declared."""
    if isinstance(value, Knob):
        yield value
    parts: Iterable[Any] = value if isinstance(value, (list, tuple)) else ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, Declared):
        parts = value.parts
    for part in parts:
        yield from knobs_in(part)


OPTIONS = (
    "name", "doc", "returns", "reference", "rejects", "tol", "state", "deterministic",
    "alignment_changes_bits", "remembers_addresses", "work", "require", "category", "arrays",
)  # fmt: skip


class Target:
    """A callable and what is declared of it. Calling it calls the callable itself."""

    known: ClassVar[dict[str, "Target"]] = {}

    def __init__(self, callable: Any, given: Mapping[str, Any], arguments: Any, file: str) -> None:
        self.callable = callable
        self.options = {name: given[name] for name in OPTIONS if name in given}
        self.parameters = {name: value for name, value in given.items() if name not in OPTIONS}
        self.parameters.update(arguments or {})
        for name, value in self.parameters.items():
            if isinstance(value, Knob):
                value.name = name
        self.knobs = {k.name: k for k in knobs_in([self.parameters, self.options])}
        Target.known[self.full_name(file)] = self

    def full_name(self, file: str) -> str:
        """As plans have it; `file` declares the target."""
        name, category = self.options.get("name", ""), self.options.get("category", "kernel")
        if not name:
            stem = re.sub(r"\.py$", "", os.path.basename(file))
            own = getattr(self.callable, "__name__", "") or type(self.callable).__name__
            name = re.sub(r"[^a-z0-9_.]+", "_", f"{stem}.{own}".lower()).strip("_.")
        prefix = "" if category == "kernel" else f"{category}."
        return str(name if name.startswith(prefix) else prefix + name)

    def scalars(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """The dims and knobs of a call, which has the places of the values of knobs."""
        knobs = {name: self.knobs[name].values[at] for name, at in call["knobs"].items()}
        return {**call["dims"], **knobs}

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


def declaring_file() -> str:
    """The file whose line has called the stand-in."""
    frame = sys._getframe()
    here = frame.f_code.co_filename
    while frame.f_back is not None and frame.f_code.co_filename == here:
        frame = frame.f_back
    return frame.f_code.co_filename


def _declare(callable: Any, given: Mapping[str, Any], arguments: Any, twin: Any, file: str) -> Target:
    if twin is None:
        return Target(callable, given, arguments, file)
    stem = (given.get("name", "") or getattr(callable, "__name__", "")).removeprefix("puzzle.")
    puzzle = {**given, "name": f"puzzle.{stem}", "category": "puzzle"}
    Target(twin, {**given, "name": f"twin.{stem}", "category": "twin"}, arguments, file)
    return Target(callable, puzzle, arguments, file)


def target(callable: Any = None, /, *, twin: Any = None, arguments: Any = None, **given: Any) -> Any:
    file = declaring_file()

    def declare(callable: Any) -> Any:
        _declare(callable, given, arguments, twin, file)
        return callable

    return declare if callable is None else declare(callable)


def triton(kernel: Any, *, grid: Any, twin: Any = None, arguments: Any = None, **given: Any) -> Target:
    given = {**given, "grid": grid if callable(grid) else tuple(grid)}
    launched = None if twin is None else Launch(twin)
    return _declare(Launch(kernel), given, arguments, launched, declaring_file())


def op(operation: Any, *, arguments: Any = None, **given: Any) -> Target:
    if not hasattr(operation, "_schema"):
        operation = operation.default
    return Target(operation, given, arguments, declaring_file())


def dims(**ranges: Any) -> list[Dim]:
    return [Dim(name) for name in ranges]


def stand_in(device: str) -> types.ModuleType:
    """A module that files of targets import as `redzone`."""
    module = types.ModuleType("redzone")
    nothing = lambda *_, **__: None  # noqa: E731
    vars(module).update(
        target=target, triton=triton, op=op, require=nothing, dim=Dim, Dim=Dim, dims=dims, knob=knob,
        Knob=Knob, Tensor=Tensor, In=Tensor, Out=Tensor, InOut=Tensor, Target=Target, Expression=Number,
        uniform=Declared, sums=Declared, special_values=Declared, integers=Declared, offsets=Declared,
        constant=Declared,
        SpecError=ValueError,
        cdiv=calculated(lambda a, b: -(-a // b)), minimum=calculated(min), maximum=calculated(max),
        next_power_of_2=calculated(lambda x: 1 if x <= 1 else 1 << (x - 1).bit_length()),
        where=where, device=lambda: device,
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


def scalar(value: Any, scalars: Mapping[str, Any]) -> Any:
    """What a call passes for a value that is no tensor."""
    if isinstance(value, Knob):
        return scalars[value.name]
    if isinstance(value, Number):
        return number(value, scalars)
    if isinstance(value, tuple) and any(isinstance(v, Number) for v in value):
        return tuple(scalar(v, scalars) for v in value)
    return value
