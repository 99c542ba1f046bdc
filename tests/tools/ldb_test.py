#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ldb as a program: each command once, on databases of its own and on those that RocksDB made, and
# what it refuses. Where RocksDB's ldb is installed, both must print the same about one directory.
import os
import re
import struct
import subprocess
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


def entries_of(text):
    """Without the properties of a table: ours has more of them. Offsets in logs as above."""
    return with_true_offsets(text.split(b"\n\nTable Properties:\n# data blocks=")[0])


def without_numbers(text):
    """The lines of a statistics text, blanks and numbers aside; and not the block cache's, which
    is another cache with other entries."""
    lines = [line for line in text.split(b"\n") if not line.startswith(b"Block cache ")]
    return [re.sub(rb" +", b" ", re.sub(rb"\b\d[0-9.]*", b"0", line)) for line in lines
            if b"stats.id: " not in line]


def index_offset(table):
    """Where the index is, by the footer of a table: format versions to 5, as RocksDB 7.8 writes them."""
    with open(table, "rb") as file:
        footer = file.read()[-52:]  # offset and size of the metaindex, then of the index
    numbers, number, shift = [], 0, 0
    for byte in footer:
        number, shift = number | (byte & 0x7f) << shift, shift + 7
        if byte < 0x80:
            numbers.append(number)
            number = shift = 0
    return numbers[2]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def log_record(payload):
    """A whole record of a log or a MANIFEST."""
    crc = crc32c(b"\x01" + payload)
    masked = ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff
    return struct.pack("<IHB", masked, len(payload), 1) + payload


def with_length(text):
    return bytes([len(text)]) + text


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x55]))


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
        counted = self.ok("dump", "--count_only").splitlines()
        self.assertEqual(counted[:3], ["Keys in range: 4", "Value size distribution: ",
                                       "Count: 4 Average: 1.0000  StdDev: 0.00"])

    def test_several_keys_are_read_together(self):
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

    def test_a_key_that_was_put_once_is_deleted_with_its_tombstone(self):
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

    def load(self, text, *flags):
        return subprocess.run([PROGRAM, "--db=" + self.path("db"), "load", *flags], timeout=120,
                              input=text.encode(), capture_output=True, check=False)

    def test_what_was_dumped_is_loaded(self):
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

    def test_a_read_that_fails_is_not_the_end_of_the_input(self):
        self.fill()
        folder = os.open(self.folder, os.O_RDONLY)  # reads of which fail
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

    def levels(self):
        """How many tables each level has."""
        counts = []
        for line in self.ok("list_live_files_metadata").splitlines():
            if line.startswith("---------- level"):
                counts.append(0)
            elif line.endswith(".sst"):
                counts[-1] += 1
        return counts

    def test_levels_are_reduced(self):
        self.fill()
        self.ok("compact")
        self.ok("put", "e", "5")
        self.ok("put", "f", "6")
        before = self.levels()
        in_use = max(i for i, count in enumerate(before) if count > 0) + 1
        self.assertGreater(in_use, 3)
        self.check(self.ldb("reduce_levels", "--new_levels=3", "--print_old_levels"),
                   [f"The old number of levels in use is {in_use}"])
        self.assertEqual(sum(self.levels()[3:]), 0)
        self.check(self.ldb("scan"), ["a : 1", "b : 2", "c : 3", "d : 4", "e : 5", "f : 6"])
        self.check(self.ldb("reduce_levels", "--new_levels=5"), [])  # nothing to do
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            self.assertIn("disable_auto_compactions=false", file.read())
        self.check_failure(self.ldb("reduce_levels"), "--new_levels")
        self.check_failure(self.ldb("reduce_levels", "--new_levels=1"), "at least 2")

    def test_a_tree_of_levels_becomes_one_run(self):
        self.fill()
        self.ok("compact")
        self.ok("put", "b", "new")
        done = self.ldb("change_compaction_style", "--old_compaction_style=0", "--new_compaction_style=1")
        lines = done.stdout.decode().splitlines()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(lines[0].startswith("files per level before compaction: 1,"), lines)
        self.assertEqual(lines[1], "files per level after compaction: 1,0,0,0,0,0,0")
        self.assertEqual(self.levels(), [1, 0, 0, 0, 0, 0, 0])
        self.check(self.ldb("scan"), ["a : 1", "b : new", "c : 3", "d : 4"])
        for old, new, word in ((1, 0, "nothing to do"), (0, 0, "nothing to do"), (0, 2, "new_compaction_style"),
                               (2, 1, "old_compaction_style")):
            self.check_failure(self.ldb("change_compaction_style", f"--old_compaction_style={old}",
                                        f"--new_compaction_style={new}"), word)

    def test_the_report_draws_the_tree(self):
        self.ok("put", "<key>", "1", "--create_if_missing")
        lines = "".join(f"k{i:05d} ==> {'v' * 100}{i}\n" for i in range(3000))
        self.check(self.load(lines, "--write_buffer_size=65536", "--compact"), [])
        self.ok("deleterange", "k00", "k01")
        self.ok("delete", "k01500")
        self.ok("create_column_family", "<two>")
        before = state_of(self.path("db"))
        out = self.path("page.html")
        self.check(self.ldb("report", "--output=" + out), ["report written to file " + out])
        self.assertEqual(state_of(self.path("db")), before)  # nothing is touched
        with open(out, encoding="utf-8") as file:
            page = file.read()
        for outside in ("http:", "https:", "src=", "<link", "@import", "url("):
            self.assertNotIn(outside, page)  # all of it is in the one file
        for part in ("Where the space is", "What keeps space", "What a read meets", "How old it is",
                     "What was written", "Family &quot;default&quot;", "Family &quot;&lt;two&gt;&quot;",
                     "&#39;" if "&#39;" in page else "'&lt;key&gt;'"):
            self.assertIn(part, page)
        self.assertNotIn("<two>", page)
        tables = sum(name.endswith(".sst") for name in before)
        self.assertIn(f"<b>{tables}</b><span>tables</span>", page)
        self.assertEqual(page.count("<svg"), page.count("</svg>"))
        self.assertRegex(page, r"<b>[\d.]+</b><span>write amplification</span>")
        for tag in ("section", "table", "g", "p"):
            self.assertEqual(len(re.findall(f"<{tag}[ >]", page)), page.count(f"</{tag}>"), tag)

    def test_no_report_is_left_of_a_damaged_tree(self):
        self.fill()
        self.ok("compact")
        table = next(name for name in os.listdir(self.path("db")) if name.endswith(".sst"))
        os.truncate(self.path("db", table), 100)
        out = self.path("page.html")
        self.check_failure(self.ldb("report", "--output=" + out), table)
        self.assertFalse(os.path.exists(out))

    def test_the_report_knows_trees_of_rocksdb(self):
        for name in ("levels_lz4", "blob", "rangedel_levels", "column_families", "empty"):
            db = self.sample_database(name)
            self.ok("report", db=db)
            with open(db + "_report.html", encoding="utf-8") as file:
                self.assertIn("Where the space is", file.read())

    def test_blob_flags_put_values_into_blob_files(self):
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

    def test_entities_are_shown_by_their_default_column_and_by_columns(self):
        self.ok("put_entity", "k1", "zz:22", ":dflt", "a:1:2", "--create_if_missing")
        self.ok("put_entity", "k2", "b:", "c:3")
        self.ok("put", "k3", "plain")
        self.check(self.ldb("get", "k1"), ["dflt"])
        self.check(self.ldb("get", "k2"), [""])
        self.check(self.ldb("get_entity", "k1"), [":dflt a:1:2 zz:22"])
        self.check(self.ldb("get_entity", "k2"), ["b: c:3"])
        self.check(self.ldb("get_entity", "k3"), [":plain"])
        self.check(self.ldb("get_entity", "k3", "--value_hex"), [":706C61696E"])
        self.check(self.ldb("scan"), ["k1 : dflt", "k2 : ", "k3 : plain"])  # as RocksDB 7.8's
        self.check(self.ldb("dump"), ["k1 ==> dflt", "k2 ==> ", "k3 ==> plain",
                                      "Keys in range: 3"])
        self.check_failure(self.ldb("get_entity", "nosuch"), "nosuch")
        self.check_failure(self.ldb("put_entity", "k", "nocolon"), "nocolon")
        self.check_failure(self.ldb("put_entity", "k", "a:1", "a:2"), "two columns of one name")

    def test_read_commands_take_the_flags_about_options_files_too(self):
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

    def test_dump_and_idump_count_keys_that_begin_alike(self):
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

    def test_dump_of_a_file_needs_no_database(self):
        self.fill()
        self.ok("compact")
        self.ok("put", "e", "5")
        shown = {}
        for name in os.listdir(self.path("db")):
            done = run(PROGRAM, "dump", "--path=" + self.path("db", name))
            kind = name.split("-")[0].split(".")[-1]
            self.assertEqual(done.returncode, 0 if kind in ("sst", "log", "MANIFEST") else 1, name)
            shown[kind] = shown.get(kind, "") + done.stdout.decode()
        self.assertIn("'a' seq:0, type:1 => 1\n", shown["sst"])
        self.assertIn("\n\nTable Properties:\n# data blocks=1\n# entries=4\n", shown["sst"])
        self.assertIn("Key(s) : value \n5,1,17,", shown["log"])
        self.assertIn("PUT(0) : 0x65 : 0x35 \n", shown["log"])
        self.assertIn('Column family "default"', shown["MANIFEST"])
        self.assertEqual(run(PROGRAM, "dump").returncode, 1)
        self.assertEqual(run(PROGRAM, "dump", "--path=" + self.path("db")).returncode, 1)

    def test_dump_of_a_blob_file_ends_where_it_is_damaged(self):
        db = self.sample_database("blob")
        path = sorted(os.path.join(db, name) for name in os.listdir(db) if name.endswith(".blob"))[0]
        with open(path, "rb") as file:
            whole = file.read()
        shown = run(PROGRAM, "dump", "--path=" + path)
        self.assertEqual(shown.returncode, 0)
        self.assertIn(b"Blob log footer:\n  Blob count       : ", shown.stdout)
        records = shown.stdout.count(b"Read record with offset ")
        self.assertIn(b"  total records: %d\n" % records, shown.stdout)
        for at in (0, 31, 50, 70):
            damaged = bytearray(whole)
            damaged[at] ^= 0x55
            with open(path, "wb") as file:
                file.write(damaged)
            done = run(PROGRAM, "dump", "--path=" + path)
            self.assertEqual(done.returncode, 1, at)
            self.assertIn(b"Corruption", done.stderr, at)
        for size in (0, 10, 30, 45, 64, len(whole) - 10):
            with open(path, "wb") as file:
                file.write(whole[:size])
            done = run(PROGRAM, "dump", "--path=" + path)
            self.assertEqual(done.returncode, 0 if size == 30 else 1, size)
        live = run(PROGRAM, "dump_live_files", "--db=" + db)
        self.assertIn(b"Blob log header:", live.stdout)

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
        # What is not there is said, ends nothing, and shows in the exit code.
        done = self.query("get k\nput k2 v2")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, b"Not found k\nSuccessfully put k2 v2\n")
        done = self.query("put 0x6131 0x62\nget 0x6131\nget zz\n", "--hex")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith(b"Successfully put 0x6131 0x62\n0x6131 ==> 0x62\n"))
        self.check(self.ldb("scan"), ["a1 : b", "k2 : v2"])

    def test_a_checkpoint_is_a_database_of_its_own(self):
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

    def test_tables_are_made_outside_and_taken_in(self):
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

    def test_live_files_are_listed_by_level_and_by_name(self):
        self.fill()
        self.ok("compact")
        self.ok("create_column_family", "two")
        listed = self.ok("list_live_files_metadata").splitlines()
        self.assertEqual(listed[:3], ["===== Column Family: default =====", "Live SST Files:",
                                      "---------- level 0 ----------"])
        tables = [line for line in listed if line.endswith(".sst")]
        self.assertEqual(sorted(tables), sorted(self.path("db", name)
                         for name in os.listdir(self.path("db")) if name.endswith(".sst")))
        self.assertEqual(listed.count("---------- level 6 ----------"), 2)
        by_name = self.ok("list_live_files_metadata", "--sort_by_filename").splitlines()
        self.assertEqual(by_name[0], "Live SST and Blob Files:")
        self.assertRegex(by_name[1], r"\.sst : level \d, column family 'default'$")
        self.assertEqual(by_name[-1], "-" * 30)

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
        # As a map where there is one.
        facts = dict(line.split(": ") for line in
                     self.ok("get_property", "rocksdb.dbstats").splitlines())
        self.assertEqual(facts["rocksdb.dbstats.db.user_keys_written"], "0")
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

    def test_without_current_the_newest_manifest_is_shown(self):
        self.fill()
        current = self.path("db", "CURRENT")
        with open(self.path("db", "MANIFEST-000001"), "wb") as older:
            older.write(b"of long ago")
        for command in (("manifest_dump",), ("list_live_files_metadata",), ("dump_live_files",),
                        ("file_checksum_dump",), ("list_file_range_deletes",)):
            before = self.ok(*command)
            for damage in (None, b"", b"rubbish", b"MANIFEST-999999\n"):
                with open(current, "rb") as file:
                    right = file.read()
                os.unlink(current)
                if damage is not None:
                    with open(current, "wb") as file:
                        file.write(damage)
                done = self.ldb(*command)
                self.assertEqual((done.returncode, done.stdout.decode("latin-1")), (0, before), done.stderr)
                self.assertIn(right.strip(), done.stderr)
                with open(current, "wb") as file:
                    file.write(right)
        os.unlink(current)
        for command in (("get", "a"), ("scan",), ("put", "a", "1"), ("checkconsistency",), ("compact",),
                        ("put", "a", "1", "--create_if_missing"), ("unsafe_remove_sst_file", "9")):
            self.check_failure(self.ldb(*command), "CURRENT")
        self.assertFalse(os.path.exists(current))

    def test_of_a_damaged_manifest_the_edits_before_the_damage_are_shown(self):
        self.fill()
        self.ok("create_column_family", "users")
        self.ok("put", "e", "5")  # begins with a MANIFEST that was synced as a whole
        with open(self.path("db", "CURRENT"), encoding="utf-8") as file:
            manifest = self.path("db", file.read().strip())
        os.truncate(manifest, os.path.getsize(manifest) - 3)
        done = self.ldb("manifest_dump")
        self.check_failure(done, manifest)
        self.assertIn(b'Column family "users"', done.stdout)
        for content in (b"", b"rubbish" * 99):
            with open(manifest, "wb") as file:
                file.write(content)
            for command in ("manifest_dump", "list_column_families", "scan", "checkconsistency"):
                self.check_failure(self.ldb(command), manifest)

    def test_a_log_that_the_manifest_needs_may_not_be_missing(self):
        self.fill()
        for name in os.listdir(self.path("db")):
            if name.endswith(".log"):
                os.unlink(self.path("db", name))
        for command in (("scan",), ("checkconsistency",), ("dump_live_files",), ("put", "a", "1")):
            self.check_failure(self.ldb(*command), ".log")

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

    def test_checkconsistency_opens_tables_and_measures_blob_files(self):
        db = self.sample_database("levels_lz4")
        table = os.path.join(db, "000064.sst")
        flip(table, index_offset(table) + 9)  # of the size that the MANIFEST says, but it cannot be opened
        self.check_failure(self.ldb("checkconsistency", db=db), "Corruption", table)
        db = self.sample_database("blob")
        self.check(self.ldb("checkconsistency", db=db), ["OK"])
        blob = os.path.join(db, "000010.blob")
        os.truncate(blob, os.path.getsize(blob) - 1)
        self.check_failure(self.ldb("checkconsistency", db=db), "Corruption", blob, "19528", "19527")

    def test_files_in_several_directories_are_found(self):
        db = self.sample_database("blob")
        names = sorted(name for name in os.listdir(db) if name.endswith((".sst", ".blob")))
        dirs = [self.path("fast"), self.path("slow")]
        for i, name in enumerate(names):
            if i < 2:
                os.makedirs(dirs[i])
            os.rename(os.path.join(db, name), os.path.join(dirs[i % 2], name))
        with open(os.path.join(dirs[1], "999999.sst"), "wb"):
            pass  # of nobody
        flag = "--db_paths=" + ",".join(dirs) + "/"
        self.check_failure(self.ldb("checkconsistency", db=db), "000")
        self.check_failure(self.ldb("checkconsistency", flag + "," + self.path("nosuch"), db=db), "nosuch")
        self.check_silent(self.ldb("checkconsistency", flag, db=db), ["OK"])
        dumped = self.ok("dump_live_files", flag, db=db)
        listed = self.ok("list_live_files_metadata", flag, db=db)
        for i, name in enumerate(names):
            self.assertIn(os.path.join(dirs[i % 2], name), dumped)
            self.assertIn(os.path.join(dirs[i % 2], name) + "\n", listed)
        self.check_failure(self.ldb("report", db=db), ".sst")
        self.ok("report", flag, db=db)
        with open(db + "_report.html", encoding="utf-8") as file:
            self.assertIn("<td>1 file</td>", file.read())  # that no version has
        self.assertIn(dirs[0], self.ok("list_file_range_deletes", flag, db=db))

    def test_a_database_in_several_directories_is_read_when_they_are_named(self):
        self.fill()
        self.ok("create_column_family", "other")
        self.ok("--column_family=other", "put", "o", "5")
        self.ok("compact")
        self.ok("--column_family=other", "compact")
        listed = self.ok("list_live_files_metadata", "--sort_by_filename").split("\n")
        tables = [line.split(" : level")[0] for line in listed if " : level" in line]
        self.assertEqual(len(tables), 2)
        for table, folder in zip(tables, ("fast", "slow")):
            os.mkdir(self.path(folder))
            os.rename(table, self.path(folder, os.path.basename(table)))
        missing = os.path.basename(tables[0]).split(".")[0].lstrip("0")
        self.check_failure(self.ldb("get", "a"), "table " + missing, "--db_paths=<dir>")
        flag = "--db_paths=" + self.path("slow") + "," + self.path("fast")
        self.check(self.ldb("get", "a", flag), ["1"])
        self.check(self.ldb("scan", flag, "--to=c"), ["a : 1", "b : 2"])
        self.check(self.ldb("--column_family=other", "dump", flag), ["o ==> 5", "Keys in range: 1"])
        self.check(self.ldb("multi_get", "a", "b", flag), ["a ==> 1", "b ==> 2"])
        self.ok("explain", "--key=a", flag)
        self.ok("idump", flag)
        self.check(self.ldb("checkconsistency", flag), ["OK"])

    def manifest_without_timestamps(self):
        """Of a database whose two tables of level 1 have lost the timestamps that its comparator wants."""
        def table(number, smallest, largest):
            keys = [with_length(key + struct.pack("<Q", 1 << 8 | 1)) for key in (smallest, largest)]
            return bytes([103, 1, number, 100]) + b"".join(keys) + b"\x01\x01" + b"\x10\x01\x00" + b"\x01"
        os.mkdir(self.path("db"))
        with open(self.path("db", "MANIFEST-000005"), "wb") as file:
            file.write(log_record(b"\x01" + with_length(b"leveldb.BytewiseComparator.u64ts") +
                                  b"\x02\x04\x03\x0a\x04\x09" + table(7, b"a", b"b") + table(8, b"c", b"d")))
        with open(self.path("db", "CURRENT"), "w", encoding="utf-8") as file:
            file.write("MANIFEST-000005\n")

    def test_keys_that_lost_their_timestamps_are_not_compared(self):
        self.manifest_without_timestamps()
        text = self.ok("manifest_dump")
        self.assertIn("leveldb.BytewiseComparator.u64ts, but tables are without timestamps", text)
        self.assertLess(text.index(" 7:100[1 .. 1]['a' "), text.index(" 8:100[1 .. 1]['c' "))
        for command in (("checkconsistency",), ("report",)):
            self.check_failure(self.ldb(*command), self.path("db", "000007.sst"))  # which is not there

    def test_file_checksum_dump_prints_what_the_manifest_has(self):
        db = self.sample_database("levels_lz4")
        lines = [f"{number}, Unknown, " for number in (62, 63, 64, 65, 70, 71)]
        lines.append("Print SST file checksum information finished ")
        self.check(self.ldb("file_checksum_dump", db=db), lines)
        self.check(self.ldb("file_checksum_dump", "--hex", db=db), lines)
        manifest = "--path=" + os.path.join(db, "MANIFEST-000005")
        self.check(run(PROGRAM, "file_checksum_dump", manifest), lines)
        self.check_failure(run(PROGRAM, "file_checksum_dump"), "--db")

    def test_a_removed_table_is_gone_and_the_others_are_there(self):
        db = self.sample_database("levels_lz4")
        whole = self.ok("dump", db=db)
        with open(os.path.join(db, "000064.sst"), "r+b") as table:
            table.truncate(100)  # nothing of it can be read
        self.check_failure(self.ldb("dump", db=db), "000064.sst")
        done = self.ldb("unsafe_remove_sst_file", "64", db=db)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, b"", b"unsafely removed SST file\n"))
        self.assertNotIn("000064.sst", self.ok("list_live_files_metadata", db=db))
        self.check(self.ldb("checkconsistency", db=db), ["OK"])
        rest = self.ok("dump", db=db)
        self.assertLess(len(rest), len(whole))
        self.assertGreater(rest.count("\n"), 100)
        self.ok("put", "another", "key", db=db)  # the next open deletes the file
        self.assertFalse(os.path.exists(os.path.join(db, "000064.sst")))
        for number in ("64", "99999"):
            self.check_failure(self.ldb("unsafe_remove_sst_file", number, db=db), "NotFound", number)
        for number in ("x", "12x", "-1", ""):
            self.check_failure(self.ldb("unsafe_remove_sst_file", number, db=db), "number")

    def test_a_blob_file_goes_with_the_last_table_that_needs_it(self):
        self.ok("put", "a", "1", "--create_if_missing", "--enable_blob_files", "--min_blob_size=0")
        self.ok("compact")
        names = os.listdir(self.path("db"))
        blob = next(name for name in names if name.endswith(".blob"))
        table = next(name for name in names if name.endswith(".sst"))
        self.assertIn(blob, self.ok("dump_live_files"))
        self.ok("unsafe_remove_sst_file", str(int(table.split(".")[0])))
        os.unlink(self.path("db", blob))  # as an open database does at once
        self.check(self.ldb("checkconsistency"), ["OK"])
        self.assertNotIn(blob, self.ok("dump_live_files"))
        # Those of a table that stays do stay.
        self.ok("put", "b", "2")
        self.ok("compact")
        newer = next(name for name in os.listdir(self.path("db")) if name.endswith(".blob"))
        self.assertIn(newer, self.ok("dump_live_files"))
        os.unlink(self.path("db", newer))
        self.check_failure(self.ldb("checkconsistency"), newer)

    def test_a_table_of_an_open_database_is_not_removed(self):
        db = self.sample_database("levels_lz4")
        with subprocess.Popen([PROGRAM, "--db=" + db, "query"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as holder:
            holder.stdin.write(b"put a 1\n")
            holder.stdin.flush()
            self.assertIn(b"put a 1", holder.stdout.readline())  # so it has opened it
            live = self.ok("list_live_files_metadata", db=db)
            self.check_failure(self.ldb("unsafe_remove_sst_file", "64", db=db), "LOCK")
            self.assertEqual(self.ok("list_live_files_metadata", db=db), live)
            holder.communicate(b"quit\n")

    @needs(REFERENCE is not None, "ldb of RocksDB 7.8")
    def test_rocksdb_reads_a_database_without_the_table_as_we_do(self):
        db = self.sample_database("levels_lz4")
        sums = [sorted(self.ldb("file_checksum_dump", db=db, tool=tool).stdout.split(b"\n"))
                for tool in (PROGRAM, REFERENCE)]
        self.assertEqual(sums[0], sums[1])
        self.ok("unsafe_remove_sst_file", "64", db=db)
        dumps = [self.ldb("dump", "--hex", db=db, tool=tool).stdout for tool in (PROGRAM, REFERENCE)]
        self.assertEqual(dumps[0], dumps[1])

    def test_read_commands_find_logs_and_operators_by_the_options_file(self):
        db = self.sample_database("merge")
        self.assertIn("base,m2.17", self.ok("scan", db=db))
        self.check_failure(self.ldb("scan", "--try_load_options=false", db=db), "merge_operator")
        self.move_logs_away()
        self.check_silent(self.ldb("get", "a"), ["1"])

    def move_logs_away(self):
        """A database of one pair, and the path of its log in another directory."""
        self.ok("put", "a", "1", "--create_if_missing")
        os.mkdir(self.path("logs"))
        name, = [name for name in os.listdir(self.path("db")) if name.endswith(".log")]
        os.rename(self.path("db", name), self.path("logs", name))
        self.set_wal_dir(self.path("logs"))
        return self.path("logs", name)

    def report(self):
        self.ok("report", "--output=" + self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8") as file:
            return file.read()

    def test_what_shows_files_finds_logs_by_the_options_file(self):
        log = self.move_logs_away()
        for line in (log + "\n", "PUT(0) : 0x61 : 0x31 \n"):
            self.assertIn(line, self.ok("dump_live_files"))
            done = self.ldb("dump_live_files", "--try_load_options=false")
        self.check_failure(done, ".log: the MANIFEST needs this log")
        self.assertNotIn(line.encode(), done.stdout)
        self.assertIn("<td>1 log</td>", self.report())
        # Beside the tables, under another name of that directory: there is no second log.
        os.rename(log, self.path("db", os.path.basename(log)))
        os.symlink(self.path("db"), self.path("alias"))
        self.set_wal_dir(self.path("alias"))
        self.assertEqual(self.ok("dump_live_files").count("PUT(0) : 0x61 : 0x31 \n"), 1)
        self.assertIn("<td>1 log</td>", self.report())

    def set_wal_dir(self, wal_dir):
        """In the OPTIONS files, as if another directory had been copied to this one."""
        for name in os.listdir(self.path("db")):
            if not name.startswith("OPTIONS"):
                continue
            with open(self.path("db", name), encoding="utf-8") as file:
                text = file.read()
            with open(self.path("db", name), "w", encoding="utf-8") as file:
                file.write(re.sub("(?m)^  wal_dir=.*$", "  wal_dir=" + wal_dir, text))

    def check_silent(self, done, lines):
        self.check(done, lines)
        self.assertEqual(done.stderr, b"")

    def check_log_is_found(self, wal_dir, note):
        """The one beside the tables, with the note on stderr until the OPTIONS file is written again."""
        note = f"ldb: wal_dir {wal_dir} of the OPTIONS file {note}\n".encode()
        self.ok("put", "a", "1", "--create_if_missing")
        self.set_wal_dir(wal_dir)
        for command, lines in ((("get", "a"), ["1"]), (("scan",), ["a : 1"]), (("put", "b", "2"), ["OK"])):
            done = self.ldb(*command)
            self.check(done, lines)
            self.assertEqual(done.stderr, note, command)
        self.check_silent(self.ldb("scan"), ["a : 1", "b : 2"])

    def test_a_wal_dir_that_does_not_exist_is_not_asked(self):
        self.check_log_is_found(self.path("nosuch"), "does not exist")
        self.assertFalse(os.path.exists(self.path("nosuch")))

    def test_a_wal_dir_is_not_asked_if_the_logs_are_beside_the_tables(self):
        os.mkdir(self.path("logs"))
        with open(self.path("logs", "000004.log"), "wb"):
            pass  # of the original
        self.check_log_is_found(self.path("logs"), "is not asked: the database's own directory has its logs")
        self.assertEqual(os.listdir(self.path("logs")), ["000004.log"])

    def test_a_wal_dir_may_be_another_name_of_the_directory(self):
        self.ok("put", "a", "1", "--create_if_missing")
        os.symlink(self.path("db"), self.path("alias"))
        for name in (self.path("db") + "/", self.path("alias")):
            self.set_wal_dir(name)
            self.check_silent(self.ldb("get", "a"), ["1"])

    def test_a_wal_dir_that_cannot_be_looked_at_is_an_error(self):
        self.ok("put", "a", "1", "--create_if_missing")
        os.symlink("circle", self.path("circle"))
        self.set_wal_dir(self.path("circle"))
        self.check_failure(self.ldb("put", "b", "2"), self.path("circle"))  # it may have the logs

    def test_read_commands_change_nothing(self):
        db = self.sample_database("basic_snappy")
        before = state_of(db)
        for command in (("get", "key00000001"), ("scan",), ("dump", "--stats"), ("idump",),
                        ("approxsize", "--from=a", "--to=b"), ("checkconsistency",),
                        ("list_column_families",), ("manifest_dump", "--verbose"),
                        ("dump_live_files",), ("get_property", "rocksdb.stats"),
                        ("file_checksum_dump",)):
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
        db = self.sample_database("txn_prepared")
        self.check_failure(self.ldb("scan", db=db), "Not implemented", "prepared")

    def test_help_names_every_command_and_explains_each(self):
        done = run(PROGRAM, "--help")
        self.assertEqual(done.returncode, 0)
        names = re.findall(r"(?m)^  ([a-z_]+)(?: [<\[-].*)?\n      \w", done.stdout.decode())
        self.assertEqual(len(names), 36)
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
                            ("dump", "--count_delim=1"),
                            ("dump", "--count_only"), ("idump", "--count_only"),
                            ("scan", "--from=key0000001", "--to=key00000050", "--value_hex"),
                            ("approxsize", "--from=a", "--to=z")):
                ours, theirs = self.both(*command, db=db)
                self.assertEqual(ours, theirs, (name, command))
            # RocksDB's idump takes the size of a value up to its first zero byte.
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
                for flags in ((), ("--header", "--print_value")):
                    arguments = ("dump_wal", "--walfile=" + os.path.join(db, log), *flags)
                    ours, theirs = run(PROGRAM, *arguments), run(REFERENCE, *arguments)
                    self.assertEqual(ours.stdout, with_true_offsets(theirs.stdout), (name, log))
                    compared += 1
        self.assertGreater(compared, 40)

    def test_blob_files_and_references_to_them_print_the_same(self):
        db = self.sample_database("blob")
        compared = 0
        for file in sorted(os.listdir(db)):
            if not file.endswith((".blob", ".sst")):
                continue
            for flags in (("--hex",), ("--hex", "--dump_uncompressed_blobs", "--decode_blob_index")):
                arguments = ("dump", "--path=" + os.path.join(db, file), *flags)
                ours, theirs = run(PROGRAM, *arguments), run(REFERENCE, *arguments)
                self.assertEqual((ours.returncode, theirs.returncode), (0, 0), file)
                # Without compression RocksDB says nothing behind "raw blob".
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

    def test_rocksdb_opens_what_other_levels_made(self):
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

    def test_a_file_dumped_by_itself_prints_the_same(self):
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

    def check_handed_back(self, db):
        """Ours writes, then RocksDB's does on the same directory, without any flag."""
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

    def test_a_directory_of_rocksdb_stays_one_when_ldb_writes_to_it(self):
        for name in ("empty", "basic_snappy", "levels_lz4", "wal_crash", "format_v2_legacy_bloom",
                     "ingest", "column_families"):
            with self.subTest(database=name):
                self.check_handed_back(self.sample_database(name))

    def test_so_does_one_of_db_bench_which_names_its_listeners(self):
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


if __name__ == "__main__":
    unittest.main()
