#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# sst_dump as a program: each command once on tables that RocksDB made, what it refuses, and, where
# RocksDB's sst_dump is installed, that both print the same.
import os
import shutil
import unittest

import tool_support
from tool_support import ToolTest, needs, program, reference, run

PROGRAM = program("sst_dump")
REFERENCE = reference("sst_dump")

# Lines that RocksDB 7.8 does not print.
ADDED = (b"user defined timestamps persisted", b"largest sequence number", b"time stamp of newest",
         b"smallest sequence number")
# Fields of newer versions, which 7.8 shows among the properties of collectors.
MOVED = (b"rocksdb.data.block.restart.interval", b"rocksdb.index.block.restart.interval")
# The process-dependent first line of RocksDB's.
NOISE = (b"options.env is",)


def comparable(text):
    return [line for line in text.split(b"\n")
            if not any(word in line for word in ADDED + MOVED + NOISE)]


def sample_names(prefix):
    return sorted(name for name in os.listdir(tool_support.SAMPLE_TABLES)
                  if name.startswith(prefix) and name.endswith(".sst"))


@needs(os.path.exists(PROGRAM), "sst_dump in this build")
class SstDumpTest(ToolTest):
    def dump(self, file, command, *flags):
        return run(PROGRAM, "--file=" + file, "--command=" + command, *flags)

    def damaged_table(self):
        file = self.sample_table("v78_checksum_xxhash64_fv5.sst")
        with open(file, "r+b") as table:
            table.seek(40)
            byte = table.read(1)
            table.seek(40)
            table.write(bytes([byte[0] ^ 1]))
        return file

    def test_scan_prints_entries_in_hex_between_bounds(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        whole = self.dump(file, "scan", "--output_hex")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        entries = whole.stdout.decode().split("\n")[3:-1]
        self.assertEqual(len(entries), 20)
        keys = [line.split("'")[1] for line in entries]
        some = self.dump(file, "scan", "--output_hex", "--input_key_hex", "--from=0x" + keys[4],
                         "--to=" + keys[9])
        self.check(some, ["Process " + file, "Sst file format: block-based",
                          f"from [{keys[4]}] to [{keys[9]}]"] + entries[4:9])

    def test_scan_stops_after_read_num_entries_over_all_files(self):
        self.sample_table("v78_basic20_fv5.sst")
        self.sample_table("v78_crc32c_fv2.sst")
        done = self.dump(self.folder, "scan", "--read_num=23")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b" seq:"), 23)
        self.assertEqual(self.dump(self.folder, "scan", "--read_num=0").stdout, b"")

    def test_prefix_shows_only_keys_that_begin_so(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        first = self.dump(file, "scan", "--read_num=1").stdout.split(b"'")[1].decode()
        done = self.dump(file, "scan", "--prefix=" + first)
        self.assertEqual(done.stdout.count(b" seq:"), 1)
        self.check_failure(self.dump(file, "scan", "--prefix=a", "--from=a"), "--prefix")

    def test_reverse_comparator_is_found_in_the_table(self):
        file = self.sample_table("v78_reverse_fv5.sst")
        done = self.dump(file, "scan")
        keys = [line.split(b"'")[1] for line in done.stdout.split(b"\n") if b" seq:" in line]
        self.assertGreater(len(keys), 10)
        self.assertEqual(keys, sorted(keys, reverse=True))

    def test_check_verify_and_none_accept_every_sample(self):
        for name in sample_names("v"):
            for command in ("check", "verify", "none"):
                done = self.dump(self.sample_table(name), command)
                self.assertEqual(done.returncode, 0, (name, command, done.stderr))

    def test_show_properties_prints_counts_and_identity(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        text = self.dump(file, "none", "--show_properties").stdout.decode()
        for line in ("  # entries: 20\n", "  comparator name: leveldb.BytewiseComparator\n",
                     "  # rocksdb.deleted.keys: 0x"):
            self.assertIn(line, text)
        self.assertRegex(text, r"  unique ID: [0-9A-F]{16}-[0-9A-F]{16}\n")

    def test_raw_writes_a_file_beside_the_table(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        done = self.dump(file, "raw")
        dump = file[:-len(".sst")] + "_dump.txt"
        self.check(done, ["Process " + file, "Sst file format: block-based",
                          "raw dump written to file " + dump])
        with open(dump, "rb") as text:
            content = text.read()
        for word in (b"Footer Details:", b"Metaindex Details:", b"Table Properties:",
                     b"Index Details:", b"Data Block # 1 @ ", b"Data Block Summary:"):
            self.assertIn(word, content)

    def test_identify_sorts_tables_from_other_files(self):
        good = self.sample_table("v78_basic20_fv5.sst")
        self.check(self.dump(good, "identify"), ["Process " + good, "Sst file format: block-based",
                                                 good + " is a valid SST file"])
        bad = self.path("bad.sst")
        with open(bad, "wb") as file:
            file.write(b"no table at all, but longer than a footer is" * 4)
        self.check_failure(self.dump(bad, "identify"), "magic number")
        done = self.dump(self.folder, "identify")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"Number of valid SST files: 1\n", done.stdout)
        self.assertIn(bad.encode() + b" is not a valid SST file\n", done.stdout)

    def test_damage_fails_every_command_that_reads_data(self):
        file = self.damaged_table()
        for command in ("check", "scan", "verify", "raw"):
            self.check_failure(self.dump(file, command), "Corruption", file, "checksum")

    def test_files_behind_a_damaged_one_are_still_visited(self):
        self.damaged_table()
        self.sample_table("v78_versions_fv5.sst")
        done = self.dump(self.folder, "scan")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"v78_versions_fv5.sst", done.stdout)
        self.assertGreater(done.stdout.count(b" seq:"), 10)

    def test_what_cannot_be_done_is_refused_by_name(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        self.check_failure(run(PROGRAM), "--file")
        self.check_failure(run(PROGRAM, "--command=scan"), "--file")
        self.check_failure(self.dump(file, "frob"), "frob")
        self.check_failure(self.dump(file, "scan", "--nosuch"), "nosuch")
        self.check_failure(self.dump(file, "scan", "--read_num=x"), "read_num")
        self.check_failure(self.dump(file, "scan", "--from=xyz", "--input_key_hex"), "xyz")
        self.check_failure(self.dump(self.path("absent.sst"), "check"), "absent.sst")
        os.mkdir(self.path("empty"))
        self.check_failure(self.dump(self.path("empty"), "check"), "no SST files")

    def test_help_names_every_command(self):
        done = run(PROGRAM, "--help")
        self.assertEqual(done.returncode, 0)
        for command in (b"check", b"scan", b"raw", b"verify", b"identify", b"none"):
            self.assertIn(b"\n  " + command + b" ", done.stdout)

    @needs(REFERENCE is not None, "sst_dump of RocksDB 7.8")
    def test_scan_and_properties_print_what_rocksdb_prints(self):
        for name in sample_names("v78"):
            file = self.sample_table(name)
            for flags in (("--command=scan", "--output_hex", "--show_properties"),
                          ("--command=scan", "--read_num=7"), ("--command=identify",)):
                ours = run(PROGRAM, "--file=" + file, *flags)
                theirs = run(REFERENCE, "--file=" + file, *flags)
                self.assertEqual(comparable(ours.stdout), comparable(theirs.stdout), (name, flags))

    @needs(REFERENCE is not None, "sst_dump of RocksDB 7.8")
    def test_raw_writes_what_rocksdb_writes(self):
        for name in sample_names("v78"):
            if "firstkey" in name:  # theirs shows the first keys in the index as well
                continue
            dumps = []
            for tool in (PROGRAM, REFERENCE):
                file = self.sample_table(name)
                run(tool, "--file=" + file, "--command=raw")
                shutil.move(file[:-len(".sst")] + "_dump.txt", self.path("dump"))
                with open(self.path("dump"), "rb") as text:
                    dumps.append(comparable(text.read()))
            self.assertEqual(dumps[0], dumps[1], name)


if __name__ == "__main__":
    unittest.main()
