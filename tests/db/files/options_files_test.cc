// SPDX-License-Identifier: Apache-2.0
//
// How many OPTIONS files an open database keeps, and memory and files of dropped families.
#include <set>
#include <utility>

#include "ashlar/slice_transform.h"
#include "env/filename.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class OptionsFilesTest : public DbTest {
 protected:
  OptionsFilesTest() {
    options_.max_bgerror_resume_count = 0;  // only a call resumes
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

  // Each round deletes what the readers of the round before released.
  void Purge() {
    for (int i = 0; i < 3; i++) {
      ASSERT_OK(db_->DisableFileDeletions());
      ASSERT_OK(db_->EnableFileDeletions());
    }
  }
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
  for (const std::string& name : live) EXPECT_TRUE(memory_->AllFiles().contains(dir_ + name));
  // Otherwise a job that the changes started could still be deleting the files.
  WaitForJobs();
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(OptionsFiles().size(), 2u);
}

// The reference count of an object of the user shows whether a family is still in memory.
TEST_F(OptionsFilesTest, DroppedFamiliesLeaveNoMemoryBehind) {
  Open();
  const std::shared_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(3));
  for (int i = 0; i < 50; i++) {
    ColumnFamilyOptions family_options;
    family_options.prefix_extractor = extractor;
    ColumnFamilyHandle* const family = CreateFamily(StrCat("family", i), family_options);
    if (i % 2 == 0) {
      Put(family, "key", "value");
      Flush(family);
      EXPECT_EQ(Get(family, "key"), "value");
    }
    ASSERT_OK(db_->DropColumnFamily(family));
    DestroyHandles();
  }
  WaitForJobs();  // a queued job references its family
  Purge();
  EXPECT_EQ(extractor.use_count(), 1);
}

TEST_F(OptionsFilesTest, AnIteratorOutlivesItsDroppedFamily) {
  Open();
  ColumnFamilyHandle* const family = CreateFamily("family");
  Put(family, "key", "value");
  Flush(family);
  std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions(), family));
  ASSERT_OK(db_->DropColumnFamily(family));
  DestroyHandles();
  Purge();
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->value(), "value");
  iterator.reset();
  WaitForJobs();  // a queued job references its family
  Purge();
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
}

TEST(ManifestsOfOpening, AreDeletedOnce) {
  const std::shared_ptr<SimFS> sim = SimFS::Create();
  TestDb test(sim);
  test.options().create_if_missing = true;
  sim->KeepCalls(true);
  for (int i = 0; i < 2; i++) {
    test.Open();
    test.Put("k");
    test.Drop();
  }
  std::multiset<std::string> deleted;
  for (const FileCall& call : sim->Calls()) {
    if (call.kind == CallKind::kUnlink) deleted.insert(call.path);
  }
  for (const std::string& path : deleted) EXPECT_EQ(deleted.count(path), 1u) << path;
  EXPECT_TRUE(deleted.contains("/db/MANIFEST-000001"));
}

}  // namespace ashlar
