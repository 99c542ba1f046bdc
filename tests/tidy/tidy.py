#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks the shape of the source tree, so that reviewers need not. It fails on
#   - an #include that goes upward through the floors of docs/architecture.md,
#   - a file without the licence tag or without a header comment,
#   - calls that only env/ or util/ may make (files, threads, clocks, randomness), RTTI, throws, and
#     `using namespace`,
#   - a room without a README.md, or with code and no tests/<room>/*_test.cc,
#   - a file or a function that is longer than the limits below,
#   - a file, function or test that a Markdown page names in backticks and that does not exist,
#   - a source file that clang-format would change.
#
#   tidy.py SOURCE_ROOT
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import skips  # noqa: E402

ROOMS = [  # (folder, rank); the longest matching folder counts; equal ranks do not see each other
    ("include", 0), ("util", 10), ("env", 20), ("env/fault", 21), ("env/sim", 22), ("cache", 30),
    ("table/format", 40), ("table/plain", 40.5), ("table/tier", 41), ("table/block", 41), ("table/filter", 42), ("table/index", 42),
    ("table/range_del", 43), ("table/iterator", 44), ("table/sst", 45), ("table", 46),
    ("memtable", 50), ("db/options", 51), ("db/wal", 52), ("db/blob", 53), ("db/manifest", 54), ("db/table_cache", 54.2), ("db/version", 54.4), ("db/search", 54.6), ("db/trace", 54.8), ("db/trace/replay", 61.2),
    ("db/read", 55), ("db/write", 55), ("db/output", 56), ("db/flush", 57), ("db/compaction", 57),
    ("db/column_family", 58), ("db/state", 59), ("db/jobs", 60), ("db/report", 61), ("db/files", 61),
    ("db/api", 61), ("db/transaction/indexed_batch", 61.5), ("db/opening", 62), ("db/repair", 63), ("db/changes", 63), ("db/following", 63), ("db/ingestion", 64), ("db", 65), ("db/transaction", 70), ("db/utilities", 70),
    ("db/transaction/locks", 10.5), ("db/transaction/visibility", 10.5),
    ("db/utilities/copy", 70), ("db/utilities/backup", 71), ("db/utilities/ttl", 70),
    ("db/utilities/dump", 70), ("db/utilities/migration", 70),
    ("capi", 75),
    ("tools", 80), ("benchmarks", 80), ("examples", 80), ("tests", 81),
]

# The limits, for library, tools and tests alike.
FILE_LINES = 600
FUNCTION_LINES = 70
# Files that may be longer: {path: (lines, reason)}.
LONG_FILES = {
    "include/ashlar/options.h": (1130, "one struct of options with the documentation of each"),
    "include/ashlar/db.h": (940, "one class, DB, with the documentation of each call"),
    "include/rocksdb/c.h": (6000, "all C headers in one: tools/make_dropin_headers.py"),
    "include/ashlar/env.h": (680, "programs include this header for Env and all its wrappers"),
    "include/ashlar/utilities/stackable_db.h": (640, "one class that forwards every call of DB"),
}

# (pattern, what it is, regular expression of the paths that may contain it)
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
    # The loops of RocksDB's MultiScan have no other way to report a failure.
    (r"\bthrow\b(?!\s*\()", "throws", r"^tests/|^benchmarks/|^(db/api/multi_scan|tools/ldb/ldb_cmd)\.cc$"),
]
CODE = (".h", ".cc")
SCRIPTS = (".py", ".sh", ".cmake")
SKIPPED_FOLDERS = {"build", ".git", "corpus", "regress", "__pycache__"}
# Pages may name these files, which readers are to create.
FILES_OF_READERS = {"hello.cc"}
# Folders of samples: they hold no sources, but pages may name their files.
DATA_FOLDERS = {"data"}

# The release that the tree is formatted with. Others format some lines differently.
CLANG_FORMAT_MAJOR = 14


def tree_files(root):
    """Paths of all files, relative to `root`, build folders left out."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(d for d in subfolders
                               if d not in SKIPPED_FOLDERS and not d.startswith("build-"))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def is_source(path):
    name = os.path.basename(path)
    return ((name.endswith(CODE + SCRIPTS) or name in ("CMakeLists.txt", "Makefile"))
            and not DATA_FOLDERS & set(path.split("/")))


def read_text(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


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


def functions(code):
    """(name, first line, length) of each function body in masked code, constructors with
    initialisers included."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  code, flags=re.M)
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


def check_banned(path, code):
    lines = code.split("\n")
    for pattern, what, allowed in BANNED:
        if allowed and re.search(allowed, path):
            continue
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line) and not line.lstrip().startswith("#"):
                yield number, what


def check_file_length(path, text):
    limit = LONG_FILES.get(path, (FILE_LINES,))[0]
    lines = text.count("\n")
    if lines > limit:
        yield 1, f"has {lines} lines, more than {limit}; split it"


def check_function_lengths(code):
    for name, line, length in functions(code):
        if length > FUNCTION_LINES:
            yield line, f"{name} has {length} lines, more than {FUNCTION_LINES}; split it"


def check_long_files(root):
    """An exception that is no longer needed is removed from the list."""
    for path, (limit, _) in LONG_FILES.items():
        if os.path.exists(os.path.join(root, path)):
            lines = read_text(root, path).count("\n")
            if lines <= FILE_LINES:
                yield f"{path}: has {lines} lines; remove it from LONG_FILES in tests/tidy/tidy.py"


def check_rooms(root):
    for room, rank in ROOMS:
        folder = os.path.join(root, room)
        if not os.path.isdir(folder) or room == "include":
            continue
        if not os.path.exists(os.path.join(folder, "README.md")):
            yield f"{room}: has no README.md (its job, types to read first, invariants, tests)"
        has_code = any(name.endswith(CODE) for name in os.listdir(folder))
        mirror = os.path.join(root, "tests", room)
        tests = os.listdir(mirror) if os.path.isdir(mirror) else []
        if rank < 80 and has_code and not any(name.endswith("_test.cc") for name in tests):
            yield f"{room}: has code and no tests/{room}/*_test.cc"


class Types:
    """Types that headers define. Two with the same full name are one for the linker, which keeps one copy of
    each inline function and template over them: then code for one type works on objects of the other."""

    def __init__(self):
        self.places = {}

    def add(self, path, code):
        """Only headers whose types are at the outermost level of one namespace, as ours are."""
        namespaces = re.findall(r"(?m)^namespace (\w+(?:::\w+)*) \{", code)
        if not path.endswith(".h") or path.startswith(("include/rocksdb/", "examples/", "benchmarks/")):
            return
        for found in re.finditer(r"(?m)^(?:struct|class) (?:[A-Z_]+(?:\([^)]*\))? )*(\w+)(?: final)?\s*(?::[^:;{]|\{)", code):
            name = "::".join(namespaces + [found.group(1)])
            self.places.setdefault(name, set()).add(path)

    def doubled(self):
        for name, places in sorted(self.places.items()):
            # Headers of two test programs never meet.
            programs = {os.path.dirname(place) if place.startswith("tests/") else "" for place in places}
            if len(places) > 1 and (len(programs) < len(places) or "" in programs or "tests/support" in programs):
                yield f"{name}: is a type in {' and in '.join(sorted(places))}; the linker takes them for one"


class Names:
    """What a page may name: the files of the tree, and the identifiers and tests in its code."""

    def __init__(self, paths):
        self.files = ["/" + path for path in paths]
        self.folders = {"/" + os.path.dirname(path) + "/" for path in paths}
        self.top_folders = {path.split("/")[0] for path in paths if "/" in path}
        self.stems = {os.path.basename(path).split(".")[0] for path in paths}
        # tests/db/wal is built into the program db_wal_test.
        self.stems |= {folder[len("/tests/"):-1].replace("/", "_") + "_test"
                       for folder in self.folders if folder.startswith("/tests/")}
        self.words = set()
        self.words_beside = {}  # type or namespace -> the words of all files that declare it
        self.qualified = set()  # "Class::Function" as code writes it
        self.tests = set()      # "Suite.Test"

    def add_code(self, code):
        words = set(re.findall(r"\w+", code))
        self.words |= words
        for name in re.findall(r"\b(?:class|struct|enum|union|namespace|using)\s[^;{=(]*?(\w+)\s*"
                               r"(?:final\s*)?(?=[:{=])", code):
            self.words_beside.setdefault(name, set()).update(words)
        self.qualified |= set(re.findall(r"\w+::~?\w+", code))
        self.tests |= {".".join(pair) for pair in
                       re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", code)}

    def has_file(self, name):
        return any(path.endswith("/" + name) for path in self.files)

    def has_folder_or_program(self, name):
        """A folder, or a program named after the source that it is built from."""
        return (any("/" + name + "/" in folder for folder in self.folders)
                or any("/" + name + "." in path for path in self.files) or self.has_file(name))

    def has_member(self, name):
        owner, member = name.split("::")[-2:]
        return (f"{owner}::{member}" in self.qualified
                or member.lstrip("~") in self.words_beside.get(owner, ()))


def missing_name(name, names, in_readme):
    """The kind of thing that `name`, the text between two backticks, stands for if there is no such
    thing; else None. The README.md of a room names nothing but its own files and identifiers; other
    pages also name RocksDB's options and calls that are not built."""
    if name.startswith(("build/", "../", "/", "std::")) or name in FILES_OF_READERS:
        return None
    if (re.fullmatch(r"[\w.\-]+(/[\w.\-]+)+\.(h|cc|py|sh|md|txt|cmake|ini)", name)
            or re.fullmatch(r"\w+\.(h|cc|py|sh|cmake)", name)):
        return None if names.has_file(name) else "file"
    if re.fullmatch(r"[\w.\-]+(/[\w.\-]+)*/?", name) and "/" in name:
        name = name.rstrip("/")
        is_ours = name.split("/")[0] in names.top_folders
        return "folder" if is_ours and not names.has_folder_or_program(name) else None
    if re.fullmatch(r"[A-Z]\w*[a-z]\w*\.[A-Z]\w*[a-z]\w*", name):
        return None if name in names.tests else "test"
    call = re.match(r"((?:\w+::)*)([A-Z]\w*[a-z]\w*)\(|((?:\w+::)*)(\w+)\(\)", name)
    if call and not (call.group(1) or call.group(3)):
        return None if (call.group(2) or call.group(4)) in names.words else "function"
    member = re.match(r"(\w+::)+~?\w+", name)
    if member:
        return None if names.has_member(member.group(0)) else "member"
    is_word = (re.fullmatch(r"[A-Z]\w*[a-z]\w*[A-Z]\w*|[a-z]\w*_\w+", name)
               and name not in names.words and name not in names.stems)
    return "identifier" if in_readme and is_word else None


def check_pages(root, paths, names):
    """Names in backticks outside fenced code. CHANGELOG.md may name removed things."""
    for path in paths:
        if not path.endswith(".md") or path == "CHANGELOG.md":
            continue
        in_fence = False
        for number, line in enumerate(read_text(root, path).split("\n"), 1):
            if line.lstrip().startswith("```"):
                in_fence = not in_fence
            if in_fence:
                continue
            for name in re.findall(r"`([^`]+)`", line):
                kind = missing_name(name, names, path.endswith("README.md"))
                if kind:
                    yield f"{path}:{number}: names {kind} `{name}`, which does not exist"


def clang_format_major():
    """The release of the installed clang-format, None without one."""
    if shutil.which("clang-format") is None:
        return None
    said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"version (\d+)", said.stdout)
    return int(found.group(1)) if found else None


def check_format(root, paths):
    """One problem for each file that clang-format would change."""
    major = clang_format_major()
    if major is None:
        skips.say("MISSING", "clang-format; formatting is not checked")
        if skips.MUST_HAVE_ALL:
            yield "ASHLAR_REQUIRE_ALL is set, but there is no clang-format"
        return
    if major != CLANG_FORMAT_MAJOR:
        skips.say("IMPOSSIBLE", f"clang-format {major} formats differently from {CLANG_FORMAT_MAJOR},"
                  " with which this tree is formatted; formatting is not checked")
        return

    def complaints(batch):
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *batch], cwd=root,
                              capture_output=True, text=True, check=False)
        return re.findall(r"^(.+?):(\d+):\d+: error:", done.stderr, re.M)

    batches = [paths[start:start + 50] for start in range(0, len(paths), 50)]
    first_lines = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for found in pool.map(complaints, batches):
            for path, line in found:
                first_lines.setdefault(path, line)
    for path, line in sorted(first_lines.items()):
        yield f"{path}:{line}: is not formatted; run clang-format -i on it, or make format"


def main():
    root = sys.argv[1]
    paths = list(tree_files(root))
    names, types = Names(paths), Types()
    problems = []
    for path in filter(is_source, paths):
        text = read_text(root, path)
        found = list(check_header(path, text))
        code = mask(text) if path.endswith(CODE) else text
        names.add_code(code)
        types.add(path, code)
        if path.endswith(CODE):
            found += list(check_includes(path, text)) + list(check_banned(path, code))
            found += list(check_function_lengths(code))
        found += list(check_file_length(path, text))
        problems += [f"{path}:{number}: {what}" for number, what in found]
    problems += list(check_long_files(root)) + list(check_rooms(root)) + list(types.doubled())
    problems += list(check_pages(root, paths, names))

    problems += check_format(root, [path for path in paths if is_source(path) and path.endswith(CODE)])
    for problem in problems:
        print(problem)
    print("tidy: " + (f"{len(problems)} problems" if problems else "ok"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
