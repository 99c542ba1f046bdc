#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The test suite of grocksdb, a Go binding of RocksDB, linked with this build's librocksdb. Skipped if
# Go or the module proxy is missing. By hand, with everything that the tests print:
#
#   tests/bindings/grocksdb_test.py --verbose
import os
import re
import subprocess
import sys
import tempfile

from go_module import GROCKSDB, LIBRARY, environment, fetch, skip_without_go_and_library

SECONDS = 540


def missing_functions(module):
    """Functions that the binding calls and the library does not export."""
    called = set()
    for name in os.listdir(module):
        if name.endswith((".go", ".c")) and not name.endswith("_test.go"):
            with open(os.path.join(module, name), encoding="utf-8") as file:
                code = re.sub(r"(?m)^\s*//.*$", "", file.read())
            called.update(re.findall(r"\b(rocksdb_[a-z0-9_]+)\(", code))
    symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True,
                             check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    return sorted(called - exported)


def main():
    skip_without_go_and_library()
    with tempfile.TemporaryDirectory(prefix="ashlar_grocksdb_") as folder:
        module = fetch(GROCKSDB, folder)
        missing = missing_functions(module)
        if missing:
            print("the library lacks", len(missing), "functions that the binding calls:", *missing)
            return 1
        command = ["go", "test", "-v", "-count=1", "-tags", "grocksdb_no_link", f"-timeout={SECONDS}s"]
        done = subprocess.run(command, cwd=module, env=environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
    results = re.findall(r"^--- (PASS|FAIL|SKIP): (\w+)", done.stdout, re.MULTILINE)
    names = {word: [name for result, name in results if result == word]
             for word in ("PASS", "FAIL", "SKIP")}
    # The output ends early if a test crashes the process.
    is_complete = re.search(r"^(FAIL|PASS)$", done.stdout, re.MULTILINE) is not None
    if "--verbose" in sys.argv or names["FAIL"] or not is_complete:
        print(done.stdout)
    print(f"{GROCKSDB}: {len(names['PASS'])} tests passed, {len(names['FAIL'])} failed,"
          f" {len(names['SKIP'])} skipped", *names["FAIL"], *names["SKIP"])
    return 1 if names["FAIL"] or not names["PASS"] or not is_complete else 0


if __name__ == "__main__":
    sys.exit(main())
