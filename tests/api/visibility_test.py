#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Programs rely on what a header of RocksDB brings along. For each header that both have, what the
# installed RocksDB's makes visible is visible through ours too: the public headers that we have, and
# the standard headers that its headers include themselves. Needs librocksdb-dev (exit code 77 without;
# a failure where ASHLAR_REQUIRE_ALL=1).
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from skips import exit_as_missing  # noqa: E402

OURS = ROOT / "include"
THEIRS = pathlib.Path("/usr/include")
COMPILER = os.environ.get("CXX", "c++")
PUBLIC = re.compile(r"/(?:rocksdb|ashlar)/((?:utilities/)?\w+\.h)$")
STANDARD = re.compile(r"/c\+\+/\d+/(\w+)$")


def opened(include, header):
    """[(depth, path)] of all files that the preprocessor opens for rocksdb/`header`."""
    run = subprocess.run(
        [COMPILER, "-std=c++17", "-H", "-E", "-o", os.devnull, "-x", "c++", "-I", str(include), "-"],
        input=f'#include "rocksdb/{header}"\n', capture_output=True, text=True)
    if run.returncode != 0 and include == THEIRS:
        return []  # it includes a header that is private to RocksDB
    if run.returncode != 0:
        sys.exit(f"rocksdb/{header} of {include} does not preprocess:\n{run.stderr}")
    lines = re.findall(r"^(\.+) (\S+)$", run.stderr, re.M)
    return [(len(dots), path) for dots, path in lines]


def visible(files):
    """(public headers, standard headers) among them."""
    public = {m.group(1) for _, path in files if (m := PUBLIC.search(path))}
    return public, {m.group(1) for _, path in files if (m := STANDARD.search(path))}


def promised(header):
    """What RocksDB's header brings. Of the standard headers those that a header of RocksDB names, not
    what this compiler's library includes by itself."""
    files = opened(THEIRS, header)
    public, _ = visible(files)
    named, parents = set(), []
    for depth, path in files:
        del parents[depth - 1:]
        match = STANDARD.search(path)
        if match and parents and PUBLIC.search(parents[-1]):
            named.add(match.group(1))
        parents.append(path)
    return public, named


def missing(header):
    public, standard = promised(header)
    our_public, our_standard = visible(opened(OURS, header))
    our_public.add("rocksdb_namespace.h")  # what it defines, dropin_begin.h does
    return ([h for h in sorted(public - our_public) if (OURS / "rocksdb" / h).exists()],
            [f"<{h}>" for h in sorted(standard - our_standard)])


def main():
    if not (THEIRS / "rocksdb/db.h").exists():
        exit_as_missing("RocksDB's headers (librocksdb-dev)")
    headers = sorted(p.relative_to(OURS / "rocksdb").as_posix() for p in OURS.glob("rocksdb/**/*.h"))
    headers = [h for h in headers if (THEIRS / "rocksdb" / h).exists()]
    assert len(headers) > 60, "this compares nothing"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(missing, headers))
    failures = 0
    for header, (public, standard) in zip(headers, results):
        if public or standard:
            failures += 1
            print(f"rocksdb/{header} does not bring {' '.join(public + standard)}"
                  " (ALSO_VISIBLE in tools/make_dropin_headers.py)")
    print(f"visibility: {len(headers)} headers compared, {failures} bring less than RocksDB's")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
