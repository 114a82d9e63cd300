"""Which variants of a kernel a package needs: for each setting of the knobs, each set of constants,
and each specialization class of the arguments that some call of the package has."""

import itertools
from dataclasses import dataclass

from .expressions import Expression, ExpressionError
from .model import OPTIONS, knob_names, knob_numbers

# Limit on the combinations of dims that are tried one by one.
_MOST_COMBINATIONS = 1 << 18


@dataclass
class Variant:
    knobs: dict
    constants: dict  # of each constexpr parameter
    classes: dict  # "1", "16" or "other", of each specialized argument

    def dropped(self, package):
        """Arguments that the compiled kernel has no parameter for."""
        return [
            a.name
            for a in package.arguments
            if a.kind == "constexpr" or self.classes.get(a.name) == "1"
        ]

    def options(self):
        return {name: self.knobs[name] for name in OPTIONS if name in self.knobs}

    def describe(self):
        parts = [
            f"{k} = {v}"
            for group in (self.knobs, self.constants, self.classes)
            for k, v in group.items()
        ]
        return ", ".join(dict.fromkeys(parts))


def class_of(value):
    """Triton's class of an integer: 1, a multiple of 16 (including 0), or neither."""
    if value == 1:
        return "1"
    return "16" if value % 16 == 0 else "other"


def enumerate_variants(package):
    groups = _groups(package)
    seen: dict = {}
    variants = []
    for setting in _settings(package):
        numbers = knob_numbers(package.knobs, setting)
        parts = [_cached(package, group, setting, numbers, seen) for group in groups]
        pointers = _pointer_classes(package)
        for choice in itertools.product(*parts, *pointers):
            chosen = dict(itertools.chain.from_iterable(choice))
            constants, classes = {}, {}
            for a in package.arguments:
                if a.kind == "constexpr":
                    constants[a.name] = _constant(a, setting, chosen)
                elif a.specialize:
                    classes[a.name] = chosen[a.name]
            variants.append(Variant(setting, constants, classes))
    return variants


def _settings(package):
    names = [k.name for k in package.knobs]
    settings = []
    for values in itertools.product(*(k.values for k in package.knobs)):
        setting = dict(zip(names, values))
        numbers = knob_numbers(package.knobs, setting)
        listed = package.configs is None or any(
            c.items() <= setting.items() for c in package.configs
        )
        if listed and not _excluded(package, numbers):
            settings.append(setting)
    if not settings:
        raise package.error("exclude", "no setting of the knobs is left")
    return settings


def _excluded(package, numbers):
    for i, expression in enumerate(package.exclude):
        try:
            if expression(numbers):
                return True
        except ExpressionError as e:
            raise package.error(f"exclude[{i}]", str(e)) from None
    return False


def _constant(argument, setting, chosen):
    if argument.name in chosen:
        return chosen[argument.name]
    return setting[argument.value] if isinstance(argument.value, str) else argument.value


def _pointer_classes(package):
    aligned = {t.name: (t.align_bytes or 16) % 16 == 0 for t in package.tensors}
    return [
        [((a.name, c),) for c in (("16",) if aligned[a.value] else ("16", "other"))]
        for a in package.arguments
        if a.kind == "tensor" and a.specialize
    ]


def _depends(argument):
    """Whether a variant depends on the value of the argument's expression."""
    counts = argument.kind == "constexpr" or argument.specialize
    return counts and isinstance(argument.value, Expression)


def _groups(package):
    """The arguments that variants depend on; those that share a dim are in one group, because their
    values go together."""
    dims = {d.name for d in package.dims}
    groups: list = []
    for argument in filter(_depends, package.arguments):
        merged, names = [argument], argument.value.names & dims
        apart = []
        for members, used in groups:
            if used & names:
                merged, names = members + merged, names | used
            else:
                apart.append((members, used))
        groups = [*apart, (merged, names)]
    return [(members, [d for d in package.dims if d.name in names]) for members, names in groups]


def _cached(package, group, setting, numbers, seen):
    """The value or class of each argument of the group, in each combination that occurs. Cached for
    settings that differ only in knobs that the group does not read."""
    members, _ = group
    read = set().union(*(a.value.names for a in members))
    relevant = tuple((k.name, setting[k.name]) for k in package.knobs if read & knob_names([k]))
    key = (members[0].name, relevant)
    if key not in seen:
        seen[key] = _combinations(package, group, numbers)
    return seen[key]


def _combinations(package, group, numbers):
    members, dims = group
    domains = [_domain(members, d) for d in dims]
    count = 1
    for domain in domains:
        count *= len(domain)
    if count > _MOST_COMBINATIONS:
        listed = ", ".join(d.name for d in dims)
        raise package.error(
            f"argument[{members[0].name}]",
            f"{count} combinations of {listed} are too many to find its classes: give the dims "
            "'values', or the argument specialize = false",
        )
    names = {d.name for d in dims}
    constraints = [c for c in package.constraints if {c.a, c.b} <= names]
    found = set()
    values = dict(numbers)
    for point in itertools.product(*domains):
        values.update((d.name, v) for d, v in zip(dims, point))
        if all(c.holds(values) for c in constraints):
            found.add(tuple(_result(package, a, values) for a in members))
    if not found:
        raise package.error(f"argument[{members[0].name}]", "no dims meet the constraints")
    return [tuple(zip((a.name for a in members), f)) for f in sorted(found, key=_order)]


def _domain(members, dim):
    """The values to try for a dim. If the argument is the dim itself, the first values contain all of
    its classes; the largest value is added."""
    domain = dim.domain()
    if len(members) == 1 and members[0].kind == "int" and members[0].value.text == dim.name:
        return sorted({*domain[:32], domain[-1]})
    return domain


def _result(package, argument, values):
    try:
        value = argument.value(values)
    except ExpressionError as e:
        raise package.error(f"argument[{argument.name}].value", str(e)) from None
    return value if argument.kind == "constexpr" else class_of(value)


def _order(results):
    rank = {"1": 0, "16": 1, "other": 2}
    return [rank.get(r, r) for r in results]
