#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Every function and static member that a public header declares is defined in the library, so that
# whoever may call it can also link: what is not built yet answers NotSupported. The declarations
# come from clang's syntax tree; without clang++ the test is skipped (exit code 77).
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from skips import exit_as_missing  # noqa: E402

FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl"}
TEMPLATES = {"ClassTemplateDecl", "FunctionTemplateDecl"}


def public_headers():
    include = ROOT / "include"
    paths = sorted((include / "ashlar").glob("**/*.h"))
    return [p.relative_to(include) for p in paths if not p.name.startswith("dropin_")]


def syntax_trees(compiler):
    source = "".join(f'#include "{header}"\n' for header in public_headers())
    command = [compiler, "-std=c++20", "-I", str(ROOT / "include"), "-fsyntax-only", "-x", "c++",
               "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=ashlar", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        tree, at = decoder.raw_decode(text, at)
        yield tree


class Declarations:
    def __init__(self):
        self.names = {}  # mangled -> readable
        self.inline = set()

    def walk(self, node, scope=""):
        kind = node.get("kind", "")
        if kind in TEMPLATES:
            return
        if kind in FUNCTIONS:
            self.add(node, scope, any(c.get("kind") == "CompoundStmt" for c in node.get("inner", [])))
            return
        if kind == "VarDecl" and node.get("storageClass") == "static":
            self.add(node, scope, "init" in node)
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


def main():
    compiler = shutil.which("clang++")
    library = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build" / "test")) / "libashlar.so"
    if compiler is None or not library.exists():
        exit_as_missing(f"clang++, or {library}")
    declarations = Declarations()
    for tree in syntax_trees(compiler):
        declarations.walk(tree)
    symbols = exported(library)
    missing = sorted(name for mangled, name in declarations.names.items()
                     if mangled not in declarations.inline and mangled not in symbols)
    for name in missing:
        print("declared, but not in the library:", name.removeprefix("::"))
    print(f"defined: {len(declarations.names)} declarations, {len(missing)} without a definition")
    return 1 if missing or len(declarations.names) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
