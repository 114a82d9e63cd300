import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from triton_package.expressions import Expression, ExpressionError


class Expressions(unittest.TestCase):
    def test_values(self):
        cases = {
            "1 + 2 * 3": 7,
            "(1 + 2) * 3": 9,
            "10 - 3 - 2": 5,
            "-a + 8": 1,
            "--a": 7,
            "cdiv(a, 2)": 4,
            "floordiv(a, 2)": 3,
            "min(a, 3, 5)": 3,
            "max(2, a)": 7,
            "next_power_of_2(1)": 1,
            "next_power_of_2(a)": 8,
            "next_power_of_2(8)": 8,
            "next_power_of_2(0)": 1,
            "a == 7 ? 1 : 2": 1,
            "a < 7 ? 1 : a > 6 ? 5 : 2": 5,
            "a > 1 && b > 1": 0,
            "a > 1 || b > 1": 1,
            "a + 1 == 8 && b == 0": 1,
            "0 ? floordiv(a, b) : 4": 4,
        }
        for text, value in cases.items():
            with self.subTest(text):
                self.assertEqual(Expression(text)({"a": 7, "b": 0}), value)

    def test_names(self):
        self.assertEqual(Expression("cdiv(M, BLOCK) * num_sms").names, {"M", "BLOCK", "num_sms"})

    def test_refused(self):
        for text in (
            "",
            "a +",
            "a / 2",
            "a % 2",
            "1.5",
            "(a",
            "a)",
            "a b",
            "cdiv(a)",
            "cdiv",
            "f(a)",
            "a ? b",
            "next_power_of_2(a, b)",
            "$",
            "cdiv(,a)",
        ):
            with self.subTest(text), self.assertRaises(ExpressionError):
                Expression(text)

    def test_division_by_zero(self):
        with self.assertRaises(ExpressionError):
            Expression("cdiv(1, a)")({"a": 0})


if __name__ == "__main__":
    unittest.main()
