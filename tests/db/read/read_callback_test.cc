// SPDX-License-Identifier: Apache-2.0
//
#include "util/keys/read_callback.h"
// Reads whose visibility a callback decides: Get, MultiGet and iterators in both directions, in
// memory and in tables, over puts, tombstones of both kinds and merge operands.
#include "util/keys/read_callback.h"

#include <random>
#include <set>

#include "db/db_impl.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Sees all sequence numbers below a limit, and of those up to the bound only the given ones.
class Chosen final : public ReadCallback {
 public:
  Chosen(SequenceNumber all_below, SequenceNumber bound, std::set<SequenceNumber> more)
      : ReadCallback(all_below, bound), all_below_(all_below), more_(std::move(more)) {}
  bool Sees(SequenceNumber seqno) const {
    return seqno < all_below_ || (seqno <= bound() && more_.contains(seqno));
  }

 private:
  bool IsCommitted(SequenceNumber seqno) const override { return more_.contains(seqno); }

  const SequenceNumber all_below_;
  const std::set<SequenceNumber> more_;
};

struct Version {
  SequenceNumber seqno;
  char kind;  // put, delete, merge
  std::string text;
};

class ReadCallbackTest : public DbTest {
 protected:
  void Open(uint64_t max_sequential_skip) {
    UseFiles(std::make_shared<MemoryFileSystem>());
    options_.disable_auto_compactions = true;
    options_.max_sequential_skip_in_iterations = max_sequential_skip;
    options_.merge_operator = NewStringAppendOperator(",");
    DbTest::Open();
  }
  void TearDown() override {
    Close();
    DbTest::TearDown();
  }
  void Close() {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
    versions_.clear();
    DbTest::Close();
  }
  DBImpl* impl() { return static_cast<DBImpl*>(db_.get()); }

  void Write(std::mt19937* random) {
    const std::string key(1, static_cast<char>('a' + (*random)() % 4));
    const std::string text = std::to_string(versions_.size());
    const char kind = "pppmmmmdrr"[(*random)() % 10];
    if (kind == 'r') return DeleteRange(key[0], static_cast<char>(key[0] + 1 + (*random)() % 3));
    const Status status = kind == 'p'   ? db_->Put(WriteOptions(), key, text)
                          : kind == 'm' ? db_->Merge(WriteOptions(), key, text)
                                        : db_->Delete(WriteOptions(), key);
    ASSERT_OK(status);
    versions_[key].push_back({db_->GetLatestSequenceNumber(), kind, text});
    snapshots_.push_back(db_->GetSnapshot());
  }

  void DeleteRange(char begin, char end) {
    DbTest::DeleteRange(std::string(1, begin), std::string(1, end));
    for (char key = begin; key < end; key++) {
      versions_[std::string(1, key)].push_back({db_->GetLatestSequenceNumber(), 'd', ""});
    }
    snapshots_.push_back(db_->GetSnapshot());
  }

  std::string Expected(const std::string& key, const Chosen& callback) {
    std::string value = "none";
    for (const Version& version : versions_[key]) {
      if (!callback.Sees(version.seqno)) continue;
      const bool joins = version.kind == 'm' && value != "none";
      value = version.kind == 'd' ? "none" : joins ? value + "," + version.text : version.text;
    }
    return value;
  }

  void Check(const Chosen& callback) {
    std::string rows;
    std::vector<Slice> keys{"a", "b", "c", "d", "nope"};
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    std::vector<ColumnFamilyHandle*> handles(keys.size(), db_->DefaultColumnFamily());
    impl()->MultiGetAs(callback, ReadOptions(), keys.size(), handles.data(), keys.data(),
                       values.data(), statuses.data());
    for (size_t i = 0; i < keys.size(); i++) {
      const std::string expected = Expected(keys[i].ToString(), callback);
      PinnableSlice value;
      const Status status =
          impl()->GetAs(callback, ReadOptions(), db_->DefaultColumnFamily(), keys[i], &value);
      EXPECT_EQ(status.ok() ? value.ToString() : "none", expected) << keys[i].ToString();
      EXPECT_EQ(statuses[i].ok() ? values[i].ToString() : "none", expected) << keys[i].ToString();
      if (expected != "none") StrAppend(&rows, keys[i].ToString(), "=", expected, " ");
    }
    std::unique_ptr<Iterator> it(
        impl()->NewIteratorAs(callback, ReadOptions(), db_->DefaultColumnFamily()));
    std::string forward, backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) StrAppend(&forward, RowAt(*it), " ");
    EXPECT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward = StrCat(RowAt(*it), " ", backward);
    EXPECT_OK(it->status());
    EXPECT_EQ(forward, rows);
    EXPECT_EQ(backward, rows);
  }

  std::vector<const Snapshot*>
      snapshots_;  // one after each write, so that flushes keep every version
  std::map<std::string, std::vector<Version>> versions_;
};

}  // namespace

TEST(ReadCallback, AsksOnlyAboutWhatIsInBetween) {
  const Chosen callback(10, 20, {5, 12, 25});
  EXPECT_TRUE(callback.IsVisible(9)) << "below the limit the callback is not called";
  EXPECT_FALSE(callback.IsVisible(10));
  EXPECT_TRUE(callback.IsVisible(12));
  EXPECT_FALSE(callback.IsVisible(20));
  EXPECT_FALSE(callback.IsVisible(25)) << "beyond the bound the callback is not called";
}

TEST_F(ReadCallbackTest, DecidesAllReads) {
  std::mt19937 random(7);
  for (const uint64_t max_sequential_skip : {0, 1, 8}) {
    Open(max_sequential_skip);
    for (int i = 0; i < 120; i++) {
      Write(&random);
      if (i == 40 || i == 80) Flush();
      if (i % 3 != 0) continue;
      const SequenceNumber newest = db_->GetLatestSequenceNumber();
      const SequenceNumber all_below = random() % (newest + 1);
      const SequenceNumber bound = all_below + random() % (newest - all_below + 2);
      std::set<SequenceNumber> more;
      for (SequenceNumber seqno = 1; seqno <= newest; seqno++) {
        if (random() % 3 == 0) more.insert(seqno);
      }
      Check(Chosen(all_below, bound, more));
      Check(Chosen(0, newest, {}));
      Check(Chosen(newest + 1, newest, {}));
      if (HasFailure()) return;
    }
    Close();
  }
}

// The newest visible tombstone counts, not the newest one: in the active memtable, in tables of two
// levels, and where two tombstones have the same range.
TEST_F(ReadCallbackTest, ATombstoneThatIsRefusedCoversNothing) {
  Open(/*max_sequential_skip=*/8);
  Put("a", "0");
  versions_["a"].push_back({1, 'p', "0"});
  Put("b", "1");
  versions_["b"].push_back({2, 'p', "1"});
  snapshots_.push_back(db_->GetSnapshot());
  DeleteRange('a', 'c');  // 3
  Put("b", "2");
  versions_["b"].push_back({4, 'p', "2"});
  snapshots_.push_back(db_->GetSnapshot());
  DeleteRange('a', 'c');  // 5
  for (int place = 0; place < 3; place++) {
    if (place == 1) {
      Flush();
    } else if (place == 2) {
      Compact();
    }
    Check(Chosen(1, 5, {1, 2, 4}));     // neither tombstone is visible
    Check(Chosen(1, 5, {1, 2, 3, 4}));  // the older one
    Check(Chosen(1, 5, {1, 2, 4, 5}));  // the newer one
    Check(Chosen(1, 5, {1, 2, 5}));
    Check(Chosen(1, 4, {1, 2, 3, 5}));  // the newer one is beyond the bound
    Check(Chosen(6, 5, {}));
  }
}

// A scan of everything may have made one range tombstone of tombstones that the callback refuses.
TEST_F(ReadCallbackTest, FamiliesThatConvertTombstonesAreRefused) {
  env_.reset(NewMemEnv(Env::Default()));
  Options options;
  options.env = env_.get();
  options.create_if_missing = true;
  options.min_tombstones_for_range_conversion = 2;
  ASSERT_OK(DB::Open(options, "/db", &db_));
  const Chosen callback(1, 5, {});
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  PinnableSlice value;
  EXPECT_TRUE(impl()->GetAs(callback, ReadOptions(), family, "a", &value).IsNotSupported());
  const Slice keys[] = {"a", "b"};
  ColumnFamilyHandle* families[] = {family, family};
  PinnableSlice values[2];
  Status statuses[2];
  impl()->MultiGetAs(callback, ReadOptions(), 2, families, keys, values, statuses);
  EXPECT_TRUE(statuses[0].IsNotSupported() && statuses[1].IsNotSupported());
  const std::unique_ptr<Iterator> it(impl()->NewIteratorAs(callback, ReadOptions(), family));
  EXPECT_TRUE(it->status().IsNotSupported());
}

}  // namespace ashlar
