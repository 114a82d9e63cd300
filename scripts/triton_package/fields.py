"""Reads the tables of a description; every error names the file and the field."""

import difflib

from .errors import PackageError
from .expressions import Expression, ExpressionError

_REQUIRED = object()


class Fields:
    """One table of a description, at `path` in `file`. Call done() when all fields are taken."""

    def __init__(self, file, path, table):
        self.file = file
        self.path = path
        if not isinstance(table, dict):
            raise PackageError(file, path, "a table is expected")
        self._table = table
        self._taken = set()

    def where(self, field):
        return f"{self.path}.{field}" if self.path else field

    def error(self, field, message):
        return PackageError(self.file, self.where(field) if field else self.path, message)

    def has(self, field):
        return field in self._table

    def take(self, field, kinds, what, default=_REQUIRED):
        self._taken.add(field)
        if field not in self._table:
            if default is _REQUIRED:
                raise self.error(field, "missing")
            return default
        value = self._table[field]
        # In Python a bool is an int, but in a description it is not.
        if not isinstance(value, kinds) or (
            isinstance(value, bool) and bool not in _as_tuple(kinds)
        ):
            raise self.error(field, f"{what} is expected, not {value!r}")
        return value

    def text(self, field, default=_REQUIRED):
        return self.take(field, str, "a string", default)

    def integer(self, field, default=_REQUIRED):
        return self.take(field, int, "an integer", default)

    def number(self, field, default=_REQUIRED):
        return float(self.take(field, (int, float), "a number", default))

    def flag(self, field, default=_REQUIRED):
        return self.take(field, bool, "true or false", default)

    def one_of(self, field, allowed, default=_REQUIRED):
        value = self.text(field, default)
        if value not in allowed:
            raise self.error(
                field, f"'{value}' is not one of {', '.join(allowed)}{hint(value, allowed)}"
            )
        return value

    def name(self, field="name"):
        value = self.text(field)
        if not value.isidentifier() or not value.isascii():
            raise self.error(field, f"'{value}' is not an identifier")
        return value

    def items(self, field, kinds, what, default=_REQUIRED):
        values = self.take(field, (list, tuple), f"a list of {what}", default)
        for value in values:
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise self.error(field, f"a list of {what} is expected, not {value!r} in it")
        return list(values)

    def expression(self, field, known, default=_REQUIRED):
        value = self.take(field, (str, int), "an expression", default)
        return self.parsed(field, value, known)

    def expressions(self, field, known, default=_REQUIRED):
        values = self.items(field, (str, int), "expressions", default)
        return [self.parsed(f"{field}[{i}]", value, known) for i, value in enumerate(values)]

    def parsed(self, field, value, known):
        """`value` as an expression whose names are all in `known`."""
        try:
            parsed = Expression(str(value))
        except ExpressionError as e:
            raise self.error(field, f"'{value}': {e}") from None
        for name in sorted(parsed.names):
            if name not in known:
                raise self.error(
                    field, f"'{value}': no dim, knob or value '{name}'{hint(name, known)}"
                )
        return parsed

    def tables(self, field, required=False):
        values = self.take(field, (list, tuple), "a list of tables", _REQUIRED if required else [])
        found = []
        for i, table in enumerate(values):
            label = table.get("name", i) if isinstance(table, dict) else i
            found.append(Fields(self.file, self.where(f"{field}[{label}]"), table))
        return found

    def table(self, field):
        return Fields(self.file, self.where(field), self.take(field, dict, "a table"))

    def done(self):
        for field in self._table:
            if field not in self._taken:
                raise self.error(field, f"unknown field{hint(field, self._taken)}")


def hint(word, known):
    close = difflib.get_close_matches(word, sorted(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _as_tuple(kinds):
    return kinds if isinstance(kinds, tuple) else (kinds,)
