"""Links of the documentation resolve, and the README stays short and leads to every page.

  links_test.py ROOT

Checks relative links and anchors in the Markdown files of the root, of docs/ and of the folders that
the README links. Addresses with a scheme are not followed.
"""

import pathlib
import re
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(sys.argv[1]).resolve()
README_LINES = 200

FENCE = re.compile(r"^ *(```|~~~)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s>]*)>?(?: +\"[^\"]*\")?\)")


def prose(text: str) -> list[str]:
    """The lines outside of fenced code."""
    lines, fenced = [], False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    return lines


def links(text: str) -> list[str]:
    """The targets of all links and pictures outside of code spans."""
    # The text of a link may be code, so code is blanked rather than removed.
    plain = CODE.sub("code", "\n".join(prose(text)))
    return LINK.findall(plain)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found: set[str] = set()
    for line in prose(text):
        heading = HEADING.match(line)
        if not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
        base = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        anchor, again = base, 0
        while anchor in found:
            again += 1
            anchor = f"{base}-{again}"
        found.add(anchor)
    return found


def broken(root: pathlib.Path, page: pathlib.Path) -> list[str]:
    """The links of a page that lead nowhere, each as `PAGE: LINK`."""
    out = []
    for link in links(page.read_text()):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / urllib.parse.unquote(name)).resolve() if name else page
        inside = target == root or root in target.parents
        if (
            not link
            or not inside
            or not target.exists()
            or (anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text())))
        ):
            out.append(f"{page.relative_to(root)}: {link}")
    return out


def pages(root: pathlib.Path) -> list[pathlib.Path]:
    folders = (root, root / "docs", root / "repros", root / "src/targets/triton")
    return [page for folder in folders for page in sorted(folder.glob("*.md"))]


class Checker(unittest.TestCase):
    """Mistakes that the checker itself must detect."""

    def broken(self, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            (folder / "page.md").write_text(text)
            (folder / "other.md").write_text("# One `two`: three?\n\n## Again\n\n## Again\n")
            (folder / "picture.png").write_bytes(b"")
            return broken(folder, folder / "page.md")

    def test_accepts_what_resolves(self) -> None:
        text = (
            "# Here\n[a](other.md) ![b](picture.png) [c](other.md#one-two-three) [d](#here)\n"
            "[`e`](other.md#again-1) [f](https://example.com/#gone) [g\nover lines](other.md)\n"
        )
        self.assertEqual(len(links(text)), 7)
        self.assertEqual(self.broken(text), [])

    def test_notices_a_missing_file(self) -> None:
        self.assertEqual(self.broken("[a](gone.md)\n"), ["page.md: gone.md"])

    def test_notices_a_missing_picture(self) -> None:
        self.assertEqual(self.broken("![a](gone.png)\n"), ["page.md: gone.png"])

    def test_notices_a_missing_anchor(self) -> None:
        text = "[a](other.md#gone) [b](#gone)\n```\n# Gone\n```\n"
        self.assertEqual(self.broken(text), ["page.md: other.md#gone", "page.md: #gone"])

    def test_notices_a_link_out_of_the_tree(self) -> None:
        self.assertEqual(self.broken("[a](../../../etc)\n"), ["page.md: ../../../etc"])

    def test_leaves_code_alone(self) -> None:
        self.assertEqual(self.broken("`[a](gone.md)`\n```\n[b](gone.md)\n```\n"), [])


class Documentation(unittest.TestCase):
    def test_every_link_resolves(self) -> None:
        self.assertGreaterEqual(sum(len(links(page.read_text())) for page in pages(ROOT)), 50)
        self.assertEqual([link for page in pages(ROOT) for link in broken(ROOT, page)], [])

    def test_the_readme_leads_to_every_page(self) -> None:
        linked = {link.partition("#")[0] for link in links((ROOT / "README.md").read_text())}
        wanted = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
        self.assertEqual(wanted - linked, set())

    def test_the_readme_is_short(self) -> None:
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), README_LINES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
