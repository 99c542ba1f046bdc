// SPDX-License-Identifier: Apache-2.0
//
// OPTIONS files of a directory: the newest counts, and is compared with what a program has.
#include <gtest/gtest.h>

#include <fstream>

#include "ashlar/advanced_cache.h"
#include "ashlar/table.h"
#include "ashlar/utilities/options_util.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class LoadOptionsTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
  }
  static std::string FileWith(const std::string& db, const std::string& family) {
    return "[Version]\nrocksdb_version=11.9.0\n[DBOptions]\n" + db + "\n[CFOptions \"default\"]\n" +
           family + "\n[TableOptions/BlockBasedTable \"default\"]\nblock_size=8192\n";
  }
  Status Load() { return LoadLatestOptions(ConfigOptions(), dir_, &db_options_, &families_); }
  Status Check(ConfigOptions::SanityLevel level, const ColumnFamilyOptions& family) {
    ConfigOptions config;
    config.sanity_level = level;
    return CheckOptionsCompatibility(config, dir_, DBOptions(), {{"default", family}});
  }

  const std::string dir_ = FreshTempDir("load_options");
  DBOptions db_options_;
  std::vector<ColumnFamilyDescriptor> families_;
};

TEST_F(LoadOptionsTest, WithoutAFileItIsNotFound) { EXPECT_TRUE(Load().IsNotFound()); }

TEST_F(LoadOptionsTest, TheGreatestNumberCounts) {
  Write("OPTIONS-000009", FileWith("max_open_files=9", ""));
  Write("OPTIONS-000010", FileWith("max_open_files=10", "num_levels=5"));
  Write("OPTIONS-000011.dbtmp", "half a file");
  ASSERT_OK(Load());
  EXPECT_EQ(db_options_.max_open_files, 10);
  ASSERT_EQ(families_.size(), 1u);
  EXPECT_EQ(families_[0].options.num_levels, 5);
}

TEST_F(LoadOptionsTest, FamiliesShareTheGivenCache) {
  Write("OPTIONS-000001", FileWith("", ""));
  std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), dir_, &db_options_, &families_, &cache));
  const auto* table = families_[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->block_cache, cache);
  EXPECT_EQ(table->block_size, 8192u);
}

TEST_F(LoadOptionsTest, AnErrorNamesTheFile) {
  Write("OPTIONS-000001", "[DBOptions]\nrubbish\n");
  const Status status = Load();
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("OPTIONS-000001"), std::string::npos) << status.ToString();
}

TEST_F(LoadOptionsTest, AnotherComparatorIsIncompatible) {
  Write("OPTIONS-000001", FileWith("", "comparator=Strange"));
  const Status status = Check(ConfigOptions::kSanityLevelLooselyCompatible, ColumnFamilyOptions());
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("Strange"), std::string::npos);
}

TEST_F(LoadOptionsTest, OtherTuningIsCompatibleButNotExactlyEqual) {
  Write("OPTIONS-000001", FileWith("", "write_buffer_size=1048576"));
  ColumnFamilyOptions family;
  EXPECT_OK(Check(ConfigOptions::kSanityLevelLooselyCompatible, family));
  EXPECT_TRUE(Check(ConfigOptions::kSanityLevelExactMatch, family).IsInvalidArgument());
  family.write_buffer_size = 1 << 20;
  EXPECT_OK(Check(ConfigOptions::kSanityLevelExactMatch, family));
  EXPECT_OK(Check(ConfigOptions::kSanityLevelNone, ColumnFamilyOptions()));
}

TEST_F(LoadOptionsTest, AMissingFamilyIsIncompatible) {
  Write("OPTIONS-000001", FileWith("", "") + "[CFOptions \"other\"]\n");
  EXPECT_TRUE(Check(ConfigOptions::kSanityLevelLooselyCompatible, ColumnFamilyOptions())
                  .IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
