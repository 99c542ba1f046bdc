// SPDX-License-Identifier: Apache-2.0
//
// Tables in several directories: which of them takes what, and that everything that looks for a
// table finds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/table.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Remembers which tables were said to be made and deleted.
class PathListener final : public EventListener {
 public:
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    if (info.status.ok()) tables.insert(info.file_path);
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    tables.erase(info.file_path);
  }
  std::set<std::string> tables;  // by the job's thread; read when nothing runs
};

class SeveralPathsTest : public testing::Test {
 protected:
  SeveralPathsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.max_bytes_for_level_base = 100 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.max_background_jobs = 2;
    // Levels 0 and 1 fit into the first directory.
    options_.db_paths = {{"/fast", 250 << 10}, {"/slow", uint64_t{1} << 40}};
  }
  ~SeveralPathsTest() override {
    Close();
    env_->WaitForJoin();
  }

  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void Close() {
    if (db_ != nullptr) {
      EXPECT_OK(db_->Close());
    }
    db_.reset();
  }
  void Fill(int round, int count = 100) {
    for (int i = 0; i < count; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), Key(i), StrCat(round, std::string(500, 'v'))));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    round_ = round;
  }
  static std::string Key(int i) { return StrCat("key", 1000 + i); }
  void CheckContents(DB* db, int count = 100) const {
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), i++) {
      ASSERT_EQ(it->key(), Key(i));
      ASSERT_EQ(it->value(), StrCat(round_, std::string(500, 'v')));
    }
    EXPECT_OK(it->status());
    EXPECT_EQ(i, count);
  }

  // Where the metadata says that tables are, as "/fast 1 /slow 2"; each is really there.
  std::string Places() const {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::map<std::string, int> counts;
    for (const LiveFileMetaData& file : files) {
      EXPECT_OK(env_->FileExists(file.db_path + file.name));
      counts[file.db_path]++;
    }
    std::string text;
    for (const auto& [dir, count] : counts) StrAppend(&text, dir, " ", count, " ");
    return text;
  }
  std::vector<std::string> TablesIn(const std::string& dir) const {
    std::vector<std::string> names;
    IgnoreError(env_->GetChildren(dir, &names), "no directory has no tables");
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    return names;
  }
  Status CompactTo(uint32_t path_id) {
    CompactRangeOptions range;
    range.target_path_id = path_id;
    range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(range, nullptr, nullptr);
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
  int round_ = 0;
};

TEST_F(SeveralPathsTest, FlushesGoToTheFirstAndCallsToTheOneTheyName) {
  Open();
  Fill(1);
  EXPECT_EQ(Places(), "/fast 1 ");
  ASSERT_OK(CompactTo(1));
  EXPECT_EQ(Places(), StrCat("/slow ", TablesIn("/slow").size(), " "));
  EXPECT_TRUE(TablesIn("/fast").empty()) << "what was compacted away is deleted where it was";
  EXPECT_TRUE(TablesIn("/db").empty());
  CheckContents(db_.get());
  Close();
  Open();
  CheckContents(db_.get());
  Fill(2);
  ASSERT_OK(CompactTo(0));
  EXPECT_TRUE(TablesIn("/slow").empty());
  CheckContents(db_.get());
  EXPECT_TRUE(CompactTo(2).IsInvalidArgument());
}

// Level 2 is beyond the target size of the first directory: a table that only has to be relinked is
// written there all the same.
TEST_F(SeveralPathsTest, ALevelThatDoesNotFitGoesToTheNextOne) {
  Open();
  Fill(1);
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  std::vector<std::string> outputs;
  CompactionOptions compaction;
  compaction.allow_trivial_move = true;
  ASSERT_OK(db_->CompactFiles(compaction, {files[0].name}, 1, -1, &outputs));
  EXPECT_EQ(Places(), "/fast 1 ") << "relinked";
  ASSERT_OK(db_->CompactFiles(compaction, {files[0].name}, 2, -1, &outputs));
  EXPECT_EQ(Places(), "/slow 1 ");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].starts_with("/slow/")) << outputs[0];
  ASSERT_OK(db_->CompactFiles(compaction, outputs, 2, 0, &outputs));
  EXPECT_EQ(Places(), "/fast 1 ");
  EXPECT_TRUE(db_->CompactFiles(compaction, outputs, 2, 2).IsInvalidArgument());
  CheckContents(db_.get());
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
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(own, "own", &family));
  const std::string large(5000, 'l');
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", large));
  ASSERT_OK(db_->Put(WriteOptions(), family, "small", "s"));
  ASSERT_OK(db_->Flush(FlushOptions(), family));
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
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  Close();

  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(options_, "/db", {{kDefaultColumnFamilyName, options_}, {"own", own}},
                     &handles, &db_));
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), handles[1], "k", &value));
  EXPECT_EQ(value, large);
  ASSERT_OK(db_->DropColumnFamily(handles[1]));
  for (ColumnFamilyHandle* handle : handles) ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
  Close();  // which waits for whoever is deleting
  EXPECT_TRUE(TablesIn("/far").empty());
}

TEST_F(SeveralPathsTest, ACheckpointHasAllOfThemInOneDirectory) {
  Open();
  Fill(1);
  ASSERT_OK(CompactTo(1));
  Fill(2, 50);
  round_ = 1;
  ASSERT_OK(db_->Put(WriteOptions(), "last", "in the log"));
  Checkpoint* created = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &created));
  const std::unique_ptr<Checkpoint> checkpoint(created);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy"));
  Options alone = options_;
  alone.db_paths.clear();
  std::unique_ptr<DB> copy;
  ASSERT_OK(DB::Open(alone, "/copy", &copy));
  std::string value;
  EXPECT_OK(copy->Get(ReadOptions(), Key(99), &value));
  EXPECT_EQ(value[0], '1');
  EXPECT_OK(copy->Get(ReadOptions(), Key(0), &value));
  EXPECT_EQ(value[0], '2');
  EXPECT_OK(copy->Get(ReadOptions(), "last", &value));
  ASSERT_OK(copy->Close());
}

TEST_F(SeveralPathsTest, AMissingDirectoryIsToldAndNothingIsLost) {
  Open();
  Fill(1);
  ASSERT_OK(CompactTo(1));
  Close();
  const Options whole = options_;
  options_.db_paths = {{"/fast", 1}};
  EXPECT_FALSE(DB::Open(options_, "/db", &db_).ok());
  options_ = whole;
  Open();
  CheckContents(db_.get());
}

// A crash between writing and recording leaves a table that nobody names, wherever it is.
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

TEST_F(SeveralPathsTest, UniversalRunsGoByTheirSize) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.db_paths = {{"/fast", 64 << 10}, {"/slow", uint64_t{1} << 40}};
  Open();
  Fill(1);
  Fill(2);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_TRUE(Places().starts_with("/slow")) << Places();
  CheckContents(db_.get());
}

TEST_F(SeveralPathsTest, WhatCannotBeIsRefused) {
  options_.db_paths.assign(5, {"/p", 1});
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsNotSupported());
  options_.db_paths = {{"", 1}};
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsInvalidArgument());
  options_.db_paths = {{"/fast", 1}, {"/slow", 1}};
  options_.compaction_style = kCompactionStyleFIFO;
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsNotSupported());
  EXPECT_TRUE(env_->FileExists("/db").IsNotFound());
}

}  // namespace
}  // namespace ashlar
