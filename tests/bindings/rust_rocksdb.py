#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The test suite of the Rust crate `rocksdb`, linked with this build's librocksdb. The crate and what it
# depends on come from the crate registry and are never stored in the project. Its compile-time tests
# (trybuild) are left out: they test the crate's types and no library. Needs cargo and libclang.
#
#   tests/bindings/rust_rocksdb.py [arguments of `cargo test`, e.g. --test test_db]
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from go_module import BUILD, LIBRARY, SOURCE, skip

CRATE, VERSION = "rocksdb", "0.25.0"
# Compile-time tests, by parts of their names.
TYPES = ["_outlive_", "_as_single_threaded"]
# Tests of what RocksDB happens to do, and what is done here instead. They are run and reported.
DELIBERATE = {
    "cuckoo": "keys of 2 bytes in a CuckooTable with identity_as_first_hash are refused: RocksDB hashes 8 bytes of them",
    "test_full_iterator": "an iterator without total_order_seek shows all of a hashed memtable; RocksDB's shows nothing",
    "get_with_cache_and_bulkload_test":
        "CompactRange rewrites what it brings to the last level, and the table is small enough to stay on level 1",
    "get_with_cache_and_bulkload_and_blobs_test": "as above",
    "set_column_family_metadata_test": "a table with one key has less than 1,300 bytes",
    "test_checkpoint_with_log_size_zero_forces_flush": "a new log begins with a record that names its predecessor",
    "test_optimistic_transaction_db_checkpoint_with_log_size_zero_forces_flush": "as above",
    "test_block_based_options": "format_version is 6 by default, which more releases of RocksDB read",
    "test_crc32_build": "instructions are chosen while the program runs, not when it is built",
    "test_transaction_db_memory_usage": "an empty memtable and an empty cache have no memory",
    "test_optimistic_transaction_db_memory_usage": "as above",
    **{f"test_{codec}_compression": "the library has the codec, which the crate's features leave out"
       for codec in ("bz2", "lz4", "snappy", "zlib", "zstd")},
    "transaction_iterator": "an iterator over a transaction sees each write that is ahead of it, also at the end",
}


def fetch(folder):
    """Copies the crate to the folder, since the registry's copy is shared. Returns the copy's path."""
    project = os.path.join(folder, "fetch")
    os.makedirs(os.path.join(project, "src"))
    with open(os.path.join(project, "src/lib.rs"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(project, "Cargo.toml"), "w", encoding="utf-8") as file:
        file.write('[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n'
                   f'{CRATE} = {{ version = "={VERSION}", default-features = false }}\n')
    done = subprocess.run(["cargo", "metadata", "--format-version=1"], cwd=project, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        skip(f"{CRATE} {VERSION} cannot be downloaded: " + done.stderr[-300:])
    manifest = next(package["manifest_path"] for package in json.loads(done.stdout)["packages"]
                    if package["name"] == CRATE)
    copy = os.path.join(folder, "copy")
    shutil.copytree(os.path.dirname(manifest), copy)
    shutil.rmtree(os.path.join(copy, "tests/fail"), ignore_errors=True)
    # It names the compiler of its authors; the installed one will do.
    os.remove(os.path.join(copy, "rust-toolchain.toml"))
    return copy


def main():
    if shutil.which("cargo") is None:
        skip("cargo is not installed")
    if not os.path.exists(LIBRARY):
        skip("this build has no librocksdb.so")
    with tempfile.TemporaryDirectory(prefix="ashlar_rust_") as folder:
        crate = fetch(folder)
        environment = dict(os.environ, ROCKSDB_LIB_DIR=BUILD, LD_LIBRARY_PATH=BUILD,
                           ROCKSDB_INCLUDE_DIR=os.path.join(SOURCE, "include"))
        command = ["cargo", "test", "--no-default-features", "--features", "bindgen-runtime", "--tests",
                   "--no-fail-fast", *sys.argv[1:], "--", *(word for name in TYPES for word in ("--skip", name))]
        done = subprocess.run(command, cwd=crate, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    counts = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", done.stdout)
    passed, failed, ignored = (sum(int(row[i]) for row in counts) for i in range(3))
    print(f"{CRATE} {VERSION}: {passed} tests passed, {failed} failed, {ignored} ignored")
    names = re.findall(r"^test (\S+) \.\.\. FAILED", done.stdout, re.MULTILINE)
    for name in names:
        print(f"  {name}: {DELIBERATE.get(name, 'NOT EXPECTED')}")
    # A test program that was killed has neither a result nor names of tests.
    crashed = re.findall(r"process didn't exit successfully: `([^`]*)` \(signal.*\)", done.stdout)
    for program in crashed:
        print("  killed:", program)
    return 1 if passed == 0 or crashed or not set(names) <= set(DELIBERATE) else 0


if __name__ == "__main__":
    sys.exit(main())
