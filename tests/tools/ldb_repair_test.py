#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# ldb repair: of our databases and of RocksDB's, with and without a MANIFEST; each engine opens what
# the other one has repaired.
import glob
import os
import shutil
import unittest

from ldb_support import PROGRAM, REFERENCE, LdbToolTest
from tool_support import needs, run, state_of

SAMPLES = ("empty", "basic_snappy", "levels_lz4", "wal_crash", "wal_recycled_crash",
           "universal_fifo", "partitioned_xxh3", "hash_index_ribbon", "first_key_index_v4",
           "format_v2_legacy_bloom", "universal_zstd_dict", "ingest", "rangedel", "rangedel_levels",
           "blob", "column_families")


@needs(os.path.exists(PROGRAM), "ldb in this build")
class LdbRepairTest(LdbToolTest):
    def test_a_healthy_database_keeps_its_rows(self):
        self.fill()
        before = self.ok("scan")
        self.assertTrue(self.ok("repair").endswith("OK\n"))
        self.assertEqual(self.ok("scan"), before)

    def test_the_report_names_what_is_lost(self):
        self.fill()
        self.ok("compact")
        table = glob.glob(self.path("db") + "/*.sst")[0]
        os.remove(table)
        report = self.ok("repair")
        self.assertIn(os.path.basename(table), report)
        self.assertIn("lost", report)
        self.assertEqual(self.ok("scan"), "")

    def test_without_a_database_it_fails(self):
        done = self.ldb("repair")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(self.path("db")))

    def test_a_family_with_another_order_needs_no_flag(self):
        self.fill()
        self.ok("create_column_family", "users")
        self.ok("--column_family=users", "put", "u", "1")
        os.remove(self.path("db") + "/CURRENT")
        self.ok("repair")
        self.assertEqual(self.ok("--column_family=users", "get", "u"), "1\n")

    def test_a_copy_is_repaired_with_its_own_logs(self):
        self.ok("put", "a", "1", "--create_if_missing")
        log, = [name for name in os.listdir(self.path("db")) if name.endswith(".log")]
        os.mkdir(self.path("logs"))
        shutil.copy(self.path("db", log), self.path("logs"))  # the log of the original
        notes = (("logs", (), "is ignored: the logs are in the database's own directory"),
                 ("nosuch", (), "does not exist"), ("logs", ("--try_load_options=false",), None))
        for wal_dir, flags, note in notes:
            wal_dir = self.path(wal_dir)
            self.set_wal_dir(wal_dir)
            done = self.ldb("repair", *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.decode(),
                             f"ldb: wal_dir {wal_dir} of the OPTIONS file or the program {note}\n"
                             if note else "")
            self.assertEqual(os.listdir(self.path("logs")), [log])
            self.assertFalse(os.path.exists(self.path("nosuch")))
            self.set_wal_dir("")
            self.check(self.ldb("scan"), ["a : 1"])
            self.ok("put", "a", "1")  # the next repair finds a log again

    def move_log_to(self, folder):
        """Makes a database with one pair in a log, which is in another folder."""
        self.ok("put", "a", "1", "--create_if_missing")
        log, = [name for name in os.listdir(self.path("db")) if name.endswith(".log")]
        os.mkdir(self.path(folder))
        os.rename(self.path("db", log), self.path(folder, log))
        self.set_wal_dir(self.path(folder))

    def test_logs_in_two_places_are_not_repaired_without_a_manifest(self):
        self.move_log_to("logs")
        with open(self.path("db", "000001.log"), "wb"):
            pass  # a leftover
        manifest, = glob.glob(self.path("db") + "/MANIFEST-*")
        os.truncate(manifest, os.path.getsize(manifest) - 1)
        before = state_of(self.path("logs"))
        self.check_failure(self.ldb("repair"), self.path("db") + " and", self.path("logs"),
                           "--try_load_options=false")
        self.assertEqual(state_of(self.path("logs")), before)
        os.rename(self.path("db", "000001.log"), self.path("moved"))
        self.ok("repair")
        self.assertEqual(self.ok("scan"), "a : 1\n")

    def test_a_missing_wal_dir_may_have_the_logs(self):
        self.move_log_to("logs")
        os.rename(self.path("logs"), self.path("elsewhere"))
        self.check_failure(self.ldb("repair"), self.path("logs"), "does not exist")
        os.rename(self.path("elsewhere"), self.path("logs"))
        self.ok("repair")
        self.assertEqual(self.ok("scan"), "a : 1\n")

    def test_a_copy_without_logs_leaves_those_of_its_original(self):
        self.move_log_to("logs")
        copy = self.path("copy")
        shutil.copytree(self.path("db"), copy)
        self.ok("put", "b", "2")  # the original goes on, with another log
        before = state_of(self.path("logs"))
        self.check_failure(self.ldb("repair", db=copy), self.path("logs"), copy,
                           "--try_load_options=false")
        self.ok("repair", "--try_load_options=false", db=copy)
        self.assertEqual(state_of(self.path("logs")), before)
        self.check(self.ldb("scan"), ["a : 1", "b : 2"])

    def test_tables_in_other_directories_are_found_if_they_are_named(self):
        self.fill()
        self.ok("compact")
        before = self.ok("scan")
        os.mkdir(self.path("slow"))
        for table in glob.glob(self.path("db") + "/*.sst"):
            os.rename(table, self.path("slow", os.path.basename(table)))
        os.remove(self.path("db") + "/CURRENT")
        self.ok("repair", "--db_paths=" + self.path("db") + "," + self.path("slow"))
        self.assertEqual(self.ok("scan", "--db_paths=" + self.path("slow")), before)

    def test_update_manifest_changes_nothing_where_temperatures_are_unknown(self):
        self.fill()
        self.ok("compact")
        before = sorted(os.listdir(self.path("db")))
        self.assertEqual(self.ok("update_manifest", "--update_temperatures"),
                         "Manifest updates successful\n")
        self.assertEqual(sorted(os.listdir(self.path("db"))), before)
        self.assertEqual(self.ldb("update_manifest").returncode, 1)


@needs(os.path.exists(PROGRAM), "ldb in this build")
@needs(REFERENCE is not None, "ldb of RocksDB 7.8")
class LdbRepairAgainstRocksDbTest(LdbToolTest):
    def rows(self, tool, db, families=None):
        """The rows of these families, or of all."""
        if families is None:
            names = run(tool, "--db=" + db, "list_column_families").stdout.decode().split("{")[1]
            families = names.split("}")[0].split(", ")
        found = {}
        for name in families:
            done = run(tool, "--db=" + db, "--column_family=" + name, "scan", "--hex")
            self.assertEqual(done.returncode, 0, (db, name, done.stderr))
            found[name] = done.stdout
        return found

    def test_rocksdb_reads_its_databases_after_our_repair(self):
        for name in SAMPLES:
            for lost in ((), ("CURRENT", "MANIFEST")):
                shutil.rmtree(self.path(name), ignore_errors=True)
                db = self.sample_database(name)
                before = self.rows(PROGRAM, db)
                for file in os.listdir(db):
                    if file.startswith(lost):
                        os.remove(os.path.join(db, file))
                done = run(PROGRAM, "--db=" + db, "repair")
                self.assertEqual(done.returncode, 0, (name, lost, done.stderr))
                for tool in (PROGRAM, REFERENCE):
                    # Without a MANIFEST, tables of families that were dropped come back as families.
                    found = self.rows(tool, db, before if lost else None)
                    # unittest's own comparison takes minutes to print how long texts differ.
                    changed = sorted({*found} ^ {*before}) + [
                        family for family in found if found[family] != before.get(family)]
                    self.assertEqual(changed, [], (name, lost, tool, done.stdout))
                done = run(REFERENCE, "--db=" + db, "checkconsistency")
                self.assertEqual(done.returncode, 0, (name, lost, done.stdout, done.stderr))

    def test_we_read_our_database_after_the_repair_of_rocksdb(self):
        compatible = "--write_compatible_with=7.8"
        for key in "abcd":
            self.ok("put", key, "1", "--create_if_missing", compatible)
        self.ok("compact", compatible)
        self.ok("put", "e", "5", compatible)
        before = self.ok("scan")
        done = self.ldb("--ignore_unknown_options", "repair", tool=REFERENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ok("scan"), before)


if __name__ == "__main__":
    unittest.main()
