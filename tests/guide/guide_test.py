#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The guide does what it says: every snippet compiles (the build has seen to that), runs, and prints
# what the page shows behind it; console lines run with the tools of this build; links lead somewhere.
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
sys.path.insert(0, str(ROOT / "tests/guide"))
from page import blocks_of, of_kind  # noqa: E402
from skips import exit_as_missing  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build/test")).resolve()
PAGES = sorted((ROOT / "docs/guide").glob("*.md"))
TOPICS = {"asynchronous-writes", "backups", "c-api", "first-steps", "durability", "iterators-and-snapshots",
          "errors-and-recovery", "memory", "tuning", "tools", "coming-from-rocksdb",
          "encryption", "expiring-values", "repair", "testing-your-program",
          "timestamps", "transactions"}


def run(arguments, folder):
    environment = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}")
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=120, check=False)


class Guide(unittest.TestCase):
    maxDiff = None

    def check(self, done, output, what):
        self.assertEqual(done.stderr, "", what)
        self.assertEqual(done.returncode, 0, what)
        self.assertEqual(done.stdout, output, what)

    def test_every_topic_has_its_page(self):
        self.assertEqual({page.stem for page in PAGES} - {"README"}, TOPICS)

    def test_snippets_print_what_the_page_shows(self):
        for page in PAGES:
            snippets = of_kind(page, "cpp")
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as folder:
                done = run([BUILD / "guide_snippets", page.stem], folder)
                self.check(done, "".join(b.output + "@@\n" for b in snippets), page.name)

    def test_programs_print_what_the_page_shows(self):
        for page in PAGES:
            for block in of_kind(page, "cpp program") + of_kind(page, "c program"):
                with self.subTest(page=page.name), tempfile.TemporaryDirectory() as folder:
                    done = run([BUILD / f"guide_program_{page.stem}"], folder)
                    self.check(done, block.output, page.name)

    def test_console_lines_print_what_the_page_shows(self):
        for page in PAGES:
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as folder:
                for block in of_kind(page, "console"):
                    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
                        command, _, output = part.partition("\n")
                        done = run(["bash", "-c", command], folder)
                        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
                        if output:
                            self.assertEqual(done.stdout, output, command)

    def test_fences_are_known(self):
        kinds = {"cpp", "cpp global", "cpp program", "c program", "console", "sh", "cmake"}
        for page in PAGES:
            self.assertLessEqual({block.kind for block in blocks_of(page)}, kinds, page.name)

    # Of all pages, not only the guide's.
    def test_links_lead_somewhere(self):
        pages = [p for folder in ("", "docs", "docs/guide", "docs/notes", "docs/formats", "examples", "tools",
                                  "tests") for p in sorted((ROOT / folder).glob("*.md"))]
        for page in pages:
            text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
            for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text):
                if "://" not in link:
                    self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")


if __name__ == "__main__":
    if not (BUILD / "guide_snippets").exists() or not (BUILD / "ldb").exists():
        exit_as_missing(f"guide_snippets and ldb in {BUILD}")
    unittest.main()
