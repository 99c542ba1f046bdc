#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes include/rocksdb/: for each public header one that sets the namespace name and includes it.
#
#   tools/make_dropin_headers.py            write what is missing or old, remove what is left over
#   tools/make_dropin_headers.py --check    only say so; exit 1 if anything would change
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC, DROPIN = ROOT / "include/ashlar", ROOT / "include/rocksdb"

# Headers of ours alone, and files in include/rocksdb/ that are written by hand.
OURS_ALONE = {"dropin_begin.h", "dropin_end.h", "export.h"}
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


# What RocksDB's header of a name makes visible and ours does not need: programs that were written for
# RocksDB rely on it. Whatever includes the header brings it too. tests/api/visibility_test.py compares
# with an installed RocksDB.
BRINGS = {
    "block_cache_trace_writer.h": ["system_clock.h"],
    "cache.h": ["statistics.h", "<map>"],
    "configurable.h": ["<atomic>"],
    "convenience.h": ["db.h"],
    "data_structure.h": ["<vector>"],
    "db.h": ["block_cache_trace_writer.h", "transaction_log.h"],
    "file_checksum.h": ["<map>"],
    "file_system.h": ["options.h", "table.h", "<sstream>"],
    "flush_block_policy.h": ["table.h"],
    "functor_wrapper.h": ["<memory>"],
    "memtablerep.h": ["<stdexcept>"],
    "perf_level.h": ["<cstdint>", "<string>"],
    "rate_limiter.h": ["env.h", "statistics.h"],
    "sst_file_manager.h": ["file_system.h", "statistics.h"],
    "stats_history.h": ["statistics.h"],
    "thread_status.h": ["<cstddef>", "<vector>"],
    "universal_compaction.h": ["<climits>", "<vector>"],
    "utilities/cache_dump_load.h": ["<set>"],
    "write_buffer_manager.h": ["cache.h", "<condition_variable>", "<list>", "<mutex>"],
}


def ashlar_includes(name):
    """The public headers that one names itself."""
    return re.findall(r'#include "ashlar/([\w/]+\.h)"', (PUBLIC / name).read_text())


def visible_through(name, seen=None):
    """All public headers that include/ashlar/`name` makes visible, itself included."""
    seen = set() if seen is None else seen
    if name not in seen:
        seen.add(name)
        for other in ashlar_includes(name):
            visible_through(other, seen)
    return seen


def brought(name):
    """(headers of the standard library, drop-in headers) that `name` includes beside its twin."""
    visible = visible_through(name)
    brings = {item for header in visible for item in BRINGS.get(header, [])}
    own = {item for item in brings if not item.startswith("<") and item not in visible}
    return sorted(brings - own - visible), sorted(own)


def forwarding_header(name):
    standard, own = brought(name)
    return (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "//\n"
        f"// ashlar/{name} in namespace rocksdb. Made by tools/make_dropin_headers.py.\n"
        "#pragma once\n\n"
        + "".join(f"#include {header}\n" for header in standard) + ("\n" if standard else "")
        + '#include "ashlar/dropin_begin.h"\n'
        f'#include "ashlar/{name}"\n'
        '#include "ashlar/dropin_end.h"\n'
        + ("\n" if own else "") + "".join(f'#include "rocksdb/{header}"\n' for header in own)
    )


def expected_files():
    files = {"rocksdb_namespace.h": NAMESPACE_HEADER}
    for path in sorted(PUBLIC.rglob("*.h")):
        name = path.relative_to(PUBLIC).as_posix()
        if name not in OURS_ALONE and not name.startswith("testing/"):
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
