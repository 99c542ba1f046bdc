#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How do costs grow with the data, the tables, the column families, the snapshots and the range
# tombstones? Runs benchmarks/clients/scale once for each point, for one or two programs, and prints
# one Markdown table for each series. Below each value of a series stands how much it grew from the
# first point.
#
#   scale.py --ours build/native/scale [--peer /tmp/scale] [--dir DIR] [data tables families ...]
#
# The peer is built from the same source, against the headers and the library of RocksDB:
#   g++ -O2 -std=c++17 -I. benchmarks/clients/scale.cc -lrocksdb -lpthread -o /tmp/scale
import argparse
import os
import shutil
import sys
import tempfile

from clients import run

# Name of a series: what it varies, and the flags of each point.
SERIES = {
    "data": ("data, MiB", [[f"--mib={mib}"] for mib in (256, 1024, 4096, 16384)]),
    "tables": ("tables of 200 rows", [[f"--tables={count}"] for count in (100, 1000, 10000)]),
    "families": ("column families", [["--mib=256", f"--families={count}"] for count in (1, 10, 100, 1000)]),
    "snapshots": ("snapshots", [["--mib=256", f"--snapshots={count}"] for count in (0, 100, 10000, 1000000)]),
    "tombstones": ("range tombstones", [["--mib=256", f"--tombstones={count}"]
                                        for count in (0, 1000, 100000, 1000000)]),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description="how costs grow: one table for each series")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peer", default=None)
    parser.add_argument("--dir", default=None, help="directory of the databases")
    parser.add_argument("--points", type=int, default=100, help="run only the first points of each series")
    parser.add_argument("series", nargs="*", help="of " + ", ".join(SERIES) + "; all by default")
    args = parser.parse_args()
    unknown = [name for name in args.series if name not in SERIES]
    if unknown:
        sys.exit(f"scale: no such series: {unknown[0]}; there are {', '.join(SERIES)}")
    return args


def cell(value, first):
    grown = f" ({value / first:.1f})" if first else ""
    return f"{value:,.1f}{grown}"


def print_table(what, points, programs, results):
    """results[program][point] is {(name, unit): value}."""
    print(f"\n| {what} | " + " | ".join(f"{name}, {unit}" for name, unit in results[programs[0][0]][0]) + " |")
    print("|---" * (1 + len(results[programs[0][0]][0])) + "|")
    for index, flags in enumerate(points):
        for label, _ in programs:
            first, row = results[label][0], results[label][index]
            cells = [cell(row[key], first[key] if index else 0) for key in row]
            print(f"| {flags[-1].split('=')[1]}{label} | " + " | ".join(cells) + " |", flush=True)


def main():
    args = parse_arguments()
    programs = [("", args.ours)] + ([(", peer", args.peer)] if args.peer else [])
    root = tempfile.mkdtemp(prefix="ashlar_scale_", dir=args.dir)
    try:
        for name in args.series or SERIES:
            what, points = SERIES[name]
            points = points[:args.points]
            results = {label: [] for label, _ in programs}
            for flags in points:
                for label, program in programs:
                    print(f"scale: {os.path.basename(program)} {' '.join(flags)}", file=sys.stderr, flush=True)
                    results[label].append(run(program, os.path.join(root, "db"), flags))
            print_table(what, points, programs, results)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
