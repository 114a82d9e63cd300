#!/usr/bin/env python3
"""Arguments, results and references of calls, over a library that is simulated.

With numpy or torch installed their arrays are tested, too; buffers always are.
"""

import ctypes
import importlib.util
import itertools
import math
import random
import struct
import unittest
from unittest import mock

import cases  # isort: skip

import redzone as rz
from redzone.arrays import Memory, arrays_named, try_out
from redzone.buffers import Array
from redzone.calls import BoundCall, BoundReference, WrongCall, WrongReference
from redzone.registry import registry

KINDS = ["buffer", *(kind for kind in ("numpy", "torch") if importlib.util.find_spec(kind))]
FORMATS = {"f32": "f", "i32": "i", "f64": "d", "u8": "B", "i64": "q", "f16": "e"}


class Library:
    """What libredzone_worker.so says of one call and its reference. Handles are ignored."""

    def __init__(self, dims=None, knobs=None):
        self.dims, self.knobs, self.tensors = dims or {}, knobs or {}, {}
        self.inputs, self.outputs = {}, {}

    def tensor(self, name, dtype, shape, strides, offset=0):
        """A tensor whose storage is filled with bytes 0xAA; its bytes."""
        size = struct.calcsize(FORMATS[dtype])
        elements = offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if 0 not in shape else 0
        storage = (ctypes.c_ubyte * (elements * size))(*[0xAA] * (elements * size))
        self.tensors[name] = (dtype, shape, strides, offset, storage)
        return storage

    def element(self, name, *index):
        dtype, _, strides, offset, storage = self.tensors[name]
        at = offset + sum(i * s for i, s in zip(index, strides))
        return struct.unpack_from(FORMATS[dtype], storage, at * struct.calcsize(FORMATS[dtype]))[0]

    def put(self, name, value, *index):
        dtype, _, strides, offset, storage = self.tensors[name]
        at = offset + sum(i * s for i, s in zip(index, strides))
        struct.pack_into(FORMATS[dtype], storage, at * struct.calcsize(FORMATS[dtype]), value)

    def rz_call_tensor(self, _, name, out):
        if name.decode() not in self.tensors:
            return -1
        dtype, shape, strides, offset, storage = self.tensors[name.decode()]
        raw = out._obj
        raw.storage = ctypes.addressof(storage)
        raw.storage_bytes = len(storage)
        raw.data = raw.storage + offset * struct.calcsize(FORMATS[dtype])
        raw.dtype, raw.rank = dtype.encode(), len(shape)
        raw.shape[: len(shape)] = shape
        raw.strides[: len(shape)] = strides
        return 0

    def rz_dim(self, _, name):
        return self.dims[name.decode()]

    def rz_knob_integer(self, _, name):
        return self.knobs[name.decode()]

    def rz_knob_text(self, _, name):
        return self.knobs[name.decode()].encode()

    rz_reference_dim, rz_reference_knob_integer, rz_reference_knob_text = (
        rz_dim,
        rz_knob_integer,
        rz_knob_text,
    )

    def doubles(self, held, name, at, count, shape, rank):
        values, extents = held[name.decode()]
        at._obj.contents = ctypes.cast(values, ctypes.POINTER(ctypes.c_double)).contents
        count._obj.value, rank._obj.value = len(values), len(extents)
        shape[: len(extents)] = extents
        return 0

    def rz_reference_input(self, _, *rest):
        return self.doubles(self.inputs, *rest)

    def rz_reference_output(self, _, *rest):
        return self.doubles(self.outputs, *rest)


def doubles(values, *shape):
    return (ctypes.c_double * len(values))(*values), shape


def parts(values):
    return [part for value in values for part in (value.real, value.imag)]


def as_doubles(x):
    return x.double() if hasattr(x, "double") else x.astype("f8")


class CallCase(unittest.TestCase):
    names = 0

    def bound(self, library, kind, callable, **declared):
        CallCase.names += 1
        declared.setdefault("name", f"t{CallCase.names}")
        rz.target(callable, arrays=kind, **declared)
        target = registry.targets()[-1]
        return target, BoundCall(target, arrays_named(kind, "cpu"), library)

    def reference(self, library, kind, reference, **declared):
        CallCase.names += 1
        name = f"t{CallCase.names}"
        rz.target(lambda x, y, k=0: 0, name=name, arrays=kind, reference=reference, **declared)
        target = registry.targets()[-1]
        return BoundReference(target, arrays_named(kind, "cpu"), library)

    def each_kind(self):
        for kind in KINDS:
            with self.subTest(kind):
                yield kind


class Arguments(CallCase):
    def test_views_are_the_memory_whatever_the_strides(self):
        n, m = rz.dims(N=(1, 9), M=(1, 9))

        def transpose(x, y, M, N):
            for i in range(M):
                for j in range(N):
                    y[j, i] = x[i, j] * 2

        for kind in self.each_kind():
            for seed in range(30):
                rng = random.Random(seed)
                rows, columns = rng.randint(1, 5), rng.randint(1, 5)
                library = Library({"M": rows, "N": columns})
                strides = rng.choice([(columns, 1), (columns + 3, 1), (1, rows), (1, rows + 2)])
                library.tensor("x", "f32", (rows, columns), strides, rng.randint(0, 3))
                library.tensor("y", "f32", (columns, rows), (rows, 1))
                for i in range(rows):
                    for j in range(columns):
                        library.put("x", float(10 * i + j), i, j)
                _, call = self.bound(library, kind, transpose, x=rz.In("f32", m, n), y=rz.Out("f32", n, m))
                self.assertEqual(call.run(transpose, 1), [])
                for i in range(rows):
                    for j in range(columns):
                        self.assertEqual(library.element("y", j, i), 2.0 * (10 * i + j))

    def test_empty_tensors(self):
        n = rz.dim("N", 0, 9)
        shapes = []

        def take(x, y):
            shapes.append(tuple(x.shape))

        for kind in self.each_kind():
            library = Library({"N": 0})
            library.tensor("x", "f32", (0, 3), (3, 1))
            library.tensor("y", "f32", (0,), (1,))
            _, call = self.bound(library, kind, take, x=rz.In("f32", n, 3), y=rz.Out("f32", n))
            call.run(take, 1)
        self.assertEqual(shapes, [(0, 3)] * len(KINDS))

    def test_scalars_are_python_values(self):
        n = rz.dim("N", 1, 9)
        got = []

        def take(y, /, N, mode, block, scale, twice, fixed, eps=1e-6):
            got.append((N, mode, block, scale, twice, fixed, eps))

        library = Library({"N": 7}, {"mode": "slow", "block": 128, "scale": "None"})
        library.tensor("y", "f32", (7,), (1,))
        _, call = self.bound(
            library, "buffer", take, y=rz.Out("f32", n), mode=rz.knob("fast", "slow"), fixed="as it is",
            block=rz.knob(64, 128), scale=rz.knob(1.5, None), twice=n * 2,
        )  # fmt: skip
        call.run(take, 1)
        self.assertEqual(got, [(7, "slow", 128, None, 14, "as it is", 1e-6)])


class TriedOut(CallCase):
    def test_arrays_work_before_a_file_changes_them(self):
        for kind in self.each_kind():
            try_out(arrays_named(kind, "cpu"))

    def test_what_a_file_has_changed_is_seen(self):
        if "torch" not in KINDS:
            self.skipTest("no torch")
        import torch

        changes = ((torch, "empty"), (torch, "frombuffer"), (torch.Tensor, "copy_"))
        for owner, name in changes:
            with self.subTest(name), mock.patch.object(owner, name, None), self.assertRaises(TypeError):
                try_out(arrays_named("torch", "cpu"))
        other = mock.patch.object(torch.Tensor, "copy_", lambda tensor, _: tensor.zero_())
        with other, self.assertRaisesRegex(ValueError, "has other values"):
            try_out(arrays_named("torch", "cpu"))


class Results(CallCase):
    def test_results_are_stored_when_they_are_collected(self):
        n = rz.dim("N", 1, 9)
        for kind in self.each_kind():
            library = Library({"N": 3})
            library.tensor("x", "f32", (3,), (1,))
            library.tensor("first", "f32", (3,), (2,))
            library.tensor("second", "i64", (1,), (1,))
            for i in range(3):
                library.put("x", i + 0.5, i)
            shared = arrays_named(kind, "cpu")
            source = Library()
            source.tensor("s", "i64", (1,), (1,))
            source.put("s", 41, 0)

            storage = source.tensors["s"][-1]
            address = ctypes.addressof(storage)
            kept = shared.view(Memory(address, "i64", (1,), (1,), address, len(storage)))

            def give(x, kept=kept):
                return x, kept

            returns = {"first": rz.Out("f32", n), "second": rz.Out("i64", 1)}
            _, call = self.bound(library, kind, give, x=rz.In("f32", n), returns=returns)
            results = call.run(give, 1)
            source.put("s", 42, 0)  # a later call writes what an earlier one has returned
            call.collect(results)
            self.assertEqual([library.element("first", i) for i in range(3)], [0.5, 1.5, 2.5])
            self.assertEqual(library.element("second", 0), 42)

    def test_wrong_results_are_named(self):
        n = rz.dim("N", 1, 9)
        for kind in self.each_kind():
            library = Library({"N": 3})
            library.tensor("x", "f32", (3,), (1,))
            library.tensor("result", "f32", (3,), (1,))
            table = [
                (lambda x: None, "returned: None", "the result 'result' is None"),
                (lambda x: "text", "returned: type", "is str"),
                (lambda x: (x, x), "returned: type" if kind != "buffer" else "returned: shape", "'result'"),
            ]
            if kind == "buffer":
                table.append((lambda x: x.tolist()[:2], "returned: shape", "(2,), and (3,) is declared"))
            else:
                table.append((lambda x: x[:2], "returned: shape", "(2,), and (3,) is declared"))
                table.append((as_doubles, "returned: dtype", "float64"))
            for give, code, message in table:
                _, call = self.bound(library, kind, lambda x: 0, x=rz.In("f32", n), returns=rz.Out("f32", n))
                with self.assertRaises(WrongCall) as caught:
                    call.run(give, 1)
                self.assertEqual(caught.exception.code, code)
                self.assertIn(message, str(caught.exception))

    def test_the_number_of_results(self):
        n = rz.dim("N", 1, 9)
        library = Library({"N": 1})
        for name in ("x", "result0", "result1"):
            library.tensor(name, "f32", (1,), (1,))
        _, call = self.bound(
            library, "buffer", lambda x: 0, x=rz.In("f32", n), returns=(rz.Out("f32", n), rz.Out("f32", n))
        )
        for give, got in ((lambda x: [x], "1 values"), (lambda x: x, "Array")):
            with self.assertRaisesRegex(WrongCall, f"it returned {got}, and 2 results are declared"):
                call.run(give, 1)


class References(CallCase):
    def test_values_and_integers(self):
        n = rz.dim("N", 1, 9)
        seen = []

        def returns_it(x, k, N):
            first = next(iter(x)) if isinstance(x, Array) else x[0].item()
            seen.append((type(first).__name__, k, N))
            return x

        def writes_it(x, y):
            for i in range(len(x)):
                y[i] = x[i]

        for kind in self.each_kind():
            for function in (returns_it, writes_it):
                library = Library({"N": 3}, {"k": 5})
                library.inputs["x"] = doubles([1, 2, 3], 3)
                library.outputs["y"] = doubles([0, 0, 0], 3)
                bound = self.reference(
                    library, kind, function, x=rz.In("i32", n), y=rz.Out("f32", n), k=rz.knob(4, 5)
                )
                bound.run(1)
                self.assertEqual(list(library.inputs["x"][0]), [1, 2, 3])
                if function is returns_it:
                    self.assertEqual(list(library.outputs["y"][0]), [1, 2, 3])
        self.assertEqual(seen, [("int", 5, 3)] * len(KINDS))

    def test_mistakes_of_the_reference(self):
        n = rz.dim("N", 1, 9)
        for kind in self.each_kind():
            library = Library({"N": 3})
            library.inputs["x"] = doubles([1, 2, 3], 3)
            library.outputs["y"] = doubles([0, 0, 0], 3)
            for function, message in (
                (lambda x: (x, x), "a value for 'y' that "),
                (lambda x: {"z": x}, "no value for 'y'"),
                (lambda x: [[1.0, 2.0]], r"a value for 'y' that has shape \(1, 2\), and \(3,\) is declared"),
            ):
                bound = self.reference(library, kind, function, x=rz.In("f32", n), y=rz.Out("f32", n))
                with self.assertRaisesRegex(WrongReference, message):
                    bound.run(1)


    def test_complex_values(self):
        n, m = rz.dims(N=(1, 9), M=(0, 9))
        seen = []

        def gives(x):
            seen.append(x.tolist())
            return x * (2 + 1j)

        def writes(x, y):
            y[...] = x * (2 + 1j)

        def gives_reals(x):
            return x.real

        shapes = [((n,), (3,)), ((n, m), (2, 2)), ((), ()), ((n, m), (2, 0))]
        for kind in self.each_kind():
            if kind == "buffer":
                continue
            for dtype, (symbols, shape) in itertools.product(("c64", "c128"), shapes):
                values = [complex(i + 1, -i) for i in range(math.prod(shape))]
                for function in (gives, writes, gives_reals):
                    library = Library({"N": 3, "M": 2})
                    library.inputs["x"] = doubles(parts(values), *shape)
                    library.outputs["y"] = doubles([0] * (2 * len(values)), *shape)
                    declared = {"x": rz.In(dtype, *symbols), "y": rz.Out(dtype, *symbols)}
                    self.reference(library, kind, function, **declared).run(1)
                    want = [v.real + 0j if function is gives_reals else v * (2 + 1j) for v in values]
                    self.assertEqual(list(library.outputs["y"][0]), parts(want))
                    self.assertEqual(list(library.inputs["x"][0]), parts(values))
            self.assertIn([1 + 0j, 2 - 1j, 3 - 2j], seen)
            seen.clear()

    def test_complex_values_for_a_knob_of_types_and_for_reals(self):
        n = rz.dim("N", 1, 9)
        for kind in self.each_kind():
            if kind == "buffer":
                continue
            knob = rz.knob("f32", "c64", name="D")
            for dtype, count in (("c64", 4), ("f32", 2)):
                library = Library({"N": 2}, {"D": dtype})
                library.inputs["x"] = doubles([1, 2, 3, 4][:count], 2)
                library.outputs["y"] = doubles([0] * count, 2)
                self.reference(library, kind, lambda x: x + x, x=rz.In(knob, n), y=rz.Out(knob, n)).run(1)
                self.assertEqual(list(library.outputs["y"][0]), [2, 4, 6, 8][:count])
            bound = self.reference(library, kind, lambda x: x * 1j, x=rz.In("f32", n), y=rz.Out("f32", n))
            with self.assertRaisesRegex(
                WrongReference, "a value for 'y' that has dtype .*complex128, and f32 is declared"
            ):
                bound.run(1)


class Scalars(CallCase):
    def test_a_result_without_dims(self):
        n = rz.dim("N", 1, 9)
        for kind in self.each_kind():
            library = Library({"N": 3})
            library.tensor("x", "f32", (3,), (1,))
            library.tensor("result", "f32", (), ())
            for i in range(3):
                library.put("x", 1.5, i)

            def total(x):
                return sum(x) if kind == "buffer" else x.sum()  # noqa: B023

            _, call = self.bound(library, kind, total, x=rz.In("f32", n), returns=rz.Out("f32"))
            call.collect(call.run(total, 1))
            self.assertEqual(library.element("result"), 4.5)


@unittest.skipUnless("torch" in KINDS, "needs torch")
class Torch(CallCase):
    def test_files_that_change_defaults(self):
        import torch

        n = rz.dim("N", 1, 9)
        library = Library({"N": 3})
        library.tensor("x", "f32", (3,), (1,))
        library.tensor("result", "f32", (3,), (1,))
        library.put("x", 2.0, 1)
        library.inputs["x"] = doubles([1, 2, 3], 3)
        library.outputs["y"] = doubles([0, 0, 0], 3)
        torch.set_default_device("meta")
        torch.set_default_dtype(torch.float64)
        try:
            declared = {"x": rz.In("f32", n), "returns": rz.Out("f32", n)}
            _, call = self.bound(library, "torch", lambda x: x * 1, **declared)
            call.collect(call.run(lambda x: x * 1, 1))
            for function in (lambda x: x, lambda x: x.tolist()):
                bound = self.reference(library, "torch", function, x=rz.In("f32", n), y=rz.Out("f32", n))
                bound.run(1)
        finally:
            torch.set_default_device(None)
            torch.set_default_dtype(torch.float32)
        self.assertEqual(library.element("result", 1), 2.0)
        self.assertEqual(list(library.outputs["y"][0]), [1, 2, 3])

    def test_a_result_that_is_not_strided(self):
        n = rz.dim("N", 1, 9)
        library = Library({"N": 3})
        library.tensor("x", "f32", (3,), (1,))
        library.tensor("result", "f32", (3,), (1,))
        _, call = self.bound(library, "torch", lambda x: x, x=rz.In("f32", n), returns=rz.Out("f32", n))
        with self.assertRaisesRegex(WrongCall, "has layout torch.sparse_coo, and a strided tensor"):
            call.run(lambda x: x.to_sparse(), 1)


class Buffers(unittest.TestCase):
    def test_lists_of_a_shape(self):
        from redzone.buffers import wrong_shape

        fits = [([], (0,)), ([], (0, 1)), ([[], []], (2, 0)), ([[], []], (2, 0, 3)), (1.0, ()),
                ([1.0, 2.0], (2,)), (((1.0, 2.0), [3.0, 4.0]), (2, 2))]  # fmt: skip
        for value, shape in fits:
            self.assertEqual(wrong_shape(value, shape), "", (value, shape))
        wrong = [([], (1, 0), "shape (0,)"), ([[]], (0, 1), "shape (1, 0)"), ([], (), "shape (0,)"),
                 (1.0, (1,), "shape ()"), ([[]], (1, 1), "shape (1, 0)"), ([[1.0]], (1,), "shape (1, 1)"),
                 ([[1.0, 2.0], [3.0]], (2, 2), "uneven lists"), ([[1.0], 2.0], (2, 1), "uneven lists"),
                 ([1.0, [2.0]], (2,), "uneven lists")]  # fmt: skip
        for value, shape, has in wrong:
            self.assertEqual(wrong_shape(value, shape), f"has {has}, and {shape} is declared")

    def test_bf16_rounds_to_the_nearest_even(self):
        from redzone.buffers import _bf16

        for value, want in ((1.0, 0x3F80), (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82), (-0.0, 0x8000),
                            (float("inf"), 0x7F80), (3.4e38, 0x7F80)):  # fmt: skip
            self.assertEqual(struct.unpack("<H", _bf16(value))[0], want, value)
        self.assertNotEqual(struct.unpack("<H", _bf16(float("nan")))[0] & 0x7F, 0)


if __name__ == "__main__":
    assert cases.PACKAGE.is_dir()
    unittest.main()
