#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# compare.py against two programs that only pretend: medians, ratios and files must come out right.
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
FAKE = """#!/bin/sh
for flag in "$@"; do case "$flag" in -db=*) db=${flag#-db=};; -benchmarks=*) list=${flag#-benchmarks=};; esac; done
head -c %(size)d /dev/zero > "$db/data"
printf '... finished 100 ops\\r' >&2
for name in $(echo "$list" | tr , ' '); do
  printf '%%-12s : %%11.3f micros/op %%d ops/sec %%.3f seconds %%d operations; %%6.1f MB/s\\n' $name 1.5 %(ops)d 2.0 4 37.4
done
exit %(code)d
"""


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def fake(self, name, ops, size=1000, code=0):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(FAKE % {"ops": ops, "size": size, "code": code})
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def compare(self, *arguments):
        return subprocess.run([sys.executable, os.path.join(ROOT, "benchmarks/compare/compare.py"),
                               *arguments], capture_output=True, text=True)

    def test_ratio_is_ours_over_peer_for_every_benchmark(self):
        done = self.compare("--ours", self.fake("a", 300, 3 << 20), "--peer", self.fake("b", 200, 2 << 20),
                            "--rounds", "2", "--json", self.path("out.json"),
                            "--html", self.path("out.html"), "--svg", self.path("out.svg"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path("out.json"), encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        speeds = [row for row in rows if row["kind"] == "ops/sec"]
        self.assertEqual([row["name"] for row in speeds],
                         ["fillseq", "fillrandom", "overwrite", "readrandom", "readmissing",
                          "readseq", "readreverse", "seekrandom"])
        self.assertTrue(all(row["ratio"] == 1.5 for row in speeds))
        sizes = [row for row in rows if row["kind"] == "database size"]
        self.assertTrue(all(row["ratio"] == 1.5 for row in sizes))
        for name in ("out.html", "out.svg"):
            with open(self.path(name), encoding="utf-8") as file:
                self.assertIn("1.50", file.read())

    def test_only_the_wanted_benchmarks_and_what_they_read_from_are_run(self):
        done = self.compare("--ours", self.fake("a", 3), "--peer", self.fake("b", 2),
                            "--rounds", "1", "--benchmarks", "seekrandom")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("seekrandom", done.stdout)
        self.assertIn("fillrandom", done.stdout)
        self.assertNotIn("fillseq", done.stdout)

    def test_a_failing_program_ends_the_comparison(self):
        done = self.compare("--ours", self.fake("a", 3, code=7), "--peer", self.fake("b", 2))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ended with 7", done.stderr)

    def test_an_unknown_benchmark_is_refused_by_name(self):
        done = self.compare("--ours", self.fake("a", 3), "--peer", self.fake("b", 2),
                            "--benchmarks", "fillseqq")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fillseqq", done.stderr)

    def tables(self, *arguments):
        return subprocess.run([sys.executable, os.path.join(ROOT, "benchmarks/compare/tables.py"),
                               *arguments], capture_output=True, text=True)

    def test_tables_have_a_ratio_of_microseconds_in_each_row(self):
        slow = self.fake("b", 2)
        with open(slow, encoding="utf-8") as file:
            script = file.read()
        with open(slow, "w", encoding="utf-8") as file:
            file.write(script.replace("$name 1.5", "$name 4.5"))
        done = self.tables("--ours", self.fake("a", 3), "--peer", slow, "--rounds", "2", "merges", "core")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [line for line in done.stdout.split("\n") if line.startswith("| ") and "`" in line]
        self.assertEqual(len(rows), 24)
        for row in rows:
            self.assertIn("| 1.500 | 4.500 | 3.00 | 3.00 .. 3.00 |", row)

    def test_tables_scale_counts_but_no_sizes(self):
        done = self.tables("--ours", self.fake("a", 3), "--peer", self.fake("b", 2), "--rounds", "1",
                           "--scale", "10", "range_tombstones")
        self.assertIn("-num=500000 ", done.stdout)
        self.assertIn("-writes_before_delete_range=450000", done.stdout)
        self.assertIn("-range_tombstone_width=10000", done.stdout)
        self.assertIn("-value_size=100 ", done.stdout)

    def test_an_unknown_table_is_refused_by_name(self):
        done = self.tables("--ours", self.fake("a", 3), "--peer", self.fake("b", 2), "corse")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("corse", done.stderr)


if __name__ == "__main__":
    unittest.main()
