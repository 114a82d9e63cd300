"""Triton's cache folder after a real compilation, read back as a package."""

import hashlib
import json
import unittest

from fixtures import DESCRIPTION, ExporterCase, cubin_of, export, read_target


class Cache(ExporterCase):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        # With R in 33..64 and one alignment, only the classes of n remain, in each of the two configs.
        self.description = DESCRIPTION.replace("min = 17", "min = 33").replace(
            "align_bytes = 4\n", ""
        )
        self.write("add.toml", self.description)
        # The cache of a user's program has line information, which includes the arguments' names.
        self.ok(
            export(
                "function",
                f"{self.folder / 'kernel.py'}:add",
                "--describe",
                self.folder / "add.toml",
                "--configs",
                self.folder / "configs.toml",
                "--out",
                self.folder / "made",
                "--line-info",
                cache=self.cache,
            )
        )

    def entries(self):
        """[[entry]] tables with the constants, which a cache does not hold."""
        text = ""
        for path in sorted(self.cache.glob("*/add.json")):
            warps = json.loads(path.read_text())["num_warps"]
            text += (
                f'\n[[entry]]\nhash = "{path.parent.name}"\n'
                f"constants = {{ BLOCK = {32 if warps == 4 else 64}, RDIM = 64, WIDE = 1 }}\n"
            )
        return text

    def read(self, description=None, *arguments):
        if description is not None:
            self.write("cache.toml", description)
            arguments += ("--describe", self.folder / "cache.toml")
        return export("cache", self.cache, "--out", self.folder / "read", *arguments)

    def described(self):
        extra = '\n[[argument]]\nname = "WIDE"\nkind = "constexpr"\nvalue = "1"\n'
        # A cache does not record whether an argument could have been specialized, either.
        whole = self.description.replace('type = "i64"', 'type = "i64"\nspecialize = false')
        return whole + extra + self.entries()

    def test_gives_the_variants_that_were_compiled(self):
        self.ok(self.read(self.described()))
        made, read = (read_target(self.folder / name) for name in ("made", "read"))

        def facts(target, folder):
            return {
                (
                    v["knobs"]["BLOCK"],
                    v["knobs"]["num_warps"],
                    v["constants"]["RDIM"],
                    *sorted(v["classes"].items()),
                    hashlib.sha256(cubin_of(self.folder / folder, v).read_bytes()).hexdigest(),
                )
                for v in target["variant"]
            }

        self.assertEqual(facts(made, "made"), facts(read, "read"))
        self.assertEqual(made["tensor"], read["tensor"])
        self.assertEqual(made["dim"], read["dim"])

    def test_says_what_a_cache_does_not_hold(self):
        self.refused(self.read(), self.cache, "dim: a cache does not hold")
        self.refused(
            self.read(self.described().replace('grid = ["cdiv(R, BLOCK)"]', "")),
            "cache.toml",
            "grid: missing",
        )
        self.refused(
            self.read(self.described().replace("RDIM = 64, ", "", 1)),
            "cache.toml",
            "entry: no constant 'RDIM' for ",
        )

    def test_refuses_what_contradicts_the_compiled_kernel(self):
        self.refused(
            self.read(self.described().replace('type = "i64"', 'type = "i32"')),
            "argument[pitch].type: i32, but i64 in",
        )
        not_specialized = 'value = "N"\nspecialize = false'
        self.refused(
            self.read(self.described().replace('value = "N"', not_specialized)),
            "add.json: n: the compiled kernel has no such argument",
        )
        self.refused(
            self.read(self.described(), "--arch", "80"), "add.json: target: cuda 90, not cuda 80"
        )
        self.refused(self.read(self.described(), "--kernel", "sub"), "no kernel 'sub', but add")

    def test_names_the_field_that_is_missing_in_the_metadata(self):
        path = next(self.cache.glob("*/add.json"))
        whole = json.loads(path.read_text())
        del whole["global_scratch_size"]
        path.write_text(json.dumps(whole))
        self.refused(self.read(self.described()), path, "global_scratch_size: missing")


if __name__ == "__main__":
    unittest.main()
