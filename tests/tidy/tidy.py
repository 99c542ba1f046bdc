#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Says what nobody should have to say in review. Fails on
#   - an #include against the floors of docs/architecture.md,
#   - a file without licence tag and header comment,
#   - calls that belong to env/ or util/ alone (files, threads, clocks, randomness), RTTI, throws,
#     and `using namespace`,
#   - a room without a README.md, or with code and no tests/<room>,
#   - a longest file or function beyond limits.txt, or a limit that could be lower.
#
# limits.txt only ever gets stricter. Where the tree has become clearly better than a limit, a run in
# somebody's checkout rewrites the file, to be committed with the change that earned it; under CI
# (the environment variable) the same is a failure. A little room stays, so that two changes made at
# the same time do not trip over each other's last line.
#
#   tidy.py SOURCE_ROOT [--lower]     --lower: exactly today's worst, without that room
import os
import re
import sys

ROOMS = [  # (folder, rank); the longest matching folder counts; equal ranks do not see each other
    ("include", 0), ("util", 10), ("env", 20), ("cache", 30),
    ("table/format", 40), ("table/tier", 41), ("table/block", 41), ("table/filter", 42), ("table/index", 42),
    ("table/range_del", 43), ("table/iterator", 44), ("table/sst", 45), ("table", 46),
    ("memtable", 50), ("db/options", 51), ("db/wal", 52), ("db/blob", 53), ("db/manifest", 54), ("db/table_cache", 54.2), ("db/version", 54.4), ("db/search", 54.6),
    ("db/read", 55), ("db/write", 55), ("db/output", 56), ("db/flush", 57), ("db/compaction", 57),
    ("db/column_family", 58), ("db/state", 59), ("db/jobs", 60), ("db/report", 61), ("db/files", 61),
    ("db/api", 61), ("db/opening", 62), ("db/changes", 63), ("db/ingestion", 64), ("db", 65), ("db/transaction", 70), ("db/utilities", 70),
    ("db/c_api", 71),
    ("tools", 80), ("benchmarks", 80), ("examples", 80), ("tests", 81),
]
# How far below its limit today's worst may lie before the limit follows.
SLACK = {"file_lines": 25, "function_lines": 5}
LIBRARY = ("util/", "env/", "cache/", "table/", "memtable/", "db/", "include/")

# (pattern, what it is, regular expression of paths where it is at home)
BANNED = [
    (r"\busing\s+namespace\b", "using namespace", None),
    (r"(?<![\w.>:])(?:::|std::)?(?:open|openat|fopen)\s*\(|\bstd::[io]?fstream\b",
     "opens a file without FileSystem", r"^env/|^tools/|^tests/|^benchmarks/|^examples/"),
    (r"\bstd::j?thread\b(?!::)|\bpthread_create\b", "starts a thread without the thread pool",
     r"^env/|^util/threads/thread|^tools/|^tests/|^benchmarks/|^examples/"),
    (r"(?<![\w.>:])(?:::|std::)?(?:time|gettimeofday|clock_gettime|usleep|nanosleep)\s*\("
     r"|\bstd::chrono::(?:system|steady|high_resolution)_clock\b|\bsleep_(?:for|until)\s*\(",
     "reads a clock without SystemClock", r"^include/|^env/|^util/threads/(mutex|epoch)|^tools/|^tests/|^benchmarks/|^examples/"),
    (r"(?<![\w.>:])(?:::|std::)?s?rand\s*\(|\bstd::(?:mt19937|random_device|default_random)",
     "randomness without util/random.h", r"^env/|^util/random|^tests/|^tools/|^benchmarks/"),
    (r"\bdynamic_cast\b|\btypeid\b", "needs RTTI", r"^tools/|^tests/|^benchmarks/|^examples/"),
    # The loops of RocksDB's MultiScan have no other way to say that they failed.
    (r"\bthrow\b(?!\s*\()", "throws", r"^tests/|^benchmarks/|^db/api/multi_scan\.cc$"),
]
CODE = (".h", ".cc")
SCRIPTS = (".py", ".sh", ".cmake")
SKIPPED_FOLDERS = {"build", ".git", "corpus", "regress", "data", "__pycache__"}


def source_files(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(d for d in subfolders
                               if d not in SKIPPED_FOLDERS and not d.startswith("build-"))
        for name in sorted(names):
            if name.endswith(CODE + SCRIPTS) or name in ("CMakeLists.txt", "Makefile"):
                yield os.path.relpath(os.path.join(folder, name), root)


def mask(text):
    """The text with comments and the insides of strings blanked; newlines stay."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"'
        r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(match):
        found = match.group(0)
        body = re.sub(r"[^\n]", " ", found)
        return '"' + body[1:-1] + '"' if found[0] in "\"'" and len(body) >= 2 else body
    return pattern.sub(blank, text)


def is_function(head):
    head = re.sub(r"\btemplate\s*<[^{;]*?>\s*(?=[\w\[:~])|\[\[.*?\]\]|\b[A-Z_]{6,}\(.*?\)", " ", head)
    head = re.sub(r"\balignas\s*\([^)]*\)", " ", head)
    if "(" not in head or re.search(r"\bnamespace\b|^\s*(?:typedef\s+)?enum\b", head):
        return False
    before = head[:head.index("(")]
    return "operator" in before or "=" not in before


def functions(text):
    """(name, first line, length) of each function body, constructors with initialisers included."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  mask(text), flags=re.M)
    depth, body_depth, head_start, found = 0, None, 0, []
    for match in re.finditer(r"[{};]", code):
        at, token = match.start(), match.group(0)
        if token == "{":
            depth += 1
            if body_depth is None:
                head = code[head_start:at]
                initialiser = re.search(r"\)[\w\s]*:(?!:)[^;{]*[\w>]\s*$", head)
                if is_function(head) and not initialiser:
                    body_depth, first = depth, head_start + len(head) - len(head.lstrip())
                elif not initialiser:
                    head_start = at + 1
        elif token == "}":
            if body_depth is not None and depth == body_depth:
                line = code.count("\n", 0, first) + 1
                name = re.search(r"([\w:~]+)\s*\(", code[first:at])
                found.append((name.group(1) if name else "?", line,
                              code.count("\n", 0, at) + 2 - line))
                body_depth, head_start = None, at + 1
            elif body_depth is None and not re.match(r"\s*,|\s*\{", code[at + 1:at + 80]):
                head_start = at + 1
            depth -= 1
        elif body_depth is None:
            head_start = at + 1
    return found


def room_of(path):
    best = max((r for r in ROOMS if path.startswith(r[0] + "/")), key=lambda r: len(r[0]),
               default=None)
    return best


def check_includes(path, text):
    mine = room_of(path)
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s+["<]([\w/.]+)[">]', line)
        if not match or mine is None:
            continue
        target = match.group(1)
        if target.startswith(("ashlar/", "rocksdb/")):
            if mine[0] != "include" and target.startswith("rocksdb/") and mine[1] < 80:
                yield number, f"includes {target}: drop-in headers are for clients"
            continue
        theirs = room_of(target)
        if theirs is None or theirs[0] == mine[0]:
            continue
        inside = target.startswith(mine[0] + "/") and mine[0] not in ("db", "table")
        if theirs[1] >= mine[1] and not inside:
            yield number, f"includes {target}: {theirs[0]} is not below {mine[0]}"


def check_header(path, text):
    mark = "//" if path.endswith(CODE) else "#"
    lines = [line for line in text.split("\n")[:12] if not line.startswith("#!")]
    if not lines or lines[0].strip() != mark + " SPDX-License-Identifier: Apache-2.0":
        yield 1, "first line is not the licence tag"
        return
    prose = [line for line in lines[1:] if re.match(re.escape(mark) + r"\s+\w", line)]
    if not prose:
        yield 1, "has no header comment"


def check_banned(path, text):
    code = mask(text).split("\n")
    for pattern, what, home in BANNED:
        if home and re.search(home, path):
            continue
        for number, line in enumerate(code, 1):
            if re.search(pattern, line) and not line.lstrip().startswith("#"):
                yield number, what


def group_of(path):
    if path.startswith("include/"):
        return "public"
    return "library" if path.startswith(LIBRARY) else "tests_and_tools"


def check_rooms(root):
    """(problems, rooms that have code and no tests)"""
    problems, untested = [], []
    for room, rank in ROOMS:
        folder = os.path.join(root, room)
        if not os.path.isdir(folder) or room == "include":
            continue
        if not os.path.exists(os.path.join(folder, "README.md")):
            problems.append(f"{room}: has no README.md (its job, types to read first, invariants, tests)")
        has_code = any(name.endswith(CODE) for name in os.listdir(folder))
        mirror = os.path.join(root, "tests", room)
        tests = os.listdir(mirror) if os.path.isdir(mirror) else []
        if rank < 80 and has_code and not any(name.endswith("_test.cc") for name in tests):
            untested.append(room)
    return problems, untested


class Limits:
    """limits.txt: the comment at its head, numbers by name, rooms that may be without tests."""

    def __init__(self, path):
        self.path, self.head, self.numbers, self.untested = path, [], {}, []
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line.startswith("#"):
                    self.head.append(line)
                elif line.startswith("untested "):
                    self.untested.append(line.split()[1])
                elif line:
                    key, value = line.split()
                    self.numbers[key] = int(value)

    def exceeded(self, worst, untested):
        for key, (length, where) in sorted(worst.items()):
            limit = self.numbers.get(key, 0)
            if length > limit:
                yield f"{where}: {length} lines, longest {key} so far was {limit}; split it"
        for room in sorted(set(untested) - set(self.untested)):
            yield f"{room}: has code and no tests/{room}/*_test.cc"

    def tightened(self, worst, untested, slack):
        """The stricter limits that today's tree allows: (numbers, rooms without tests)."""
        numbers = {}
        for key, limit in self.numbers.items():
            length = worst.get(key, (0, ""))[0]
            is_loose = length < limit - (SLACK[key.split(".")[1]] if slack else 0)
            numbers[key] = length if is_loose else limit
        return numbers, [room for room in self.untested if room in untested]

    def write(self, numbers, untested):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.head) + "\n")
            file.writelines(f"{key} {value}\n" for key, value in sorted(numbers.items()))
            file.writelines(f"untested {room}\n" for room in untested)


def ratchet(limits, worst, untested, lower):
    """Writes stricter limits where they are due, or says under CI that they are."""
    stricter = limits.tightened(worst, untested, slack=not lower)
    if stricter == (limits.numbers, limits.untested):
        return []
    if os.environ.get("CI") and not lower:
        return ["tests/tidy/limits.txt: the tree is better than its limits; run tests/tidy/tidy.py"
                " SOURCE_ROOT and commit what it writes"]
    limits.write(*stricter)
    print("tests/tidy/limits.txt: stricter now; commit it with your change")
    return []


def main():
    root = sys.argv[1]
    limits = Limits(os.path.join(root, "tests/tidy/limits.txt"))
    problems, worst = [], {}
    for path in source_files(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        found = list(check_header(path, text))
        if path.endswith(CODE):
            found += list(check_includes(path, text)) + list(check_banned(path, text))
            group = group_of(path)
            entries = [("file_lines", text.count("\n"), path)]
            entries += [("function_lines", length, f"{path}:{line} {name}")
                        for name, line, length in functions(text)]
            for kind, length, where in entries:
                key = f"{group}.{kind}"
                if length > worst.get(key, (0, ""))[0]:
                    worst[key] = (length, where)
        problems += [f"{path}:{number}: {what}" for number, what in found]

    room_problems, untested = check_rooms(root)
    problems += room_problems + list(limits.exceeded(worst, untested))
    if not problems or "--lower" in sys.argv:
        problems += ratchet(limits, worst, untested, "--lower" in sys.argv)
    for problem in problems:
        print(problem)
    for key, (length, where) in sorted(worst.items()):
        print(f"{key}: {length} ({where})")
    print("tidy: " + (f"{len(problems)} problems" if problems else "ok"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
