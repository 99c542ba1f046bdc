#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ldb and RocksDB's ldb print the same about one directory, and each opens what the other has written.
import os
import re
import unittest

from ldb_support import PROGRAM, REFERENCE, LdbToolTest
from tool_support import needs, reference, run

# Samples without features that the engine refuses to open.
READABLE = ("empty", "basic_snappy", "levels_lz4", "wal_crash", "wal_recycled_crash",
            "universal_fifo", "partitioned_xxh3", "hash_index_ribbon", "first_key_index_v4",
            "format_v2_legacy_bloom", "universal_zstd_dict", "ingest", "rangedel", "rangedel_levels",
            "txn_prepared")
ALL = READABLE + ("merge", "blob", "column_families")


def without_empty_levels(text):
    """Without the lines that differ: RocksDB prints 64 levels, and the comparator only if it knows it."""
    return [line for line in text.split(b"\n")
            if not line.startswith((b"--- level ", b"comparator:"))]


def with_true_offsets(text):
    """Corrects the offsets of RocksDB, which are those before the zeros at the end of a block."""
    def move(match):
        offset = int(match.group(2))
        left_in_block = -offset % 32768
        return match.group(1) + b"%d," % (offset + (left_in_block if left_in_block < 7 else 0))
    return re.sub(rb"(?m)^(\d+,\d+,\d+,)(\d+),", move, text)


def entries_of(text):
    """Without the properties of a table, of which ours prints more, and with corrected log offsets."""
    return with_true_offsets(text.split(b"\n\nTable Properties:\n# data blocks=")[0])


def without_numbers(text):
    """The lines of a statistics text without blanks and numbers, and without those of the block cache,
    whose entries differ."""
    lines = [line for line in text.split(b"\n") if not line.startswith(b"Block cache ")]
    return [re.sub(rb" +", b" ", re.sub(rb"\b\d[0-9.]*", b"0", line)) for line in lines
            if b"stats.id: " not in line]


@needs(os.path.exists(PROGRAM), "ldb in this build")
@needs(REFERENCE is not None, "ldb of RocksDB 7.8")
class LdbAgainstRocksDbTest(LdbToolTest):
    def both(self, *arguments, db):
        ours, theirs = (run(tool, "--db=" + db, *arguments) for tool in (PROGRAM, REFERENCE))
        self.assertEqual((ours.returncode, theirs.returncode), (0, 0), (arguments, ours.stderr))
        return ours.stdout, theirs.stdout

    def test_scan_dump_idump_and_get_print_the_same(self):
        for name in READABLE:
            db = self.sample_database(name)
            for command in (("scan", "--hex"), ("dump", "--hex"), ("idump", "--hex"),
                            ("dump", "--count_delim=1"),
                            ("dump", "--count_only"), ("idump", "--count_only"),
                            ("scan", "--from=key0000001", "--to=key00000050", "--value_hex"),
                            ("approxsize", "--from=a", "--to=z")):
                ours, theirs = self.both(*command, db=db)
                self.assertEqual(ours, theirs, (name, command))
            # RocksDB's idump counts a value only up to its first zero byte.
            ours, theirs = (re.sub(rb"size:\d+", b"", text) for text in
                            self.both("idump", "--count_delim=1", db=db))
            self.assertEqual(ours, theirs, name)
        ours, theirs = self.both("get", "--hex", "0x6B65793030303030303031",
                                 db=self.sample_database("basic_snappy"))
        self.assertEqual(ours, theirs)

    def test_manifest_dump_prints_the_same(self):
        for name in ALL:
            db = self.sample_database(name)
            for command in (("manifest_dump",), ("manifest_dump", "--verbose", "--hex")):
                ours, theirs = self.both(*command, db=db)
                self.assertEqual(without_empty_levels(ours), without_empty_levels(theirs),
                                 (name, command))

    def test_list_and_checkconsistency_print_the_same(self):
        for name in ALL:
            db = self.sample_database(name)
            for command in (("list_column_families",), ("checkconsistency",),
                            ("list_live_files_metadata",),
                            ("list_live_files_metadata", "--sort_by_filename")):
                ours, theirs = self.both(*command, db=db)
                self.assertEqual(ours, theirs, (name, command))

    def test_dump_wal_prints_the_same_records(self):
        compared = 0
        for name in ALL:
            db = self.sample_database(name)
            for log in sorted(os.listdir(db)):
                if not log.endswith(".log"):
                    continue
                for flags in ((), ("--header", "--print_value"), ("--write_committed",)):
                    arguments = ("dump_wal", "--walfile=" + os.path.join(db, log), *flags)
                    ours, theirs = run(PROGRAM, *arguments), run(REFERENCE, *arguments)
                    self.assertEqual(ours.stdout, with_true_offsets(theirs.stdout), (name, log))
                    compared += 1
        self.assertGreater(compared, 40)

    def test_prepared_transactions_stay_prepared_through_both(self):
        db = self.sample_database("txn_prepared")
        keys = b"a : 1\nc : committed\ne : 5\n"
        for i, tool in enumerate((PROGRAM, REFERENCE, PROGRAM, REFERENCE)):
            self.assertEqual(run(tool, "--db=" + db, "put", "f%d" % i, "6").stdout, b"OK\n")
            keys += b"f%d : 6\n" % i
            self.assertEqual(self.both("scan", db=db), (keys, keys))
            logs = [os.path.join(db, name) for name in os.listdir(db) if name.endswith(".log")]
            shown = b"".join(run(REFERENCE, "dump_wal", "--walfile=" + log).stdout for log in logs)
            self.assertIn(b"END_PREPARE(0x" + b"undecided".hex().upper().encode(), shown)

    def test_blob_files_and_blob_references_print_the_same(self):
        db = self.sample_database("blob")
        compared = 0
        for file in sorted(os.listdir(db)):
            if not file.endswith((".blob", ".sst")):
                continue
            for flags in (("--hex",), ("--hex", "--dump_uncompressed_blobs", "--decode_blob_index")):
                arguments = ("dump", "--path=" + os.path.join(db, file), *flags)
                ours, theirs = run(PROGRAM, *arguments), run(REFERENCE, *arguments)
                self.assertEqual((ours.returncode, theirs.returncode), (0, 0), file)
                # Without compression RocksDB prints nothing after "raw blob".
                if file.endswith(".blob") and b"kNoCompression" in theirs.stdout and len(flags) > 1:
                    continue
                show = entries_of if file.endswith(".sst") else bytes
                self.assertEqual(show(ours.stdout), show(theirs.stdout), (file, flags))
                compared += 1
        self.assertGreater(compared, 2)

    def test_range_tombstones_of_files_print_the_same(self):
        for name in ("rangedel", "rangedel_levels", "basic_snappy"):
            db = self.sample_database(name)
            for flags in ((), ("--max_keys=1",), ("--max_keys=3",)):
                ours, theirs = self.both("list_file_range_deletes", *flags, db=db)
                self.assertEqual(ours, theirs, (name, flags))

    def test_rocksdb_opens_a_database_after_reduce_levels_and_change_compaction_style(self):
        db = self.path("db")
        run(PROGRAM, "--db=" + db, "batchput", "a", "1", "b", "2", "--create_if_missing",
            "--write_compatible_with=7.8")
        run(PROGRAM, "--db=" + db, "compact")
        self.assertEqual(run(PROGRAM, "--db=" + db, "reduce_levels", "--new_levels=2").returncode, 0)
        self.assertEqual(run(REFERENCE, "--db=" + db, "scan").stdout, b"a : 1\nb : 2\n")
        changed = run(PROGRAM, "--db=" + db, "change_compaction_style", "--old_compaction_style=0",
                      "--new_compaction_style=1")
        self.assertEqual(changed.returncode, 0, changed.stderr)
        self.assertEqual(run(REFERENCE, "--db=" + db, "scan").stdout, b"a : 1\nb : 2\n")
        self.assertEqual(run(REFERENCE, "--db=" + db, "checkconsistency").returncode, 0)

    def test_dump_of_a_single_file_prints_the_same(self):
        for name in ("basic_snappy", "levels_lz4", "wal_crash"):
            db = self.sample_database(name)
            for file in sorted(os.listdir(db)):
                if not file.endswith((".sst", ".log")):
                    continue
                arguments = ("dump", "--hex", "--path=" + os.path.join(db, file))
                ours, theirs = run(PROGRAM, *arguments), run(REFERENCE, *arguments)
                self.assertEqual(entries_of(ours.stdout), entries_of(theirs.stdout), (name, file))
                self.assertEqual(ours.returncode, theirs.returncode)

    def test_statistics_texts_have_the_same_lines(self):
        for name in ("empty", "levels_lz4"):
            db = self.sample_database(name)
            for text in ("rocksdb.cfstats-no-file-histogram", "rocksdb.cf-file-histogram",
                         "rocksdb.dbstats", "rocksdb.cfstats", "rocksdb.levelstats",
                         "rocksdb.stats", "rocksdb.block-cache-entry-stats"):
                ours, theirs = self.both("get_property", text, db=db)
                self.assertEqual(without_numbers(ours), without_numbers(theirs), (name, text))

    def test_rocksdb_opens_a_checkpoint(self):
        db, copy = self.path("db"), self.path("copy")
        run(REFERENCE, "--db=" + db, "batchput", "a", "1", "b", "2", "--create_if_missing")
        run(REFERENCE, "--db=" + db, "compact")
        run(REFERENCE, "--db=" + db, "put", "c", "3")
        done = run(PROGRAM, "--db=" + db, "checkpoint", "--checkpoint_dir=" + copy,
                   "--write_compatible_with=7.8")
        self.assertEqual(done.returncode, 0, done.stderr)
        for place in (copy, db):
            theirs = run(REFERENCE, "--db=" + place, "scan")
            self.assertEqual((theirs.returncode, theirs.stdout), (0, b"a : 1\nb : 2\nc : 3\n"),
                             theirs.stderr)
        self.assertEqual(run(REFERENCE, "--db=" + copy, "checkconsistency").returncode, 0)

    def test_each_reads_what_the_other_wrote(self):
        db = self.path("db")
        run(PROGRAM, "--db=" + db, "put", "a", "1", "--create_if_missing",
            "--write_compatible_with=7.8")
        run(PROGRAM, "--db=" + db, "batchput", "b", "2", "c", "3")
        run(PROGRAM, "--db=" + db, "compact")
        self.assertEqual(run(REFERENCE, "--db=" + db, "scan").stdout, b"a : 1\nb : 2\nc : 3\n")
        run(REFERENCE, "--db=" + db, "put", "d", "4")
        self.assertEqual(run(PROGRAM, "--db=" + db, "scan").stdout,
                         b"a : 1\nb : 2\nc : 3\nd : 4\n")

    def check_both_write(self, db):
        """Our ldb writes to the directory, then RocksDB's does, without any flag."""
        before = run(REFERENCE, "--db=" + db, "scan")
        self.assertEqual(before.returncode, 0, before.stderr)
        ours = run(PROGRAM, "--db=" + db, "put", "zz1", "ours")
        self.assertEqual(ours.returncode, 0, ours.stderr)
        for arguments in (("scan",), ("put", "zz2", "theirs"), ("get", "zz1")):
            done = run(REFERENCE, "--db=" + db, *arguments)
            self.assertEqual(done.returncode, 0, (arguments, done.stdout, done.stderr))
            self.assertNotIn(b"Failed", done.stdout + done.stderr, arguments)
        self.assertEqual(done.stdout, b"ours\n")
        again = run(PROGRAM, "--db=" + db, "put", "zz3", "ours again")
        self.assertEqual(again.returncode, 0, again.stderr)
        after = run(REFERENCE, "--db=" + db, "scan").stdout
        self.assertEqual(after, before.stdout + b"zz1 : ours\nzz2 : theirs\nzz3 : ours again\n")

    def test_rocksdb_writes_to_its_database_after_ours_wrote_to_it(self):
        for name in ("empty", "basic_snappy", "levels_lz4", "wal_crash", "format_v2_legacy_bloom",
                     "ingest", "column_families"):
            with self.subTest(database=name):
                self.check_both_write(self.sample_database(name))

    def test_rocksdb_opens_an_options_file_with_listeners_after_ours_wrote_it(self):
        bench = reference("db_bench")
        if bench is None:
            self.skipTest("db_bench of RocksDB 7.8")
        db = self.path("db")
        run(bench, "--db=" + db, "--benchmarks=fillseq", "--num=10", "--compression_type=none")
        newest = sorted(name for name in os.listdir(db) if name.startswith("OPTIONS-"))[-1]
        with open(os.path.join(db, newest), encoding="utf-8") as file:
            self.assertIn("  listeners=", file.read())
        ours = run(PROGRAM, "--db=" + db, "put", "zz1", "ours")
        self.assertEqual(ours.returncode, 0, ours.stderr)
        done = run(REFERENCE, "--db=" + db, "get", "zz1")
        self.assertEqual(done.stdout, b"ours\n", done.stderr)

    # RocksDB's ldb also prints that it does not support several families, and exits with 1.
    def test_databases_with_ttl_print_the_same(self):
        db = self.path("db")
        for tool in (PROGRAM, REFERENCE):
            flags = () if tool == REFERENCE else ("--write_compatible_with=7.8",)
            done = run(tool, "--db=" + db, "--ttl", "--create_if_missing", *flags, "put", tool, "value")
            self.assertEqual(done.stdout.strip(), b"OK", done.stderr)
        for command in (("scan",), ("scan", "--timestamp"), ("scan", "--timestamp", "--end_time=2000000000"),
                        ("scan", "--start_time=0", "--end_time=1"), ("get", PROGRAM), ("dump", "--timestamp"),
                        ("dump", "--count_only"), ("dump", "--bucket=100000000", "--start_time=1500000000")):
            ours, theirs = (run(tool, "--db=" + db, "--ttl", *command) for tool in (PROGRAM, REFERENCE))
            self.assertEqual(ours.returncode, 0, ours.stderr)
            self.assertEqual(ours.stdout.rstrip(), theirs.stdout.rstrip(), command)

    def test_times_of_write_need_a_database_with_ttl(self):
        self.fill()
        for flag in ("--timestamp", "--start_time=1", "--end_time=5", "--bucket=3"):
            done = self.ldb("dump", flag)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"needs --ttl", done.stderr)
        self.assertIn(b"buckets", self.ldb("--ttl", "dump", "--bucket=1").stderr)

    def test_both_read_the_same_after_a_table_was_removed(self):
        db = self.sample_database("levels_lz4")
        sums = [sorted(self.ldb("file_checksum_dump", db=db, tool=tool).stdout.split(b"\n"))
                for tool in (PROGRAM, REFERENCE)]
        self.assertEqual(sums[0], sums[1])
        self.ok("unsafe_remove_sst_file", "64", db=db)
        dumps = [self.ldb("dump", "--hex", db=db, tool=tool).stdout for tool in (PROGRAM, REFERENCE)]
        self.assertEqual(dumps[0], dumps[1])


if __name__ == "__main__":
    unittest.main()
