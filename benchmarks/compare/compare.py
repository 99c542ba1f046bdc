#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs two db_bench programs in turn with the same flags and compares them: ops/sec, peak memory and
# database size, as ratios of medians with their spread. The order of the two changes every round,
# so that a machine that gets slower or faster favours neither. Needs only Python 3.
#
#   compare.py --ours build/native/db_bench [--peer /usr/bin/db_bench] [--rounds 3]
#              [--num 4000000] [--benchmarks fillseq,readrandom,...] [--flags="-value_size=400"]
#              [--html report.html] [--svg ratios.svg] [--json runs.json] [--markdown table.md]
import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from report import markdown_table, text_table, write_html, write_svg

COMMON_FLAGS = ("-key_size=16 -value_size=100 -compression_type=none -bloom_bits=10 "
                "-cache_size=4294967296 -threads=1 -seek_nexts=10 "
                "-level_compaction_dynamic_level_bytes=0")
# Runs after a fill, so that sizes and reads do not depend on the number of tables that happen to be
# left in level 0. Its time is not reported. tables.py measures the cost of more sorted runs.
SETTLE = ",compact"
# A group is one process: (name, benchmarks that it runs and reports, group whose database it uses)
GROUPS = [
    ("fill in order", ["fillseq"], None),
    ("fill at random", ["fillrandom", "overwrite"], None),
    ("read", ["readrandom", "readmissing", "readseq", "readreverse", "seekrandom"],
     "fill at random"),
]
RESULT_LINE = re.compile(r"^(\w+)\s+:\s+([\d.]+) micros/op (\d+) ops/sec")


def parse_arguments():
    parser = argparse.ArgumentParser(description="two db_bench programs side by side")
    parser.add_argument("--ours", required=True, help="path of the first db_bench")
    parser.add_argument("--peer", default=None, help="path of the second (RocksDB's by default)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--num", type=int, default=4000000, help="pairs in the database")
    parser.add_argument("--reads", type=int, default=None, help="operations of a read benchmark")
    parser.add_argument("--benchmarks", default="", help="run only these")
    parser.add_argument("--flags", default="", help="more flags for both; of equal flags the last one counts")
    parser.add_argument("--ours-flags", default="", help="more flags for the first only")
    parser.add_argument("--peer-flags", default="", help="more flags for the second only")
    parser.add_argument("--dir", default=None, help="directory of the databases")
    parser.add_argument("--timeout", type=int, default=1800, help="time limit of one process in seconds")
    for kind in ("html", "svg", "json", "markdown"):
        parser.add_argument("--" + kind, default=None, help="write the report to this file as " + kind)
    return parser.parse_args()


def find_peer(given):
    """The path of RocksDB's db_bench: as given, in PATH, or where Debian's rocksdb-tools put it."""
    peer = given or shutil.which("db_bench")
    if not peer and shutil.which("dpkg"):
        listing = subprocess.run(["dpkg", "-L", "rocksdb-tools"], capture_output=True, text=True)
        peer = next((l for l in listing.stdout.split("\n") if l.endswith("/db_bench")), None)
    if not peer or not os.path.exists(peer):
        sys.exit("compare: no db_bench to compare with; apt-get install rocksdb-tools, or --peer PATH")
    return peer


def directory_bytes(path):
    """The disk space of the files: a preallocated log counts only its allocated blocks."""
    return sum(os.lstat(os.path.join(folder, name)).st_blocks * 512
               for folder, _, names in os.walk(path) for name in names)


def run_program(program, flags, timeout):
    """Runs one process and returns (output, seconds, peak resident bytes)."""
    with tempfile.TemporaryFile("w+") as output:
        begin = time.monotonic()
        child = subprocess.Popen([program] + flags, stdout=output, stderr=subprocess.STDOUT)
        deadline = begin + timeout
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                child.kill()
            time.sleep(0.02)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode != 0:
        sys.exit(f"compare: {program} {' '.join(flags)}\nended with {child.returncode}:\n{text[-3000:]}")
    return text, time.monotonic() - begin, usage.ru_maxrss * 1024


def parse_results(text, names):
    """Returns {benchmark: ops/sec}; db_bench separates progress from results only by carriage returns."""
    found = {}
    for line in re.split(r"[\r\n]", text):
        match = RESULT_LINE.search(line.strip())
        if match and match.group(1) in names:
            found[match.group(1)] = float(match.group(3))
    missing = [name for name in names if name not in found]
    if missing:
        sys.exit(f"compare: no result line for {', '.join(missing)} in:\n{text[-3000:]}")
    return found


class Program:
    """One of the two programs: its flags, its database folders, and its measurements."""

    def __init__(self, label, path, flags, root):
        self.label, self.path, self.flags = label, path, flags
        self.root = os.path.join(root, label)
        self.ops = {}  # benchmark -> [ops/sec of each round]
        self.peak = {}  # group -> [bytes]
        self.size = {}  # group -> [bytes]

    def run(self, group, args):
        name, benchmarks, after = group
        folder = os.path.join(self.root, (after or name).replace(" ", "_"))
        if after is None:
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, exist_ok=True)
        run = ",".join(benchmarks) + (SETTLE if after is None else "")
        flags = shlex.split(COMMON_FLAGS) + [f"-num={args.num}", "-seed=42", f"-db={folder}",
                                             "-benchmarks=" + run]
        if after is not None:
            flags.append("-use_existing_db=1")
            if args.reads is not None:
                flags.append(f"-reads={args.reads}")
        flags += shlex.split(args.flags) + self.flags
        text, seconds, peak = run_program(self.path, flags, args.timeout)
        size = directory_bytes(folder)
        for benchmark, ops in parse_results(text, benchmarks).items():
            self.ops.setdefault(benchmark, []).append(ops)
        self.peak.setdefault(name, []).append(peak)
        self.size.setdefault(name, []).append(size)
        results = ", ".join(f"{b} {self.ops[b][-1]:,.0f}" for b in benchmarks)
        print(f"  {self.label:<5} {results} ops/sec; {seconds:.0f} s, peak {peak / 2**20:.0f} MiB, "
              f"database {size / 2**20:.0f} MiB", flush=True)


def select_groups(wanted):
    """GROUPS restricted to `wanted`; a group whose database another group uses always runs."""
    if not wanted:
        return GROUPS
    known = [b for _, benchmarks, _ in GROUPS for b in benchmarks]
    for name in wanted:
        if name not in known:
            sys.exit(f"compare: unknown benchmark {name}; there are {', '.join(known)}")
    kept = [(n, [b for b in bs if b in wanted], after) for n, bs, after in GROUPS]
    needed = {after for _, bs, after in kept if bs}
    full = {n: bs for n, bs, _ in GROUPS}
    return [(n, bs or full[n][:1], after) for n, bs, after in kept if bs or n in needed]


def compare_rows(kind, ours, peer, unit_bytes):
    """One row for each measurement: both medians, the ratio of the medians, the range of per-round ratios."""
    rows = []
    for key in ours:
        a, b = ours[key], peer[key]
        ratios = [x / y for x, y in zip(a, b)]
        rows.append({"kind": kind, "name": key, "ours": statistics.median(a),
                     "peer": statistics.median(b), "bytes": unit_bytes,
                     "ratio": statistics.median(a) / statistics.median(b),
                     "low": min(ratios), "high": max(ratios),
                     "ours_spread": spread(a), "peer_spread": spread(b)})
    return rows


def spread(values):
    """The distance between the extremes in percent of the median."""
    return 100 * (max(values) - min(values)) / statistics.median(values)


def describe(program):
    """The program's path, and the package that it belongs to."""
    if shutil.which("dpkg-query"):
        found = subprocess.run(["dpkg-query", "-S", program], capture_output=True, text=True)
        if found.returncode == 0:
            package = found.stdout.split(":")[0]
            version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                                     capture_output=True, text=True).stdout
            return f"{program} ({package} {version})"
    return program


def main():
    args = parse_arguments()
    peer_path = find_peer(args.peer)
    groups = select_groups([b for b in args.benchmarks.split(",") if b])
    root = tempfile.mkdtemp(prefix="ashlar_compare_", dir=args.dir)
    ours = Program("ours", args.ours, shlex.split(args.ours_flags), root)
    peer = Program("peer", peer_path, shlex.split(args.peer_flags), root)
    head = [f"ours: {describe(os.path.realpath(args.ours))} {args.ours_flags}".rstrip(),
            f"peer: {describe(peer_path)} {args.peer_flags}".rstrip(),
            f"both: -num={args.num} {COMMON_FLAGS} {args.flags}".rstrip()]
    print("\n".join(head), flush=True)
    try:
        for number in range(args.rounds):
            order = (ours, peer) if number % 2 == 0 else (peer, ours)
            for group in groups:
                print(f"round {number + 1} of {args.rounds}: {group[0]}", flush=True)
                for program in order:
                    program.run(group, args)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    rows = (compare_rows("ops/sec", ours.ops, peer.ops, False)
            + compare_rows("peak memory", ours.peak, peer.peak, True)
            + compare_rows("database size", ours.size, peer.size, True))
    print("\n" + text_table(rows))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"head": head, "rows": rows}, file, indent=1)
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as file:
            file.write(markdown_table(rows))
    if args.svg:
        write_svg(args.svg, rows)
    if args.html:
        write_html(args.html, head, rows)
        print(f"report: {args.html}")


if __name__ == "__main__":
    main()
