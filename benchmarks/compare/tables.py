#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The tables of docs/performance.md: each is a database and a list of workloads, run by two db_bench
# programs in turn with the same flags. Prints markdown: microseconds per operation as medians of
# the rounds, their ratio, and the lowest and highest ratio of a round.
#
#   tables.py --ours build/native/db_bench [--peer /usr/bin/db_bench] [--rounds 3] [--scale 1]
#             [--dir /dev/shm] [TABLE...]          all tables if none is named; --list names them
import argparse
import os
import re
import shlex
import shutil
import statistics
import sys
import tempfile

from compare import find_peer, run_program

COMMON = ("-key_size=16 -value_size=100 -compression_type=none -bloom_bits=10 "
          "-cache_size=4294967296 -threads=1 -level_compaction_dynamic_level_bytes=0")
# Four levels in a database that fits into memory. RocksDB 7.8 fills levels from the top.
FOUR_LEVELS = ("-write_buffer_size=4194304 -target_file_size_base=4194304 "
               "-max_bytes_for_level_base=16777216 -level_compaction_dynamic_level_bytes=0")
PINNED_META = "-cache_index_and_filter_blocks=1 -pin_l0_filter_and_index_blocks_in_cache=1"
SETTLED = "fillrandom,flush,waitforcompaction"
RESULT = re.compile(r"^(\w+)\s+:\s+([\d.]+) micros/op")


class Table:
    """`fill` fills the database of all rows; if it is None, each row fills its own. --scale divides `num`
    and the counts in a row's flags."""

    def __init__(self, title, num, flags="", fill=SETTLED, fill_flags="", before="", cold=False):
        """`cold`: nothing is in the system's page cache before a run, so use a --dir on a disk."""
        self.title, self.num, self.flags, self.fill = title, num, flags, fill
        self.fill_flags, self.before, self.cold, self.rows = fill_flags, before, cold, []

    def row(self, label, benchmarks, flags="", ours=""):
        """If a benchmark is named twice, the last run counts and the others warm up. `ours`: flags that
        the peer does not have."""
        self.rows.append((label, benchmarks, flags, ours))
        return self


def multiget():
    table = Table("MultiGet on four levels", 4000000, f"{FOUR_LEVELS} {PINNED_META}")
    for stride in (0, 16, 256, 4096):
        for batch in (1, 2, 4, 8, 16, 32):
            table.row(f"batch {batch}, stride {stride}", "multireadrandom,multireadrandom",
                      f"-reads=500000 -multiread_batched=1 -multiread_stride={stride} "
                      f"-batch_size={batch}")
    return [table.row("Get", "readrandom,readrandom", "-reads=500000")]


def multiget_missing():
    """One in ten of the keys that are read exists."""
    table = Table("MultiGet, 90 % of the keys missing", 4000000, f"{FOUR_LEVELS} {PINNED_META}",
                  fill_flags="-writes=400000")
    for stride in (0, 16, 256, 4096):
        table.row(f"batch 32, stride {stride}", "multireadrandom,multireadrandom",
                  f"-reads=2000000 -multiread_batched=1 -multiread_stride={stride} -batch_size=32")
    return [table]


def range_tombstones():
    tables = []
    for width in (0, 100, 1000, 10000):
        holes = ("-writes_per_range_tombstone=50 -writes_before_delete_range=4500000 "
                 f"-max_num_range_tombstones=10000 -range_tombstone_width={width}")
        table = Table(f"range tombstones of width {width}", 5000000,
                      fill_flags=holes if width else "", before="-disable_auto_compactions=1")
        table.row("scan", "readseq,readseq", "-reads=5000000")
        table.row("seek, 10 nexts", "seekrandom,seekrandom", "-reads=100000 -seek_nexts=10")
        table.row("seek, 1000 nexts", "seekrandom,seekrandom", "-reads=5000 -seek_nexts=1000")
        table.row("readrandom", "readrandom,readrandom", "-reads=1000000")
        tables.append(table)
    return tables


def many_range_tombstones():
    """A million range tombstones, one after every second write."""
    holes = ("-writes=2000000 -writes_per_range_tombstone=2 -max_num_range_tombstones=1000000 "
             "-range_tombstone_width=10")
    return [Table("a million range tombstones, loading", 5000000, holes, fill=None)
            .row("fillrandom", "fillrandom")
            .row("compact, microseconds in all", "fillrandom,compact"),
            Table("a million range tombstones, reading", 5000000, fill_flags=holes,
                  before="-disable_auto_compactions=1")
            .row("readrandom", "readrandom,readrandom", "-reads=500000")
            .row("seek, 10 nexts", "seekrandom,seekrandom", "-reads=100000 -seek_nexts=10")
            .row("scan", "readseq,readseq")]


def deletes():
    """A scan that begins with a million deleted keys, before and after compactions."""
    holes = "fillseq,flush,deleteseq,flush"
    still = "-reads=100000 -deletes=1000000 -disable_auto_compactions=1"
    return [Table("a scan of 100,000 behind a million deletes", 1100000, fill=None)
            .row("no deletes", "fillseq,flush,readseq,readseq", "-reads=100000")
            .row("not compacted, first scan", f"{holes},readseq", still)
            .row("not compacted, second scan", f"{holes},readseq,readseq", still)
            .row("not compacted, second scan, the first left a range tombstone",
                 f"{holes},readseq,readseq", still, "-min_tombstones_for_range_conversion=1000")
            .row("compactions settled", f"{holes},waitforcompaction,readseq,readseq",
                 "-reads=100000 -deletes=1000000")]


def small_cache(cold=False):
    """Most blocks are read and uncompressed. They are in the system's page cache or, if `cold`, not."""
    tables = []
    where, passes, reads = ("a disk", 1, 100000) if cold else ("the page cache", 2, 500000)
    for compression in ("lz4", "zstd"):
        table = Table(f"cache of 5 %, {compression}, from {where}", 4000000,
                      f"{FOUR_LEVELS} -compression_type={compression} -cache_size=23000000",
                      cold=cold)
        for stride in (0, 16):
            table.row(f"MultiGet, batch 32, stride {stride}",
                      ",".join(["multireadrandom"] * passes),
                      f"-reads={reads} -multiread_batched=1 -multiread_stride={stride} "
                      "-batch_size=32")
        tables.append(table.row("Get", ",".join(["readrandom"] * passes),
                                f"-reads={30000 if cold else reads}"))
    return tables


def cold():
    return small_cache(cold=True)


def blobs():
    """Loading includes the flushes that write the blob files."""
    tables = []
    for size, num in ((4096, 200000), (65536, 12500)):
        tables.append(Table(f"values of {size} bytes in blob files", num,
                            f"-value_size={size} -enable_blob_files=1 -min_blob_size=1024",
                            fill=None)
                      .row("load", "fillrandom")
                      .row("readrandom", "fillrandom,flush,waitforcompaction,readrandom,readrandom",
                           "-reads=100000")
                      .row("MultiGet, batch 32",
                           "fillrandom,flush,waitforcompaction,multireadrandom,multireadrandom",
                           "-reads=100000 -multiread_batched=1 -batch_size=32"))
    return tables


def merges():
    tables = []
    for operands in (1, 10):
        flags = (f"-value_size=10240 -merge_operator=max -merge_keys={20000 // operands} "
                 "-write_buffer_size=1073741824")
        tables.append(Table(f"merges of 10 KB, {operands} a key", 20000, flags, fill=None)
                      .row("readseq, memtable", "mergerandom,readseq,readseq,readseq")
                      .row("readseq, cache", "mergerandom,flush,readseq,readseq,readseq"))
    counters = "-value_size=8 -merge_operator=uint64add -write_buffer_size=16777216"
    for when, fill in (("before", "mergerandom,flush"), ("after", "mergerandom,flush,compact")):
        tables.append(Table(f"counters of 100 operands, {when} compaction", 20000, counters, fill,
                            "-writes=2000000 -merge_keys=20000 -disable_auto_compactions=1",
                            "-disable_auto_compactions=1")
                      .row("readrandom", "readrandom,readrandom", "-reads=300000"))
    return tables


def pinned():
    return [Table(f"values of {size} bytes", num, f"-value_size={size}", "fillrandom,compact")
            .row("readrandom", "readrandom,readrandom,readrandom", "-reads=1000000")
            for size, num in ((100, 4000000), (1024, 500000), (10240, 50000))]


def memtable_filters():
    table = Table("memtables only, 90 % of the keys missing", 1000000,
                  "-write_buffer_size=1073741824 -writes=100000 -reads=2000000 -batch_size=24 "
                  "-multiread_batched=1", fill=None)
    workload = "fillrandom,multireadrandom,multireadrandom"
    return [table.row("no filter", workload)
            .row("whole keys", workload, "-memtable_bloom_size_ratio=0.1 "
                 "-memtable_whole_key_filtering=1")
            .row("prefixes", workload, "-memtable_bloom_size_ratio=0.1 -prefix_size=8")]


def core():
    tables = []
    for title, fill, flags in (("two levels", SETTLED, ""), ("four levels", SETTLED, FOUR_LEVELS)):
        table = Table(title, 4000000, flags, fill)
        for benchmark in ("readrandom", "readmissing"):
            table.row(benchmark, f"{benchmark},{benchmark}", "-reads=1000000")
        for benchmark in ("readseq", "readreverse"):
            table.row(f"{benchmark}, first pass", benchmark)
            table.row(f"{benchmark}, second pass", f"{benchmark},{benchmark}")
        for nexts, reads in ((1, 500000), (10, 500000), (100, 100000)):
            table.row(f"seek, {nexts} nexts", "seekrandom,seekrandom",
                      f"-reads={reads} -seek_nexts={nexts}")
        tables.append(table)
    return tables


def compactions():
    """A compaction of the whole database. clients/build_tables.cc measures building tables alone."""
    tables = []
    for title, flags in (
            ("none", ""), ("none, no filter", "-bloom_bits=-1"),
            ("none, Ribbon", "-use_ribbon_filter=1"), ("lz4", "-compression_type=lz4"),
            ("zstd", "-compression_type=zstd"),
            ("zstd, dictionary", "-compression_type=zstd -compression_max_dict_bytes=16384"),
            ("zstd, 2 threads", "-compression_type=zstd -compression_parallel_threads=2")):
        tables.append(Table(f"full compaction, {title}", 4000000,
                            f"-disable_auto_compactions=1 {flags}", fill=None)
                      .row("compact, microseconds in all", "fillrandom,flush,compact"))
    return tables


def writes():
    table = Table("writes", 2000000, fill=None)
    for threads in (1, 4, 16):
        table.row(f"threads: {threads}", "fillrandom",
                  f"-threads={threads} -writes={2000000 // threads}")
    return [table.row("batches of 100", "fillrandom", "-batch_size=100")
            .row("no log", "fillrandom", "-disable_wal=1")
            .row("values of 1 KB", "fillrandom", "-value_size=1024 -writes=500000")
            .row("overwrites, with compactions", "fillrandom,overwrite",
                 "-value_size=400 -writes=1000000")
            .row("universal", "fillrandom,overwrite",
                 "-compaction_style=1 -value_size=400 -writes=1000000"),
            # A separate table, because in the one above the rate limit would also apply to the load.
            Table("reads beside writes", 2000000)
            .row("reads beside 20,000 writes a second", "readwhilewriting",
                 "-reads=1000000 -benchmark_write_rate_limit=2320000")]


def synced_writes():
    """Needs a --dir on a disk."""
    table = Table("writes with sync", 2000000, "-sync=1", fill=None)
    for threads in (1, 16):
        table.row(f"threads: {threads}", "fillrandom", f"-threads={threads} -writes=1000")
    return [table]


def transactions():
    """Plain writes through a TransactionDB beside those without one. clients/transactions.cc has the transactions:
    RocksDB's randomtransaction opens a std::random_device in each one, so it measures that."""
    writes = Table("plain writes of a TransactionDB", 2000000, fill=None)
    for threads in (1, 4):
        for benchmarks in ("fillrandom", "fillrandom,overwrite"):
            name = benchmarks.split(",")[-1]
            flags = f"-threads={threads} -writes={2000000 // threads}"
            writes.row(f"{name}, {threads} threads", benchmarks, flags)
            writes.row(f"{name}, {threads} threads, wrapped", benchmarks, f"{flags} -transaction_db=1")
    return [writes]


TABLES = {function.__name__: function for function in (
    core, multiget, multiget_missing, range_tombstones, many_range_tombstones, deletes, merges,
    pinned, memtable_filters, small_cache, cold, compactions, blobs, writes,
    synced_writes, transactions)}


def scaled(flags, scale):
    """Divides the counts of the workload, but not the sizes of values, batches and buffers."""
    counts = re.compile(r"-(num|writes|reads|deletes|merge_keys|writes_before_delete_range|"
                        r"max_num_range_tombstones)=(\d+)")
    return counts.sub(lambda m: f"-{m[1]}={max(1, int(int(m[2]) / scale))}", flags)


class Side:
    def __init__(self, name, path, root):
        self.name, self.path, self.folder = name, path, os.path.join(root, name)

    def run(self, benchmarks, flags):
        """Microseconds per operation of the last benchmark that printed a result."""
        text = run_program(self.path, shlex.split(flags) + [
            "-db=" + self.folder, "-benchmarks=" + benchmarks], timeout=3600)[0]
        found = [RESULT.match(line) for line in re.split(r"[\r\n]", text)]
        micros = {match[1]: float(match[2]) for match in found if match}
        wanted = benchmarks.split(",")[-1]
        return micros.get(wanted)

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)


def drop_page_cache():
    """Drops all files from the system's page cache, which only root may do."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as control:
        control.write("1")


def run_table(table, sides, args):
    base = f"{COMMON} -num={table.num} {table.flags}"
    print(f"\n### {table.title}\n\n`{scaled(base, args.scale)}`", flush=True)
    if table.fill is not None:
        print(f"\nfilled by `{table.fill}` `{scaled(table.fill_flags, args.scale)}`")
        for side in sides:
            side.clear()
            side.run(table.fill, scaled(f"{base} -seed=42 {table.fill_flags}", args.scale))
    print("\n| | workload | ours | peer | ratio | rounds |\n|---|---|---:|---:|---:|---|", flush=True)
    for label, benchmarks, flags, own_flags in table.rows:
        micros = {side.name: [] for side in sides}
        for number in range(args.rounds):
            for side in sides if number % 2 == 0 else reversed(sides):
                if table.fill is None:
                    side.clear()
                if table.cold:
                    drop_page_cache()
                existing = "" if table.fill is None else "-use_existing_db=1"
                line = f"{base} -seed={number + 1} {existing} {table.before} {flags}"
                if side.name == "ours":
                    line = f"{line} {own_flags}"
                micros[side.name].append(side.run(benchmarks, scaled(line, args.scale)))
        ours, peer = micros["ours"], micros["peer"]
        if None in ours + peer:
            sys.exit(f"tables: {benchmarks} printed no result")
        ratios = [b / a for a, b in zip(ours, peer)]
        low_ours, low_peer = statistics.median(ours), statistics.median(peer)
        print(f"| {label} | `{benchmarks}` `{scaled(flags, args.scale)}`"
              f"{f' ours `{own_flags}`' if own_flags else ''} | {low_ours:.3f} | "
              f"{low_peer:.3f} | {low_peer / low_ours:.2f} | {min(ratios):.2f} .. {max(ratios):.2f} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description="the tables of docs/performance.md")
    parser.add_argument("tables", nargs="*", help="default: all")
    parser.add_argument("--ours", help="path of the first db_bench")
    parser.add_argument("--peer", default=None, help="path of the second (RocksDB's by default)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="divides all counts")
    parser.add_argument("--dir", default=None, help="directory of the databases")
    parser.add_argument("--list", action="store_true", help="print the names of the tables")
    args = parser.parse_args()
    if args.list:
        return print("\n".join(TABLES))
    if not args.ours:
        parser.error("--ours is needed")
    unknown = [name for name in args.tables if name not in TABLES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(TABLES)}")
    root = tempfile.mkdtemp(prefix="ashlar_tables_", dir=args.dir)
    sides = [Side("ours", args.ours, root), Side("peer", find_peer(args.peer), root)]
    try:
        for name in args.tables or TABLES:
            for table in TABLES[name]():
                run_table(table, sides, args)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
