// SPDX-License-Identifier: Apache-2.0
//
// Memory that changes by error is detected, by checksums of entries and by their order.
#include "memtable/memtable_checks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "ashlar/comparator.h"
#include "memtable/memtable.h"
#include "tests/support/status_matchers.h"
#include "util/memory/arena.h"

namespace ashlar {
namespace {

using Representation = MemTableOptions::Representation;

class MemTableChecksTest : public testing::TestWithParam<Representation> {
 protected:
  ~MemTableChecksTest() override {
    if (table_ != nullptr) table_->Unref();
  }
  void Open(const MemTableChecks& checks) {
    if (table_ != nullptr) table_->Unref();
    MemTableOptions options;
    options.representation = GetParam();
    options.checks = checks;
    table_ = new MemTable(InternalKeyComparator(BytewiseComparator()), options, 7);
    for (const char* key : {"a", "b", "c", "d"}) {
      ASSERT_OK(table_->Add(5, kTypeValue, key, std::string("value of ") + key));
    }
  }
  // The position of the key's entry.
  std::unique_ptr<InternalIterator> At(const std::string& key) {
    std::unique_ptr<InternalIterator> entries(table_->NewIterator(nullptr));
    entries->Seek(MakeInternalKey(key, kMaxSequenceNumber, kValueTypeForSeek));
    EXPECT_TRUE(entries->Valid());
    return entries;
  }
  static void Flip(const Slice& bytes, size_t index) {
    char* const byte = const_cast<char*>(bytes.data()) + index;
    *byte = static_cast<char>(*byte ^ 0x20);
  }
  Status Get(const std::string& key) {
    const LookupKey lookup_key(key, 9, table_->comparator().order());
    PinnableSlice value;
    PointLookup lookup(lookup_key, &value);
    table_->Get(lookup_key, &lookup);
    return lookup.status();
  }
  Status GetTogether(const std::string& key) {
    const LookupKey lookup_key(key, 9, table_->comparator().order());
    PinnableSlice value;
    PointLookup lookup(lookup_key, &value);
    PointLookup* const lookups[] = {&lookup};
    table_->GetMany(lookups, 1);
    return lookup.status();
  }
  // The status at the end of an iteration, and the number of entries that it returned.
  std::tuple<Status, int> Walk(bool forward) {
    Arena arena;
    InternalIterator* const entries = table_->NewIterator(&arena);
    int count = 0;
    for (forward ? entries->SeekToFirst() : entries->SeekToLast(); entries->Valid();
         forward ? entries->Next() : entries->Prev()) {
      ++count;
    }
    const Status status = entries->status();
    DestroyIterator(entries, IteratorHome::kArena);
    return {status, count};
  }

  MemTable* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Representations, MemTableChecksTest,
                         testing::Values(Representation::kBlinkTree, Representation::kVector),
                         [](const auto& info) {
                           return info.param == Representation::kVector ? "Vector" : "Tree";
                         });

TEST_P(MemTableChecksTest, WholeEntriesPass) {
  for (const uint8_t bytes : {1, 2, 4, 8}) {
    Open({.checksum_bytes = bytes, .order = true, .neighbour_checksums = true});
    EXPECT_EQ(Walk(true), std::make_tuple(Status::OK(), 4));
    EXPECT_EQ(Walk(false), std::make_tuple(Status::OK(), 4));
    for (const char* key : {"0", "a", "d", "e"}) EXPECT_OK(Get(key));
  }
}

// Flips bits in each byte of value, trailer and checksum.
TEST_P(MemTableChecksTest, AFlippedBitIsFoundByWhoeverReadsTheEntry) {
  for (const uint8_t bytes : {1, 2, 4, 8}) {
    for (size_t i = 0; i < 10u + bytes + 8; ++i) {
      SCOPED_TRACE(testing::Message() << int{bytes} << " bytes, byte " << i);
      Open({.checksum_bytes = bytes});
      Flip(At("b")->value(), i < 10u + bytes ? i : size_t{0} - 8 + (i - 10u - bytes));
      const auto [status, count] = Walk(true);
      // A sequence number that is too large for the reader hides the entry from lookups.
      const bool is_trailer = i >= 10u + bytes;
      EXPECT_TRUE(status.IsCorruption()) << status.ToString();
      EXPECT_EQ(count, 1);
      EXPECT_EQ(Walk(false), std::make_tuple(status, 2));
      if (!is_trailer) {
        EXPECT_TRUE(Get("b").IsCorruption());
        EXPECT_TRUE(GetTogether("b").IsCorruption());
      }
      EXPECT_OK(Get("c"));
      EXPECT_OK(GetTogether("c"));
    }
  }
}

TEST_P(MemTableChecksTest, TheMessageSaysWhichEntry) {
  Open({.checksum_bytes = 8});
  Flip(At("b")->value(), 0);
  const std::string said = Get("b").ToString();
  EXPECT_NE(said.find("sequence number 5: expected checksum "), std::string::npos) << said;
}

TEST_P(MemTableChecksTest, ASearchThatLooksAroundFindsADamagedNeighbour) {
  Open({.checksum_bytes = 4});
  Flip(At("b")->value(), 0);
  EXPECT_OK(Get("c"));
  Open({.checksum_bytes = 4, .neighbour_checksums = true});
  Flip(At("b")->value(), 0);
  EXPECT_TRUE(Get("c").IsCorruption());
  EXPECT_OK(Get("d"));
}

// Without checksums.
TEST_P(MemTableChecksTest, AnEntryAtAWrongPlaceIsFoundByItsOrder) {
  Open({.order = false});
  char* moved = const_cast<char*>(At("b")->key().data());
  *moved = 'x';
  EXPECT_EQ(Walk(true), std::make_tuple(Status::OK(), 4));
  *moved = 'b';  // invariant builds check the order once more at the end
  Open({.order = true});
  moved = const_cast<char*>(At("b")->key().data());
  *moved = 'x';
  EXPECT_TRUE(std::get<0>(Walk(true)).IsCorruption());
  EXPECT_EQ(std::get<1>(Walk(true)), 2);
  EXPECT_TRUE(std::get<0>(Walk(false)).IsCorruption());
  // A search among sorted entries may miss the entry.
  if (GetParam() == Representation::kBlinkTree) {
    EXPECT_TRUE(Get("c").IsCorruption());
  }
  EXPECT_OK(Get("d"));
  *moved = 'b';
}

}  // namespace
}  // namespace ashlar
