// SPDX-License-Identifier: Apache-2.0
//
// OptionChangeMigration between styles and numbers of levels: afterwards the new options open the
// database, and all rows are there.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/utilities/option_change_migration.h"
#include "env/periodic_timer.h"
#include "tests/support/moved_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

struct Shape {
  CompactionStyle style;
  int levels;
  bool is_dynamic;
};

constexpr Shape kShapes[] = {
    {kCompactionStyleLevel, 7, false},     {kCompactionStyleLevel, 4, false},
    {kCompactionStyleLevel, 7, true},      {kCompactionStyleLevel, 3, true},
    {kCompactionStyleUniversal, 7, false}, {kCompactionStyleUniversal, 1, false},
    {kCompactionStyleUniversal, 3, false}, {kCompactionStyleFIFO, 1, false},
};

class MigrationTest : public DbTest {
 protected:
  void Take(const Shape& shape) {
    options_.compaction_style = shape.style;
    options_.num_levels = shape.levels;
    options_.level_compaction_dynamic_level_bytes = shape.is_dynamic;
    options_.compaction_options_fifo.max_table_files_size = uint64_t{1} << 40;
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 32 << 10;
    options_.max_bytes_for_level_base = 64 << 10;
    options_.level0_file_num_compaction_trigger = 3;
  }
  void FillAndClose() {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 900; ++i) Put(Key((i * 7 + round) % 1500), std::string(200, 'v'));
      Flush();
    }
    for (int i = 0; i < 100; ++i) Delete(Key(i));
    Put("in-the-log", "1");
    rows_ = ReadRows();
    Close();
  }
  Options options() const { return options_; }

  Rows rows_;
};

TEST_F(MigrationTest, NewOptionsOpenWhatTheOldOnesWrote) {
  for (const Shape& from : kShapes) {
    for (const Shape& to : kShapes) {
      SCOPED_TRACE(std::to_string(&from - kShapes) + " to " + std::to_string(&to - kShapes));
      ASSERT_OK(DestroyDB(dir_, options_));
      Take(from);
      Open();
      FillAndClose();
      const Options old_options = options();
      Take(to);
      ASSERT_OK(OptionChangeMigration(dir_, old_options, options()));
      Open();
      EXPECT_EQ(ReadRows(), rows_);
      WaitForJobs();
      EXPECT_EQ(ReadRows(), rows_);
      Close();
    }
  }
}

// The last level is kept free for tables that are ingested behind all others.
TEST_F(MigrationTest, ALevelThatIsKeptFreeIsExplained) {
  options_.allow_ingest_behind = true;
  Take({kCompactionStyleUniversal, 4, false});
  Open();
  FillAndClose();
  const Options old_options = options();
  Take({kCompactionStyleLevel, 4, true});
  const Status status = OptionChangeMigration(dir_, old_options, options());
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("allow_ingest_behind"), std::string::npos) << status.ToString();
  options_ = old_options;
  Open();
  EXPECT_EQ(ReadRows(), rows_);
}

TEST_F(MigrationTest, FamiliesAreMigratedEach) {
  Take(kShapes[0]);
  Open();
  CreateFamily("f");
  for (int i = 0; i < 500; ++i) Put(handles_.at(0), Key(i), "value");
  ASSERT_OK(db_->Flush({}, handles_.at(0)));
  FillAndClose();
  Drop();
  const Options level = options();
  Take(kShapes[4]);
  const Options universal = options();
  Options fewer = universal;
  fewer.num_levels = 2;
  const std::vector<ColumnFamilyDescriptor> from = {{"default", level}, {"f", level}};
  EXPECT_TRUE(OptionChangeMigration(dir_, level, from, universal, {{"default", universal}})
                  .IsInvalidArgument());
  EXPECT_TRUE(OptionChangeMigration(dir_, level, from, universal,
                                    {{"f", universal}, {"default", universal}})
                  .IsInvalidArgument());
  const std::vector<ColumnFamilyDescriptor> to = {{"default", universal}, {"f", fewer}};
  ASSERT_OK(OptionChangeMigration(dir_, level, from, universal, to));
  OpenWith(to);
  EXPECT_EQ(ReadRows({}, handles_.at(0)), rows_);
  EXPECT_EQ(ReadRows({}, handles_.at(1)).size(), 500u);
}

// Otherwise the migration would keep young data above the last level.
TEST_F(MigrationTest, YoungAndOldDataGoToTheSameLevel) {
  const auto clock = std::make_shared<MovedClock>();
  UseFiles(memory_, clock);
  constexpr int64_t kPeriod = 10'000;
  for (const Shape& to : {kShapes[2], kShapes[3]}) {
    ASSERT_OK(DestroyDB(dir_, options_));
    Take(kShapes[4]);
    options_.preclude_last_level_data_seconds = kPeriod;
    Open();
    Put("old");
    Flush();
    clock->moved_by_seconds += 2 * kPeriod;
    PeriodicTimer::Default()->PassTime(uint64_t{2 * kPeriod} * 1'000'000);  // samples the time
    Put("young");
    Flush();
    Compact();
    ASSERT_EQ(Levels(), "0,0,0,0,0,1,1");
    Close();
    const Options old_options = options();
    Take(to);
    ASSERT_OK(OptionChangeMigration(dir_, old_options, options())) << to.levels;
    Open();
    EXPECT_EQ(Scan(), "old=v young=v");
    Close();
  }
}

TEST_F(MigrationTest, FifoThatWouldDeleteTheTablesIsRefused) {
  Take(kShapes[2]);
  Open();
  FillAndClose();
  const Options old_options = options();
  Take(kShapes[7]);
  const auto refuses = [&](const std::string& what) {
    const Status status = OptionChangeMigration(dir_, old_options, options());
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
  };
  CompactionOptionsFIFO& fifo = options_.compaction_options_fifo;
  const uint64_t large = fifo.max_table_files_size;
  fifo.max_table_files_size = 1000;
  refuses("max_table_files_size would be 1000");
  fifo.max_table_files_size = large;  // which does not count beside the other limit
  fifo.max_data_files_size = 1000;
  refuses("max_data_files_size would be 1000");
  options_ = old_options;
  Open();
  EXPECT_EQ(ReadRows(), rows_);
}

// Before the long part, after which the old options might not open the database any more.
TEST_F(MigrationTest, OptionsThatCannotOpenTheDatabaseAreRefusedBeforeItIsCompacted) {
  Take(kShapes[3]);
  Open();
  FillAndClose();
  const Options old_options = options();
  Open();
  CompactAndRewrite();
  ASSERT_EQ(TableCount(0), 0);
  const std::vector<std::string> tables = TableNames(2);
  ASSERT_FALSE(tables.empty());
  Close();
  const auto refuses = [&](const auto& change) {
    Take(kShapes[7]);  // all tables would become one of level 0
    change();
    EXPECT_FALSE(OptionChangeMigration(dir_, old_options, options()).ok());
    options_ = old_options;
    Open();
    EXPECT_EQ(TableNames(2), tables);
    EXPECT_EQ(ReadRows(), rows_);
    Close();
  };
  refuses([&] { options_.comparator = ReverseBytewiseComparator(); });
  refuses([&] { options_.cf_paths = {{"/a", 1000}, {"/b", 1000}}; });
  refuses([&] { options_.db_paths = {{"/elsewhere", 1000}}; });
  refuses([&] { options_.wal_dir = "/logs"; });  // which has not the log that the MANIFEST needs
}

TEST_F(MigrationTest, ADatabaseThatIsMissingIsNotCreated) {
  options_.create_if_missing = false;
  EXPECT_FALSE(OptionChangeMigration("/none", options(), options()).ok());
  EXPECT_TRUE(env_->FileExists("/none/CURRENT").IsNotFound());
}

}  // namespace
}  // namespace ashlar
