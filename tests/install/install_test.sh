#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the build into a folder of its own and builds and runs tests/install/client.cc against it
# from outside the tree: through the CMake packages and through pkg-config, static and shared, and
# the same for the drop-in, which is asked for as RocksDB is. The preset `test` installs into a
# multiarch folder where the system has one.
#
#   tests/install/install_test.sh BUILD_FOLDER plain|dropin
set -euo pipefail
build=$(cd "$1" && pwd) kind=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"

cmake --install "$build" --prefix "$prefix" >"$work/install.log"

packages=(ashlar)
[ "$kind" = dropin ] && packages+=(rocksdb)

echo "== CMake packages"
cp "$here/client.cc" "$here/CMakeLists.txt" "$work/"
cmake -S "$work" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DDROPIN="$kind" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/cmake" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
for package in "${packages[@]}"; do
  for library in static shared; do
    "$work/cmake/client_${package}_$library" "$work/db_cmake_${package}_$library"
  done
done

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ashlar.pc)")
export PKG_CONFIG_PATH
lib=$(dirname "$PKG_CONFIG_PATH")
if [ "$kind" = dropin ]; then
  pkg-config --atleast-version=6.0 rocksdb
  pkg-config --exact-version="$(pkg-config --modversion rocksdb)" "rocksdb >= 11"
fi
for package in "${packages[@]}"; do
  [ "$(realpath "$(pkg-config --variable=libdir "$package")")" = "$(realpath "$lib")" ] ||
    { echo "$package.pc looks for the library in $(pkg-config --variable=libdir "$package")"; exit 1; }
done
for package in "${packages[@]}"; do
  define=()
  [ "$package" = rocksdb ] && define=(-DCLIENT_OF_ROCKSDB)
  # shellcheck disable=SC2046  # the flags are meant to split
  c++ -std=c++17 "${define[@]}" $(pkg-config --cflags "$package") "$here/client.cc" \
    -o "$work/client_shared" $(pkg-config --libs "$package") -Wl,-rpath,"$lib"
  "$work/client_shared" "$work/db_pc_${package}_shared"
  # shellcheck disable=SC2046
  c++ -std=c++17 "${define[@]}" $(pkg-config --cflags "$package") "$here/client.cc" \
    -o "$work/client_static" $(pkg-config --libs --static "$package" | sed "s/-l$package/-l:lib$package.a/")
  "$work/client_static" "$work/db_pc_${package}_static"
done

echo "== C, against the C library of Ashlar and against the drop-in, whose names differ by the prefix"
example="$here/../../examples/c_api.c"
expected=$(sed -n '/^\/\/ Prints:/,/^[^/]/s/^\/\/   //p' "$example")
for package in "${packages[@]}"; do
  name=$package
  [ "$package" = rocksdb ] || name=ashlar-c
  sed "s/ashlar/$package/g" "$example" >"$work/c_api.c"
  # shellcheck disable=SC2046
  cc -std=c11 -Wall -Wextra -pedantic -Werror $(pkg-config --cflags "$name") "$work/c_api.c" \
    -o "$work/c_shared" $(pkg-config --libs "$name") -Wl,-rpath,"$lib"
  [ "$("$work/c_shared" "$work/db_c_${package}_shared")" = "$expected" ] || { echo "$name: another output"; exit 1; }
  # shellcheck disable=SC2046
  cc $(pkg-config --cflags "$name") "$work/c_api.c" -o "$work/c_static" \
    $(pkg-config --libs --static "$name" | sed "s/-l\(ashlar-c\|ashlar\|rocksdb\)\b/-l:lib\1.a/g") -lm
  [ "$("$work/c_static" "$work/db_c_${package}_static")" = "$expected" ] || { echo "$name: another output"; exit 1; }
done

echo "== sonames: a version of ours, and none that RocksDB has"
soname() { readelf -d "$lib/lib$1.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'; }
[ "$(soname ashlar)" = "libashlar.so.$(pkg-config --modversion ashlar | cut -d. -f1,2)" ] ||
  { echo "soname of libashlar: $(soname ashlar)"; exit 1; }
if [ "$kind" = dropin ]; then
  [[ "$(soname rocksdb)" =~ ^librocksdb\.so\.[0-9]+\.[0-9]+-ashlar[0-9]+\.[0-9]+$ ]] ||
    { echo "soname of librocksdb: $(soname rocksdb)"; exit 1; }
fi

echo "== nothing is required that no line uses"
for package in "${packages[@]}"; do
  nm -u "$lib/lib$package.a" | awk '{print $NF}' | sort -u >"$work/needed"
  for library in $(pkg-config --libs-only-l --static "$package"); do
    name=${library#-l}
    case "$name" in "$package" | pthread | stdc++ | m) continue ;; esac
    file=$(c++ -print-file-name="lib$name.so")
    [ -e "$file" ] || file=$(c++ -print-file-name="lib$name.a")
    nm --defined-only $([[ $file = *.so ]] && echo -D) "$file" | awk '{sub(/@.*/, "", $NF); print $NF}' |
      sort -u | comm -12 - "$work/needed" | grep . >/dev/null ||
      { echo "$package.pc requires $library, of which $package uses nothing"; exit 1; }
  done
done
echo "install: ok (${packages[*]})"
