"""Reads package descriptions, kernels and configs from the user's files."""

import importlib.util
import json
import sys
import tomllib
from pathlib import Path

from .arguments import NO_DEFAULT, Parameter
from .errors import PackageError


def read_toml(path):
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise PackageError(path, "", e.strerror) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise PackageError(path, "", f"no TOML: {e}") from None


def load_module(path):
    path = Path(path).resolve()
    if not path.is_file():
        raise PackageError(path, "", "no such file")
    sys.path.insert(0, str(path.parent))  # for modules in the same folder
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise PackageError(path, "", "no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as e:  # whatever the user's file raises
        raise PackageError(path, "", f"cannot be imported: {type(e).__name__}: {e}") from None
    return module


def load_function(path, name):
    """The @triton.jit function `name`, and the configs of its @triton.autotune (None: none)."""
    module = load_module(path)
    found = getattr(module, name, None)
    if found is None:
        raise PackageError(path, name, "no such function in this file")
    return as_kernel(found, path, name)


def as_kernel(found, path, field):
    from triton.runtime import JITFunction

    configs = None
    while not isinstance(found, JITFunction):
        if getattr(found, "configs", None):
            configs = [c.all_kwargs() for c in found.configs]
        found = getattr(found, "fn", None)
        if found is None:
            raise PackageError(path, field, "no @triton.jit function")
    return found, configs


def parameters_of(kernel):
    return [
        Parameter(
            p.name,
            p.is_constexpr,
            bool(p.do_not_specialize),
            p.default if p.has_default else NO_DEFAULT,
        )
        for p in kernel.params
    ]


def load_python_description(path):
    """The table of PACKAGE without its kernel, and the kernel."""
    table = getattr(load_module(path), "PACKAGE", None)
    if not isinstance(table, dict):
        raise PackageError(path, "PACKAGE", "missing, or no table")
    table = dict(table)
    if "kernel" not in table:
        raise PackageError(path, "kernel", "missing")
    kernel, _ = as_kernel(table.pop("kernel"), path, "kernel")
    return table, kernel


def load_configs(path):
    """The configs of a TOML file ([[config]] tables) or JSON file (a list of objects). If an object
    has "kwargs", as in a dump of triton.Config, these are merged into it."""
    if Path(path).suffix == ".json":
        try:
            configs = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as e:
            raise PackageError(path, "", e.strerror) from None
        except ValueError as e:
            raise PackageError(path, "", f"no JSON: {e}") from None
    else:
        configs = read_toml(path).get("config")
    if not isinstance(configs, list) or not configs:
        raise PackageError(path, "config", "missing, or no list of tables")
    flat = []
    for i, config in enumerate(configs):
        kwargs = config.get("kwargs", {}) if isinstance(config, dict) else None
        if not isinstance(kwargs, dict):
            raise PackageError(path, f"config[{i}]", "no table")
        flat.append({**kwargs, **{k: v for k, v in config.items() if k != "kwargs"}})
    return flat


def knobs_of(configs, file):
    """The knobs that configs set, as tables of a description. Booleans become 0 and 1."""
    knobs: dict[str, list] = {name: [] for name in configs[0]}
    for i, config in enumerate(configs):
        for name in knobs.keys() ^ config.keys():
            raise PackageError(file, f"config[{i}].{name}", "set in some configs, but not in all")
        for name, given in config.items():
            value = int(given) if isinstance(given, bool) else given
            config[name] = value
            if not isinstance(value, (int, str)):
                raise PackageError(
                    file, f"config[{i}].{name}", f"{value!r} is not an integer or string"
                )
            if value not in knobs[name]:
                knobs[name].append(value)
    # Configs are alternatives for tuning. A string may be a type, which changes results.
    return [
        {"name": name, "values": values, "tune": not isinstance(values[0], str)}
        for name, values in knobs.items()
    ]
