#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Are the defaults good enough? Runs six workloads with the defaults, with each intent of
# Options::for_intent() and with twenty tunings that users try, in turn, and prints one Markdown
# table: the rate of each as a percentage of the best of the tunings, medians of some rounds.
#
#   tunings.py --program build/native/tunings [--rounds 3] [--seconds 5] [--rows 1000000] [--dir DIR]
#              [points scans overwrites queue series large]
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

WORKLOADS = ["points", "scans", "overwrites", "queue", "series", "large"]
BASE = {
    "defaults": [],
    "for_intent(kServer)": ["--intent=server"],
    "for_intent(kEmbedded)": ["--intent=embedded"],
}
TUNINGS = {
    "memtable of 16 MiB": ["--options=write_buffer_size=16M"],
    "memtable of 128 MiB": ["--options=write_buffer_size=128M"],
    "four memtables": ["--options=max_write_buffer_number=4"],
    "merge two memtables": ["--options=max_write_buffer_number=4;min_write_buffer_number_to_merge=2"],
    "level 0: compact at 2": ["--options=level0_file_num_compaction_trigger=2"],
    "level 0: compact at 8": ["--options=level0_file_num_compaction_trigger=8"],
    "base level of 64 MiB": ["--options=max_bytes_for_level_base=64M"],
    "base level of 1 GiB": ["--options=max_bytes_for_level_base=1G"],
    "tables of 16 MiB": ["--options=target_file_size_base=16M"],
    "universal": ["--options=compaction_style=kCompactionStyleUniversal"],
    "four jobs": ["--options=max_background_jobs=4"],
    "subcompactions": ["--options=max_subcompactions=2"],
    "no compression": ["--options=compression=kNoCompression"],
    "lz4": ["--options=compression=kLZ4Compression"],
    "zstd": ["--options=compression=kZSTD"],
    "Bloom filters": ["--table=filter_policy=bloomfilter:10:false"],
    "Bloom filters, cache of 512 MiB": ["--table=filter_policy=bloomfilter:10:false;block_cache=512M"],
    "blocks of 16 KiB": ["--table=block_size=16K;filter_policy=bloomfilter:10:false"],
    "blob files": ["--options=enable_blob_files=true;min_blob_size=4096;enable_blob_garbage_collection=true"],
    "pipelined writes": ["--options=enable_pipelined_write=true"],
}
RESULT = re.compile(r"^\w+: (\d+) ops/sec$", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(description="defaults and intents beside twenty tunings")
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--dir", default=None, help="directory of the databases")
    parser.add_argument("workloads", nargs="*", help="of " + ", ".join(WORKLOADS) + "; all by default")
    args = parser.parse_args()
    unknown = [name for name in args.workloads if name not in WORKLOADS]
    if unknown:
        sys.exit(f"tunings: no such workload: {unknown[0]}; there are {', '.join(WORKLOADS)}")
    return args


def run(args, folder, workload, flags):
    """Operations per second of one run in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [args.program, "--db=" + folder, "--workload=" + workload, f"--seconds={args.seconds}",
               f"--rows={args.rows}"] + flags
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900)
    found = RESULT.search(ended.stdout)
    if ended.returncode != 0 or not found:
        sys.exit(f"tunings: {' '.join(command)}\nended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return float(found.group(1))


def main():
    args = parse_arguments()
    workloads = args.workloads or WORKLOADS
    every = {**BASE, **TUNINGS}
    rates = {name: {workload: [] for workload in workloads} for name in every}
    root = tempfile.mkdtemp(prefix="ashlar_tunings_", dir=args.dir)
    try:
        for number in range(args.rounds):
            for workload in workloads:
                for name in every if number % 2 == 0 else reversed(every):
                    print(f"tunings: round {number + 1}, {workload}, {name}", file=sys.stderr, flush=True)
                    rates[name][workload].append(run(args, os.path.join(root, "db"), workload, every[name]))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    medians = {name: {w: statistics.median(rates[name][w]) for w in workloads} for name in every}
    best = {w: max(medians[name][w] for name in TUNINGS) for w in workloads}
    print("| % of the best tuning | " + " | ".join(workloads) + " |")
    print("|---" * (1 + len(workloads)) + "|")
    for name in every:
        print(f"| {name} | " + " | ".join(f"{100 * medians[name][w] / best[w]:.0f}" for w in workloads) + " |")
    print("| best, ops/sec | " + " | ".join(f"{best[w]:,.0f}" for w in workloads) + " |")


if __name__ == "__main__":
    main()
