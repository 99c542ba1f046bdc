#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes include/rocksdb/: for each public header a header that renames the namespace and includes
# it, and c.h, the C headers in one file with the names replaced.
#
#   tools/make_dropin_headers.py            write missing and outdated headers, remove surplus ones
#   tools/make_dropin_headers.py --check    only print what would change; exit code 1 if anything would
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC, DROPIN = ROOT / "include/ashlar", ROOT / "include/rocksdb"

# Headers without a drop-in header of their own.
WITHOUT_DROPIN = {"c.h", "dropin_begin.h", "dropin_end.h", "export.h"}

# A drop-in header without a counterpart in include/ashlar/.
NAMESPACE_HEADER = """// SPDX-License-Identifier: Apache-2.0
//
// The name of the namespace. Made by tools/make_dropin_headers.py.
#pragma once

#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif
"""


# Headers that RocksDB's header of this name makes visible and ours does not need. Programs written for
# RocksDB rely on them. They are also included by every header that includes this one.
# tests/api/visibility_test.py compares with an installed RocksDB.
ALSO_VISIBLE = {
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
    "persistent_cache.h": ["statistics.h"],
    "rate_limiter.h": ["env.h", "statistics.h"],
    "sst_file_manager.h": ["file_system.h", "statistics.h"],
    "stats_history.h": ["statistics.h"],
    "thread_status.h": ["<cstddef>", "<vector>"],
    "universal_compaction.h": ["<climits>", "<vector>"],
    "utilities/cache_dump_load.h": ["<set>"],
    "utilities/env_mirror.h": ["<iostream>"],
    "utilities/ldb_cmd.h": ["convenience.h", "utilities/db_ttl.h", "<sstream>"],
    "utilities/object_registry.h": ["<map>", "<mutex>"],
    "utilities/sim_cache.h": ["env.h"],
    "write_buffer_manager.h": ["cache.h", "<condition_variable>", "<list>", "<mutex>"],
}


def ashlar_includes(name):
    """The public headers that a header includes directly."""
    return re.findall(r'#include "ashlar/([\w/]+\.h)"', (PUBLIC / name).read_text())


def visible_through(name, seen=None):
    """All public headers that include/ashlar/`name` makes visible, including itself."""
    seen = set() if seen is None else seen
    if name not in seen:
        seen.add(name)
        for other in ashlar_includes(name):
            visible_through(other, seen)
    return seen


def extra_includes(name):
    """Returns (standard headers, drop-in headers) that `name` includes in addition to its ashlar/ header."""
    visible = visible_through(name)
    extra = {item for header in visible for item in ALSO_VISIBLE.get(header, [])}
    own = {item for item in extra if not item.startswith("<") and item not in visible}
    return sorted(extra - own - visible), sorted(own)


def forwarding_header(name):
    standard, own = extra_includes(name)
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


def c_header():
    """One file, because bindings copy rocksdb/c.h alone, and read it with tools that follow no #include."""
    text = (PUBLIC / "c.h").read_text()
    order = re.findall(r'#include "ashlar/(c/\w+\.h)"', text)
    text = re.sub(r'#include "ashlar/c/\w+\.h"\n', "", text)
    for part in order:
        lines = (PUBLIC / part).read_text().split("\n")
        body = "\n".join(lines[1:])  # without the licence tag
        text += re.sub(r'#pragma once\n|#include "ashlar/c/\w+\.h"\n', "", body)
    text = re.sub(r"rocksdb/c\.h is the same.*?from these headers\.",
                  "Made by tools/make_dropin_headers.py.", text, flags=re.S)
    text = re.sub(r"\bashlar_(on_\w+_cb)\b", r"\1", text)  # RocksDB has no prefix here
    text = text.replace("ashlar_", "rocksdb_").replace("ASHLAR_", "ROCKSDB_")
    return re.sub(r"\n{3,}", "\n\n", text)


def expected_files():
    files = {"rocksdb_namespace.h": NAMESPACE_HEADER, "c.h": c_header()}
    for path in sorted(PUBLIC.rglob("*.h")):
        name = path.relative_to(PUBLIC).as_posix()
        if name not in WITHOUT_DROPIN and not name.startswith(("c/", "testing/")):
            files[name] = forwarding_header(name)
    return files


def main():
    check = "--check" in sys.argv[1:]
    expected = expected_files()
    present = {p.relative_to(DROPIN).as_posix() for p in DROPIN.rglob("*.h")}
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
