// SPDX-License-Identifier: Apache-2.0
//
// preclude_last_level_data_seconds: compactions into the last level write young entries to the
// level above it. The tests advance the time by hand.
#include <map>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "tests/db/tiers/tiers_fixture.h"
#include "util/random.h"

namespace ashlar {
namespace {

class PrecludedDataTest : public TiersTest {
 protected:
  PrecludedDataTest() {
    options_.compaction_style = kCompactionStyleUniversal;
    options_.num_levels = 4;
    options_.disable_auto_compactions = true;
    options_.preclude_last_level_data_seconds = kPeriod;
    options_.last_level_temperature = Temperature::kCold;
    options_.default_write_temperature = Temperature::kWarm;
  }
};

}  // namespace

TEST_F(PrecludedDataTest, YoungDataStaysAboveTheLastLevel) {
  Open();
  Put("a");
  Flush();
  Put("b");
  Flush();
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L2 1-2");
  Pass(kPeriod + 10);
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L3 0-0");
  EXPECT_EQ(Keys(), "ab");
}

TEST_F(PrecludedDataTest, AMergeDividesOldAndYoungEntries) {
  Open();
  Put("a", "1");
  Put("b", "1");
  Put("c", "1");
  Flush();
  Pass(kPeriod + 10);
  Put("b", "2");
  Put("d", "2");
  Flush();
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L2 4-5 L3 0-0");
  EXPECT_EQ(Scan(), "a=1 b=2 c=1 d=2");
  EXPECT_EQ(Get("b"), "2");
  for (const LiveFileMetaData& table : Tables()) {
    EXPECT_EQ(table.temperature, table.level == 3 ? Temperature::kCold : Temperature::kWarm);
  }
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=2 c=1 d=2");
  Pass(kPeriod + 10);
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L3 0-0");
  EXPECT_EQ(Scan(), "a=1 b=2 c=1 d=2");
}

TEST_F(PrecludedDataTest, VersionsOfOneKeyMayBeOnBothLevels) {
  Open();
  Put("k", "old");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Flush();
  Pass(kPeriod + 10);
  Put("k", "young");
  Flush();
  Compact();
  EXPECT_EQ(Levels(), "0,0,1,1");
  EXPECT_EQ(Get("k"), "young");
  EXPECT_EQ(Get("k", AsOf(snapshot)), "old");
  db_->ReleaseSnapshot(snapshot);
  Compact();  // nothing is old enough
  EXPECT_EQ(NumbersByLevel(), "L2 2-2 L3 0-0");
  EXPECT_EQ(Get("k"), "young");
}

TEST_F(PrecludedDataTest, AYoungTombstoneHidesWhatIsOnTheLastLevel) {
  Open();
  Put("a");
  Put("b");
  Flush();
  Pass(kPeriod + 10);
  Compact();
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete("a");
  Flush();
  Compact();
  EXPECT_EQ(Keys(), "b");
  EXPECT_EQ(Keys(AsOf(snapshot)), "ab");
  db_->ReleaseSnapshot(snapshot);
  CompactAndRewrite();
  EXPECT_EQ(Keys(), "b");
}

TEST_F(PrecludedDataTest, RangeTombstonesForSnapshotsAreDividedWithTheEntries) {
  Open();
  Put("a");
  Put("b");
  Put("c");
  Flush();
  Pass(kPeriod + 10);
  const Snapshot* const snapshot = db_->GetSnapshot();
  DeleteRange("a", "c");
  Flush();
  Put("b", "2");
  Flush();
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L2 4-5 L3 0-0");
  EXPECT_EQ(Scan(), "b=2 c=v");
  EXPECT_EQ(Scan(AsOf(snapshot)), "a=v b=v c=v");
  Pass(kPeriod + 10);
  CompactAndRewrite();  // now the tombstone is old, and the snapshot still needs it
  EXPECT_EQ(Levels(), "0,0,0,1");
  EXPECT_EQ(Scan(), "b=2 c=v");
  EXPECT_EQ(Scan(AsOf(snapshot)), "a=v b=v c=v");
  db_->ReleaseSnapshot(snapshot);
  CompactAndRewrite();
  EXPECT_EQ(NumbersByLevel(), "L3 0-0");
  EXPECT_EQ(Scan(), "b=2 c=v");
}

// No entry is left above the last level, only the tombstone.
TEST_F(PrecludedDataTest, ATableAboveTheLastLevelMayHoldATombstoneOnly) {
  Open();
  Put("a");
  Put("c");
  Flush();
  Pass(kPeriod + 10);
  const Snapshot* const snapshot = db_->GetSnapshot();
  DeleteRange("a", "b");
  Flush();
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L2 3-3 L3 0-0");
  EXPECT_EQ(Scan(), "c=v");
  EXPECT_EQ(Scan(AsOf(snapshot)), "a=v c=v");
  db_->ReleaseSnapshot(snapshot);
  Reopen();
  EXPECT_EQ(Scan(), "c=v");
}

// The range of the tables above the last level ends inside the tombstone, so an entry that it hides
// would be above it.
TEST_F(PrecludedDataTest, ATombstoneThatReachesOutOfTheDividedRangeKeepsEntriesTogether) {
  options_.compaction_style = kCompactionStyleLevel;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.num_levels = 3;
  options_.preclude_last_level_data_seconds = 0;
  options_.preserve_internal_time_seconds = kPeriod;
  Open();
  Put("c", "1");
  Put("l", "1");
  Put("p", "1");
  Flush();
  CompactionOptions compact;
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  const Snapshot* const first = db_->GetSnapshot();
  DeleteRange("b", "z");
  Flush();
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  ASSERT_OK(db_->SetOptions({{"preclude_last_level_data_seconds", "100000"}}));
  Put("k", "2");
  const Snapshot* const second = db_->GetSnapshot();
  Put("m", "3");
  Flush();
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  EXPECT_EQ(Levels(), "0,0,1");
  EXPECT_EQ(Scan(), "k=2 m=3");
  EXPECT_EQ(Scan(AsOf(first)), "c=1 l=1 p=1");
  EXPECT_EQ(Scan(AsOf(second)), "k=2");
  db_->ReleaseSnapshot(first);
  db_->ReleaseSnapshot(second);
}

TEST_F(PrecludedDataTest, AfterReopeningTheTablesTellWhatIsOld) {
  Open();
  Put("a");
  Flush();
  Pass(kPeriod - 1000);
  Reopen();
  Pass(2000);
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L3 0-0");
}

TEST_F(PrecludedDataTest, WithoutTheOptionEverythingGoesToTheLastLevel) {
  options_.preclude_last_level_data_seconds = 0;
  options_.preserve_internal_time_seconds = kPeriod;
  Open();
  Put("a");
  Flush();
  Put("b");
  Flush();
  Compact();
  EXPECT_EQ(NumbersByLevel(), "L3 1-2");
}

TEST_F(PrecludedDataTest, TheLevelledStyleMovesWhatHasGrownOld) {
  options_.compaction_style = kCompactionStyleLevel;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.num_levels = 3;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.max_bytes_for_level_base = 1000;
  options_.compression = kNoCompression;
  Open();
  for (int i = 0; i < 4; i++) {
    Fill(50);
    Flush();
    if (i % 2 == 1) WaitForJobs();
  }
  EXPECT_EQ(Levels(), "0,1,0");
  Pass(kPeriod + 2000);
  WaitForJobs();
  EXPECT_EQ(Levels(), "0,0,1");
  EXPECT_EQ(Tables().front().temperature, Temperature::kCold);
}

TEST_F(PrecludedDataTest, ALevelledCompactionDividesTheRangeOfItsTablesOnly) {
  options_.compaction_style = kCompactionStyleLevel;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.num_levels = 3;
  Open();
  Put("a", "1");
  Put("m", "1");
  Put("z", "1");
  Flush();
  Pass(kPeriod + 10);
  CompactionOptions compact;
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  EXPECT_EQ(Tree(), "L2 a-z");
  Put("l", "2");
  Put("n", "2");
  Flush();
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  EXPECT_EQ(Tree(), "L1 l-n L2 a-z");
  EXPECT_EQ(Scan(), "a=1 l=2 m=1 n=2 z=1");
}

TEST_F(PrecludedDataTest, YoungEntriesOfTheLastLevelStayOutsideOfThatRange) {
  options_.compaction_style = kCompactionStyleLevel;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.num_levels = 3;
  options_.preclude_last_level_data_seconds = 0;
  options_.preserve_internal_time_seconds = kPeriod;
  Open();
  Put("a", "1");
  Put("z", "1");
  Flush();
  CompactionOptions compact;
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  Put("z", "2");
  Flush();
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 1));
  ASSERT_OK(db_->SetOptions({{"preclude_last_level_data_seconds", "100000"}}));
  Put("b", "3");
  Flush();
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 2));
  EXPECT_EQ(NumbersByLevel(), "L1 4-4 L1 3-3 L2 1-2");
  EXPECT_EQ(Scan(), "a=1 b=3 z=2");
}

TEST_F(PrecludedDataTest, IngestedFilesStayAboveTheLastLevel) {
  Open();
  Put("a");
  Flush();
  Pass(kPeriod + 10);
  Compact();
  EXPECT_EQ(Levels(), "0,0,0,1");
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/x.sst"));
  ASSERT_OK(writer.Put("b", "1"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/x.sst"}, IngestExternalFileOptions()));
  EXPECT_EQ(Levels(), "0,0,1,1");
}

// Writes, snapshots, flushes, compactions and time in random order: readers see the same as in a
// map, and what was old once goes to the last level.
TEST_F(PrecludedDataTest, AnyOrderOfEventsKeepsTheContents) {
  for (const auto style : {kCompactionStyleUniversal, kCompactionStyleLevel}) {
    options_.compaction_style = style;
    options_.disable_auto_compactions = false;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_bytes_for_level_base = 2000;
    options_.target_file_size_base = 1000;
    options_.compression = kNoCompression;
    dir_ = style == kCompactionStyleLevel ? "/levelled" : "/universal";
    Open();
    Random64 random(7);
    std::map<std::string, std::string> model, old_model;
    const Snapshot* snapshot = nullptr;
    const auto text_of = [](const std::map<std::string, std::string>& rows) {
      std::string text;
      for (const auto& [key, value] : rows) {
        text += (text.empty() ? "" : " ") + key + "=" + value;
      }
      return text;
    };
    for (int i = 0; i < 3000; i++) {
      const std::string key = Key(static_cast<int>(random.Uniform(60)));
      const uint64_t what = random.Uniform(100);
      if (what < 70) {
        Put(key, model[key] = std::to_string(i) + std::string(20, 'v'));
      } else if (what < 85) {
        Delete(key);
        model.erase(key);
      } else if (what < 87) {
        const std::string end = Key(static_cast<int>(random.Uniform(60)));
        if (key >= end) continue;
        DeleteRange(key, end);
        model.erase(model.lower_bound(key), model.lower_bound(end));
      } else if (what < 92) {
        Flush();
      } else if (what < 94) {
        Pass(random.Uniform(kPeriod / 2));
      } else if (what < 96) {
        if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
        snapshot = random.OneIn(2) ? nullptr : db_->GetSnapshot();
        old_model = model;
      } else if (what == 96) {
        Compact();
      } else if (what == 97 && random.OneIn(3) && snapshot == nullptr) {
        Reopen();
      } else {
        ASSERT_EQ(Scan(), text_of(model)) << i;
        if (snapshot != nullptr) {
          ASSERT_EQ(Scan(AsOf(snapshot)), text_of(old_model)) << i;
        }
      }
    }
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
    WaitForJobs();
    EXPECT_EQ(Scan(), text_of(model));
    EXPECT_OK(db_->VerifyChecksum());
    Close();
  }
}

}  // namespace ashlar
