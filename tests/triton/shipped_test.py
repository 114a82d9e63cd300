"""The shipped packages, as built by the test `triton.packages`."""

import sys
import unittest
from pathlib import Path

from fixtures import SHIPPED, metadata, read_target

PACKAGES = Path(sys.argv.pop())
NAMES = sorted(p.stem for p in SHIPPED.glob("*.py") if "\nPACKAGE = " in p.read_text())
# Each descriptor that a program builds on the device takes 128 bytes of its scratch.
DESCRIPTORS = {"scale_descriptor": 2, "matmul_persistent": 3, "attention_fwd": 4}


class Shipped(unittest.TestCase):
    def test_all_are_there_and_small(self):
        self.assertEqual(
            NAMES,
            sorted(
                [
                    *DESCRIPTORS,
                    "chunk_fwd_h",
                    "chunk_fwd_phase1",
                    "chunk_bwd_dh",
                    "chunk_bwd_dh_correction",
                ]
            ),
        )
        for name in NAMES:
            with self.subTest(name):
                cubins = list((PACKAGES / name / "cubin").glob("*.cubin"))
                files = {v["file"] for v in read_target(PACKAGES / name)["variant"]}
                self.assertEqual({p.stem for p in cubins}, files)
                self.assertLess(sum(p.stat().st_size for p in cubins), 2 << 20)

    def test_metadata_agrees_with_the_knobs(self):
        for name in NAMES:
            target = read_target(PACKAGES / name)
            for v in target["variant"]:
                m = metadata(PACKAGES / name, v)
                self.assertEqual((m["name"], m["target"]["arch"]), (name, 90))
                self.assertEqual(m["triton_version"], target["triton"])
                for option in ("num_warps", "num_stages", "num_ctas"):
                    self.assertEqual(m[option], v["knobs"].get(option, m[option]))

    def test_scratch_is_what_the_descriptors_need(self):
        for name in NAMES:
            for v in read_target(PACKAGES / name)["variant"]:
                count = DESCRIPTORS.get(name, 0)
                if v["knobs"].get("indexing") == "pointer":
                    count = 0
                m = metadata(PACKAGES / name, v)
                # Per program: the launcher multiplies by num_ctas.
                self.assertEqual(m["global_scratch_size"], 128 * count, (name, v))
                self.assertEqual(m["global_scratch_align"], 128 if count else 1)
                self.assertEqual(m["profile_scratch_size"], 0)

    def test_variants_are_distinct_and_complete(self):
        for name in NAMES:
            target = read_target(PACKAGES / name)
            arguments = [a["name"] for a in target["argument"]]
            seen = set()
            for v in target["variant"]:
                self.assertEqual(set(v["knobs"]), {k["name"] for k in target["knob"]})
                self.assertLessEqual(set(v["classes"]) | set(v["dropped"]), set(arguments))
                seen.add(repr((v["knobs"], v["constants"], v["classes"])))
            self.assertEqual(len(seen), len(target["variant"]))

    def test_inputs_of_matrix_products_have_exact_sums(self):
        fills = {
            name: {t["fill"]["kind"] for t in read_target(PACKAGES / name)["tensor"] if "fill" in t}
            for name in NAMES
        }
        self.assertEqual(fills.pop("matmul_persistent"), {"sums"})
        self.assertNotIn({"sums"}, fills.values())

    def test_chunk_kernels_have_the_classes_of_n_and_the_blocks_of_d(self):
        for name in (n for n in NAMES if n.startswith("chunk_")):
            got = {
                (v["constants"]["RDIM"], v["constants"]["C"], v["classes"]["N"])
                for v in read_target(PACKAGES / name)["variant"]
            }
            self.assertEqual(
                got,
                {(r, c, n) for r in (32, 64, 128) for c in (32, 64) for n in ("1", "16", "other")},
            )


if __name__ == "__main__":
    unittest.main()
