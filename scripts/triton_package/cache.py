"""A package from Triton's cache of compiled kernels (by default ~/.triton/cache).

The cache contains the compiled kernels: their arguments in order with types and alignment, warps,
stages and CTAs of a cluster. It contains neither dims, tensors and the grid nor the values of
constants: these come from the user's description, constants as [[entry]] tables:

    [[entry]]
    hash = "BUD7KB"             # how the name of the entry's folder begins
    constants = { BLOCK = 64 }

A constant that no [[argument]] describes becomes a knob with its name.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from .arguments import Parameter
from .compiled import Binary, count_error
from .description import read_package
from .errors import PackageError
from .fields import Fields
from .folder import write_package
from .loader import read_toml
from .model import OPTIONS
from .variants import Variant

_MEMBERS = (
    "name",
    "target",
    "num_warps",
    "num_ctas",
    "num_stages",
    "shared",
    "global_scratch_size",
    "global_scratch_align",
    "profile_scratch_size",
    "profile_scratch_align",
    "triton_version",
)
_TTIR_TYPES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64"}


@dataclass
class Entry:
    """One compiled kernel of the cache."""

    file: Path  # of the metadata
    metadata: dict
    binary: Binary
    ptx: str
    types: dict  # of its arguments, in order, as in Triton's signatures
    aligned: set  # the arguments known to be multiples of 16
    constants: dict

    def error(self, field, message):
        return PackageError(self.file, field, message)


def export_cache(folder, describe, kernel, arch, out):
    """Writes the package; returns a one-line summary."""
    entries = _entries(Path(folder), kernel, arch)
    if describe is None:
        raise PackageError(
            folder, "dim", "a cache does not hold dims, tensors and grid: give --describe"
        )
    table = read_toml(describe)
    _set_constants(Fields(describe, "", table), entries)
    table.pop("entry", None)
    if "knob" in table:
        raise PackageError(describe, "knob", "the knobs of a cache are those of its entries")
    described = {a.get("name"): a for a in table.get("argument", []) if isinstance(a, dict)}
    parameters = _parameters(describe, entries, described)
    settings = [_setting(e, described) for e in entries]
    knobs = [{"name": n, "values": sorted({s[n] for s in settings})} for n in settings[0]]
    package = read_package(describe, table, parameters, extra_knobs=knobs, configs=settings)
    variants = _variants(package, entries, settings)
    write_package(
        out,
        package,
        entries[0].metadata["name"],
        entries[0].metadata["triton_version"],
        arch,
        variants,
        range(len(entries)),
        [e.binary for e in entries],
    )
    return f"{package.name}: {len(variants)} variants in {out}"


def _entries(folder, kernel, arch):
    if not folder.is_dir():
        raise PackageError(folder, "", "no such folder")
    found: dict = {}
    for path in sorted(folder.glob("*/*.json")) + sorted(folder.glob("*.json")):
        if not path.name.startswith("__grp__") and path.with_suffix(".cubin").exists():
            found.setdefault(path.stem, []).append(path)
    if not found:
        raise PackageError(folder, "", "no compiled kernel (NAME.json beside NAME.cubin) in it")
    if kernel is None and len(found) > 1:
        raise PackageError(folder, "", f"holds {', '.join(sorted(found))}: give --kernel")
    if kernel is not None and kernel not in found:
        raise PackageError(folder, "", f"no kernel '{kernel}', but {', '.join(sorted(found))}")
    entries = [_entry(path, arch) for path in found[kernel or next(iter(found))]]
    for e in entries[1:]:
        if e.metadata["triton_version"] != entries[0].metadata["triton_version"]:
            raise e.error("triton_version", "differs from that of the other entries")
    return entries


def _entry(path, arch):
    text = path.read_bytes()
    try:
        metadata = json.loads(text)
    except ValueError as e:
        raise PackageError(path, "", f"no JSON: {e}") from None
    for field in _MEMBERS:
        if field not in metadata:
            raise PackageError(path, field, "missing")
    target = metadata["target"]
    if target.get("backend") != "cuda" or target.get("arch") != arch:
        raise PackageError(
            path, "target", f"{target.get('backend')} {target.get('arch')}, not cuda {arch}"
        )
    beside = {}
    for kind in ("ttir", "ptx"):
        source = path.with_suffix("." + kind)
        if not source.exists():
            raise PackageError(source, "", "missing: the arguments of the kernel stand there")
        beside[kind] = source.read_text(encoding="utf-8")
    types, aligned = _signature(beside["ttir"], path.with_suffix(".ttir"))
    return Entry(
        path,
        metadata,
        Binary(path.with_suffix(".cubin").read_bytes(), text),
        beside["ptx"],
        types,
        aligned,
        {},
    )


def _signature(ttir, path):
    """The arguments in order with their types, and those that are multiples of 16."""
    header = re.search(r"tt\.func public @\w+\((.*?)\) attributes", ttir, re.DOTALL)
    if header is None:
        raise PackageError(path, "tt.func", "no public function")
    types, aligned = {}, set()
    for part in re.split(r"(?:^|, )%", header.group(1))[1:]:
        name, _, rest = part.partition(": ")
        kind = re.split(r"\s", rest, maxsplit=1)[0].rstrip(",")
        if re.fullmatch(r"arg\d+", name):
            raise PackageError(
                path, "tt.func", "compiled without line information, so without names"
            )
        pointer = re.fullmatch(r"!tt\.ptr<(\w+)>", kind)
        if pointer:
            kind = "*" + _TTIR_TYPES.get(pointer.group(1), pointer.group(1))
        elif kind.startswith("!tt.tensordesc"):
            raise PackageError(
                path, name, "arguments that are descriptors are not read from a cache"
            )
        types[name] = _TTIR_TYPES.get(kind, kind)
        if re.search(r"tt\.divisibility = 16\b", rest):
            aligned.add(name)
    return types, aligned


def _set_constants(top, entries):
    for f in top.tables("entry"):
        begin = f.text("hash")
        constants = f.take("constants", dict, "a table of integers")
        f.done()
        hits = [e for e in entries if e.file.parent.name.startswith(begin)]
        if len(hits) != 1:
            raise f.error("hash", f"'{begin}' begins the names of {len(hits)} entries, not of one")
        hits[0].constants = constants


def _parameters(describe, entries, described):
    """The kernel's parameters. A compiled kernel lacks constants, which are not passed to it, and
    integers that are 1 in that kernel."""
    names = list(described)
    longest = max(entries, key=lambda e: len(e.types))
    if not set(longest.types) <= set(names):
        # Not fully described: the entry with the most arguments gives the order.
        names = list(longest.types) + [n for n in names if n not in longest.types]
    constants = dict.fromkeys(n for e in entries for n in e.constants)
    names += [n for n in constants if n not in names]
    for e in entries:
        order = [n for n in names if n in e.types]
        if order != list(e.types):
            raise PackageError(
                describe,
                "argument",
                f"describe all arguments, in the kernel's order: "
                f"{e.file.parent.name} has {', '.join(e.types)}",
            )
    return [
        Parameter(n, is_constexpr=n in constants or described.get(n, {}).get("kind") == "constexpr")
        for n in names
    ]


def _setting(entry, described):
    setting = {name: entry.metadata[name] for name in OPTIONS[:3]}
    for name, value in entry.constants.items():
        if name not in described:
            if not isinstance(value, int):
                raise entry.error(f"constants.{name}", f"{value!r} is not an integer")
            setting[name] = int(value)
    return setting


def _variants(package, entries, settings):
    variants = []
    for entry, setting in zip(entries, settings):
        classes, expected = {}, 2
        constants = {}
        for a in package.arguments:
            if a.kind == "constexpr":
                constants[a.name] = _constant(package, entry, setting, a)
                continue
            kind = entry.types.get(a.name)
            expected += kind is not None
            if kind is None:
                if a.kind != "int" or not a.specialize:
                    raise entry.error(a.name, "the compiled kernel has no such argument")
                classes[a.name] = "1"
                continue
            declared = a.type if a.type != "*" else kind
            # Compiled types do not include the sign.
            if kind.lstrip("*").lstrip("u") != declared.lstrip("*").lstrip("u"):
                raise package.error(
                    f"argument[{a.name}].type", f"{declared}, but {kind} in {entry.file}"
                )
            if a.specialize:
                classes[a.name] = "16" if a.name in entry.aligned else "other"
            elif a.name in entry.aligned:
                raise package.error(
                    f"argument[{a.name}].specialize",
                    f"false, but {entry.file} needs a multiple of 16",
                )
        wrong = count_error(entry.ptx, expected)
        if wrong:
            raise entry.error("ptx", wrong)
        variants.append(Variant(setting, constants, classes))
    _told_apart(package, entries, variants)
    return variants


def _constant(package, entry, setting, argument):
    if argument.name in entry.constants:
        return entry.constants[argument.name]
    value = argument.value
    if hasattr(value, "names") and value.names <= setting.keys():
        return value(setting)
    if not hasattr(value, "names"):
        return value
    raise package.error("entry", f"no constant '{argument.name}' for {entry.file.parent.name}")


def _told_apart(package, entries, variants):
    seen: dict = {}
    for entry, variant in zip(entries, variants):
        key = repr((variant.knobs, variant.constants, variant.classes))
        if key in seen:
            raise package.error(
                "entry",
                f"{seen[key]} and {entry.file.parent.name} differ in nothing "
                "that is described: give the constants of both",
            )
        seen[key] = entry.file.parent.name
