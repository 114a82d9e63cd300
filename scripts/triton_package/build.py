"""From a checked description to a package folder."""

import triton

from .compiler import compile_sources, source_of
from .folder import write_package
from .variants import enumerate_variants


def build_package(package, kernel, arch, out, verbose=False):
    """Compiles the variants and writes the package to `out`; returns a one-line summary."""
    variants = enumerate_variants(package)
    sources = [source_of(package, v) for v in variants]
    distinct = {source: i for i, source in enumerate(dict.fromkeys(sources))}
    first = {source: v for v, source in reversed(list(zip(variants, sources)))}
    binaries = compile_sources(
        package, kernel, list(distinct), arch, verbose, lambda s: first[s].describe()
    )
    write_package(
        out,
        package,
        kernel.__name__,
        triton.__version__,
        arch,
        variants,
        [distinct[s] for s in sources],
        binaries,
    )
    kib = sum(len(b.cubin) for b in binaries) // 1024
    return f"{package.name}: {len(variants)} variants, {len(binaries)} cubins, {kib} KiB in {out}"
