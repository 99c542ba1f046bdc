// SPDX-License-Identifier: Apache-2.0
//
// Factories of compaction filters: for which jobs they are called, and with which context.
#include <algorithm>
#include <mutex>
#include <thread>

#include "ashlar/compaction_filter.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Drops values that begin with "rm". Used by the thread that created it only.
class DropsMarked final : public CompactionFilter {
 public:
  const char* Name() const override { return "DropsMarked"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& value, std::string* /*new_value*/,
              bool* /*value_changed*/) const override {
    EXPECT_EQ(std::this_thread::get_id(), thread_);
    return value.starts_with("rm");
  }
  bool IgnoreSnapshots() const override { return ignores_snapshots; }
  bool ignores_snapshots = true;

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
};

class Factory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "Factory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override {
    return filters_flushes ? reason == TableFileCreationReason::kFlush ||
                                 CompactionFilterFactory::ShouldFilterTableFileCreation(reason)
                           : CompactionFilterFactory::ShouldFilterTableFileCreation(reason);
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    contexts_.push_back(context);
    if (makes_none) return nullptr;
    auto made = std::make_unique<DropsMarked>();
    made->ignores_snapshots = ignores_snapshots;
    return made;
  }
  std::vector<CompactionFilter::Context> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(contexts_, {});
  }

  bool filters_flushes = false;
  bool makes_none = false;
  bool ignores_snapshots = true;

 private:
  std::mutex mutex_;
  std::vector<CompactionFilter::Context> contexts_;
};

class FilterFactories : public DbTest {
 protected:
  FilterFactories() {
    options_.disable_auto_compactions = true;
    options_.compaction_filter_factory = factory_;
  }
  Status Compact() { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  const std::shared_ptr<Factory> factory_ = std::make_shared<Factory>();
};

TEST_F(FilterFactories, TellOfTheJob) {
  Open();
  Put("a", "1"), Put("b", "rm");
  Flush();
  Put("c", "rm");
  Flush();
  EXPECT_TRUE(factory_->Take().empty()) << "the factory does not filter flushes";
  const std::vector<LiveFileMetaData> files = Tables();
  ASSERT_OK(Compact());
  EXPECT_EQ(Keys(), "a");
  const auto contexts = factory_->Take();
  ASSERT_EQ(contexts.size(), 1u);
  EXPECT_EQ(contexts[0].reason, TableFileCreationReason::kCompaction);
  EXPECT_TRUE(contexts[0].is_full_compaction);
  EXPECT_TRUE(contexts[0].is_manual_compaction);
  EXPECT_EQ(contexts[0].input_start_level, 0);
  EXPECT_EQ(contexts[0].column_family_id, 0u);
  ASSERT_EQ(contexts[0].input_table_properties.size(), 2u);
  ASSERT_EQ(files.size(), 2u);
  for (const LiveFileMetaData& file : files) {
    const auto found = contexts[0].input_table_properties.find(file.db_path + file.name);
    ASSERT_NE(found, contexts[0].input_table_properties.end()) << file.name;
    EXPECT_EQ(found->second->num_entries, file.num_entries);
  }
}

TEST_F(FilterFactories, AutomaticCompactionsOfAFamily) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  ColumnFamilyHandle* const family = CreateFamily("other");
  const uint32_t id = family->GetID();
  for (const char* const key : {"a", "b"}) {
    Put(family, key, "rm");
    Put(family, "c", "x");
    Flush(family);
  }
  WaitForJobs();
  EXPECT_EQ(Get(family, "a"), "(none)");
  EXPECT_EQ(Get(family, "c"), "x");
  const auto contexts = factory_->Take();
  ASSERT_FALSE(contexts.empty());
  EXPECT_FALSE(contexts[0].is_manual_compaction);
  EXPECT_EQ(contexts[0].column_family_id, id);
}

TEST_F(FilterFactories, FlushesAreFilteredIfTheyAreWanted) {
  factory_->filters_flushes = true;
  Open();
  Put("a", "1"), Put("b", "rm"), Put("c", "rm2");
  Flush();
  EXPECT_EQ(Keys(), "a");
  const auto contexts = factory_->Take();
  ASSERT_EQ(contexts.size(), 1u);
  EXPECT_EQ(contexts[0].reason, TableFileCreationReason::kFlush);
  EXPECT_FALSE(contexts[0].is_full_compaction || contexts[0].is_manual_compaction);
  EXPECT_EQ(contexts[0].input_start_level, CompactionFilter::Context::kUnknownStartLevel);
  EXPECT_TRUE(contexts[0].input_table_properties.empty());
  // The filtered entry still hides the older one below.
  Put("a", "rm");
  Flush();
  EXPECT_EQ(Keys(), "");
}

// Replay of the log calls no extension of the program.
TEST_F(FilterFactories, RecoveryFiltersNothing) {
  factory_->filters_flushes = true;
  Open();
  Put("a", "rm");
  Open();
  EXPECT_EQ(Keys(), "a");
  ASSERT_OK(Compact());
  EXPECT_EQ(Keys(), "");
}

TEST_F(FilterFactories, MayMakeNoneOrOneThatIsRefused) {
  factory_->makes_none = factory_->filters_flushes = true;
  Open();
  Put("a", "rm");
  ASSERT_OK(Compact());
  EXPECT_EQ(Keys(), "a");
  factory_->makes_none = factory_->ignores_snapshots = false;
  const Status refused = Compact();
  EXPECT_TRUE(refused.IsNotSupported()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("DropsMarked"), std::string::npos);
  factory_->ignores_snapshots = true;
  ASSERT_OK(Compact());
  EXPECT_EQ(Keys(), "");
}

TEST_F(FilterFactories, TheFilterOfTheOptionsGoesFirst) {
  class KeepsAll final : public CompactionFilter {
   public:
    const char* Name() const override { return "KeepsAll"; }
  };
  const KeepsAll keeps;
  options_.compaction_filter = &keeps;
  Open();
  Put("a", "rm");
  ASSERT_OK(Compact());
  EXPECT_EQ(Keys(), "a");
  EXPECT_TRUE(factory_->Take().empty());
}

TEST_F(FilterFactories, EachPartOfAJobHasItsOwnFilter) {
  options_.max_subcompactions = 4;
  options_.compression = kNoCompression;
  options_.target_file_size_base = 4096;  // the least size of a part
  Open();
  for (const char* const key : {"a", "b", "c"}) {
    Put(key, "rm");
    Put(StrCat(key, "2"), std::string(6000, 'x'));
    Flush();
  }
  ASSERT_OK(Compact());
  EXPECT_EQ(Keys(), "a2b2c2");
  EXPECT_EQ(factory_->Take().size(), 3u);
}

// Random writes with filtered flushes and compactions: in the end all marked values are gone, and
// no others. Short and long values, some of them in blob files.
TEST_F(FilterFactories, RandomWritesEndWithoutWhatIsMarked) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE(seed);
    Random64 random(seed);
    factory_->filters_flushes = random.Uniform(2) == 0;
    options_.disable_auto_compactions = random.Uniform(2) == 0;
    options_.level0_file_num_compaction_trigger = 3;
    options_.compaction_style =
        random.Uniform(3) == 0 ? kCompactionStyleUniversal : kCompactionStyleLevel;
    options_.enable_blob_files = random.Uniform(2) == 0;
    options_.min_blob_size = 20;
    options_.enable_blob_garbage_collection = random.Uniform(2) == 0;
    options_.max_subcompactions = 1 + static_cast<uint32_t>(random.Uniform(3));
    options_.target_file_size_base = 4096;
    Open();
    Rows model;
    std::vector<const Snapshot*> snapshots;
    for (int i = 0; i < 600; i++) {
      const std::string key = StrCat("k", 100 + random.Uniform(60));
      const uint64_t act = random.Uniform(100);
      if (act < 65) {
        const std::string value = StrCat(random.Uniform(3) == 0 ? "rm" : "v", i,
                                         std::string(random.Uniform(2) * 40, '.'));
        Put(key, value);
        model[key] = value;
      } else if (act < 75) {
        Delete(key);
        model.erase(key);
      } else if (act < 79) {
        const std::string end = key + "9";
        DeleteRange(key, end);
        model.erase(model.lower_bound(key), model.lower_bound(end));
      } else if (act < 83) {
        snapshots.push_back(db_->GetSnapshot());
      } else if (act < 87 && !snapshots.empty()) {
        db_->ReleaseSnapshot(snapshots.back());
        snapshots.pop_back();
      } else if (act < 97) {
        Flush();
      } else if (act < 99) {
        ASSERT_OK(Compact());
      } else if (snapshots.empty()) {
        Open();
      }
      // A marked value is there until a job has filtered it.
      std::string value;
      const Status got = db_->Get(ReadOptions(), key, &value);
      const auto expected = model.find(key);
      if (got.ok()) {
        ASSERT_TRUE(expected != model.end() && expected->second == value) << key << value;
      } else {
        ASSERT_TRUE(got.IsNotFound()) << got.ToString();
        ASSERT_TRUE(expected == model.end() || expected->second.starts_with("rm")) << key;
      }
    }
    for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
    std::string kept;
    for (const auto& [key, value] : model) kept += value.starts_with("rm") ? "" : key;
    ASSERT_OK(Compact());
    ASSERT_OK(Compact());
    EXPECT_EQ(Keys(), kept);
    EXPECT_OK(db_->VerifyChecksum(ReadOptions()));
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

}  // namespace
}  // namespace ashlar
