// SPDX-License-Identifier: Apache-2.0
//
// DeleteRange through the whole engine: random writes to two families, with snapshots, flushes,
// compactions and reopenings in between, are compared with a map for each snapshot.
#include "ashlar/filter_policy.h"
#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

class DeleteRangeTest : public DbTest {
 protected:
  DeleteRangeTest() {
    options_.disable_auto_compactions = true;
    options_.target_file_size_base = 2000;
    options_.compression = kNoCompression;
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.block_size = 100;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
  }

  void Open() { DbTest::Open({"default", "other"}); }
  void Close() {
    for (const Moment& moment : moments_) db_->ReleaseSnapshot(moment.snapshot);
    moments_.clear();
    DbTest::Close();
  }
  void TearDown() override {
    Close();
    DbTest::TearDown();
  }
  std::string Get(const std::string& key, const ReadOptions& read = {}, size_t family = 0) {
    std::string value;
    const Status status = db_->Get(read, handles_[family], key, &value);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    return status.ok() ? value : "";
  }

  // Reads everything by key, in a batch and by iterator in both directions.
  void CheckFamily(size_t family, const Rows& expected, const Snapshot* snapshot) {
    const ReadOptions read = AsOf(snapshot);
    std::vector<std::string> keys, values;
    for (uint64_t i = 0; i < kKeys; i++) keys.push_back(Key(i));
    const std::vector<ColumnFamilyHandle*> families(keys.size(), handles_[family]);
    const std::vector<Slice> slices(keys.begin(), keys.end());
    const std::vector<Status> statuses = db_->MultiGet(read, families, slices, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      const auto row = expected.find(keys[i]);
      const std::string want = row == expected.end() ? "" : row->second;
      ASSERT_EQ(Get(keys[i], read, family), want) << keys[i];
      ASSERT_EQ(statuses[i].ok() ? values[i] : "", want) << keys[i];
    }
    Rows backward;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, handles_[family]));
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      backward[it->key().ToString()] = it->value().ToString();
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(ReadRows(read, handles_[family]), expected);
    ASSERT_EQ(backward, expected);
  }
  void CheckAll() {
    for (size_t family = 0; family < 2; family++) {
      CheckFamily(family, now_[family], nullptr);
      for (const Moment& moment : moments_) {
        CheckFamily(family, moment.rows[family], moment.snapshot);
      }
    }
  }

  void WriteSomething(Random64* random) {
    WriteBatch batch;
    for (uint64_t n = 1 + random->Uniform(3); n > 0; n--) {
      const size_t family = random->Uniform(2);
      Rows& rows = now_[family];
      const std::string key = Key(random->Uniform(kKeys));
      if (random->OneIn(4)) {
        const std::string end = Key(random->Uniform(kKeys + 1));
        if (end < key) continue;
        ASSERT_OK(batch.DeleteRange(handles_[family], key, end));
        rows.erase(rows.lower_bound(key), rows.lower_bound(end));
      } else if (random->OneIn(5)) {
        ASSERT_OK(batch.Delete(handles_[family], key));
        rows.erase(key);
      } else {
        rows[key] = "v" + std::to_string(random->Uniform(1000));
        ASSERT_OK(batch.Put(handles_[family], key, rows[key]));
      }
    }
    Write(&batch);
  }
  void DoSomethingElse(Random64* random) {
    ColumnFamilyHandle* const handle = handles_[random->Uniform(2)];
    const std::string begin = Key(random->Uniform(kKeys)), end = Key(random->Uniform(kKeys));
    const Slice low(begin), high(end);
    switch (random->Uniform(6)) {
      case 0: Flush(handle); break;
      case 1: ASSERT_OK(db_->CompactRange(CompactRangeOptions(), handle, &low, &high)); break;
      case 2: Compact(handle); break;
      case 3: moments_.push_back({db_->GetSnapshot(), {now_[0], now_[1]}}); break;
      case 4:
        if (moments_.empty()) break;
        db_->ReleaseSnapshot(moments_.front().snapshot);
        moments_.erase(moments_.begin());
        break;
      default:
        if (!random->OneIn(3)) break;
        Close();
        Open();
    }
  }

  static constexpr uint64_t kKeys = 40;
  static std::string Key(uint64_t i) { return "key" + std::to_string(100 + i); }
  struct Moment {
    const Snapshot* snapshot;
    Rows rows[2];
  };

  Rows now_[2];
  std::vector<Moment> moments_;
};

TEST_F(DeleteRangeTest, HidesWhatIsOlderInAllPlaces) {
  for (uint64_t seed = 1; seed <= 25; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random64 random(seed);
    Close();
    options_.min_tombstones_for_range_conversion = static_cast<uint32_t>(seed % 3);
    Open();
    for (int step = 0; step < 120; step++) {
      WriteSomething(&random);
      if (random.OneIn(4)) DoSomethingElse(&random);
      if (random.OneIn(12)) CheckAll();
      if (HasFatalFailure()) return;
    }
    CheckAll();
    if (HasFatalFailure()) return;
  }
}

// An empty range takes a sequence number, because a batch stores how many it has; as in RocksDB.
TEST_F(DeleteRangeTest, OfAReversedRangeIsRefusedAndAnEmptyOneHidesNothing) {
  Put("b", "1");
  EXPECT_TRUE(db_->DeleteRange({}, "c", "a").IsInvalidArgument());
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  DeleteRange("b", "b");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
  EXPECT_EQ(Get("b"), "1");
}

TEST_F(DeleteRangeTest, ReadersMayIgnoreIt) {
  Put("b", "1");
  DeleteRange("a", "c");
  ReadOptions read;
  read.ignore_range_deletions = true;
  EXPECT_EQ(Get("b"), "");
  EXPECT_EQ(Get("b", read), "1");
  DeleteRange("x", "y");
  EXPECT_EQ(Get("b", read), "1");
}

TEST_F(DeleteRangeTest, AloneItIsFlushedAndFoundAgain) {
  Put("b", "1");
  Flush(handles_[0]);
  DeleteRange("a", "c");
  Flush(handles_[0]);
  EXPECT_EQ(Get("b"), "");
  Close();
  Open();
  EXPECT_EQ(Get("b"), "");
  Put("b", "2");
  EXPECT_EQ(Get("b"), "2");
  Compact(handles_[0]);
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(DeleteRangeTest, IsReplayedFromTheLog) {
  Put("b", "1");
  Put(handles_[1], "b", "other");
  DeleteRange("a", "c");
  Close();
  Open();
  EXPECT_EQ(Get("b"), "");
  EXPECT_EQ(Get("b", {}, 1), "other");
}

}  // namespace
}  // namespace ashlar
