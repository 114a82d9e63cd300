"""The arguments of a description, in the order of the kernel's parameters.

Fields that a description omits are taken from the tensor, knob or dim with the parameter's name, or
from the default of a constexpr parameter.
"""

from dataclasses import dataclass

from .expressions import Expression
from .fields import hint
from .model import DTYPES, FLOAT_TYPES, INTEGER_TYPES, KINDS, Argument

NO_DEFAULT = object()


@dataclass
class Parameter:
    """A parameter as the kernel declares it."""

    name: str
    is_constexpr: bool = False
    do_not_specialize: bool = False
    default: object = NO_DEFAULT


def read_arguments(package, tables, parameters):
    """Arguments for `parameters`; tables are the Fields of [[argument]]."""
    by_name = {}
    names = {p.name for p in parameters}
    for table in tables:
        name = table.name()
        if name not in names:
            raise table.error("name", f"the kernel has no parameter '{name}'{hint(name, names)}")
        if name in by_name:
            raise table.error("name", "declared twice")
        by_name[name] = table
    return [
        _read(package, by_name[p.name], p) if p.name in by_name else _infer(package, p)
        for p in parameters
    ]


def _tensor(package, name):
    return next((t for t in package.tensors if t.name == name), None)


def _pointer(tensor):
    # If a knob selects the element type, the declaration does not contain it.
    return "*" + (DTYPES[tensor.dtype] if tensor.dtype else "")


def _infer(package, parameter):
    name = parameter.name
    tensor = _tensor(package, name)
    specialize = not parameter.do_not_specialize
    if parameter.is_constexpr:
        knob = next((k for k in package.knobs if k.name == name), None)
        if knob:
            value = name if knob.is_text else Expression(name)
        elif name in package.number_names():
            value = Expression(name)
        elif parameter.default is not NO_DEFAULT:
            value = parameter.default
            if not isinstance(value, (int, float, str)):
                raise package.error(
                    f"argument[{name}]", "missing, and its default is not a plain value"
                )
            if isinstance(value, str):
                raise package.error(f"argument[{name}]", "missing: strings are values of knobs")
        else:
            raise package.error(f"argument[{name}]", "missing")
        return Argument(name, "constexpr", value=value)
    if tensor:
        return Argument(name, "tensor", _pointer(tensor), tensor.name, specialize)
    if name in package.number_names():
        return Argument(name, "int", "i32", Expression(name), specialize)
    raise package.error(f"argument[{name}]", "missing")


def _read(package, f, parameter):
    f.name()
    kind = f.one_of("kind", KINDS)
    if (kind == "constexpr") != parameter.is_constexpr:
        declared = "constexpr" if parameter.is_constexpr else "no constexpr"
        raise f.error("kind", f"'{kind}', but the kernel declares it {declared}")
    argument = Argument(parameter.name, kind)
    known = package.number_names()
    if kind in ("tensor", "descriptor"):
        tensor = _tensor(package, f.text("value", parameter.name))
        if tensor is None:
            raise f.error("value", f"no tensor '{f.text('value', parameter.name)}'")
        argument.value = tensor.name
        argument.type = _pointer(tensor) if kind == "tensor" else "tensordesc"
    elif kind == "float":
        argument.type = f.one_of("type", FLOAT_TYPES, "fp32")
        value = f.take("value", (int, float, str), "a number or an expression")
        argument.value = f.parsed("value", value, known) if isinstance(value, str) else float(value)
    else:
        argument.type = f.one_of("type", INTEGER_TYPES, "i32") if kind == "int" else ""
        argument.value = _value(package, f, kind, known)
    if kind == "descriptor":
        argument.shape = f.expressions("shape", known)
        argument.strides = f.expressions("strides", known)
        argument.block_shape = f.expressions("block_shape", known)
        if not len(argument.shape) == len(argument.strides) == len(argument.block_shape):
            raise f.error("block_shape", "shape, strides and block_shape differ in length")
        for e in argument.block_shape:
            if e.names & {d.name for d in package.dims}:
                raise f.error("block_shape", f"'{e.text}' depends on a dim: the box is compiled in")
    if kind in ("tensor", "int"):
        argument.specialize = f.flag("specialize", not parameter.do_not_specialize)
        if argument.specialize and parameter.do_not_specialize:
            raise f.error("specialize", "true, but the kernel declares it do_not_specialize")
    f.done()
    return argument


def _value(package, f, kind, known):
    knobs = {k.name: k for k in package.knobs if k.is_text}
    kinds = (str, int, bool) if kind == "constexpr" else (str, int)
    value = f.take("value", kinds, "an expression")
    if isinstance(value, bool):
        return value
    if kind == "constexpr" and value in knobs:
        return value
    return f.parsed("value", value, known)
