"""Integer expressions over dims and knobs.

The driver has no Python, so what a file says about shapes must be data. A dim is a symbol, and
arithmetic with symbols is an `Expression`, which has two texts: `text` in the grammar of package
descriptions (src/targets/triton/README.md), which the driver evaluates, and `python`, which is
shown to people and evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import CodeType
from typing import Any, TypeAlias

from .errors import SpecError

# Names that have a fixed meaning in expressions.
RESERVED = ("cdiv", "floordiv", "min", "max", "next_power_of_2", "num_sms")

# Precedence of the operators in both grammars; names and calls have the highest.
_COMPARISON, _SUM, _PRODUCT, _TIGHTEST = 3, 4, 5, 9


# Limits of the driver's parser (src/described/expression.h): the longest text and the largest number.
_MOST_CHARACTERS = 2000
MOST_EXACT = 1 << 53


def _next_power_of_2(x: int) -> int:
    return 1 if x <= 1 else 1 << (x - 1).bit_length()


_FUNCTIONS: dict[str, Any] = {
    "cdiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "next_power_of_2": _next_power_of_2,
    "__builtins__": {},
}


class Expression:
    """A value that is known once the dims and knobs of a call are.

    `+ - * // %`, comparisons, `& | ~` for conditions, and the functions `cdiv`, `minimum`,
    `maximum`, `next_power_of_2` and `where` of this package make further ones.
    """

    __slots__ = ("_binds", "_code", "_python_binds", "python", "symbols", "text")

    def __init__(
        self,
        text: str,
        python: str,
        symbols: Mapping[str, Symbol],
        binds: int = _TIGHTEST,
        python_binds: int = _TIGHTEST,
    ) -> None:
        if len(text) > _MOST_CHARACTERS:
            raise SpecError(f"an expression has more than {_MOST_CHARACTERS} characters, which is too long")
        self.text = text
        self.python = python
        self.symbols = dict(symbols)
        self._binds = binds
        self._python_binds = python_binds
        self._code: CodeType | None = None

    def value(self, values: Mapping[str, Any]) -> int:
        """The value for these values of its symbols. Raises ZeroDivisionError."""
        if self._code is None:
            self._code = compile(self.python, "<expression>", "eval")
        return int(eval(self._code, _FUNCTIONS, dict(values)))

    def __add__(self, other: Value) -> Expression:
        return _operation("+", _SUM, self, other)

    def __radd__(self, other: Value) -> Expression:
        return _operation("+", _SUM, other, self)

    def __sub__(self, other: Value) -> Expression:
        return _operation("-", _SUM, self, other)

    def __rsub__(self, other: Value) -> Expression:
        return _operation("-", _SUM, other, self)

    def __mul__(self, other: Value) -> Expression:
        return _operation("*", _PRODUCT, self, other)

    def __rmul__(self, other: Value) -> Expression:
        return _operation("*", _PRODUCT, other, self)

    def __floordiv__(self, other: Value) -> Expression:
        return _floordiv(self, other)

    def __rfloordiv__(self, other: Value) -> Expression:
        return _floordiv(other, self)

    def __mod__(self, other: Value) -> Expression:
        return _remainder(self, other)

    def __rmod__(self, other: Value) -> Expression:
        return _remainder(other, self)

    def __neg__(self) -> Expression:
        return _operation("-", _SUM, 0, self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _operation("==", _COMPARISON, self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _operation("!=", _COMPARISON, self, other)

    def __lt__(self, other: Value) -> Expression:
        return _operation("<", _COMPARISON, self, other)

    def __le__(self, other: Value) -> Expression:
        return _operation("<=", _COMPARISON, self, other)

    def __gt__(self, other: Value) -> Expression:
        return _operation(">", _COMPARISON, self, other)

    def __ge__(self, other: Value) -> Expression:
        return _operation(">=", _COMPARISON, self, other)

    def __and__(self, other: Value) -> Expression:
        return _condition("&&", "and", 2, self, other)

    def __rand__(self, other: Value) -> Expression:
        return _condition("&&", "and", 2, other, self)

    def __or__(self, other: Value) -> Expression:
        return _condition("||", "or", 1, self, other)

    def __ror__(self, other: Value) -> Expression:
        return _condition("||", "or", 1, other, self)

    def __invert__(self) -> Expression:
        return _operation("==", _COMPARISON, self, 0)

    def __truediv__(self, other: object) -> Expression:
        raise SpecError(f"'{self.python} / ...' has a fraction: write // or rz.cdiv(a, b)")

    __rtruediv__ = __truediv__

    def __bool__(self) -> bool:
        raise SpecError(
            f"'{self.python}' has no value while the file is read: write rz.require(...) for a"
            " condition, & and | for 'and' and 'or', rz.minimum and rz.maximum for min and max"
        )

    def __index__(self) -> int:
        raise SpecError(f"'{self.python}' has no value while the file is read")

    __int__ = __index__

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.python


class Symbol(Expression):
    """A dim or a knob: an expression that is a name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name, name, {name: self})

    def problem(self) -> str:
        """Why it cannot be computed with; "" if it can."""
        return ""


Value: TypeAlias = Expression | int


def expression(value: object, what: str = "a value") -> Expression:
    """`value` as an expression; `what` begins the message where it is none."""
    if isinstance(value, Symbol) and value.problem():
        raise SpecError(value.problem())
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what} is {value!r}, and must be an integer or an expression of dims")
    if abs(value) > MOST_EXACT:
        raise SpecError(f"{what} is {value}, and 2^53 is the most")
    if value < 0:
        return Expression(f"(0 - {-value})", str(value), {}, python_binds=_PRODUCT)
    return Expression(str(value), str(value), {})


def symbols_of(values: Iterable[Expression]) -> dict[str, Symbol]:
    """The symbols of all `values` by name. Two different ones of a name are a mistake."""
    found: dict[str, Symbol] = {}
    for value in values:
        for name, symbol in value.symbols.items():
            if found.setdefault(name, symbol) is not symbol:
                raise SpecError(f"'{name}' is declared twice, and both are used here")
    return found


def _wrapped(text: str, binds: int, least: int) -> str:
    return text if binds >= least else f"({text})"


def _operands(*values: object) -> list[Expression]:
    return [expression(v, "an operand") for v in values]


def _operation(sign: str, level: int, a: object, b: object) -> Expression:
    x, y = _operands(a, b)
    # The left operand needs no parentheses at the same level, except in comparisons, which Python chains.
    left = level + 1 if level == _COMPARISON else level
    text = f"{_wrapped(x.text, x._binds, left)} {sign} {_wrapped(y.text, y._binds, level + 1)}"
    python = (
        f"{_wrapped(x.python, x._python_binds, left)} {sign} {_wrapped(y.python, y._python_binds, level + 1)}"
    )
    return Expression(text, python, symbols_of([x, y]), level, level)


def _condition(sign: str, word: str, level: int, a: object, b: object) -> Expression:
    # In Python, `and` of numbers returns a number.
    x, y = (o if o._binds <= _COMPARISON else o != 0 for o in _operands(a, b))
    text = f"{_wrapped(x.text, x._binds, level)} {sign} {_wrapped(y.text, y._binds, level + 1)}"
    python = (
        f"{_wrapped(x.python, x._python_binds, level)} {word}"
        f" {_wrapped(y.python, y._python_binds, level + 1)}"
    )
    return Expression(text, python, symbols_of([x, y]), level, level)


def _division_python(sign: str, x: Expression, y: Expression) -> str:
    return (
        f"{_wrapped(x.python, x._python_binds, _PRODUCT)} {sign}"
        f" {_wrapped(y.python, y._python_binds, _PRODUCT + 1)}"
    )


def _floordiv(a: object, b: object) -> Expression:
    x, y = _operands(a, b)
    return Expression(
        f"floordiv({x.text}, {y.text})",
        _division_python("//", x, y),
        symbols_of([x, y]),
        _TIGHTEST,
        _PRODUCT,
    )


def _remainder(a: object, b: object) -> Expression:
    x, y = _operands(a, b)
    # The grammar of descriptions has no remainder operator.
    whole = (x - _floordiv(x, y) * y).text
    return Expression(whole, _division_python("%", x, y), symbols_of([x, y]), _SUM, _PRODUCT)


def _call(name: str, *values: object) -> Expression:
    parts = [expression(v, f"an argument of {name}()") for v in values]
    return Expression(
        f"{name}({', '.join(p.text for p in parts)})",
        f"{name}({', '.join(p.python for p in parts)})",
        symbols_of(parts),
    )


def cdiv(a: Value, b: Value) -> Expression:
    """The quotient, rounded up."""
    return _call("cdiv", a, b)


def minimum(a: Value, b: Value, *more: Value) -> Expression:
    """The smallest of the values."""
    return _call("min", a, b, *more)


def maximum(a: Value, b: Value, *more: Value) -> Expression:
    """The largest of the values."""
    return _call("max", a, b, *more)


def next_power_of_2(x: Value) -> Expression:
    """The smallest power of two that is at least `x`."""
    return _call("next_power_of_2", x)


def where(condition: Value, yes: Value, no: Value) -> Expression:
    """`yes` where the condition holds, else `no`."""
    c, y, n = _operands(condition, yes, no)
    # Both grammars need parentheses around a conditional within an expression.
    text = f"({_wrapped(c.text, c._binds, 1)} ? {y.text} : {n.text})"
    python = f"({y.python} if {c.python} else {n.python})"
    return Expression(text, python, symbols_of([c, y, n]))
