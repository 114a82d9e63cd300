"""Integer expressions over dims and knobs.

The grammar is the part of muParser's that has the same meaning for integers: `+ - *`, comparisons,
`&& ||`, `c ? a : b`, parentheses, and the functions below. There is no `/`, because muParser's would
give a fraction; the division functions state how they round.

A knob whose values are strings has no number. For each value V of such a knob K, the name `K_is_V`
is 1 or 0.
"""

import re
from collections.abc import Callable

FUNCTIONS: dict[str, tuple[int, int | None, Callable]] = {
    "cdiv": (2, 2, lambda a, b: -(-a // b)),
    "floordiv": (2, 2, lambda a, b: a // b),
    "min": (2, None, min),
    "max": (2, None, max),
    "next_power_of_2": (1, 1, lambda x: 1 if x <= 1 else 1 << (x - 1).bit_length()),
}

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+*()<>?:,/%]))")

# Loosest first, as in muParser. Operators of one level associate to the left.
_LEVELS = (
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {
        "==": lambda a, b: int(a == b),
        "!=": lambda a, b: int(a != b),
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
        ">": lambda a, b: int(a > b),
        ">=": lambda a, b: int(a >= b),
    },
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b},
)


class ExpressionError(ValueError):
    pass


def _tokens(text):
    at = 0
    found = []
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise ExpressionError(f"'{text[at:].strip()[:12]}' is not allowed in an expression")
        number, name, mark = match.groups()
        if mark in ("/", "%"):
            raise ExpressionError(f"no '{mark}' here: write cdiv(a, b) or floordiv(a, b)")
        found.append((int(number) if number else None, name, mark))
        at = match.end()
    return found


class Expression:
    """A parsed expression. `names` are the dims, knobs and other values that it reads."""

    def __init__(self, text):
        self.text = text
        self.names = set()
        self._left = _tokens(text)
        self._left.reverse()
        if not self._left:
            raise ExpressionError("the expression is empty")
        self._run = self._choice()
        if self._left:
            raise ExpressionError(f"'{self._shown()}' is not expected after a complete expression")

    def __call__(self, values):
        """The value; `values` maps each of `names` to an integer."""
        try:
            return self._run(values)
        except ZeroDivisionError:
            raise ExpressionError(f"'{self.text}' divides by zero") from None

    def _shown(self):
        number, name, mark = self._left[-1]
        return mark or name or str(number)

    def _take(self, mark):
        if self._left and self._left[-1][2] == mark:
            self._left.pop()
            return True
        return False

    def _expect(self, mark):
        if not self._take(mark):
            got = f"'{self._shown()}'" if self._left else "the end"
            raise ExpressionError(f"'{mark}' expected, not {got}")

    def _choice(self):
        condition = self._level(0)
        if not self._take("?"):
            return condition
        yes = self._choice()
        self._expect(":")
        no = self._choice()
        return lambda v: yes(v) if condition(v) else no(v)

    def _level(self, level):
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while self._left and self._left[-1][2] in _LEVELS[level]:
            operation = _LEVELS[level][self._left.pop()[2]]
            right = self._level(level + 1)
            left = (lambda f, a, b: lambda v: f(a(v), b(v)))(operation, left, right)
        return left

    def _unary(self):
        if self._take("-"):
            operand = self._unary()
            return lambda v: -operand(v)
        return self._primary()

    def _primary(self):
        if not self._left:
            raise ExpressionError("the expression ends too early")
        number, name, mark = self._left.pop()
        if number is not None:
            return lambda v: number
        if mark == "(":
            inner = self._choice()
            self._expect(")")
            return inner
        if name is None:
            raise ExpressionError(f"a number, a name or '(' expected, not '{mark}'")
        if self._take("("):
            return self._call(name)
        if name in FUNCTIONS:
            raise ExpressionError(f"'{name}' is a function: '(' expected")
        self.names.add(name)
        return lambda v: v[name]

    def _call(self, name):
        if name not in FUNCTIONS:
            raise ExpressionError(f"no function '{name}': there are {', '.join(sorted(FUNCTIONS))}")
        least, most, function = FUNCTIONS[name]
        arguments = [self._choice()]
        while self._take(","):
            arguments.append(self._choice())
        self._expect(")")
        if len(arguments) < least or (most is not None and len(arguments) > most):
            raise ExpressionError(f"'{name}' takes {least} arguments, not {len(arguments)}")
        return lambda v: function(*(a(v) for a in arguments))
