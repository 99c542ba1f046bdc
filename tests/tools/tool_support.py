# SPDX-License-Identifier: Apache-2.0
#
# Shared by the tests of tools/: runs a program of this build, or RocksDB's program of the same name if it
# is installed, on private copies of sample files.
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from skips import needs, skip_as_missing

SOURCE = os.environ.get("ASHLAR_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("ASHLAR_BUILD_DIR", os.path.join(SOURCE, "build/test"))
SHARED = os.environ.get("ASHLAR_SHARED", os.path.join(SOURCE, "../shared"))
SAMPLE_TABLES = os.path.join(SOURCE, "tests/data/sst")
SAMPLE_DATABASES = os.path.join(SHARED, "data/db/rocksdb-7.8")


def program(name):
    return os.path.join(BUILD, name)


def reference(name):
    """The path of RocksDB's tool, or None if version 7.8, whose output is compared, is not installed."""
    path = shutil.which(name)
    if path is None or os.path.realpath(path).startswith(os.path.realpath(BUILD)):
        return None
    ldb = shutil.which("ldb")
    version = subprocess.run([ldb or path, "--version"], capture_output=True, check=False).stdout
    return path if b"RocksDB 7.8" in version else None


def run(path, *arguments, cwd=None):
    return subprocess.run([path, *arguments], capture_output=True, timeout=120, cwd=cwd, check=False)


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def sample_table(self, name):
        """A private copy of a table that RocksDB made."""
        return shutil.copy(os.path.join(SAMPLE_TABLES, name), self.folder)

    def sample_database(self, name):
        """A private copy of a database that RocksDB 7.8 made."""
        archive = os.path.join(SAMPLE_DATABASES, name + ".tar.gz")
        if not os.path.exists(archive):
            skip_as_missing(self, "shared sample databases")
        with tarfile.open(archive) as file:
            file.extractall(self.folder)
        return self.path(name)

    def check(self, done, lines):
        """The program succeeded and printed exactly these lines on stdout."""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.decode("latin-1").split("\n"), list(lines) + [""])

    def check_failure(self, done, *words):
        """The exit code is 1 and the message on stderr contains all these words."""
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr.decode("latin-1"))


def state_of(directory):
    """Names, sizes and modification times of the files in a directory."""
    return {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns)
            for entry in os.scandir(directory)}
