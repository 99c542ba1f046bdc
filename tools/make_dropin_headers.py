#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes include/rocksdb/: for each public header one that sets the namespace name and includes it.
#
#   tools/make_dropin_headers.py            write what is missing or old, remove what is left over
#   tools/make_dropin_headers.py --check    only say so; exit 1 if anything would change
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC, DROPIN = ROOT / "include/ashlar", ROOT / "include/rocksdb"

# Headers of ours alone, and files in include/rocksdb/ that are written by hand.
OURS_ALONE = {"dropin_begin.h", "dropin_end.h"}
BY_HAND = {"c.h"}

# Headers with a name of their own there.
NAMESPACE_HEADER = """// SPDX-License-Identifier: Apache-2.0
//
// The name of the namespace. Made by tools/make_dropin_headers.py.
#pragma once

#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif
"""


def forwarding_header(name):
    return (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "//\n"
        f"// ashlar/{name} in namespace rocksdb. Made by tools/make_dropin_headers.py.\n"
        "#pragma once\n\n"
        '#include "ashlar/dropin_begin.h"\n'
        f'#include "ashlar/{name}"\n'
        '#include "ashlar/dropin_end.h"\n'
    )


def expected_files():
    files = {"rocksdb_namespace.h": NAMESPACE_HEADER}
    for path in sorted(PUBLIC.rglob("*.h")):
        name = path.relative_to(PUBLIC).as_posix()
        if name not in OURS_ALONE:
            files[name] = forwarding_header(name)
    return files


def main():
    check = "--check" in sys.argv[1:]
    expected = expected_files()
    present = {p.relative_to(DROPIN).as_posix() for p in DROPIN.rglob("*.h")} - BY_HAND
    changes = []
    for name, text in expected.items():
        path = DROPIN / name
        if path.exists() and path.read_text() == text:
            continue
        changes.append(f"write include/rocksdb/{name}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in sorted(present - expected.keys()):
        changes.append(f"remove include/rocksdb/{name}")
        if not check:
            (DROPIN / name).unlink()
    for change in changes:
        print(change)
    if check and changes:
        print("run tools/make_dropin_headers.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
