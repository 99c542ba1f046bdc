// SPDX-License-Identifier: Apache-2.0
//
// What iterators of users promise beside order: prefixes, what Refresh() shows, and targets of
// seeks.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// The prefix is what stands before the first dot; a key that begins with one has the empty prefix.
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

class DBIteratorTest : public testing::Test {
 protected:
  DBIteratorTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.prefix_extractor = std::make_shared<UpToDot>();
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }

  void Put(const std::string& key, const std::string& value = "v") {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
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

  std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
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

// A target outside of the extractor's domain has no prefix to stay in.
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
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
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

// The iterator lets go of the state it showed: nothing but the newest is pinned.
TEST_F(DBIteratorTest, RefreshLetsGoOfTheOldState) {
  Put("a.1", "old");
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  Put("a.1", "new");
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  uint64_t versions = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-live-versions", &versions));
  EXPECT_GT(versions, 1u);
  ASSERT_OK(it->Refresh());
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-live-versions", &versions));
  EXPECT_EQ(versions, 1u);
}

// The key that it shows goes with the view that the seek replaces: with a memtable first, then with
// blocks that no cache holds. What is long enough is not kept inside of a string.
TEST_F(DBIteratorTest, OneThatRefreshesItselfSeeksToTheKeyItShows) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.prefix_extractor.reset();
  options_.disable_auto_compactions = true;
  const auto key = [](int i) { return std::to_string(1000 + i) + std::string(200, 'k'); };
  for (const bool tails : {false, true}) {
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
    ASSERT_OK(DB::Open(options_, "/db", &db_));
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
        ASSERT_OK(db_->Flush(FlushOptions()));
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
