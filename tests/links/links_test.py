#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Every room links only with the rooms below it. tests/tidy finds upward #include lines; this test
# finds functions that a public header declares, that a low floor calls and a high one defines. It
# reads the symbol tables of the rooms' archives with nm; CMake writes rooms.txt, which lists the
# rooms that each room may use.
#
#   ASHLAR_BUILD_DIR=build/test links_test.py
import os
import subprocess
import sys


def read_rooms(path):
    """Returns [(room, archive, rooms it may use)], lowest first."""
    rooms = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, archive, knows = line.rstrip("\n").split("\t")
            rooms.append((name, archive, set(knows.split())))
    return rooms


def symbols(archive):
    """Returns (defined names, {undefined name: object that needs it}) of an archive."""
    out = subprocess.run(["nm", "-A", archive], check=True, capture_output=True, text=True).stdout
    defined, undefined = set(), {}
    for line in out.splitlines():
        where, _, rest = line.rpartition(":")
        fields = rest.split()
        kind, name = fields[-2], fields[-1]
        if kind == "U":
            undefined[name] = where.rpartition(":")[2]
        elif kind.isupper() or kind in "uv":
            defined.add(name)
    return defined, undefined


def demangle(names):
    out = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True,
                         text=True).stdout
    return dict(zip(names, out.splitlines()))


def main():
    rooms = read_rooms(os.path.join(os.environ["ASHLAR_BUILD_DIR"], "rooms.txt"))
    table = {name: symbols(archive) for name, archive, _ in rooms}
    homes = {}  # symbol -> rooms that define it; inline functions have several
    for name, (defined, _) in table.items():
        for symbol in defined:
            homes.setdefault(symbol, set()).add(name)

    upward, checked = [], 0
    for name, _, knows in rooms:
        for symbol, needed_by in table[name][1].items():
            home = homes.get(symbol)
            if home is None:
                continue  # defined outside of the rooms: in the C++ runtime or another library
            checked += 1
            if not home & knows:
                upward.append((name, needed_by, symbol, min(home)))
    names = demangle([symbol for _, _, symbol, _ in upward]) if upward else {}
    for name, needed_by, symbol, home in upward:
        print(f"{name}: {needed_by} needs {names[symbol]}, which is defined above it, in {home}")
    if checked < 1000:
        print(f"only {checked} links between rooms: the archives are not what this test expects")
        return 1
    print(f"links: {len(rooms)} rooms, {checked} links, {len(upward)} upward")
    return 1 if upward else 0


if __name__ == "__main__":
    sys.exit(main())
