// SPDX-License-Identifier: Apache-2.0
//
// Which blob files stay, and when one is obsolete.
#include "db/blob/blob_files_builder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint32_t kFamilyId = 7;

BlobFileAddition Addition(uint64_t number, uint64_t count, uint64_t bytes) {
  BlobFileAddition addition;
  addition.number = FileNumber{number};
  addition.blob_count = count;
  addition.blob_bytes = bytes;
  return addition;
}

class BlobFilesTest : public testing::Test {
 protected:
  // An edit: tables come and go by the blob file that they are linked to.
  struct Edit {
    std::vector<uint64_t> linked{};
    std::vector<uint64_t> unlinked{};
    std::vector<BlobFileAddition> additions{};
    std::vector<BlobFileGarbage> garbage{};
  };
  Status Apply(const Edit& edit) {
    BlobFilesBuilder builder(files_, nullptr);
    for (const uint64_t number : edit.unlinked) builder.Unlink(FileNumber{number});
    for (const uint64_t number : edit.linked) builder.Link(FileNumber{number});
    Status status = builder.Apply(edit.additions, edit.garbage, kFamilyId);
    if (!status.ok()) return status;
    builder.DropUnreachable();
    std::shared_ptr<const BlobFiles> built;
    status = builder.Build(&built);
    if (status.ok()) files_ = built;
    return status;
  }
  std::string Numbers() const {
    std::string text;
    if (files_ == nullptr) return "none";
    for (const BlobFiles::Live& live : files_->all()) {
      text += std::to_string(live.file->meta.number.value()) + " ";
    }
    return text;
  }

  std::shared_ptr<const BlobFiles> files_;
};

TEST_F(BlobFilesTest, WithoutAnyThereIsNothing) {
  EXPECT_OK(Apply({}));
  EXPECT_EQ(files_, nullptr);
  EXPECT_OK(Apply({.linked = {0}, .unlinked = {}}));
  EXPECT_EQ(files_, nullptr);
}

TEST_F(BlobFilesTest, FilesBelowTheOldestLinkAreDropped) {
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 2, 133)}}));
  ASSERT_OK(Apply({.linked = {14}, .additions = {Addition(14, 1, 64)}}));
  EXPECT_EQ(Numbers(), "12 14 ");
  ASSERT_OK(Apply({.linked = {14}, .unlinked = {12}}));
  EXPECT_EQ(Numbers(), "14 ");
  ASSERT_OK(Apply({.unlinked = {14, 14}}));
  EXPECT_EQ(files_, nullptr);
}

TEST_F(BlobFilesTest, AFileBehindTheOldestLinkNeedsNoLinkUntilItIsGarbage) {
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 2, 133), Addition(13, 2, 200)}}));
  EXPECT_EQ(Numbers(), "12 13 ");
  ASSERT_OK(Apply({.garbage = {{FileNumber{13}, 1, 100}}}));
  EXPECT_EQ(Numbers(), "12 13 ");
  EXPECT_EQ(files_->garbage_bytes(), 100u);
  ASSERT_OK(Apply({.garbage = {{FileNumber{13}, 1, 100}}}));
  EXPECT_EQ(Numbers(), "12 ");
}

TEST_F(BlobFilesTest, GarbageMustBeOfAFileAndNotMoreThanThereIs) {
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 3, 150)}}));
  EXPECT_TRUE(Apply({.garbage = {{FileNumber{11}, 1, 50}}}).IsCorruption());
  ASSERT_OK(Apply({.garbage = {{FileNumber{12}, 1, 50}}}));
  EXPECT_TRUE(Apply({.garbage = {{FileNumber{12}, 3, 50}}}).IsCorruption());
  EXPECT_TRUE(Apply({.garbage = {{FileNumber{12}, 1, 101}}}).IsCorruption());
  EXPECT_EQ(files_->garbage_bytes(), 50u);
}

TEST_F(BlobFilesTest, AFileThatIsAllGarbageHasNoTables) {
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 1, 50)}}));
  EXPECT_TRUE(Apply({.garbage = {{FileNumber{12}, 1, 50}}}).IsCorruption());
  ASSERT_OK(Apply({.unlinked = {12}, .garbage = {{FileNumber{12}, 1, 50}}}));
  EXPECT_EQ(files_, nullptr);
}

TEST_F(BlobFilesTest, NumbersAreUsedOnceAndPossible) {
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 1, 50)}}));
  EXPECT_TRUE(Apply({.additions = {Addition(12, 1, 50)}}).IsCorruption());
  EXPECT_TRUE(Apply({.additions = {Addition(0, 1, 50)}}).IsCorruption());
  EXPECT_TRUE(Apply({.additions = {Addition(UINT64_MAX, 1, 50)}}).IsCorruption());
}

TEST_F(BlobFilesTest, LinksToFilesThatAreNotThereCount) {
  ASSERT_OK(Apply({.linked = {10}}));
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(11, 1, 50), Addition(12, 1, 50)}}));
  EXPECT_EQ(Numbers(), "11 12 ");
  ASSERT_OK(Apply({.unlinked = {10}}));
  EXPECT_EQ(Numbers(), "12 ");
}

TEST_F(BlobFilesTest, AFileIsObsoleteWhenTheLastVersionWithItIsGone) {
  ObsoleteBlobFiles obsolete;
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 1, 50)}}));
  EXPECT_EQ(obsolete.HeldBytes(kFamilyId), 0u);
  files_->SetInstalled(&obsolete);
  std::shared_ptr<const BlobFiles> reader = files_;
  ASSERT_OK(Apply({.unlinked = {12}}));
  EXPECT_TRUE(obsolete.empty());
  EXPECT_EQ(obsolete.HeldBytes(kFamilyId), Addition(12, 1, 50).file_bytes());
  reader.reset();
  EXPECT_FALSE(obsolete.empty());
  EXPECT_EQ(obsolete.HeldBytes(kFamilyId), 0u);
  const auto taken = obsolete.Take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0]->meta.number, FileNumber{12});
  EXPECT_TRUE(obsolete.empty());
}

// In any order: from the middle of the list, its end, its beginning.
TEST_F(BlobFilesTest, FilesAreHeldUntilTheirLastVersionIsGone) {
  ObsoleteBlobFiles obsolete;
  ASSERT_OK(Apply({.linked = {11, 12, 13},
                   .additions = {Addition(11, 1, 1), Addition(12, 1, 10), Addition(13, 1, 100)}}));
  files_->SetInstalled(&obsolete);
  files_->SetInstalled(&obsolete);  // as of two versions
  const uint64_t all = obsolete.HeldBytes(kFamilyId);
  EXPECT_EQ(all, files_->total_file_bytes());
  EXPECT_EQ(obsolete.HeldBytes(kFamilyId + 1), 0u);
  uint64_t left = all;
  for (const uint64_t number : {12, 11, 13}) {
    const BlobFiles::Live* live = files_->Find(FileNumber{number});
    left -= live->file->meta.file_bytes();
    ASSERT_OK(Apply({.unlinked = {number},
                     .garbage = {{.number = FileNumber{number},
                                  .garbage_count = 1,
                                  .garbage_bytes = live->file->meta.blob_bytes}}}));
    EXPECT_EQ(obsolete.HeldBytes(kFamilyId), left);
  }
  EXPECT_EQ(obsolete.Take().size(), 3u);
}

TEST_F(BlobFilesTest, AFileThatNobodyHasSeenIsNotObsolete) {
  ObsoleteBlobFiles obsolete;
  ASSERT_OK(Apply({.linked = {12}, .additions = {Addition(12, 1, 50)}}));
  files_.reset();
  EXPECT_TRUE(obsolete.empty());
}

}  // namespace
}  // namespace ashlar
