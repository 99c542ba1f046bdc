#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Kills db_stress with SIGKILL after random times and restarts it with other options on the same database;
# each start verifies all keys. Prints figures at the end; the exit code is 0 if nothing was wrong.
#
#   crash_loop.py --db_stress=build/test/db_stress --kills=8               # about a minute
#   crash_loop.py --db_stress=build/test/db_stress --kills=300 --max_seconds=60 --keys=200000
#
# After a failure the directory, with the output of each run, is kept, and the command to verify it again is
# printed. Arguments after "--" are passed to db_stress: -- --weights=ingest=50 --family_options=num_levels=3
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__ or "kill loop of db_stress",
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--db_stress", default="build/test/db_stress", help="the program")
    parser.add_argument("--dir", help="directory of the database; default: a new temporary directory")
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--min_seconds", type=float, default=1.0, help="shortest time before a kill")
    parser.add_argument("--max_seconds", type=float, default=6.0, help="longest time before a kill")
    parser.add_argument("--seed", type=int, default=0, help="0: from the clock")
    parser.add_argument("--keys", type=int, default=10000)
    parser.add_argument("--families", type=int, default=4)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("rest", nargs="*", help="flags for db_stress")
    return parser.parse_args()


class Failure(Exception):
    pass


class Loop:
    # Share of runs that are killed while they open and verify, and of runs that are not killed.
    EARLY, CLEAN = 0.2, 0.15
    HUNG_SECONDS = 300  # longest time for opening and verifying; a debug build may need long

    def __init__(self, args):
        self.args = args
        self.folder = args.dir or tempfile.mkdtemp(prefix="crash_loop.")
        os.makedirs(self.folder, exist_ok=True)
        self.seed = args.seed or int(time.time())
        self.random = random.Random(self.seed)
        self.runs = self.kills = self.clean = self.early = 0

    def command(self, *more):
        return [self.args.db_stress, "--db=" + os.path.join(self.folder, "db"),
                f"--keys={self.args.keys}", f"--families={self.args.families}",
                f"--threads={self.args.threads}", *self.args.rest, *more]

    def start(self, *more):
        """Starts a run. Returns the process, the path of its output, and its command."""
        self.runs += 1
        path = os.path.join(self.folder, f"run-{self.runs}.log")
        command = self.command(*more)
        with open(path, "wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT), path, command

    def wait_for_work(self, process, path):
        """Waits until the process has verified everything or has ended."""
        give_up = time.monotonic() + self.HUNG_SECONDS
        while process.poll() is None:
            with open(path, "rb") as log:
                if b"\nverified" in log.read():
                    return
            if time.monotonic() > give_up:
                process.kill()
                process.wait()
                raise Failure("the process hangs while it opens or verifies")
            time.sleep(0.02)

    def check_end(self, process, path, command, killed):
        code = process.wait()
        if code == 0 or (killed and code == -signal.SIGKILL):
            return
        with open(path, "rb") as log:
            text = log.read().decode("latin-1")
        raise Failure(f"run {self.runs} ended with code {code}\n  {' '.join(command)}\n{text[-4000:]}")

    def one_run(self):
        draw, seed = self.random.randrange(1, 1 << 40), self.random.randrange(1, 1 << 40)
        kind = self.random.random()
        flags = [f"--draw={draw}", f"--seed={seed}"]
        if kind < self.CLEAN:
            process, path, command = self.start(*flags, "--seconds=1")
            self.clean += 1
            return self.check_end(process, path, command, killed=False)
        process, path, command = self.start(*flags, "--seconds=100000")
        if kind < self.CLEAN + self.EARLY:
            time.sleep(self.random.uniform(0, 0.5))
            self.early += 1
        else:
            self.wait_for_work(process, path)
            time.sleep(self.random.uniform(self.args.min_seconds, self.args.max_seconds))
        process.send_signal(signal.SIGKILL)
        self.check_end(process, path, command, killed=True)
        self.kills += 1
        return None

    def run(self):
        print(f"crash_loop: seed {self.seed}, in {self.folder}", flush=True)
        while self.kills < self.args.kills:
            self.one_run()
            with open(os.path.join(self.folder, f"run-{self.runs}.log"), "rb") as log:
                first = log.read().split(b"\n")[0].decode("latin-1")
            print(f"  run {self.runs} ({first}): {self.kills} kills so far", flush=True)
        process, path, command = self.start("--verify_only")
        self.check_end(process, path, command, killed=False)
        with open(path, "rb") as log:
            return log.read().decode("latin-1").strip().split("\n")[-1]


def main():
    loop = Loop(arguments())
    try:
        figures = loop.run()
    except Failure as failure:
        print(f"crash_loop: FAILED with seed {loop.seed}: {failure}\n"
              f"  all files are in {loop.folder}; verify again: {' '.join(loop.command('--verify_only'))}")
        return 1
    print(f"crash_loop: {loop.kills} kills ({loop.early} of them while opening), {loop.clean} runs without "
          f"a kill; {figures}")
    if loop.args.dir is None:
        shutil.rmtree(loop.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
