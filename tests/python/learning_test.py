#!/usr/bin/env python3
"""What workers tell of the modules that their calls import, and what is learned of it."""

import importlib
import json
import os
import sys
import unittest
import unittest.mock

import cases  # isort: skip

from redzone.learning import Listener, Teller, import_all, new_of


class Learning(cases.FileCase):
    def setUp(self):
        super().setUp()
        self.installed = self.folder / "site-packages"
        for folder in (self.folder, self.installed):
            sys.path.insert(0, str(folder))
            self.addCleanup(sys.path.remove, str(folder))
        hears, told = os.pipe2(os.O_NONBLOCK)
        self.addCleanup(os.close, hears)
        self.listener = Listener(hears)
        self.teller = Teller(told)
        self.told = told

    def imported(self, name, text="", folder="site-packages/"):
        self.write(text, f"{folder}{name}.py")
        importlib.invalidate_caches()
        importlib.import_module(name)
        self.addCleanup(sys.modules.pop, name, None)
        return str(self.folder / folder / f"{name}.py")

    def heard(self):
        """What the teller tells now; None where that is nothing."""
        self.teller.tell()
        try:
            return self.listener.hear()
        except BlockingIOError:
            return None

    def test_installed_modules_are_told_once(self):
        file = self.imported("learned_one")
        self.imported("learned_users", folder="")
        self.assertEqual(self.heard(), {"learned_one": file})
        self.assertIsNone(self.heard())
        os.close(self.told)
        self.assertIsNone(self.listener.hear())

    def test_none_of_a_call_that_changed_the_environment(self):
        self.imported("learned_two")
        with unittest.mock.patch.dict(os.environ, {"REDZONE_TEST_LEARNING": "1"}):
            self.assertIsNone(self.heard())

    def test_a_call_that_breaks_what_telling_needs(self):
        self.imported("learned_four")
        with unittest.mock.patch.object(os, "environ", None):
            self.assertIsNone(self.heard())

    def test_another_file_in_the_place_of_the_pipe_is_left_alone(self):
        file = self.folder / "users"
        with open(file, "wb") as users:
            os.dup2(users.fileno(), self.told)
        self.imported("learned_three")
        self.assertIsNone(self.heard())
        self.assertEqual(file.read_bytes(), b"")

    def test_what_does_not_fit_is_not_learned(self):
        for i in range(3):
            self.imported("learned_" + "x" * 200 + str(i))
        filled = os.write(self.told, b" " * (1 << 20))
        self.teller.tell()
        self.assertEqual(self.listener.hear(), {})
        self.assertGreater(filled, 1000)

    def test_only_what_a_worker_could_have_told_is_heard(self):
        users = {"users": str(self.folder / "users.py"), "number": 1}
        os.write(self.told, b"no json\n[1]\n" + json.dumps(users).encode() + b"\n")
        self.assertEqual(self.listener.hear(), {})

    def test_what_can_be_imported(self):
        self.write("", "site-packages/learned_right.py")
        self.write("import os\nraise SystemExit\n", "site-packages/learned_wrong.py")
        importlib.invalidate_caches()
        self.addCleanup(sys.modules.pop, "learned_right", None)
        right = {"learned_right": str(self.installed / "learned_right.py")}
        known = {"learned_right", "asked", "sys"}
        self.assertEqual(new_of({**right, "asked": "", "sys": "", "other.part": ""}, {"asked"}, known), right)
        self.assertTrue(import_all(right))
        self.assertEqual(new_of(right, (), known), {})
        self.assertFalse(import_all({"learned_right": "/elsewhere/site-packages/learned_right.py"}))
        self.assertFalse(import_all({"learned_wrong": str(self.installed / "learned_wrong.py")}))


if __name__ == "__main__":
    unittest.main()
