#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ldb as a program: the commands that open a database, and the errors of all commands.
import os
import re
import subprocess
import unittest

from ldb_support import PROGRAM, LdbToolTest
from tool_support import needs, run


@needs(os.path.exists(PROGRAM), "ldb in this build")
class LdbTest(LdbToolTest):
    def test_what_was_put_is_read_back_by_every_read_command(self):
        self.fill()
        self.check(self.ldb("get", "a"), ["1"])
        self.check(self.ldb("scan"), ["a : 1", "b : 2", "c : 3", "d : 4"])
        self.check(self.ldb("scan", "--from=b", "--to=d"), ["b : 2", "c : 3"])
        self.check(self.ldb("scan", "--max_keys=1", "--no_value"), ["a"])
        self.check(self.ldb("scan", "--max_keys=0"), [])
        self.check(self.ldb("dump", "--from=c"), ["c ==> 3", "d ==> 4", "Keys in range: 2"])
        counted = self.ok("dump", "--count_only").splitlines()
        self.assertEqual(counted[:3], ["Keys in range: 4", "Value size distribution: ",
                                       "Count: 4 Average: 1.0000  StdDev: 0.00"])

    def test_times_that_no_value_can_have_are_refused(self):
        self.ok("--ttl", "--create_if_missing", "put", "a", "1")
        most = str(2**63 - 1)
        for flags in (("--bucket=" + most, "--start_time=0", "--end_time=" + most),
                      ("--bucket=1", "--start_time=-" + most, "--end_time=" + most),
                      ("--start_time=-1",), ("--end_time=4294967296",)):
            done = self.ldb("--ttl", "dump", *flags)
            self.assertEqual(done.returncode, 1, flags)
            self.assertIn(b"seconds since 1970, at most 4294967295", done.stderr, flags)
        counted = self.ok("--ttl", "dump", "--bucket=" + most, "--start_time=0", "--end_time=4294967295")
        self.assertRegex(counted, r"\nKeys in range .* : 1\n$")

    def test_a_secondary_reads_and_does_not_write(self):
        self.fill()
        own = self.path("secondary")
        self.check(self.ldb("scan", "--secondary_path=" + own), ["a : 1", "b : 2", "c : 3", "d : 4"])
        self.check(self.ldb("get", "a", "--secondary_path=" + own), ["1"])
        self.check_failure(self.ldb("put", "a", "2", "--secondary_path=" + own), "secondary_path")
        self.check(self.ldb("get", "a"), ["1"])

    def test_multi_get_reads_several_keys(self):
        self.fill()
        self.check(self.ldb("multi_get", "d", "a"), ["d ==> 4", "a ==> 1"])
        self.check(self.ldb("multi_get", "--hex", "0x61"), ["0x61 ==> 0x31"])
        done = self.ldb("multi_get", "a", "nosuch", "b")
        self.check_failure(done, "Status for key nosuch ==> NotFound", "1 of 3 keys")
        self.assertEqual(done.stdout, b"a ==> 1\nb ==> 2\n")
        self.ok("put_entity", "e", ":x", "one:1")
        self.check(self.ldb("multi_get_entity", "e", "a"), ["e ==> :x one:1", "a ==> :1"])
        self.check_failure(self.ldb("multi_get_entity", "zz"), "zz ==> NotFound")
        self.check_failure(self.ldb("multi_get"), "multi_get")

    def test_singledelete_writes_a_single_deletion(self):
        self.fill()
        self.check(self.ldb("singledelete", "b"), ["OK"])
        self.check(self.ldb("singledelete", "--hex", "0x63"), ["OK"])
        self.check(self.ldb("scan"), ["a : 1", "d : 4"])
        self.assertIn("'b' seq:5, type:7 => ", self.ok("idump"))
        self.check_failure(self.ldb("singledelete"), "singledelete")

    def test_ranges_are_deleted_and_listed(self):
        self.fill()
        self.check(self.ldb("deleterange", "b", "d"), ["OK"])
        self.check(self.ldb("scan"), ["a : 1", "d : 4"])
        self.check_failure(self.ldb("deleterange", "d", "b"), "")
        self.check_failure(self.ldb("deleterange", "b"), "deleterange")
        self.ok("put", "x", "1")  # the log becomes a table
        listed = self.ok("list_file_range_deletes").splitlines()
        self.assertIn("start: 62 end: 64 seq: 5", listed)
        self.assertEqual(sum(line.startswith("=== file : " + self.path("db")) for line in listed),
                         sum(name.endswith(".sst") for name in os.listdir(self.path("db"))))
        self.assertNotIn("(results may not be complete)", listed)
        self.assertIn("(results may not be complete)", self.ok("list_file_range_deletes", "--max_keys=1"))
        self.check_failure(self.ldb("list_file_range_deletes", "--column_family=no"), "no")

    def test_load_reads_the_output_of_dump(self):
        self.fill()
        text = self.ok("dump")
        os.rename(self.path("db"), self.path("old"))
        self.check(self.load(text, "--create_if_missing"), [])
        self.assertEqual(self.ok("dump"), text)
        self.check(self.load("x ==> 1\nbad line\nz==>3\nw ==> 4 ==> 5\n"), ["Warning: 2 bad lines ignored."])
        self.check(self.ldb("scan", "--from=e"), ["w : 4 ==> 5", "x : 1"])
        self.check(self.load("0x6131 ==> 0x62\n", "--hex"), [])
        self.check(self.ldb("get", "a1"), ["b"])
        self.check_failure(self.load("0x6 ==> 0x62\n", "--hex"), "0x6")

    def test_a_failed_read_of_the_input_is_an_error(self):
        self.fill()
        folder = os.open(self.folder, os.O_RDONLY)  # every read of it fails
        self.addCleanup(os.close, folder)
        for command in (("load",), ("write_extern_sst", self.path("x.sst")), ("query",)):
            done = subprocess.run([PROGRAM, "--db=" + self.path("db"), *command], stdin=folder, timeout=120,
                                  capture_output=True, check=False)
            self.check_failure(done, "IO error", "standard input")

    def test_a_bulk_load_leaves_the_options_as_they_were(self):
        self.ok("put", "a", "0", "--create_if_missing", "--file_size=1234567")
        lines = "".join(f"k{i:05d} ==> {'v' * 100}{i}\n" for i in range(3000))
        self.check(self.load(lines, "--bulk_load", "--disable_wal", "--compact"), [])
        self.assertEqual(len(self.ok("scan").splitlines()), 3001)
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            text = file.read()
        for line in ("target_file_size_base=1234567", "disable_auto_compactions=false",
                     "max_write_buffer_number=2"):
            self.assertIn(line, text)
        self.assertEqual(self.levels()[0], 0)

    def test_blob_flags_store_values_in_blob_files(self):
        self.ok("put", "a", "v" * 500, "--create_if_missing", "--enable_blob_files", "--min_blob_size=100",
                "--blob_compression_type=lz4", "--db_write_buffer_size=1000000")
        self.ok("compact")
        self.assertTrue([name for name in os.listdir(self.path("db")) if name.endswith(".blob")])
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            text = file.read()
        for line in ("enable_blob_files=true", "min_blob_size=100", "blob_compression_type=kLZ4Compression",
                     "db_write_buffer_size=1000000"):
            self.assertIn(line, text)
        self.check_failure(self.ldb("put", "a", "1", "--blob_compression_type=zip"), "blob_compression_type", "zip")
        self.check_failure(self.ldb("put", "a", "1", "--min_blob_size=x"), "min_blob_size")
        self.check_failure(self.ldb("put", "a", "1", "--db_write_buffer_size=-1"), "db_write_buffer_size")
        self.check_failure(self.ldb("put", "a", "1", "--fix_prefix_len=-5"), "--fix_prefix_len: expected a number above 0, found -5")

    def test_get_prints_the_default_column_and_get_entity_all_columns(self):
        self.ok("put_entity", "k1", "zz:22", ":dflt", "a:1:2", "--create_if_missing")
        self.ok("put_entity", "k2", "b:", "c:3")
        self.ok("put", "k3", "plain")
        self.check(self.ldb("get", "k1"), ["dflt"])
        self.check(self.ldb("get", "k2"), [""])
        self.check(self.ldb("get_entity", "k1"), [":dflt a:1:2 zz:22"])
        self.check(self.ldb("get_entity", "k2"), ["b: c:3"])
        self.check(self.ldb("get_entity", "k3"), [":plain"])
        self.check(self.ldb("get_entity", "k3", "--value_hex"), [":706C61696E"])
        self.check(self.ldb("scan"), ["k1 : dflt", "k2 : ", "k3 : plain"])  # as RocksDB 7.8 prints them
        self.check(self.ldb("dump"), ["k1 ==> dflt", "k2 ==> ", "k3 ==> plain",
                                      "Keys in range: 3"])
        self.check_failure(self.ldb("get_entity", "nosuch"), "nosuch")
        self.check_failure(self.ldb("put_entity", "k", "nocolon"), "nocolon")
        self.check_failure(self.ldb("put_entity", "k", "a:1", "a:2"), "two columns of one name")

    def test_read_commands_accept_the_flags_for_options_files(self):
        self.fill()
        flags = ("--try_load_options", "--ignore_unknown_options")
        self.check(self.ldb("get", "a", *flags), ["1"])
        self.check(self.ldb("scan", "--try_load_options=false", "--to=b"), ["a : 1"])
        self.check_failure(self.ldb("get", "a", "--nosuch"), "--nosuch")

    def test_read_commands_accept_the_flags_of_writing_as_those_of_rocksdb_do(self):
        self.fill()
        flags = ("--bloom_bits=10", "--block_size=8192", "--fix_prefix_len=2", "--auto_compaction=false",
                 "--compression_type=zstd", "--compression_max_dict_bytes=1000", "--write_buffer_size=4000000",
                 "--file_size=2000000", "--db_write_buffer_size=1000000", "--disable_consistency_checks",
                 "--enable_blob_files", "--min_blob_size=10", "--blob_file_size=1000000",
                 "--blob_compression_type=zstd", "--enable_blob_garbage_collection",
                 "--blob_garbage_collection_age_cutoff=0.25", "--blob_garbage_collection_force_threshold=0.5",
                 "--blob_compaction_readahead_size=1000", "--blob_file_starting_level=1",
                 "--prepopulate_blob_cache=1", "--try_load_options", "--ignore_unknown_options")
        for command in (("get", "a"), ("multi_get", "a"), ("scan",), ("dump",), ("idump",),
                        ("approxsize", "--from=a", "--to=b"), ("checkconsistency",),
                        ("get_property", "rocksdb.stats"), ("list_column_families",), ("manifest_dump",),
                        ("dump_live_files",), ("list_live_files_metadata",), ("list_file_range_deletes",),
                        ("file_checksum_dump",)):
            self.assertEqual(self.ok(*command, *flags).count("\n"), self.ok(*command).count("\n"), command)
            self.check_failure(self.ldb(*command, "--create_if_missing"), "create_if_missing")
        self.check_failure(self.ldb("get", "a", "--compression_type=frob"), "frob")
        self.check_failure(self.ldb("get", "a", "--prepopulate_blob_cache=7"), "prepopulate_blob_cache")

    def test_explain_prints_where_a_key_was_searched(self):
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

    def test_dump_and_idump_count_keys_by_their_beginning(self):
        self.ok("batchput", "a.1", "1", "a.2", "22", "ab", "3", "b:1", "4", "--create_if_missing")
        groups = ["a => count:2\tsize:9", "ab => count:1\tsize:3", "b:1 => count:1\tsize:4"]
        for command in ("dump", "idump"):
            self.check(self.ldb(command, "--count_delim"), groups)
            self.check(self.ldb(command, "--count_delim=."), groups)
            self.check(self.ldb(command, "--count_delim=:", "--from=b"), ["b => count:1\tsize:4"])
            self.check(self.ldb(command, "--count_delim", "--from=c"), [" => count:0\tsize:0"])
            done = self.ldb(command, "--count_delim=ab")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"one character", done.stderr)

    def query(self, text, *flags):
        return subprocess.run([PROGRAM, "--db=" + self.path("db"), "query", *flags], timeout=120,
                              input=text.encode(), capture_output=True, check=False)

    def test_query_answers_line_by_line(self):
        done = self.query("help\nput k v\nget k\n\nfoo bar\nput k w\n  get   k \ndelete k\nquit\n"
                          "put never v\n", "--create_if_missing")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode().splitlines(),
                         ["get <key>", "put <key> <value>", "delete <key>", "quit",
                          "Successfully put k v", "k ==> v", "Unknown command foo bar",
                          "Successfully put k w", "k ==> w", "Successfully deleted k"])
        self.check(self.ldb("scan"), [])
        # A key that is not found is reported, does not end the session, and makes the exit code 1.
        done = self.query("get k\nput k2 v2")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, b"Not found k\nSuccessfully put k2 v2\n")
        done = self.query("put 0x6131 0x62\nget 0x6131\nget zz\n", "--hex")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith(b"Successfully put 0x6131 0x62\n0x6131 ==> 0x62\n"))
        self.check(self.ldb("scan"), ["a1 : b", "k2 : v2"])

    def test_a_backup_is_restored(self):
        self.fill()
        flags = ["--backup_dir=" + self.path("backups"), "--num_threads=2"]
        made = ["open db OK", "open backup engine OK", "create new backup OK"]
        self.check(self.ldb("backup", *flags), made)
        self.ok("put", "a", "later")
        self.check(self.ldb("backup", *flags), made)
        self.ok("put", "a", "latest")
        restored = ["open restore engine OK", "restore from backup OK"]
        for db in (self.path("db"), self.path("new")):
            self.check(self.ldb("restore", *flags, db=db), restored)
            self.check(self.ldb("scan", db=db), ["a : later", "b : 2", "c : 3", "d : 4"])
        logged = self.ldb("backup", *flags, "--stderr_log_level=1")
        self.assertIn(b"backup engine: sync: 1\n", logged.stderr)
        self.assertEqual(sorted(os.listdir(self.path("backups", "meta"))), ["1", "2", "3"])

    def test_the_logs_of_a_backup_go_to_its_wal_dir(self):
        logs = self.path("logs")
        self.ok("put", "a", "1", "--create_if_missing")
        os.mkdir(logs)
        for name in os.listdir(self.path("db")):
            if name.endswith(".log"):
                os.rename(self.path("db", name), self.path("logs", name))
        self.set_wal_dir(logs)
        flags = ["--backup_dir=" + self.path("backups")]
        self.ok("backup", *flags)
        self.ok("put", "a", "later")
        restored = ["open restore engine OK", "restore from backup OK"]
        # The old logs would be replayed, but they may be those of another database.
        self.check_failure(self.ldb("restore", *flags), "--wal_dir=" + logs)
        self.check(self.ldb("scan"), ["a : later"])
        self.check(self.ldb("restore", *flags, "--wal_dir=" + logs), restored)
        self.check(self.ldb("scan"), ["a : 1"])
        for name in os.listdir(logs):
            os.remove(self.path("logs", name))
        self.check(self.ldb("restore", *flags), restored)
        self.check(self.ldb("scan"), ["a : 1"])
        self.assertEqual([name for name in os.listdir(self.path("db")) if name.endswith(".log")], [])

    def test_backup_and_restore_refuse_missing_directories(self):
        self.fill()
        for command in ("backup", "restore"):
            self.check_failure(self.ldb(command), "--backup_dir=<directory> must be given")
            self.check_failure(self.ldb(command, "--backup_dir=x", "--num_threads=0"), "--num_threads")
        none = "--backup_dir=" + self.path("none")
        self.check_failure(self.ldb("restore", none), "NotFound: ", "none/meta is missing")
        self.check_failure(self.ldb("backup", none, db=self.path("nosuch")), "nosuch")
        self.assertFalse(os.path.exists(self.path("none")))

    def test_a_backup_in_unknown_files_is_refused(self):
        self.fill()
        for flag in ("--backup_fs_uri=unknown://", "--backup_env_uri=unknown://"):
            for command in ("backup", "restore"):
                self.check_failure(self.ldb(command, "--backup_dir=" + self.path("backups"), flag), "unknown://")
        self.assertFalse(os.path.exists(self.path("backups")))

    def test_external_tables_are_written_and_ingested(self):
        self.fill()
        table = self.path("x.sst")
        done = subprocess.run([PROGRAM, "--db=" + self.path("db"), "write_extern_sst", table],
                              input=b"Keys in range: 2\nb ==> new\nnonsense\nx ==> 9\n",
                              timeout=120, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"1 bad lines ignored", done.stderr)
        self.ok("ingest_extern_sst", table)
        self.check(self.ldb("scan"), ["a : 1", "b : new", "c : 3", "d : 4", "x : 9"])
        self.assertTrue(os.path.exists(table))
        self.ok("ingest_extern_sst", table, "--move_files")
        self.assertFalse(os.path.exists(table))
        self.ok("checkconsistency")
        for flags in (("--ingest_behind",), ("--allow_global_seqno=false",), ()):
            done = self.ldb("ingest_extern_sst", table, *flags)
            self.assertEqual(done.returncode, 1)

    def test_values_of_an_external_table_get_write_times(self):
        self.ok("--ttl", "put", "a", "1", "--create_if_missing")
        table = self.path("x.sst")
        done = subprocess.run([PROGRAM, "--db=" + self.path("db"), "--ttl", "write_extern_sst", table],
                              input=b"b ==> 2\nc ==> value\n", timeout=120, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.ok("--ttl", "ingest_extern_sst", table)
        self.check(self.ldb("--ttl", "scan"), ["a : 1", "b : 2", "c : value"])

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

    def test_compaction_drops_deleted_entries(self):
        self.fill()
        self.ok("delete", "b")
        self.check(self.ldb("compact"), [])
        self.check(self.ldb("idump", "--count_only"), ["Internal keys in range: 3"])
        self.check(self.ldb("compact", "--from=a", "--to=c"), [])
        self.check(self.ldb("scan"), ["a : 1", "c : 3", "d : 4"])

    def test_compact_rewrites_the_last_level(self):
        self.fill()
        self.ok("compact")
        before = self.ok("list_live_files_metadata")
        self.ok("compact")
        self.assertNotEqual(self.ok("list_live_files_metadata"), before)
        self.check(self.ldb("scan"), ["a : 1", "b : 2", "c : 3", "d : 4"])

    def test_flags_change_the_options_of_one_family(self):
        def sizes():
            return [self.options(family)["write_buffer_size"] for family in ("default", "users")]
        self.ok("put", "a", "1", "--create_if_missing", "--compression_type=zstd")
        self.ok("create_column_family", "users", "--write_buffer_size=3000000")
        self.assertEqual(sizes(), ["67108864", "3000000"])
        self.assertEqual(self.options("users")["compression"], "kZSTD")  # as of the default family
        self.ok("put", "a", "1", "--write_buffer_size=1234567")
        self.assertEqual(sizes(), ["1234567", "3000000"])
        self.ok("--column_family=users", "put", "a", "1", "--write_buffer_size=2345678",
                "--compression_type=lz4")
        self.assertEqual(sizes(), ["1234567", "2345678"])
        self.assertEqual(self.options("users")["compression"], "kLZ4Compression")
        self.assertEqual(self.options()["compression"], "kZSTD")
        self.ok("create_column_family", "more", "--compression_type=no")
        self.assertEqual(self.options("more")["compression"], "kNoCompression")
        self.check_failure(self.ldb("create_column_family", "other", "--compression_type=zip"), "zip")
        self.check_failure(self.ldb("put", "a", "1", "--column_family=none", "--compression_type=zip"), "zip")

    def test_automatic_compactions_are_turned_off_and_on(self):
        self.ok("put", "a", "1", "--create_if_missing", "--auto_compaction=false")
        for flags, disabled in (((), "true"), (("--auto_compaction=true",), "false"), ((), "false"),
                                (("--auto_compaction=false",), "true"), (("--auto_compaction",), "false")):
            self.ok("put", "a", "1", *flags)
            self.assertEqual(self.options()["disable_auto_compactions"], disabled, flags)

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
        # A map property is printed as a map.
        facts = dict(line.split(": ") for line in
                     self.ok("get_property", "rocksdb.dbstats").splitlines())
        self.assertEqual(facts["rocksdb.dbstats.db.user_keys_written"], "0")
        self.assertIn("** DB Stats **", self.ok("dump", "--stats"))

    def test_a_checkpoint_can_be_opened_on_its_own(self):
        self.fill()
        self.ok("compact")
        self.ok("create_column_family", "two")
        self.ok("--column_family=two", "put", "x", "y")
        self.check(self.ldb("checkpoint", "--checkpoint_dir=" + self.path("copy")), ["OK"])
        self.ok("put", "a", "later")
        self.check(self.ldb("scan", db=self.path("copy")), ["a : 1", "b : 2", "c : 3", "d : 4"])
        self.check(self.ldb("scan", "--column_family=two", db=self.path("copy")), ["x : y"])
        self.ok("checkconsistency", db=self.path("copy"))
        linked = [name for name in os.listdir(self.path("copy")) if name.endswith(".sst")
                  and os.stat(self.path("copy", name)).st_nlink > 1]
        self.assertTrue(linked, "tables are linked, not copied")
        for flags in ((), ("--checkpoint_dir=" + self.path("copy"),)):
            done = self.ldb("checkpoint", *flags)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith(b"Failed: Invalid argument: "), done.stderr)

    def test_families_in_reverse_order_are_opened_with_their_comparator(self):
        # Cuts the range deletion off the newest log: with it the sample could not be opened.
        db = self.sample_database("column_families")
        os.truncate(os.path.join(db, "000016.log"), 26467)
        text = self.ok("--column_family=reverse", "scan", "--no_value", db=db)
        keys = text.split("\n")[:-1]
        self.assertEqual(len(keys), 500)
        self.assertEqual(keys, sorted(keys, reverse=True))
        self.check(self.ldb("--column_family=reverse", "get", "key00000900", db=db), ["r"])

    def test_errors_name_the_wrong_argument(self):
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

    def test_a_missing_database_is_an_error_and_not_created(self):
        for command in (("scan",), ("put", "a", "1"), ("checkconsistency",), ("manifest_dump",),
                        ("list_column_families",), ("compact",), ("dump_live_files",)):
            self.check_failure(self.ldb(*command), self.path("db"))
            self.assertFalse(os.path.exists(self.path("db")), command)

    def test_prepared_transactions_stay_prepared_and_invisible(self):
        db = self.sample_database("txn_prepared")
        self.assertEqual(self.ldb("scan", db=db).stdout, b"a : 1\nc : committed\ne : 5\n")
        self.assertEqual(self.ldb("put", "f", "6", db=db).stdout, b"OK\n")
        self.assertEqual(self.ldb("scan", db=db).stdout, b"a : 1\nc : committed\ne : 5\nf : 6\n")
        logs = [name for name in os.listdir(db) if name.endswith(".log")]
        shown = b"".join(run(PROGRAM, "dump_wal", "--walfile=" + os.path.join(db, log)).stdout
                         for log in logs)
        self.assertIn(b"END_PREPARE(0x" + b"undecided".hex().upper().encode(), shown)

    def test_help_lists_every_command_and_explains_each(self):
        done = run(PROGRAM, "--help")
        self.assertEqual(done.returncode, 0)
        names = re.findall(r"(?m)^  ([a-z_]+)(?: [<\[-].*)?\n      \w", done.stdout.decode())
        self.assertEqual(len(names), 40)
        for name in names:
            self.assertIn(name, run(PROGRAM, name, "--help").stdout.decode())


if __name__ == "__main__":
    unittest.main()
