#!/usr/bin/env python3
"""page_test.py DIR: the pages of night_files in headless Chromium, as files, without a network.

Exits with 77, which CTest counts as skipped, if Chromium, its driver or Selenium is not installed.
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    webdriver = None

FOLDER = pathlib.Path(sys.argv.pop()).resolve()


def browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # No sandbox: CI runs as root in a container, where Chromium has none. No name resolves, so a page
    # that makes a network request shows an error.
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
                 f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


class Page(unittest.TestCase):
    profile: tempfile.TemporaryDirectory
    chrome: "webdriver.Chrome"

    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.chrome = browser(cls.profile.name)

    @classmethod
    def tearDownClass(cls):
        cls.chrome.quit()
        cls.profile.cleanup()

    def open(self, night, width=1200, anchor=""):
        # A change of the anchor alone would load nothing.
        self.chrome.get("about:blank")
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
        self.chrome.get_log("browser")
        self.chrome.get((FOLDER / night / "index.html").as_uri() + anchor)

    def tearDown(self):
        self.assertEqual(self.chrome.get_log("browser"), [])

    def all(self, css):
        return self.chrome.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.chrome.find_element(By.CSS_SELECTOR, css)

    def cards(self):
        return [card.get_attribute("id") for card in self.all(".finding")]

    def overflow(self):
        return self.chrome.execute_script(
            "const page = document.documentElement; return page.scrollWidth - page.clientWidth")

    def test_lists_the_findings_with_what_is_known_of_them(self):
        self.open("sample")
        self.assertEqual(self.cards(), [f"finding-{i}" for i in (3, 4, 1, 2, 5)])
        self.assertIn("2 findings to look at", self.one("#verdict").text)
        card = self.one("#finding-3")
        card.find_element(By.TAG_NAME, "summary").click()
        WebDriverWait(self.chrome, 10).until(lambda _: self.all("#finding-3 .plan"))
        for words in ("redzone replay 3", "scan reads 4 bytes past the end of x", "memcheck: call 1"):
            self.assertIn(words, card.text)
        self.assertIn("redzone_plan = 1", card.find_element(By.CSS_SELECTOR, ".plan").text)
        self.assertIn("0/3", card.find_element(By.CSS_SELECTOR, ".attribution").text)
        self.assertIn("bad", card.find_element(By.CSS_SELECTOR, ".bisect").text)
        self.assertIn("NVRTC is not installed", self.one("#not-judged").text)
        self.assertIn("12,345", self.one("#targets").text)
        self.assertIn("612 of 1,000", self.one("#targets").text)
        self.assertIn("612 of 1,037", self.one("#tiles").text)
        self.assertIn("not judged by reference: none of 37 calls", self.one("#not-judged").text)
        self.assertIn("unknown target 'other'", self.one("#corpus").text)
        self.assertEqual(len(self.all("#trends svg")), 4)
        self.assertEqual(len(self.all("#trends figure:first-child svg g")), 14)

    def test_filters(self):
        self.open("sample")
        query = self.one("#query")
        query.send_keys("ROW_MAX hang")
        self.assertEqual(self.cards(), ["finding-2"])
        self.assertEqual(self.one("#count").text, "1 of 5 findings")
        query.clear()
        query.send_keys("no such word")
        self.assertEqual(self.cards(), [])
        query.clear()
        query.send_keys(" ")
        self.assertEqual(len(self.cards()), 5)
        self.one("[data-state=known]").click()
        self.assertEqual(self.cards(), [f"finding-{i}" for i in (3, 4, 2, 5)])
        Select(self.one("#target")).select_by_value("other")
        self.assertEqual(self.cards(), ["finding-2"])
        Select(self.one("#target")).select_by_value("")
        Select(self.one("#outcome")).select_by_value("needs attention")
        self.assertEqual(self.cards(), ["finding-3", "finding-4"])

    def test_copies_the_line_that_replays(self):
        self.open("sample", anchor="#finding-4")
        WebDriverWait(self.chrome, 10).until(lambda _: self.all("#finding-4 .copy"))
        self.one("#finding-4 .copy").click()
        WebDriverWait(self.chrome, 10).until(lambda _: self.one("#finding-4 .copy").text == "Copied")
        # A paste gives the copied text.
        query = self.one("#query")
        query.click()
        self.chrome.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
        pasted = self.chrome.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))")
        self.assertEqual(pasted, "redzone replay 4")

    def test_fits_a_phone(self):
        for night in ("sample", "hostile", "empty"):
            self.open(night, width=360)
            for summary in self.all(".finding > summary"):
                summary.click()
            WebDriverWait(self.chrome, 10).until(
                lambda _: len(self.all(".finding .plan")) == len(self.cards()))
            self.assertLessEqual(self.overflow(), 0, night)
            size_of = "return parseFloat(getComputedStyle(arguments[0]).fontSize)"
            sizes = {float(self.chrome.execute_script(size_of, e))
                     for e in self.all("body, td, pre, button, input")}
            self.assertGreaterEqual(min(sizes), 13, night)

    def test_text_stays_text(self):
        self.open("hostile")
        for summary in self.all(".finding > summary"):
            summary.click()
        WebDriverWait(self.chrome, 10).until(lambda _: len(self.all(".plan")) == 5)
        self.assertEqual(self.all("img, iframe, object, embed, main script, main style"), [])
        self.assertEqual(self.all("a:not([href^='#'])"), [])
        self.assertIn("<img src=x onerror=alert(1)>", self.one(".finding code").text)

    def test_a_night_without_anything(self):
        self.open("empty")
        self.assertEqual(self.one("#count").text, "0 of 0 findings")
        self.assertFalse(self.one("#trends-section").is_displayed())
        self.assertFalse(self.one("#not-judged-section").is_displayed())

    def test_many_findings(self):
        self.open("many", anchor="#finding-1500")
        self.assertIn("8,000 more findings are in the store", self.one("main").text)
        # The totals include all 10,000 findings.
        self.assertIn("1,714 findings to look at", self.one("#verdict").text)
        self.assertEqual(self.one("#tiles .new").text.split(), ["2,000", "new"])
        self.assertIn("finding-1500", self.cards())
        self.assertTrue(self.one("#finding-1500").get_attribute("open"))
        self.one("#query").send_keys("scan")
        self.assertEqual(len(self.cards()), 200)
        self.one("#more").click()
        self.assertEqual(len(self.cards()), 400)


missing = [name for name, there in (("chromium", shutil.which("chromium")),
                                    ("chromium-driver", shutil.which("chromedriver")),
                                    ("python3-selenium", webdriver)) if not there]
if missing:
    print(f"skipped: {', '.join(missing)} not installed (./scripts/setup installs what is missing)")
    sys.exit(77)
unittest.main(verbosity=2)
