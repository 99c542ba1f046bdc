#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# db_bench: how the benchmarks of a list are run (repeats, timestamps), and its flags beside those of
# RocksDB's db_bench.
import os
import re
import subprocess
import unittest

from bench_support import PROGRAM, ROCKSDB, BenchTest
from tool_support import needs

# Flags whose defaults differ from those of RocksDB 7.8's db_bench: those of options that have other
# defaults in 11.9, the sizes of caches, which 11.9's db_bench has, and the list of benchmarks.
OTHER_DEFAULTS = {"benchmarks", "cache_size", "compaction_readahead_size", "compressed_secondary_cache_size",
                  "format_version", "optimize_filters_for_memory"}


def defaults_of(program):
    """{name: default} of the flags that --help lists."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, check=False)
    text = re.sub(r"\s+", " ", done.stdout)
    flags = re.findall(r' -(\w+) \((?:(?! type: ).)*\) type: \w+ default: ("[^"]*"|\S+)', text)
    return dict(flags)


@needs(os.path.exists(PROGRAM), "db_bench in this build")
class DbBenchRunsTest(BenchTest):
    @needs(os.path.exists(ROCKSDB), "RocksDB's db_bench")
    def test_defaults_of_flags_are_those_of_rocksdbs_db_bench(self):
        ours, theirs = defaults_of(PROGRAM), defaults_of(ROCKSDB)
        common = set(ours) & set(theirs)
        self.assertGreater(len(common), 200)
        different = {name: (ours[name], theirs[name]) for name in common - OTHER_DEFAULTS
                     if ours[name] != theirs[name]}
        self.assertEqual(different, {})

    def test_a_benchmark_is_repeated_as_often_as_its_brackets_say(self):
        done = self.run_bench("fillseq,readrandom[X3-W2],deleteseq[X2],fillseq[W1],readseq")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, lines in (("fillseq", 3), ("readrandom", 5), ("deleteseq", 2)):
            self.assertEqual(len(re.findall(rf"(?m)^{name} +: .* 2000 operations;", done.stdout)), lines, name)
        self.assertIn("\nWarming up benchmark by running 2 times\n", done.stdout)
        self.assertIn("\nRunning benchmark for 3 times\n", done.stdout)
        rate = r"\d+ \(\u00b1 \d+\) ops/sec"
        megabytes = r" +[\d.]+ \(\u00b1 [\d.]+\) MB/sec"
        self.assertEqual(len(re.findall(rf"(?m)^readrandom \[AVG [23] runs\] : {rate};{megabytes}$", done.stdout)), 2)
        self.assertRegex(done.stdout, rf"\nreadrandom \[AVG    3 runs\] : {rate};{megabytes}\n"
                                      r"readrandom \[MEDIAN 3 runs\] : \d+ ops/sec; +[\d.]+ MB/sec\n")
        self.assertRegex(done.stdout, rf"\ndeleteseq \[AVG    2 runs\] : {rate}\n"
                                      r"deleteseq \[MEDIAN 2 runs\] : \d+ ops/sec\n")
        self.assertNotIn("fillseq [", done.stdout)  # one run has no average
        for wrong in ("readseq[X0]", "readseq[Y2]", "readseq[X]", "readseq[X2", "readseq[X2]x", "flush[X2]",
                      "nosuch[X2]"):
            refused = self.run_bench(wrong)
            self.assertEqual(refused.returncode, 1, wrong)
            self.assertIn(wrong, refused.stderr)

    def test_options_that_cannot_be_opened_delete_nothing(self):
        self.results("fillseq")
        refused = self.run_bench("readseq", "-unordered_write")  # it excludes enable_pipelined_write
        self.assertEqual(refused.returncode, 1)
        self.assertIn("unordered_write", refused.stderr)
        self.assertEqual(self.results("readseq", "-use_existing_db=1")["readseq"][0], 2000)

    def test_keys_with_timestamps_are_found(self):
        stamped = ["-user_timestamp_size=8", "-bloom_bits=10"]
        found = self.results("fillrandom,fillseq,overwrite,flush,overwrite,readrandom,readmissing,readhot,seekrandom,"
                             "multireadrandom,readseq,readreverse,newiterator,updaterandom,readrandomwriterandom,"
                             "verifychecksum,compact", *stamped, "-multiread_check=1", "-batch_size=4")
        for name in ("readrandom", "readhot", "seekrandom", "multireadrandom"):
            self.assertIn("(2000 of 2000 found)", found[name][1], name)
        self.assertIn("(0 of 2000 found)", found["readmissing"][1])
        self.assertIn("found:2000)", found["updaterandom"][1])
        self.assertEqual((found["readseq"][0], found["readreverse"][0]), (2000, 2000))  # one version of each key
        self.assertIn("comparator=leveldb.BytewiseComparator.u64ts\n", self.options())
        # A later process reads at a later time.
        there = [*stamped, "-use_existing_db=1"]
        found = self.results("readrandom,readwhilewriting,seekrandomwhilewriting,multireadwhilewriting", *there)
        for name, (_, message) in found.items():
            self.assertIn("(2000 of 2000 found)", message, name)
        found = self.results("deleteseq,readseq", *there)
        self.assertLessEqual(found["readseq"][0], 1)  # one operation is reported even if there was none
        # Also in several families; a range tombstone covers its hundred keys in all of them.
        found = self.results("fillseq,overwrite,readrandom,readseq", *stamped, "-num_column_families=3")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        self.assertEqual(found["readseq"][0], 2000)
        found = self.results("fillseq,readseq", *stamped, "-num_column_families=3", "-writes_per_range_tombstone=1",
                             "-writes_before_delete_range=1999", "-max_num_range_tombstones=1")
        self.assertEqual(found["readseq"][0], 1900)

    def test_timestamps_are_refused_where_they_do_not_work(self):
        for arguments, word in ((("fillseq", "-user_timestamp_size=4"), "user_timestamp_size: 0 or 8"),
                                (("fillseq", "-user_timestamp_size=8", "-transaction_db"), "transaction_db"),
                                (("mergerandom", "-user_timestamp_size=8", "-merge_operator=uint64add"),
                                 "mergerandom does not write timestamps")):
            refused = self.run_bench(*arguments)
            self.assertEqual(refused.returncode, 1, arguments)
            self.assertIn(word, refused.stderr)


if __name__ == "__main__":
    unittest.main()
