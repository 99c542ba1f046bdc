#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A C, a Go and a C++ program use one directory in turn, over this build's librocksdb. Each of their
# processes prints every entry that the turns before it left, adds 1 to the entry "count" by a merge,
# puts an entry with its name, deletes the entry of four turns before, and in even turns flushes. What
# is printed is compared with what was written. Without Go, the other two take turns.
#
#   tests/bindings/relay_test.py
import os
import shutil
import subprocess
import sys
import tempfile

from go_module import BUILD, LIBRARY, SOURCE, environment, skip

TURNS = 24
HERE = os.path.dirname(os.path.abspath(__file__))


def build(folder):
    """The programs by the language that they print."""
    source = os.path.join(HERE, "relay")
    include = ["-I", os.path.join(SOURCE, "include")]
    link = ["-L", BUILD, f"-Wl,-rpath,{BUILD}", "-lrocksdb"]
    programs = {"C": os.path.join(folder, "relay_c"), "C++": os.path.join(folder, "relay_cxx")}
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", *include, os.path.join(source, "relay.c"), "-o",
                    programs["C"], *link], check=True)
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", *include, os.path.join(source, "relay.cc"), "-o",
                    programs["C++"], *link], check=True)
    if shutil.which("go") is None:
        print("Go is not installed: C and C++ take turns")
        return programs
    module = os.path.join(folder, "go")
    os.makedirs(module)
    shutil.copy(os.path.join(source, "relay.go"), module)
    with open(os.path.join(module, "go.mod"), "w", encoding="utf-8") as file:
        file.write("module relay\n")
    programs["Go"] = os.path.join(folder, "relay_go")
    subprocess.run(["go", "build", "-o", programs["Go"], "."], cwd=module, env=environment(), check=True)
    return programs


def main():
    if not os.path.exists(LIBRARY):
        skip("this build has no librocksdb.so")
    with tempfile.TemporaryDirectory(prefix="ashlar_relay_") as folder:
        programs = sorted(build(folder).items())
        expected = {}
        for turn in range(TURNS):
            language, program = programs[turn % len(programs)]
            done = subprocess.run([program, os.path.join(folder, "db"), str(turn)], stdout=subprocess.PIPE,
                                  text=True, check=False, timeout=60)
            printed = dict(line.split("=", 1) for line in done.stdout.splitlines())
            if done.returncode != 0 or printed != expected:
                print(f"turn {turn} ({language}) ended with {done.returncode}\n found: {printed}\n"
                      f" expected: {expected}")
                return 1
            expected["count"] = str(turn + 1)
            expected[f"key{turn:03}"] = f"{language} in turn {turn}"
            expected.pop(f"key{turn - 4:03}", None)
    print(f"{TURNS} turns of", *(language for language, _ in programs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
