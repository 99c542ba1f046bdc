#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes each target for some time; new inputs are kept in the build folder, crashes fail the run.
#
#   tests/fuzz/run.sh BUILD_FOLDER SECONDS_PER_TARGET
set -euo pipefail
build=$(cd "$1" && pwd) seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
failed=0
for source in "$here"/*_fuzz.cc; do
  target=$(basename "$source" .cc)
  found="$build/corpus/$target"
  mkdir -p "$found" "$here/corpus/${target%_fuzz}"
  echo "fuzz: $target for $seconds s"
  "$build/$target" -max_total_time="$seconds" -print_final_stats=1 -timeout=30 -rss_limit_mb=4096 \
    -artifact_prefix="$build/$target-" "$found" "$here/corpus/${target%_fuzz}" \
    >"$build/$target.log" 2>&1 || { failed=$((failed + 1)); tail -n 40 "$build/$target.log"; }
  grep -E 'stat::number_of_executed_units|stat::peak_rss_mb' "$build/$target.log" || true
done
[ "$failed" -eq 0 ] && echo "fuzz: no failure" || { echo "fuzz: $failed targets failed"; exit 1; }
