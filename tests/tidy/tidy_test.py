#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# tidy.py over small trees that each break one rule.
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from skips import needs

TIDY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tidy.py")
HEAD = "// SPDX-License-Identifier: Apache-2.0\n//\n// A file.\n"
needs_clang_format = needs(shutil.which("clang-format"), "clang-format")


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("util/README.md", "# util\n")
        self.write("util/a.cc", HEAD + "class Box {\n  int Open() { return 1; }\n};\n")
        self.write("tests/README.md", "# tests\n")
        self.write("tests/util/a_test.cc", HEAD + "TEST(BoxTest, Opens) { Open(); }\n")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def tidy(self, **environment):
        done = subprocess.run([sys.executable, TIDY, self.root], env=os.environ | environment,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_passes(self):
        code, said = self.tidy()
        self.assertEqual((code, said.splitlines()[-1:]), (0, ["tidy: ok"]), said)

    def assert_fails_with(self, problem):
        """`problem` is the only one."""
        code, said = self.tidy()
        self.assertEqual(code, 1)
        lines = [line for line in said.splitlines() if not line.startswith(("MISSING:", "IMPOSSIBLE:"))]
        self.assertEqual(lines, [problem, "tidy: 1 problems"])

    def test_a_tree_in_order_passes(self):
        self.assert_passes()

    def test_a_type_is_defined_once(self):
        box = HEAD + "#pragma once\nnamespace ashlar%s {\nstruct Crate {\n  int size = 0;\n};\n}  // namespace ashlar%s\n"
        self.write("util/b.h", box % ("", ""))
        self.write("util/c.h", box % ("::other", "::other"))
        self.assert_passes()
        self.write("util/d.h", box % ("", ""))
        self.assert_fails_with("ashlar::Crate: is a type in util/b.h and in util/d.h; the linker takes them for one")

    def test_a_file_has_at_most_600_lines(self):
        self.write("util/b.cc", HEAD + "// A line.\n" * 597)
        self.assert_passes()
        self.write("util/b.cc", HEAD + "// A line.\n" * 598)
        self.assert_fails_with("util/b.cc:1: has 601 lines, more than 600; split it")

    def test_a_script_has_at_most_600_lines(self):
        self.write("tests/util/b.py", "# SPDX-License-Identifier: Apache-2.0\n#\n# A script.\n"
                   + "x = 1\n" * 598)
        self.assert_fails_with("tests/util/b.py:1: has 601 lines, more than 600; split it")

    def test_a_function_has_at_most_70_lines(self):
        self.write("util/b.cc", HEAD + "void Long() {\n" + "  x;\n" * 68 + "}\n")
        self.assert_passes()
        self.write("util/b.cc", HEAD + "void Long() {\n" + "  x;\n" * 69 + "}\n")
        self.assert_fails_with("util/b.cc:4: Long has 71 lines, more than 70; split it")

    def test_a_listed_file_may_be_longer_while_it_is(self):
        self.write("include/ashlar/db.h", HEAD + "// A line.\n" * 700)
        self.assert_passes()
        self.write("include/ashlar/db.h", HEAD)
        self.assert_fails_with(
            "include/ashlar/db.h: has 3 lines; remove it from LONG_FILES in tests/tidy/tidy.py")

    def test_a_room_needs_a_readme(self):
        os.remove(os.path.join(self.root, "util/README.md"))
        self.assert_fails_with(
            "util: has no README.md (its job, types to read first, invariants, tests)")

    def test_a_room_with_code_needs_tests(self):
        os.remove(os.path.join(self.root, "tests/util/a_test.cc"))
        self.assert_fails_with("util: has code and no tests/util/*_test.cc")

    def test_a_page_may_name_what_exists(self):
        self.write("util/README.md", "`util/a.cc`, `a.cc`, `tests/util`, `tests/util/`, `util_test`, `Box::Open`,"
                   " `Box::Open()`, `Open(box)`, `BoxTest.Opens`, `build/test/x.cc`, `std::vector`\n")
        self.assert_passes()

    def test_a_page_may_not_name_what_does_not(self):
        for kind, name in (("file", "util/b.cc"), ("file", "b.cc"), ("folder", "tests/env"), ("folder", "util/b/"),
                           ("member", "Box::Close"), ("member", "Crate::Open"), ("function", "Close()"),
                           ("function", "Close(box)"), ("test", "BoxTest.Closes")):
            with self.subTest(name):
                self.write("docs/page.md", f"# Page\n\nSee `{name}`.\n")
                self.assert_fails_with(f"docs/page.md:3: names {kind} `{name}`, which does not exist")

    def test_a_comment_does_not_make_a_name_exist(self):
        self.write("util/b.cc", HEAD + "// Close() was here.\n")
        self.write("docs/page.md", "`Close()`\n")
        self.assert_fails_with("docs/page.md:1: names function `Close()`, which does not exist")

    def test_only_a_readme_is_held_to_single_identifiers(self):
        self.write("docs/page.md", "`BoxOfRocksDb` `option_of_rocksdb`\n")
        self.assert_passes()
        self.write("util/README.md", "`BoxOfRocksDb`\n")
        self.assert_fails_with(
            "util/README.md:1: names identifier `BoxOfRocksDb`, which does not exist")

    def test_fenced_code_and_the_changelog_may_name_anything(self):
        self.write("docs/page.md", "```\n`util/b.cc`\n```\n")
        self.write("CHANGELOG.md", "`util/b.cc`\n")
        self.assert_passes()

    @needs_clang_format
    def test_code_is_formatted(self):
        self.write("util/b.cc", HEAD + "int  wide;\n")
        self.assert_fails_with(
            "util/b.cc:4: is not formatted; run clang-format -i on it, or make format")

    def test_without_clang_format_formatting_is_not_checked_and_that_is_said(self):
        self.write("util/b.cc", HEAD + "int  wide;\n")
        code, said = self.tidy(PATH="", ASHLAR_REQUIRE_ALL="0")
        self.assertEqual(code, 0, said)
        self.assertIn("MISSING: clang-format", said)

    def test_ci_must_have_clang_format(self):
        code, said = self.tidy(PATH="", ASHLAR_REQUIRE_ALL="1")
        self.assertEqual(code, 1)
        self.assertIn("ASHLAR_REQUIRE_ALL is set, but there is no clang-format", said)


if __name__ == "__main__":
    unittest.main()
