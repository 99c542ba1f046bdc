// SPDX-License-Identifier: Apache-2.0
//
// Keys that are equal in the order of the program although their bytes differ. A blob file repeats
// the key that was written, so reads of its value have to ask for that one.
#include <cctype>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "tests/db/large_values/large_values_fixture.h"

namespace ashlar {
namespace {

// Takes upper and lower case for equal, and ignores dashes, so that equal keys may have different
// lengths too.
class LenientOrder final : public Comparator {
 public:
  const char* Name() const override { return "test.Lenient"; }
  int Compare(const Slice& a, const Slice& b) const override { return Plain(a).compare(Plain(b)); }
  bool Equal(const Slice& a, const Slice& b) const override { return Compare(a, b) == 0; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static std::string Plain(const Slice& key) {
    std::string text = key.ToString();
    std::erase(text, '-');
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
};

class CaselessKeysTest : public LargeValuesTest {
 protected:
  void SetUp() override {
    static const LenientOrder order;  // the database outlives the members of this class
    options_.comparator = &order;
    LargeValuesTest::SetUp();
  }
  // Several times, because blocks that are used again are decoded.
  void ExpectFound(const std::string& key, const std::string& value) {
    for (int round = 0; round < 3; round++) {
      EXPECT_EQ(Get(key), value) << key;
      const std::vector<Slice> keys{key, "absent", key};
      std::vector<std::string> values;
      const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
      EXPECT_OK(statuses[0]);
      EXPECT_TRUE(statuses[1].IsNotFound());
      EXPECT_OK(statuses[2]);
      EXPECT_EQ(values[0], value);
      EXPECT_EQ(values[2], value);
    }
  }
};

TEST_F(CaselessKeysTest, LookupsFindValuesUnderOtherBytes) {
  Put("KEY", Large('a'));
  Flush();
  for (const char* key : {"KEY", "key", "k-e-y"}) ExpectFound(key, Large('a'));
  Merge("kEy", "x");
  for (const char* key : {"KEY", "key", "k-e-y"}) ExpectFound(key, Large('a') + ".x");
}

TEST_F(CaselessKeysTest, RowsOfTheRowCacheHaveTheRightKeys) {
  options_.row_cache = NewLRUCache(1 << 20);
  Reopen();
  Put("KEY", Large('a'));
  Flush();
  for (const char* key : {"KEY", "key", "k-e-y", "KEY"}) ExpectFound(key, Large('a'));
  // A range tombstone in a newer run decides before the row does.
  DeleteRange("a", "z");
  EXPECT_EQ(Get("key"), "(none)");
}

TEST_F(CaselessKeysTest, IteratorsReadTheNewestVersionUnderOtherBytes) {
  Put("KEY", Large('a'));
  Flush();
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("k-ey", Large('b'));
  Flush();
  ReadOptions lazily;
  lazily.allow_unprepared_value = true;
  for (const ReadOptions& options : {ReadOptions(), lazily}) {
    EXPECT_EQ(Scan(options), "k-ey=" + Large('b'));
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
    iterator->SeekToLast();
    ASSERT_TRUE(iterator->Valid()) << iterator->status().ToString();
    ASSERT_TRUE(iterator->PrepareValue()) << iterator->status().ToString();
    EXPECT_EQ(iterator->value(), Slice(Large('b')));
  }
  Merge("Key", "x");
  const std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid()) << iterator->status().ToString();
  EXPECT_EQ(iterator->value(), Slice(Large('b') + ".x"));
  iterator->SeekToLast();
  ASSERT_TRUE(iterator->Valid()) << iterator->status().ToString();
  EXPECT_EQ(iterator->value(), Slice(Large('b') + ".x"));
  ReadOptions before;
  before.snapshot = snapshot;
  EXPECT_EQ(ScanBackwards(before), "KEY=" + Large('a'));
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace ashlar
