"""scripts/sanitize runs every test or gives the reason why not by the test's label."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = sys.argv.pop()
SCRIPTS = pathlib.Path(sys.argv[-1]).resolve().parent
SCRIPT = pathlib.Path(sys.argv.pop()).read_text()


def labels_of(test):
    for one in test.get("properties", []):
        if one["name"] == "LABELS":
            return set(one["value"])
    return set()


class Sanitize(unittest.TestCase):
    def setUp(self):
        listed = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"],
                                capture_output=True, text=True, check=True).stdout
        # Tests that are not built yet have no label.
        self.tests = [test for test in json.loads(listed)["tests"]
                      if not test["name"].endswith("_NOT_BUILT")]
        self.covered = set(re.findall(r"labels='\^\((.*)\)\$'", SCRIPT)[0].split("|"))
        self.left_out = set(re.findall(r"^#   label (\w+) +\w", SCRIPT, re.MULTILINE))

    def test_every_test_is_run_or_left_out_with_a_reason(self):
        self.assertGreater(len(self.tests), 10)
        for test in self.tests:
            with self.subTest(test["name"]):
                self.assertEqual(len(labels_of(test) & (self.covered | self.left_out)), 1)

    def test_no_label_is_both(self):
        self.assertEqual(self.covered & self.left_out, set())

    def test_no_script_names_a_flag_of_a_sanitizer(self):
        for file in SCRIPTS.iterdir():
            if file.is_file():
                self.assertNotIn("-fsanitize", file.read_text(), file.name)


if __name__ == "__main__":
    unittest.main()
