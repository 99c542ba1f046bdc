#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# db_bench as a program: every benchmark ends in a result line that scripts for RocksDB's db_bench
# can read, and what cannot be run is refused by name.
import os
import re
import subprocess
import tempfile
import unittest

from tool_support import needs

PROGRAM = os.path.join(os.environ.get("ASHLAR_BUILD_DIR", "build/test"), "db_bench")
RESULT = re.compile(r"^(\w+)\s+: +[\d.]+ micros/op (\d+) ops/sec [\d.]+ seconds (\d+) operations;(.*)$")


@needs(os.path.exists(PROGRAM), "db_bench in this build")
class DbBenchTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_bench(self, benchmarks, *flags):
        return subprocess.run([PROGRAM, "-benchmarks=" + benchmarks, "-db=" + self.path("db"),
                               "-num=2000", "-seed=7", "-compression_type=none", *flags],
                              capture_output=True, text=True, timeout=120)

    def results(self, benchmarks, *flags):
        done = self.run_bench(benchmarks, *flags)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [RESULT.match(line) for line in done.stdout.split("\n")]
        return {m.group(1): (int(m.group(3)), m.group(4)) for m in lines if m}

    def test_every_benchmark_of_the_list_prints_its_result_line(self):
        names = ("fillseq fillrandom filluniquerandom fillsync fillbatch overwrite readseq "
                 "readreverse readtocache readrandom readmissing readhot seekrandom "
                 "readwhilewriting deleteseq deleterandom compact").split()
        found = self.results(",".join(names + ["flush", "waitforcompaction", "stats", "levelstats"]))
        self.assertEqual(sorted(found), sorted(names))

    def test_reads_find_what_was_filled_and_nothing_else(self):
        found = self.results("filluniquerandom,readrandom,readmissing,readseq,readreverse,seekrandom",
                             "-seek_nexts=3")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        self.assertIn("(0 of 2000 found)", found["readmissing"][1])
        self.assertIn("(2000 of 2000 found)", found["seekrandom"][1])
        self.assertEqual(found["readseq"][0], 2000)
        self.assertEqual(found["readreverse"][0], 2000)

    def test_each_thread_does_the_whole_number_of_operations(self):
        found = self.results("fillrandom,readrandom", "-threads=3", "-reads=500")
        self.assertEqual(found["fillrandom"][0], 6000)
        self.assertEqual(found["readrandom"][0], 1500)

    def test_filling_the_cache_reads_everything_whatever_reads_says(self):
        found = self.results("fillseq,readseq,readtocache", "-reads=500", "-threads=2")
        self.assertEqual(found["readseq"][0], 1000)
        self.assertEqual(found["readtocache"][0], 2000)

    def test_an_existing_database_is_kept_on_request(self):
        self.results("fillseq")
        found = self.results("readrandom", "-use_existing_db=1")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        refused = self.run_bench("fillseq", "-use_existing_db=1")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("fillseq", refused.stderr)

    def test_histogram_counts_every_operation(self):
        done = self.run_bench("fillseq", "-histogram=1")
        self.assertIn("Microseconds per write:\nCount: 2000 ", done.stdout)

    def test_statistics_are_printed_at_the_end(self):
        done = self.run_bench("fillseq", "-statistics=1")
        written = re.findall(r"^rocksdb\.number\.keys\.written COUNT : (\d+)$", done.stdout, re.M)
        self.assertEqual(written, ["2000"])

    def test_report_file_is_csv_with_rocksdbs_head(self):
        self.run_bench("fillrandom", "-report_interval_seconds=1", "-duration=2",
                       "-report_file=" + self.path("r.csv"))
        with open(self.path("r.csv"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.assertEqual(lines[0], "secs_elapsed,interval_qps")
        self.assertRegex(lines[1], r"^1,\d+$")

    def test_what_cannot_be_run_is_refused_by_name(self):
        for arguments, word in ((("nosuch",), "nosuch"), (("fillseq", "-nosuch=1"), "nosuch"),
                                (("fillseq", "-compression_type=foo"), "foo"),
                                (("fillseq", "-threads=0"), "threads"),
                                (("fillseq", "stray"), "stray")):
            done = self.run_bench(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
