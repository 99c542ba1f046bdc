#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# One program, built against the drop-in and against RocksDB, reads RocksDB's sample databases: what
# the drop-in prints must equal the listings, and RocksDB's own output where it can open the files.
#
#   compare_readers.py READER_OF_OURS SHARED_FOLDER [READER_OF_ROCKSDB]
import gzip
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from skips import needs, skip_as_missing

OURS, SHARED = sys.argv[1], sys.argv[2]
REFERENCE = sys.argv[3] if len(sys.argv) > 3 else None
SCENARIOS = [
    "empty", "basic_snappy", "levels_lz4", "wal_crash", "universal_fifo", "partitioned_xxh3",
    "hash_index_ribbon", "first_key_index_v4", "format_v2_legacy_bloom", "universal_zstd_dict",
    "ingest",
]


def run(reader, folder):
    done = subprocess.run([reader, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60)
    return done.returncode, done.stdout, done.stderr


class Readers(unittest.TestCase):
    def compare(self, version, with_reference):
        root = os.path.join(SHARED, "data", "db", version)
        if not os.path.isdir(root):
            skip_as_missing(self, "shared sample databases")
        for name in SCENARIOS:
            with self.subTest(version=version, name=name), tempfile.TemporaryDirectory() as work:
                with tarfile.open(os.path.join(root, name + ".tar.gz")) as archive:
                    archive.extractall(work)
                folder = os.path.join(work, name)
                code, output, error = run(OURS, folder)
                self.assertEqual(code, 0, error)
                with gzip.open(os.path.join(root, name + ".expected.tsv.gz"), "rt") as listing:
                    self.assertEqual(output.lower(), listing.read().lower())
                if with_reference:
                    code, reference, error = run(REFERENCE, folder)
                    self.assertEqual(code, 0, error)
                    self.assertEqual(output, reference)

    def test_databases_of_11_9(self):
        self.compare("rocksdb-11.9", with_reference=False)

    def test_databases_of_7_8(self):
        self.compare("rocksdb-7.8", with_reference=False)

    @needs(REFERENCE is not None, "librocksdb to build the reader against")
    def test_databases_of_7_8_against_rocksdb(self):
        self.compare("rocksdb-7.8", with_reference=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
