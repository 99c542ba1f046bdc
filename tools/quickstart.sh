#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The second part of `make quickstart`: uses the engine on real data, with the programs just built.
#
#   tools/quickstart.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db="$work/packages"

step() { printf '\n== %s\n' "$*"; }
size_of() { du -sh "$1" | cut -f1; }

step "1. The API in one page (examples/quickstart.cc)"
"$build/example_quickstart" "$work/first"

step "2. Real data: the package index of this machine"
data="$work/index"
if command -v apt-cache >/dev/null; then apt-cache dumpavail >"$data" 2>/dev/null || true; fi
if [ ! -s "$data" ] && [ -s /var/lib/dpkg/status ]; then cp /var/lib/dpkg/status "$data"; fi
if [ ! -s "$data" ]; then  # not Debian: each of the system's header files becomes a "package"
  find /usr/include -name '*.h' -size -200k 2>/dev/null | head -n 5000 | while read -r file; do
    printf 'Package: %s\nVersion: 1\nSection: %s\n' "$file" "$(basename "$(dirname "$file")")"
    grep -v '^$' "$file" || true
    echo
  done >"$data"
fi
echo "  $(size_of "$data") in $(grep -c '^Package: ' "$data") packages"
"$build/example_package_index" load "$data" "$db"
echo "  database: $(size_of "$db") in $(find "$db" -name '*.sst' | wc -l) tables"

step "3. Read the data back, by key and by range"
"$build/example_package_index" check "$data" "$db"

step "4. Kill a writer, reopen the database"
"$build/example_package_index" crash "$db" >"$work/acknowledged" 2>/dev/null & victim=$!
wait "$victim" 2>/dev/null || code=$?
echo "  killed (exit ${code:-0}) after $(wc -l <"$work/acknowledged") acknowledged writes"
[ "${code:-0}" -eq 137 ] || { echo "the writer should have been killed" >&2; exit 1; }
"$build/example_package_index" recover "$db" "$(wc -l <"$work/acknowledged")"
"$build/example_package_index" check "$data" "$db"

step "5. Compact"
"$build/example_package_index" compact "$db"
"$build/example_package_index" check "$data" "$db"

if [ -x "$build/ldb" ]; then
  step "6. ldb: print the first keys, check consistency"
  "$build/ldb" --db="$db" scan --from=section/ --max_keys=5
  "$build/ldb" --db="$db" checkconsistency
fi
if [ -x "$build/sst_dump" ]; then
  step "7. sst_dump: verify a table, print its properties"
  table=$(find "$db" -name '*.sst' | sort | head -n 1)
  "$build/sst_dump" --file="$table" --command=verify
  "$build/sst_dump" --file="$table" --command=none --show_properties | head -n 20
fi
if [ -x "$build/db_bench" ]; then
  step "8. db_bench: 500,000 pairs of 16 and 100 bytes"
  "$build/db_bench" -db="$work/bench" -num=500000 -compression_type=none -bloom_bits=10 \
    -cache_size=1073741824 -seek_nexts=10 -stats_interval=-1 \
    -benchmarks=fillseq,fillrandom,readrandom,readmissing,readseq,readreverse,seekrandom \
    2>/dev/null | grep 'micros/op'
fi
printf '\nquickstart: done. Next: make test, README.md, docs/architecture.md\n'
