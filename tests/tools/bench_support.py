# SPDX-License-Identifier: Apache-2.0
#
# Shared by the tests of db_bench: runs it on a database of its own and reads the lines of its results.
import os
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.path.join(os.environ.get("ASHLAR_BUILD_DIR", "build/test"), "db_bench")
ROCKSDB = "/usr/bin/db_bench"
RESULT = re.compile(r"^(\w+)\s+: +[\d.]+ micros/op (\d+) ops/sec [\d.]+ seconds (\d+) operations;(.*)$")


class BenchTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def run_bench(self, benchmarks, *flags):
        return subprocess.run([PROGRAM, "-benchmarks=" + benchmarks, "-db=" + self.path("db"),
                               "-num=2000", "-seed=7", "-compression_type=none", *flags],
                              capture_output=True, encoding="utf-8", errors="replace", timeout=120)

    def results(self, benchmarks, *flags):
        """The number of operations and the message of each benchmark."""
        done = self.run_bench(benchmarks, *flags)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [RESULT.match(line) for line in done.stdout.split("\n")]
        return {m.group(1): (int(m.group(3)), m.group(4)) for m in lines if m}

    def options(self):
        """The text of the newest OPTIONS file."""
        newest = max(name for name in os.listdir(self.path("db")) if name.startswith("OPTIONS"))
        with open(self.path("db", newest), encoding="utf-8") as file:
            return file.read()
