# SPDX-License-Identifier: Apache-2.0
#
# The code in a page of docs/guide. Fences mean:
#
#   ```cpp            statements, run in order; each block is a function with `db` and `path`
#   ```cpp global     declarations that the blocks after it use
#   ```cpp program    a whole program, built and run by itself (```c program: in C)
#   ```text           what the block before it prints; without one, it prints nothing
#   ```console        lines that begin with "$ " are run; the others are what is printed, if there are any
#
# Other fences (```sh, ```cmake) are shown and not run. As a script, page.py writes C++ from a page:
#
#   page.py PAGE.md snippets|program OUTPUT
import pathlib
import re
import sys

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)


class Block:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line
        self.output = ""


def blocks_of(page):
    """Every fenced block, those of output put to the block that they belong to."""
    text = pathlib.Path(page).read_text()
    blocks = []
    for match in FENCE.finditer(text):
        block = Block(match.group(1), match.group(2), text.count("\n", 0, match.start(2)) + 1)
        if block.kind == "text" and blocks:
            blocks[-1].output += block.text
        else:
            blocks.append(block)
    return blocks


def of_kind(page, kind):
    return [block for block in blocks_of(page) if block.kind == kind]


def with_lines(block, page):
    """The code without its includes, with compiler messages that name the page."""
    code = "\n".join("" if line.startswith("#include") else line for line in block.text.split("\n"))
    return f'#line {block.line} "{page}"\n{code}'


def snippets(page):
    blocks = [b for b in blocks_of(page) if b.kind in ("cpp", "cpp global")]
    includes = sorted({line for b in blocks for line in b.text.split("\n") if line.startswith("#include")})
    parts = ['#include "tests/guide/runner.h"', *includes, "namespace {"]
    names = []
    for block in blocks:
        if block.kind == "cpp global":
            parts.append(with_lines(block, page))
            continue
        names.append(f"Snippet{len(names)}")
        parts.append(f"void {names[-1]}([[maybe_unused]] std::unique_ptr<ashlar::DB>& db,\n"
                     f"    [[maybe_unused]] const std::string& path) {{\n{with_lines(block, page)}}}")
    name = pathlib.Path(page).stem
    parts.append(f'const guide::Page registered("{name}", {{{", ".join(names)}}});\n}}  // namespace\n')
    return "\n".join(parts)


def program(page):
    [block] = of_kind(page, "cpp program") + of_kind(page, "c program")
    return block.text


if __name__ == "__main__":
    kind = {"snippets": snippets, "program": program}[sys.argv[2]]
    pathlib.Path(sys.argv[3]).write_text(kind(sys.argv[1]))
