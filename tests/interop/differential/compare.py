#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the differential program, built with the drop-in and with RocksDB: both must print the same
# for every seed. Then relays: the two programs run the sessions of a seed in turn on one directory,
# each in a process that may end by SIGKILL, and must print the same as RocksDB alone.
#
#   compare.py OURS [THEIRS] [--first N] [--seeds N] [--relays N] [--minimise]
#              [--sessions N] [--steps N]     of a program, for --minimise
#              [--excused TEXT]...            assertions of RocksDB that are known
#
# ASHLAR_SUITE_SCALE scales the number of seeds. A difference is printed with its seed; with
# --minimise steps are removed as long as a difference remains.
import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from skips import exit_as_missing

SEEDS_OF_A_RUN = 10
SESSIONS, STEPS = 3, 90  # main.cc, shape.cc
SHOWN = 40


class Failed(Exception):
    """The program ended in an unexpected way; the message is its output."""


def run(program, arguments, may_be_killed=False):
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    output = done.stdout.decode("latin-1")
    if done.returncode == 0 or (may_be_killed and done.returncode == -9):
        return output
    error = done.stderr.decode("latin-1")[-2000:]
    raise Failed(f"{os.path.basename(program)} ended with {done.returncode}: {error}\n{output[-500:]}")


class Comparison:
    def __init__(self, ours, theirs, work, sessions=SESSIONS, steps=STEPS, excused=()):
        self.ours, self.theirs, self.work = ours, theirs, work
        self.sessions, self.steps, self.excused = sessions, steps, excused

    def folder(self):
        return tempfile.mkdtemp(dir=self.work)

    def program(self, program, first, last, steps=()):
        folder = self.folder()
        try:
            return run(program, ["run", folder, str(first), str(last), *steps])
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def by_seed(self, program, first, last):
        """The output for each seed; for a failing program it contains the error."""
        try:
            parts = self.program(program, first, last).split("seed ")[1:]
            return {int(part.split("\n", 1)[0]): part for part in parts}
        except Failed as failure:
            if first == last:
                return {first: f"{failure}"}
            return {seed: text for each in range(first, last + 1)
                    for seed, text in self.by_seed(program, each, each).items()}

    def differences(self, first, last):
        """Returns {seed: text} of the seeds that differ; None instead of a text if that is excused."""
        ours, theirs = self.by_seed(self.ours, first, last), self.by_seed(self.theirs, first, last)
        return {seed: None if self.is_excused(theirs[seed]) else diff(ours[seed], theirs[seed])
                for seed in ours if ours[seed] != theirs[seed]}

    def is_excused(self, theirs):
        """RocksDB ended by an assertion of its own that is known."""
        return "Assertion" in theirs and any(text in theirs for text in self.excused)

    def relay(self, seed):
        """Returns what is wrong when both work in turn on one directory, or None."""
        expected = sections(self.by_seed(self.theirs, seed, seed)[seed])
        folder = os.path.join(self.folder(), "db")
        try:
            for session in range(SESSIONS):
                program = (self.ours, self.theirs)[(seed + session) % 2]
                output = run(program, ["leg", folder, str(seed), str(session)], may_be_killed=True)
                if output.strip() != expected[session].strip():
                    return f"session {session}, by {program}:\n" + diff(output, expected[session])
        except Failed as failure:
            return f"session {session}: {failure}"
        finally:
            shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
        return None

    def differs(self, seed, steps):
        outputs = []
        for program in (self.ours, self.theirs):
            try:
                outputs.append(self.program(program, seed, seed, steps))
            except Failed as failure:
                outputs.append(str(failure))
        return outputs if outputs[0] != outputs[1] else None

    def minimise(self, seed):
        """Removes ever smaller runs of steps while a difference remains."""
        steps = [f"{session}:{step}" for session in range(self.sessions) for step in range(self.steps)]
        if not self.differs(seed, steps):
            return "the difference comes and goes"
        length = len(steps) // 2
        while length > 0:
            begin = 0
            while begin < len(steps):
                fewer = steps[:begin] + steps[begin + length:]
                if fewer and self.differs(seed, fewer):
                    steps = fewer
                else:
                    begin += length
            length //= 2
        ours, theirs = self.differs(seed, steps) or ("the difference", "comes and goes")
        return f"steps {' '.join(steps)}\n--- ours\n{ours}\n--- theirs\n{theirs}"


def sections(output):
    """The parts of the sessions."""
    parts = output.split("\nsession ")
    return ["session " + part for part in parts[1:]] + [""] * (SESSIONS + 1 - len(parts))


def diff(ours, theirs):
    lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "RocksDB", "Ashlar", lineterm="", n=2)
    return "\n".join(line[:2000] for line, _ in zip(lines, range(SHOWN)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("theirs", nargs="?")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=120)
    parser.add_argument("--relays", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--excused", action="append", default=[],
                        help="a part of the text of an assertion by which RocksDB ends")
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    if options.theirs is None:
        exit_as_missing("librocksdb to build the differential program against")
    scale = float(os.environ.get("ASHLAR_SUITE_SCALE", "1"))
    last = options.first + max(1, int(options.seeds * scale)) - 1
    relays = max(1 if options.relays else 0, int(options.relays * scale))
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    failures = {}
    with tempfile.TemporaryDirectory(dir=memory, prefix="ashlar-differential-") as work:
        comparison = Comparison(options.ours, options.theirs, work, options.sessions, options.steps, options.excused)
        with ThreadPoolExecutor(options.jobs) as pool:
            firsts = range(options.first, last + 1, SEEDS_OF_A_RUN)
            found = pool.map(lambda first: comparison.differences(first, min(last, first + SEEDS_OF_A_RUN - 1)), firsts)
            excused = 0
            for differences in found:
                failures.update({seed: text for seed, text in differences.items() if text is not None})
                excused += sum(text is None for text in differences.values())
            seeds = range(options.first, options.first + relays)
            for seed, wrong in zip(seeds, pool.map(comparison.relay, seeds)):
                if wrong is not None:
                    failures[f"{seed} in a relay"] = wrong
        for seed, text in failures.items():
            print(f"seed {seed}:\n{text}\n")
            if options.minimise and isinstance(seed, int):
                print(comparison.minimise(seed))
    print(f"{last - options.first + 1} programs, {relays} relays: {len(failures)} differ"
          + (f", {excused} ended by known assertions of RocksDB" if excused else ""))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
