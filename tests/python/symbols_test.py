#!/usr/bin/env python3
"""Expressions over dims: both texts mean what Python's arithmetic means."""

import pathlib
import random
import sys
import unittest
from typing import cast

import cases

sys.path.insert(0, str(cases.ROOT / "scripts"))

import redzone as rz
from redzone.expressions import Expression
from triton_package.expressions import Expression as Described
from triton_package.expressions import ExpressionError


class Tree:
    """A random expression, and its value by Python's own arithmetic."""

    BINARY = (
        (lambda a, b: a + b, lambda a, b: a + b),
        (lambda a, b: a - b, lambda a, b: a - b),
        (lambda a, b: a * b, lambda a, b: a * b),
        (lambda a, b: a // b, lambda a, b: a // b),
        (lambda a, b: a % b, lambda a, b: a % b),
        (rz.cdiv, lambda a, b: -(-a // b)),
        (rz.minimum, min),
        (rz.maximum, max),
        (lambda a, b: a == b, lambda a, b: int(a == b)),
        (lambda a, b: a != b, lambda a, b: int(a != b)),
        (lambda a, b: a < b, lambda a, b: int(a < b)),
        (lambda a, b: a <= b, lambda a, b: int(a <= b)),
        (lambda a, b: a > b, lambda a, b: int(a > b)),
        (lambda a, b: a >= b, lambda a, b: int(a >= b)),
    )

    def __init__(self, rng, symbols):
        self.rng, self.symbols = rng, symbols

    def made(self, depth):
        """(symbolic, function of the values)."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            if rng.random() < 0.3:
                number = rng.randint(-9, 9)
                return number, lambda v: number
            symbol = rng.choice(self.symbols)
            return symbol, lambda v: v[symbol.name]
        a, of_a = self.made(depth - 1)
        kind = rng.randrange(len(self.BINARY) + 5)
        if kind < len(self.BINARY):
            b, of_b = self.made(depth - 1)
            if not isinstance(a, Expression) and not isinstance(b, Expression):
                a, of_a = self.symbols[0], lambda v: v[self.symbols[0].name]
            symbolic, plain = self.BINARY[kind]
            return symbolic(a, b), lambda v: plain(of_a(v), of_b(v))
        if not isinstance(a, Expression):
            a, of_a = self.symbols[0], lambda v: v[self.symbols[0].name]
        b, of_b = self.made(depth - 1)
        if kind == len(self.BINARY):
            return -a, lambda v: -of_a(v)
        if kind == len(self.BINARY) + 1:
            c, of_c = self.made(depth - 1)
            return rz.where(a > 2, b, c), lambda v: of_b(v) if of_a(v) > 2 else of_c(v)
        if kind == len(self.BINARY) + 2:
            return (a > 1) & ~(a == b), lambda v: int(of_a(v) > 1 and of_a(v) != of_b(v))
        if kind == len(self.BINARY) + 3:
            return a & b, lambda v: int(bool(of_a(v)) and bool(of_b(v)))
        return (a < 0) | (a >= b), lambda v: int(of_a(v) < 0 or of_a(v) >= of_b(v))


class Laws(unittest.TestCase):
    def test_texts_and_arithmetic_agree(self):
        symbols = rz.dims(N=(1, 100), M=(1, 100), K=(0, 9))
        compared = 0
        for seed in range(3000):
            rng = random.Random(seed)
            symbolic, plain = Tree(rng, symbols).made(4)
            if not isinstance(symbolic, Expression):
                continue
            values = {"N": rng.randint(1, 100), "M": rng.randint(1, 100), "K": rng.randint(0, 9)}
            # Where one of them does not evaluate an operand that another divides by, they differ.
            try:
                want, got, sent = plain(values), symbolic.value(values), Described(symbolic.text)(values)
            except (ZeroDivisionError, ExpressionError):
                continue
            with self.subTest(seed=seed, text=symbolic.text, python=symbolic.python):
                self.assertEqual((got, sent), (want, want))
                compared += 1
        self.assertGreater(compared, 1500)

    def test_shown_text_has_no_needless_parentheses(self):
        n, m = rz.dims(N=(1, 9), M=(1, 9))
        self.assertEqual(repr((n + 1) * m - 2 * n), "(N + 1) * M - 2 * N")
        self.assertEqual(repr(n - (m - 1)), "N - (M - 1)")
        self.assertEqual(repr((n % 4 == 0) & (m > 1)), "N % 4 == 0 and M > 1")


class Mistakes(unittest.TestCase):
    def refused(self, use, *parts):
        with self.assertRaises(rz.SpecError) as caught:
            use()
        for part in (pathlib.Path(__file__).name + ":", *parts):
            self.assertIn(part, str(caught.exception))

    def test_each_is_one_line_that_says_what_to_write(self):
        n, m = rz.dims(N=(1, 9), M=(1, 9))
        self.refused(lambda: n / 2, "N / ...", "//", "rz.cdiv")
        self.refused(lambda: n > 1 and m, "'N > 1' has no value", "&")
        self.refused(lambda: min(n, 4), "rz.minimum")
        self.refused(lambda: range(n), "'N' has no value")
        self.refused(lambda: n + cast(int, 1.5), "1.5", "integer")
        self.refused(lambda: n + rz.dim("N", 1, 5), "'N' is declared twice")
        self.refused(lambda: rz.knob(1, 2) + n, "a knob in an expression needs a name")
        self.refused(lambda: rz.knob("a", "b", name="K") + n, "'K' is text")


if __name__ == "__main__":
    unittest.main()
