// SPDX-License-Identifier: Apache-2.0
//
// A family with timestamps against a model: a list of all versions ever written. Reads at random
// timestamps and snapshots, point reads and iterators in both directions, must agree with it after
// every flush, compaction, reopening, rise of full_history_ts_low, and trimming of the newest
// versions.
#include <algorithm>
#include <map>
#include <optional>

#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/wide_columns.h"
#include "tests/db/stamps/stamped_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

enum class Kind : uint8_t { kPut, kDelete, kSingleDelete, kMerge };

struct ModelVersion {
  std::string key;
  uint64_t ts;
  SequenceNumber seqno;
  Kind kind;
  std::string value;
};

struct ModelRange {
  std::string begin, end;
  uint64_t ts;
  SequenceNumber seqno;
};

class Appender : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    *result = (existing == nullptr ? "" : existing->ToString() + ",") + value.ToString();
    return true;
  }
  const char* Name() const override { return "Appender"; }
};

// In which order timestamps are written.
enum class Order : uint8_t {
  kAscending,  // as RocksDB demands
  kAny,        // each write has a random one
};

struct ModelCase {
  std::string name;
  Order order;
  bool is_reverse;
  bool compacts_by_itself;
};

class StampedModelTest : public DbTest, public testing::WithParamInterface<ModelCase> {
 protected:
  StampedModelTest() {
    options_.comparator = GetParam().is_reverse ? ReverseBytewiseComparatorWithU64Ts()
                                                : BytewiseComparatorWithU64Ts();
    options_.disable_auto_compactions = !GetParam().compacts_by_itself;
    options_.merge_operator = std::make_shared<Appender>();
    options_.target_file_size_base = 3000;
    options_.max_bytes_for_level_base = 10'000;
    options_.write_buffer_size = 64 << 10;
    options_.level0_file_num_compaction_trigger = 3;
    options_.compression = kNoCompression;
    BlockBasedTableOptions table;
    table.block_size = 120;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.partition_filters = GetParam().is_reverse;
    if (table.partition_filters) {
      table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table.metadata_block_size = 100;
    }
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
  }
  void TearDown() override {
    ReleaseAll();
    DbTest::TearDown();
  }
  void ReleaseAll() {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }

  // Short keys, among them the empty one and some that look like timestamps.
  static std::string KeyOf(uint64_t i) {
    if (i == 0) return "";
    if (i % 5 == 1) return Stamp(i);
    return std::string(1 + i % 4, static_cast<char>('a' + i % 7)) + std::to_string(i % 3);
  }
  uint64_t NextStamp() {
    if (GetParam().order == Order::kAscending) return clock_ += random_.Uniform(3) == 0 ? 1 : 0;
    clock_++;
    return low_ + random_.Uniform(clock_ < low_ + 30 ? 30 : clock_ - low_);
  }
  bool IsBefore(const std::string& a, const std::string& b) const {
    return GetParam().is_reverse ? b < a : a < b;
  }

  void WriteSomething() {
    const std::string key = KeyOf(random_.Uniform(kKeys));
    const uint64_t ts = NextStamp();
    const std::string value = "v" + std::to_string(versions_.size());
    const std::string stamp = Stamp(ts);
    const WriteOptions write;
    ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    switch (random_.Uniform(12)) {
      case 0: {
        std::string begin = key, end = KeyOf(random_.Uniform(kKeys));
        if (IsBefore(end, begin)) begin.swap(end);
        ASSERT_OK(db_->DeleteRange(write, family, begin, end, stamp));
        ranges_.push_back({begin, end, ts, db_->GetLatestSequenceNumber()});
        return;
      }
      case 1:
      case 2:
        ASSERT_OK(db_->Delete(write, key, stamp));
        versions_.push_back({key, ts, db_->GetLatestSequenceNumber(), Kind::kDelete, ""});
        return;
      case 3:
      case 4:
        ASSERT_OK(db_->Merge(write, family, key, stamp, value));
        versions_.push_back({key, ts, db_->GetLatestSequenceNumber(), Kind::kMerge, value});
        return;
      default:
        ASSERT_OK(db_->Put(write, key, stamp, value));
        versions_.push_back({key, ts, db_->GetLatestSequenceNumber(), Kind::kPut, value});
    }
  }

  bool IsHidden(const ModelVersion& version, uint64_t ts, SequenceNumber seqno) const {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const ModelRange& range) {
      return range.ts <= ts && range.seqno <= seqno && range.seqno > version.seqno &&
             !IsBefore(version.key, range.begin) && IsBefore(version.key, range.end);
    });
  }

  // What a reader finds, by key: the value and the timestamp of the newest version.
  using Content = std::map<std::string, std::pair<std::string, uint64_t>>;
  Content Expected(uint64_t ts, SequenceNumber seqno) const {
    std::map<std::string, std::vector<const ModelVersion*>> seen;
    for (const ModelVersion& version : versions_) {
      if (version.ts <= ts && version.seqno <= seqno && !IsHidden(version, ts, seqno)) {
        seen[version.key].push_back(&version);
      }
    }
    Content content;
    for (auto& [key, versions] : seen) {
      std::sort(versions.begin(), versions.end(), [](const ModelVersion* a, const ModelVersion* b) {
        return a->ts != b->ts ? a->ts > b->ts : a->seqno > b->seqno;
      });
      std::vector<std::string> operands;
      std::optional<std::string> base;
      for (const ModelVersion* version : versions) {
        if (version->kind == Kind::kMerge) {
          operands.push_back(version->value);
          continue;
        }
        if (version->kind == Kind::kPut) base = version->value;
        break;
      }
      if (operands.empty() && !base.has_value()) continue;
      std::string text = base.value_or("");
      for (size_t i = operands.size(); i-- > 0;) {
        text += (i + 1 == operands.size() && !base.has_value() ? "" : ",") + operands[i];
      }
      content[key] = {text, versions.front()->ts};
    }
    return content;
  }

  void Check(uint64_t ts, const Snapshot* snapshot) {
    const SequenceNumber seqno = snapshot == nullptr ? kMaxSeqno : snapshot->GetSequenceNumber();
    const Content expected = Expected(ts, seqno);
    const ReadAt read(ts, snapshot);
    const std::string at = " at " + std::to_string(ts) + ", " + std::to_string(seqno) + ", low " +
                           std::to_string(low_);
    for (const bool is_forward : {true, false}) {
      Content found;
      const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
      for (is_forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
           is_forward ? it->Next() : it->Prev()) {
        found[it->key().ToString()] = {it->value().ToString(), NumberOf(it->timestamp())};
      }
      ASSERT_OK(it->status());
      for (auto& [key, row] : found) row.second = ComparableStamp(row.second);
      Content comparable = expected;
      for (auto& [key, row] : comparable) row.second = ComparableStamp(row.second);
      ASSERT_EQ(found, comparable) << (is_forward ? "forwards" : "backwards") << at;
    }
    for (uint64_t i = 0; i < kKeys; i++) {
      std::string value;
      const Status status = db_->Get(read.options, KeyOf(i), &value);
      const auto row = expected.find(KeyOf(i));
      ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
      ASSERT_EQ(status.ok() ? value : "(none)",
                row == expected.end() ? "(none)" : row->second.first)
          << KeyOf(i) << at;
      ASSERT_EQ(OperandsOf(KeyOf(i), read.options),
                row == expected.end() ? "(none)" : row->second.first)
          << KeyOf(i) << at;
    }
    CheckEntities(expected, read.options, at);
  }
  // The value below the operands and the operands, as the operator would merge them.
  std::string OperandsOf(const std::string& key, const ReadOptions& read) {
    constexpr int kMost = 100;
    std::vector<PinnableSlice> operands(kMost);
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = kMost;
    int count = 0;
    const Status status = db_->GetMergeOperands(read, db_->DefaultColumnFamily(), key,
                                                operands.data(), &options, &count);
    if (status.IsNotFound()) return "(none)";
    EXPECT_OK(status);
    std::string text;
    for (int i = 0; i < count; i++) text += (i == 0 ? "" : ",") + operands[i].ToString();
    return text;
  }
  // By one call for all keys.
  void CheckEntities(const Content& expected, const ReadOptions& read, const std::string& at) {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kKeys; i++) keys.push_back(KeyOf(i));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableWideColumns> found(kKeys);
    std::vector<Status> statuses(kKeys);
    db_->MultiGetEntity(read, db_->DefaultColumnFamily(), kKeys, slices.data(), found.data(),
                        statuses.data());
    for (uint64_t i = 0; i < kKeys; i++) {
      const auto row = expected.find(keys[i]);
      ASSERT_EQ(statuses[i].IsNotFound(), row == expected.end()) << keys[i] << at;
      if (row == expected.end()) continue;
      ASSERT_OK(statuses[i]);
      ASSERT_EQ(found[i].columns(), (WideColumns{{kDefaultWideColumnName, row->second.first}}))
          << keys[i] << at;
    }
  }
  // A compaction may clear the timestamp of a version that is older than the limit.
  uint64_t ComparableStamp(uint64_t ts) const { return ts < low_ ? 0 : ts; }

  void CheckSomewhere() {
    for (int i = 0; i < 4; i++) {
      const uint64_t ts = low_ + random_.Uniform(clock_ + 3 > low_ ? clock_ + 3 - low_ : 1);
      const bool is_old = !snapshots_.empty() && random_.OneIn(2);
      Check(ts, is_old ? snapshots_[random_.Uniform(snapshots_.size())] : nullptr);
      if (HasFatalFailure()) return;
    }
  }

  // With timestamps in any order, a version below the limit may be written behind one that a
  // compaction has cleared or a tombstone that it has dropped; so the limit rises only where all
  // versions are merged at once.
  void RaiseLow() {
    low_ = std::max(low_, low_ + random_.Uniform(clock_ > low_ ? clock_ - low_ + 1 : 1));
    ASSERT_OK(db_->IncreaseFullHistoryTsLow(nullptr, Stamp(low_)));
    if (GetParam().order == Order::kAny) Compact();
  }

  // Removes everything that is newer than some timestamp.
  void Trim() {
    ReleaseAll();
    Close();
    const uint64_t limit = low_ + random_.Uniform(clock_ > low_ ? clock_ - low_ + 1 : 1);
    ASSERT_OK(DB::OpenAndTrimHistory(options_, dir_, {{kDefaultColumnFamilyName, options_}},
                                     &handles_, &db_, Stamp(limit)));
    std::erase_if(versions_, [limit](const ModelVersion& version) { return version.ts > limit; });
    std::erase_if(ranges_, [limit](const ModelRange& range) { return range.ts > limit; });
  }

  static constexpr uint64_t kKeys = 24;
  static constexpr SequenceNumber kMaxSeqno = (uint64_t{1} << 56) - 1;
  Random64 random_{301};
  uint64_t clock_ = 10;
  uint64_t low_ = 0;
  std::vector<ModelVersion> versions_;
  std::vector<ModelRange> ranges_;
  std::vector<const Snapshot*> snapshots_;
};

TEST_P(StampedModelTest, ReadsAtOrAboveTheLimitNeverChange) {
  for (int round = 0; round < 120; round++) {
    for (uint64_t n = random_.Uniform(12); n > 0; n--) WriteSomething();
    if (random_.OneIn(4)) snapshots_.push_back(db_->GetSnapshot());
    if (!snapshots_.empty() && random_.OneIn(6)) {
      db_->ReleaseSnapshot(snapshots_.front());
      snapshots_.erase(snapshots_.begin());
    }
    switch (random_.Uniform(8)) {
      case 0:
      case 1: Flush(); break;
      case 2: Compact(); break;
      case 3: RaiseLow(); break;
      case 4:
        ReleaseAll();
        Reopen();
        break;
      case 5:
        CompactAndRewrite();
        if (random_.OneIn(3)) Trim();
        break;
      default: break;
    }
    if (HasFatalFailure()) return;
    ASSERT_OK(db_->VerifyChecksum()) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(CheckSomewhere()) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(All, StampedModelTest,
                         testing::Values(ModelCase{"ascending", Order::kAscending, false, false},
                                         ModelCase{"ascending_reverse", Order::kAscending, true,
                                                   true},
                                         ModelCase{"any", Order::kAny, false, false},
                                         ModelCase{"any_reverse", Order::kAny, true, false}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ashlar
