// SPDX-License-Identifier: Apache-2.0
//
// Storage tiers of tables: which one a job asks the file system for, what is recorded, and what
// reads count.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/iostats_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/db/tiers/tiers_fixture.h"

namespace ashlar {
namespace {

// Remembers with which temperature each table was created and opened.
class Tiers final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "Tiers"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    Note(path, options, &written_);
    return FileSystemWrapper::NewWritableFile(path, options, file, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    Note(path, options, &opened_);
    return FileSystemWrapper::NewRandomAccessFile(path, options, file, dbg);
  }
  Temperature Written(const std::string& path) { return Of(path, written_); }
  Temperature Opened(const std::string& path) { return Of(path, opened_); }

 private:
  using ByPath = std::map<std::string, Temperature>;
  void Note(const std::string& path, const FileOptions& options, ByPath* to) {
    const std::lock_guard<std::mutex> lock(mutex_);
    (*to)[path] = options.temperature;
  }
  Temperature Of(const std::string& path, const ByPath& from) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return from.contains(path) ? from.at(path) : Temperature::kLastTemperature;
  }

  std::mutex mutex_;
  ByPath written_, opened_;
};

class TemperaturesTest : public TiersTest {
 protected:
  TemperaturesTest() {
    UseFiles(files_, clock_);
    options_.disable_auto_compactions = true;
    options_.num_levels = 3;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.statistics = CreateDBStatistics();
  }
  LiveFileMetaData OnlyTable() {
    const std::vector<LiveFileMetaData> tables = Tables();
    EXPECT_EQ(tables.size(), 1u);
    return tables.empty() ? LiveFileMetaData() : tables.front();
  }
  // What is recorded for the only table, which the file system was asked for too.
  Temperature Recorded() {
    const LiveFileMetaData table = OnlyTable();
    EXPECT_EQ(files_->Written(dir_ + table.name), table.temperature);
    return table.temperature;
  }
  std::string BytesAt(Temperature temperature) {
    return Property("rocksdb.live-sst-files-size-at-temperature" +
                    std::to_string(static_cast<int>(temperature)));
  }
  // To the last level.
  void CompactToLast() {
    CompactionOptions options;
    ASSERT_OK(db_->CompactFiles(options, {OnlyTable().name}, 2));
  }

  const std::shared_ptr<Tiers> files_ = std::make_shared<Tiers>(memory_);
};

}  // namespace

TEST_F(TemperaturesTest, FlushesAndCompactionsUseTheTiersOfTheOptions) {
  options_.default_write_temperature = Temperature::kWarm;
  options_.last_level_temperature = Temperature::kCold;
  Open();
  Put("a");
  Flush();
  EXPECT_EQ(Recorded(), Temperature::kWarm);
  CompactionOptions to_level1;
  ASSERT_OK(db_->CompactFiles(to_level1, {OnlyTable().name}, 1));
  EXPECT_EQ(Recorded(), Temperature::kWarm);
  CompactToLast();
  EXPECT_EQ(Recorded(), Temperature::kCold);
  EXPECT_EQ(BytesAt(Temperature::kCold), std::to_string(OnlyTable().size));
  Reopen();
  EXPECT_EQ(OnlyTable().temperature, Temperature::kCold);
  EXPECT_EQ(Get("a"), "v");
  EXPECT_EQ(files_->Opened(dir_ + OnlyTable().name), Temperature::kCold);
}

TEST_F(TemperaturesTest, WithoutOptionsNoTierIsNamed) {
  Open();
  Put("a");
  Flush();
  CompactToLast();
  EXPECT_EQ(Recorded(), Temperature::kUnknown);
}

TEST_F(TemperaturesTest, ATableOfAnotherTierIsNotMovedToTheLastLevel) {
  options_.last_level_temperature = Temperature::kCold;
  Open();
  Put("a");
  Flush();
  CompactionOptions moved;
  moved.allow_trivial_move = true;
  ASSERT_OK(db_->CompactFiles(moved, {OnlyTable().name}, 1));
  const std::string name = OnlyTable().name;
  ASSERT_OK(db_->CompactFiles(moved, {name}, 2));
  EXPECT_NE(OnlyTable().name, name);
  EXPECT_EQ(Recorded(), Temperature::kCold);
}

TEST_F(TemperaturesTest, TheFamiliesOnlyLevelIsTheLastForCompactionsAlone) {
  options_.num_levels = 1;
  options_.compaction_style = kCompactionStyleUniversal;
  options_.last_level_temperature = Temperature::kCold;
  Open();
  Put("a");
  Flush();
  EXPECT_EQ(Recorded(), Temperature::kUnknown);
  Put("b");
  Flush();
  Compact();
  EXPECT_EQ(Recorded(), Temperature::kCold);
}

TEST_F(TemperaturesTest, CompactFilesMayNameATier) {
  Open();
  Put("a");
  Flush();
  CompactionOptions options;
  options.output_temperature_override = Temperature::kIce;
  ASSERT_OK(db_->CompactFiles(options, {OnlyTable().name}, 1));
  EXPECT_EQ(Recorded(), Temperature::kIce);
}

TEST_F(TemperaturesTest, ReadsCountInTheTierOfTheTable) {
  options_.default_write_temperature = Temperature::kHot;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Put("a");
  Flush();
  EXPECT_EQ(Get("a"), "v");
  SetPerfLevel(PerfLevel::kEnableCount);
  get_iostats_context()->Reset();
  TakeTicks(HOT_FILE_READ_BYTES);
  TakeTicks(HOT_FILE_READ_COUNT);
  EXPECT_EQ(Get("a"), "v");
  SetPerfLevel(PerfLevel::kDisable);
  EXPECT_EQ(Ticks(HOT_FILE_READ_COUNT), 1u);
  EXPECT_GT(Ticks(HOT_FILE_READ_BYTES), 0u);
  EXPECT_EQ(Ticks(COLD_FILE_READ_COUNT), 0u);
  const FileIOByTemperature& reads = get_iostats_context()->file_io_stats_by_temperature;
  EXPECT_EQ(reads.hot_file_read_count, 1u);
  EXPECT_EQ(reads.hot_file_bytes_read, Ticks(HOT_FILE_READ_BYTES));
}

TEST_F(TemperaturesTest, TablesWithoutARecordedTierAreReadWithTheDefault) {
  Open();
  Put("a");
  Flush();
  const std::string path = dir_ + OnlyTable().name;
  options_.default_temperature = Temperature::kCool;
  Reopen();
  EXPECT_EQ(Get("a"), "v");
  EXPECT_EQ(files_->Opened(path), Temperature::kCool);
  EXPECT_EQ(OnlyTable().temperature, Temperature::kUnknown);
}

TEST_F(TemperaturesTest, FifoWritesOldTablesAgain) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.num_levels = 1;
  options_.disable_auto_compactions = false;
  options_.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 1000},
                                                                      {Temperature::kCold, 5000}};
  Open();
  Put("a");
  Flush();
  WaitForJobs();
  EXPECT_EQ(Recorded(), Temperature::kUnknown);
  Pass(2000);
  Put("b");
  Flush();
  WaitForJobs();
  EXPECT_NE(BytesAt(Temperature::kWarm), "0");
  EXPECT_EQ(Ticks(FIFO_CHANGE_TEMPERATURE_COMPACTIONS), 1u);
  Pass(6000);
  Put("c");
  Flush();
  WaitForJobs();
  EXPECT_NE(BytesAt(Temperature::kCold), "0");
  EXPECT_EQ(BytesAt(Temperature::kWarm), "0");
  EXPECT_EQ(Ticks(FIFO_CHANGE_TEMPERATURE_COMPACTIONS), 3u);
  EXPECT_EQ(Keys(), "abc");
}

TEST_F(TemperaturesTest, FifoKnowsTheAgeOfTheNewestTableThatItHasWrittenAgain) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.num_levels = 1;
  options_.disable_auto_compactions = false;
  options_.ttl = 5000;
  options_.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kHot, 0},
                                                                      {Temperature::kCold, 2000}};
  const auto look_again = [this] {
    ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
    WaitForJobs();
  };
  Open();
  Put("a");
  Flush();
  WaitForJobs();
  EXPECT_EQ(Recorded(), Temperature::kHot);
  Pass(3000);
  look_again();
  EXPECT_EQ(Recorded(), Temperature::kCold);
  look_again();
  Reopen();
  look_again();
  EXPECT_EQ(Recorded(), Temperature::kCold);
  EXPECT_EQ(Ticks(FIFO_CHANGE_TEMPERATURE_COMPACTIONS), 2u);
  Pass(3000);
  look_again();
  EXPECT_EQ(Tables().size(), 0u) << "the data is older than the ttl, the table is not";
}

TEST_F(TemperaturesTest, IngestedFilesHaveTheTierOfTheCall) {
  Open();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/x.sst"));
  ASSERT_OK(writer.Put("a", "1"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileArg arg;
  arg.column_family = db_->DefaultColumnFamily();
  arg.external_files = {"/x.sst"};
  arg.file_temperature = Temperature::kWarm;
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  EXPECT_EQ(Recorded(), Temperature::kWarm);
}

TEST_F(TemperaturesTest, ExportAndImportKeepTheTier) {
  options_.default_write_temperature = Temperature::kWarm;
  Open();
  Put("a");
  Flush();
  Checkpoint* checkpoint = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
  const std::unique_ptr<Checkpoint> owner(checkpoint);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_OK(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/export", &exported));
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamilyWithImport(ColumnFamilyOptions(), "copy",
                                              ImportColumnFamilyOptions(), *metadata, &handle));
  const std::unique_ptr<ColumnFamilyHandle> copy(handle);
  for (const LiveFileMetaData& table : Tables()) {
    EXPECT_EQ(table.temperature, Temperature::kWarm) << table.column_family_name;
  }
  EXPECT_EQ(Get(copy.get(), "a"), "v");
}

}  // namespace ashlar
