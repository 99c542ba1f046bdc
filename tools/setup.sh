#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the packages that a job needs and that are missing, on Debian and Ubuntu; on other
# systems it prints what to install. Running it again takes a tenth of a second.
#
#   tools/setup.sh [build] [test] [bench] [format] [clang] [fuzz] [deb]        default: build
set -euo pipefail

build=(g++ cmake ninja-build ccache pkg-config libsnappy-dev liblz4-dev libzstd-dev zlib1g-dev
       libbz2-dev libxxhash-dev libgflags-dev liburing-dev)
test=(libgtest-dev python3 clang-format)
bench=(libbenchmark-dev python3)
format=(clang-format)
clang=(clang)
deb=(dpkg-dev file)
fuzz=(clang)
# Optional packages: a suite that needs a missing one is skipped.
test_optional=(rocksdb-tools librocksdb-dev dpkg-dev file)
bench_optional=(rocksdb-tools time)
fuzz_optional=(libclang-rt-14-dev)

[ $# -gt 0 ] || set -- build
wanted=() optional=()
for job in "$@"; do
  case "$job" in
    build|test|bench|format|clang|fuzz|deb) ;;
    *) echo "setup: unknown job '$job' (build, test, bench, format, clang, fuzz, deb)" >&2; exit 2 ;;
  esac
  declare -n list="$job"
  wanted+=("${list[@]}")
  declare -n more="${job}_optional"
  [ -z "${more+x}" ] || optional+=("${more[@]}")
done

missing() {  # prints those of its arguments that are not installed
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = "ii " ] || echo "$package"
  done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not Debian or Ubuntu; please make sure that these are installed:"
  echo "  a C++20 compiler (g++ >= 12 or clang >= 14), CMake >= 3.22, Ninja, and the counterparts of"
  echo "  these Debian packages: ${wanted[*]}"
  [ ${#optional[@]} -eq 0 ] || echo "  optional: ${optional[*]}"
  exit 0
fi

mapfile -t need < <(missing "${wanted[@]}")
mapfile -t may < <(missing "${optional[@]}")
[ $((${#need[@]} + ${#may[@]})) -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root: apt-get install ${need[*]} ${may[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends)
echo "setup: installing ${need[*]} ${may[*]}"
"${as_root[@]}" apt-get update -q >/dev/null || echo "setup: apt-get update failed; continuing with the old package lists" >&2
[ ${#need[@]} -eq 0 ] || "${install[@]}" "${need[@]}" >/dev/null
for package in "${may[@]}"; do
  "${install[@]}" "$package" >/dev/null 2>&1 || echo "setup: package $package is not available; continuing without it"
done
