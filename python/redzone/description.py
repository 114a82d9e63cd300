"""Writes targets as the data that the driver reads (the format: docs/python.md)."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .expressions import Expression
from .files import Files, version_of
from .spec import Dim, Fill, Knob, Tensor, Tolerance, uniform
from .targets import Target

VERSION = 1

# Default tolerances (absolute and relative) of outputs for which the file gives none: a few roundings of
# element types that are coarser than the driver's default of 1e-5.
_COARSE = {"f16": 2**-9, "bf16": 2**-7, "f8e4m3": 2**-2, "f8e5m2": 2**-1}


def description(files: Files, targets: Sequence[Target], alone: Mapping[str, str]) -> dict[str, Any]:
    """What the driver reads of the targets of the files. `alone`: the hash of the code of each file
    (alone.py); one that has none there gets that of all."""
    whole = files.code_hash()
    return {
        "redzone_python": VERSION,
        "python": platform.python_version(),
        # The started program may have been a script that searches for an interpreter, which takes time at
        # each start.
        "executable": sys.executable,
        "torch": version_of("torch"),
        "triton": version_of("triton"),
        "code_hash": whole,
        "target": [
            {**describe_target(t, file), "code_hash": alone.get(file, whole)}
            for t, file in ((t, files.word_of(t)) for t in targets)
        ],
    }


def describe_target(target: Target, file: str) -> dict[str, Any]:
    """One target; `file` is how the driver names its file."""
    table: dict[str, Any] = {
        "name": target.name,
        "doc": target.doc,
        "file": file,
        "line": target.place.line,
        "category": target.category,
        "dim": [_dim(d) for d in target.dims],
        "knob": [_knob(k) for k in target.knobs],
        "constraint": [
            {"kind": "require", "holds": c.condition.text, "text": c.text} for c in target.constraints
        ],
        "tensor": [_tensor(name, t, target) for name, t in target.tensors.items()],
        "deterministic": target.deterministic,
        "alignment_changes_bits": target.alignment_changes_bits,
        "remembers_addresses": target.remembers_addresses,
        "has_reference": target.reference is not None,
        "state": target.state,
        "capturable": False,
    }
    if target.tolerance is not None:
        table["tolerance"] = _tolerance(target.tolerance)
    if target.work is not None:
        table["work"] = target.work.text
    return table


def _dim(dim: Dim) -> dict[str, Any]:
    table: dict[str, Any] = {"name": dim.name, "tile": dim.tile, "doc": dim.doc}
    if dim.values is not None:
        table["values"] = dim.values
    else:
        table.update(min=dim.minimum, max=dim.maximum, multiple_of=dim.multiple_of)
    return table


def _knob(knob: Knob) -> dict[str, Any]:
    return {"name": knob.name, "values": knob.written, "doc": knob.doc}


def _tensor(name: str, tensor: Tensor, target: Target) -> dict[str, Any]:
    table: dict[str, Any] = {
        "name": name,
        "role": tensor.role,
        "shape": [e.text for e in tensor.shape],
        "returned": name in target.results,
    }
    if tensor.align is not None:
        table["align_bytes"] = tensor.align
    if tensor.counted_by is not None:
        table["counted_by"] = {"tensor": tensor.counted_by[0], "dim": tensor.counted_by[1]}
    if isinstance(tensor.dtype, Knob):
        table["dtype_of"] = tensor.dtype.name
    else:
        table["dtype"] = tensor.dtype
    if tensor.layouts:
        table["layout"] = {**dict.fromkeys(tensor.layouts, True), "granule_elems": tensor.granule}
    if tensor.role != "out":
        table["fill"] = _fill(tensor.fill or uniform())
    allowed = tensor.tolerance
    if allowed is None and target.tolerance is None and tensor.role != "in":
        allowed = _default_tolerance(tensor)
    if allowed is not None:
        table["tolerance"] = _tolerance(allowed)
    return table


def _default_tolerance(tensor: Tensor) -> Tolerance | None:
    """By element type; the widest of them where a knob decides. None: the driver's."""
    dtypes = tensor.dtype.written if isinstance(tensor.dtype, Knob) else [tensor.dtype]
    coarse = [_COARSE[dtype] for dtype in dtypes if dtype in _COARSE]
    return Tolerance(max(coarse), max(coarse)) if coarse else None


def _fill(fill: Fill) -> dict[str, Any]:
    if fill.kind == "constant":
        return {"kind": "constant", "value": fill.lo}
    lo, hi = (e.text if isinstance(e, Expression) else e for e in (fill.lo, fill.hi))
    if fill.kind == "offsets":
        return {"kind": "offsets", "total": hi}
    return {"kind": fill.kind, "lo": lo, "hi": hi}


def _tolerance(tolerance: Tolerance) -> dict[str, float]:
    return {"abs": tolerance.abs, "rel": tolerance.rel}
