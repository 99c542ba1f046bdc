// SPDX-License-Identifier: Apache-2.0
//
// What HashRep guarantees in addition to the order that every memtable has (memtable_test.cc).
#include "memtable/hash_rep.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/slice_transform.h"
#include "memtable/memtable.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Otherwise each such reader would cost as much as there are entries.
TEST(HashRep, WhoWantsOnePrefixIsAtTheEndBehindIt) {
  const InternalKeyComparator comparator(BytewiseComparator());
  MemTableOptions options;
  options.representation = RepresentationOptions::Representation::kHash;
  options.hash = {.buckets = 16, .max_height = 4};
  options.prefixes.reset(NewFixedPrefixTransform(2));
  MemTable* const table = new MemTable(comparator, options, /*id=*/1);
  for (const char* key : {"aa1", "aa2", "cc1"}) {
    ASSERT_OK(table->Add(1, kTypeValue, key, "v"));
  }
  const SliceTransform* const prefixes = options.prefixes.get();
  const std::shared_ptr<const SliceTransform> others(NewFixedPrefixTransform(2));
  for (const SliceTransform* wanted :
       {prefixes, others.get(), static_cast<const SliceTransform*>(nullptr)}) {
    const std::unique_ptr<InternalIterator> it(table->NewIterator(nullptr, wanted));
    it->Seek(MakeInternalKey("aa2", kMaxSequenceNumber, kValueTypeForSeek));
    ASSERT_TRUE(it->Valid());
    it->Next();
    EXPECT_EQ(it->Valid(), wanted != prefixes);
    it->Seek(MakeInternalKey("bb", kMaxSequenceNumber, kValueTypeForSeek));
    EXPECT_EQ(it->Valid(), wanted != prefixes);
    it->SeekForPrev(MakeInternalKey("bb", 0, kTypeDeletion));
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(ExtractUserKey(it->key()).ToString(), "aa2");
  }
  table->Unref();
}

// A bucket contains some of the prefixes; keys between them may be in another bucket.
TEST(HashRep, AWalkGoesOnBehindItsPrefixInOrder) {
  const InternalKeyComparator comparator(BytewiseComparator());
  MemTableOptions options;
  options.representation = RepresentationOptions::Representation::kHash;
  options.hash = {.buckets = 2, .max_height = 4};
  options.prefixes.reset(NewFixedPrefixTransform(2));
  MemTable* const table = new MemTable(comparator, options, /*id=*/1);
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) {
    for (const char* end : {"1", "2"}) keys.push_back(std::to_string(10 + i) + end);
  }
  for (const std::string& key : keys) ASSERT_OK(table->Add(1, kTypeValue, key, "v"));
  const std::unique_ptr<InternalIterator> it(table->NewIterator(nullptr));
  it->Seek(MakeInternalKey(keys.front(), kMaxSequenceNumber, kValueTypeForSeek));
  for (const std::string& key : keys) {
    ASSERT_TRUE(it->Valid()) << key;
    EXPECT_EQ(ExtractUserKey(it->key()).ToString(), key);
    it->Next();
  }
  EXPECT_FALSE(it->Valid());
  table->Unref();
}

}  // namespace
}  // namespace ashlar
