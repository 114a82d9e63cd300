"""Reads and checks a package description: dims, tensors, knobs, grid, arguments.

A description is a table: `PACKAGE` in a Python file, or a TOML file. The README of
src/targets/triton is its reference.
"""

import math

from .arguments import read_arguments
from .expressions import FUNCTIONS, Expression
from .fields import Fields, hint
from .model import DTYPES, OPTIONS, Constraint, Dim, Knob, Package, Tensor, knob_names


def read_package(file, table, parameters, extra_knobs=(), configs=None):
    """The checked description. `parameters` are the kernel's, in order; `extra_knobs` are tables of
    knobs placed before the description's own, and `configs` are the only settings of these."""
    top = Fields(file, "", table)
    name = top.text("name")
    if not all(c in "abcdefghijklmnopqrstuvwxyz0123456789_." for c in name) or not name:
        raise top.error("name", f"'{name}' has characters other than a-z 0-9 _ .")
    knobs = [_knob(Fields(file, f"knob[{t['name']}]", t)) for t in extra_knobs]
    knobs += [_knob(f) for f in top.tables("knob")]
    dims = [_dim(f) for f in top.tables("dim", required=True)]
    dim_names = {d.name for d in dims}
    _distinct(top, [("dim", dims), ("knob", knobs)])
    for knob in sorted(knob_names(knobs)):
        if knob in dim_names or knob in FUNCTIONS:
            raise top.error(f"knob[{knob}]", f"'{knob}' is the name of a dim or function, too")

    known = dim_names | knob_names(knobs)
    constraints = [_constraint(f, dims) for f in top.tables("constraint")]
    reference = top.text("reference", "")
    # What is multiplied and added: both ways to fill it.
    default_fill = "sums" if reference == "matmul" else "uniform"
    tensors = [
        _tensor(f, dim_names, knobs, default_fill) for f in top.tables("tensor", required=True)
    ]
    _distinct(top, [("tensor", tensors)])
    grid = top.expressions("grid", known | {"num_sms"})
    if not 1 <= len(grid) <= 3:
        raise top.error("grid", f"1 to 3 expressions are expected, not {len(grid)}")
    package = Package(
        file=str(file),
        name=name,
        doc=top.text("doc", ""),
        reference=reference,
        deterministic=top.flag("deterministic", True),
        alignment_changes_bits=top.flag("alignment_changes_bits", False),
        remembers_addresses=top.flag("remembers_addresses", False),
        work=top.expression("work", known) if top.has("work") else None,
        grid=grid + [Expression("1")] * (3 - len(grid)),
        dims=dims,
        constraints=constraints,
        tensors=tensors,
        knobs=knobs,
        exclude=top.expressions("exclude", knob_names(knobs), []),
        arguments=[],
        configs=configs,
    )
    package.arguments = read_arguments(package, top.tables("argument"), parameters)
    top.done()
    _all_knobs_used(package)
    return package


def _distinct(top, groups):
    for kind, things in groups:
        seen = set()
        for thing in things:
            if thing.name in seen:
                raise top.error(f"{kind}[{thing.name}]", "declared twice")
            seen.add(thing.name)


def _dim(f):
    dim = Dim(
        f.name(),
        f.integer("min", 1),
        f.integer("max", 4096),
        f.integer("multiple_of", 1),
        f.items("values", int, "integers", []),
        f.integer("tile", 0),
        f.text("doc", ""),
    )
    f.done()
    if dim.values:
        if sorted(set(dim.values)) != dim.values:
            raise f.error("values", "not ascending")
        for given in ("min", "max", "multiple_of"):
            if f.has(given):
                raise f.error(given, "contradicts 'values': give one of them")
        dim.min, dim.max = dim.values[0], dim.values[-1]
    if dim.min < 1:
        raise f.error("min", f"{dim.min} is less than 1")
    if dim.max < dim.min:
        raise f.error("max", f"{dim.max} is less than min = {dim.min}")
    if dim.multiple_of < 1 or not len(dim.domain()):
        raise f.error(
            "multiple_of", f"no multiple of {dim.multiple_of} from {dim.min} to {dim.max}"
        )
    if dim.name in FUNCTIONS or dim.name == "num_sms":
        raise f.error("name", f"'{dim.name}' is reserved in expressions")
    return dim


def _constraint(f, dims):
    constraint = Constraint(f.one_of("kind", ("divides", "at_most")), f.text("a"), f.text("b"))
    f.done()
    by_name = {d.name: d for d in dims}
    for side in ("a", "b"):
        name = getattr(constraint, side)
        if name not in by_name:
            raise f.error(side, f"no dim '{name}'{hint(name, by_name)}")
    a, b = by_name[constraint.a], by_name[constraint.b]
    if min(a.domain()) > max(b.domain()):
        raise f.error("a", f"never holds: {a.name} is at least {a.min}, {b.name} at most {b.max}")
    return constraint


def _tensor(f, dims, knobs, default_fill):
    name = f.name()
    dtype, dtype_of = "", ""
    if f.has("dtype_of"):
        choices = {k.name: k for k in knobs if k.is_text}
        dtype_of = f.text("dtype_of")
        if dtype_of not in choices:
            raise f.error("dtype_of", f"no knob '{dtype_of}' of strings{hint(dtype_of, choices)}")
        if choices[dtype_of].tune:
            raise f.error("dtype_of", f"knob '{dtype_of}' is tuned, so it cannot change a type")
        for value in choices[dtype_of].values:
            if value not in DTYPES:
                raise f.error("dtype_of", f"'{value}' is not one of {', '.join(DTYPES)}")
        if f.has("dtype"):
            raise f.error("dtype", "contradicts 'dtype_of': give one of them")
    else:
        dtype = f.one_of("dtype", DTYPES)
    tensor = Tensor(
        name,
        dtype,
        dtype_of,
        f.one_of("role", ("in", "out", "inout")),
        f.expressions("shape", dims),
        _fill(f, dims, default_fill),
        f.integer("align_bytes") if f.has("align_bytes") else None,
        _tolerance(f),
        _counter(f),
        f.text("doc", ""),
    )
    f.done()
    if len(tensor.shape) > 5:
        raise f.error("shape", f"{len(tensor.shape)} dims, but 5 are the most")
    align = tensor.align_bytes
    if align is not None and (align < 1 or align & (align - 1)):
        raise f.error("align_bytes", f"{align} is not a power of two")
    return tensor


def _fill(f, dims, default_kind):
    if not f.has("fill"):
        return {"kind": default_kind, "lo": -1.0, "hi": 1.0}
    t = f.table("fill")
    reals = ("uniform", "sums", "special_values")
    fill = {"kind": t.one_of("kind", (*reals, "constant", "integers", "offsets"))}
    if fill["kind"] in reals:
        fill.update(lo=t.number("lo", -1.0), hi=t.number("hi", 1.0))
    elif fill["kind"] == "constant":
        fill.update(value=t.number("value"))
    elif fill["kind"] == "integers":
        fill.update(lo=t.expression("lo", dims).text, hi=t.expression("hi", dims).text)
    else:
        fill.update(total=t.expression("total", dims).text)
    t.done()
    return fill


def _counter(f):
    if not f.has("counted_by"):
        return None
    t = f.table("counted_by")
    counter = {"tensor": t.name("tensor"), "dim": t.integer("dim") if t.has("dim") else 0}
    t.done()
    return counter


def _tolerance(f):
    if not f.has("tolerance"):
        return {}
    t = f.table("tolerance")
    tolerance = {"abs": t.number("abs"), "rel": t.number("rel")}
    t.done()
    if not all(v >= 0 and math.isfinite(v) for v in tolerance.values()):
        raise f.error("tolerance", "not finite, or negative")
    return tolerance


def _knob(f):
    name = f.name()
    values = f.items("values", (int, str), "integers or strings")
    knob = Knob(name, values, f.text("doc", ""), f.flag("tune", name in OPTIONS))
    f.done()
    if not knob.values:
        raise f.error("values", "empty")
    if len({type(v) for v in knob.values}) > 1:
        raise f.error("values", "integers and strings mixed")
    if len(set(knob.values)) != len(knob.values):
        raise f.error("values", "a value is listed twice")
    if knob.is_text and not all(v.isidentifier() and v.isascii() for v in knob.values):
        raise f.error("values", "a string is not an identifier, so expressions could not name it")
    if knob.name in OPTIONS and knob.is_text:
        raise f.error("values", f"{knob.name} takes integers")
    return knob


def _all_knobs_used(package):
    used = set()
    expressions = package.grid + [
        a.value for a in package.arguments if isinstance(a.value, Expression)
    ]
    for argument in package.arguments:
        expressions += argument.shape + argument.strides + argument.block_shape
        if argument.kind == "constexpr" and isinstance(argument.value, str):
            used.add(argument.value)
    for expression in expressions:
        used |= expression.names
    used |= {t.dtype_of for t in package.tensors}
    for knob in package.knobs:
        if knob.name not in OPTIONS and knob.name not in used and not used & knob_names([knob]):
            raise package.error(f"knob[{knob.name}]", "no argument, tensor or grid depends on it")
