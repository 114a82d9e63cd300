"""The values of inputs and of poison, as src/device/buffer_math.h makes them, to the bit."""

import math
import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

WORD = (1 << 64) - 1
BYTES = {
    "f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i32": 4, "u32": 4, "i64": 8,
    "bool": 1, "i16": 2, "u16": 2, "u64": 8, "f8e4m3": 1, "f8e5m2": 1, "c64": 8, "c128": 16,
}  # fmt: skip
# Fraction bits, exponent bias, and bits of the largest finite number.
F8 = {"f8e4m3": (3, 7, 0x7E), "f8e5m2": (2, 15, 0x7B)}


def mix(x: int) -> int:
    """The finalizer of splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def random_word(seed: int, index: int) -> int:
    return mix((seed + index * 0x9E3779B97F4A7C15) & WORD)


def as_f32(x: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def fused(a: float, b: float, c: float) -> float:
    """a * b + c for floats of 32 bits whose product a double holds, rounded once."""
    product = a * b
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    # Round to odd, so that the second rounding gives the same result as a single one.
    if error and struct.unpack("<q", struct.pack("<d", total))[0] & 1 == 0:
        total = math.nextafter(total, math.copysign(math.inf, error))
    return as_f32(total)


def f8_bits(x: float, dtype: str) -> int:
    """To the nearest even; beyond the largest finite number that."""
    fraction, bias, largest = F8[dtype]
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    if math.isnan(x):
        return 0x7F
    magnitude = abs(x)
    exponent = max(math.frexp(magnitude)[1] - 1, 1 - bias) if magnitude else 1 - bias
    if exponent > 16:
        return sign | largest
    units = round(math.ldexp(magnitude, fraction - exponent))
    bits = units + ((exponent + bias - 1) << fraction)
    return sign | min(bits, largest)


def bits_of(dtype: str, value: Any) -> int:
    """The bits of a real number as an element."""
    if dtype == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if dtype == "bool":
        return int(value != 0)
    if dtype[0] in "iu":
        return int(value) & ((1 << 8 * BYTES[dtype]) - 1)
    value = as_f32(value)
    if dtype in F8:
        return f8_bits(value, dtype)
    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    if dtype == "bf16":
        return 0x7FC0 if math.isnan(value) else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    if dtype == "f16":
        try:
            return int(struct.unpack("<H", struct.pack("<e", value))[0])
        except OverflowError:
            return 0xFC00 if value < 0 else 0x7C00
    return bits


def uniform_bits(dtype: str, lo: float, hi: float, own: int, finer: int) -> int:
    """An element by its own bits of a random word, and by finer ones that follow them."""
    if dtype == "f64":
        return bits_of(dtype, float(Fraction(hi - lo) * Fraction(own >> 11, 1 << 53) + Fraction(lo)))
    if dtype == "bool":
        return own >> 7
    width = BYTES[dtype]
    step, unit = own >> 40, 24
    if dtype in F8:
        step, unit = own << 8 | finer, 16
    elif width < 8:
        step, unit = {1: (own, 8), 2: (own << 8 | finer >> 8, 24), 4: (own >> 8, 24)}[width]
    return bits_of(dtype, fused(as_f32(hi - lo), math.ldexp(step, -unit), as_f32(lo)))


def sparse_bits(dtype: str, own: int) -> int:
    """An element of small integers and many zeros, by the lowest four of its own bits."""
    magnitude = (own & 1) + 1 if own < 4 else 0
    signed = dtype[0] != "u" and dtype != "bool"
    return bits_of(dtype, -magnitude if own < 2 and signed else magnitude)


# Fraction bits of a floating-point type.
FRACTION = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7} | {dtype: F8[dtype][0] for dtype in F8}


def special_bits(dtype: str, which: int) -> int:
    """A special value of a floating type, by three bits: NaN, inf, -inf, -0, and of either sign the
    smallest magnitude above 0 and the smallest normal one."""
    sign, normal = 1 << 8 * BYTES[dtype] - 1, 1 << FRACTION[dtype]
    infinity, nan = sign - normal, sign - normal | normal >> 1
    if dtype == "f8e4m3":  # all ones encode NaN, and there are no infinities
        infinity, nan = sign - 2, sign - 1
    return (nan, infinity, sign | infinity, sign, 1, normal, sign | 1, sign | normal)[which & 7]


def ragged_offset(seed: int, index: int, rows: int, total: int) -> int:
    if index <= 0 or index >= rows:
        return 0 if index <= 0 else total
    row = index - (mix(seed ^ mix(index)) & 3 == 0)
    jitter = mix((~seed & WORD) ^ mix(row)) & 1023
    return 0 if row == 0 else (row * 1024 + jitter) * total // (rows * 1024)


def fill_bits(tensor: Mapping[str, Any], index: int, poison: int) -> int:
    """The bits of an element, by its index in memory order; of an output those of the poison."""
    dtype, fill = tensor["real"], tensor["fill"]
    kind, seed = fill["kind"], fill["seed"]
    if kind in ("uniform", "special"):
        bits = 8 * BYTES[dtype]
        word = random_word(seed, index // (64 // bits))
        finer = ((word << 32 | word >> 32) & WORD) * 0xD6E8FEB86659FD93 & WORD
        at, mask = index % (64 // bits) * bits, (1 << bits) - 1
        own = word >> at & mask
        if kind == "special" and dtype in FRACTION and own & 15 == 0:
            return special_bits(dtype, own >> 4)
        return uniform_bits(dtype, fill["lo"], fill["hi"], own, finer >> at & mask)
    if kind == "sparse":
        bits = 8 * BYTES[dtype]
        word = random_word(seed, index // (64 // bits))
        return sparse_bits(dtype, word >> index % (64 // bits) * bits & 15)
    if kind == "integers":
        word, first, last = random_word(seed, index), fill["first"], fill["last"]
        if word & 15 < 2:
            return bits_of(dtype, last if word & 15 else first)
        return bits_of(dtype, first + (word >> 4) % (last - first + 1))
    if kind == "offsets":
        return bits_of(dtype, ragged_offset(seed, index, tensor["numel"] - 1, fill["last"]))
    if kind == "constant":
        return bits_of(dtype, fill["lo"])
    if dtype == "bool":
        return poison >> 30 & 1
    return {1: poison >> 24, 2: poison >> 16, 4: poison, 8: poison << 32 | poison}[BYTES[dtype]]
