// SPDX-License-Identifier: Apache-2.0
//
// What opening notices: logs that are missing, cut, swapped or from elsewhere, MANIFESTs that end
// too early, and what it says about them. Files in memory, changed between two lives of a database.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/write_batch.h"
#include "db/manifest/manifest_reader.h"
#include "db/manifest/version_edit.h"
#include "db/wal/log_reader.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/no_reopen_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Files = std::map<std::string, std::string>;
constexpr WALRecoveryMode kSkipAny = WALRecoveryMode::kSkipAnyCorruptedRecords;
constexpr WALRecoveryMode kEveryMode[] = {WALRecoveryMode::kTolerateCorruptedTailRecords,
                                          WALRecoveryMode::kAbsoluteConsistency,
                                          WALRecoveryMode::kPointInTimeRecovery, kSkipAny};

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
  }

  // The files that a killed process leaves after `work`.
  Files FilesAfter(const std::function<void(OpenedDb*)>& work) {
    auto fs = std::make_shared<MemoryFileSystem>();
    const std::unique_ptr<Env> env = NewCompositeEnv(fs);
    options_.env = env.get();
    OpenedDb opened;
    EXPECT_OK(opened.Open(options_, "/db"));
    work(&opened);
    return WithoutLock(fs->AllFiles());
  }
  static Files WithoutLock(Files files) {
    std::erase_if(files, [](const auto& file) { return file.first.ends_with("/LOCK"); });
    return files;
  }
  static void Put(OpenedDb* opened, const std::string& key) {
    EXPECT_OK(opened->db()->Put(WriteOptions(), key, "value"));
  }

  // What an open of these files finds: the keys of all families, or why there are none.
  std::string Keys(const Files& files,
                   WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery) {
    auto fs = std::make_shared<MemoryFileSystem>();
    for (const auto& [path, bytes] : files) fs->PutFile(path, bytes);
    const std::unique_ptr<Env> env = NewCompositeEnv(fs);
    Options options = options_;
    options.env = env.get();
    options.wal_recovery_mode = mode;
    OpenedDb opened;
    message_.clear();
    Status status = opened.Open(options, "/db");
    Contents contents;
    if (status.ok()) {
      EXPECT_TRUE(opened.db()->GetProperty("ashlar.recovery-report", &message_));
      status = opened.ReadAll(&contents);
    }
    if (!status.ok()) {
      message_ = status.ToString();
      return status.IsCorruption() ? "corruption" : "other error";
    }
    std::string keys;
    for (const auto& [family, rows] : contents) {
      for (const auto& [key, value] : rows) keys += key;
    }
    EXPECT_OK(opened.Close());
    after_ = WithoutLock(fs->AllFiles());
    return keys;
  }
  // In the modes that do not take whatever is left.
  void ExpectCorruptionUnlessSkipping(const Files& files, const std::string& skipped) {
    for (WALRecoveryMode mode : kEveryMode) {
      EXPECT_EQ(Keys(files, mode), mode == kSkipAny ? skipped : "corruption") << int(mode);
      EXPECT_NE(message_, "") << int(mode);
    }
  }

  static std::vector<std::string> Paths(const Files& files, const std::string& part) {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : files) {
      if (path.find(part) != std::string::npos) paths.push_back(path);
    }
    return paths;
  }
  static std::string Newest(const Files& files, const std::string& part) {
    const std::vector<std::string> paths = Paths(files, part);
    EXPECT_FALSE(paths.empty());
    return paths.back();
  }
  static FileNumber NumberOf(const std::string& path) {
    FileNumber number;
    FileType type;
    EXPECT_TRUE(ParseFileName(path.substr(path.rfind('/') + 1), &number, &type));
    return number;
  }
  // Where the records of a log or MANIFEST end, from 0 on.
  static std::vector<uint64_t> Borders(const std::string& bytes, FileNumber log_number = {}) {
    LogReader::Options options;
    options.log_number = log_number;
    LogReader reader(NewMemoryLogSource(bytes, "log"), options, nullptr);
    std::vector<uint64_t> borders{0};
    for (Slice record; reader.ReadRecord(&record);) borders.push_back(reader.record_end());
    return borders;
  }

  Options options_;
  std::string message_;  // of the last open: the error, or the recovery report
  Files after_;          // the last open and clean close
};

}  // namespace

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

// The machine died while the last record was written to a log that had been allocated ahead.
TEST_F(RecoveryTest, ARecordThatIsTornBeforeZerosEndsTheLog) {
  for (const bool is_compressed : {false, true}) {
    for (const size_t recycled_logs : {0, 2}) {
      options_ = Options();
      options_.create_if_missing = true;
      options_.wal_compression = is_compressed ? kZSTD : kNoCompression;
      options_.recycle_log_file_num = recycled_logs;
      const Files files = FilesAfter([](OpenedDb* opened) {
        for (const char* key : {"a", "b", "c"}) Put(opened, key);
      });
      const std::string log = Newest(files, ".log");
      const std::vector<uint64_t> borders = Borders(files.at(log), NumberOf(log));
      ASSERT_GE(borders.size(), 4u);
      const size_t at_c = borders[borders.size() - 2];
      for (size_t bytes = 1; bytes <= (recycled_logs > 0 ? 11 : 7); ++bytes) {
        Files torn = files;
        torn[log].resize(at_c + bytes);
        torn[log].append(100000, '\0');
        for (const WALRecoveryMode mode : kEveryMode) {
          const bool is_refused = mode == WALRecoveryMode::kAbsoluteConsistency;
          EXPECT_EQ(Keys(torn, mode), is_refused ? "corruption" : "ab")
              << int(mode) << " with " << bytes << " bytes: " << message_;
          // In a file that is used again it may be of an older life: an end like any other.
          if (recycled_logs == 0) {
            EXPECT_NE(message_, "") << "it is reported";
          }
        }
      }
    }
  }
}

// A batch of one key.
std::string BatchOf(SequenceNumber seqno, const std::string& key) {
  WriteBatch batch;
  EXPECT_OK(batch.Put(key, "value"));
  std::string bytes = batch.Data();
  EncodeFixed64(bytes.data(), seqno);
  return bytes;
}

// Logs of RocksDB do not say where the log before them ends: only the sequence numbers do.
TEST_F(RecoveryTest, ATornRecordOfAnOlderLogIsAHoleUnlessTheNextLogGoesOn) {
  VersionEdit edit;
  edit.comparator = BytewiseComparator()->Name();
  edit.log_number = FileNumber{100};
  edit.next_file_number = FileNumber{102};
  edit.last_sequence = 0;
  std::string record;
  edit.EncodeTo(&record);
  LogImage manifest;
  manifest.Add(record);
  const auto with_logs = [&](SequenceNumber next_seqno, size_t torn_bytes) {
    Files files = {{"/db/CURRENT", "MANIFEST-000001\n"}, {"/db/MANIFEST-000001", manifest.bytes}};
    LogImage first;
    first.Add(BatchOf(1, "a"));
    const size_t end = first.bytes.size();
    first.Add(BatchOf(2, "b"));
    first.bytes.resize(end + torn_bytes);
    LogImage second;
    second.Add(BatchOf(next_seqno, "c"));
    files["/db/000100.log"] = first.bytes;
    files["/db/000101.log"] = second.bytes;
    return files;
  };
  for (const size_t torn_bytes : {5, 7, 20}) {
    const Files hole = with_logs(3, torn_bytes), goes_on = with_logs(2, torn_bytes);
    const std::map<WALRecoveryMode, std::pair<std::string, std::string>> expected = {
        {WALRecoveryMode::kTolerateCorruptedTailRecords, {"corruption", "ac"}},
        {WALRecoveryMode::kAbsoluteConsistency, {"corruption", "corruption"}},
        {WALRecoveryMode::kPointInTimeRecovery, {"a", "ac"}},
        {kSkipAny, {"ac", "ac"}}};
    for (const auto& [mode, keys] : expected) {
      EXPECT_EQ(Keys(hole, mode), keys.first) << int(mode) << ": " << message_;
      if (mode == WALRecoveryMode::kTolerateCorruptedTailRecords) {
        EXPECT_NE(message_.find("000100.log"), std::string::npos) << message_;
        EXPECT_NE(message_.find("101"), std::string::npos) << message_;
      }
      EXPECT_EQ(Keys(goes_on, mode), keys.second) << int(mode) << ": " << message_;
    }
    Files empty_behind = hole;
    empty_behind["/db/000101.log"] = "";
    EXPECT_EQ(Keys(empty_behind, WALRecoveryMode::kTolerateCorruptedTailRecords), "a");
  }
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
