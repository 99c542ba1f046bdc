// SPDX-License-Identifier: Apache-2.0
//
// If the bytes of a block change in memory, no entry is returned that differs from what was read.
#include "table/block/entry_checksums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "table/block/block_builder.h"
#include "table/block/block_cursor.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

using Rows = std::vector<std::string>;  // "key=value"

class EntryChecksumsTest : public testing::Test {
 protected:
  EntryChecksumsTest() {
    BlockBuilderOptions options;
    options.restart_interval = 3;
    BlockBuilder builder(options);
    for (int i = 10; i < 20; ++i) {
      builder.Add(MakeInternalKey("key" + std::to_string(i), 5, kTypeValue),
                  std::string(static_cast<size_t>(i), 'v'));
    }
    bytes_ = builder.Finish().ToString();
    Parse(&block_);
    whole_ = Walk(true);
  }
  void Parse(Block* block) { ASSERT_OK(Block::Parse(bytes_, block)); }
  // The entries that a cursor returns in key order, and whether it failed.
  Rows Walk(bool forward, bool* fails = nullptr) {
    BlockCursor cursor;
    cursor.Attach(&block_, BlockKeyFormat());
    Slice key, value;
    Rows rows;
    for (bool valid = forward ? cursor.First(&key, &value) : cursor.Last(&key, &value); valid;
         valid = forward ? cursor.Next(&key, &value) : cursor.Prev(&key, &value)) {
      const std::string row = key.ToString() + "=" + value.ToString();
      rows.insert(forward ? rows.end() : rows.begin(), row);
    }
    if (fails != nullptr) *fails = cursor.error() != nullptr;
    return rows;
  }

  std::string bytes_;
  Block block_;
  Rows whole_;
};

TEST_F(EntryChecksumsTest, WholeEntriesFitInBothDirectionsAndFromEverySeek) {
  const InternalKeyComparator comparator(BytewiseComparator());
  for (const size_t bytes : {1, 2, 4, 8}) {
    const auto checksums = EntryChecksums::Of(block_, bytes);
    EXPECT_GT(checksums->MemoryBytes(), 10 * (bytes + 4));
    block_.SetChecksums(checksums.get());
    bool fails = true;
    EXPECT_EQ(Walk(true, &fails), whole_);
    EXPECT_FALSE(fails);
    EXPECT_EQ(Walk(false, &fails), whole_);
    EXPECT_FALSE(fails);
    for (int i = 10; i < 20; ++i) {
      const std::string target = MakeInternalKey("key" + std::to_string(i), 9, kTypeValue);
      BlockCursor cursor;
      cursor.Attach(&block_, BlockKeyFormat());
      Slice key, value;
      ASSERT_TRUE(cursor.Seek(comparator, SeekTarget(target), &key, &value)) << i;
      EXPECT_EQ(value.size(), static_cast<size_t>(i));
    }
    block_.SetChecksums(nullptr);
  }
}

// Whichever bit of the entries flips, only entries that existed are returned, and a missing entry
// is reported.
TEST_F(EntryChecksumsTest, AFlippedBitIsNeverShown) {
  const auto checksums = EntryChecksums::Of(block_, 8);
  const auto entries_bytes = static_cast<size_t>(block_.entries_end() - block_.data());
  for (size_t bit = 0; bit < 8 * entries_bytes; ++bit) {
    bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << bit % 8));
    block_.SetChecksums(checksums.get());
    for (const bool forward : {true, false}) {
      bool fails = false;
      const Rows rows = Walk(forward, &fails);
      EXPECT_TRUE(fails) << "bit " << bit << (forward ? " forwards" : " backwards");
      EXPECT_LT(rows.size(), whole_.size());
      const auto begin =
          forward ? whole_.begin() : whole_.end() - static_cast<ptrdiff_t>(rows.size());
      EXPECT_TRUE(std::equal(rows.begin(), rows.end(), begin)) << "bit " << bit;
    }
    bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << bit % 8));
  }
}

TEST_F(EntryChecksumsTest, AnEntryThatWasNotThereDoesNotFit) {
  const auto checksums = EntryChecksums::Of(block_, 4);
  EXPECT_FALSE(checksums->Fits(1, "key", "value"));
  EXPECT_FALSE(checksums->Fits(1 << 20, "key", "value"));
  EXPECT_FALSE(checksums->Fits(0, "key", "value"));
}

}  // namespace
}  // namespace ashlar
