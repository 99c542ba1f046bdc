// SPDX-License-Identifier: Apache-2.0
//
// Iterators over several families: the families of a key, which columns win, the order of keys, and
// refused calls.

#include <iterator>
#include <random>

#include "ashlar/comparator.h"
#include "tests/db/columns/columns_fixture.h"

namespace ashlar {
namespace {

class FamilyIteratorsTest : public ColumnsTest {
 protected:
  void Fill() {
    Put("a", "of first");
    PutEntity("b", {{"", "b1"}, {"x", "1"}, {"y", "1"}});
    PutEntity("b", {{"", "b2"}, {"y", "2"}, {"z", "2"}}, 1);
    PutEntity("c", {{"q", "9"}}, 1);
    Merge("d", "m");
    Put("d", "of other", 1);
  }
  static std::string Shown(const AttributeGroupIterator& it) {
    std::string text = it.key().ToString() + ":";
    for (const IteratorAttributeGroup& group : it.attribute_groups()) {
      StrAppend(&text, group.column_family()->GetName(), "{", Text(group.columns()), "}");
    }
    return text + " ";
  }
};

TEST_F(FamilyIteratorsTest, LaterFamiliesWin) {
  Fill();
  Everywhere([this] {
    auto it = db_->NewCoalescingIterator(ReadOptions(), handles_);
    EXPECT_EQ(Scan(it.get()),
              "a:of first{=of first } b:b2{=b2 x=1 y=2 z=2 } c:{q=9 } d:of other{=of other } ");
    it = db_->NewCoalescingIterator(ReadOptions(), {handles_[1], handles_[0]});
    EXPECT_EQ(Scan(it.get()),
              "a:of first{=of first } b:b1{=b1 x=1 y=1 z=2 } c:{q=9 } d:-.m{=-.m } ");
  });
}

TEST_F(FamilyIteratorsTest, GroupsStayApart) {
  Fill();
  Everywhere([this] {
    const auto it = db_->NewAttributeGroupIterator(ReadOptions(), handles_);
    std::string forward, backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward += Shown(*it);
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward = Shown(*it) + backward;
    EXPECT_OK(it->status());
    EXPECT_EQ(forward, backward);
    EXPECT_EQ(forward,
              "a:default{=of first } b:default{=b1 x=1 y=1 }other{=b2 y=2 z=2 } c:other{q=9 } "
              "d:default{=-.m }other{=of other } ");
    EXPECT_TRUE(it->attribute_groups().empty());
  });
}

// The target of the seek is owned by one of the inner iterators, which the seek moves first.
TEST_F(FamilyIteratorsTest, TheyMaySeekToTheKeyTheyShow) {
  for (int i = 0; i < 200; i++) {
    Put(StrCat("key", 1000 + i, std::string(100, 'k')), "v", i % 2);
  }
  Everywhere([this] {
    ReadOptions uncached;
    uncached.fill_cache = false;
    const auto it = db_->NewCoalescingIterator(uncached, handles_);
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), count++) {
      const std::string shown = it->key().ToString();
      it->Seek(it->key());
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key(), Slice(shown));
      it->SeekForPrev(it->key());
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key(), Slice(shown));
    }
    EXPECT_OK(it->status());
    EXPECT_EQ(count, 200);
  });
}

TEST_F(FamilyIteratorsTest, ValuesWaitUntilTheyArePrepared) {
  Fill();
  ReadOptions options;
  options.allow_unprepared_value = true;
  const auto it = db_->NewCoalescingIterator(options, handles_);
  it->Seek("b");
  ASSERT_TRUE(it->Valid());
  EXPECT_TRUE(it->columns().empty());
  ASSERT_TRUE(it->PrepareValue());
  EXPECT_EQ(Text(it->columns()), "=b2 x=1 y=2 z=2 ");
  const auto groups = db_->NewAttributeGroupIterator(options, handles_);
  groups->SeekForPrev("bb");
  ASSERT_TRUE(groups->Valid());
  EXPECT_TRUE(groups->attribute_groups().empty());
  ASSERT_TRUE(groups->PrepareValue());
  EXPECT_EQ(Shown(*groups), "b:default{=b1 x=1 y=1 }other{=b2 y=2 z=2 } ");
}

TEST_F(FamilyIteratorsTest, TheyShowOneMoment) {
  Fill();
  const Snapshot* const before = db_->GetSnapshot();
  const auto now = db_->NewCoalescingIterator(ReadOptions(), handles_);
  Put("a", "later", 1);
  PutEntity("aa", {{"n", "later"}});
  Flush();
  now->SeekToFirst();
  EXPECT_EQ(now->value(), Slice("of first"));
  now->Next();
  EXPECT_EQ(now->key(), Slice("b"));
  const auto then = db_->NewCoalescingIterator(AsOf(before), handles_);
  then->SeekToFirst();
  EXPECT_EQ(then->value(), Slice("of first"));
  db_->ReleaseSnapshot(before);
}

// The seek that turns them around sees the newest state.
TEST_F(FamilyIteratorsTest, TailingOnesSkipNoKeyWhereTheShownOneIsDeletedBeforeATurn) {
  ReadOptions tailing;
  tailing.tailing = true;
  for (const bool is_forward : {true, false}) {
    SCOPED_TRACE(is_forward);
    for (const char* key : {"a", "b", "c"}) Put(key, "v");
    Put("d", "v", 1);
    const auto it = db_->NewCoalescingIterator(tailing, handles_);
    is_forward ? it->SeekForPrev("b") : it->Seek("b");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "b");
    Delete("b");
    is_forward ? it->Next() : it->Prev();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), is_forward ? "c" : "a");
  }
}

// Each Next() that comes to the end of all families sees the newest state of all of them.
TEST_F(FamilyIteratorsTest, TailingOnesShowNewRowsOfAFamilyThatHadEnded) {
  ReadOptions tailing;
  tailing.tailing = true;
  Put("a", "v");
  Put("b", "v");
  const auto it = db_->NewCoalescingIterator(tailing, handles_);
  it->SeekToFirst();
  it->Next();
  ASSERT_TRUE(it->Valid());
  ASSERT_EQ(it->key(), "b");
  Put("b", "shown already", 1);
  Put("c", "of other", 1);
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(ColumnsTest::Shown(*it), "c:of other{=of other } ");
  Put("d", "of first");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(ColumnsTest::Shown(*it), "d:of first{=of first } ");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

TEST_F(FamilyIteratorsTest, PinnedEntriesStay) {
  Fill();
  Flush();
  ReadOptions pins;
  pins.pin_data = true;
  const auto it = db_->NewCoalescingIterator(pins, handles_);
  std::vector<Slice> values;
  WideColumns columns;
  std::string shown;
  // Backwards, each iterator of a family overwrites what it has shown.
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    std::string key_pinned, value_pinned;
    ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &key_pinned));
    ASSERT_OK(it->GetProperty("rocksdb.iterator.is-value-pinned", &value_pinned));
    EXPECT_EQ(key_pinned + value_pinned, "11");
    StrAppend(&shown, Text(it->columns()), it->value().ToString(), " ");
    values.push_back(it->value());
    columns.insert(columns.end(), it->columns().begin(), it->columns().end());
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(shown, "=of other of other q=9  =b2 x=1 y=2 z=2 b2 =of first of first ");
  EXPECT_EQ(Text(columns), "=of other q=9 =b2 x=1 y=2 z=2 =of first ");
  EXPECT_EQ(values, (std::vector<Slice>{"of other", "", "b2", "of first"}));
  EXPECT_TRUE(it->GetProperty("rocksdb.iterator.is-key-pinned", nullptr).IsInvalidArgument());
}

TEST_F(FamilyIteratorsTest, RefusalsAreTheIteratorsStatus) {
  EXPECT_TRUE(db_->NewCoalescingIterator(ReadOptions(), {})->status().IsInvalidArgument());
  EXPECT_TRUE(db_->NewAttributeGroupIterator(ReadOptions(), {})->status().IsInvalidArgument());
  EXPECT_TRUE(db_->NewCoalescingIterator(ReadOptions(), {nullptr})->status().IsInvalidArgument());
  ColumnFamilyOptions reverse(options_);
  reverse.comparator = ReverseBytewiseComparator();
  ColumnFamilyHandle* const handle = CreateFamily("reverse", reverse);
  const auto it = db_->NewCoalescingIterator(ReadOptions(), {handles_[0], handle});
  EXPECT_TRUE(it->status().IsInvalidArgument());
  EXPECT_NE(it->status().ToString().find("reverse"), std::string::npos);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
}

// Random steps over three families, compared with a map.
TEST_F(FamilyIteratorsTest, RandomWalks) {
  ColumnFamilyHandle* const third = CreateFamily("third");
  std::vector<ColumnFamilyHandle*> families{handles_[0], third, handles_[1]};
  std::mt19937 random(301);
  using Rows = std::map<std::string, std::map<std::string, std::string>>;
  Rows model;
  for (size_t family = 0; family < families.size(); family++) {
    Rows rows;
    for (int i = 0; i < 25; i++) {
      const std::string key(1, static_cast<char>('a' + random() % 26));
      const std::string name(1, static_cast<char>('r' + random() % 3));
      const std::string value = StrCat(family, ".", i);
      if (random() % 3 == 0) {
        DbTest::Put(families[family], key, value);
        rows[key] = {{"", value}};
      } else {
        ASSERT_OK(
            db_->PutEntity(WriteOptions(), families[family], key, {{name, value}, {"", value}}));
        rows[key] = {{"", value}, {name, value}};
      }
    }
    for (const auto& [key, columns] : rows) {
      for (const auto& [name, value] : columns) model[key][name] = value;
    }
  }
  const auto it = db_->NewCoalescingIterator(ReadOptions(), families);
  auto at = model.end();
  for (int step = 0; step < 3000; step++) {
    const std::string target(1, static_cast<char>('a' + random() % 26));
    const size_t kind = at == model.end() ? random() % 4 : random() % 8;
    if (kind == 0) {
      it->SeekToFirst();
      at = model.begin();
    } else if (kind == 1) {
      it->SeekToLast();
      at = std::prev(model.end());
    } else if (kind == 2) {
      it->Seek(target);
      at = model.lower_bound(target);
    } else if (kind == 3) {
      it->SeekForPrev(target);
      at = model.upper_bound(target);
      at = at == model.begin() ? model.end() : std::prev(at);
    } else if (kind < 6) {
      it->Next();
      ++at;
    } else {
      it->Prev();
      at = at == model.begin() ? model.end() : std::prev(at);
    }
    ASSERT_EQ(it->Valid(), at != model.end()) << "step " << step;
    if (!it->Valid()) continue;
    ASSERT_EQ(it->key().ToString(), at->first) << "step " << step;
    std::string expected;
    for (const auto& [name, value] : at->second) expected += StrCat(name, "=", value, " ");
    ASSERT_EQ(Text(it->columns()), expected) << "step " << step;
  }
}

}  // namespace
}  // namespace ashlar
