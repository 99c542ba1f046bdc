#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Programs written for RocksDB, linked with the drop-in: the examples of examples/rocksdb, each in a
# folder of its own, and every workload of benchmarks/ycsb with its options file. An example whose
# feature is not built yet must say so with NotSupported; NOT_BUILT lists them, and one that runs must
# leave the list. Where RocksDB is installed the examples run with it too: all of them. Needs a build
# with the drop-in (exit code 77 without).
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from skips import exit_as_missing  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build" / "test"))
NOT_BUILT_CODE = 3  # kNotBuilt of examples/rocksdb/example.h
NOT_BUILT = set()
# What the options file says, as the database writes it down.
OF_THE_FILE = ["write_buffer_size=33554432", "target_file_size_base=16777216", "bytes_per_sync=1048576",
               "max_table_files_size=1073741824", "block_size=8192",
               "compaction_style=kCompactionStyleLevel"]


def run(program, *arguments):
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=120)


def example_failure(name, program, may_lack, work):
    done = run(program, os.path.join(work, program.name))
    output = (done.stdout + done.stderr).strip()
    if may_lack:
        if done.returncode == 0:
            return f"{program.name} runs: take it out of NOT_BUILT"
        is_refused = done.returncode == NOT_BUILT_CODE and "Not implemented" in output
        return None if is_refused else f"{program.name} should be refused, but: {done.returncode} {output}"
    is_good = done.returncode == 0 and f"{name}: ok" in output
    return None if is_good else f"{program.name} failed: {done.returncode} {output}"


def ycsb_failures(work):
    folder = os.path.join(work, "ycsb")
    done = run(BUILD / "ycsb", f"--db={folder}", f"--options={ROOT / 'benchmarks/ycsb/options.ini'}",
               "--records=2000", "--operations=2000", "--threads=2")
    if done.returncode != 0 or "ycsb: ok" not in done.stdout:
        return [f"ycsb failed: {done.returncode} {done.stdout}{done.stderr}"]
    failures = [f"ycsb did not run workload {name}" for name in "abcdef"
                if not re.search(rf"^{name}  throughput", done.stdout, re.M)]
    latest = sorted(pathlib.Path(folder).glob("OPTIONS-*"))[-1].read_text()
    return failures + [f"ycsb: its options file says {line}, the database does not"
                       for line in OF_THE_FILE if line not in latest]


def main():
    names = sorted(path.stem for path in ROOT.glob("examples/rocksdb/*.cc"))
    assert NOT_BUILT <= set(names) and len(names) == 9
    ours = {name: BUILD / f"dropin_{name}" for name in names}
    theirs = {name: BUILD / f"reference_{name}" for name in names}
    if not (BUILD / "ycsb").exists() or not all(path.exists() for path in ours.values()):
        exit_as_missing("a build with the drop-in")
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(example_failure, name, path, name in NOT_BUILT, work)
                 for name, path in ours.items()]
        tasks += [pool.submit(example_failure, name, path, False, work)
                  for name, path in theirs.items() if path.exists()]
        failures = [task.result() for task in tasks if task.result()] + ycsb_failures(work)
    for failure in failures:
        print(failure)
    print(f"examples: {len(tasks)} runs, {len(NOT_BUILT)} of ours not built yet, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
