#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# tidy.py over trees made for the purpose: limits only get stricter, and rooms want a README and tests.
import os
import subprocess
import sys
import tempfile
import unittest

TIDY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tidy.py")
HEAD = "// SPDX-License-Identifier: Apache-2.0\n//\n// A file.\n"


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write("util/README.md", "# util\n")
        self.write("util/a.cc", HEAD + "int Small() { return 1; }\n" + "\n" * 96)
        self.write("tests/README.md", "# tests\n")
        self.write("tests/util/a_test.cc", HEAD)
        self.limits("library.file_lines 100\n")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def limits(self, library):
        self.write("tests/tidy/limits.txt", "# Head.\n" + library + "library.function_lines 3\n"
                   "tests_and_tools.file_lines 10\n")

    def limits_now(self):
        with open(os.path.join(self.root, "tests/tidy/limits.txt"), encoding="utf-8") as file:
            return file.read()

    def tidy(self, *arguments, ci=False):
        environment = {k: v for k, v in os.environ.items() if k != "CI"} | ({"CI": "1"} if ci else {})
        done = subprocess.run([sys.executable, TIDY, self.root, *arguments], env=environment,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_a_tree_within_its_limits_passes_and_changes_nothing(self):
        before = self.limits_now()
        for ci in (False, True):
            code, said = self.tidy(ci=ci)
            self.assertEqual(code, 0, said)
        self.assertEqual(self.limits_now(), before)

    def test_a_longer_file_fails(self):
        self.write("util/b.cc", HEAD + "\n" * 98)
        code, said = self.tidy()
        self.assertEqual(code, 1)
        self.assertIn("util/b.cc: 101 lines, longest library.file_lines so far was 100", said)

    def test_a_limit_far_above_the_tree_follows_it_in_a_checkout(self):
        self.limits("library.file_lines 400\n")
        code, said = self.tidy()
        self.assertEqual(code, 0, said)
        self.assertIn("library.file_lines 100\n", self.limits_now())
        self.assertIn("# Head.\n", self.limits_now())

    def test_a_limit_far_above_the_tree_fails_in_ci(self):
        self.limits("library.file_lines 400\n")
        code, said = self.tidy(ci=True)
        self.assertEqual(code, 1)
        self.assertIn("the tree is better than its limits", said)
        self.assertIn("library.file_lines 400\n", self.limits_now())

    def test_a_limit_a_little_above_the_tree_stays_unless_lowered_by_hand(self):
        self.limits("library.file_lines 110\n")
        self.assertEqual(self.tidy(ci=True)[0], 0)
        self.assertIn("library.file_lines 110\n", self.limits_now())
        self.tidy("--lower")
        self.assertIn("library.file_lines 100\n", self.limits_now())

    def test_lowering_never_raises(self):
        self.limits("library.file_lines 50\n")
        self.assertEqual(self.tidy("--lower")[0], 1)
        self.assertIn("library.file_lines 50\n", self.limits_now())

    def test_a_room_needs_a_readme(self):
        os.remove(os.path.join(self.root, "util/README.md"))
        code, said = self.tidy()
        self.assertEqual(code, 1)
        self.assertIn("util: has no README.md", said)

    def test_a_room_with_code_needs_tests_unless_it_is_listed(self):
        os.remove(os.path.join(self.root, "tests/util/a_test.cc"))
        self.assertIn("util: has code and no tests/util/*_test.cc", self.tidy()[1])
        self.limits("library.file_lines 100\nuntested util\n")
        self.assertEqual(self.tidy()[0], 0)

    def test_a_room_that_got_tests_leaves_the_list(self):
        self.limits("library.file_lines 100\nuntested util\n")
        self.assertEqual(self.tidy(ci=True)[0], 1)
        self.assertEqual(self.tidy()[0], 0)
        self.assertNotIn("untested", self.limits_now())


if __name__ == "__main__":
    unittest.main()
