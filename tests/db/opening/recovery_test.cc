// SPDX-License-Identifier: Apache-2.0
//
// What opening notices: logs that are missing, cut, swapped or from elsewhere, MANIFESTs that end
// too early, and what it says about them. Files in memory, changed between two lives of a database.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "db/manifest/manifest_reader.h"
#include "env/sim/sim_fs.h"
#include "tests/db/opening/recovery_fixture.h"
#include "tests/support/no_reopen_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {

TEST_F(RecoveryTest, AMissingNewestLogIsCorruptionFromTheFirstOpenOn) {
  Files files = FilesAfter([](OpenedDb* db) { Put(db, "a"); });
  ASSERT_EQ(Keys(files), "a");
  const std::string log = Newest(files, ".log");
  files.erase(log);
  ExpectCorruptionUnlessSkipping(files, "");
  EXPECT_NE(message_.find(log), std::string::npos) << message_;
  EXPECT_EQ(Keys(after_), "") << "what was skipped once is forgotten";
}

TEST_F(RecoveryTest, AMissingLogIsCorruptionOnceAFlushHasRecordedIt) {
  Files files = FilesAfter([](OpenedDb* db) {
    Put(db, "a");
    EXPECT_OK(db->db()->Flush(FlushOptions()));
    Put(db, "b");
  });
  ASSERT_EQ(Keys(files), "ab");
  files.erase(Newest(files, ".log"));
  ExpectCorruptionUnlessSkipping(files, "a");
}

TEST_F(RecoveryTest, ALogOfEarlierOrLaterRecordsIsCorruption) {
  Files files = FilesAfter([](OpenedDb* db) {
    Put(db, "a");
    EXPECT_OK(db->db()->Flush(FlushOptions()));
    Put(db, "b");
  });
  const Files earlier = FilesAfter([](OpenedDb* db) { Put(db, "a"); });
  const std::string log = Newest(files, ".log");
  files[log] = earlier.at(Newest(earlier, ".log"));
  ExpectCorruptionUnlessSkipping(files, "a");
  EXPECT_EQ(Keys(files), "corruption");
  EXPECT_NE(message_.find(log), std::string::npos) << message_;
}

TEST_F(RecoveryTest, TwoLogsThatChangedPlacesAreCorruption) {
  options_.max_write_buffer_number = 4;
  options_.create_missing_column_families = true;
  Files files = FilesAfter([](OpenedDb* db) {
    ColumnFamilyHandle* handle = nullptr;
    EXPECT_OK(db->db()->CreateColumnFamily(ColumnFamilyOptions(), "other", &handle));
    EXPECT_OK(db->db()->Put(WriteOptions(), handle, "a", "value"));
    Put(db, "b");
    EXPECT_OK(db->db()->Flush(FlushOptions()));  // "a" still needs the first log
    Put(db, "c");
    EXPECT_OK(db->db()->DestroyColumnFamilyHandle(handle));
  });
  const std::vector<std::string> logs = Paths(files, ".log");
  ASSERT_EQ(logs.size(), 2u);
  ASSERT_EQ(Keys(files), "bca");
  std::swap(files[logs[0]], files[logs[1]]);
  EXPECT_EQ(Keys(files), "corruption");
  EXPECT_NE(message_.find(logs[0]), std::string::npos) << message_;
}

TEST_F(RecoveryTest, AClosedLogCutAtAnyRecordIsCorruption) {
  Files files = FilesAfter([](OpenedDb* db) {
    ColumnFamilyHandle* handle = nullptr;
    EXPECT_OK(db->db()->CreateColumnFamily(ColumnFamilyOptions(), "other", &handle));
    EXPECT_OK(db->db()->Put(WriteOptions(), handle, "a", "value"));
    Put(db, "b");
    EXPECT_OK(db->db()->Flush(FlushOptions()));
    EXPECT_OK(db->db()->DestroyColumnFamilyHandle(handle));
  });
  const std::string log = Paths(files, ".log").front();
  const std::string whole = files.at(log);
  const std::vector<uint64_t> borders = Borders(whole);
  ASSERT_EQ(borders.size(), 3u);
  for (size_t i = 0; i < 2; i++) {
    files[log] = whole.substr(0, borders[i]);
    EXPECT_EQ(Keys(files), "corruption") << i;
    files[log].resize(whole.size());  // zeros, as in room that was reserved
    EXPECT_EQ(Keys(files), "corruption") << i;
  }
}

TEST_F(RecoveryTest, TheNewestLogMayEndAtAnyRecordBehindItsRecordedSync) {
  Files files = FilesAfter([](OpenedDb* db) {
    WriteOptions synced;
    synced.sync = true;
    Put(db, "a");
    EXPECT_OK(db->db()->Put(synced, "b", "value"));
    ColumnFamilyHandle* handle = nullptr;  // the next change of the MANIFEST
    EXPECT_OK(db->db()->CreateColumnFamily(ColumnFamilyOptions(), "other", &handle));
    Put(db, "c");
    Put(db, "d");
    EXPECT_OK(db->db()->DestroyColumnFamilyHandle(handle));
  });
  const std::string log = Newest(files, ".log");
  const std::string whole = files.at(log);
  const std::vector<uint64_t> borders = Borders(whole);
  const std::string expected[] = {"corruption", "corruption", "ab", "abc", "abcd"};
  ASSERT_EQ(borders.size(), std::size(expected));
  for (size_t i = 0; i < borders.size(); i++) {
    files[log] = whole.substr(0, borders[i]);
    EXPECT_EQ(Keys(files), expected[i]);
  }
}

TEST_F(RecoveryTest, ALogThatSkipsFamiliesTheManifestNeverKnewIsCorruption) {
  const Files before = FilesAfter([](OpenedDb* db) { Put(db, "a"); });
  Files after = FilesAfter([](OpenedDb* db) {
    Put(db, "a");
    ColumnFamilyHandle* handle = nullptr;
    EXPECT_OK(db->db()->CreateColumnFamily(ColumnFamilyOptions(), "other", &handle));
    EXPECT_OK(db->db()->Put(WriteOptions(), handle, "b", "value"));
    EXPECT_OK(db->db()->DestroyColumnFamilyHandle(handle));
  });
  const std::string manifest = Newest(after, "MANIFEST");
  ASSERT_EQ(Keys(after), "ab");
  const size_t cut = Borders(after.at(manifest)).back();
  ASSERT_EQ(manifest, Newest(before, "MANIFEST"));
  ASSERT_LT(Borders(before.at(manifest)).back(), cut);
  after[manifest].resize(Borders(before.at(manifest)).back());
  EXPECT_EQ(Keys(after), "corruption");
}

// A cut is noticed, or nothing was lost.
TEST_F(RecoveryTest, AManifestCutAnywhereIsCorruptionOrLosesNothing) {
  const Files files = FilesAfter([](OpenedDb* db) {
    for (const char* key : {"a", "b", "c"}) {
      Put(db, key);
      EXPECT_OK(db->db()->Flush(FlushOptions()));
    }
    EXPECT_OK(db->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Put(db, "d");
  });
  const std::string manifest = Newest(files, "MANIFEST");
  const size_t end = Borders(files.at(manifest)).back();
  ASSERT_EQ(Keys(files), "abcd");
  int corrupt = 0;
  for (size_t size = 0; size < end; size++) {
    Files cut = files;
    cut[manifest].resize(size);
    const std::string keys = Keys(cut);
    if (keys == "corruption") corrupt++;
    EXPECT_TRUE(keys == "corruption" || keys == "abcd") << size << ": " << keys;
  }
  EXPECT_GT(corrupt, 0);
}

TEST_F(RecoveryTest, WhatCurrentLedToAtFirstCannotBeCutOffTheManifest) {
  const Files files = FilesAfter([](OpenedDb*) {});
  const std::string manifest = Newest(files, "MANIFEST");
  for (uint64_t border : Borders(files.at(manifest))) {
    Files cut = files;
    cut[manifest].resize(border);
    const bool is_whole = border == Borders(files.at(manifest)).back();
    EXPECT_EQ(Keys(cut), is_whole ? "" : "corruption") << border;
  }
}

TEST_F(RecoveryTest, AnUnfinishedChangeOfTheManifestIsReported) {
  Files files = FilesAfter([](OpenedDb* db) { Put(db, "a"); });
  const std::string manifest = Newest(files, "MANIFEST");
  files[manifest].resize(Borders(files.at(manifest)).back());
  files[manifest] += std::string("\x01\x02\x03", 3);
  EXPECT_EQ(Keys(files), "a");
  EXPECT_NE(message_.find("MANIFEST: 3 bytes dropped"), std::string::npos) << message_;
}

TEST_F(RecoveryTest, ATableThatOnlyALostChangeNamedIsKeptAsideAndReported) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  Files before = FilesAfter([](OpenedDb*) {});
  Files after = FilesAfter([&](OpenedDb* db) {
    EXPECT_OK(db->db()->Put(unlogged, "a", "value"));
    EXPECT_OK(db->db()->Flush(FlushOptions()));
  });
  const std::string manifest = Newest(after, "MANIFEST");
  const std::string table = Newest(after, ".sst");
  ASSERT_EQ(Keys(after), "a");
  after[manifest].resize(Borders(before.at(manifest)).back());
  EXPECT_EQ(Keys(after), "");
  EXPECT_NE(message_.find(table), std::string::npos) << message_;
  EXPECT_TRUE(after_.contains(table + ".orphan"));
}

// RocksDB 7.8 does not write how new a table is.
TEST_F(RecoveryTest, ATableThatDoesNotSayHowNewItIsIsAskedForItsEntries) {
  Files files = FilesAfter([](OpenedDb*) {});
  const std::string table = "/db/000900.sst";
  files[table] = LoadSampleTable("v78_nofilter_fv5").bytes;
  EXPECT_EQ(Keys(files), "");
  EXPECT_NE(message_.find(table), std::string::npos) << message_;
  EXPECT_TRUE(after_.contains(table + ".orphan"));
}

TEST_F(RecoveryTest, LogsThatStayUnflushedAreStillKnown) {
  options_.avoid_flush_during_recovery = true;
  Files files = FilesAfter([](OpenedDb* db) { Put(db, "a"); });
  ASSERT_EQ(Keys(files), "a");
  files = after_;
  const std::vector<std::string> logs = Paths(files, ".log");
  ASSERT_EQ(logs.size(), 2u);
  ASSERT_EQ(Keys(files), "a");
  Files cut = files;
  cut[logs[0]].clear();
  EXPECT_EQ(Keys(cut), "corruption");
  cut = files;
  cut.erase(logs[0]);
  EXPECT_EQ(Keys(cut), "corruption");
}

// They could not be made durable then, so they do not stay.
TEST_F(RecoveryTest, LogsAreFlushedWhereNoFileCanBeOpenedAgain) {
  const auto fs = std::make_shared<NoReopenFs>(std::make_shared<MemoryFileSystem>());
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  options_.env = env.get();
  options_.avoid_flush_during_recovery = true;
  OpenedDb opened;
  ASSERT_OK(opened.Open(options_, "/db"));
  Put(&opened, "a");
  ASSERT_OK(opened.Close());
  ASSERT_OK(opened.Open(options_, "/db"));
  std::vector<LiveFileMetaData> tables;
  opened.db()->GetLiveFilesMetaData(&tables);
  EXPECT_EQ(tables.size(), 1u);
  Contents contents;
  ASSERT_OK(opened.ReadAll(&contents));
  EXPECT_EQ(contents["default"], (Rows{{"a", "value"}}));
  ASSERT_OK(opened.Close());
}

// The memory of a process must not decide what the next one needs.
TEST_F(RecoveryTest, ADroppedFamilyTakesItsLogWithItForTheNextOpenToo) {
  const Files files = FilesAfter([](OpenedDb* db) {
    ColumnFamilyHandle *empty = nullptr, *dropped = nullptr;
    EXPECT_OK(db->db()->CreateColumnFamily(ColumnFamilyOptions(), "empty", &empty));
    EXPECT_OK(db->db()->CreateColumnFamily(ColumnFamilyOptions(), "dropped", &dropped));
    EXPECT_OK(db->db()->Put(WriteOptions(), dropped, "a", "value"));
    Put(db, "b");
    EXPECT_OK(db->db()->Flush(FlushOptions()));
    EXPECT_OK(db->db()->DropColumnFamily(dropped));
    EXPECT_OK(db->db()->DestroyColumnFamilyHandle(dropped));
    EXPECT_OK(db->db()->DestroyColumnFamilyHandle(empty));
  });
  EXPECT_EQ(Paths(files, ".log").size(), 1u);
  EXPECT_EQ(Keys(files), "b");
}

// GetLiveFiles with a flush promises files that are whole without logs; what they miss is written
// later than the call. The database itself knows its logs again after its next change.
TEST_F(RecoveryTest, ACopyOfTheLiveFilesOpensWithoutLogs) {
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  const Files files = FilesAfter([&](OpenedDb* opened) {
    Put(opened, "a");
    EXPECT_OK(opened->db()->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/true));
    Put(opened, "b");
    EXPECT_OK(opened->db()->Flush(FlushOptions()));
    Put(opened, "c");
  });
  Files copy;
  for (const std::string& name : names) {
    const std::string path = "/db" + name;
    ASSERT_TRUE(files.contains(path)) << path;
    copy[path] = files.at(path);
    if (name.find("MANIFEST") != std::string::npos) copy[path].resize(manifest_bytes);
  }
  EXPECT_EQ(Keys(copy), "a");
  Files damaged = files;
  damaged.erase(Newest(damaged, ".log"));
  EXPECT_EQ(Keys(damaged), "corruption");
}

TEST_F(RecoveryTest, AFamilyNamedTwiceIsRefused) {
  auto fs = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  options_.env = env.get();
  const std::vector<ColumnFamilyDescriptor> families(2, {"default", ColumnFamilyOptions()});
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options_, "/db", families, &handles, &db).IsInvalidArgument());
  EXPECT_TRUE(fs->AllFiles().empty());
}

TEST_F(RecoveryTest, NumbersOfFilesThatAreThereAreNotGivenOutAgain) {
  Files files = FilesAfter([](OpenedDb* db) { Put(db, "a"); });
  const std::string leftover = "/db/000900.sst";
  files[leftover] = "half a table";
  ASSERT_EQ(Keys(files), "a");
  for (const char* kind : {".sst", ".log"}) {
    for (const std::string& path : Paths(after_, kind)) EXPECT_GT(path, leftover);
  }
  EXPECT_EQ(Paths(after_, ".sst").size(), 1u);
}

// A log with damage is read once: what was intact goes to tables, so that the next recovery does
// not stumble over it again.
TEST_F(RecoveryTest, ADamagedLogIsNotKeptForTheNextRecovery) {
  options_.avoid_flush_during_recovery = true;
  Files files = FilesAfter([](OpenedDb* db) {
    Put(db, "a");
    Put(db, "b");
  });
  std::string& log = files[Newest(files, ".log")];
  log.resize(Borders(log).back());
  log.back() ^= 1;
  ASSERT_EQ(Keys(files), "a");
  EXPECT_NE(message_, "");
  ASSERT_EQ(Keys(after_), "a");
  EXPECT_EQ(message_, "") << "reported once";
}

// The tables of a recovery are named by the MANIFEST, and their logs go: they must be durable.
TEST_F(RecoveryTest, ItsTablesSurviveACrash) {
  const std::shared_ptr<SimFS> sim = SimFS::Create();
  const auto open = [&](const std::shared_ptr<SimFS>& disk, std::string* keys) {
    const std::unique_ptr<Env> env = NewCompositeEnv(disk);
    options_.env = env.get();
    OpenedDb opened;
    Contents contents;
    ASSERT_OK(opened.Open(options_, "/db"));
    ASSERT_OK(opened.ReadAll(&contents));
    for (const auto& [key, value] : contents["default"]) *keys += key;
    WriteOptions synced;
    synced.sync = true;
    EXPECT_OK(opened.db()->Put(synced, "a", "value"));
  };
  std::string keys;
  open(sim, &keys);
  open(sim, &keys);
  ASSERT_EQ(keys, "a");
  for (const CrashPolicy policy : kAllCrashPolicies) {
    keys.clear();
    open(sim->CrashImage(sim->CallCount(), policy), &keys);
    EXPECT_EQ(keys, "a") << NameOf(policy);
  }
}

}  // namespace ashlar
