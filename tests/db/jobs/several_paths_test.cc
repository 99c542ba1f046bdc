// SPDX-License-Identifier: Apache-2.0
//
// Tables in several directories: which directory a table goes to, and that all operations find it.
#include <algorithm>
#include <set>
#include <utility>

#include "ashlar/listener.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/support/test_db.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Keeps the tables that were created and not yet deleted.
class PathListener final : public EventListener {
 public:
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    if (info.status.ok()) tables.insert(info.file_path);
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    tables.erase(info.file_path);
  }
  std::set<std::string> tables;  // written by jobs; read when none runs
};

class SeveralPathsTest : public DbTest {
 protected:
  SeveralPathsTest() {
    options_.compression = kNoCompression;
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.max_bytes_for_level_base = 100 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.max_background_jobs = 2;
    // Levels 0 and 1 fit into the first directory.
    options_.db_paths = {{"/fast", 250 << 10}, {"/slow", uint64_t{1} << 40}};
  }
  void Fill(int round, int count = 100) {
    for (int i = 0; i < count; i++) Put(Key(i), ValueOf(round));
    Flush();
    round_ = round;
  }
  static std::string ValueOf(int round) { return StrCat(round, std::string(500, 'v')); }
  void CheckContents() {
    Rows expected;
    for (int i = 0; i < 100; i++) expected[Key(i)] = ValueOf(round_);
    EXPECT_EQ(ReadRows(), expected);
  }

  // The directories of tables by the metadata, as "/fast 1 /slow 2"; the files must exist.
  std::string Places() {
    std::map<std::string, int> counts;
    for (const LiveFileMetaData& file : Tables()) {
      EXPECT_OK(env_->FileExists(file.db_path + file.name));
      counts[file.db_path]++;
    }
    std::string text;
    for (const auto& [dir, count] : counts) StrAppend(&text, dir, " ", count, " ");
    return text;
  }
  std::vector<std::string> TablesIn(const std::string& dir) const {
    std::vector<std::string> names;
    IgnoreError(env_->GetChildren(dir, &names), "a missing directory has no tables");
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    return names;
  }
  Status CompactTo(uint32_t path_id) {
    CompactRangeOptions range;
    range.target_path_id = path_id;
    range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(range, nullptr, nullptr);
  }

  int round_ = 0;
};

TEST_F(SeveralPathsTest, FlushesGoToTheFirstAndCallsToTheOneTheyName) {
  Open();
  Fill(1);
  EXPECT_EQ(Places(), "/fast 1 ");
  ASSERT_OK(CompactTo(1));
  EXPECT_EQ(Places(), StrCat("/slow ", TablesIn("/slow").size(), " "));
  EXPECT_TRUE(TablesIn("/fast").empty()) << "the inputs are deleted from their directory";
  EXPECT_TRUE(TablesIn("/db").empty());
  CheckContents();
  Reopen();
  CheckContents();
  Fill(2);
  ASSERT_OK(CompactTo(0));
  EXPECT_TRUE(TablesIn("/slow").empty());
  CheckContents();
  EXPECT_TRUE(CompactTo(2).IsInvalidArgument());
}

// Level 2 exceeds the target size of the first directory, so a table that could be moved without
// rewriting it is written to the next directory.
TEST_F(SeveralPathsTest, ALevelThatDoesNotFitGoesToTheNextOne) {
  Open();
  Fill(1);
  const std::vector<LiveFileMetaData> files = Tables();
  ASSERT_EQ(files.size(), 1u);
  std::vector<std::string> outputs;
  CompactionOptions compaction;
  compaction.allow_trivial_move = true;
  ASSERT_OK(db_->CompactFiles(compaction, {files[0].name}, 1, -1, &outputs));
  EXPECT_EQ(Places(), "/fast 1 ") << "moved without rewriting";
  ASSERT_OK(db_->CompactFiles(compaction, {files[0].name}, 2, -1, &outputs));
  EXPECT_EQ(Places(), "/slow 1 ");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].starts_with("/slow/")) << outputs[0];
  ASSERT_OK(db_->CompactFiles(compaction, outputs, 2, 0, &outputs));
  EXPECT_EQ(Places(), "/fast 1 ");
  EXPECT_TRUE(db_->CompactFiles(compaction, outputs, 2, 2).IsInvalidArgument());
  CheckContents();
}

TEST_F(SeveralPathsTest, WhatListenersHearIsWhereTheTablesAre) {
  const auto listener = std::make_shared<PathListener>();
  options_.listeners = {listener};
  Open();
  Fill(1);
  Fill(2);
  ASSERT_OK(CompactTo(1));
  std::set<std::string> there;
  for (const std::string dir : {"/fast", "/slow"}) {
    for (const std::string& name : TablesIn(dir)) there.insert(StrCat(dir, "/", name));
  }
  EXPECT_FALSE(there.empty());
  EXPECT_EQ(listener->tables, there);
}

TEST_F(SeveralPathsTest, AFamilyMayHaveItsOwnAndBlobsLieInTheFirst) {
  Open();
  ColumnFamilyOptions own = options_;
  own.cf_paths = {{"/own", 1}, {"/far", 1}};
  own.enable_blob_files = true;
  own.min_blob_size = 1000;
  ColumnFamilyHandle* const family = CreateFamily("own", own);
  const std::string large(5000, 'l');
  Put(family, "k", large);
  Put(family, "small", "s");
  Flush(family);
  CompactRangeOptions range;
  range.target_path_id = 1;
  range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  range.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  range.blob_garbage_collection_age_cutoff = 1;
  ASSERT_OK(db_->CompactRange(range, family, nullptr, nullptr));
  EXPECT_EQ(TablesIn("/own").size(), 0u);
  EXPECT_EQ(TablesIn("/far").size(), 1u);
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family, &metadata);
  ASSERT_EQ(metadata.blob_files.size(), 1u);
  EXPECT_EQ(metadata.blob_files[0].blob_file_path, "/own");
  EXPECT_OK(env_->FileExists("/own" + metadata.blob_files[0].blob_file_name));
  Close();

  ASSERT_OK(DB::Open(options_, "/db", {{kDefaultColumnFamilyName, options_}, {"own", own}},
                     &handles_, &db_));
  EXPECT_EQ(Get(handles_[1], "k"), large);
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  Close();  // waits for threads that delete files
  EXPECT_TRUE(TablesIn("/far").empty());
}

TEST_F(SeveralPathsTest, ACheckpointHasAllOfThemInOneDirectory) {
  Open();
  Fill(1);
  ASSERT_OK(CompactTo(1));
  Fill(2, 50);
  round_ = 1;
  Put("last", "in the log");
  Checkpoint* created = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &created));
  const std::unique_ptr<Checkpoint> checkpoint(created);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy"));
  Close();
  TestDb copy(memory_);
  copy.dir() = "/copy";
  copy.Open();
  EXPECT_EQ(copy.Get(Key(99)), ValueOf(1));
  EXPECT_EQ(copy.Get(Key(0)), ValueOf(2));
  EXPECT_EQ(copy.Get("last"), "in the log");
}

TEST_F(SeveralPathsTest, AMissingDirectoryIsToldAndNothingIsLost) {
  Open();
  Fill(1);
  ASSERT_OK(CompactTo(1));
  Close();
  const Options whole = options_;
  options_.db_paths = {{"/fast", 1}};
  EXPECT_FALSE(TryOpen().ok());
  options_ = whole;
  Open();
  CheckContents();
}

// A crash after a table was written and before the MANIFEST records it leaves a table without
// owner.
TEST_F(SeveralPathsTest, WhatNobodyNamesIsDeletedAtTheNextOpenAndNumbersAreNotGivenTwice) {
  Open();
  Fill(1);
  ASSERT_OK(CompactTo(1));
  Close();
  const std::vector<std::string> before = TablesIn("/slow");
  std::unique_ptr<WritableFile> file;
  ASSERT_OK(env_->NewWritableFile("/slow/000777.sst", &file, EnvOptions()));
  ASSERT_OK(file->Append("half a table"));
  ASSERT_OK(file->Close());
  Open();
  EXPECT_EQ(TablesIn("/slow"), before);
  Fill(2);
  ASSERT_EQ(TablesIn("/fast").size(), 1u);
  EXPECT_GT(TablesIn("/fast")[0], "000777.sst");
}

TEST_F(SeveralPathsTest, DestroyingTakesAllOfThem) {
  Open();
  Fill(1);
  ASSERT_OK(CompactTo(1));
  Fill(2);
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  EXPECT_TRUE(TablesIn("/fast").empty());
  EXPECT_TRUE(TablesIn("/slow").empty());
  for (const char* dir : {"/db", "/fast", "/slow"}) {
    EXPECT_TRUE(env_->FileExists(dir).IsNotFound()) << dir;
  }
}

// The directories of a database that is destroyed may have files of others with names of the same
// form.
TEST_F(SeveralPathsTest, DestroyingLeavesWhatOthersHaveThere) {
  TestDb other(memory_);
  other.dir() = "/a";
  other.options().create_if_missing = true;
  other.Open();
  other.Put("flushed", "1");
  other.Flush();
  other.Put("logged", "2");
  other.Close();
  options_.wal_dir = "/logs";
  Open();
  Fill(1);
  Put("last", "in the log");
  Close();
  for (const char* file : {"/fast/MANIFEST-000001", "/fast/000077.log", "/logs/000077.sst",
                           "/logs/OPTIONS-000007", "/logs/IDENTITY"}) {
    std::unique_ptr<WritableFile> made;
    ASSERT_OK(env_->NewWritableFile(file, &made, EnvOptions()));
    ASSERT_OK(made->Close());
  }
  options_.db_paths.emplace_back("/a", 1);
  ASSERT_OK(DestroyDB("/db", options_));
  std::set<std::string> left;
  for (const std::string dir : {"/fast", "/logs"}) {
    std::vector<std::string> names;
    ASSERT_OK(env_->GetChildren(dir, &names));
    for (const std::string& name : names) left.insert(StrCat(dir, "/", name));
  }
  EXPECT_EQ(left,
            (std::set<std::string>{"/fast/000077.log", "/fast/MANIFEST-000001", "/logs/000077.sst",
                                   "/logs/IDENTITY", "/logs/OPTIONS-000007"}));
  EXPECT_TRUE(env_->FileExists("/db").IsNotFound());

  // The directory of another database, which has logs too.
  options_.db_paths.clear();
  options_.wal_dir = "/logs_of_db";
  Open();
  Close();
  options_.wal_dir = "/a";
  ASSERT_OK(DestroyDB("/db", options_));
  other.Open();
  EXPECT_EQ(other.Get("flushed"), "1");
  EXPECT_EQ(other.Get("logged"), "2");
}

TEST_F(SeveralPathsTest, UniversalRunsGoByTheirSize) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.db_paths = {{"/fast", 64 << 10}, {"/slow", uint64_t{1} << 40}};
  Open();
  Fill(1);
  Fill(2);
  WaitForJobs();
  EXPECT_TRUE(Places().starts_with("/slow")) << Places();
  CheckContents();
}

TEST_F(SeveralPathsTest, WhatCannotBeIsRefused) {
  options_.db_paths.assign(5, {"/p", 1});
  EXPECT_TRUE(TryOpen().IsNotSupported());
  options_.db_paths = {{"", 1}};
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.db_paths = {{"/fast", 1}, {"/slow", 1}};
  options_.compaction_style = kCompactionStyleFIFO;
  EXPECT_TRUE(TryOpen().IsNotSupported());
  EXPECT_TRUE(env_->FileExists("/db").IsNotFound());
}

}  // namespace
}  // namespace ashlar
