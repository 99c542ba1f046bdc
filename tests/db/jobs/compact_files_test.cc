// SPDX-License-Identifier: Apache-2.0
//
// DB::CompactFiles(): which other tables it includes, where the outputs go, and what it refuses.
#include <algorithm>
#include <atomic>
#include <functional>
#include <semaphore>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Hook final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override {
    if (on_begin) std::exchange(on_begin, nullptr)(db);
  }
  std::function<void(DB*)> on_begin;
};

class CompactFilesTest : public DbTest {
 protected:
  CompactFilesTest() {
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.compression = kNoCompression;
    options_.num_levels = 6;
    options_.listeners.push_back(hook_);
  }
  // A table with a key for each letter, all with the same value.
  void Table(const std::string& keys, const std::string& value) {
    for (const char key : keys) Put(std::string(1, key), value);
    Flush();
  }
  Status Compact(const std::vector<std::string>& names, int level,
                 const CompactionOptions& options = CompactionOptions()) {
    return db_->CompactFiles(options, names, level, -1, &outputs_, &info_);
  }
  // Whether the database records that tables keep entries for snapshots.
  bool HasKept() { return Property("ashlar.state").find(" kept of #") != std::string::npos; }

  const std::shared_ptr<Hook> hook_ = std::make_shared<Hook>();
  std::vector<std::string> outputs_;
  CompactionJobInfo info_;
};

TEST_F(CompactFilesTest, TheNamesIncludeThoseOfBlobFiles) {
  options_.enable_blob_files = true;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1.0;
  Open();
  Table("ac", "1");
  Table("bd", "1");
  ASSERT_OK(Compact(TableNames(0), 1));
  ASSERT_EQ(info_.output_files.size(), 1u);
  ASSERT_EQ(info_.blob_file_addition_infos.size(), 1u) << "old blob files were written again";
  EXPECT_EQ(outputs_, (std::vector<std::string>{info_.output_files[0],
                                                info_.blob_file_addition_infos[0].blob_file_path}));
  EXPECT_TRUE(outputs_[1].ends_with(".blob")) << outputs_[1];
}

TEST_F(CompactFilesTest, TablesGoWhereTheCallWantsThem) {
  Open();
  Table("ac", "1");
  Table("eg", "1");
  Table("xz", "1");
  const std::vector<std::string> names = TableNames(0);
  ASSERT_EQ(names.size(), 3u);
  ASSERT_OK(Compact({names[2], names[1]}, 3));
  EXPECT_EQ(Tree(), "L0 x-z L3 a-g");
  ASSERT_EQ(outputs_.size(), 1u);
  EXPECT_EQ(outputs_[0], "/db" + TableNames(3)[0]);
  EXPECT_EQ(info_.output_files, outputs_);
  EXPECT_EQ(info_.input_files.size(), 2u);
  EXPECT_EQ(info_.output_level, 3);
  EXPECT_EQ(info_.compaction_reason, CompactionReason::kManualCompaction);
  EXPECT_EQ(info_.stats.num_input_records, 4u);
  EXPECT_OK(info_.status);
  // Again to the same level, by the path that was returned.
  const std::string before = outputs_[0];
  ASSERT_OK(Compact(outputs_, 3));
  EXPECT_NE(outputs_[0], before);
  EXPECT_EQ(Tree(), "L0 x-z L3 a-g");
  EXPECT_TRUE(env_->FileExists(before).IsNotFound());
}

TEST_F(CompactFilesTest, OlderVersionsComeAlongAndNewerOnesStay) {
  Open();
  Table("ae", "oldest");
  Table("xz", "aside");
  Table("ce", "old");
  Table("b", "within");
  Table("ac", "new");
  const std::vector<std::string> names = TableNames(0);  // newest first
  ASSERT_OK(Compact({names[2]}, 2));
  EXPECT_EQ(Tree(), "L0 a-c b-b x-z L2 a-e");
  EXPECT_EQ(Get("a") + Get("c") + Get("e"), "newnewold");
  ASSERT_OK(Compact({names[0]}, 2));
  EXPECT_EQ(Tree(), "L0 x-z L2 a-e") << "b-b is in the range, and older";
  EXPECT_EQ(Get("a") + Get("b") + Get("e"), "newwithinold");
}

TEST_F(CompactFilesTest, LevelsInBetweenComeAlong) {
  Open();
  Table("bd", "deep");
  ASSERT_OK(Compact(TableNames(0), 5));
  Table("ac", "middle");
  ASSERT_OK(Compact(TableNames(0), 3));
  Table("m", "aside");
  ASSERT_OK(Compact(TableNames(0), 3));
  Table("bc", "top");
  ASSERT_OK(Compact(TableNames(0), 5));
  EXPECT_EQ(Tree(), "L3 m-m L5 a-d");
  EXPECT_EQ(Get("a") + Get("b") + Get("c") + Get("d"), "middletoptopdeep");
  // Tables of two levels at once, and the tables between them on the last level.
  Table("a", "1");
  ASSERT_OK(Compact({TableNames(0)[0], TableNames(3)[0]}, 5));
  EXPECT_EQ(Tree(), "L5 a-m");
  EXPECT_EQ(Get("a") + Get("m"), "1aside");
}

TEST_F(CompactFilesTest, WithinLevel0) {
  Open();
  Table("a", "1");
  Table("ab", "2");
  Table("b", "3");
  Table("bc", "4");
  const std::vector<std::string> names = TableNames(0);
  ASSERT_OK(Compact({names[1], names[3]}, 0));
  EXPECT_EQ(Tree(), "L0 b-c a-b");
  EXPECT_EQ(Get("a") + Get("b") + Get("c"), "244");
  Open();
  EXPECT_EQ(Get("a") + Get("b") + Get("c"), "244");
}

TEST_F(CompactFilesTest, WhatCannotBeIsRefused) {
  Open();
  Table("a", "1");
  const std::string name = TableNames(0)[0];
  EXPECT_TRUE(Compact({}, 1).IsInvalidArgument());
  EXPECT_TRUE(Compact({name}, -1).IsInvalidArgument());
  EXPECT_TRUE(Compact({name}, 6).IsInvalidArgument());
  EXPECT_TRUE(Compact({name, "/000999.sst"}, 1).IsInvalidArgument());
  EXPECT_TRUE(Compact({"CURRENT"}, 1).IsInvalidArgument());
  EXPECT_TRUE(Compact({"000004.log"}, 1).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(CompactionOptions(), {name}, 1, 1).IsInvalidArgument());
  CompactionOptions options;
  options.compression = static_cast<CompressionType>(0x66);
  EXPECT_TRUE(Compact({name}, 1, options).IsInvalidArgument());
  ASSERT_OK(Compact({name}, 2));
  const Status upwards = Compact(TableNames(2), 1);
  EXPECT_TRUE(upwards.IsInvalidArgument()) << upwards.ToString();
  EXPECT_EQ(Tree(), "L2 a-a");
  ColumnFamilyHandle* const other = CreateFamily("other");
  EXPECT_TRUE(db_->CompactFiles(CompactionOptions(), other, TableNames(2), 3).IsInvalidArgument());
  ASSERT_OK(db_->DropColumnFamily(other));
  EXPECT_TRUE(
      db_->CompactFiles(CompactionOptions(), other, TableNames(2), 3).IsColumnFamilyDropped());
  Options flat = options_;
  flat.compaction_style = kCompactionStyleFIFO;
  ColumnFamilyHandle* const queue = CreateFamily("queue", flat);
  Put(queue, "a", "1");
  Flush(queue);
  ColumnFamilyMetaData tree;
  db_->GetColumnFamilyMetaData(queue, &tree);
  ASSERT_EQ(tree.levels[0].files.size(), 1u);
  const Status below =
      db_->CompactFiles(CompactionOptions(), queue, {tree.levels[0].files[0].name}, 1);
  EXPECT_TRUE(below.IsInvalidArgument()) << below.ToString();
}

TEST_F(CompactFilesTest, SizesAndCompressionOfTheCall) {
  Open();
  for (const char* const keys : {"abcdefgh", "ijklmnop"}) Table(keys, std::string(3000, 'v'));
  CompactionOptions options;
  options.output_file_size_limit = 6000;
  options.max_subcompactions = 2;
  options.compression = kLZ4Compression;
  const bool has_lz4 = std::ranges::count(GetSupportedCompressions(), kLZ4Compression) > 0;
  if (!has_lz4) options.compression = kNoCompression;
  options_.compression = kNoCompression;
  ASSERT_OK(Compact(TableNames(0), 2, options));
  EXPECT_EQ(info_.compression, options.compression);
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  for (const auto& [path, properties] : tables) {
    EXPECT_EQ(properties->compression_name, has_lz4 ? "LZ4" : "NoCompression") << path;
  }
  options.compression = kNoCompression;
  ASSERT_OK(Compact(TableNames(2), 3, options));
  EXPECT_GE(TableNames(3).size(), 6u);
  EXPECT_EQ(outputs_.size(), TableNames(3).size());
  ASSERT_OK(Compact(TableNames(3), 4));
  EXPECT_EQ(TableNames(4).size(), 1u) << "without a limit it is one table";
}

// Without a limit for the outputs, a part of a divided job is not smaller than other tables.
TEST_F(CompactFilesTest, PartsWithoutALimitAreAsLargeAsOtherTables) {
  Open();
  for (const char* const keys : {"abcdefgh", "ijklmnop"}) Table(keys, std::string(3000, 'v'));
  CompactionOptions options;
  options.max_subcompactions = 4;
  ASSERT_OK(Compact(TableNames(0), 1, options));
  EXPECT_EQ(TableNames(1).size(), 1u);
  ASSERT_OK(db_->SetOptions({{"target_file_size_base", "15000"}}));
  ASSERT_OK(Compact(TableNames(1), 2, options));
  EXPECT_GE(TableNames(2).size(), 2u);
  EXPECT_LE(TableNames(2).size(), 3u);
}

TEST_F(CompactFilesTest, MovesAreMadeIfTheyAreAllowed) {
  Open();
  Table("ab", "1");
  const std::vector<std::string> names = TableNames(0);
  CompactionOptions options;
  options.allow_trivial_move = true;
  ASSERT_OK(Compact(names, 4, options));
  EXPECT_EQ(TableNames(4), names);
  EXPECT_EQ(outputs_, std::vector<std::string>{"/db" + names[0]});
  EXPECT_EQ(info_.stats.num_input_files_trivially_moved, 1u);
  ASSERT_OK(Compact(names, 5));
  EXPECT_NE(TableNames(5), names);
}

TEST_F(CompactFilesTest, CanBeStoppedAndForbidden) {
  Open();
  Table("a", "1");
  const std::vector<std::string> names = TableNames(0);
  std::atomic<bool> is_cancelled{true};
  CompactionOptions options;
  options.canceled = &is_cancelled;
  EXPECT_TRUE(Compact(names, 1, options).IsIncomplete());
  is_cancelled = false;
  hook_->on_begin = [&](DB*) { is_cancelled = true; };
  EXPECT_TRUE(Compact(names, 1, options).IsIncomplete());
  EXPECT_TRUE(outputs_.empty());
  db_->DisableManualCompaction();
  EXPECT_TRUE(Compact(names, 1).IsIncomplete());
  db_->EnableManualCompaction();
  db_->AbortAllCompactions();
  EXPECT_TRUE(Compact(names, 1).IsIncomplete());
  db_->ResumeAllCompactions();
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_TRUE(Compact(names, 1).IsAborted());
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_EQ(Tree(), "L0 a-a");
  ASSERT_OK(Compact(names, 1));
}

TEST_F(CompactFilesTest, AnEnableThatComesFirstCancelsTheNextDisable) {
  Open();
  Table("a", "1");
  db_->EnableManualCompaction();
  db_->DisableManualCompaction();
  ASSERT_OK(Compact(TableNames(0), 1));
  db_->DisableManualCompaction();
  EXPECT_TRUE(Compact(TableNames(1), 2).IsIncomplete());
  db_->EnableManualCompaction();
  ASSERT_OK(Compact(TableNames(1), 2));
}

// A listener calls while another compaction has the table, and while one writes to the range of the
// table.
TEST_F(CompactFilesTest, TablesOfARunningCompactionAreLeftToIt) {
  Open();
  Table("ac", "1");
  const std::vector<std::string> names = TableNames(0);
  int calls = 0;
  hook_->on_begin = [&](DB* db) {
    for (const int level : {0, 1, 2}) {
      EXPECT_TRUE(db->CompactFiles(CompactionOptions(), names, level).IsAborted()) << level;
    }
    calls++;
  };
  DbTest::Compact();
  Table("b", "2");
  hook_->on_begin = [&](DB* db) {
    Table("bc", "3");
    ColumnFamilyMetaData facts;
    db->GetColumnFamilyMetaData(&facts);
    const auto& newest = facts.levels[0].files.front();
    EXPECT_TRUE(db->CompactFiles(CompactionOptions(), {newest.name}, 1).IsAborted());
    EXPECT_OK(db->CompactFiles(CompactionOptions(), {newest.name}, 0));
    calls++;
  };
  ASSERT_OK(Compact(TableNames(0), 1));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Get("a") + Get("b") + Get("c"), "133");
  hook_->on_begin = [&](DB* db) {
    Table("yz", "4");
    EXPECT_TRUE(db->CompactFiles(CompactionOptions(), {TableNames(0).front()}, 0).IsAborted());
    calls++;
  };
  CompactRangeOptions exclusive;
  exclusive.exclusive_manual_compaction = true;
  DbTest::Compact(exclusive);
  EXPECT_EQ(calls, 3);
}

// The style has no automatic compactions, even where they would drop entries.
TEST_F(CompactFilesTest, WithoutAStyleNothingIsCompactedButWhatCallsName) {
  options_.compaction_style = kCompactionStyleNone;
  options_.disable_auto_compactions = false;
  Open();
  Table("k", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Table("k", "2");
  ASSERT_OK(Compact(TableNames(0), 5));
  const std::vector<std::string> names = TableNames(5);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(HasKept());
  db_->ReleaseSnapshot(snapshot);
  WaitForJobs();
  EXPECT_EQ(TableNames(5), names);
  ASSERT_OK(Compact(names, 5));
  EXPECT_EQ(info_.stats.num_output_records, 1u);
  WaitForJobs();
  EXPECT_FALSE(HasKept());
}

// A compaction of one style keeps entries for a snapshot; the database is opened with another
// style.
TEST_F(CompactFilesTest, WhatASnapshotKeptStaysInStylesThatRewriteNothing) {
  for (const CompactionStyle style : {kCompactionStyleNone, kCompactionStyleFIFO}) {
    options_.compaction_style = kCompactionStyleLevel;
    options_.disable_auto_compactions = true;
    Open();
    Table("k", "1");
    const Snapshot* const snapshot = db_->GetSnapshot();
    Table("k", "2");
    ASSERT_OK(Compact(TableNames(0), 5));
    const std::vector<std::string> names = TableNames(5);
    ASSERT_EQ(names.size(), 1u);
    db_->ReleaseSnapshot(snapshot);
    options_.compaction_style = style;
    options_.disable_auto_compactions = false;
    Open();
    WaitForJobs();
    EXPECT_EQ(TableNames(5), names) << style;
    options_.compaction_style = kCompactionStyleLevel;
    Open();
    WaitForJobs();
    EXPECT_NE(TableNames(5), names) << "the levelled style rewrites them";
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

// The only thread of the pool makes the call, so no other thread could do the work.
TEST_F(CompactFilesTest, MayBeCalledByTheOnlyThreadOfThePool) {
  options_.max_background_jobs = 1;
  Open();
  Table("a", "1");
  struct Task {
    std::function<Status()> work;
    Status status;
    std::binary_semaphore done{0};
  } task;
  task.work = [this] { return Compact(TableNames(0), 2); };
  env_->SetBackgroundThreads(1, Env::Priority::LOW);
  env_->Schedule(
      [](void* argument) {
        auto* const given = static_cast<Task*>(argument);
        given->status = given->work();
        given->done.release();
      },
      &task, Env::Priority::LOW);
  task.done.acquire();
  EXPECT_OK(task.status);
  EXPECT_EQ(Tree(), "L2 a-a");
  WaitForJobs();
}

TEST_F(CompactFilesTest, RandomTablesToRandomLevels) {
  for (uint64_t seed = 1; seed <= 15; seed++) {
    SCOPED_TRACE(seed);
    Random64 random(seed);
    options_.disable_auto_compactions = random.Uniform(3) != 0;
    options_.level0_file_num_compaction_trigger = 6;
    options_.compaction_style =
        random.Uniform(3) == 0 ? kCompactionStyleUniversal : kCompactionStyleLevel;
    Open();
    Rows model;
    for (int i = 0; i < 60; i++) {
      for (int put = 0; put < 3; put++) {
        const std::string key(1, static_cast<char>('a' + random.Uniform(26)));
        if (random.Uniform(5) == 0) {
          const std::string end(1, static_cast<char>(key[0] + 2));
          DeleteRange(key, end);
          model.erase(model.lower_bound(key), model.lower_bound(end));
        } else {
          model[key] = StrCat(i, "-", put);
          Put(key, model[key]);
        }
      }
      Flush();
      std::vector<std::string> names;
      int deepest = 0;
      for (const LiveFileMetaData& file : Tables()) {
        if (random.Uniform(4) != 0) continue;
        names.push_back(file.name);
        deepest = std::max(deepest, file.level);
      }
      if (names.empty()) continue;
      CompactionOptions options;
      options.output_file_size_limit = random.Uniform(2) == 0 ? 100 : UINT64_MAX;
      options.allow_trivial_move = random.Uniform(2) == 0;
      const int level =
          deepest + static_cast<int>(random.Uniform(6 - static_cast<uint64_t>(deepest)));
      const Status status = Compact(names, level, options);
      ASSERT_TRUE(status.ok() || (!options_.disable_auto_compactions &&
                                  (status.IsAborted() || status.IsInvalidArgument())))
          << status.ToString();
      ASSERT_EQ(ReadRows(), model) << Tree();
    }
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

}  // namespace
}  // namespace ashlar
