#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# sst_dump as a program: each command on tables that RocksDB made, and its errors. Where RocksDB's
# sst_dump is installed, both must print the same.
import html.parser
import os
import re
import shutil
import unittest

import tool_support
from tool_support import ToolTest, needs, program, reference, run

PROGRAM = program("sst_dump")
REFERENCE = reference("sst_dump")

# Lines that RocksDB 7.8 does not print.
ADDED = (b"user defined timestamps persisted", b"largest sequence number", b"time stamp of newest",
         b"smallest sequence number")
# Fields of newer versions, which 7.8 prints among the properties of collectors.
MOVED = (b"rocksdb.data.block.restart.interval", b"rocksdb.index.block.restart.interval")
# The first line of RocksDB's output, which depends on the process.
NOISE = (b"options.env is",)


def comparable(text):
    return [line for line in text.split(b"\n")
            if not any(word in line for word in ADDED + MOVED + NOISE)]


def without_sizes(text):
    """The output of recompress that is the same in both: properties differ, and so do sizes."""
    lines = [line for line in text.split(b"\n")
             if line.startswith((b"Block Size", b"Compression", b"Unsupported"))]
    return [re.sub(rb" Size: +\d+| Time Taken:.*", b"", line) for line in lines]


class Page(html.parser.HTMLParser):
    """The text, the tips and the tags of a page; asserts that the tags nest."""
    VOID = ("meta", "line", "rect")

    def __init__(self, content):
        super().__init__()
        self.open, self.tips, self.text, self.tags, self.links = [], [], "", [], []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.tips += [value for name, value in attrs if name == "data-tip"]
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.text += data


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

    def test_prefix_limits_the_scan_to_keys_with_it(self):
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

    def test_files_of_a_named_environment_are_read(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        for flag in ("--env_uri=posix", "--fs_uri=posix"):
            self.check(self.dump(file, "verify", flag),
                       ["Process " + file, "Sst file format: block-based", "The file is ok"])
        self.check_failure(self.dump(file, "verify", "--env_uri=nosuch"), "nosuch")
        self.check_failure(self.dump(file, "verify", "--env_uri=posix", "--fs_uri=posix"), "both")

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

    def test_identify_distinguishes_tables_from_other_files(self):
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
        for command in ("check", "scan", "verify", "raw", "recompress", "report"):
            self.check_failure(self.dump(file, command), "Corruption", file, "checksum")
        self.assertEqual(os.listdir(self.folder).count("v78_checksum_xxhash64_fv5_report.html"), 0)

    def test_verify_checksum_also_reads_blocks_outside_the_scan(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        with open(file, "r+b") as table:
            table.seek(683 - 20)  # in the second of two blocks
            table.write(b"\xff\xff")
        self.assertEqual(self.dump(file, "scan", "--read_num=1").returncode, 0)
        for command in ("check", "scan"):
            self.check_failure(self.dump(file, command, "--read_num=1", "--verify_checksum"),
                               "Corruption", "checksum")

    def test_files_after_a_damaged_one_are_still_visited(self):
        self.damaged_table()
        self.sample_table("v78_versions_fv5.sst")
        done = self.dump(self.folder, "scan")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"v78_versions_fv5.sst", done.stdout)
        self.assertGreater(done.stdout.count(b" seq:"), 10)

    def test_several_files_and_directories_are_visited_in_order(self):
        first = self.sample_table("v78_basic20_fv5.sst")
        os.mkdir(self.path("more"))
        more = [shutil.move(self.sample_table(name), self.path("more", name))
                for name in ("v78_crc32c_fv2.sst", "v78_versions_fv5.sst")]
        done = run(PROGRAM, "--file=" + first, "--command=verify", self.path("more"), first)
        self.check(done, [line for file in (first, *more, first) for line in (
            "Process " + file, "Sst file format: block-based", "The file is ok")])
        done = run(PROGRAM, "--command=verify", self.path("absent"), first)
        self.check_failure(done, "absent")
        self.assertIn(b"The file is ok", done.stdout)

    def test_show_summary_adds_up_all_tables(self):
        self.sample_table("v78_basic20_fv5.sst")
        done = self.dump(self.folder, "none", "--show_summary")
        self.assertEqual(done.stdout.decode().split("\n")[-6:],
                         ["total number of files: 1", "total number of data blocks: 2",
                          "total data block size: 683", "total index block size: 46",
                          "total filter block size: 69", ""])
        self.damaged_table()
        done = self.dump(self.folder, "verify", "--show_summary")
        self.assertIn(b"total number of files: 1\n", done.stdout)

    def test_list_meta_blocks_names_every_block_after_the_data(self):
        for name, expected in (("v78_basic20_fv5", "(metaindex)"),
                               ("v78_partitioned_filter_prefix_fv5", "(filter partition 1)"),
                               ("v78_index_twolevel_fv5", "(index partition 1)"),
                               ("v119_dict_zstd_fv7", "rocksdb.compression_dict"),
                               ("v119_checksum_xxh3_fv6", "rocksdb.index"),
                               ("v78_versions_fv5", "rocksdb.range_del")):
            file = self.sample_table(name + ".sst")
            done = self.dump(file, "none", "--list_meta_blocks", "--show_summary")
            self.assertEqual(done.returncode, 0, done.stderr)
            text = done.stdout.decode()
            rows = [(int(row[1]), int(row[2]), int(row[3]), row[5]) for row in
                    re.finditer(r"(?m)^ *(\d+) +(\d+) +(\d+)  (\w+) +([\w.() ]+)$", text)]
            names = [row[3] for row in rows]
            self.assertTrue(expected in names or name == "v78_versions_fv5", (name, names))
            self.assertIn("rocksdb.properties", names)
            # The blocks fill the file from the last data block to the footer; a trailer has 5 bytes.
            for row, behind in zip(rows, rows[1:]):
                self.assertEqual(row[0] + row[1] + 5, behind[0], (name, row))
            self.assertEqual(rows[-1][0] + rows[-1][1] + 5 + 53, os.path.getsize(file), name)
            for _, stored, raw, _ in rows:
                self.assertGreaterEqual(raw, stored)

    def test_parse_internal_key_shows_its_parts(self):
        flag = "--parse_internal_key="
        self.check(run(PROGRAM, flag + "0x6162630100000000000000"), ["key='616263' seq:0, type:1"])
        self.check(run(PROGRAM, flag + "00ff" + "0002000000000000"), ["key='00FF' seq:2, type:0"])
        self.check_failure(run(PROGRAM, flag + "0x6162"), "at least eight bytes, found 2")
        self.check_failure(run(PROGRAM, flag + "0xzz"), "zz")

    def test_recompress_tries_types_and_levels_and_writes_nothing(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        done = self.dump(file, "recompress", "--compression_types=kNoCompression,kZSTD",
                         "--set_block_size=512")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        self.assertIn("\nBlock Size: 512\nCompression: kNoCompression          \n"
                      "Compression level: 32767 Size: ", text)
        sizes = [int(size) for size in re.findall(r"Size: +(\d+) Blocks: +2 ", text)]
        self.assertEqual(len(sizes), 2)
        self.assertLess(sizes[1], sizes[0])
        table = [line.split() for line in text.split("\n") if line.startswith("k")]
        self.assertEqual([row[:3] for row in table],
                         [["kNoCompression", "-", str(sizes[0])], ["kZSTD", "-", str(sizes[1])]])
        share = 100 * sizes[0] / os.path.getsize(file)
        self.assertEqual(table[0][3], f"{share:.1f}")
        done = self.dump(file, "recompress", "--compression_types=kZSTD",
                         "--compression_level_from=1", "--compression_level_to=3")
        self.assertEqual(re.findall(rb"Compression level: (\d+) Size", done.stdout),
                         [b"1", b"2", b"3"])
        self.assertEqual(os.listdir(self.folder), ["v78_basic20_fv5.sst"])

    def test_recompress_makes_smaller_tables_at_higher_levels(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        done = self.dump(file, "recompress", "--compression_types=kZSTD", "--set_block_size=512",
                         "--compression_level_from=1", "--compression_level_to=3")
        sizes = [int(size) for size in re.findall(rb"Size: +(\d+) Blocks", done.stdout)]
        self.assertGreater(sizes[0], sizes[2])

    def test_recompress_keeps_range_tombstones_and_uses_dictionaries(self):
        file = self.sample_table("v78_rangedel_only_fv5.sst")
        self.assertEqual(self.dump(file, "recompress").returncode, 0)
        file = self.sample_table("v119_dict_zstd_fv7.sst")
        flags = ("--compression_types=kZSTD", "--set_block_size=512")
        sizes = [int(re.search(rb"Size: +(\d+) Blocks", self.dump(
            file, "recompress", *flags, *more).stdout)[1])
            for more in ((), ("--compression_max_dict_bytes=4096",))]
        self.assertNotEqual(sizes[0], sizes[1])

    def test_recompress_names_the_wrong_flag(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        for flags, word in ((("--compression_types=kFrob",), "kFrob"),
                            (("--compression_types=",), "compression_types"),
                            (("--compression_level_from=1",), "compression_level_to"),
                            (("--compression_level_from=1", "--compression_level_to=2"), "one type"),
                            (("--compression_types=kZSTD", "--compression_level_from=3",
                              "--compression_level_to=2"), "not a range"),
                            (("--set_block_size=0",), "set_block_size"),
                            (("--compression_max_dict_bytes=-1",), "compression_max_dict_bytes")):
            self.check_failure(self.dump(file, "recompress", *flags), word)

    def page_of(self, file, *flags):
        done = self.dump(file, "report", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = done.stdout.decode().split("report written to file ")[1].rstrip("\n")
        with open(path, encoding="utf-8") as content:
            text = content.read()
        os.unlink(path)
        page = Page(text)
        self.assertEqual(page.links, [])  # the page loads nothing
        self.assertNotIn("://", text)
        self.assertEqual(page.open, ["html"] if "html" in page.open else [])
        return page

    def test_report_has_all_sections_and_loads_nothing(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        self.check(self.dump(file, "report"),
                   ["Process " + file, "Sst file format: block-based",
                    "report written to file " + file[:-4] + "_report.html"])
        page = self.page_of(file)
        for text in ("v78_basic20_fv5.sst", "Parts of the file", "Blocks by size",
                     "Blocks by compression", "Sizes of keys and values", "Tombstones", "Filter",
                     "leveldb.BytewiseComparator", "format version 5"):
            self.assertIn(text, page.text)
        puts = [int(found[1]) for tip in page.tips if (found := re.search(r"^(\d+) puts$", tip, re.M))]
        self.assertEqual((len(puts), sum(puts)), (2, 20))
        parts = [tip for tip in page.tips if tip.startswith(("data ", "index ", "filter ", "other "))]
        self.assertEqual(len(parts), 4)
        self.assertIn("data 683 B", parts[0])  # with the trailers of two blocks
        lines = sum(int(found[1]) for tip in page.tips
                    if (found := re.search(r"of the bits set\n(\d+) line", tip)))
        self.assertEqual(lines, 1)  # 69 bytes: one line of 64 and the metadata

    def test_report_distinguishes_keys_from_versions(self):
        file = self.sample_table("v78_versions_fv5.sst")
        keys = [line.split(b"'")[1] for line in self.dump(file, "scan", "--output_hex").stdout
                .split(b"\n") if b" seq:" in line]
        self.assertGreater(len(keys), len(set(keys)))
        text = self.page_of(file).text
        self.assertIn(f"{len(keys):,}entries\n", text)
        self.assertIn(f"{len(set(keys)):,}different keys\n", text)

    def test_report_counts_range_tombstones_over_each_block(self):
        tables = [os.path.join(db, name) for db in
                  (self.sample_database("rangedel"), self.sample_database("rangedel_levels"))
                  for name in sorted(os.listdir(db)) if name.endswith(".sst")]
        seen = 0
        for table in tables:
            run(PROGRAM, "--file=" + table, "--command=raw")
            with open(table[:-4] + "_dump.txt", encoding="latin-1") as text:
                dump = text.read()
            if "Range deletions:" not in dump:
                continue
            lines = r"(?m)^  HEX    (\w+): (\w+)$"
            index, rest = dump.split("Index Details:")[1].split("Range deletions:")
            blocks = [row[0] for row in re.findall(lines, index)]
            ranges = re.findall(lines, rest.split("Data Block # 1")[0])
            over = [sum(begin <= last and (i == 0 or blocks[i - 1] < end) for begin, end in ranges)
                    for i, last in enumerate(blocks)]
            tips = [tip for tip in self.page_of(table).tips if "cover a block" in tip]
            self.assertEqual([int(tip.split("\n")[1].split()[0]) for tip in tips], over, table)
            seen += sum(over) > 0 and min(over) < max(over)
        self.assertGreater(seen, 0)

    def test_report_of_every_sample(self):
        for name in sample_names("v"):
            page = self.page_of(self.sample_table(name))
            self.assertIn("<", "<" + page.text)
            self.assertIn("section", page.tags)
        none = self.page_of(self.sample_table("v78_nofilter_fv5.sst"))
        self.assertIn("None: a lookup of an absent key reads a block", none.text)
        ranges = self.page_of(self.sample_table("v78_rangedel_only_fv5.sst"))
        self.assertIn("blocks covered", ranges.text)
        self.assertIn("partitions", self.page_of(
            self.sample_table("v78_partitioned_filter_prefix_fv5.sst")).text)

    @needs(os.path.exists(program("ldb")), "ldb in this build")
    def test_report_escapes_keys(self):
        db = "--db=" + self.path("db")
        keys = ['<b onclick="x">&amp;', "<c>"]
        run(program("ldb"), db, "--create_if_missing", "batchput", keys[0], "1", keys[1], "2")
        run(program("ldb"), db, "compact")
        table = [name for name in os.listdir(self.path("db")) if name.endswith(".sst")][0]
        page = self.page_of(self.path("db", table))
        self.assertIn(f"From '{keys[0]}' to '{keys[1]}'.", page.text)
        self.assertNotIn("b", page.tags[page.tags.index("section"):])
        self.assertEqual(page.tags.count("c"), 0)

    def test_report_is_written_to_output(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        self.page_of(file, "--output=" + self.path("page.html"))
        self.check_failure(self.dump(file, "report", "--output=" + self.path("absent", "page.html")),
                           "absent")
        self.sample_table("v78_versions_fv5.sst")
        self.check_failure(self.dump(self.folder, "report", "--output=" + self.path("x.html")),
                           "--output", "2")

    def test_errors_name_the_wrong_argument(self):
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

    def test_version_is_one_line(self):
        done = run(PROGRAM, "--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"^sst_dump \(Ashlar\) \d+\.\d+\.\d+\n$")

    def test_help_names_every_command(self):
        done = run(PROGRAM, "--help")
        self.assertEqual(done.returncode, 0)
        for command in (b"check", b"scan", b"raw", b"verify", b"recompress", b"report", b"identify",
                        b"none"):
            self.assertIn(b"\n  " + command + b" ", done.stdout)

    @needs(REFERENCE is not None, "sst_dump of RocksDB 7.8")
    def test_scan_and_properties_print_what_rocksdb_prints(self):
        for name in sample_names("v78"):
            file = self.sample_table(name)
            for flags in (("--command=scan", "--output_hex", "--show_properties"),
                          ("--command=scan", "--read_num=7"), ("--command=identify",),
                          ("--command=check", "--show_summary")):
                ours = run(PROGRAM, "--file=" + file, *flags)
                theirs = run(REFERENCE, "--file=" + file, *flags)
                self.assertEqual(comparable(ours.stdout), comparable(theirs.stdout), (name, flags))

    @needs(REFERENCE is not None, "sst_dump of RocksDB 7.8")
    def test_recompress_makes_the_blocks_that_rocksdb_makes(self):
        file = self.sample_table("v78_basic20_fv5.sst")
        for flags in ((), ("--set_block_size=512", "--compression_types=kNoCompression,kZSTD")):
            ours, theirs = (without_sizes(run(tool, "--file=" + file, "--command=recompress",
                                              *flags).stdout) for tool in (PROGRAM, REFERENCE))
            self.assertEqual(ours, theirs)
            self.assertGreater(len(ours), 4)

    @needs(REFERENCE is not None, "sst_dump of RocksDB 7.8")
    def test_raw_writes_what_rocksdb_writes(self):
        for name in sample_names("v78"):
            if "firstkey" in name:  # RocksDB's prints the first keys in the index as well
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
