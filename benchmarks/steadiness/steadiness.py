#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Two builds of steadiness.cc under the same load, and one page of charts of both over time. The
# rate is a share (70 %) of the rate that the peer sustains without a limit, which is measured
# first.
#
#   steadiness.py --ours build/native/steadiness --peer /tmp/steadiness [--seconds 600] [--out page.html]
#   steadiness.py --ours ... --peer ... --short        # half a minute in all, a small database
#   steadiness.py ... -- --value_bytes=1000            # flags of the program, for both
#
# The peer is built from the same source, against the headers and the library of RocksDB:
#   g++ -O2 -std=c++17 -I. benchmarks/steadiness/steadiness.cc -lrocksdb -lpthread -o /tmp/steadiness
#
# The rows of each run are kept next to the page, as <page>.ours.csv and <page>.peer.csv.
import argparse
import csv
import io
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import page

SUM = re.compile(r"^([\w .%]+): ([\d.]+) (\S+)$", re.MULTILINE)
HEAD = "second,operations,"
SHORT = ["--keys=100000", "--memtable_mb=4", "--cache_mb=8"]


def parse_arguments(argv=None):
    parser = argparse.ArgumentParser(description="steadiness of two programs under one load")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--seconds", type=int, default=600, help="of each measured run")
    parser.add_argument("--probe_seconds", type=int, default=60, help="of the run that finds the rate")
    parser.add_argument("--share", type=float, default=0.7, help="of what the peer sustains")
    parser.add_argument("--rate", type=int, default=0, help="operations a second; 0: find it")
    parser.add_argument("--short", action="store_true", help="a small database and 8 seconds a run")
    parser.add_argument("--dir", default=None, help="where the databases are made")
    parser.add_argument("--out", default="steadiness.html")
    parser.add_argument("flags", nargs="*", help="flags for the program, after --")
    args = parser.parse_args(argv)
    if args.short:
        args.seconds, args.probe_seconds = 8, 5
        args.flags = SHORT + args.flags
    return args


def read_run(text):
    """Returns (rows, totals) of the program's output: a row is {column: text}, the totals are {name:
    number}."""
    start = text.find(HEAD)
    if start < 0:
        raise ValueError("no rows")
    lines = text[start:].split("\n")
    table = [lines[0]] + [line for line in lines[1:] if re.match(r"^\d+,", line)]
    rows = list(csv.DictReader(io.StringIO("\n".join(table))))
    return rows, {name: float(value) for name, value, _ in SUM.findall(text)}


def run(program, root, flags):
    folder = os.path.join(root, "db")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    done = subprocess.run([program, "--db=" + folder, *flags], capture_output=True, text=True, check=False)
    shutil.rmtree(folder, ignore_errors=True)
    if done.returncode != 0:
        sys.exit(f"steadiness: {program} ended with {done.returncode}\n{done.stderr[-2000:]}")
    try:
        return read_run(done.stdout) + (done.stdout,)
    except ValueError:
        sys.exit(f"steadiness: {program} printed no rows:\n{done.stdout[-2000:]}")


def sustained(rows):
    """The median of the second half, when compactions have caught up with the writers."""
    rates = [int(row["operations"]) for row in rows]
    return statistics.median(rates[len(rates) // 2:])


def facts(rows, sums):
    """The table of the page for one run: {name: (number, text)}."""
    rates = sorted(int(row["operations"]) for row in rows)
    median = statistics.median(rates)
    result = {
        "median rate, operations/s": (median, f"{median:,.0f}"),
        "worst second / median": (rates[0] / median if median else 0, f"{rates[0] / median:.2f}" if median else "-"),
        "seconds below 80 % of the median": (sum(rate < 0.8 * median for rate in rates),) * 2,
        "seconds with a stall": (sum(int(row["stalled"]) > 0 for row in rows),) * 2,
    }
    for name in ("latency p50", "latency p99", "latency p99.9", "longest"):
        result[name + ", micros"] = (sums[name], f"{sums[name]:,.0f}")
    result["most space, MiB"] = (sums["most space"], f"{sums['most space']:,.0f}")
    if sums.get("write amplification"):
        result["write amplification"] = (sums["write amplification"], f"{sums['write amplification']:.2f}")
    if sums.get("live data"):
        ratio = sums["most space"] / sums["live data"]
        result["most space / live data"] = (ratio, f"{ratio:.2f}")
    most = max(int(row["resident"]) for row in rows) / 2**20
    result["most resident memory, MiB"] = (most, f"{most:,.0f}")
    return {name: (float(value), str(text)) for name, (value, text) in result.items()}


def main():
    args = parse_arguments()
    root = tempfile.mkdtemp(prefix="ashlar_steadiness_", dir=args.dir)
    try:
        rate = args.rate
        if rate == 0:
            rows, _, _ = run(args.peer, root, [*args.flags, "--rate=0", "--final_compaction=0",
                                               f"--seconds={args.probe_seconds}"])
            rate = max(1, int(sustained(rows) * args.share))
            print(f"the peer sustains {sustained(rows):,.0f} operations/s; the load is {rate:,}", flush=True)
        flags = [*args.flags, f"--rate={rate}", f"--seconds={args.seconds}"]
        runs = {}
        for name, program in (("ours", args.ours), ("peer", args.peer)):
            rows, sums, text = run(program, root, flags)
            with open(f"{args.out}.{name}.csv", "w", encoding="utf-8") as file:
                file.write(text)
            runs[name] = (rows, facts(rows, sums))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    with open(args.out, "w", encoding="utf-8") as file:
        file.write(page.build(rate, " ".join(flags), runs))
    print("| | ours | peer | ratio |\n|---|---:|---:|---:|")
    for name, (value, text) in runs["ours"][1].items():
        other, other_text = runs["peer"][1].get(name, (0, "-"))
        print(f"| {name} | {text} | {other_text} | {f'{value / other:.2f}' if other else '-'} |")
    print(f"page written to {args.out}")


if __name__ == "__main__":
    main()
