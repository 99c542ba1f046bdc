#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The Debian packages of the build: what is in them, what they say of each other and of Debian's
# RocksDB, and that a program builds against them and the tools run from where dpkg has put them. The
# root that dpkg installs into knows only what the packages depend on, librocksdb7.8, librocksdb-dev
# and rocksdb-tools; only its files are searched. Ends with 77 without dpkg.
#
#   tests/install/packages_test.sh BUILD_FOLDER
#
# No `grep -q` behind a pipe: whoever writes to it would die of SIGPIPE, and pipefail tells.
set -euo pipefail
build=$(cd "$1" && pwd)
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
for tool in dpkg dpkg-deb dpkg-shlibdeps cpack pkg-config; do
  command -v $tool >/dev/null && continue
  echo "MISSING: $tool"
  [ "${ASHLAR_REQUIRE_ALL:-0}" = 1 ] && exit 1
  exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "packages: $*" >&2; exit 1; }

# Compression is what costs; what it is of is no subject here.
(cd "$work" && cpack --config "$build/CPackConfig.cmake" -B "$work/debs" \
  -D CPACK_DEBIAN_COMPRESSION_TYPE=none >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
names=(libashlar libashlar-dev librocksdb-ashlar librocksdb-ashlar-dev ashlar-tools)
for name in "${names[@]}"; do
  mv "$work/debs/${name}"_*.deb "$work/$name.deb" || fail "no package $name"
done
[ -z "$(find "$work/debs" -maxdepth 1 -name '*.deb')" ] || fail "more packages than ${names[*]}"
field() { dpkg-deb -f "$work/$1.deb" "$2"; }
files() { dpkg-deb -c "$work/$1.deb" | awk '$1 !~ /^d/ {print $6}'; }

echo "== what is in them"
for name in "${names[@]}"; do files "$name"; done | sort | uniq -d >"$work/twice"
[ ! -s "$work/twice" ] || fail "in two packages: $(cat "$work/twice")"
has() { files "$1" | grep -E "$2" >/dev/null || fail "$1 has no $2"; }
lacks() { if files "$1" | grep -E "$2"; then fail "$1 should not have these"; fi; }
for library in ashlar:libashlar rocksdb:librocksdb-ashlar; do
  name=${library#*:} library=${library%:*}
  has "$name" "/lib$library\.so\.[0-9]"
  lacks "$name" "\.so$|\.a$|\.h$|/cmake/"
  for file in "/lib$library\.so$" "/lib$library\.a$" "/include/$library/db\.h$" "/$library\.pc$" \
      'ConfigVersion\.cmake$' "/doc/$name-dev/copyright$"; do
    has "$name-dev" "$file"
  done
  grep -q "lib$library" <(dpkg-deb --ctrl-tarfile "$work/$name.deb" | tar xO ./shlibs) ||
    fail "$name does not say what needs it"
done
for tool in ldb sst_dump db_bench; do has ashlar-tools "^./usr/bin/$tool$"; done

echo "== what they say of each other and of Debian's"
[[ $(field libashlar-dev Depends) == *"libashlar (= "* ]] || fail "libashlar-dev goes with any libashlar"
[[ $(field libashlar Depends) == *libc6* ]] || fail "libashlar does not say what it is linked with"
for name in libashlar libashlar-dev librocksdb-ashlar; do
  [ -z "$(field $name Conflicts)" ] || fail "$name keeps Debian's programs from working"
done
for pair in librocksdb-ashlar-dev:librocksdb-dev ashlar-tools:rocksdb-tools; do
  ours=${pair%:*} theirs=${pair#*:}
  [ "$(field "$ours" Conflicts)" = "$theirs" ] || fail "$ours does not conflict with $theirs"
  [ "$(field "$ours" Replaces)" = "$theirs" ] || fail "$ours does not replace $theirs"
  [[ "$(field "$ours" Provides)" =~ ^"$theirs (= "[0-9.]+")"$ ]] || fail "$ours does not provide $theirs"
done

synopses=$(for name in "${names[@]}"; do field "$name" Description | sed -n 1p; done | sort -u | wc -l)
[ "$synopses" = ${#names[@]} ] || fail "only $synopses different descriptions"

echo "== installed in a root of their own"
root="$work/root"
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
touch "$root/var/lib/dpkg/available"
installed() {  # name version: as if installed there, without files
  printf 'Package: %s\nStatus: install ok installed\nMaintainer: none\nArchitecture: %s\nVersion: %s\nDescription: stands in\n\n' \
    "$1" "$(dpkg --print-architecture)" "$2" >>"$root/var/lib/dpkg/status"
  touch "$root/var/lib/dpkg/info/$1.list"
}
for name in "${names[@]}"; do field "$name" Depends; done | tr ',' '\n' | sed 's/|.*//' |
  awk 'NF {print $1}' | sort -u >"$work/depends"
while read -r name; do
  [[ " ${names[*]} " == *" $name "* ]] && continue
  version=$(dpkg-query -W -f '${Version}\n' "$name" 2>/dev/null | sed -n 1p) || true
  installed "$name" "${version:-999}"
done <"$work/depends"
for name in librocksdb7.8 librocksdb-dev rocksdb-tools; do installed $name 7.8.3-2; done
debs=("${names[@]/#/$work/}")
# There is nothing in that root to run their scripts with; these only call ldconfig.
mkdir "$work/bin"
printf '#!/bin/sh\n' >"$work/bin/ldconfig"
chmod +x "$work/bin/ldconfig"
PATH="$work/bin:$PATH:/usr/sbin:/sbin" dpkg --root="$root" --log="$work/dpkg.log" --force-not-root \
  --force-script-chrootless -i "${debs[@]/%/.deb}" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
state() { dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Status}' "$1" 2>/dev/null || echo gone; }
for name in "${names[@]}" librocksdb7.8; do
  [ "$(state "$name")" = installed ] || fail "$name is $(state "$name")"
done
for name in librocksdb-dev rocksdb-tools; do
  [ "$(state $name)" != installed ] || fail "$name is still there beside what replaces it"
done

echo "== programs built against them"
lib=$(dirname "$(find "$root/usr/lib" -name 'libashlar.so')")
export PKG_CONFIG_LIBDIR="$lib/pkgconfig" LD_LIBRARY_PATH="$lib" PATH="$root/usr/bin:$PATH"
pkg-config --atleast-version=6.0 rocksdb || fail "rocksdb.pc says $(pkg-config --modversion rocksdb)"
# shellcheck disable=SC2046  # the flags are meant to split
c++ -std=c++17 "$source_dir/examples/quickstart.cc" -o "$work/quickstart" $(pkg-config --cflags --libs ashlar)
"$work/quickstart" "$work/stones" >/dev/null
# shellcheck disable=SC2046
c++ -std=c++17 -DCLIENT_OF_ROCKSDB "$source_dir/tests/install/client.cc" -o "$work/client" \
  $(pkg-config --cflags --libs rocksdb)
"$work/client" "$work/clients_db"
ldd "$work/client" | grep "librocksdb.so.*-ashlar.* => $lib/" >/dev/null || fail "the client loads another RocksDB"

echo "== the tools from the path"
for tool in ldb sst_dump db_bench; do
  [ "$(command -v $tool)" = "$root/usr/bin/$tool" ] || fail "$tool is $(command -v $tool)"
done
ldb --db="$work/stones" scan | grep 'granite' >/dev/null || fail "ldb does not read what the example wrote"
db_bench --db="$work/bench" --benchmarks=fillseq,compact --num=1000 >/dev/null 2>&1 || fail "db_bench"
table=$(find "$work/bench" -name '*.sst' -print -quit)
sst_dump --file="$table" --command=verify | grep -i ok >/dev/null || fail "sst_dump --command=verify"

echo "== sizes"
"$source_dir/tests/install/library_sizes.sh" "$build"
echo "packages: ok (${names[*]})"
