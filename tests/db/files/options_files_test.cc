// SPDX-License-Identifier: Apache-2.0
//
// How many OPTIONS files an open database keeps, and what dropped families leave behind.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/slice_transform.h"
#include "env/env_adaptors.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";

class OptionsFilesTest : public testing::Test {
 protected:
  OptionsFilesTest() {
    options_.create_if_missing = true;
    options_.max_bgerror_resume_count = 0;  // only a call resumes
    options_.env = env_.get();
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, kDir, &db_));
  }
  std::set<FileNumber> OptionsFiles() const {
    std::set<FileNumber> numbers;
    for (const auto& [path, contents] : memory_->AllFiles()) {
      FileNumber number;
      FileType type;
      const bool is_ours = ParseFileName(path.substr(path.rfind('/') + 1), &number, &type);
      if (is_ours && type == kOptionsFile) numbers.insert(number);
    }
    return numbers;
  }
  Status ChangeOptions(int i) {
    return db_->SetOptions({{"write_buffer_size", StrCat((4 + i % 2) << 20)}});
  }

  // Each time what waits for readers of the time before goes.
  void Purge() {
    for (int i = 0; i < 3; i++) {
      ASSERT_OK(db_->DisableFileDeletions());
      ASSERT_OK(db_->EnableFileDeletions());
    }
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(memory_);
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(OptionsFilesTest, TheTwoNewestStayWhateverChanges) {
  Open();
  EXPECT_EQ(OptionsFiles().size(), 1u);
  FileNumber newest = *OptionsFiles().rbegin();
  for (int i = 0; i < 20; i++) {
    ASSERT_OK(ChangeOptions(i));
    const std::set<FileNumber> files = OptionsFiles();
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(*files.begin(), newest);
    newest = *files.rbegin();
  }
  for (int i = 0; i < 3; i++) {
    Open();
    EXPECT_EQ(OptionsFiles().size(), 2u);
    EXPECT_GT(*OptionsFiles().rbegin(), newest);
  }
}

TEST_F(OptionsFilesTest, NoneGoesWhileDeletionsAreDisabled) {
  Open();
  ASSERT_OK(db_->DisableFileDeletions());
  std::vector<std::string> live;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(live, &manifest_bytes, /*flush_memtable=*/false));
  for (int i = 0; i < 5; i++) ASSERT_OK(ChangeOptions(i));
  EXPECT_EQ(OptionsFiles().size(), 6u);
  for (const std::string& name : live) EXPECT_TRUE(memory_->AllFiles().contains(kDir + name));
  // A job that was started by the changes could delete in our place, and be at it still.
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(OptionsFiles().size(), 2u);
}

// What a family keeps while it lives can be told by the objects of the user that it shares.
TEST_F(OptionsFilesTest, DroppedFamiliesLeaveNoMemoryBehind) {
  Open();
  const std::shared_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(3));
  for (int i = 0; i < 50; i++) {
    ColumnFamilyOptions family_options;
    family_options.prefix_extractor = extractor;
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(family_options, StrCat("family", i), &family));
    if (i % 2 == 0) {
      ASSERT_OK(db_->Put(WriteOptions(), family, "key", "value"));
      ASSERT_OK(db_->Flush(FlushOptions(), family));
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), family, "key", &value));
    }
    ASSERT_OK(db_->DropColumnFamily(family));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // a queued job holds its family
  Purge();
  EXPECT_EQ(extractor.use_count(), 1);
}

TEST_F(OptionsFilesTest, AnIteratorOutlivesItsDroppedFamily) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "family", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "key", "value"));
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions(), family));
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  Purge();
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->value(), "value");
  iterator.reset();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // a queued job holds its family
  Purge();
  for (const auto& [path, contents] : memory_->AllFiles()) {
    EXPECT_FALSE(path.ends_with(".sst")) << path;
  }
}

TEST(ManifestsOfOpening, AreDeletedOnce) {
  const std::shared_ptr<SimFS> sim = SimFS::Create();
  const std::unique_ptr<Env> env = NewCompositeEnv(sim);
  Options options;
  options.create_if_missing = true;
  options.env = env.get();
  sim->KeepCalls(true);
  for (int i = 0; i < 2; i++) {
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, kDir, &db));
    ASSERT_OK(db->Put(WriteOptions(), "k", "v"));
  }
  std::multiset<std::string> deleted;
  for (const FileCall& call : sim->Calls()) {
    if (call.kind == CallKind::kUnlink) deleted.insert(call.path);
  }
  for (const std::string& path : deleted) EXPECT_EQ(deleted.count(path), 1u) << path;
  EXPECT_TRUE(deleted.contains("/db/MANIFEST-000001"));
}

}  // namespace ashlar
