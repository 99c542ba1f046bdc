#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ldb as a program: the commands that read or change the files of a database without opening it, those
# that move files between levels, and where all commands find files in other directories.
import os
import re
import struct
import subprocess
import unittest

from ldb_support import PROGRAM, LdbToolTest
from tool_support import needs, run, state_of


def index_offset(table):
    """The offset of the index in the footer of a table of format version 5 or older."""
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
    """A complete record of a log or a MANIFEST."""
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
class LdbFilesTest(LdbToolTest):
    def test_reduce_levels_moves_all_files_up(self):
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

    def test_change_compaction_style_makes_one_run(self):
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

    def test_report_draws_the_tree(self):
        self.ok("put", "<key>", "1", "--create_if_missing")
        lines = "".join(f"k{i:05d} ==> {'v' * 100}{i}\n" for i in range(3000))
        self.check(self.load(lines, "--write_buffer_size=65536", "--compact"), [])
        self.ok("deleterange", "k00", "k01")
        self.ok("delete", "k01500")
        self.ok("create_column_family", "<two>")
        before = state_of(self.path("db"))
        out = self.path("page.html")
        self.check(self.ldb("report", "--output=" + out), ["report written to file " + out])
        self.assertEqual(state_of(self.path("db")), before)  # the directory is unchanged
        with open(out, encoding="utf-8") as file:
            page = file.read()
        for outside in ("http:", "https:", "src=", "<link", "@import", "url("):
            self.assertNotIn(outside, page)  # the page loads nothing
        for part in ("Use of space", "Space that could be freed", "Cost of reads", "Age of the data",
                     "Bytes written", "Family &quot;default&quot;", "Family &quot;&lt;two&gt;&quot;",
                     "&#39;" if "&#39;" in page else "'&lt;key&gt;'"):
            self.assertIn(part, page)
        self.assertNotIn("<two>", page)
        tables = sum(name.endswith(".sst") for name in before)
        self.assertIn(f"<b>{tables}</b><span>tables</span>", page)
        self.assertEqual(page.count("<svg"), page.count("</svg>"))
        self.assertRegex(page, r"<b>[\d.]+</b><span>write amplification</span>")
        for tag in ("section", "table", "g", "p"):
            self.assertEqual(len(re.findall(f"<{tag}[ >]", page)), page.count(f"</{tag}>"), tag)

    def test_a_damaged_tree_leaves_no_report(self):
        self.fill()
        self.ok("compact")
        table = next(name for name in os.listdir(self.path("db")) if name.endswith(".sst"))
        os.truncate(self.path("db", table), 100)
        out = self.path("page.html")
        self.check_failure(self.ldb("report", "--output=" + out), table)
        self.assertFalse(os.path.exists(out))

    def test_report_draws_databases_of_rocksdb(self):
        for name in ("levels_lz4", "blob", "rangedel_levels", "column_families", "empty"):
            db = self.sample_database(name)
            self.ok("report", db=db)
            with open(db + "_report.html", encoding="utf-8") as file:
                self.assertIn("Use of space", file.read())

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

    def test_dump_of_a_blob_file_ends_at_damage(self):
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

    def test_manifest_dump_prints_the_edits_and_the_final_state(self):
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

    def test_manifest_dump_of_another_file_fails(self):
        self.fill()
        self.check_failure(run(PROGRAM, "manifest_dump", "--path=" + self.path("db", "CURRENT")),
                           "CURRENT")
        self.check_failure(run(PROGRAM, "manifest_dump", "--path=" + self.path("absent")), "absent")
        self.check_failure(run(PROGRAM, "manifest_dump"), "--db")

    def test_dump_wal_prints_one_batch_per_line(self):
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

    def test_dump_wal_continues_after_damage_and_fails(self):
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
        flip(table, index_offset(table) + 9)  # the size is right, but the table cannot be opened
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
            pass  # not part of the database
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
            self.assertIn("<td>1 file</td>", file.read())  # the obsolete one
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
        second = "--secondary_path=" + self.path("own")
        self.check(self.ldb("scan", flag, second, "--to=c"), ["a : 1", "b : 2"])
        self.check_failure(self.ldb("scan", second), ".sst")

    def manifest_without_timestamps(self):
        """The MANIFEST of a database with a comparator with timestamps and two tables of level 1 without."""
        def table(number, smallest, largest):
            keys = [with_length(key + struct.pack("<Q", 1 << 8 | 1)) for key in (smallest, largest)]
            return bytes([103, 1, number, 100]) + b"".join(keys) + b"\x01\x01" + b"\x10\x01\x00" + b"\x01"
        os.mkdir(self.path("db"))
        with open(self.path("db", "MANIFEST-000005"), "wb") as file:
            file.write(log_record(b"\x01" + with_length(b"leveldb.BytewiseComparator.u64ts") +
                                  b"\x02\x04\x03\x0a\x04\x09" + table(7, b"a", b"b") + table(8, b"c", b"d")))
        with open(self.path("db", "CURRENT"), "w", encoding="utf-8") as file:
            file.write("MANIFEST-000005\n")

    def test_keys_without_timestamps_are_not_compared(self):
        self.manifest_without_timestamps()
        text = self.ok("manifest_dump")
        self.assertIn("leveldb.BytewiseComparator.u64ts, but its tables were written without timestamps", text)
        self.assertLess(text.index(" 7:100[1 .. 1]['a' "), text.index(" 8:100[1 .. 1]['c' "))
        for command in (("checkconsistency",), ("report",)):
            self.check_failure(self.ldb(*command), self.path("db", "000007.sst"))  # the file is missing

    def test_file_checksum_dump_prints_the_checksums_of_the_manifest(self):
        db = self.sample_database("levels_lz4")
        lines = [f"{number}, Unknown, " for number in (62, 63, 64, 65, 70, 71)]
        lines.append("Print SST file checksum information finished ")
        self.check(self.ldb("file_checksum_dump", db=db), lines)
        self.check(self.ldb("file_checksum_dump", "--hex", db=db), lines)
        manifest = "--path=" + os.path.join(db, "MANIFEST-000005")
        self.check(run(PROGRAM, "file_checksum_dump", manifest), lines)
        self.check_failure(run(PROGRAM, "file_checksum_dump"), "--db")

    def test_unsafe_remove_sst_file_removes_one_table(self):
        db = self.sample_database("levels_lz4")
        whole = self.ok("dump", db=db)
        with open(os.path.join(db, "000064.sst"), "r+b") as table:
            table.truncate(100)  # unreadable
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

    def test_a_blob_file_is_live_until_the_last_table_that_needs_it_is_removed(self):
        self.ok("put", "a", "1", "--create_if_missing", "--enable_blob_files", "--min_blob_size=0")
        self.ok("compact")
        names = os.listdir(self.path("db"))
        blob = next(name for name in names if name.endswith(".blob"))
        table = next(name for name in names if name.endswith(".sst"))
        self.assertIn(blob, self.ok("dump_live_files"))
        self.ok("unsafe_remove_sst_file", str(int(table.split(".")[0])))
        os.unlink(self.path("db", blob))  # an open database deletes it at once
        self.check(self.ldb("checkconsistency"), ["OK"])
        self.assertNotIn(blob, self.ok("dump_live_files"))
        # A blob file of a live table is live.
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
            self.assertIn(b"put a 1", holder.stdout.readline())  # so the database is open
            live = self.ok("list_live_files_metadata", db=db)
            self.check_failure(self.ldb("unsafe_remove_sst_file", "64", db=db), "LOCK")
            self.assertEqual(self.ok("list_live_files_metadata", db=db), live)
            holder.communicate(b"quit\n")

    def test_read_commands_find_logs_and_merge_operators_through_the_options_file(self):
        db = self.sample_database("merge")
        self.assertIn("base,m2.17", self.ok("scan", db=db))
        self.check_failure(self.ldb("scan", "--try_load_options=false", db=db), "merge_operator")
        self.move_logs_away()
        self.check_silent(self.ldb("get", "a"), ["1"])

    def move_logs_away(self):
        """Makes a database with one pair and moves its log to another directory; returns the log's path."""
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

    def test_commands_that_print_files_find_logs_through_the_options_file(self):
        log = self.move_logs_away()
        for line in (log + "\n", "PUT(0) : 0x61 : 0x31 \n"):
            self.assertIn(line, self.ok("dump_live_files"))
            done = self.ldb("dump_live_files", "--try_load_options=false")
            self.check_failure(done, ".log: the MANIFEST needs this log")
            self.assertNotIn(line.encode(), done.stdout)
        self.assertIn("<td>1 log</td>", self.report())
        # wal_dir is another path of the database's own directory: the log is listed once.
        os.rename(log, self.path("db", os.path.basename(log)))
        os.symlink(self.path("db"), self.path("alias"))
        self.set_wal_dir(self.path("alias"))
        self.assertEqual(self.ok("dump_live_files").count("PUT(0) : 0x61 : 0x31 \n"), 1)
        self.assertIn("<td>1 log</td>", self.report())

    def check_log_is_found(self, wal_dir, note):
        """The log next to the tables is used, with the note on stderr until the OPTIONS file is rewritten."""
        note = f"ldb: wal_dir {wal_dir} of the OPTIONS file or the program {note}\n".encode()
        self.ok("put", "a", "1", "--create_if_missing")
        self.set_wal_dir(wal_dir)
        for command, lines in ((("get", "a"), ["1"]), (("scan",), ["a : 1"]), (("put", "b", "2"), ["OK"])):
            done = self.ldb(*command)
            self.check(done, lines)
            self.assertEqual(done.stderr, note, command)
        self.check_silent(self.ldb("scan"), ["a : 1", "b : 2"])

    def test_a_wal_dir_that_does_not_exist_is_ignored(self):
        self.check_log_is_found(self.path("nosuch"), "does not exist")
        self.assertFalse(os.path.exists(self.path("nosuch")))

    def test_a_wal_dir_is_ignored_if_the_logs_are_in_the_database_directory(self):
        os.mkdir(self.path("logs"))
        with open(self.path("logs", "000004.log"), "wb"):
            pass  # the log of the original
        self.check_log_is_found(self.path("logs"), "is ignored: the logs are in the database's own directory")
        self.assertEqual(os.listdir(self.path("logs")), ["000004.log"])

    def test_a_wal_dir_may_be_another_path_of_the_same_directory(self):
        self.ok("put", "a", "1", "--create_if_missing")
        os.symlink(self.path("db"), self.path("alias"))
        for name in (self.path("db") + "/", self.path("alias")):
            self.set_wal_dir(name)
            self.check_silent(self.ldb("get", "a"), ["1"])

    def test_a_wal_dir_that_cannot_be_read_is_an_error(self):
        self.ok("put", "a", "1", "--create_if_missing")
        os.symlink("circle", self.path("circle"))
        self.set_wal_dir(self.path("circle"))
        self.check_failure(self.ldb("put", "b", "2"), self.path("circle"))  # the directory may hold the logs

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


if __name__ == "__main__":
    unittest.main()
