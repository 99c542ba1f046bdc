#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ldb as a program: each command once, on databases of its own and on those that RocksDB made, and
# what it refuses. Where RocksDB's ldb is installed, both must print the same about one directory.
import os
import re
import unittest

from tool_support import ToolTest, needs, program, reference, run, state_of

PROGRAM = program("ldb")
REFERENCE = reference("ldb")

# Samples without features that the engine refuses to open.
READABLE = ("empty", "basic_snappy", "levels_lz4", "wal_crash", "wal_recycled_crash",
            "universal_fifo", "partitioned_xxh3", "hash_index_ribbon", "first_key_index_v4",
            "format_v2_legacy_bloom", "universal_zstd_dict", "ingest", "rangedel", "rangedel_levels")
ALL = READABLE + ("merge", "blob", "column_families", "txn_prepared")


def without_empty_levels(text):
    """RocksDB prints 64 levels, and not the names of comparators that it was not given."""
    return [line for line in text.split(b"\n")
            if not line.startswith((b"--- level ", b"comparator:"))]


def with_true_offsets(text):
    """RocksDB prints where the reader stood before it skipped the zeros at the end of a block."""
    def move(match):
        offset = int(match.group(2))
        left_in_block = -offset % 32768
        return match.group(1) + b"%d," % (offset + (left_in_block if left_in_block < 7 else 0))
    return re.sub(rb"(?m)^(\d+,\d+,\d+,)(\d+),", move, text)


@needs(os.path.exists(PROGRAM), "ldb in this build")
class LdbTest(ToolTest):
    def ldb(self, *arguments, db=None, tool=PROGRAM):
        return run(tool, "--db=" + (db or self.path("db")), *arguments)

    def ok(self, *arguments, db=None):
        done = self.ldb(*arguments, db=db)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode("latin-1")

    def fill(self):
        self.ok("put", "a", "1", "--create_if_missing")
        self.ok("batchput", "b", "2", "c", "3", "d", "4")

    def test_what_was_put_is_read_back_by_every_read_command(self):
        self.fill()
        self.check(self.ldb("get", "a"), ["1"])
        self.check(self.ldb("scan"), ["a : 1", "b : 2", "c : 3", "d : 4"])
        self.check(self.ldb("scan", "--from=b", "--to=d"), ["b : 2", "c : 3"])
        self.check(self.ldb("scan", "--max_keys=1", "--no_value"), ["a"])
        self.check(self.ldb("scan", "--max_keys=0"), [])
        self.check(self.ldb("dump", "--from=c"), ["c ==> 3", "d ==> 4", "Keys in range: 2"])
        self.check(self.ldb("dump", "--count_only"), ["Keys in range: 4"])

    def test_read_commands_take_the_flags_about_options_files_too(self):
        self.fill()
        flags = ("--try_load_options", "--ignore_unknown_options")
        self.check(self.ldb("get", "a", *flags), ["1"])
        self.check(self.ldb("scan", "--try_load_options=false", "--to=b"), ["a : 1"])
        self.check_failure(self.ldb("get", "a", "--nosuch"), "--nosuch")

    def test_explain_says_where_a_key_was_looked_for(self):
        self.fill()
        self.ok("compact")
        text = self.ok("explain", "--key=b")
        self.assertRegex(text, r"^Get of 'b' at sequence number \d+: 1 byte, [\d.]+ us, 1 of 1 table\n")
        self.assertRegex(text, r"\n  1\. memtable \d+: nothing, ")
        self.assertRegex(text, r"\n  2\. level \d, table \d+ \(\d+ bytes, 'a' to 'd'\): value, ")
        self.assertRegex(text, r"\n       data block at 0, \d+ bytes, from file, [\d.]+ us\n")
        text = self.ok("explain", "--seek=bb")
        self.assertRegex(text, r"^Seek to 'bb' at sequence number \d+: 'c' with 1 byte, ")
        text = self.ok("explain", "--seek_for_prev=bb")
        self.assertRegex(text, r"^Seek backwards to 'bb' at sequence number \d+: 'b' with 1 byte, ")
        self.assertIn("NotFound", self.ok("explain", "--key=nosuch"))
        self.assertIn("'a'", self.ok("explain", "--seek=0x61", "--key_hex"))
        self.check_failure(self.ldb("explain"), "--key")
        self.check_failure(self.ldb("explain", "--key=a", "--seek=a"), "--seek")
        self.check_failure(self.ldb("explain", "--seek_for_prev=a", "--seek=a"), "--seek")

    def test_put_and_batchput_say_ok(self):
        self.check(self.ldb("put", "a", "1", "--create_if_missing"), ["OK"])
        self.check(self.ldb("batchput", "a", "1", "b", "2"), ["OK"])

    def test_keys_and_values_may_be_hexadecimal(self):
        self.ok("put", "--hex", "0x6100", "0x00FF", "--create_if_missing")
        self.check(self.ldb("scan", "--hex"), ["0x6100 : 0x00FF"])
        self.check(self.ldb("scan", "--hex", "--from=0x6100", "--to=0x6101"), ["0x6100 : 0x00FF"])
        self.check(self.ldb("get", "0x6100", "--key_hex", "--value_hex"), ["0x00FF"])
        self.check(self.ldb("scan", "--value_hex"), ["a\0 : 0x00FF"])
        self.check_failure(self.ldb("get", "--hex", "0x6"), "0x6", "hexadecimal")

    def test_deleted_keys_are_gone_but_idump_shows_them(self):
        self.fill()
        self.check(self.ldb("delete", "b"), ["OK"])
        self.check_failure(self.ldb("get", "b"), "NotFound")
        self.check(self.ldb("idump", "--from=b", "--to=d"),
                   ["'b' seq:5, type:0 => ", "'b' seq:2, type:1 => 2", "'c' seq:3, type:1 => 3",
                    "Internal keys in range: 3"])
        self.check(self.ldb("idump", "--count_only"), ["Internal keys in range: 5"])
        self.check(self.ldb("idump", "--max_keys=1", "--hex"),
                   ["'61' seq:1, type:1 => 31", "Internal keys in range: 1"])
        self.check(self.ldb("idump", "--input_key_hex", "--from=0x64"),
                   ["'d' seq:4, type:1 => 4", "Internal keys in range: 1"])

    def test_compaction_drops_what_was_deleted(self):
        self.fill()
        self.ok("delete", "b")
        self.check(self.ldb("compact"), [])
        self.check(self.ldb("idump", "--count_only"), ["Internal keys in range: 3"])
        self.check(self.ldb("compact", "--from=a", "--to=c"), [])
        self.check(self.ldb("scan"), ["a : 1", "c : 3", "d : 4"])

    def test_families_are_created_listed_filled_and_dropped(self):
        self.fill()
        self.check(self.ldb("create_column_family", "users"), ["OK"])
        self.check(self.ldb("list_column_families"),
                   [f"Column families in {self.path('db')}: ", "{default, users}"])
        self.ok("--column_family=users", "put", "u", "1")
        self.check(self.ldb("--column_family=users", "scan"), ["u : 1"])
        self.check_failure(self.ldb("create_column_family", "users"), "users")
        self.check(self.ldb("drop_column_family", "users"), ["OK"])
        self.check_failure(self.ldb("--column_family=users", "scan"), "users")
        self.check_failure(self.ldb("drop_column_family", "users"), "users")
        self.check_failure(self.ldb("drop_column_family", "default"), "default")

    def test_options_of_the_database_survive_a_write(self):
        self.ok("put", "a", "1", "--create_if_missing", "--write_buffer_size=1234567",
                "--compression_type=zstd", "--block_size=8192", "--bloom_bits=10")
        self.ok("put", "b", "2")
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            text = file.read()
        for line in ("write_buffer_size=1234567", "compression=kZSTD", "block_size=8192",
                     "filter_policy=bloomfilter:10"):
            self.assertIn(line, text)
        self.check_failure(self.ldb("put", "a", "1", "--compression_type=zip"), "zip", "zstd")

    def test_approxsize_counts_bytes_of_tables(self):
        db = self.sample_database("levels_lz4")
        whole = int(self.ok("approxsize", "--from=a", "--to=z", db=db))
        half = int(self.ok("approxsize", "--from=a", "--to=key00002500", db=db))
        self.assertTrue(0.3 * whole < half < 0.7 * whole, (half, whole))
        self.check_failure(self.ldb("approxsize", "--from=a", db=db), "--to")

    def test_properties_are_printed_by_name(self):
        self.fill()
        self.check(self.ldb("get_property", "rocksdb.estimate-num-keys"),
                   ["rocksdb.estimate-num-keys: 4"])
        self.check_failure(self.ldb("get_property", "rocksdb.nosuch"), "rocksdb.nosuch")
        self.assertIn("** DB Stats **", self.ok("dump", "--stats"))

    def test_manifest_dump_shows_edits_and_what_they_add_up_to(self):
        self.fill()
        self.ok("create_column_family", "users")
        self.ok("compact")
        text = self.ok("manifest_dump", "--verbose")
        self.assertIn("VersionEdit {\n  Comparator: leveldb.BytewiseComparator\n", text)
        self.assertRegex(text, r"\n  Log: log_number: \d+ first_sequence: ")
        self.assertRegex(text, r"\n  InitialRecords: \d+\n")
        self.assertIn('--------------- Column family "users"  (ID 1) --------------\n', text)
        self.assertRegex(text, r"\n \d+:\d+\[\d+ \.\. \d+\]\['a' seq:0, type:1 \.\. "
                               r"'d' seq:0, type:1\]\n")
        with open(self.path("db", "CURRENT"), encoding="utf-8") as file:
            manifest = self.path("db", file.read().strip())
        self.assertEqual(run(PROGRAM, "manifest_dump", "--path=" + manifest).stdout.decode(),
                         self.ok("manifest_dump"))

    def test_manifest_dump_of_no_manifest_fails(self):
        self.fill()
        self.check_failure(run(PROGRAM, "manifest_dump", "--path=" + self.path("db", "CURRENT")),
                           "CURRENT")
        self.check_failure(run(PROGRAM, "manifest_dump", "--path=" + self.path("absent")), "absent")
        self.check_failure(run(PROGRAM, "manifest_dump"), "--db")

    def test_dump_wal_prints_a_batch_a_line(self):
        self.fill()
        self.ok("batchput", "a", "5", "b", "6")
        logs = sorted(name for name in os.listdir(self.path("db")) if name.endswith(".log"))
        done = run(PROGRAM, "dump_wal", "--walfile=" + self.path("db", logs[-1]), "--header",
                   "--print_value")
        self.check(done, ["Sequence,Count,ByteSize,Physical Offset,Key(s) : value ",
                          "5,2,22,0,PUT(0) : 0x61 : 0x35 PUT(0) : 0x62 : 0x36 "])
        done = run(PROGRAM, "dump_wal", "--walfile=" + self.path("db", logs[-1]))
        self.check(done, ["5,2,22,0,PUT(0) : 0x61 PUT(0) : 0x62 "])
        self.check_failure(run(PROGRAM, "dump_wal"), "--walfile")
        self.check_failure(run(PROGRAM, "dump_wal", "--walfile=" + self.path("absent.log")),
                           "absent.log")

    def test_dump_wal_goes_on_behind_damage_and_fails(self):
        db = self.sample_database("wal_crash")
        log = os.path.join(db, "000004.log")
        whole = run(PROGRAM, "dump_wal", "--walfile=" + log).stdout.split(b"\n")
        with open(log, "r+b") as file:
            file.seek(100000)
            file.write(b"\xff\x00")
        done = run(PROGRAM, "dump_wal", "--walfile=" + log)
        self.check_failure(done, "Corruption", log)
        self.assertEqual(done.stdout.split(b"\n")[0], whole[0])
        self.assertEqual(done.stdout.split(b"\n")[-2], whole[-2])

    def test_dump_live_files_shows_manifest_tables_and_logs(self):
        db = self.sample_database("column_families")
        text = self.ok("dump_live_files", db=db)
        for line in ("Manifest File\n", f"{db}/000015.sst level:0\n", f"{db}/000017.sst level:0\n",
                     "'user0' seq:2, type:1 => v0-", "'key00000900' seq:1203, type:1 => r\n",
                     "  # entries: 301\n", f"{db}/000016.log\n", "DELETE_RANGE(2) : "):
            self.assertIn(line, text)

    def test_checkconsistency_compares_files_with_the_manifest(self):
        db = self.sample_database("levels_lz4")
        self.check(self.ldb("checkconsistency", db=db), ["OK"])
        table = os.path.join(db, "000064.sst")
        with open(table, "ab") as file:
            file.write(b"x")
        self.check_failure(self.ldb("checkconsistency", db=db), table, "35435", "35436")
        os.unlink(table)
        self.check_failure(self.ldb("checkconsistency", db=db), table)

    def test_read_commands_change_nothing(self):
        db = self.sample_database("basic_snappy")
        before = state_of(db)
        for command in (("get", "key00000001"), ("scan",), ("dump", "--stats"), ("idump",),
                        ("approxsize", "--from=a", "--to=b"), ("checkconsistency",),
                        ("list_column_families",), ("manifest_dump", "--verbose"),
                        ("dump_live_files",), ("get_property", "rocksdb.stats")):
            self.ok(*command, db=db)
            self.assertEqual(state_of(db), before, command)

    def test_families_in_reverse_order_are_opened_with_their_comparator(self):
        # The range deletion in its newest log keeps the sample itself from being opened.
        db = self.sample_database("column_families")
        os.truncate(os.path.join(db, "000016.log"), 26467)
        text = self.ok("--column_family=reverse", "scan", "--no_value", db=db)
        keys = text.split("\n")[:-1]
        self.assertEqual(len(keys), 500)
        self.assertEqual(keys, sorted(keys, reverse=True))
        self.check(self.ldb("--column_family=reverse", "get", "key00000900", db=db), ["r"])

    def test_what_cannot_be_done_is_refused_by_name(self):
        self.fill()
        for arguments, word in ((("frob",), "frob"), (("scan", "--nosuch"), "nosuch"),
                                (("get",), "<key>"), (("get", "a", "b"), "<key>"),
                                (("put", "a"), "<value>"), (("batchput", "a"), "<value>"),
                                (("batchput", "a", "b", "c"), "pairs"),
                                (("scan", "stray"), "1 arguments"),
                                (("scan", "--max_keys=x"), "max_keys"),
                                (("scan", "--hex=maybe"), "maybe"),
                                (("scan", "--column_family=nosuch"), "nosuch")):
            self.check_failure(self.ldb(*arguments), word)
        self.check_failure(run(PROGRAM, "scan"), "--db")
        self.check_failure(run(PROGRAM), "scan")

    def test_a_missing_database_is_refused_and_not_made(self):
        for command in (("scan",), ("put", "a", "1"), ("checkconsistency",), ("manifest_dump",),
                        ("list_column_families",), ("compact",), ("dump_live_files",)):
            self.check_failure(self.ldb(*command), self.path("db"))
            self.assertFalse(os.path.exists(self.path("db")), command)

    def test_a_database_with_features_not_built_yet_is_refused_by_their_name(self):
        db = self.sample_database("blob")
        self.check_failure(self.ldb("scan", db=db), "Not implemented", "blob")
        self.check_failure(self.ldb("put", "a", "1", db=self.path("blob")), "enable_blob_files",
                           "--try_load_options")

    def test_help_names_every_command_and_explains_each(self):
        done = run(PROGRAM, "--help")
        self.assertEqual(done.returncode, 0)
        names = re.findall(r"(?m)^  ([a-z_]+)(?: [<\[-].*)?\n      \w", done.stdout.decode())
        self.assertEqual(len(names), 18)
        for name in names:
            self.assertIn(name, run(PROGRAM, name, "--help").stdout.decode())


@needs(os.path.exists(PROGRAM), "ldb in this build")
@needs(REFERENCE is not None, "ldb of RocksDB 7.8")
class LdbAgainstRocksDbTest(ToolTest):
    def both(self, *arguments, db):
        ours, theirs = (run(tool, "--db=" + db, *arguments) for tool in (PROGRAM, REFERENCE))
        self.assertEqual((ours.returncode, theirs.returncode), (0, 0), (arguments, ours.stderr))
        return ours.stdout, theirs.stdout

    def test_scan_dump_idump_and_get_print_the_same(self):
        for name in READABLE:
            db = self.sample_database(name)
            for command in (("scan", "--hex"), ("dump", "--hex"), ("idump", "--hex"),
                            ("scan", "--from=key0000001", "--to=key00000050", "--value_hex"),
                            ("approxsize", "--from=a", "--to=z")):
                ours, theirs = self.both(*command, db=db)
                self.assertEqual(ours, theirs, (name, command))
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
            for command in ("list_column_families", "checkconsistency"):
                ours, theirs = self.both(command, db=db)
                self.assertEqual(ours, theirs, (name, command))

    def test_dump_wal_prints_the_same_records(self):
        compared = 0
        for name in ALL:
            db = self.sample_database(name)
            for log in sorted(os.listdir(db)):
                if not log.endswith(".log"):
                    continue
                for flags in ((), ("--header", "--print_value")):
                    arguments = ("dump_wal", "--walfile=" + os.path.join(db, log), *flags)
                    ours, theirs = run(PROGRAM, *arguments), run(REFERENCE, *arguments)
                    self.assertEqual(ours.stdout, with_true_offsets(theirs.stdout), (name, log))
                    compared += 1
        self.assertGreater(compared, 40)

    def test_rocksdb_reads_what_ldb_wrote_and_the_other_way_round(self):
        db = self.path("db")
        run(PROGRAM, "--db=" + db, "put", "a", "1", "--create_if_missing",
            "--write_compatible_with=7.8")
        run(PROGRAM, "--db=" + db, "batchput", "b", "2", "c", "3")
        run(PROGRAM, "--db=" + db, "compact")
        self.assertEqual(run(REFERENCE, "--db=" + db, "scan").stdout, b"a : 1\nb : 2\nc : 3\n")
        run(REFERENCE, "--db=" + db, "put", "d", "4")
        self.assertEqual(run(PROGRAM, "--db=" + db, "scan").stdout,
                         b"a : 1\nb : 2\nc : 3\nd : 4\n")


if __name__ == "__main__":
    unittest.main()
