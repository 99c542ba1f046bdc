#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang over every source file of a build folder without generating code (-fsyntax-only, which
# includes the thread-safety analysis): the warnings of a second compiler for a fraction of a build.
#
#   cmake --preset clang && tools/clang_check.py build/clang [--jobs N] [--only REGEX]
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys


def commands(build, only):
    """Returns {file: (folder, arguments)}: each file once, even if several targets compile it."""
    found = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            if entry["file"].endswith(".c"):
                continue  # the compiler of C may be another one
            words = shlex.split(entry["command"])
            compiler = next(i for i, word in enumerate(words) if "clang" in os.path.basename(word))
            output = words.index("-o")
            arguments = words[compiler:output] + words[output + 2:] + ["-fsyntax-only"]
            # The instrumented copies of tests/interleave have the same sources.
            is_copy = any(word.startswith("-fsanitize") for word in arguments)
            if re.search(only, entry["file"]) and not (is_copy and entry["file"] in found):
                found[entry["file"]] = (entry["directory"], arguments)
    return found


def check(entry):
    folder, arguments = entry
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    found = commands(options.build, options.only)
    messages, failed = {}, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in pool.map(check, found.values()):
            failed += done.returncode != 0
            # A warning in a header is reported once for each file that includes it.
            for block in re.split(r"\n(?=\S+:\d+:\d+: (?:error|warning):)", "\n" + done.stderr):
                if re.match(r"\S+:\d+:\d+: ", block.lstrip()):
                    messages.setdefault(block.split("\n")[0] or block, block.rstrip())
    for block in messages.values():
        print(block)
    print(f"clang: {len(found)} files, {failed} with errors")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
