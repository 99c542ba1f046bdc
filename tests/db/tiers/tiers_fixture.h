// SPDX-License-Identifier: Apache-2.0
//
// A database with a clock that tests advance by hand, for options about the age of data.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "db/output/seqno_times.h"
#include "env/periodic_timer.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"

namespace ashlar {

class TiersTest : public DbTest {
 protected:
  static constexpr uint64_t kPeriod = 100'000;  // samples are then taken every 1000 seconds

  TiersTest() { UseFiles(memory_, clock_); }
  // Advances all clocks, the clock of the environment first, so that no sample has an old time.
  void Pass(uint64_t seconds) {
    clock_->moved_by_seconds += static_cast<int64_t>(seconds);
    PeriodicTimer::Default()->PassTime(seconds * 1'000'000);
  }
  uint64_t Now() {
    int64_t seconds = 0;
    EXPECT_OK(clock_->GetCurrentTime(&seconds));
    return static_cast<uint64_t>(seconds);
  }
  // The property of the only table.
  SeqnoTimes TimesOfTable(ColumnFamilyHandle* family = nullptr) {
    TablePropertiesCollection properties;
    if (family == nullptr) family = db_->DefaultColumnFamily();
    EXPECT_OK(db_->GetPropertiesOfAllTables(family, &properties));
    EXPECT_EQ(properties.size(), 1u);
    SeqnoTimes times;
    if (properties.empty()) return times;
    EXPECT_OK(times.MergeEncoded(properties.begin()->second->seqno_to_time_mapping));
    return times;
  }
  // The sequence numbers of the tables by level, as "L1 1-3 L2 0-0".
  std::string NumbersByLevel() {
    std::vector<LiveFileMetaData> tables = Tables();
    std::stable_sort(tables.begin(), tables.end(),
                     [](const auto& a, const auto& b) { return a.level < b.level; });
    std::string text;
    for (const LiveFileMetaData& table : tables) {
      text += (text.empty() ? "L" : " L") + std::to_string(table.level) + " " +
              std::to_string(table.smallest_seqno) + "-" + std::to_string(table.largest_seqno);
    }
    return text;
  }
  // Those of the only table, as "1-3".
  std::string Numbers() {
    EXPECT_EQ(Tables().size(), 1u);
    const std::string text = NumbersByLevel();
    return text.substr(std::min(text.find(' ') + 1, text.size()));
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
};

}  // namespace ashlar
