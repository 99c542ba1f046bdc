#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs two builds of one program of benchmarks/clients in turn, one linked with the drop-in, one with
# librocksdb, and compares what they report: medians, their ratio, and the range of the rounds.
#
#   clients.py --ours build/release/ingest_waits --peer /tmp/ingest_waits [--rounds 3] [--dir DIR]
#              [-- FLAGS OF THE PROGRAM]
#
# The peer is built from the same source, against the headers and the library of RocksDB:
#   g++ -O2 -std=c++17 -I. benchmarks/clients/ingest_waits.cc -lrocksdb -lpthread -o /tmp/ingest_waits
import argparse
import os
import re
import shutil
import statistics
import sys
import tempfile

from compare import run_program

RESULT = re.compile(r"^([\w ,.%-]+): ([\d.]+) (\S+)$", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(description="two builds of one client side by side")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", default=None, help="directory of the databases")
    parser.add_argument("flags", nargs="*", help="flags for the program, after --")
    return parser.parse_args()


def run(program, folder, flags):
    """Returns {(name, unit): value} of one run in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    text, _, _ = run_program(program, ["--db=" + folder] + flags, timeout=3600)
    shutil.rmtree(folder, ignore_errors=True)
    found = {(name, unit): float(value) for name, value, unit in RESULT.findall(text)}
    if not found:
        sys.exit(f"clients: {program} reported nothing:\n{text[-2000:]}")
    return found


def rows(ours, peer):
    for key in ours[0]:
        a, b = [one[key] for one in ours], [one[key] for one in peer]
        ratios = [x / y if y else float("nan") for x, y in zip(a, b)]
        x, y = statistics.median(a), statistics.median(b)
        yield (f"{key[0]}, {key[1]}", f"{x:,.1f}", f"{y:,.1f}", f"{x / y:.2f}" if y else "-",
               f"{min(ratios):.2f} .. {max(ratios):.2f}")


def main():
    args = parse_arguments()
    root = tempfile.mkdtemp(prefix="ashlar_clients_", dir=args.dir)
    ours, peer = [], []
    try:
        for number in range(args.rounds):
            pairs = [(args.ours, ours), (args.peer, peer)]
            for program, results in pairs if number % 2 == 0 else reversed(pairs):
                results.append(run(program, os.path.join(root, "db"), args.flags))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print("| | ours | peer | ratio | rounds |\n|---|---:|---:|---:|---:|")
    for row in rows(ours, peer):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
