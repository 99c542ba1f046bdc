#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Every public header compiles alone, as C++17 and as C++20; all together compile in both orders; the
# drop-in headers are up to date and compile in namespace rocksdb. Compiler: $CXX, else c++; ccache is
# used if it is there, which makes all runs but the first one fast.
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPILER = ([shutil.which("ccache")] if shutil.which("ccache") else []) + [os.environ.get("CXX", "c++")]
FLAGS = ["-Wall", "-Wextra", "-Werror", "-O0", "-I", str(ROOT / "include"), "-c"]

# A client that knows classes by forward declaration, and one that drops statuses.
DROPIN_CLIENT = """
namespace rocksdb {
class DB;
class Iterator;
class WriteBatch;
class Status;
struct Options;
}
%s
static_assert(ROCKSDB_VERSION_GE(11, 0, 0), "");
rocksdb::DB* Use(rocksdb::DB* db, rocksdb::WriteBatch* batch) {
  db->Put(rocksdb::WriteOptions(), "key", "value");
  batch->Clear();
  int ashlar = 1;
  return ashlar == 1 ? db : nullptr;
}
"""
UNNOTICED_DROP = '#include "ashlar/db.h"\nvoid Use(ashlar::DB* db) { db->Put({}, "key", "value"); }\n'


def headers(folder):
    base = ROOT / "include"
    return [p.relative_to(base).as_posix() for p in sorted((base / folder).rglob("*.h"))
            if not p.name.startswith("dropin_")]


def compile_text(work, name, text, standard):
    # Relative names, so that ccache finds its results again from another folder.
    source = f"{name.replace('/', '_')}.{standard}.cc"
    (pathlib.Path(work) / source).write_text(text)
    command = COMPILER + FLAGS + [f"-std=c++{standard}", source, "-o", source + ".o"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=work)
    return result.returncode, result.stderr


def includes(names):
    return "".join(f'#include "{name}"\n' for name in names)


def jobs():
    public, dropin = headers("ashlar"), headers("rocksdb")
    for standard in (17, 20):
        for name in public if standard == 17 else []:  # alone in the older language
            yield name, includes([name]), standard, True
        for kind, names in (("public", public), ("dropin", dropin)):
            yield f"{kind}_in_order", includes(names), standard, True
            yield f"{kind}_backwards", includes(reversed(names)), standard, True
        yield "dropin_client", DROPIN_CLIENT % '#include "rocksdb/db.h"', standard, True
    yield "dropped_status", UNNOTICED_DROP, 17, False


def main():
    failures = []
    check = subprocess.run([sys.executable, str(ROOT / "tools/make_dropin_headers.py"), "--check"],
                           capture_output=True, text=True)
    if check.returncode != 0:
        failures.append("drop-in headers are not up to date:\n" + check.stdout)
    count = 0
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = {}
        for name, text, standard, is_good in jobs():
            tasks[pool.submit(compile_text, work, name, text, standard)] = (name, standard, is_good)
        for task in concurrent.futures.as_completed(tasks):
            name, standard, is_good = tasks[task]
            code, errors = task.result()
            count += 1
            if (code == 0) != is_good:
                what = "does not compile" if is_good else "compiles, but should not"
                failures.append(f"{name} {what} as C++{standard}\n{errors[:2000]}")
    for failure in failures:
        print(failure)
    print(f"headers: {count} compilations, {len(failures)} failures")
    return 1 if failures or count < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
