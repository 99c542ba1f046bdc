// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a table that do not fit their checksum are read once more. Damage that happened only
// during the first read is no damage of the file; damage in both reads is reported.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "env/memory/memory_file_system.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/damaged_files.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class SecondReadTest : public testing::Test {
 protected:
  SecondReadTest() {
    memory_->PutFile("/table.sst", LoadSampleTable("v78_nofilter_fv5").bytes);
    options_.icmp = &icmp_;
    options_.statistics = statistics_.get();
  }
  // Opens the table and reads all of it.
  Status ReadAll() {
    damage_.reads = 0;
    ASSIGN_OR_RETURN(auto file, RandomReader::Open(&files_, "/table.sst", FileOptions()));
    ASSIGN_OR_RETURN(const auto table, TableReader::Open(std::move(file), options_));
    return table->VerifyChecksums(ReadOptions());
  }

  Damage damage_;
  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  DamagedFiles files_{memory_, &damage_};
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  const InternalKeyComparator icmp_{BytewiseComparator()};
  TableReaderOptions options_;
};

TEST_F(SecondReadTest, HealsAnyOneReadThatCameDamaged) {
  ASSERT_OK(ReadAll());
  const int reads = damage_.reads;
  ASSERT_GT(reads, 3);
  damage_.count = 1;
  for (damage_.first = 0; damage_.first < reads; damage_.first++) {
    EXPECT_OK(ReadAll()) << "read " << damage_.first;
  }
  const uint64_t tried = statistics_->getTickerCount(FILE_READ_CORRUPTION_RETRY_COUNT);
  EXPECT_GE(tried, static_cast<uint64_t>(reads) / 2);
  EXPECT_EQ(statistics_->getTickerCount(FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT), tried);
}

TEST_F(SecondReadTest, TellsWhatIsDamagedTwice) {
  ASSERT_OK(ReadAll());
  const int reads = damage_.reads;
  damage_.count = 2;
  int told = 0;
  for (damage_.first = 0; damage_.first < reads; damage_.first++) {
    const Status status = ReadAll();
    EXPECT_TRUE(status.ok() || status.IsCorruption()) << status.ToString();
    told += status.IsCorruption() ? 1 : 0;
  }
  EXPECT_GE(told, reads / 2);
}

// Otherwise the kernel would return the same bytes from its page cache, from which only whole pages
// can be dropped.
TEST_F(SecondReadTest, GoesPastThePageCache) {
  ASSERT_OK(ReadAll());
  EXPECT_EQ(damage_.forgotten_end, 0u);
  damage_.first = 1;
  damage_.count = 1;
  ASSERT_OK(ReadAll());
  EXPECT_EQ(damage_.forgotten_begin % 4096, 0u);
  EXPECT_EQ(damage_.forgotten_end % 4096, 0u);
  EXPECT_GT(damage_.forgotten_end, damage_.forgotten_begin);
}

}  // namespace
}  // namespace ashlar
