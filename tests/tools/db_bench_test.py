#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# db_bench as a program: every benchmark ends with a result line that scripts for RocksDB's db_bench can
# parse, and errors name the flag or benchmark.
import os
import re
import subprocess
import unittest

from bench_support import PROGRAM, ROCKSDB, BenchTest
from tool_support import needs


@needs(os.path.exists(PROGRAM), "db_bench in this build")
class DbBenchTest(BenchTest):
    def test_every_benchmark_of_the_list_prints_its_result_line(self):
        names = ("fillseq fillrandom filluniquerandom fillsync fillbatch overwrite readseq "
                 "readreverse readtocache readrandom readmissing readhot seekrandom "
                 "multireadrandom newiterator newiteratorwhilewriting seekrandomwhilewriting "
                 "readwhilewriting readwhilescanning deleteseq deleterandom compact fill100K "
                 "fillseekseq readrandomwriterandom updaterandom xorupdaterandom appendrandom "
                 "mixgraph multireadwhilewriting approximatesizerandom verifychecksum "
                 "verifyfilechecksums randomreplacekeys timeseries").split()
        commands = "flush waitforcompaction stats resetstats levelstats memstats compactall".split()
        found = self.results(",".join(names + commands), "-file_checksum=1")
        self.assertEqual(sorted(found), sorted(names))

    def test_transactions_keep_the_sums_of_their_sets_equal(self):
        for kind in ["-transaction_db", "-optimistic_transaction_db", "-notransaction_db"]:
            threads = "1" if kind == "-notransaction_db" else "4"
            done = self.run_bench("fillrandom,randomtransaction", kind, "-threads=" + threads, "-num=300",
                                  "-transaction_sets=3", "-transaction_set_snapshot")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            counts = re.search(r"transactions:(\d+) aborts:(\d+)", done.stdout)
            self.assertGreater(int(counts.group(1)), 0)
            sums = re.search(r"the values of each set have the sum (\d+)", done.stdout)
            self.assertGreater(int(sums.group(1)), 0)
        # Unordered writes need a write policy of their own, which comes with the flag.
        done = self.run_bench("fillrandom,randomtransaction", "-transaction_db", "-unordered_write",
                              "-enable_pipelined_write=0", "-threads=4", "-num=300")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("unordered_write=true\n", self.options())
        self.assertIn("two_write_queues=true\n", self.options())

    def test_deleteuntil_ends_when_the_database_is_empty(self):
        found = self.results("fillseq,deleteuntil,readseq", "-num=300", "-deletes=1000")
        self.assertEqual(found["deleteuntil"][0], 300)
        self.assertLessEqual(found["readseq"][0], 1)  # one operation is reported even if there was none
        found = self.results("fillseq,deleteuntil,readseq", "-num=300", "-deletes=100")
        self.assertEqual((found["deleteuntil"][0], found["readseq"][0]), (100, 200))

    def test_checksums_and_compression_are_measured_per_block(self):
        found = self.results("crc32c,xxhash,xxhash64,xxh3", "-block_size=1048576")
        self.assertEqual({count for count, _ in found.values()}, {500})
        self.assertEqual(len(found), 4)
        self.assertIn("(1048576 per op)", found["xxh3"][1])
        found = self.results("compress,uncompress", "-block_size=1048576", "-compression_type=lz4")
        self.assertEqual({count for count, _ in found.values()}, {1024})
        self.assertRegex(found["compress"][1], r"\(output: [4-6]\d\.\d%\)")
        self.assertNotEqual(self.run_bench("compress").returncode, 0)  # compression is off

    def test_compact0_and_compact1_compact_one_level_each(self):
        flags = ["-disable_auto_compactions=1", "-level_compaction_dynamic_level_bytes=0"]
        done = self.run_bench("fillseq,flush,compact0,compact1,compact,overwrite,flush,compact0,compact1,"
                              "levelstats,memstats", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("compact0 found no data beyond L0\ncompact1 found 0 files to compact\n", done.stdout)
        self.assertIn("compact0 found 1 files to compact into L1\n"
                      "compact1 found 1 files to compact into L2\n", done.stdout)
        self.assertRegex(done.stdout, r"\n +0 +0 +0\n +1 +0 +0\n +2 +1 +0\n")
        self.assertRegex(done.stdout, r"\nrocksdb.num-entries-active-mem-table: 0\n")

    def test_compact0_and_compact1_find_the_levels_that_have_files(self):
        done = self.run_bench("fillseqdeterministic,compact1,compact1,compact1,compact0",
                              "-disable_auto_compactions=1", "-num_levels=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("compact1 found 1 files to compact into L2\ncompact1 found 1 files to compact into L3\n"
                      "compact1 found no data beyond L3\ncompact0 found 1 files to compact into L3\n",
                      done.stdout)

    def test_compact0_writes_tables_of_the_target_size(self):
        done = self.run_bench("fillseq,compact,overwrite,flush,compact0,levelstats", "-num=20000",
                              "-disable_auto_compactions=1", "-target_file_size_base=100000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("to compact into L1\n", done.stdout)
        self.assertGreater(int(re.search(r"\n +1 +(\d+) +\d+\n", done.stdout).group(1)), 5)

    def test_compact0_goes_on_when_a_compaction_takes_its_files(self):
        done = self.run_bench("overwrite,compact0,compact0,levelstats", "-num=20000", "-write_buffer_size=65536")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_compact_rewrites_the_last_level(self):
        done = self.run_bench("fillseq,compact,compact", "-statistics=1")
        written = re.search(r"(?m)^rocksdb\.compact\.write\.bytes COUNT : (\d+)$", done.stdout)
        self.assertGreater(int(written.group(1)), 400_000, done.stdout)  # 2,000 pairs of 116 bytes, twice

    def test_readrandomoperands_finds_the_operands(self):
        found = self.results("fillseq,mergerandom,readrandomoperands", "-merge_operator=stringappend",
                             "-num=10", "-writes=1000", "-reads=200", "-value_size=8")
        self.assertEqual(found["readrandomoperands"][0], 200)
        self.assertIn("(200 of 200 found)", found["readrandomoperands"][1])

    def test_getmergeoperands_finds_the_number_both_ways(self):
        done = self.run_bench("getmergeoperands", "-merge_operator=sortlist")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\nGet: [\d.e-]+ seconds, found: 1\nGetMergeOperands: [\d.e-]+ seconds, found: 1\n")
        self.assertRegex(done.stdout, r"\ngetmergeoperands : .* 1 operations;")

    def test_fillseqdeterministic_fills_each_level_with_ten_times_more(self):
        done = self.run_bench("fillseqdeterministic,levelstats,readrandom", "-disable_auto_compactions=1",
                              "-num_levels=3", "-value_size=1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\nfillseqdeterministic : .* 2220 operations;")
        sizes = [int(size) for size in re.findall(r"(?m)^Level\[\d\]: 1 files, (\d+) bytes$", done.stdout)]
        self.assertEqual(len(sizes), 3)
        for above, level in zip(sizes, sizes[1:]):
            self.assertTrue(8 < level / above < 12, sizes)
        self.assertRegex(done.stdout, r"\n +0 +1 +0\n +1 +1 +0\n +2 +1 +2\n")
        self.assertIn("(2000 of 2000 found)", done.stdout)

    def test_pairs_in_several_families_are_found(self):
        spread = "-num_column_families=3"
        found = self.results("fillseq,flush,compact,readrandom,readmissing,seekrandom,multireadrandom,readseq,"
                             "readreverse", spread, "-batch_size=4", "-multiread_check=1")
        for name in ("readrandom", "seekrandom", "multireadrandom"):
            self.assertIn("(2000 of 2000 found)", found[name][1])
        self.assertIn("(0 of 2000 found)", found["readmissing"][1])
        self.assertEqual((found["readseq"][0], found["readreverse"][0]), (2000, 2000))
        families = re.findall(r'\[CFOptions "(.*)"\]', self.options())
        self.assertEqual(families, ["default", "column_family_name_000001", "column_family_name_000002"])
        there = ["-use_existing_db=1", "-multiread_batched=1", "-batch_size=4", "-multiread_check=1"]
        found = self.results("multireadrandom,readwhilewriting,overwrite,deleteseq,readseq", *there, spread)
        self.assertIn("(2000 of 2000 found)", found["multireadrandom"][1])
        self.assertIn("(2000 of 2000 found)", found["readwhilewriting"][1])
        self.assertLessEqual(found["readseq"][0], 1)  # one operation is reported even if there was none
        self.results("overwrite", *there, spread, "-writes=10000")
        found = self.results("readseq", "-use_existing_db=1", "-readonly=1")  # opens the default family only
        self.assertTrue(600 < found["readseq"][0] <= 667)
        # A range tombstone covers its hundred keys in all families.
        for expands in ("0", "1"):
            found = self.results("fillseq,readseq", spread, "-writes_before_delete_range=1999",
                                 "-writes_per_range_tombstone=1", "-max_num_range_tombstones=1",
                                 "-expand_range_tombstones=" + expands)
            self.assertEqual(found["readseq"][0], 1900)

    def test_flags_set_the_options_of_the_same_name(self):
        self.results("fillseq,readrandom", "-partition_index_and_filters=1", "-metadata_block_size=1024",
                     "-index_block_restart_interval=4", "-block_align=1", "-prepopulate_block_cache=1",
                     "-cache_type=hyper_clock_cache", "-use_compressed_secondary_cache=1",
                     "-max_total_wal_size=1000000", "-wal_compression=zstd", "-compaction_readahead_size=65536",
                     "-max_background_flushes=2", "-memtable_protection_bytes_per_key=8", "-readahead_size=4096",
                     "-stats_dump_period_sec=7", "-mmap_read=1", "-file_checksum=1", "-bloom_bits=10")
        text = self.options()
        for line in ("index_type=kTwoLevelIndexSearch", "partition_filters=true", "metadata_block_size=1024",
                     "index_block_restart_interval=4", "block_align=true", "prepopulate_block_cache=kFlushOnly",
                     "max_total_wal_size=1000000", "wal_compression=kZSTD", "compaction_readahead_size=65536",
                     "max_background_flushes=2", "memtable_protection_bytes_per_key=8", "stats_dump_period_sec=7",
                     "allow_mmap_reads=true", "file_checksum_gen_factory=FileChecksumGenCrc32cFactory",
                     # These three defaults are those of RocksDB's db_bench, not of the options.
                     "enable_pipelined_write=true", "level_compaction_dynamic_level_bytes=false",
                     "hard_pending_compaction_bytes_limit=137438953472"):
            self.assertIn("  " + line + "\n", text)
        for name in ("fixed_hyper_clock_cache", "auto_hyper_clock_cache"):
            self.results("fillseq", "-cache_type=" + name)
        refused = self.run_bench("fillseq", "-cache_type=bogus")
        self.assertIn("--cache_type", refused.stderr)

    def test_options_file_replaces_the_flags_for_options(self):
        self.results("fillseq", "-write_buffer_size=1234567", "-index_with_first_key=1")
        with open(self.path("saved"), "w", encoding="utf-8") as file:
            file.write(self.options())
        found = self.results("fillseq,readrandom", "-options_file=" + self.path("saved"), "-write_buffer_size=99")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        self.assertIn("write_buffer_size=1234567\n", self.options())
        self.assertIn("index_type=kBinarySearchWithFirstKey\n", self.options())
        # Expiry is a part of the workload.
        self.results("timeseries,flush,compact", "-options_file=" + self.path("saved"), "-key_id_range=20",
                     "-time_range=500", "-expire_style=compaction_filter")
        self.assertEqual(self.results("readseq", "-use_existing_db=1")["readseq"][0], 500)

    def test_options_file_of_another_database_names_no_directory_of_it(self):
        self.results("fillseq")
        text = self.options()
        for name in ("wal_dir", "db_log_dir"):
            text, count = re.subn(rf"(?m)^  {name}=.*$", f"  {name}={self.path('other')}", text)
            self.assertEqual(count, 1)
        with open(self.path("saved"), "w", encoding="utf-8") as file:
            file.write(text)
        self.results("fillseq", "-options_file=" + self.path("saved"))
        self.assertFalse(os.path.exists(self.path("other")))
        self.results("fillseq", "-options_file=" + self.path("saved"), "-wal_dir=" + self.path("logs"))
        self.assertTrue(any(name.endswith(".log") for name in os.listdir(self.path("logs"))))

    def test_reads_find_exactly_the_written_keys(self):
        found = self.results("filluniquerandom,readrandom,readmissing,readseq,readreverse,seekrandom",
                             "-seek_nexts=3")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        self.assertIn("(0 of 2000 found)", found["readmissing"][1])
        self.assertIn("(2000 of 2000 found)", found["seekrandom"][1])
        self.assertEqual(found["readseq"][0], 2000)
        self.assertEqual(found["readreverse"][0], 2000)

    def test_multireadrandom_finds_the_same_as_single_reads(self):
        self.results("fillseq,compact")
        for flags in ([], ["-multiread_stride=16"], ["-multiread_stride=1000"]):
            for batched in ("0", "1"):
                found = self.results("multireadrandom", "-use_existing_db=1", "-batch_size=8", "-reads=800",
                                     "-multiread_check=1", "-multiread_batched=" + batched, *flags)
                self.assertEqual(found["multireadrandom"][0], 800)
                self.assertIn("(800 of 800 found)", found["multireadrandom"][1])

    def test_multiread_check_passes_during_writes(self):
        # Eight keys are overwritten all the time, so many batches are read during a write to one of them.
        for batched in ("0", "1"):
            found = self.results("fillseq,multireadwhilewriting", "-num=8", "-batch_size=8", "-reads=40000",
                                 "-multiread_check=1", "-multiread_batched=" + batched)
            self.assertIn("(40000 of 40000 found)", found["multireadwhilewriting"][1])

    def test_writing_threads_are_excluded_from_the_result_and_scanning_ones_are_not(self):
        found = self.results("fillseq,readwhilewriting,seekrandomwhilewriting,newiteratorwhilewriting,"
                             "readwhilescanning", "-reads=300", "-threads=2")
        self.assertEqual(found["readwhilewriting"][0], 600)
        self.assertEqual(found["seekrandomwhilewriting"][0], 600)
        self.assertEqual(found["newiteratorwhilewriting"][0], 600)
        self.assertEqual(found["readwhilescanning"][0], 900)

    def test_keys_with_prefixes_are_found(self):
        shape = ["-key_size=20", "-prefix_size=12", "-keys_per_prefix=10", "-bloom_bits=10"]
        found = self.results("fillrandom,fillseq,flush,readrandom,seekrandom,readmissing,readseq", *shape)
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        self.assertIn("(2000 of 2000 found)", found["seekrandom"][1])
        self.assertIn("(0 of 2000 found)", found["readmissing"][1])
        self.assertEqual(found["readseq"][0], 2000)

    @needs(os.path.exists(ROCKSDB), "RocksDB's db_bench")
    def test_keys_equal_those_of_rocksdbs_db_bench(self):
        for shape in (["-key_size=20"], ["-key_size=6"],
                      ["-key_size=20", "-prefix_size=12", "-keys_per_prefix=10"],
                      ["-key_size=16", "-prefix_size=3", "-keys_per_prefix=7"]):
            self.results("fillseq,flush", "-write_compatible_with=7.8", *shape)
            theirs = subprocess.run([ROCKSDB, "-benchmarks=readrandom", "-use_existing_db=1", "-num=2000",
                                     "-db=" + self.path("db"), *shape],
                                    capture_output=True, text=True, timeout=120)
            self.assertIn("(2000 of 2000 found)", theirs.stdout, shape)

    def test_max_scan_distance_bounds_iterators(self):
        for flags, entries in ((["-max_scan_distance=3"], 3),
                               (["-max_scan_distance=3", "-reverse_iterator=1"], 4)):
            done = self.run_bench("fillseq,seekrandom", "-seek_nexts=100", "-value_size=10000", *flags)
            line = re.search(r"^seekrandom +: +([\d.]+) micros/op .* +([\d.]+) MB/s \(2000 of",
                             done.stdout, re.M)
            walked = float(line.group(1)) * float(line.group(2)) * 1.048576 / 10016
            self.assertGreater(walked, entries * 0.9)
            self.assertLess(walked, entries * 1.1)

    def test_range_tombstones_are_written_at_their_interval(self):
        flags = ["-writes_per_range_tombstone=100", "-range_tombstone_width=10", "-expand_range_tombstones=1"]
        # A tombstone begins at the next key of the sequence, which is then not written; the sequence starts
        # again after its last key.
        found = self.results("fillseq,readseq", "-max_num_range_tombstones=5", *flags)
        self.assertEqual(found["readseq"][0], 2000 - 5)
        found = self.results("fillseq,readseq", "-max_num_range_tombstones=100",
                             "-writes_before_delete_range=1000", *flags)
        self.assertEqual(found["readseq"][0], 2000 - 9 - 10)  # the last tombstone comes after all writes
        found = self.results("fillseq,readseq", *flags)
        self.assertEqual(found["readseq"][0], 2000)

    def test_perf_contexts_are_printed_on_request(self):
        done = self.run_bench("fillseq,flush,readrandom", "-perf_level=2")
        self.assertIn("PERF_CONTEXT:\n", done.stdout)
        self.assertRegex(done.stdout, r"block_cache_hit_count = [1-9]")
        self.assertNotIn("PERF_CONTEXT", self.run_bench("readrandom", "-use_existing_db=1").stdout)

    def test_numbers_that_nothing_can_hold_are_refused(self):
        for flag, most in (("num", 2**63 - 1), ("batch_size", 2**63 - 1), ("threads", 2**31 - 1),
                           ("key_size", 2**31 - 1), ("report_interval_seconds", 2**63 - 1)):
            refused = self.run_bench("readmissing", f"-{flag}={most}")
            self.assertEqual(refused.returncode, 1, flag)
            self.assertIn("--" + flag, refused.stderr)

    def test_readonly_refuses_writing_benchmarks(self):
        self.results("fillseq")
        found = self.results("readrandom", "-use_existing_db=1", "-readonly=1")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        refused = self.run_bench("overwrite", "-use_existing_db=1", "-readonly=1")
        self.assertNotEqual(refused.returncode, 0)
        refused = self.run_bench("fillseq", "-readonly=1")  # it would begin with an empty database
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("fillseq begins with an empty database", refused.stderr)
        self.assertIn("--readonly", refused.stderr)
        self.assertIn("(2000 of 2000 found)", self.results("readrandom", "-readonly=1")["readrandom"][1])

    def test_each_thread_does_the_full_number_of_operations(self):
        found = self.results("fillrandom,readrandom", "-threads=3", "-reads=500")
        self.assertEqual(found["fillrandom"][0], 6000)
        self.assertEqual(found["readrandom"][0], 1500)

    def test_readtocache_reads_everything_regardless_of_reads(self):
        found = self.results("fillseq,readseq,readtocache", "-reads=500", "-threads=2")
        self.assertEqual(found["readseq"][0], 1000)
        self.assertEqual(found["readtocache"][0], 2000)

    def test_use_existing_db_keeps_the_database(self):
        self.results("fillseq")
        found = self.results("readrandom", "-use_existing_db=1")
        self.assertIn("(2000 of 2000 found)", found["readrandom"][1])
        refused = self.run_bench("fillseq", "-use_existing_db=1")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("fillseq", refused.stderr)
        # An unknown name or wrong flag deletes nothing; without the flag a run begins empty.
        self.assertNotEqual(self.run_bench("readseq,nosuch").returncode, 0)
        self.assertNotEqual(self.run_bench("readseq,mergerandom").returncode, 0)
        self.assertEqual(self.results("readseq", "-use_existing_db=1")["readseq"][0], 2000)
        self.assertLessEqual(self.results("readseq")["readseq"][0], 1)  # one operation is always reported
        for sets in ("2", "3"):  # the old values would be missing in the third set
            done = self.run_bench("randomtransaction", "-transaction_sets=" + sets)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_fill100K_writes_a_thousandth_of_the_pairs(self):
        found = self.results("fill100K,readseq,stats", "-value_size=10")
        self.assertEqual(found["fill100K"][0], 2)
        self.assertIn("(2 ops)", found["fill100K"][1])

    def test_fillseekseq_finds_every_key(self):
        for nexts in (0, 3, 5000):
            found = self.results("fillseekseq", f"-seek_nexts={nexts}")
            self.assertEqual(found["fillseekseq"][0], 2000)

    def test_fillseekseq_seeks_only_written_keys(self):
        # Only whole batches are written, and after the last key the first one follows.
        for flags, count in ((["-batch_size=7"], 1995), (["-batch_size=7", "-writes=5000"], 2000),
                             (["-writes=5000"], 2000), (["-writes=50"], 50)):
            found = self.results("fillseekseq", "-seek_nexts=3", *flags)
            self.assertEqual(found["fillseekseq"][0], count, flags)

    def test_updating_benchmarks_find_and_replace_existing_values(self):
        self.results("filluniquerandom")
        for name in ("updaterandom", "xorupdaterandom", "appendrandom"):
            found = self.results(name + ",readseq", "-use_existing_db=1", "-reads=500")
            self.assertEqual(found[name][0], 500)
            self.assertIn("( updates:500 found:500)", found[name][1])
        # Values have 100 bytes; each append adds a blank and 100 bytes.
        done = self.run_bench("readseq", "-use_existing_db=1")
        line = re.search(r"^readseq +: .* ([\d.]+) seconds 2000 operations; +([\d.]+) MB/s", done.stdout, re.M)
        self.assertIsNotNone(line, done.stdout)
        missing = self.results("fillseq,updaterandom", "-writes=1000", "-reads=1000")
        self.assertRegex(missing["updaterandom"][1], r"found:[4-7]\d\d\)")

    def test_xorupdaterandom_twice_restores_the_value(self):
        # With one key and the same seed the second run uses the same operands and restores the value.
        flags = ["-num=1", "-seed=7", "-reads=5"]
        self.results("fillseq", "-num=1")
        for _ in range(2):
            self.results("xorupdaterandom", "-use_existing_db=1", *flags)
        ldb = os.path.join(os.path.dirname(PROGRAM), "ldb")
        scan = [subprocess.run([ldb, "--db=" + self.path("db"), "scan", "--hex"], capture_output=True, text=True,
                               timeout=60).stdout]
        self.results("fillseq", "-num=1")
        scan.append(subprocess.run([ldb, "--db=" + self.path("db"), "scan", "--hex"], capture_output=True,
                                   text=True, timeout=60).stdout)
        self.assertEqual(scan[0], scan[1])
        self.assertIn(" : 0x", scan[0])

    def test_readrandomwriterandom_keeps_the_share_of_reads(self):
        found = self.results("filluniquerandom,readrandomwriterandom", "-reads=1000", "-readwritepercent=70")
        self.assertIn("( reads:700 writes:300 total:1000 found:700)", found["readrandomwriterandom"][1])

    def test_randomreplacekeys_keeps_the_number_of_keys(self):
        for single in ("1", "0"):
            found = self.results("randomreplacekeys,compact,readseq", "-numdistinct=50", "-threads=2",
                                 "-use_single_deletes=" + single, "-stddev=20")
            self.assertEqual(found["randomreplacekeys"][0], 4000)
            self.assertEqual(found["readseq"][0], 200)  # two threads read the hundred keys
            self.assertIn(f"use single deletes: {single}, standard deviation: 20", found["randomreplacekeys"][1])

    def test_timeseries_reads_series_and_removes_old_points(self):
        self.assertEqual(self.results("timeseries")["timeseries"][0], 2000)  # one thread, which writes
        shape = ["-key_id_range=20", "-time_range=500", "-reads=300", "-threads=3"]
        done = self.run_bench("timeseries,compact,readseq", *shape)
        self.assertRegex(done.stdout, r"(?m)^timeseries write : .* 2000 operations;")
        self.assertRegex(done.stdout, r"(?m)^timeseries +: .* 600 operations;.* of 300 found\)")
        self.assertEqual(self.results("readseq", "-use_existing_db=1")["readseq"][0], 2000)
        self.results("timeseries,flush,compact", "-expire_style=compaction_filter", *shape)
        self.assertEqual(self.results("readseq", "-use_existing_db=1")["readseq"][0], 500)
        done = self.run_bench("timeseries", "-expire_style=delete", "-num_deletion_threads=1", *shape)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The number of old points that are deleted depends on timing; new points are never deleted.
        self.assertGreaterEqual(self.results("readseq", "-use_existing_db=1")["readseq"][0], 500)

    def test_mixgraph_keeps_the_shares_of_operations(self):
        mix = ["-mix_get_ratio=0.5", "-mix_put_ratio=0.3", "-mix_seek_ratio=0.2", "-mix_accesses=4000"]
        models = (["-keyrange_num=1"], ["-key_dist_a=0.002312", "-key_dist_b=0.3467"],
                  ["-keyrange_dist_a=14.18", "-keyrange_dist_b=-2.917", "-keyrange_dist_c=0.0164",
                   "-keyrange_dist_d=-0.08082", "-keyrange_num=30"])
        for model in models:
            found = self.results("filluniquerandom,mixgraph", *mix, *model)
            self.assertEqual(found["mixgraph"][0], 4000)
            line = re.search(r"\( Gets:(\d+) Puts:(\d+) Seek:(\d+), reads (\d+) in (\d+) found, avg size: ([\d.]+) "
                             r"value, ([\d.]+) scan\)", self.run_bench("filluniquerandom,mixgraph", *mix, *model).stdout)
            gets, puts, seeks, hits, reads = (int(line.group(i)) for i in range(1, 6))
            self.assertEqual(gets + puts + seeks, 4000)
            for count, share in ((gets, 0.5), (puts, 0.3), (seeks, 0.2)):
                self.assertLess(abs(count / 4000 - share), 0.05)
            self.assertEqual((hits, reads), (gets + seeks, gets + seeks))

    def test_rate_limits_are_kept(self):
        # Two threads write 2,000 pairs of 116 bytes each at 232,000 bytes per second and make 500 reads each at
        # 1,000 per second.
        found = self.run_bench("fillrandom,readrandom", "-benchmark_write_rate_limit=232000",
                               "-benchmark_read_rate_limit=1000", "-reads=500", "-threads=2")
        seconds = {m.group(1): float(m.group(2)) for m in
                   re.finditer(r"(?m)^(\w+) +: .* ([\d.]+) seconds", found.stdout)}
        self.assertGreater(seconds["fillrandom"], 1.8)
        self.assertGreater(seconds["readrandom"], 0.8)
        # Four threads make 500 operations each, at 1,000 per second together.
        found = self.run_bench("filluniquerandom,mixgraph", "-mix_accesses=500", "-threads=4", "-sine_mix_rate=1",
                               "-sine_a=0", "-sine_d=1000")
        mixed = re.search(r"(?m)^mixgraph +: .* ([\d.]+) seconds 2000 operations", found.stdout)
        self.assertGreater(float(mixed.group(1)), 1.5)

    def test_sine_write_rate_limits_writes(self):
        # B is 0, so the rate is A sin(C) + D: 2,000 pairs of 116 bytes at 232,000 bytes per second.
        done = self.run_bench("fillrandom", "-sine_write_rate=1", "-sine_a=116000", "-sine_b=0",
                              "-sine_c=1.5707963", "-sine_d=116000")
        seconds = re.search(r"(?m)^fillrandom +: .* ([\d.]+) seconds", done.stdout)
        self.assertGreater(float(seconds.group(1)), 0.8)

    def test_flags_of_compaction_reach_the_database(self):
        self.results("fillseq", "-compaction_style=1", "-universal_size_ratio=7", "-universal_min_merge_width=3",
                     "-universal_max_merge_width=9", "-universal_max_size_amplification_percent=120",
                     "-universal_compression_size_percent=50", "-universal_allow_trivial_move=1",
                     "-subcompactions=3", "-enable_blob_files=1", "-min_blob_size=77", "-compaction_pri=1",
                     "-rate_limiter_bytes_per_sec=100000000", "-rate_limiter_auto_tuned=1",
                     "-fifo_compaction_max_table_files_size_mb=3", "-fifo_compaction_allow_compaction=0")
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            text = file.read()
        for line in ("compaction_style=kCompactionStyleUniversal", "size_ratio=7", "min_merge_width=3",
                     "max_merge_width=9", "max_size_amplification_percent=120", "compression_size_percent=50",
                     "allow_trivial_move=true", "max_subcompactions=3", "enable_blob_files=true",
                     "min_blob_size=77", "compaction_pri=kOldestLargestSeqFirst",
                     "max_table_files_size=3145728", "allow_compaction=false"):
            self.assertIn(line, text)

    def test_histogram_counts_every_operation(self):
        done = self.run_bench("fillseq", "-histogram=1")
        self.assertIn("Microseconds per write:\nCount: 2000 ", done.stdout)

    def test_waits_for_the_rate_limit_are_not_part_of_operation_times(self):
        # Two operations per second (116 bytes per write): each but the first waits nearly half a second. An
        # operation itself takes less than a thousandth of that.
        done = self.run_bench("fillrandom,readrandom,updaterandom,mixgraph", "-num=3", "-histogram=1",
                              "-benchmark_write_rate_limit=232", "-benchmark_read_rate_limit=2",
                              "-sine_mix_rate=1", "-sine_a=0", "-sine_d=2")
        medians = [float(micros) for micros in re.findall(r"  Median: ([\d.]+)  ", done.stdout)]
        self.assertEqual(len(medians), 4, done.stdout)
        self.assertLess(max(medians), 250_000)

    def test_stats_interval_seconds_overrides_stats_interval(self):
        for interval in ("-1", "1000000000"):
            done = self.run_bench("fillrandom", "-stats_interval_seconds=1", "-duration=2",
                                  "-stats_interval=" + interval)
            self.assertIn("... finished ", done.stderr, interval)
        done = self.run_bench("fillrandom", "-stats_interval=-1")
        self.assertNotIn("... finished ", done.stderr)

    def test_statistics_of_the_database_come_at_the_interval_on_request(self):
        done = self.run_bench("fillseq", "-stats_interval=1000", "-stats_per_interval=1", "-threads=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("** DB Stats **"), 2)  # of the first thread
        done = self.run_bench("fillseq", "-stats_per_interval=1")
        self.assertNotIn("DB Stats", done.stderr)

    def test_compression_begins_at_the_level_that_is_asked_for(self):
        self.results("fillseq", "-min_level_to_compress=2", "-num_levels=4", "-compression_type=snappy")
        self.assertRegex(self.options(), r"compression_per_level=kNoCompression:kNoCompression:"
                                              r"kSnappyCompression:kSnappyCompression\n")
        done = self.run_bench("fillseq", "-min_level_to_compress=5", "-num_levels=4")
        self.assertNotEqual(done.returncode, 0)

    def test_flags_that_scripts_of_rocksdb_pass_are_taken(self):
        self.results("fillseq", "-delete_obsolete_files_period_micros=62914560", "-stats_per_interval=1",
                     "-min_level_to_compress=3", "-undefok=nothing")

    def test_statistics_are_printed_at_the_end(self):
        done = self.run_bench("fillseq", "-statistics=1")
        written = re.findall(r"^rocksdb\.number\.keys\.written COUNT : (\d+)$", done.stdout, re.M)
        self.assertEqual(written, ["2000"])

    def test_report_file_is_csv_with_rocksdbs_header(self):
        self.run_bench("fillrandom", "-report_interval_seconds=1", "-duration=2",
                       "-report_file=" + self.path("r.csv"))
        with open(self.path("r.csv"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.assertEqual(lines[0], "secs_elapsed,interval_qps")
        self.assertRegex(lines[1], r"^1,\d+$")

    def test_version_is_one_line(self):
        done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^db_bench version \d+\.\d+\.\d+\n$")

    def test_errors_name_the_flag_or_benchmark(self):
        for arguments, word in ((("nosuch",), "nosuch"), (("fillseq", "-nosuch=1"), "nosuch"),
                                (("fillseq", "-compression_type=foo"), "foo"),
                                (("fillseq", "-threads=0"), "threads"),
                                (("fillseq", "stray"), "stray"),
                                (("fillseq", "-num_column_families=0"), "num_column_families"),
                                (("updaterandom", "-num_column_families=2"), "num_column_families"),
                                (("fillseqdeterministic",), "disable_auto_compactions"),
                                (("fillseqdeterministic", "-disable_auto_compactions=1"), "too small"),
                                (("getmergeoperands", "-merge_operator=stringappend"), "sortlist"),
                                (("mergerandom",), "merge_operator"),
                                (("mergerandom", "-merge_operator=foo"), "foo"),
                                (("readtorowcache",), "row_cache_size"),
                                (("fillseekseq", "-writes_per_range_tombstone=10",
                                  "-max_num_range_tombstones=5"), "writes_per_range_tombstone"),
                                (("fillseekseq", "-prefix_size=8", "-keys_per_prefix=10", "-seek_nexts=3"),
                                 "keys_per_prefix"),
                                (("fillseq", "-keys_per_prefix=3"), "prefix_size"),
                                (("fillseq", "-prefix_size=17"), "prefix_size"),
                                (("fillseq", "-perf_level=0"), "perf_level"),
                                (("fillseq", "-readwritepercent=101"), "readwritepercent"),
                                (("mixgraph", "-mix_get_ratio=0"), "mix_get_ratio"),
                                (("timeseries", "-expire_style=soon"), "expire_style")):
            done = self.run_bench(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
