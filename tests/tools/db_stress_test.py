#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# db_stress and its kill loop: eight kills of a database that continues with other options each time. And
# db_stress finds errors: after changes to words of the expected state, or to files of the database, it
# must name the wrong key.
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("ASHLAR_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from skips import needs

PROGRAM = os.path.join(os.environ.get("ASHLAR_BUILD_DIR", "build/test"), "db_stress")
LDB = os.path.join(os.environ.get("ASHLAR_BUILD_DIR", "build/test"), "ldb")
LOOP = os.path.join(SOURCE, "tools/db_stress/crash_loop.py")
HEAD, WORD = 4096, 8
KEYS, FAMILIES = 800, 3
GENERATION, HAS_BASE = (1 << 28) - 1, 1 << 54


@needs(os.path.exists(PROGRAM), "db_stress in this build")
class StressTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.db = os.path.join(self.folder, "db")

    def stress(self, *flags):
        return subprocess.run([PROGRAM, "--db=" + self.db, f"--keys={KEYS}", f"--families={FAMILIES}",
                               "--threads=4", *flags], capture_output=True, text=True, timeout=240, check=False)

    def work(self, *flags):
        done = self.stress("--ops_per_thread=1500", "--seed=5", *flags)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def word(self, family, key, change):
        """Changes the expected state of a key by `change`, unless that is None. Returns the old word."""
        with open(self.db + ".expected", "r+b") as file:
            file.seek(HEAD + (family * KEYS + key) * WORD)
            old, = struct.unpack("<Q", file.read(WORD))
            if change is not None:
                file.seek(-WORD, os.SEEK_CUR)
                file.write(struct.pack("<Q", change(old)))
        return old

    def present_key(self, family):
        """A key that allows every operation and has a value."""
        return next(key for key in range(KEYS // 4, KEYS) if self.word(family, key, None) & HAS_BASE)

    def check_wrong(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in ("WRONG: ", *words):
            self.assertIn(word, done.stderr)

    def test_eight_kills_lose_nothing(self):
        loop = subprocess.run([sys.executable, LOOP, "--db_stress=" + PROGRAM, "--kills=8", "--max_seconds=4",
                               "--dir=" + os.path.join(self.folder, "loop")],
                              capture_output=True, text=True, timeout=500, check=False)
        self.assertEqual(loop.returncode, 0, loop.stdout + loop.stderr)
        print(loop.stdout.strip().split("\n")[-1])
        figures = re.search(r"(\d+) kills .* (\d+) operations, (\d+) keys verified", loop.stdout)
        self.assertEqual(int(figures.group(1)), 8)
        self.assertGreater(int(figures.group(2)), 10_000)
        self.assertGreater(int(figures.group(3)), 100_000)

    def test_kills_of_transactions_lose_nothing_and_leave_none_undecided(self):
        for flags in (["--use_txn"], ["--use_txn", "--txn_write_policy=1"], ["--use_txn", "--txn_write_policy=2"],
                      ["--use_optimistic_txn"]):
            loop = subprocess.run([sys.executable, LOOP, "--db_stress=" + PROGRAM, "--kills=4", "--max_seconds=2",
                                   "--dir=" + os.path.join(self.folder, "loop" + flags[-1]), "--", *flags],
                                  capture_output=True, text=True, timeout=400, check=False)
            self.assertEqual(loop.returncode, 0, loop.stdout + loop.stderr)
            self.assertIn("4 kills", loop.stdout)

    def test_copies_are_made_and_compared(self):
        for flag, draw in (("--backup_one_in=100", 2), ("--checkpoint_one_in=100", 3), ("--export_one_in=100", 4),
                           ("--secondary_catch_up_one_in=20", 5), ("--trace_one_in=50", 6)):
            others = "--weights=checkpoint=0,backup=0,export=0,secondary=0,trace=0"
            self.work(flag, others, f"--draw={draw}", "--test_secondary")
        left = [name for name in os.listdir(self.folder) if ".temporary." in name]
        self.assertEqual(left, [])

    def test_copies_of_transactions_are_compared(self):
        flags = ("--backup_one_in=300", "--checkpoint_one_in=300", "--secondary_catch_up_one_in=50", "--trace_one_in=100",
                 "--test_secondary")
        for policy in range(3):
            self.work("--use_txn", f"--txn_write_policy={policy}", f"--draw={policy + 7}", *flags)
        # A database whose log has prepared transactions is not opened without them.
        self.work("--destroy", "--use_optimistic_txn", "--export_one_in=300", *flags)

    def test_an_operation_can_be_left_out(self):
        self.work("--backup_one_in=0", "--secondary_catch_up_one_in=0", "--weights=put=1")
        done = self.stress("--backup_one_in=-1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--backup_one_in: expected 0 to", done.stderr)

    # What a copy shows is compared with the expected states, and not only that it opens.
    def test_a_wrong_key_of_a_copy_is_found(self):
        self.work()
        for family in range(FAMILIES - 1):
            key = self.present_key(family)
            self.word(family, key, lambda word: (word & ~GENERATION) | ((word & GENERATION) + 1))
        for flag, word in (("backup", "a scan of a restored backup"), ("checkpoint", "a scan of a checkpoint"),
                           ("export", "a scan of an imported family"), ("secondary_catch_up", "a scan of a secondary")):
            done = self.stress("--skip_verifydb", f"--{flag}_one_in=1", "--ops_per_thread=1")
            self.check_wrong(done, word, "found generation")
        done = self.stress("--skip_verifydb", "--test_secondary", "--ops_per_thread=1", "--trace_one_in=1")
        self.check_wrong(done, "a scan of a secondary")

    def test_a_run_continues_with_the_state_of_the_last_one(self):
        self.assertIn("1 runs, 1 of them", self.work("--draw=3"))
        self.assertIn("2 runs, 2 of them", self.work("--draw=4"))
        self.assertIn("12000 operations", self.stress("--verify_only").stdout)

    def test_a_value_of_another_generation_is_found(self):
        self.work()
        key = self.present_key(1)
        self.word(1, key, lambda word: (word & ~GENERATION) | ((word & GENERATION) + 1))
        self.check_wrong(self.stress("--verify_only"), f"key {key} ", "family 1", "found generation")

    def test_a_missing_key_is_found(self):
        self.work()
        key = next(k for k in range(KEYS // 4, KEYS) if self.word(0, k, None) == 0
                   or not self.word(0, k, None) & HAS_BASE and self.word(0, k, None) >> 28 & 63 == 0)
        self.word(0, key, lambda word: word | HAS_BASE)
        self.check_wrong(self.stress("--verify_only"), f"key {key} ", "family 0", "found nothing")

    def test_a_key_that_should_be_absent_is_found(self):
        self.work()
        key = self.present_key(2)
        self.word(2, key, lambda word: 0)
        self.check_wrong(self.stress("--verify_only"), f"key {key} ", "family 2", "found generation")

    @needs(os.path.exists(LDB), "ldb in this build")
    def test_a_partly_missing_batch_is_found(self):
        self.work("--weights=merge=0,batch=0")
        key = next(k for k in range(KEYS // 8, KEYS // 4) if self.word(0, k, None) & HAS_BASE)
        name = "0x%016X" % key + "6B" * (key % 5 * 7)
        deleted = subprocess.run([LDB, "--db=" + self.db, "--column_family=family1", "--try_load_options=false",
                                  "--key_hex", "delete", name], capture_output=True, text=True, timeout=60,
                                 check=False)
        self.assertEqual(deleted.returncode, 0, deleted.stderr)
        # The family agrees with its expected state, but not with the other families.
        self.word(1, key, lambda word: ((word & GENERATION) + 1) | 1 << 34)
        self.check_wrong(self.stress("--verify_only"), f"key {key}, which one batch writes in all families")

    def test_a_lost_log_is_found(self):
        self.work("--db_options=avoid_flush_during_shutdown=true;avoid_flush_during_recovery=true",
                  "--weights=flush=0,compact_range=0,checkpoint=0,set_options=0,backup=0,export=0")
        logs = [name for name in os.listdir(self.db) if name.endswith(".log")]
        self.assertTrue(logs)
        for name in logs:
            os.truncate(os.path.join(self.db, name), 0)
        self.check_wrong(self.stress("--verify_only"))

    def test_a_state_of_another_database_is_refused(self):
        self.work()
        other = subprocess.run([PROGRAM, "--db=" + self.db, "--keys=900", f"--families={FAMILIES}"],
                               capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(other.returncode, 1)
        self.assertIn("another number of families or keys", other.stderr)
        os.remove(self.db + ".expected")
        unknown = self.stress("--verify_only")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("--destroy", unknown.stderr)
        self.work("--destroy")

    def content(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_another_file_is_not_overwritten(self):
        other = os.path.join(self.folder, "notes")
        for content in (b"notes", b"what somebody has written down, of some length" * 300, b"\0" * 7):
            with open(other, "wb") as file:
                file.write(content)
            for flags in ((), ("--destroy",)):
                done = self.stress("--expected=" + other, "--ops_per_thread=1", *flags)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(other + ": is not a file of expected states", done.stderr)
                self.assertEqual(self.content(other), content)
            self.assertFalse(os.path.exists(self.db))

    def test_an_incomplete_state_is_created_again_only_without_a_database(self):
        incomplete = os.path.join(self.folder, "incomplete")
        self.work()
        for content in (b"", b"\0" * 100):
            with open(incomplete, "wb") as file:
                file.write(content)
            done = self.stress("--expected=" + incomplete, "--ops_per_thread=1")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("--destroy", done.stderr)
            self.assertEqual(self.content(incomplete), content)
        self.assertIn("2 runs, 2 of them", self.work())  # the database is unchanged
        self.db = os.path.join(self.folder, "other")
        self.work("--expected=" + incomplete)

    def test_flags_are_checked_and_explained(self):
        for flag, word in (("--keys=3", "keys"), ("--weights=nosuch=1", "nosuch"), ("--nosuch", "nosuch"),
                           ("--db_options=nosuch=1", "nosuch"), ("stray", "stray")):
            done = subprocess.run([PROGRAM, "--db=" + self.db, flag], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 1, flag)
            self.assertIn(word, done.stderr)
        done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        for word in ("--draw", "--test_secondary", "_one_in=", "backup", "crash_loop.py", "recreate_family", "single-delete"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
