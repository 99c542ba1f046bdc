# SPDX-License-Identifier: Apache-2.0
#
# The public headers as clang++ understands them.
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def public_headers():
    include = ROOT / "include"
    paths = sorted((include / "ashlar").glob("**/*.h"))
    # These belong to ashlar-testing and ashlar-tools, which are static libraries only, and to the C
    # API, a library of its own.
    tools = ("ldb_tool.h", "sst_dump_tool.h", "db_bench_tool.h", "ldb_cmd.h", "ldb_cmd_execute_result.h")
    paths = [path for path in paths
             if path.parent.name not in ("testing", "c") and path.name not in (*tools, "c.h")]
    return [p.relative_to(include) for p in paths if not p.name.startswith("dropin_")]


def parse(compiler, source):
    """The syntax trees of what `source` declares in namespace ashlar, as dictionaries."""
    command = [compiler, "-std=c++20", "-I", str(ROOT / "include"), "-fsyntax-only", "-x", "c++",
               "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=ashlar", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        tree, at = decoder.raw_decode(text, at)
        yield tree


def public_trees(compiler):
    """Those of all public headers."""
    return parse(compiler, "".join(f'#include "{header}"\n' for header in public_headers()))
