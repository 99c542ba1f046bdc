// SPDX-License-Identifier: Apache-2.0
//
// Calls that move levels or suggest ranges: PromoteL0, change_level of CompactRange, and
// SuggestCompactRange.
#include <atomic>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

#include "ashlar/listener.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class MoveListener final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override {
    if (on_begin) std::exchange(on_begin, nullptr)(db);
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      counts_[info.compaction_reason]++;
    }
    if (info.status.ok()) {
      succeeded++;
    } else {
      failed++;
      failed.notify_all();
    }
    ended++;
    ended.notify_all();
  }
  int Of(CompactionReason reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_[reason];
  }
  std::function<void(DB*)> on_begin;
  std::atomic<int> failed{0};
  std::atomic<int> succeeded{0};
  std::atomic<int> ended{0};

 private:
  std::mutex mutex_;
  std::map<CompactionReason, int> counts_;
};

class LevelMoves : public DbTest {
 protected:
  LevelMoves() : DbTest(TestFiles::kSim) {
    options_.level_compaction_dynamic_level_bytes = false;
    options_.disable_auto_compactions = true;
    options_.num_levels = 6;
    options_.listeners.push_back(listener_);
  }
  void Table(const std::string& keys, const std::string& value = "v") {
    for (const char key : keys) Put(std::string(1, key), value);
    Flush();
  }
  Status CompactTo(int target_level) {
    CompactRangeOptions compact;
    compact.change_level = true;
    compact.target_level = target_level;
    return db_->CompactRange(compact, nullptr, nullptr);
  }
  Status Promote(int level) { return db_->PromoteL0(db_->DefaultColumnFamily(), level); }
  Status Suggest(const Slice* begin = nullptr, const Slice* end = nullptr) {
    return db_->SuggestCompactRange(db_->DefaultColumnFamily(), begin, end);
  }

  const std::shared_ptr<MoveListener> listener_ = std::make_shared<MoveListener>();
};

TEST_F(LevelMoves, PromoteL0) {
  Open();
  ASSERT_OK(Promote(1)) << "an empty level 0 can be promoted";
  Table("xz"), Table("ac"), Table("eg");
  ASSERT_OK(Promote(2));
  EXPECT_EQ(Tree(), "L2 a-c e-g x-z");
  EXPECT_EQ(listener_->Of(CompactionReason::kRefitLevel), 1);
  Table("b", "new");
  EXPECT_TRUE(Promote(2).IsInvalidArgument());
  EXPECT_TRUE(Promote(3).IsInvalidArgument());
  ASSERT_OK(Promote(1));
  EXPECT_EQ(Tree(), "L1 b-b L2 a-c e-g x-z");
  Open();
  EXPECT_EQ(Tree(), "L1 b-b L2 a-c e-g x-z");
  EXPECT_EQ(Keys(), "abcegxz");
  for (const int level : {-1, 0, 6}) {
    EXPECT_TRUE(Promote(level).IsInvalidArgument()) << level;
  }
}

TEST_F(LevelMoves, TablesThatOverlapAreNotPromoted) {
  Open();
  Table("ac"), Table("ce");
  const Status status = Promote(3);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_EQ(Tree(), "L0 c-e a-c");
}

TEST_F(LevelMoves, ARangeTombstoneMayEndWhereTheNextTableBegins) {
  Open();
  Table("amz");
  ASSERT_OK(CompactTo(3));
  DeleteRange("a", "m");
  Flush();
  Table("m", "new");
  ASSERT_OK(Promote(1));
  Open();
  EXPECT_EQ(Tree(), "L1 a-m m-m L3 a-z");
  EXPECT_EQ(Scan(), "m=new z=v");
  EXPECT_EQ(Get("a"), "(none)");
  EXPECT_EQ(Get("m"), "new");
}

TEST_F(LevelMoves, ChangeLevelMovesTheResult) {
  Open();
  Table("ac"), Table("bd");
  ASSERT_OK(CompactTo(4));
  EXPECT_EQ(Tree(), "L4 a-d");
  ASSERT_OK(CompactTo(2));
  EXPECT_EQ(Tree(), "L2 a-d");
  ASSERT_OK(CompactTo(0));
  EXPECT_EQ(Tree(), "L0 a-d");
  Table("c", "new");
  ASSERT_OK(CompactTo(5));
  EXPECT_EQ(Tree(), "L5 a-d");
  EXPECT_EQ(Get("c"), "new");
  ASSERT_OK(CompactTo(-1));
  EXPECT_EQ(Tree(), "L1 a-d") << "the highest level that is empty";
  EXPECT_TRUE(CompactTo(6).IsInvalidArgument());
  EXPECT_TRUE(CompactTo(-2).IsInvalidArgument());
  Open();
  EXPECT_EQ(Keys(), "abcd");
}

TEST_F(LevelMoves, TheHighestLevelHasRoomForAll) {
  options_.max_bytes_for_level_base = 8 << 10;
  options_.max_bytes_for_level_multiplier = 4;
  options_.compression = kNoCompression;
  Open();
  Table("abcdefghij", std::string(2000, 'v'));
  ASSERT_OK(CompactTo(5));
  ASSERT_OK(CompactTo(-1));
  EXPECT_EQ(Tree(), "L2 a-j");
}

TEST_F(LevelMoves, WhatLiesOnTheWayForbidsIt) {
  Open();
  Table("az");
  ASSERT_OK(CompactTo(3));
  Table("m");
  ASSERT_OK(Promote(1));
  CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = 5;
  const Slice begin("zz");
  ASSERT_OK(db_->CompactRange(compact, &begin, nullptr)) << "nothing is in the range";
  EXPECT_EQ(Tree(), "L1 m-m L3 a-z");
  ASSERT_OK(CompactTo(4));
  EXPECT_EQ(Tree(), "L4 a-z");
  Table("m", "2");
  ASSERT_OK(Promote(2));
  Table("b");
  ASSERT_OK(Promote(1));
  const Slice b("b");
  compact.target_level = 0;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
  EXPECT_TRUE(db_->CompactRange(compact, &b, &b).IsNotSupported());
  EXPECT_EQ(Keys(), "abmz");
}

// Flushes and suggestions run while the levels are moved.
TEST_F(LevelMoves, BesideWriters) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  std::thread writer([this] {
    for (int i = 0; i < 60; i++) Table("abc", std::to_string(i));
  });
  for (int i = 0; i < 25; i++) {
    const Status status = CompactTo(i % 2 == 0 ? 4 : 2);
    EXPECT_TRUE(status.ok() || status.IsNotSupported() || status.IsAborted()) << status.ToString();
    EXPECT_OK(Suggest());
  }
  writer.join();
  WaitForJobs();
  for (const char* const key : {"a", "b", "c"}) EXPECT_EQ(Get(key), "59");
}

TEST_F(LevelMoves, SuggestedRangesAreCompacted) {
  Open();
  Table("af"), Table("gz");
  ASSERT_OK(CompactTo(4));
  Table("bc"), Table("h"), Table("xy");
  ASSERT_OK(Suggest());
  WaitForJobs();
  EXPECT_EQ(listener_->Of(CompactionReason::kFilesMarkedForCompaction), 0);
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  WaitForJobs();
  EXPECT_EQ(Tree(), "L1 b-c h-h x-y L4 a-z");
  EXPECT_EQ(listener_->Of(CompactionReason::kFilesMarkedForCompaction), 3);
  const Slice begin("c"), end("h");
  ASSERT_OK(Suggest(&begin, &end));
  WaitForJobs();
  EXPECT_EQ(Tree(), "L1 x-y L2 b-c h-h L4 a-z");
  // The deepest level cannot move further down.
  const Slice z("z");
  ASSERT_OK(Suggest(&z, nullptr));
  WaitForJobs();
  EXPECT_EQ(Tree(), "L1 x-y L2 b-c h-h L4 a-z");
  EXPECT_EQ(Keys(), "abcfghxyz");
}

TEST_F(LevelMoves, ASuggestionOutlivesACompactionThatFails) {
  options_.disable_auto_compactions = false;
  options_.max_bgerror_resume_count = 0;
  Open();
  Table("az");
  ASSERT_OK(CompactTo(4));
  Table("b");
  Fail(CallKind::kSync, ".sst");
  ASSERT_OK(Suggest());
  listener_->failed.wait(0);
  ASSERT_OK(db_->Resume());  // otherwise the next attempt comes much later
  WaitForJobs();
  EXPECT_EQ(Tree(), "L1 b-b L4 a-z");
  EXPECT_EQ(listener_->Of(CompactionReason::kFilesMarkedForCompaction), 2);
}

TEST_F(LevelMoves, ASuggestionThatFailsDoesNotHideTheOthers) {
  options_.disable_auto_compactions = false;
  options_.max_bgerror_resume_count = 0;
  Open();
  Table("az");
  ASSERT_OK(CompactTo(4));
  Table("b");
  const LiveFileMetaData table = Tables().front();
  ASSERT_EQ(table.level, 0);
  Fail(CallKind::kRead, table.relative_filename, FaultMode::kSticky);
  Table("h");
  listener_->succeeded = 0;
  ASSERT_OK(Suggest());
  constexpr int kEnough = 4;  // failures; by then the other table must have been compacted
  while (true) {
    const int ended = listener_->ended;
    if (listener_->succeeded > 0 || listener_->failed >= kEnough) break;
    listener_->ended.wait(ended);
  }
  EXPECT_EQ(Tree(), "L0 b-b L1 h-h L4 a-z");
  EXPECT_LT(listener_->failed, kEnough);
  sim_->ClearFaults();
  Status waited;
  do {  // a job that met the fault may still end
    ASSERT_OK(db_->Resume());
    waited = db_->WaitForCompact(WaitForCompactOptions());
  } while (waited.IsIOError());
  ASSERT_OK(waited);
  EXPECT_EQ(Tree(), "L1 b-b h-h L4 a-z");
}

TEST_F(LevelMoves, ADroppedFamilyHasNoLevels) {
  Open();
  ColumnFamilyHandle* const gone = CreateFamily("gone");
  Put(gone, "a", "v");
  Flush(gone);
  ASSERT_OK(db_->DropColumnFamily(gone));
  const Status promoted = db_->PromoteL0(gone, 1);
  EXPECT_TRUE(promoted.IsColumnFamilyDropped()) << promoted.ToString();
  CompactRangeOptions compact;
  compact.change_level = true;
  const Status changed = db_->CompactRange(compact, gone, nullptr, nullptr);
  EXPECT_TRUE(changed.IsColumnFamilyDropped()) << changed.ToString();
  const Status suggested = db_->SuggestCompactRange(gone, nullptr, nullptr);
  EXPECT_TRUE(suggested.IsColumnFamilyDropped()) << suggested.ToString();
}

TEST_F(LevelMoves, SuggestionsForTheUniversalStyle) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 10;
  Open();
  Table("az");
  Compact();
  Table("b"), Table("c");
  ASSERT_OK(Suggest());
  WaitForJobs();
  EXPECT_EQ(Tree(), "L5 a-z");
}

// A call that compacts a range moves tables whose merge would change nothing. Only in a moved table
// entries keep their sequence numbers, and the file keeps its number.
class WholeRange : public LevelMoves {
 protected:
  std::string NamesOfTables() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::string names;
    for (const LiveFileMetaData& file : files) names += file.name + " ";
    return names;
  }
  bool IsMoved(const CompactRangeOptions& compact = {}) {
    const std::string before = NamesOfTables();
    EXPECT_OK(db_->CompactRange(compact, nullptr, nullptr));
    return NamesOfTables() == before;
  }
};

TEST_F(WholeRange, MovesTablesThatHoldNothingToDrop) {
  Open();
  Table("ac");
  EXPECT_TRUE(IsMoved());
  EXPECT_EQ(Tree(), "L1 a-c");
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_FALSE(IsMoved(force));
  EXPECT_EQ(Keys(), "ac");
}

TEST_F(WholeRange, JoinsTables) {
  Open();
  Table("ab"), Table("cd");
  EXPECT_FALSE(IsMoved());
  EXPECT_EQ(Tree(), "L1 a-d");
}

TEST_F(WholeRange, RewritesTablesWithTombstonesOrOlderVersions) {
  Open();
  Put("a", "v"), Delete("b");
  Flush();
  EXPECT_FALSE(IsMoved());
  EXPECT_EQ(Tree(), "L1 a-a");
  Put("m", "old");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("m", "new");
  Flush();
  db_->ReleaseSnapshot(snapshot);
  EXPECT_FALSE(IsMoved());
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "x", "y"));
  Table("z");
  EXPECT_FALSE(IsMoved());
  EXPECT_EQ(Keys(), "amz");
}

TEST_F(WholeRange, RewritesTablesOfWhichNothingIsKnown) {
  Open();
  Table("ac");
  Open();
  EXPECT_FALSE(IsMoved());
  EXPECT_EQ(Keys(), "ac");
}

// The automatic compaction begins with the old options, and writes its table after the call has
// begun, beside the first step of the call.
TEST_F(WholeRange, RewritesWhatACompactionThatBeganBeforeHasWrittenMeanwhile) {
  options_.num_levels = 3;
  options_.max_background_jobs = 8;
  options_.disable_auto_compactions = false;
  Open();
  Table("ac");
  ASSERT_OK(CompactTo(2));
  Table("b");
  ASSERT_OK(Promote(1));
  ASSERT_EQ(Tree(), "L1 b-b L2 a-c");
  std::binary_semaphore has_begun{0}, may_go_on{0};
  listener_->on_begin = [&](DB*) {
    has_begun.release();
    may_go_on.acquire();
  };
  ASSERT_OK(Suggest());
  has_begun.acquire();
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "rocksdb.FixedPrefix.1"}}));
  Table("x"), Table("x", "new");  // these are merged, so that the call moves no older table down
  listener_->on_begin = [&](DB*) { may_go_on.release(); };
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  Compact(force);
  WaitForJobs();  // the listener may hear of the end later
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  for (const auto& [path, properties] : tables) {
    EXPECT_EQ(properties->prefix_extractor_name, "rocksdb.FixedPrefix.1") << path;
  }
  EXPECT_EQ(listener_->Of(CompactionReason::kFilesMarkedForCompaction), 1);
  EXPECT_EQ(Keys(), "abcx");
}

// An automatic compaction begins and ends while the call is between two levels.
TEST_F(WholeRange, RewritesWhatACompactionBesideItHasWritten) {
  options_.num_levels = 4;
  options_.max_background_jobs = 8;
  options_.disable_auto_compactions = false;
  options_.db_paths = {{"/first", uint64_t{1} << 40}, {"/second", uint64_t{1} << 40}};
  Open();
  Table("ac");
  ASSERT_OK(CompactTo(3));
  Table("b");
  ASSERT_OK(Promote(2));
  Table("x");
  ASSERT_OK(Promote(1));
  ASSERT_EQ(Tree(), "L1 x-x L2 b-b L3 a-c");
  WaitForJobs();
  listener_->on_begin = [&](DB*) {
    const int ended = listener_->ended;
    const Slice b("b");
    EXPECT_OK(Suggest(&b, &b));
    listener_->ended.wait(ended);
  };
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  force.target_path_id = 1;
  Compact(force);
  WaitForJobs();
  EXPECT_EQ(listener_->Of(CompactionReason::kFilesMarkedForCompaction), 1);
  for (const LiveFileMetaData& table : Tables()) EXPECT_EQ(table.db_path, "/second") << table.name;
  EXPECT_EQ(Keys(), "abcx");
}

TEST_F(WholeRange, RewritesTablesThatAreLargerThanTheirTarget) {
  options_.target_file_size_base = 10'000;
  options_.compression = kNoCompression;
  Open();
  Table("ac", std::string(10'000, 'v'));
  EXPECT_FALSE(IsMoved());
}

}  // namespace
}  // namespace ashlar
