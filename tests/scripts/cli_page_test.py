"""docs/cli.md agrees with --help, and scripts/cli_page detects when it does not.

  cli_page_test.py SCRIPT REDZONE
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT, REDZONE = sys.argv[1:3]
PAGE = pathlib.Path(SCRIPT).resolve().parent.parent / "docs/cli.md"


def cli_page(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT, "--redzone", REDZONE, *arguments], capture_output=True, text=True, check=False
    )


class CliPage(unittest.TestCase):
    def test_the_page_is_what_help_says(self) -> None:
        done = cli_page("--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_page_without_one_of_the_flags_is_out_of_date(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "cli.md"
            copy.write_text(PAGE.read_text().replace("--compilers", "--cores"))
            done = cli_page("--check", "--page", str(copy))
            self.assertEqual(done.returncode, 1)
            self.assertIn("./scripts/cli_page", done.stderr)
            self.assertIn("--cores", copy.read_text(), "--check has written")

            self.assertEqual(cli_page("--page", str(copy)).returncode, 0)
            self.assertEqual(copy.read_text(), PAGE.read_text())

    def test_a_page_that_is_missing_is_out_of_date(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = cli_page("--check", "--page", f"{folder}/cli.md")
            self.assertEqual(done.returncode, 1)

    def test_a_binary_that_is_missing_is_an_error_and_leaves_the_page(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "cli.md"
            copy.write_text("kept")
            done = cli_page("--redzone", f"{folder}/redzone", "--page", str(copy))
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{folder}/redzone", done.stderr)
            self.assertEqual(copy.read_text(), "kept")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
