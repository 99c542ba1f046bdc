#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The shared libraries of packages, stripped, are no larger than what programs are to carry. Other
# builds, which are not optimized as a whole (ASHLAR_LTO), are measured and not held to it. When it
# fails: `size` and `nm -CS --size-sort` of the objects, and cmake/AshlarRareCode.cmake, which says what
# is optimized for size. Sorts of large values, inlined copies of options and the like grow without a sign.
#
#   tests/install/library_sizes.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
declare -A limits=([libashlar.so]=3100000 [libashlar-c.so]=500000 [librocksdb.so]=3600000)  # the last with the C API
kind=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")
! grep -q '^ASHLAR_LTO:BOOL=ON' "$build/CMakeCache.txt" || kind+=" with LTO"
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
for library in "$build"/lib{ashlar,ashlar-c,rocksdb}.so; do
  [ -e "$library" ] || continue
  strip --strip-unneeded -o "$stripped" "$library"
  bytes=$(stat -c %s "$stripped")
  echo "$(basename "$library") ($kind): $bytes bytes stripped"
  limit=${limits[$(basename "$library")]}
  [ "$kind" != "Release with LTO" ] || [ "$bytes" -le "$limit" ] ||
    { echo "$(basename "$library"): more than $limit bytes" >&2; exit 1; }
done
