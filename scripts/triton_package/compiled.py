"""A compiled kernel in the form that a package stores. Needs no Triton."""

import re
from dataclasses import dataclass


@dataclass
class Binary:
    cubin: bytes
    metadata: bytes  # JSON, as Triton writes it


def count_error(ptx, expected):
    entry = re.search(r"\.entry\s+\w+\s*\((.*?)\n\)", ptx, re.DOTALL)
    got = len(re.findall(r"\.param\b", entry.group(1))) if entry else 0
    return (
        None if got == expected else f"has {got} parameters, and the description gives {expected}"
    )
