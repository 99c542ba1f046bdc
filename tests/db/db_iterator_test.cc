// SPDX-License-Identifier: Apache-2.0
//
// Iterators of users: prefixes, what Refresh() shows, and targets of seeks.
#include "ashlar/slice_transform.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// The prefix ends before the first dot; a key that begins with a dot has the empty prefix.
class UpToDot final : public SliceTransform {
 public:
  const char* Name() const override { return "test.UpToDot"; }
  Slice Transform(const Slice& key) const override {
    const std::string text = key.ToString();
    return Slice(key.data(), text.find('.'));
  }
  bool InDomain(const Slice& key) const override {
    return key.ToString().find('.') != std::string::npos;
  }
};

class DBIteratorTest : public DbTest {
 protected:
  DBIteratorTest() {
    options_.prefix_extractor = std::make_shared<UpToDot>();
    Open();
  }

  static std::string KeysFrom(Iterator* it, bool forward = true) {
    std::string text;
    for (; it->Valid(); forward ? it->Next() : it->Prev()) text += it->key().ToString() + " ";
    EXPECT_OK(it->status());
    return text;
  }
  static std::string Rows(Iterator* it) {
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    EXPECT_OK(it->status());
    return text;
  }
};

TEST_F(DBIteratorTest, AnEmptyPrefixIsAPrefixLikeAnyOther) {
  for (const char* key : {".1", ".2", "a.1", "a.2", "b.1"}) Put(key);
  ReadOptions read;
  read.prefix_same_as_start = true;
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek(".1");
  EXPECT_EQ(KeysFrom(it.get()), ".1 .2 ");
  it->Seek("a.");
  EXPECT_EQ(KeysFrom(it.get()), "a.1 a.2 ");
  it->SeekForPrev("a.2");
  EXPECT_EQ(KeysFrom(it.get(), /*forward=*/false), "a.2 a.1 ");
  it->SeekToFirst();
  EXPECT_EQ(KeysFrom(it.get()), ".1 .2 ");
}

// A target outside of the domain of the extractor has no prefix, so the scan is not bounded.
TEST_F(DBIteratorTest, ATargetWithoutPrefixBoundsNothing) {
  for (const char* key : {"a.1", "b.1", "c"}) Put(key);
  ReadOptions read;
  read.prefix_same_as_start = true;
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek("a");
  EXPECT_EQ(KeysFrom(it.get()), "a.1 b.1 c ");
}

TEST_F(DBIteratorTest, RefreshShowsTheStateOfNowOrOfASnapshot) {
  Put("a.1", "old");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  const Snapshot* snapshot = db_->GetSnapshot();
  Put("a.1", "new");
  Put("b.1", "new");
  Flush();
  Compact();
  EXPECT_EQ(Rows(it.get()), "a.1=old ");
  ASSERT_OK(it->Refresh());
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(Rows(it.get()), "a.1=new b.1=new ");
  ASSERT_OK(it->Refresh(snapshot));
  EXPECT_EQ(Rows(it.get()), "a.1=old ");
  Put("a.1", "newest");
  EXPECT_EQ(Rows(it.get()), "a.1=old ");
  ASSERT_OK(it->Refresh(nullptr));
  EXPECT_EQ(Rows(it.get()), "a.1=newest b.1=new ");
  it.reset();
  db_->ReleaseSnapshot(snapshot);
}

// The iterator releases the version that it showed and pins only the newest one.
TEST_F(DBIteratorTest, RefreshLetsGoOfTheOldState) {
  Put("a.1", "old");
  Flush();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  Put("a.1", "new");
  Flush();
  Compact();
  EXPECT_GT(Number("rocksdb.num-live-versions"), 1u);
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(Number("rocksdb.num-live-versions"), 1u);
}

// The seek replaces the view that owns the key which is its target: first a memtable, then blocks
// that no cache holds. The keys are too long for the buffer inside of a std::string.
TEST_F(DBIteratorTest, OneThatRefreshesItselfSeeksToTheKeyItShows) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.prefix_extractor.reset();
  options_.disable_auto_compactions = true;
  const auto key = [](int i) { return std::to_string(1000 + i) + std::string(200, 'k'); };
  for (const bool tails : {false, true}) {
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
    Open();
    for (int i = 0; i < 100; i++) Put(key(i));
    ReadOptions read;
    read.tailing = tails;
    read.auto_refresh_iterator_with_snapshot = !tails;
    if (!tails) read.snapshot = db_->GetSnapshot();
    std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->SeekToFirst();
    for (int i = 0; i < 100; i++) {
      if (i % 10 == 0) {
        Put("later");
        Flush();
      }
      i % 20 < 10 ? it->Seek(it->key()) : it->SeekForPrev(it->key());
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key(), Slice(key(i)));
      it->Next();
    }
    it.reset();
    if (!tails) db_->ReleaseSnapshot(read.snapshot);
  }
}

}  // namespace
}  // namespace ashlar
