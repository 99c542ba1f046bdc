#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A call through a derived class takes every form that it takes through the base. C++ hides two kinds of
# forms without a word: a default argument that an override does not repeat, and the overloads of a name
# that the derived class declares without `using Base::name`. So a program that compacts files of its
# DB does not compile with a TransactionDB. Looked for in all classes of the public headers, in clang's
# syntax tree; without clang++ the test is skipped (exit code 77).
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from skips import exit_as_missing  # noqa: E402
from syntax_trees import parse, public_trees  # noqa: E402

TEMPLATES = {"ClassTemplateDecl", "FunctionTemplateDecl"}

PLANTED = """
namespace ashlar {
struct Base {
  virtual void Short(int a, int b = 1);
  virtual void Other(int a);
  void Other(int a, int b);
};
struct Derived : Base {
  void Short(int a, int b) override;
  void Other(int a) override;
};
struct Careful : Derived {
  void Short(int a, int b = 1) override;
  using Base::Other;
  void Other(int a) override;
};
}
"""


def bare(name):
    return re.sub(r"\bashlar::", "", name)


class Method:
    def __init__(self, node):
        arguments = [c for c in node.get("inner", []) if c.get("kind") == "ParmVarDecl"]
        self.name = node["name"]
        self.type = bare(node["type"]["qualType"])
        self.least = sum("init" not in argument for argument in arguments)
        self.is_override = any(c.get("kind") == "OverrideAttr" for c in node.get("inner", []))

    def __str__(self):
        return f"{self.name}: {self.type}"


class Class:
    def __init__(self, node):
        parts = node.get("inner", [])
        self.bases = [bare(base["type"]["qualType"]) for base in node.get("bases", [])]
        self.methods = [Method(part) for part in parts
                        if part.get("kind") == "CXXMethodDecl" and not part.get("isImplicit")
                        and part.get("storageClass") != "static"
                        and not part["name"].startswith("operator")]
        self.used = {part["name"].rpartition("::")[2] for part in parts if part.get("kind") == "UsingDecl"}


def collect(node, classes, scope=""):
    kind = node.get("kind", "")
    if kind in TEMPLATES:
        return
    if kind in ("CXXRecordDecl", "NamespaceDecl"):
        scope = f"{scope}::{node.get('name', '')}".removeprefix("::")
    if kind == "CXXRecordDecl" and node.get("completeDefinition"):
        classes[bare(scope)] = Class(node)
    for child in node.get("inner", []):
        collect(child, classes, scope)


def methods_above(classes, one):
    """The methods of all bases that are public headers' classes."""
    for base in one.bases:
        if base in classes:
            yield from classes[base].methods
            yield from methods_above(classes, classes[base])


def hidden_forms(classes):
    for name, one in sorted(classes.items()):
        for above in methods_above(classes, one):
            own = [method for method in one.methods if method.name == above.name]
            overrides = [method for method in own if method.type == above.type]
            if any(method.least > above.least for method in overrides):
                yield f"{name} does not repeat the defaults of {above}"
            if any(m.is_override for m in own) and not overrides and above.name not in one.used:
                yield f"{name} hides {above}"


def classes_of(trees):
    classes = {}
    for tree in trees:
        collect(tree, classes)
    return classes


def main():
    compiler = shutil.which("clang++")
    if compiler is None:
        exit_as_missing("clang++")
    planted = sorted(set(hidden_forms(classes_of(parse(compiler, PLANTED)))))
    assert planted == ["Derived does not repeat the defaults of Short: void (int, int)",
                       "Derived hides Other: void (int, int)"], planted
    classes = classes_of(public_trees(compiler))
    failures = sorted(set(hidden_forms(classes)))
    for failure in failures:
        print(failure)
    compared = sum(len(one.methods) for one in classes.values() if one.bases)
    print(f"overrides: {compared} methods of derived classes, {len(failures)} failures")
    return 1 if failures or compared < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
