#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Every function that the C headers declare is called by the C tests, and the shared libraries that
# were built export it: libashlar-c under the names of include/ashlar/c/, the drop-in under those of
# include/rocksdb/c.h; and nothing else that looks like one. What tools/make_c_options.py makes is up
# to date.
#
#   capi_test.py
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build" / "test"))


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def declared(paths, prefix):
    """The functions: names before a parenthesis, which in types of callbacks are those of no function."""
    names = set()
    for path in paths:
        text = re.sub(r"^#[^\n]*", "", without_comments(path.read_text()), flags=re.M)
        text = re.sub(r"\btypedef\b[^;{}]*;", "", text)
        names |= set(re.findall(rf"\b({prefix}_\w+)\s*\(", text))
    return names


def called():
    """What the compiled C programs call, also by macros; None before they were built."""
    programs = BUILD / "libcapi_programs.a"
    if not programs.exists():
        return None
    lines = subprocess.run(["nm", "--undefined-only", str(programs)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\b(ashlar_\w+)$", lines, flags=re.M))


def exported(library, prefix):
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True,
                           text=True, check=True).stdout.split()
    return {name for name in lines if name.startswith(prefix + "_")}


def main():
    ours = declared((ROOT / "include/ashlar/c").glob("*.h"), "ashlar")
    theirs = declared([ROOT / "include/rocksdb/c.h"], "rocksdb")
    failures = []
    made = subprocess.run([sys.executable, str(ROOT / "tools/make_c_options.py"), "--check"],
                          capture_output=True, text=True)
    if made.returncode != 0:
        failures.append(made.stdout + made.stderr)
    if (calls := called()) is not None:
        failures += [f"{name}: called by no C test" for name in sorted(ours - calls)]
    failures += [f"{name}: not in both headers" for name in
                 sorted({name.replace("ashlar_", "rocksdb_", 1) for name in ours} ^ theirs)]
    for library, names, prefix in ((BUILD / "libashlar-c.so", ours, "ashlar"),
                                   (BUILD / "librocksdb.so", theirs, "rocksdb")):
        if library.exists():
            failures += [f"{name}: not both declared and exported by {library.name}" for name in
                         sorted(names ^ exported(library, prefix))]
    for failure in failures:
        print(failure)
    print(f"capi: {len(ours)} functions, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
