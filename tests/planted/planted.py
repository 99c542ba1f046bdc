#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests the tests: inserts known bugs into the code and checks that the suites catch them.
#
#   planted.py --check                   every bug still matches its file (a fast ctest)
#   planted.py --all                     builds all bugs into one set of binaries, runs each
#   planted.py --all --resume            continues such a run of this tree that was interrupted
#   planted.py --all --bugs 3,17         builds all of them (again, after --all), runs these
#   planted.py --all --table FILE        also writes the results as a table of Markdown
#   planted.py --sample 6 --seed COMMIT  a few bugs that the seed selects, for CI
#   planted.py --bugs 3,17 [--keep-going]
#
# The bugs are in bugs/*.txt; README.md describes their form. The tree is copied to
# build/planted/src, the bugs are inserted behind `if (Planted(N))`, and the named suites run with
# ASHLAR_PLANTED=N. A suite that catches something must pass without a bug. Prints a table; the exit
# code is 1 if a bug is missed (unless a test of its suites was skipped as impossible on this
# machine) or does not match.
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUGS = ROOT / "tests/planted/bugs"
WORK = ROOT / "build/planted"
COPY = WORK / "src"
BUILD = COPY / "build/test"
LIMIT_SECONDS = 300
SUITE_SCALE = "0.25"  # for the long suites, because each bug runs them again
RESULTS = WORK / "results.tsv"  # of --all: one line for each bug that was tried with this tree

# Suites that choose their work at random. If one of them catches a bug, that is chance, even if it
# is repeatable: the next change of the engine may end it.
RANDOM_SUITES = re.compile(
    r"(model_test|crash_test: CrashTest\.(?!EverySequence)|fault_test: FaultTest\.(Every|AFull|AClock|AJob|AFailed)"
    r"|corruption_test: CorruptionTest\.)|Seeds/|Stress|Races")


class Bug:
    def __init__(self, number, name, where):
        self.number, self.name, self.where = number, name, where
        self.story, self.catch, self.hunks, self.is_open = "", [], [], False
        self.is_beyond = False  # a test that could catch it was skipped as impossible here

    def files(self):
        return sorted({file for file, _, _ in self.hunks})


def fail(message):
    sys.exit(f"planted: {message}")


def read_bugs():
    bugs, bug, file, old, new = [], None, None, [], []

    def end_hunk():
        nonlocal old, new
        if old or new:
            if not old:
                fail(f"{bug.where}: #{bug.number} has a hunk without a line to find")
            bug.hunks.append((file, old, new))
        old, new = [], []

    for path in sorted(BUGS.glob("*.txt")):
        for line in path.read_text().splitlines() + [""]:
            head = re.match(r"# (\d+) (\w+)$", line)
            if head:
                end_hunk()
                bug, file = Bug(int(head[1]), head[2], path.name), None
                bugs.append(bug)
            elif line == "" or line.startswith("##"):
                if bug is not None:
                    end_hunk()
            elif line.startswith("catch: "):
                bug.catch.append(line[len("catch: "):])
            elif line.startswith("open: "):
                bug.is_open, bug.story = True, bug.story + " OPEN: " + line[len("open: "):]
            elif line.startswith("file: "):
                end_hunk()
                file = line[len("file: "):]
            elif file is not None and line[0] in "+- ":
                if line[0] != "+":
                    old.append(line[1:].strip())
                if line[0] != "-":
                    new.append((line[0], line[1:].replace("PLANTED", f"Planted({bug.number})")))
            else:
                bug.story = (bug.story + " " + line).strip()
    numbers = [bug.number for bug in bugs]
    twice = {number for number in numbers if numbers.count(number) > 1}
    if twice:
        fail(f"numbers used twice: {sorted(twice)}")
    for bug in bugs:
        if not bug.hunks or not bug.catch or not bug.story:
            fail(f"{bug.where}: #{bug.number} lacks a story, a change or a suite that catches it")
    return bugs


def apply_hunk(lines, old, new):
    """Replaces the only occurrence of `old`, ignoring indentation. Returns (lines, ""), or (None, why) if
    there is not exactly one."""
    stripped = [line.strip() for line in lines]
    places = [i for i in range(len(lines) - len(old) + 1) if stripped[i:i + len(old)] == old]
    if len(places) != 1:
        return None, f"its lines occur {len(places)} times: {old[0]!r}..."
    at, result, used = places[0], [], 0
    for kind, text in new:
        if kind == "+":
            result.append(text)
            continue
        while stripped[at + used] != text.strip():
            used += 1
        result.append(lines[at + used])
        used += 1
    return lines[:at] + result + lines[at + len(old):], ""


def plant(bugs):
    """Returns {file name: text with the bugs inserted} and the messages about bugs that do not match."""
    lines, misfits = {}, []
    for bug in bugs:
        for file, old, new in bug.hunks:
            if file not in lines:
                path = ROOT / file
                if not path.exists():
                    misfits.append(f"#{bug.number} {bug.name}: there is no {file}")
                    continue
                lines[file] = path.read_text().splitlines()
            changed, why = apply_hunk(lines[file], old, new)
            if changed is None:
                misfits.append(f"#{bug.number} {bug.name}: {file}: {why}")
            else:
                lines[file] = changed
    header = '#include "tests/planted/planted.h"'
    return {file: "\n".join([header] + text) + "\n" for file, text in lines.items()}, misfits


def copy_tree(planted):
    """Writes only files that have changed, so that the next build is small."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    files = [file for file in listed if (ROOT / file).is_file()]
    for file in files:
        source, target = ROOT / file, COPY / file
        content = planted[file].encode() if file in planted else source.read_bytes()
        if target.exists() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        shutil.copymode(source, target)
    wanted = set(files)
    for path in [p for p in COPY.rglob("*") if p.is_file() and BUILD not in p.parents]:
        if str(path.relative_to(COPY)) not in wanted:
            path.unlink()
    shared = WORK / "shared"
    if (ROOT / "../shared").exists() and not shared.exists():
        shared.symlink_to((ROOT / "../shared").resolve())


def run(command, **options):
    return subprocess.run(command, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def target_of(suite):
    """The program to build. The scripts of a tool have names that begin with its name: ldb_files_script."""
    program = shlex.split(suite)[0]
    if not program.endswith("_script"):
        return program
    tools = [tool for tool in ("db_bench", "db_stress", "ldb", "sst_dump") if program.startswith(tool)]
    return tools[0] if tools else program.removesuffix("_script")


def configure(bugs):
    """Omits suites whose room has no tests yet."""
    linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold"] if shutil.which("ld.gold") else []
    configured = run(["cmake", "--preset", "test", "-DASHLAR_BUILD_DROPIN=OFF",
                      "--log-level=WARNING", *linker], cwd=COPY)
    if configured.returncode != 0:
        fail("configuring failed:\n" + configured.stdout[-4000:])
    listed = run(["ninja", "-C", str(BUILD), "-t", "targets", "all"]).stdout
    known = set(re.findall(r"^([\w.]+):", listed, re.M))
    for bug in bugs:
        bug.catch = [suite for suite in bug.catch if target_of(suite) in known]
        if not bug.catch:
            fail(f"#{bug.number} {bug.name}: none of its suites is built")


def build(suites, jobs):
    targets = sorted({target_of(suite) for suite in suites})
    built = run(["ninja", "-C", str(BUILD), "-j", str(jobs), *targets])
    if built.returncode != 0:
        errors = [line for line in built.stdout.splitlines() if "error" in line or "FAILED" in line]
        fail("the build failed:\n" + "\n".join(errors[:30] or built.stdout.splitlines()[-30:]))


def run_suite(suite, number, limit=LIMIT_SECONDS):
    """Returns (what failed or "", seconds)."""
    words = shlex.split(suite)
    if words[0].endswith("_script"):
        command = [sys.executable, str(COPY / f"tests/tools/{words[0][:-7]}_test.py"), *words[1:]]
    else:
        command = [str(BUILD / words[0]), *words[1:]]
        command += ["--gtest_fail_fast"]
    environment = {name: value for name, value in os.environ.items() if name != "ASHLAR_REQUIRE_ALL"}
    environment.update(ASHLAR_PLANTED=str(number), ASHLAR_SOURCE_DIR=str(COPY),
                       ASHLAR_BUILD_DIR=str(BUILD), ASHLAR_SUITE_SCALE=SUITE_SCALE)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="planted") as folder:
        environment["TMPDIR"] = folder
        process = subprocess.Popen(command, cwd=folder, env=environment, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, _ = process.communicate()
            return f"{words[0]}: {last_test(output)} (no end in {limit} s)", limit, False
    seconds = time.monotonic() - started
    if re.search(r"^\[==========\] 0 tests from", output, re.M):
        fail(f"{suite}: runs no test; its filter or its program is wrong")
    if process.returncode == 0:
        return "", seconds, "IMPOSSIBLE: " in output
    failed = re.search(r"(?:\[  FAILED  \]|^(?:FAIL|ERROR):) ([\w./]+)", output, re.M)
    how = "" if failed else f" (ended with {process.returncode})"
    return f"{words[0]}: {failed[1] if failed else last_test(output)}{how}", seconds, False


def last_test(output):
    started = re.findall(r"\[ RUN      \] ([\w./]+)", output)
    return started[-1] if started else "?"


class Controls:
    """Whether a suite passes without a bug; otherwise it would seem to catch every bug. Each is run once."""

    def __init__(self):
        self.mutex, self.results = threading.Lock(), {}

    def check(self, suite):
        with self.mutex:
            if suite not in self.results:
                self.results[suite] = run_suite(suite, 0)
            return self.results[suite][0]


def try_bug(bug, keeps_going, controls):
    """Returns what caught the bug, or "", and the seconds. Records whether tests were skipped."""
    total, caught = 0.0, []
    for suite in bug.catch:
        what, seconds, bug.is_beyond = run_suite(suite, bug.number)
        total += seconds
        if not what:
            continue
        broken = controls.check(suite)
        if broken:
            print(f"planted: {suite} also fails without a bug: {broken}", flush=True)
            continue
        caught.append(what)
        if not keeps_going:
            break
    return "; ".join(caught), total


def is_luck(caught):
    return RANDOM_SUITES.search(caught) is not None


def seen_caught():
    """The bugs that were caught in the last complete run, or in a later run of some of them."""
    with open(os.path.join(ROOT, "docs/notes/planted.md"), encoding="utf-8") as note:
        return {int(number) for number in re.findall(r"^\| (\d+) \| .* \| `", note.read(), re.M)}


def choose(bugs, arguments):
    if arguments.bugs:
        wanted = {int(number) for number in arguments.bugs.split(",")}
        return [bug for bug in bugs if bug.number in wanted]
    if arguments.sample:
        # A change of a header rebuilds half of the tree, so those are left to the nightly run. Bugs
        # that only a random suite catches, or that were never caught, would make CI fail
        # occasionally.
        seen = seen_caught()
        quick = [bug for bug in bugs if all(f.endswith(".cc") for f in bug.files())
                 and not bug.is_open and "--gtest_filter" in bug.catch[0] and bug.number in seen]
        def rank(bug):
            return hashlib.sha256(f"{arguments.seed} {bug.number}".encode()).hexdigest()
        return sorted(sorted(quick, key=rank)[:arguments.sample], key=lambda bug: bug.number)
    return bugs


class Results:
    """The results of --all for this tree, stored so that the run can be interrupted and resumed."""

    def __init__(self, tree, is_kept):
        self.mutex, self.tree, self.is_kept, self.known = threading.Lock(), tree, is_kept, {}

    def resume(self):
        if not RESULTS.exists():
            return
        for line in RESULTS.read_text().splitlines():
            tree, number, seconds, caught = line.split("\t")
            if tree == self.tree:
                self.known[int(number)] = (caught, float(seconds))

    def add(self, bug, caught, seconds):
        with self.mutex:
            self.known[bug.number] = (caught, seconds)
            if self.is_kept:
                with RESULTS.open("a") as file:
                    file.write(f"{self.tree}\t{bug.number}\t{seconds:.1f}\t{caught}\n")


def hash_of_tree():
    """A hash of all sources that are built, that is, of the tree with the bugs inserted."""
    total = hashlib.sha256()
    for path in sorted(p for p in COPY.rglob("*") if p.is_file() and BUILD not in p.parents):
        total.update(str(path.relative_to(COPY)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


def run_bugs(chosen, arguments, results):
    controls, done = Controls(), 0
    todo = [bug for bug in chosen if bug.number not in results.known]
    if len(todo) < len(chosen):
        print(f"planted: {len(chosen) - len(todo)} have results already", flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(try_bug, bug, arguments.keep_going, controls): bug for bug in todo}
        for run_of_bug in concurrent.futures.as_completed(runs):
            bug, (caught, took) = runs[run_of_bug], run_of_bug.result()
            results.add(bug, caught, took)
            done += 1
            missed = "beyond this machine: " if bug.is_beyond else "MISSED: "
            verdict = caught or ("missed, known: " if bug.is_open else missed) + bug.story
            print(f"[{done}/{len(todo)}] {bug.number:4} {bug.name:44} {took:6.1f} s  {verdict}",
                  flush=True)
    seconds = sum(took for _, took, _ in controls.results.values())
    print(f"planted: {len(controls.results)} suites pass without a bug ({seconds:.0f} s)")


def write_table(chosen, results, path):
    lines = ["| bug | | caught by | seconds |", "|---:|---|---|---:|"]
    for bug in sorted(chosen, key=lambda bug: bug.number):
        caught, seconds = results.known[bug.number]
        how = f"`{caught}`" + (" (random suite)" if is_luck(caught) else "") if caught else "**missed**"
        lines.append(f"| {bug.number} | {bug.name.replace('_', ' ')} | {how} | {seconds:.1f} |")
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description="plants known bugs and runs the suites that must catch them")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--resume", action="store_true", help="with --all: run only bugs without a result")
    parser.add_argument("--table", default="", help="with --all: file for a table of the results")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--bugs", default="")
    parser.add_argument("--keep-going", action="store_true", help="also run the other suites of a bug that was caught")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    bugs = read_bugs()
    _, misfits = plant(bugs)
    for misfit in misfits:
        print("planted: does not match the code:", misfit)
    if misfits:
        return 1
    if arguments.check:
        print(f"planted: {len(bugs)} bugs match the code")
        return 0
    if not (arguments.all or arguments.sample or arguments.bugs):
        parser.error("one of --check, --all, --sample, --bugs")

    chosen = choose(bugs, arguments)
    to_build = bugs if arguments.all else chosen
    planted, _ = plant(to_build)
    started = time.monotonic()
    copy_tree(planted)
    configure(to_build)
    build(sorted({suite for bug in to_build for suite in bug.catch}), arguments.jobs)
    print(f"planted: {len(to_build)} bugs built in {time.monotonic() - started:.0f} s", flush=True)
    results = Results(hash_of_tree(), is_kept=arguments.all)
    if arguments.resume:
        results.resume()
    run_bugs(chosen, arguments, results)
    if arguments.table:
        write_table(chosen, results, arguments.table)
    missed = [bug for bug in chosen if not results.known[bug.number][0]]
    by_chance = [bug for bug in chosen if is_luck(results.known[bug.number][0])]
    if by_chance:
        print("planted: only a random suite caught", ", ".join(str(bug.number) for bug in by_chance))
    print(f"planted: {len(chosen) - len(missed)} of {len(chosen)} caught"
          f" in {time.monotonic() - started:.0f} s")
    return 1 if any(not (bug.is_open or bug.is_beyond) for bug in missed) else 0


if __name__ == "__main__":
    sys.exit(main())
