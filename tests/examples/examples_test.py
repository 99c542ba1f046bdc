#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Every example runs on an empty folder and prints what the comment at its head says under "Prints:".
# One without such a comment (a program of several steps) must say in examples/README.md who runs it.
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from skips import exit_as_missing  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build/test"))
EXAMPLES = sorted([*(ROOT / "examples").glob("*.cc"), *(ROOT / "examples").glob("*.c")])


def promised_output(source):
    """The lines under "Prints:" in the comment at the head; None without one."""
    found = re.search(r"^// Prints:\n((?://   .*\n)+)", source.read_text(), re.M)
    return re.sub(r"^//   ", "", found.group(1), flags=re.M) if found else None


class Examples(unittest.TestCase):
    def test_prints_what_its_head_says(self):
        for source in EXAMPLES:
            output = promised_output(source)
            if output is None:
                continue
            with self.subTest(example=source.name), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([BUILD / f"example_{source.stem}", f"{folder}/db"],
                                      capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stdout, output)

    def test_the_list_names_every_example(self):
        rows = re.findall(r"^\| `(\w+\.cc?)` \|", (ROOT / "examples/README.md").read_text(), re.M)
        self.assertEqual(sorted(rows), [source.name for source in EXAMPLES])

    def test_without_output_only_what_quickstart_runs(self):
        runs = (ROOT / "tools/quickstart.sh").read_text()
        for source in EXAMPLES:
            if promised_output(source) is None:
                self.assertIn(f"example_{source.stem}\"", runs)


if __name__ == "__main__":
    if not all((BUILD / f"example_{source.stem}").exists() for source in EXAMPLES):
        exit_as_missing(f"the examples in {BUILD}")
    unittest.main()
