"""`rz.target`, `rz.triton`, `rz.op` and `rz.require`: what a file of targets calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from .errors import Place, SpecError, calling_place
from .expressions import Expression, Value, expression
from .parameters import Parameters, parameters_of_kernel
from .registry import registry
from .spec import Requirement
from .targets import Options, Target

C = TypeVar("C", bound=Callable[..., Any])


@overload
def target(
    callable: C, /, *, twin: Any = None, arguments: Mapping[str, Any] | None = None, **given: Any
) -> C: ...
@overload
def target(
    callable: None = None, /, *, twin: Any = None, arguments: Mapping[str, Any] | None = None, **given: Any
) -> Callable[[C], C]: ...
def target(
    callable: Any = None,
    /,
    *,
    twin: Any = None,
    arguments: Mapping[str, Any] | None = None,
    **given: Any,
) -> Any:
    """Declares a function or a class as a target; a decorator, or a call with the function first.

    Named arguments are the parameters of the function: `rz.In`, `rz.Out` and `rz.InOut` for
    tensors, `rz.knob` for settings, expressions of dims, and any other value as it is. Dims and
    knobs that the function names are passed without being given. A class is made once for a trial,
    without arguments, and the parameters are those of its `__call__`.

    Further arguments are options:

    name           of the target; FILE.FUNCTION is the default
    doc            one line; the default is the first line of the function's
    returns        `rz.Out`, or a tuple or dict of them: what the function returns
    reference      computes the outputs from inputs in float64 (int64 for integers) and returns
                   them; its parameters are names of tensors, dims and knobs
    rejects        types of exceptions with which the function refuses a call; any other
                   exception is a finding
    tol            tolerance of the outputs: (abs, rel); the default is 1e-5, and wider for element
                   types of 8 and 16 bits
    state          "trial": a class is made for each trial; "process": once, as for compiled code
    deterministic  False: equal calls may give different bits
    alignment_changes_bits
                   True: a result may have other bits, within the tolerance, where a tensor is
                   aligned further; tensors then lie equally in all trials that are compared
    remembers_addresses
                   True: callers keep all tensors, so that the function may keep what it made of one
                   by its address
    work           scalar operations of a call, roughly
    require        conditions on dims and integer knobs
    category       "kernel", or "puzzle" for a planted bug
    twin           the same without the bug, declared along with a puzzle
    arrays         "torch", "numpy" or "buffer": what tensors are passed as; the default is the
                   first of them that the file has imported
    arguments      parameters whose names are those of options
    """
    place = calling_place()
    options, parameters = _split(given, arguments, place)

    def declare(declared: Any) -> Any:
        if not _is_callable(declared):
            raise SpecError(f"rz.target takes a function or a class, not {declared!r}", place)
        _add_with_twin(declared, parameters, options, place, twin)
        return declared

    return declare if callable is None else declare(callable)


def triton(
    kernel: Any,
    *,
    grid: Sequence[Value] | Callable[[Mapping[str, Any]], Sequence[int]],
    twin: Any = None,
    arguments: Mapping[str, Any] | None = None,
    **given: Any,
) -> Target:
    """Declares a Triton kernel as a target. On a CPU it is interpreted.

    `grid` is a tuple of integers and expressions, or a function as Triton takes. Arguments and
    options are those of `target`, and the options of a launch (num_warps, ...) are parameters.
    """
    place = calling_place()
    options, parameters = _split(given, arguments, place)
    sized = grid if _is_callable(grid) else tuple(expression(g, "an extent of the grid") for g in grid)  # type: ignore[union-attr]
    made = []
    for each, changed in _with_twin(kernel, options, twin):
        if not hasattr(each, "arg_names"):
            raise SpecError(f"rz.triton takes a @triton.jit function, not {each!r}", place)
        known = parameters_of_kernel(each)
        takes = Parameters((*known.names, "grid"), known.required, optional=known.optional)
        made.append(Target(_Launch(each), {**parameters, "grid": sized}, changed, place, parameters=takes))
    for declared in made:
        registry.add(declared)
    return made[0]


def op(operator: Any, *, arguments: Mapping[str, Any] | None = None, **given: Any) -> Target:
    """Declares an operator of torch (`torch.ops.mine.rms_norm.default`) as a target.

    Names, and which arguments it writes, are checked against its schema.
    """
    place = calling_place()
    options, parameters = _split(given, arguments, place)
    if not hasattr(operator, "_schema"):
        operator = getattr(operator, "default", None)
    if not hasattr(operator, "_schema"):
        raise SpecError("rz.op takes an operator of torch.ops, such as torch.ops.aten.relu.default", place)
    declared = Target(operator, parameters, options, place)
    registry.add(declared)
    return declared


def require(condition: Expression, *more: Expression) -> None:
    """Conditions that each call of the file's targets with these dims and knobs meets."""
    place = calling_place()
    for each in (condition, *more):
        if not isinstance(each, Expression):
            raise SpecError(f"rz.require takes a condition on dims, not {each!r}", place)
        registry.require(Requirement(each, place))


class _Launch:
    """Launches a kernel; what a target of rz.triton calls."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.__name__ = getattr(kernel, "__name__", None) or kernel.fn.__name__
        self.__doc__ = kernel.__doc__

    def __call__(self, *, grid: Any, **arguments: Any) -> None:
        self.kernel[grid](**arguments)


def _is_callable(value: Any) -> bool:
    return callable(value)


def _split(
    given: Mapping[str, Any], arguments: Mapping[str, Any] | None, place: Place
) -> tuple[Options, dict[str, Any]]:
    """Options, and parameters of the callable."""
    names = set(Options.__dataclass_fields__)
    parameters = {name: value for name, value in given.items() if name not in names}
    for name, value in (arguments or {}).items():
        if name in parameters:
            raise SpecError(f"'{name}' is given twice, also in arguments=", place)
        parameters[name] = value
    return Options(**{name: value for name, value in given.items() if name in names}), parameters


def _with_twin(declared: Any, options: Options, twin: Any) -> list[tuple[Any, Options]]:
    if twin is None:
        return [(declared, options)]
    stem = options.name or getattr(declared, "__name__", "")
    stem = stem.removeprefix("puzzle.")
    puzzle = {**options.__dict__, "name": f"puzzle.{stem}", "category": "puzzle"}
    fixed = {**options.__dict__, "name": f"twin.{stem}", "category": "twin"}
    return [(declared, Options(**puzzle)), (twin, Options(**fixed))]


def _add_with_twin(
    declared: Any, parameters: Mapping[str, Any], options: Options, place: Place, twin: Any
) -> None:
    for each, changed in _with_twin(declared, options, twin):
        registry.add(Target(each, parameters, changed, place))
