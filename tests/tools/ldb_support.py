# SPDX-License-Identifier: Apache-2.0
#
# The base class of the tests of ldb: calls of the program on a database in the test's folder.
import os
import re
import subprocess

from tool_support import ToolTest, program, reference, run

PROGRAM = program("ldb")
REFERENCE = reference("ldb")


class LdbToolTest(ToolTest):
    def ldb(self, *arguments, db=None, tool=PROGRAM):
        return run(tool, "--db=" + (db or self.path("db")), *arguments)

    def ok(self, *arguments, db=None):
        done = self.ldb(*arguments, db=db)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode("latin-1")

    def fill(self):
        self.ok("put", "a", "1", "--create_if_missing")
        self.ok("batchput", "b", "2", "c", "3", "d", "4")

    def load(self, text, *flags):
        return subprocess.run([PROGRAM, "--db=" + self.path("db"), "load", *flags], timeout=120,
                              input=text.encode(), capture_output=True, check=False)

    def check_silent(self, done, lines):
        self.check(done, lines)
        self.assertEqual(done.stderr, b"")

    def levels(self):
        """The number of tables of each level."""
        counts = []
        for line in self.ok("list_live_files_metadata").splitlines():
            if line.startswith("---------- level"):
                counts.append(0)
            elif line.endswith(".sst"):
                counts[-1] += 1
        return counts

    def set_wal_dir(self, wal_dir):
        """Changes wal_dir in the OPTIONS files, as if the directory were a copy of another database."""
        for name in os.listdir(self.path("db")):
            if not name.startswith("OPTIONS"):
                continue
            with open(self.path("db", name), encoding="utf-8") as file:
                text = file.read()
            with open(self.path("db", name), "w", encoding="utf-8") as file:
                file.write(re.sub("(?m)^  wal_dir=.*$", "  wal_dir=" + wal_dir, text))

    def options(self, family="default"):
        """The options of a family in the newest OPTIONS file, by name."""
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            section = file.read().split(f'[CFOptions "{family}"]\n')[1].split("\n[")[0]
        return dict(line.strip().split("=", 1) for line in section.splitlines() if "=" in line)
