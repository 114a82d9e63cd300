#!/usr/bin/env python3
r"""Makes kernel packages for `redzone`: Triton kernels, compiled ahead of time, without a GPU.

    triton_export.py compile PACKAGE.py --out DIR
    triton_export.py function FILE.py:FUNCTION --describe DESCRIPTION.toml --configs CONFIGS \
        --out DIR
    triton_export.py cache TRITON_CACHE --describe DESCRIPTION.toml --out DIR
    triton_export.py shipped --out DIR

`./scripts/setup --triton` creates the environment that the first two need; this script finds it.
src/targets/triton/README.md documents descriptions. Exit code 2: the description or another input is
wrong; one line on stderr names the place.
"""

import argparse
import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from triton_package.errors import PackageError
from triton_package.loader import (
    knobs_of,
    load_configs,
    load_function,
    load_python_description,
    parameters_of,
    read_toml,
)


def main():
    arguments = _parser().parse_args()
    if arguments.command != "cache":
        _use_environment()
        if not arguments.line_info:
            # Line information is two thirds of a cubin and contains the path of the source.
            os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    try:
        arguments.run(arguments)
    except PackageError as e:
        print(f"triton_export: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"triton_export: {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, run, about):
        sub = commands.add_parser(name, help=about, description=about)
        sub.set_defaults(run=run)
        sub.add_argument("--out", required=True, metavar="DIR", help="the package folder")
        sub.add_argument("--arch", type=int, default=90, help="compute capability, 90 for an H100")
        sub.add_argument("--line-info", action="store_true", help="keep source lines in the cubins")
        sub.add_argument("--verbose", action="store_true", help="what the compiler prints")
        return sub

    sub = command("compile", _compile, "a package from a description in Python")
    sub.add_argument("package", metavar="PACKAGE.py")
    sub = command("function", _function, "a package from a @triton.jit function")
    sub.add_argument("function", metavar="FILE.py:FUNCTION")
    sub.add_argument("--describe", required=True, metavar="TOML", help="dims, tensors, grid")
    sub.add_argument(
        "--configs",
        metavar="TOML|JSON",
        help="a list of configs; without it those of the function's @triton.autotune",
    )
    sub = command("cache", _cache, "a package from a folder that Triton cached kernels in")
    sub.add_argument("cache", metavar="DIR")
    sub.add_argument("--describe", metavar="TOML", help="dims, tensors, grid")
    sub.add_argument("--kernel", metavar="NAME", help="where the folder holds several")
    command("shipped", _shipped, "all packages of src/targets/triton, each in a folder of DIR")
    return parser


def _use_environment():
    """Continues in the environment of `./scripts/setup --triton` if this Python has no Triton."""
    if importlib.util.find_spec("triton"):
        return
    python = ROOT / "build" / "triton-venv" / "bin" / "python"
    if not python.exists() or Path(sys.prefix) == python.parent.parent:
        print(
            "triton_export: no Triton here; ./scripts/setup --triton installs it", file=sys.stderr
        )
        sys.exit(2)
    os.execv(python, [str(python), *sys.argv])


def _compile(arguments):
    _compile_description(arguments.package, arguments.out, arguments)


def _compile_description(path, out, arguments):
    from triton_package.build import build_package
    from triton_package.description import read_package

    table, kernel = load_python_description(path)
    package = read_package(path, table, parameters_of(kernel))
    print(build_package(package, kernel, arguments.arch, out, arguments.verbose))


def _function(arguments):
    from triton_package.build import build_package
    from triton_package.description import read_package

    path, colon, name = arguments.function.rpartition(":")
    if not colon:
        raise PackageError(arguments.function, "", "FILE.py:FUNCTION is expected")
    kernel, configs = load_function(path, name)
    source = arguments.configs or path
    if arguments.configs:
        configs = load_configs(arguments.configs)
    elif not configs:
        raise PackageError(path, name, "no @triton.autotune with configs: give --configs")
    table = read_toml(arguments.describe)
    package = read_package(
        arguments.describe,
        table,
        parameters_of(kernel),
        extra_knobs=knobs_of(configs, source),
        configs=configs,
    )
    print(build_package(package, kernel, arguments.arch, arguments.out, arguments.verbose))


def _cache(arguments):
    from triton_package.cache import export_cache

    print(
        export_cache(
            arguments.cache, arguments.describe, arguments.kernel, arguments.arch, arguments.out
        )
    )


def _shipped(arguments):
    for path in sorted((ROOT / "src" / "targets" / "triton").glob("*.py")):
        # The other files are helpers of the packages.
        if "\nPACKAGE = " in path.read_text(encoding="utf-8"):
            _compile_description(path, Path(arguments.out) / path.stem, arguments)


if __name__ == "__main__":
    sys.exit(main())
