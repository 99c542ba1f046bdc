#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Bindings of Node.js over this build's librocksdb. Their packages bring RocksDB's sources along; here only
# the binding itself is compiled, unmodified, with the headers and the library of this build, and then runs
# the test suite of the interface that it implements (abstract-leveldown, abstract-level). Packages come
# from the npm registry and are never stored in the project. Needs Node with its headers, and npm.
#
#   tests/bindings/node_rocksdb.py [PACKAGE...]
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from go_module import BUILD, LIBRARY, SOURCE, skip

HEADERS = ["/usr/include/node", "/usr/local/include/node"]
# For each package its version, and how the suite of its interface is started.
PACKAGES = {
    "rocksdb": ("5.2.1", """
const test = require('tape')
const make = require('rocksdb')
const { mkdtempSync } = require('fs')
const factory = (options) => make(mkdtempSync(process.cwd() + '/db-'), options)
require('abstract-leveldown/test')({ test, factory, clear: true, getMany: true, bufferKeys: true,
  createIfMissing: true, errorIfExists: true, snapshots: true, seek: true })
"""),
    "@nxtedition/rocksdb": ("12.2.12", """
const test = require('tape')
const { RocksLevel } = require('@nxtedition/rocksdb')
const { mkdtempSync } = require('fs')
const factory = (options) => new RocksLevel(mkdtempSync(process.cwd() + '/db-'), options)
require('abstract-level/test')({ test, factory })
"""),
}


class Failed(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)
    return done.returncode, done.stdout


def fetch(package, version, folder):
    """Installs the package without its binary. Returns its path."""
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
        json.dump({"name": "fetch", "private": True, "dependencies": {package: version, "tape": "5"}}, file)
    code, output = run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)
    if code != 0:
        skip(f"{package} cannot be downloaded: " + output[-300:])
    return os.path.join(folder, "node_modules", package)


def build(package, path, folder):
    node = next((name for name in HEADERS if os.path.exists(os.path.join(name, "node_api.h"))), None)
    if node is None:
        skip("the headers of Node.js are not installed")
    shutil.rmtree(os.path.join(path, "prebuilds"), ignore_errors=True)
    target = os.path.join(path, "build/Release")
    os.makedirs(target, exist_ok=True)
    code, output = run(
        ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-DNODE_GYP_MODULE_NAME=leveldown",
         "-I" + node, "-I" + os.path.join(folder, "node_modules/napi-macros"),
         "-I" + os.path.join(SOURCE, "include"), os.path.join(path, "binding.cc"),
         "-o", os.path.join(target, "leveldown.node"), "-L" + BUILD, "-Wl,-rpath," + BUILD, "-lrocksdb"])
    if code != 0:
        raise Failed(f"{package} does not compile:\n" + output[-3000:])


def test(package):
    """Prints the result. Returns whether all tests passed."""
    version, program = PACKAGES[package]
    with tempfile.TemporaryDirectory(prefix="ashlar_node_") as folder:
        path = fetch(package, version, folder)
        build(package, path, folder)
        with open(os.path.join(folder, "suite.js"), "w", encoding="utf-8") as file:
            file.write(program)
        code, output = run(["node", "suite.js"], cwd=folder, timeout=600)
    failures = re.findall(r"^not ok .*", output, re.MULTILINE)
    passed = len(re.findall(r"^ok ", output, re.MULTILINE))
    is_complete = re.search(r"^# tests \d+$", output, re.MULTILINE) is not None
    if code != 0 or failures or not is_complete:
        print(output[-5000:])
    print(f"{package} {version}: {passed} assertions passed, {len(failures)} failed", *failures, sep="\n  ")
    return code == 0 and not failures and is_complete and passed > 0


def main():
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("Node.js is not installed")
    if not os.path.exists(LIBRARY):
        skip("this build has no librocksdb.so")
    failed = []
    for package in sys.argv[1:] or PACKAGES:
        try:
            if not test(package):
                failed.append(package)
        except Failed as error:
            print(error)
            failed.append(package)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
