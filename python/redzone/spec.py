"""What a target declares: dims, knobs, tensors, fills, constraints.

These are plain values. Whether they fit a callable is decided in targets.py, and description.py
writes them for the driver.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import Place, SpecError, calling_place, did_you_mean
from .expressions import MOST_EXACT, RESERVED, Expression, Symbol, Value, expression

MOST_RANK = 5

# Element types by their names in plans, with their sizes in bytes.
DTYPES = {
    "f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i32": 4, "u32": 4, "i64": 8,
    "bool": 1, "i16": 2, "u16": 2, "u64": 8, "f8e4m3": 1, "f8e5m2": 1, "c64": 8, "c128": 16,
}  # fmt: skip

# Aliases of the element types: their names in torch and numpy.
_ALIASES = {
    "float32": "f32", "float": "f32", "float64": "f64", "double": "f64", "float16": "f16", "half": "f16",
    "bfloat16": "bf16", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32",
    "int": "i32", "uint32": "u32", "int64": "i64", "long": "i64", "uint64": "u64",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "complex64": "c64", "complex128": "c128",
}  # fmt: skip

# Layouts that a tensor may have in addition to contiguous.
_LAYOUTS = (
    "row_padding",
    "transposed",
    "offset",
    "unit_strides",
    "heads_first",
    "slice",
    "broadcast",
    "reversed",
)
_LAYOUT_SETS = {
    "contiguous": (),
    "strided": ("row_padding", "transposed", "offset", "unit_strides"),
}


def check_name(name: object, what: str) -> str:
    """`name`, if it can be the name of a dim, knob or tensor."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise SpecError(f"the name of a {what} is {name!r}, and must be an identifier")
    if keyword.iskeyword(name):
        raise SpecError(f"'{name}' is a word of Python, so no {what} can have that name")
    if name in RESERVED:
        raise SpecError(f"'{name}' is reserved in expressions, so no {what} can have that name")
    return name


def _integer(value: object, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what} is {value!r}, and must be an integer")
    if not least <= value <= MOST_EXACT:
        raise SpecError(f"{what} is {value}, and must be in {least}..2^53")
    return value


class Dim(Symbol):
    """An integer of the shape, in [min, max] or one of `values`, drawn by Redzone for each call.

    `tile` is a block size worth hitting from both sides.
    """

    __slots__ = ("doc", "maximum", "minimum", "multiple_of", "place", "tile", "values")

    def __init__(
        self,
        name: str,
        min: int = 1,
        max: int = 4096,
        *,
        multiple_of: int = 1,
        values: Sequence[int] | None = None,
        tile: int = 0,
        doc: str = "",
    ) -> None:
        super().__init__(check_name(name, "dim"))
        self.place = calling_place()
        self.doc = doc
        self.tile = _integer(tile, f"tile of dim '{name}'", 0)
        self.values = None if values is None else [_integer(v, f"a value of dim '{name}'", 0) for v in values]
        if self.values is not None:
            if not self.values or sorted(set(self.values)) != self.values:
                raise SpecError(f"values of dim '{name}' are {self.values}, and must ascend")
            min, max = self.values[0], self.values[-1]
        self.minimum = _integer(min, f"min of dim '{name}'", 0)
        self.maximum = _integer(max, f"max of dim '{name}'", 0)
        self.multiple_of = _integer(multiple_of, f"multiple_of of dim '{name}'", 1)
        if self.maximum < self.minimum:
            raise SpecError(f"max of dim '{name}' is {max}, less than min = {min}")
        if self.maximum // multiple_of * multiple_of < self.minimum:
            raise SpecError(f"dim '{name}' has no multiple of {multiple_of} in {min}..{max}")


def _knob_text(value: object) -> str:
    """What plans say for a value: the same in each process."""
    if isinstance(value, str):
        return value
    if callable(value) and isinstance(name := getattr(value, "__name__", None), str):
        return name
    try:
        text = repr(value)
    except Exception as error:
        text = f"{type(error).__name__} of repr()"
    if re.search(r"\bat 0x[0-9a-f]+", text):
        raise SpecError(
            f"a knob has the value {text}, which is another text in each process: give it a __repr__, or"
            " use text that the callable looks up"
        )
    return text


class Knob(Symbol):
    """A setting of the callable; the first value is the default.

    `values` are any Python values. `written` has what plans say instead: integers as they are, and
    everything else as text.
    """

    __slots__ = ("doc", "place", "values", "written")

    def __init__(self, values: Sequence[Any], name: str = "", doc: str = "") -> None:
        super().__init__(check_name(name, "knob") if name else "")
        self.place = calling_place()
        self.doc = doc
        self.values = list(values)
        if not self.values:
            raise SpecError("a knob has no values")
        numbers = all(
            isinstance(v, int) and not isinstance(v, bool) and abs(v) <= MOST_EXACT for v in self.values
        )
        self.written: list[int] | list[str] = (
            [int(v) for v in self.values] if numbers else [_knob_text(v) for v in self.values]
        )
        for i, text in enumerate(self.written):
            if text in self.written[:i]:
                raise SpecError(f"a knob lists the value {text!r} twice")
            if isinstance(text, str) and not (text and text.isprintable()):
                raise SpecError(f"a knob has the value {text!r}, which is empty or cannot be printed")

    @property
    def is_text(self) -> bool:
        return isinstance(self.written[0], str)

    def problem(self) -> str:
        if not self.name:
            return "a knob in an expression needs a name: rz.knob(..., name=...)"
        return f"the knob '{self.name}' is text, and not a number" if self.is_text else ""

    def rename(self, name: str) -> None:
        """Gives it the name of the parameter that it is for; it may be for several of that name."""
        if self.name and self.name != name:
            raise SpecError(f"the knob '{self.name}' is given for '{name}': name it so, by name='{name}'")
        self.name = self.text = self.python = check_name(name, "knob")
        self.symbols = {name: self}

    def name_dtypes(self) -> None:
        """Of a knob that is an element type: plans have the names of those."""
        self.written = [dtype_name(value) for value in self.values]

    def decoded(self, written: int | str) -> Any:
        """The Python value for what a plan says."""
        return self.values[self.written.index(written)]  # type: ignore[arg-type]


@dataclass(frozen=True)
class Fill:
    """How an input is filled."""

    kind: str
    lo: Expression | float = 0
    hi: Expression | float = 0


def uniform(lo: float = -1.0, hi: float = 1.0) -> Fill:
    """Reals in [lo, hi), which is the default."""
    return _reals("uniform", lo, hi)


def sums(lo: float = -1.0, hi: float = 1.0) -> Fill:
    """For inputs of matrix products: reals in [lo, hi) or, if the seed of the call is even, sparse
    integers from -2 to 2, whose products have exact sums in every order."""
    return _reals("sums", lo, hi)


def special_values(lo: float = -1.0, hi: float = 1.0) -> Fill:
    """Reals in [lo, hi); if the seed of the call is even, one element in 16 is instead NaN, an infinity,
    -0, or of either sign the smallest magnitude above 0 or the smallest normal one."""
    return _reals("special_values", lo, hi)


def _reals(kind: str, lo: float, hi: float) -> Fill:
    for value in (lo, hi):
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise SpecError(f"{kind}({lo!r}, {hi!r}) takes finite numbers")
    if hi < lo:
        raise SpecError(f"{kind}({lo!r}, {hi!r}): the second is less than the first")
    return Fill(kind, float(lo), float(hi))


def constant(value: float) -> Fill:
    """One value for all elements."""
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SpecError(f"constant({value!r}) takes a finite number")
    return Fill("constant", float(value), float(value))


def integers(lo: Value, hi: Value) -> Fill:
    """Integers in [lo, hi], the ends drawn often; both may depend on dims."""
    return Fill("integers", expression(lo, "lo of integers()"), expression(hi, "hi of integers()"))


def offsets(total: Value) -> Fill:
    """Ascending integers from 0 to `total`: row offsets of a ragged batch. Empty rows occur."""
    return Fill("offsets", expression(0), expression(total, "the total of offsets()"))


def dtype_name(dtype: object) -> str:
    """The name in plans of an element type: a name, or one of torch or numpy."""
    text = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    text = text.removeprefix("torch.")
    text = _ALIASES.get(text, text)
    if text not in DTYPES:
        raise SpecError(f"no element type {dtype!r}{did_you_mean(text, DTYPES)}")
    return text


def layout_names(layout: str | Iterable[str]) -> tuple[str, ...]:
    """The single layouts that `layout`, a name or several, allows."""
    allowed: list[str] = []
    for name in [layout] if isinstance(layout, str) else list(layout):
        if name in _LAYOUT_SETS:
            allowed += _LAYOUT_SETS[name]
        elif name in _LAYOUTS:
            allowed.append(name)
        else:
            raise SpecError(f"no layout {name!r}{did_you_mean(str(name), [*_LAYOUTS, *_LAYOUT_SETS])}")
    return tuple(dict.fromkeys(allowed))


@dataclass(frozen=True)
class Tolerance:
    """|got - want| <= abs + rel * |want|."""

    abs: float
    rel: float


def tolerance(value: object) -> Tolerance | None:
    """None, one number for both parts, or the pair (abs, rel)."""
    if value is None or isinstance(value, Tolerance):
        return value
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2 or not all(isinstance(v, (int, float)) and math.isfinite(v) and v >= 0 for v in pair):
        raise SpecError(f"the tolerance is {value!r}, and must be a number or (abs, rel), both >= 0")
    return Tolerance(float(pair[0]), float(pair[1]))


def _counter(counted_by: object, role: str) -> tuple[str, int] | None:
    if counted_by is None:
        return None
    if role != "out":
        raise SpecError("only an output, rz.Out, can be counted")
    name, dim = (counted_by, 0) if isinstance(counted_by, str) else _pair(counted_by)
    return check_name(name, "tensor"), _integer(dim, "the dim of counted_by", 0)


def _pair(counted_by: object) -> tuple[str, int]:
    pair = counted_by if isinstance(counted_by, (tuple, list)) else ()
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise SpecError(f"counted_by is {counted_by!r}, and must be a name or (name, dim)")
    return pair[0], pair[1]


class Tensor:
    """A tensor argument or result.

    dtype    "f32", "bf16", "i64", ..., a type of torch or numpy, or a knob of such names
    shape    integers and expressions of dims, at most five
    layout   "contiguous" (the default), "strided", or one or several of row_padding, transposed,
             offset, unit_strides, heads_first, slice, broadcast, reversed
    fill     uniform (the default), sums, special_values, constant, integers, offsets
    tol      tolerance of this output: (abs, rel)
    counted_by
             the tensor of integers that says after the call how many entries of this output are valid,
             from the first on: its name, and (name, dim) if it has one number for each index of the
             dims before `dim`. The others may be anything; a reference leaves them 0
    align    alignment of its address in bytes that the callable may rely on; if it is not given, 16 in
             most plans, and in some the size of an element
    granule  paddings and offsets are multiples of this many elements
    name     of a result that is returned; arguments have the name of their parameter
    """

    role = ""

    def __init__(
        self,
        dtype: object,
        *shape: Value,
        layout: str | Iterable[str] = "contiguous",
        fill: Fill | None = None,
        tol: object = None,
        counted_by: str | tuple[str, int] | None = None,
        align: int | None = None,
        granule: int = 1,
        name: str = "",
    ) -> None:
        self.place = calling_place()
        self.dtype = dtype if isinstance(dtype, Knob) else dtype_name(dtype)
        if isinstance(dtype, Knob):
            dtype.name_dtypes()
        extents: list[Any] = list(shape)
        if len(extents) == 1 and isinstance(extents[0], (tuple, list)):
            extents = list(extents[0])
        if len(extents) > MOST_RANK:
            raise SpecError(f"a shape has {len(extents)} dims, and {MOST_RANK} are the most")
        self.shape = [expression(s, f"extent {i} of a shape") for i, s in enumerate(extents)]
        self.layouts = layout_names(layout)
        if "broadcast" in self.layouts and self.role != "in":
            raise SpecError("only inputs can have the layout 'broadcast'")
        if fill is not None and not isinstance(fill, Fill):
            raise SpecError(f"fill is {fill!r}, and must be rz.uniform(...), rz.integers(...) or the like")
        if fill is not None and self.role == "out":
            raise SpecError("an output has no fill: it is not initialized")
        self.fill = fill
        self.tolerance = tolerance(tol)
        self.counted_by = _counter(counted_by, self.role)
        is_number = isinstance(align, int) and not isinstance(align, bool)
        if align is not None and (not is_number or align < 1 or align & (align - 1)):
            raise SpecError(f"align is {align!r}, and must be a power of two")
        self.align = align
        self.granule = _integer(granule, "granule", 1)
        self.name = check_name(name, "tensor") if name else ""

    def expressions(self) -> list[Expression]:
        fill = [] if self.fill is None else [self.fill.lo, self.fill.hi]
        return [*self.shape, *(e for e in fill if isinstance(e, Expression))]


class In(Tensor):
    """An input. It is filled before the call and must not change."""

    role = "in"


class Out(Tensor):
    """An output: a parameter that the callable writes, or with `returns=` what it returns."""

    role = "out"


class InOut(Tensor):
    """An argument that the callable reads and writes."""

    role = "inout"


@dataclass(frozen=True)
class Requirement:
    """A condition that the dims and integer knobs of each call meet."""

    condition: Expression
    place: Place = field(default_factory=calling_place)

    @property
    def text(self) -> str:
        return f"{self.place}: {self.condition.python}"


# As files of targets write it.
dim = Dim


def dims(**ranges: Any) -> list[Dim]:
    """Several dims in order: `M, N = rz.dims(M=(1, 4096), N=(1, 8192, {"tile": 64}))`."""
    made = []
    for name, given in ranges.items():
        values: list[Any] = list(given) if isinstance(given, (tuple, list)) else [given]
        options: dict[str, Any] = values.pop() if values and isinstance(values[-1], dict) else {}
        unknown = set(options) - {"multiple_of", "values", "tile", "doc"}
        for option in sorted(unknown):
            hint = did_you_mean(option, ["multiple_of", "values", "tile", "doc"])
            raise SpecError(f"dim '{name}' has no option '{option}'{hint}")
        if len(values) not in ((0, 2) if "values" in options else (2,)):
            raise SpecError(f"dim '{name}' is {given!r}, and must be (min, max) or (min, max, options)")
        made.append(Dim(name, *values, **options))
    return made


def knob(*values: Any, name: str = "", doc: str = "") -> Knob:
    """Declares a setting with these values, the default first. It gets the name of its parameter."""
    return Knob(values, name, doc)
