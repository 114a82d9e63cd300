"""From a user's function to a package: variants, determinism, errors that name file and field."""

import json
import sys
import unittest
from pathlib import Path

from fixtures import (
    CONFIGS,
    DESCRIPTION,
    KERNEL,
    SHIPPED,
    ExporterCase,
    export,
    metadata,
    read_target,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from triton_package.model import DTYPES


class Function(ExporterCase):
    def test_variants_are_the_classes_that_occur(self):
        self.ok(self.function())
        target = read_target(self.folder / "out")
        self.assertEqual(target["redzone_package"], 1)
        self.assertEqual(
            [a["name"] for a in target["argument"]],
            ["x", "y", "rows", "n", "pitch", "RDIM", "BLOCK", "WIDE"],
        )
        self.assertEqual(
            {k["name"]: k.get("tune") for k in target["knob"]}, {"BLOCK": True, "num_warps": True}
        )
        seen = set()
        for v in target["variant"]:
            self.assertEqual(v["constants"]["BLOCK"], v["knobs"]["BLOCK"])
            self.assertEqual(v["constants"]["WIDE"], 1)
            # y is 16-byte aligned, rows and pitch are not specialized.
            self.assertEqual(set(v["classes"]), {"x", "y", "n"})
            self.assertEqual(v["classes"]["y"], "16")
            one = v["classes"]["n"] == "1"
            self.assertEqual(v["dropped"], (["n"] if one else []) + ["RDIM", "BLOCK", "WIDE"])
            self.assertEqual(metadata(self.folder / "out", v)["num_warps"], v["knobs"]["num_warps"])
            seen.add(
                (
                    v["knobs"]["BLOCK"],
                    v["knobs"]["num_warps"],
                    v["constants"]["RDIM"],
                    v["classes"]["n"],
                    v["classes"]["x"],
                )
            )
        # The two configs and no mixture of them; RDIM is 32 or 64 for R = 17..64.
        self.assertEqual(
            seen,
            {
                (b, w, r, n, x)
                for b, w in ((32, 4), (64, 8))
                for r in (32, 64)
                for n in ("1", "16", "other")
                for x in ("16", "other")
            },
        )
        self.assertEqual(len(target["variant"]), len(seen))

    def test_classes_that_cannot_occur_have_no_variant(self):
        self.write(
            "add.toml", DESCRIPTION.replace("max = 100", "min = 32\nmax = 96\nmultiple_of = 8")
        )
        self.ok(self.function())
        classes = {v["classes"]["n"] for v in read_target(self.folder / "out")["variant"]}
        self.assertEqual(classes, {"16", "other"})

    def test_same_inputs_same_bytes(self):
        self.ok(self.function("a", cache=self.folder / "cache1"))
        self.ok(self.function("b", cache=self.folder / "cache2"))
        files = sorted(p.relative_to(self.folder / "a") for p in (self.folder / "a").rglob("*.*"))
        for file in files:
            self.assertEqual(
                (self.folder / "a" / file).read_bytes(),
                (self.folder / "b" / file).read_bytes(),
                file,
            )
        self.assertGreater(len(files), 2)

    def test_configs_in_json(self):
        self.ok(self.function("toml"))
        self.write(
            "configs.json",
            json.dumps(
                [
                    {"kwargs": {"BLOCK": 32}, "num_warps": 4},
                    {"kwargs": {"BLOCK": 64}, "num_warps": 8},
                ]
            ),
        )
        self.ok(self.function("json", configs="configs.json"))
        self.assertEqual(
            (self.folder / "toml" / "target.toml").read_bytes(),
            (self.folder / "json" / "target.toml").read_bytes(),
        )

    def test_configs_of_autotune(self):
        self.write(
            "kernel.py",
            KERNEL.replace(
                "@triton.jit",
                "@triton.autotune([triton.Config({'BLOCK': 32}, num_warps=2)], key=['n'])\n"
                "@triton.jit",
            ),
        )
        self.ok(
            export(
                "function",
                f"{self.folder / 'kernel.py'}:add",
                "--describe",
                self.folder / "add.toml",
                "--out",
                self.folder / "out",
            )
        )
        knobs = {k["name"]: k["values"] for k in read_target(self.folder / "out")["knob"]}
        self.assertEqual((knobs["BLOCK"], knobs["num_warps"]), ([32], [2]))

    def test_every_element_type_compiles(self):
        self.write(
            "kernel.py",
            """
import triton
import triton.language as tl


@triton.jit
def copy(x, y, T: tl.constexpr):
    tl.store(y + tl.program_id(0), tl.load(x + tl.program_id(0)))
""",
        )
        tensors = "".join(f"""
[[tensor]]
name = "{name}"
dtype_of = "T"
role = "{role}"
shape = ["N"]
""" for name, role in (("x", "in"), ("y", "out")))
        self.write(
            "add.toml",
            f"""
name = "test.copy"
grid = ["N"]
dim = [{{ name = "N", min = 1, max = 64 }}]
knob = [{{ name = "T", values = {json.dumps(list(DTYPES))} }}]
"""
            + tensors,
        )
        self.write("configs.toml", "[[config]]\nnum_warps = 1\n")
        self.ok(self.function(name="copy"))
        target = read_target(self.folder / "out")
        self.assertEqual({v["knobs"]["T"] for v in target["variant"]}, set(DTYPES))
        # The kernels differ, but for those of integers of one size.
        self.assertGreaterEqual(len({v["file"] for v in target["variant"]}), 8)

    def test_descriptors_of_the_host(self):
        self.write(
            "kernel.py",
            """
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    y.store([tl.program_id(0) * BLOCK, 0], x.load([tl.program_id(0) * BLOCK, 0]))
""",
        )
        descriptors = "".join(f"""
[[tensor]]
name = "{name}"
dtype = "f16"
role = "{role}"
shape = ["N", "64"]

[[argument]]
name = "{name}"
kind = "descriptor"
shape = ["N", "64"]
strides = ["64", "1"]
block_shape = ["BLOCK", "64"]
""" for name, role in (("x", "in"), ("y", "out")))
        self.write(
            "add.toml",
            """
name = "test.copy"
grid = ["cdiv(N, BLOCK)"]
dim = [{ name = "N", min = 2, max = 15 }]
"""
            + descriptors
            + """
[[argument]]
name = "n"
kind = "int"
value = "N"
""",
        )
        self.ok(self.function(name="copy"))
        target = read_target(self.folder / "out")
        self.assertEqual(
            target["argument"][0],
            {
                "name": "x",
                "kind": "descriptor",
                "type": "tensordesc",
                "value": "x",
                "shape": ["N", "64"],
                "strides": ["64", "1"],
                "block_shape": ["BLOCK", "64"],
            },
        )
        self.assertEqual(
            len(metadata(self.folder / "out", target["variant"][0])["tensordesc_meta"]), 2
        )

    def test_errors_name_file_and_field(self):
        toml = self.folder / "add.toml"
        cases = [
            ('name = "test.add"', "", "name: missing"),
            ('name = "test.add"', "name = 3", "name: a string is expected, not 3"),
            ("work = ", "wrok = ", "wrok: unknown field"),
            ('grid = ["cdiv(R, BLOCK)"]', "", "grid: missing"),
            ("cdiv(R, BLOCK)", "R / BLOCK", "grid[0]: 'R / BLOCK': no '/' here"),
            (
                "cdiv(R, BLOCK)",
                "cdiv(R, BLOK)",
                "grid[0]: 'cdiv(R, BLOK)': no dim, knob or value 'BLOK'",
            ),
            ("max = 100", "min = 9\nmax = 5", "dim[N].max: 5 is less than min = 9"),
            ("max = 100", "max = 5\nvalues = [1, 2]", "dim[N].max: contradicts 'values'"),
            ("max = 100", "max = 5\nmultiple_of = 8", "dim[N].multiple_of: no multiple of 8"),
            ("max = 100", 'max = "5"', "dim[N].max: an integer is expected"),
            (
                '[[tensor]]\nname = "x"',
                '[[constraint]]\nkind = "divides"\na = "N"\nb = "Q"\n' '[[tensor]]\nname = "x"',
                "constraint[0].b: no dim 'Q'",
            ),
            ('dtype = "f32"', 'dtype = "float"', "tensor[x].dtype: 'float' is not one of"),
            (
                '[[tensor]]\nname = "x"\ndtype = "f32"',
                '[[knob]]\nname = "T"\nvalues = ["f32"]\ntune = true\n'
                '[[tensor]]\nname = "x"\ndtype_of = "T"',
                "tensor[x].dtype_of: knob 'T' is tuned, so it cannot change a type",
            ),
            ('role = "in"\n', "", "tensor[x].role: missing"),
            ('shape = ["N", "R"]', 'shape = ["N", "Z"]', "tensor[x].shape[1]"),
            (
                'name = "pitch"',
                'name = "ptich"',
                "argument[ptich].name: the kernel has no parameter 'ptich' (did you mean 'pitch'?)",
            ),
            (
                'name = "pitch"\nkind = "int"',
                'name = "pitch"\nkind = "constexpr"',
                "argument[pitch].kind: 'constexpr', but the kernel declares it no constexpr",
            ),
            ('type = "i64"', 'type = "i64"\nspecialize = true', "argument[pitch].specialize"),
            ('type = "i64"\nvalue = "R"', 'type = "i64"', "argument[pitch].value: missing"),
            (
                "next_power_of_2(R)",
                "next_power_of_2(R",
                "argument[RDIM].value: 'next_power_of_2(R'",
            ),
            ("next_power_of_2(R)", "R", "variant["),  # 17 is no power of two
        ]
        for old, new, message in cases:
            with self.subTest(message):
                self.assertIn(old, DESCRIPTION)
                self.write("add.toml", DESCRIPTION.replace(old, new, 1))
                self.refused(self.function(), toml, message)

    def test_errors_of_other_files(self):
        self.write("add.toml", "name = ")
        self.refused(self.function(), self.folder / "add.toml", "no TOML")
        self.write("add.toml", DESCRIPTION)
        self.refused(self.function(name="sub"), self.folder / "kernel.py", "sub: no such function")
        self.refused(self.function(configs="none.toml"), "none.toml", "No such file")
        self.write("configs.toml", CONFIGS.replace("num_warps = 8", ""))
        self.refused(self.function(), "config[1].num_warps: set in some configs, but not in all")
        self.write("configs.toml", CONFIGS.replace("num_warps", "speed"))
        self.refused(self.function(), "knob[speed]: no argument, tensor or grid depends on it")
        self.write("configs.toml", CONFIGS)
        self.write("file", "")
        self.refused(self.function(out="file"), self.folder / "file", "Not a directory")
        self.write("kernel.py", "import nothing_of_this_name")
        self.refused(self.function(), self.folder / "kernel.py", "cannot be imported")

    def test_the_example_of_the_readme(self):
        blocks = (SHIPPED / "README.md").read_text().split("```toml\n")[1:]
        description, configs = (b.split("```")[0] for b in blocks[:2])
        self.write("add.toml", description)
        self.write("configs.toml", configs)
        self.write(
            "kernel.py",
            """
import triton
import triton.language as tl


@triton.jit
def my_add(x, y, n, stride, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    columns = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[None, :]
    at = rows * stride + columns
    tl.store(y + at, tl.load(x + at, columns < n, 0.0) + 1, columns < n)
""",
        )
        self.ok(self.function(name="my_add"))
        target = read_target(self.folder / "out")
        self.assertEqual(
            {v["constants"]["ROWS"] for v in target["variant"]}, {1, 2, 4, 8, 16, 32, 64}
        )
        self.assertEqual({v["classes"]["n"] for v in target["variant"]}, {"16", "other"})

    def test_ranges_that_are_too_large_to_enumerate(self):
        self.write(
            "add.toml",
            DESCRIPTION.replace("max = 100", "max = 1000000").replace(
                'value = "N"', 'value = "N + R"'
            ),
        )
        self.refused(self.function(), "argument[n]: ", "combinations of N, R are too many")


if __name__ == "__main__":
    unittest.main()
