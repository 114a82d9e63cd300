"""The parts of a checked package description."""

from dataclasses import dataclass, field

from .errors import PackageError

# Element types: Redzone's names and those in Triton's signatures. Triton has no complex numbers.
DTYPES = {
    "f64": "fp64",
    "f32": "fp32",
    "f16": "fp16",
    "bf16": "bf16",
    "i64": "i64",
    "i32": "i32",
    "u32": "u32",
    "i8": "i8",
    "u8": "u8",
    "bool": "i1",
    "i16": "i16",
    "u16": "u16",
    "u64": "u64",
    "f8e4m3": "fp8e4nv",
    "f8e5m2": "fp8e5",
}
INTEGER_TYPES = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOAT_TYPES = ("fp16", "bf16", "fp32", "fp64")
KINDS = ("tensor", "int", "float", "constexpr", "descriptor")
# Knobs with these names are compiler options.
OPTIONS = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "launch_pdl",
    "launch_cooperative_grid",
)


@dataclass
class Dim:
    name: str
    min: int
    max: int
    multiple_of: int
    values: list
    tile: int
    doc: str

    def domain(self):
        if self.values:
            return self.values
        first = -(-self.min // self.multiple_of) * self.multiple_of
        return range(first, self.max + 1, self.multiple_of)


@dataclass
class Constraint:
    kind: str
    a: str
    b: str

    def holds(self, dims):
        if self.kind == "divides":
            return dims[self.b] % dims[self.a] == 0
        return dims[self.a] <= dims[self.b]


@dataclass
class Tensor:
    name: str
    dtype: str  # empty: the value of the knob `dtype_of`
    dtype_of: str
    role: str
    shape: list
    fill: dict
    align_bytes: int | None  # None: the description is silent
    tolerance: dict
    counted_by: dict | None
    doc: str

    def dtype_for(self, knobs):
        return self.dtype or knobs[self.dtype_of]


@dataclass
class Knob:
    name: str
    values: list
    doc: str
    tune: bool = False  # a launcher may choose the value, since it does not change results

    @property
    def is_text(self):
        return isinstance(self.values[0], str)


@dataclass
class Argument:
    """One parameter of the kernel. `value`: the tensor's or text knob's name, an expression, or a
    plain number or boolean."""

    name: str
    kind: str
    type: str = ""
    value: object = None
    specialize: bool = False
    shape: list = field(default_factory=list)
    strides: list = field(default_factory=list)
    block_shape: list = field(default_factory=list)


@dataclass
class Package:
    file: str
    name: str
    doc: str
    reference: str
    deterministic: bool
    alignment_changes_bits: bool
    remembers_addresses: bool
    work: object
    grid: list
    dims: list
    constraints: list
    tensors: list
    knobs: list
    exclude: list
    arguments: list
    configs: list | None = None  # the settings of the knobs that they name; None: all combinations

    def number_names(self):
        """The names that expressions over dims and knobs may use."""
        return {d.name for d in self.dims} | knob_names(self.knobs)

    def error(self, where, message):
        return PackageError(self.file, where, message)


def knob_names(knobs):
    names = set()
    for knob in knobs:
        names |= {f"{knob.name}_is_{v}" for v in knob.values} if knob.is_text else {knob.name}
    return names


def knob_numbers(knobs, setting):
    """The values of the names of knob_names() under one setting."""
    numbers = {}
    for knob in knobs:
        if knob.is_text:
            numbers.update(
                {f"{knob.name}_is_{v}": int(v == setting[knob.name]) for v in knob.values}
            )
        else:
            numbers[knob.name] = setting[knob.name]
    return numbers
