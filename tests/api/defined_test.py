#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the shared libraries export is what the public headers declare. Every function, static member
# and variable that one declares is there, so that whoever may call it can also link: what is not built
# yet answers NotSupported. And nothing else is: no name of an inner room, no template of the standard
# library. The drop-in exports the same under its own name. The declarations come from clang's syntax
# tree; without clang++ the test is skipped (exit code 77).
#
#   defined_test.py [--list]      --list: print what libashlar exports
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from skips import exit_as_missing  # noqa: E402
from syntax_trees import public_trees  # noqa: E402

FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl",
             "CXXConversionDecl"}
TEMPLATES = {"ClassTemplateDecl", "FunctionTemplateDecl"}
# What a compiler makes for a class, and for a function that one of several bases declares.
MADE_FOR = re.compile(r"^(?:(vtable|typeinfo|typeinfo name|VTT) for |(?:non-virtual|virtual) thunk to )")


class Declarations:
    def __init__(self):
        self.names = {}  # mangled -> readable
        self.inline = set()
        self.classes = set()  # readable, those that a header defines

    def walk(self, node, scope=""):
        kind = node.get("kind", "")
        if kind in TEMPLATES:
            return
        if kind in FUNCTIONS:
            self.add(node, scope, any(c.get("kind") == "CompoundStmt" for c in node.get("inner", [])))
            return
        if kind == "VarDecl" and node.get("storageClass") in ("static", "extern"):
            self.add(node, scope, "init" in node)
        if kind == "CXXRecordDecl" and node.get("completeDefinition"):
            self.classes.add(f"{scope}::{node.get('name', '')}".removeprefix("::"))
        inner = f"{scope}::{node.get('name', '')}" if kind in ("CXXRecordDecl", "NamespaceDecl") else scope
        for child in node.get("inner", []):
            self.walk(child, inner)

    def add(self, node, scope, has_body):
        mangled = node.get("mangledName")
        if mangled is None:
            return
        self.names.setdefault(mangled, f"{scope}::{node.get('name')}")
        if has_body or any(node.get(mark) for mark in
                           ("isImplicit", "explicitlyDefaulted", "explicitlyDeleted", "pure", "inline",
                            "constexpr")):
            self.inline.add(mangled)


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.strip()}


def readable(symbols):
    names = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {name.replace("[abi:cxx11]", "") for name in names}


def without_definition(declarations, symbols):
    return sorted(name.removeprefix("::") for mangled, name in declarations.names.items()
                  if mangled not in declarations.inline and mangled not in symbols)


def not_public(declarations, names):
    """Of the readable names those that no public header declares."""
    functions = readable(declarations.names)
    leaked = []
    for name in sorted(names):
        made_for = MADE_FOR.match(name)
        what = name[made_for.end():] if made_for else name
        if what not in (declarations.classes if made_for and made_for.group(1) else functions):
            leaked.append(name)
    return leaked


def c_functions(names):
    header = ROOT / "include/rocksdb/c.h"
    declared = set(re.findall(r"\b(rocksdb_\w+)\(", header.read_text())) if header.exists() else set()
    return names & declared


def main():
    compiler = shutil.which("clang++")
    build = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build" / "test"))
    library, dropin = build / "libashlar.so", build / "librocksdb.so"
    if compiler is None or not library.exists():
        exit_as_missing(f"clang++, or {library}")
    declarations = Declarations()
    for tree in public_trees(compiler):
        declarations.walk(tree)
    symbols = exported(library)
    names = readable(symbols)
    if "--list" in sys.argv[1:]:
        print("\n".join(sorted(names)))
        return 0
    failures = [f"declared, but not in the library (defined? ASHLAR_EXPORT?): {name}"
                for name in without_definition(declarations, symbols)]
    failures += [f"leaves the library, but is not public: {name}" for name in not_public(declarations, names)]
    if dropin.exists():
        theirs = readable(exported(dropin))
        theirs = {name.replace("rocksdb::", "ashlar::") for name in theirs - c_functions(theirs)}
        # The drop-in's C API derives from classes without a key function, which emits their type information.
        differing = [name for name in sorted(names ^ theirs) if not name.startswith("typeinfo ")]
        failures += [f"exported by one of libashlar and the drop-in: {name}" for name in differing]
    for failure in failures:
        print(failure)
    print(f"defined: {len(declarations.names)} declarations, {len(names)} exported names, {len(failures)} failures")
    return 1 if failures or len(declarations.names) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
