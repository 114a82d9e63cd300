"""What a callable takes: the names that a declaration binds to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# Options of a Triton launch in addition to the parameters of its kernel.
TRITON_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl", "launch_cooperative_grid")


@dataclass(frozen=True)
class Parameters:
    """Names in order. `known` is False for builtins without a signature, which take any name."""

    names: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()
    positional: tuple[str, ...] = ()  # parameters that cannot be passed by keyword
    optional: tuple[str, ...] = ()  # further names that are accepted but not listed in messages
    takes_any: bool = False
    known: bool = True
    written: frozenset[str] = field(default_factory=frozenset)  # parameters that the schema marks as written

    def accepts(self, name: str) -> bool:
        return not self.known or self.takes_any or name in self.names or name in self.optional


def parameters_of(callable: Callable[..., Any]) -> Parameters:
    """The parameters of a function, a class (of its `__call__`), or an operator of torch."""
    schema = getattr(callable, "_schema", None)
    if schema is not None:
        return _of_schema(schema)
    bound_self = inspect.isclass(callable)
    try:
        signature = inspect.signature(callable.__call__ if bound_self else callable)  # type: ignore[operator]
    except (TypeError, ValueError):
        return Parameters(known=False)
    parameters = list(signature.parameters.values())[1 if bound_self else 0 :]
    return _of_signature(parameters)


def missing_when_made(callable: Callable[..., Any]) -> list[str]:
    """What a class cannot be made without; nothing for one whose signature cannot be read."""
    if not inspect.isclass(callable):
        return []
    try:
        # The signature of a decorator around __init__, not of the function that it wraps.
        signature = inspect.signature(callable, follow_wrapped=False)
    except Exception:  # may also be raised by a custom __signature__
        return []
    given = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind not in given]


def _of_signature(parameters: list[inspect.Parameter]) -> Parameters:
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return Parameters(
        names=tuple(p.name for p in named),
        required=frozenset(p.name for p in named if p.default is p.empty),
        positional=tuple(p.name for p in named if p.kind is p.POSITIONAL_ONLY),
        takes_any=any(p.kind is p.VAR_KEYWORD for p in parameters),
    )


def _of_schema(schema: Any) -> Parameters:
    def is_required(argument: Any) -> bool:
        has_default = getattr(argument, "has_default_value", None)
        return not has_default() if has_default is not None else argument.default_value is None

    arguments = list(schema.arguments)
    return Parameters(
        names=tuple(a.name for a in arguments),
        required=frozenset(a.name for a in arguments if is_required(a)),
        written=frozenset(a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write),
    )


def parameters_of_kernel(kernel: Any) -> Parameters:
    """Those of a Triton kernel, also one that @triton.autotune or @triton.heuristics wraps."""
    chosen: set[str] = set()
    inner = kernel
    while not inspect.isfunction(inner) and hasattr(inner, "fn"):
        for config in getattr(inner, "configs", None) or []:
            chosen |= set(config.kwargs)
        chosen |= set(getattr(inner, "values", None) or {})
        inner = inner.fn
    plain = _of_signature(list(inspect.signature(inner).parameters.values()))
    return Parameters(
        names=plain.names,
        required=plain.required - chosen,
        optional=TRITON_OPTIONS,
    )
