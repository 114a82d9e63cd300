"""Writes the package folder: target.toml, cubin/*.cubin and cubin/*.json."""

import json
import shutil
from pathlib import Path

from .expressions import Expression

FORMAT_VERSION = 1


def write_package(out, package, kernel, triton_version, arch, variants, files, binaries):
    """`files[i]` is the index in `binaries` of variant i. Replaces earlier contents of the folder."""
    out = Path(out)
    cubins = out / "cubin"
    shutil.rmtree(cubins, ignore_errors=True)
    cubins.mkdir(parents=True)
    stems = [f"{kernel}.{i:03d}" for i in range(len(binaries))]
    for stem, binary in zip(stems, binaries):
        (cubins / f"{stem}.cubin").write_bytes(binary.cubin)
        (cubins / f"{stem}.json").write_bytes(binary.metadata)
    text = _text(package, kernel, triton_version, arch, variants, [stems[f] for f in files])
    # Written last, so that a folder with a target.toml is complete.
    (out / "target.toml").write_text(text, encoding="utf-8")


def _text(package, kernel, triton_version, arch, variants, stems):
    lines = []

    def table(header, **fields):
        if header:
            lines.extend(["", f"[[{header}]]"])
        lines.extend(
            f"{name} = {_value(value)}"
            for name, value in fields.items()
            if value not in (None, "", [], {})
        )

    lines.append(f"redzone_package = {FORMAT_VERSION}")
    table("", name=package.name, doc=package.doc, kernel=kernel, triton=triton_version)
    lines.append(f"arch = {arch}")
    lines.append(f"reference = {_value(package.reference)}")
    lines.append(f"deterministic = {_value(package.deterministic)}")
    if package.alignment_changes_bits:
        lines.append("alignment_changes_bits = true")
    if package.remembers_addresses:
        lines.append("remembers_addresses = true")
    table("", work=package.work)
    lines.append(f"grid = {_value(package.grid)}")
    for d in package.dims:
        if d.values:
            table("dim", name=d.name, values=d.values, tile=d.tile or None, doc=d.doc)
        else:
            table(
                "dim",
                name=d.name,
                min=d.min,
                max=d.max,
                multiple_of=d.multiple_of,
                tile=d.tile or None,
                doc=d.doc,
            )
    for c in package.constraints:
        table("constraint", kind=c.kind, a=c.a, b=c.b)
    for t in package.tensors:
        lines.extend(["", "[[tensor]]", f"name = {_value(t.name)}"])
        table("", dtype=t.dtype, dtype_of=t.dtype_of, role=t.role)
        lines.append(f"shape = {_value(t.shape)}")
        table(
            "",
            fill=t.fill if t.role != "out" else None,
            align_bytes=t.align_bytes,
            tolerance=t.tolerance,
            counted_by=t.counted_by,
            doc=t.doc,
        )
    for k in package.knobs:
        table("knob", name=k.name, values=k.values, tune=k.tune or None, doc=k.doc)
    for a in package.arguments:
        table(
            "argument",
            name=a.name,
            kind=a.kind,
            type=a.type,
            value=_argument_value(a),
            shape=a.shape,
            strides=a.strides,
            block_shape=a.block_shape,
        )
    for variant, stem in zip(variants, stems):
        lines.extend(
            [
                "",
                "[[variant]]",
                f"file = {_value(stem)}",
                f"knobs = {_value(variant.knobs)}",
                f"constants = {_value(variant.constants)}",
                f"classes = {_value(variant.classes)}",
                f"dropped = {_value(variant.dropped(package))}",
            ]
        )
    return "\n".join(lines) + "\n"


def _argument_value(argument):
    value = argument.value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _value(value):
    if isinstance(value, Expression):
        return _value(value.text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # A JSON string is a TOML basic string, except for DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        inner = ", ".join(f"{k} = {_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return "[" + ", ".join(_value(v) for v in value) + "]"
