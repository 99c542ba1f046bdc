// SPDX-License-Identifier: Apache-2.0
//
// SetOptions() and SetDBOptions(): which options can be changed on an open database, and that
// changes take effect.
#include <atomic>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "tests/support/json.h"
#include "tests/support/moved_clock.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Changes = std::unordered_map<std::string, std::string>;

struct FileTraffic {
  std::atomic<int> appends{0};
  std::atomic<int> range_syncs{0};
};

// Counts appends and range syncs of tables and of logs.
class TrafficFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "TrafficFiles"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    std::unique_ptr<FSWritableFile> file;
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, &file, debug);
    if (!status.ok()) return status;
    const std::string ending = path.substr(path.size() - 4);
    FileTraffic* traffic = ending == ".sst" ? &tables : ending == ".log" ? &logs : &others_;
    *result = std::make_unique<File>(std::move(file), traffic);
    return status;
  }

  FileTraffic tables, logs;

 private:
  class File final : public FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSWritableFile>&& file, FileTraffic* traffic)
        : FSWritableFileOwnerWrapper(std::move(file)), traffic_(traffic) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
      traffic_->appends++;
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                       IODebugContext* debug) override {
      traffic_->range_syncs++;
      return FSWritableFileOwnerWrapper::RangeSync(offset, bytes, options, debug);
    }

   private:
    FileTraffic* const traffic_;
  };
  FileTraffic others_;
};

class SetOptionsTest : public DbTest {
 protected:
  SetOptionsTest() {
    UseFiles(files_);
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    Open();
  }

  // Writes a log and a table of about `kilobytes` each. The next write goes to another log.
  void WriteTable(int kilobytes) {
    for (int i = 0; i < kilobytes; i++) {
      Put(StrCat("key", 10000 + i), std::string(1024, 'v'));
    }
    Flush();
  }
  uint64_t DataBlocksOfNewestTable() {
    TablePropertiesCollection all;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&all));
    std::string newest;
    for (const auto& [path, properties] : all) newest = std::max(newest, path);
    return all.at(newest)->num_data_blocks;
  }

  std::shared_ptr<TrafficFiles> files_ = std::make_shared<TrafficFiles>(memory_);
};

// The file has every option of RocksDB 7.8.3 with its value, as texts for these two calls.
TEST_F(SetOptionsTest, WhatRocksDbChangesCanBeChanged) {
  std::istringstream lines(ReadTestFile(SourcePath("tests/data/options/dynamic.tsv")));
  int accepted = 0;
  for (std::string kind, text, answer; std::getline(lines, kind, '\t') &&
                                       std::getline(lines, text, '\t') &&
                                       std::getline(lines, answer);) {
    const size_t equals = text.find('=');
    const Changes change = {{text.substr(0, equals), text.substr(equals + 1)}};
    const Status status = kind == "db" ? db_->SetDBOptions(change) : db_->SetOptions(change);
    // Objects that are given at open cannot be given again here, not even the same ones.
    const bool names_object = text.find("comparator=") == 0 ||
                              text.find("memtable_factory=") == 0 ||
                              text.find("flush_block_policy_factory=") != std::string::npos;
    if (answer != "accepted" || names_object) continue;
    if (status.IsNotSupported()) continue;  // a value that is not supported at open either
    EXPECT_OK(status) << text;
    accepted++;
  }
  EXPECT_GT(accepted, 100);
}

TEST_F(SetOptionsTest, WhatIsFixedAtOpenIsRefused) {
  for (const char* name : {"num_levels", "merge_operator", "table_factory.format_version",
                           "block_based_table_factory.block_cache", "max_mem_compaction_level"}) {
    EXPECT_TRUE(db_->SetOptions({{name, "4"}}).IsInvalidArgument()) << name;
  }
  EXPECT_TRUE(db_->SetOptions({{"table_factory", "PlainTable"}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetOptions({{"plain_table_factory", "{}"}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetDBOptions({{"wal_dir", "/elsewhere"}}).IsNotFound());
}

// A flush with it would fail, and stop all writes.
TEST_F(SetOptionsTest, NoLevelMayTakeItsCompressionFromAnotherOption) {
  EXPECT_TRUE(db_->SetOptions({{"compression", "kDisableCompressionOption"}}).IsInvalidArgument());
  WriteTable(64);
  ColumnFamilyOptions options;
  options.compression = kDisableCompressionOption;
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(options, "new", &handle).IsInvalidArgument());
}

TEST_F(SetOptionsTest, OptionsOfTheTableAreReachedByAPoint) {
  WriteTable(64);
  EXPECT_LT(DataBlocksOfNewestTable(), 30u);
  for (const Changes& change : {Changes{{"block_based_table_factory.block_size", "1024"}},
                                Changes{{"table_factory.block_size", "2k"}},
                                Changes{{"block_based_table_factory", "{block_size=1000}"}},
                                Changes{{"table_factory", "{block_size=1001;}"}}}) {
    const auto cache = db_->GetOptions().table_factory->GetOptions<Cache>("BlockCache");
    ASSERT_OK(db_->SetOptions({{"table_factory.block_size", "64k"}}));
    WriteTable(64);
    EXPECT_EQ(DataBlocksOfNewestTable(), 2u);
    ASSERT_OK(db_->SetOptions(change));
    WriteTable(64);
    EXPECT_GT(DataBlocksOfNewestTable(), 30u) << change.begin()->first;
    // A new factory with the same cache.
    EXPECT_EQ(db_->GetOptions().table_factory->GetOptions<Cache>("BlockCache"), cache);
  }
}

TEST_F(SetOptionsTest, ABadTableOptionChangesNothing) {
  const auto block_size = [&] {
    return db_->GetOptions().table_factory->GetOptions<BlockBasedTableOptions>()->block_size;
  };
  const size_t before = block_size();
  EXPECT_FALSE(db_->SetOptions({{"table_factory", "{block_size=8k;checksum=kCRC32c}"}}).ok());
  EXPECT_FALSE(db_->SetOptions({{"table_factory.block_size", "0"}}).ok());
  EXPECT_FALSE(db_->SetOptions({{"table_factory.block_sise", "8k"}}).ok());
  EXPECT_EQ(block_size(), before);
}

// The last megabyte of a file is synced at its end.
TEST_F(SetOptionsTest, TablesAreSyncedByPieces) {
  WriteTable(2048);
  EXPECT_EQ(files_->tables.range_syncs, 0);
  ASSERT_OK(
      db_->SetDBOptions({{"bytes_per_sync", "16k"}, {"writable_file_max_buffer_size", "8k"}}));
  WriteTable(2048);
  EXPECT_GT(files_->tables.range_syncs, 4);
  const int before = files_->tables.range_syncs;
  ASSERT_OK(db_->SetDBOptions({{"bytes_per_sync", "0"}}));
  WriteTable(2048);
  EXPECT_EQ(files_->tables.range_syncs, before);
}

TEST_F(SetOptionsTest, TablesAreWrittenThroughABufferOfTheNewSize) {
  const auto appends_of_a_table = [&] {
    const int before = files_->tables.appends;
    WriteTable(256);
    return files_->tables.appends - before;
  };
  const int at_first = appends_of_a_table();
  ASSERT_OK(db_->SetDBOptions({{"writable_file_max_buffer_size", "8k"}}));
  EXPECT_GT(appends_of_a_table(), at_first + 10);
  ASSERT_OK(db_->SetDBOptions({{"writable_file_max_buffer_size", "1M"}}));
  EXPECT_EQ(appends_of_a_table(), at_first);
}

TEST_F(SetOptionsTest, LogsAreSyncedByPiecesFromTheNextOneOn) {
  ASSERT_OK(
      db_->SetDBOptions({{"wal_bytes_per_sync", "16k"}, {"writable_file_max_buffer_size", "8k"}}));
  WriteTable(2048);  // the open log keeps its values
  EXPECT_EQ(files_->logs.range_syncs, 0);
  WriteTable(2048);
  EXPECT_GT(files_->logs.range_syncs, 4);
}

TEST_F(SetOptionsTest, WhatWasChangedIsReported) {
  ASSERT_OK(db_->SetDBOptions({{"bytes_per_sync", "1MB"}, {"max_open_files", "100"}}));
  EXPECT_EQ(db_->GetDBOptions().bytes_per_sync, 1u << 20);
  EXPECT_EQ(db_->GetDBOptions().max_open_files, 100);
  ASSERT_OK(db_->SetOptions({{"block_based_table_factory.max_auto_readahead_size", "64k"}}));
  EXPECT_EQ(db_->GetOptions()
                .table_factory->GetOptions<BlockBasedTableOptions>()
                ->max_auto_readahead_size,
            64u << 10);
}

TEST_F(SetOptionsTest, OfSeveralFamiliesAllAreChangedOrNone) {
  ColumnFamilyHandle* const two = CreateFamily("two");
  ColumnFamilyHandle* const one = db_->DefaultColumnFamily();
  using Values = std::unordered_map<std::string, std::string>;
  using ByFamily = std::unordered_map<ColumnFamilyHandle*, Values>;
  const auto sizes = [&] {
    return std::pair(db_->GetOptions(one).write_buffer_size,
                     db_->GetOptions(two).write_buffer_size);
  };
  const auto before = sizes();
  const Values good{{"write_buffer_size", "1M"}}, bad{{"write_buffer_size", "x"}};
  EXPECT_TRUE(db_->SetOptions(ByFamily{{one, good}, {two, bad}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetOptions(ByFamily{{one, bad}, {two, good}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetOptions(ByFamily{{one, good}, {two, {}}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetOptions(ByFamily{}).IsInvalidArgument());
  EXPECT_EQ(sizes(), before);
  const auto options_files = [this] {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("OPTIONS-"); });
    return std::set(names.begin(), names.end());
  };
  const std::set<std::string> files = options_files();
  ASSERT_OK(db_->SetOptions(ByFamily{{one, good}, {two, {{"write_buffer_size", "2M"}}}}));
  EXPECT_EQ(sizes(), std::pair(size_t{1} << 20, size_t{2} << 20));
  EXPECT_EQ(options_files().count(*files.rbegin()),
            1u);  // the second newest: one new file was written
  EXPECT_NE(*options_files().rbegin(), *files.rbegin());
  ASSERT_OK(db_->SetOptions({one, two}, {{"write_buffer_size", "3M"}}));
  EXPECT_EQ(sizes(), std::pair(size_t{3} << 20, size_t{3} << 20));
  ASSERT_OK(db_->DropColumnFamily(two));
  EXPECT_TRUE(db_->SetOptions({one, two}, good).IsColumnFamilyDropped());
  EXPECT_EQ(db_->GetOptions(one).write_buffer_size, size_t{3} << 20);
}

// The handle of the database itself and the one that opening gave name the same family.
TEST_F(SetOptionsTest, AFamilyMayComeByTwoHandles) {
  Close();
  OpenAll();
  ColumnFamilyHandle* const own = db_->DefaultColumnFamily();
  ASSERT_EQ(handles_.size(), 1u);
  ASSERT_NE(handles_[0], own);
  ASSERT_OK(db_->SetOptions(
      {{own, {{"write_buffer_size", "1M"}}}, {handles_[0], {{"max_write_buffer_number", "5"}}}}));
  EXPECT_EQ(db_->GetOptions().write_buffer_size, size_t{1} << 20);
  EXPECT_EQ(db_->GetOptions().max_write_buffer_number, 5);
}

class PeriodicCompaction : public DbTest {
 protected:
  PeriodicCompaction() {
    UseFiles(memory_, clock_);
    options_.compression = kNoCompression;
    options_.statistics = CreateDBStatistics();
    Open();
  }
  void WriteTable(const std::string& key) {
    Put(key, "v");
    Flush();
  }
  // The level of each table by its name.
  std::map<std::string, int> TableLevels() {
    WaitForJobs();
    std::map<std::string, int> levels;
    for (const LiveFileMetaData& file : Tables()) levels[file.name] = file.level;
    return levels;
  }

  std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
};

TEST_F(PeriodicCompaction, RewritesWhatHasGrownOldOnItsLevel) {
  WriteTable("a");
  Compact();
  const auto before = TableLevels();
  ASSERT_EQ(before.size(), 1u);
  clock_->moved_by_seconds = 1000;
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "5000"}}));
  EXPECT_EQ(TableLevels(), before);
  EXPECT_EQ(Ticks(COMPACT_READ_BYTES_PERIODIC), 0u);
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "900"}}));
  const auto after = TableLevels();
  ASSERT_EQ(after.size(), 1u);
  EXPECT_GT(Ticks(COMPACT_READ_BYTES_PERIODIC), 0u);
  EXPECT_GT(Ticks(COMPACT_WRITE_BYTES_PERIODIC), 0u);
  EXPECT_NE(after.begin()->first, before.begin()->first);
  EXPECT_EQ(after.begin()->second, before.begin()->second);
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "901"}}));
  EXPECT_EQ(TableLevels(), after);  // the new table is not old enough
  EXPECT_EQ(Get("a"), "v");
}

TEST_F(PeriodicCompaction, TakesLevel0Down) {
  WriteTable("a");
  WriteTable("b");
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "900"}}));
  EXPECT_EQ(TableLevels().size(), 2u);
  clock_->moved_by_seconds = 1000;
  WriteTable("c");  // a flush makes the picker look for old tables
  for (const auto& [name, level] : TableLevels()) EXPECT_GT(level, 0) << name;
}

TEST_F(PeriodicCompaction, ZeroIsNever) {
  WriteTable("a");
  const auto before = TableLevels();
  clock_->moved_by_seconds = 100'000'000;
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "0"}}));
  EXPECT_EQ(TableLevels(), before);
}

}  // namespace
}  // namespace ashlar
