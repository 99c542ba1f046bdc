// SPDX-License-Identifier: Apache-2.0
//
// Random merges, puts, deletes and range deletes of few keys in two families, with snapshots, with
// and without a row cache, with flushes, compactions of random ranges, checkpoints and reopenings,
// compared with a list of all versions.
#include <optional>
#include <random>

#include "ashlar/cache.h"
#include "ashlar/merge_operator.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr const char* kFails = "!";

// Joins with dots. An operand "!" fails, but does not fail compactions.
class PlainJoiner : public MergeOperator {
 public:
  explicit PlainJoiner(bool merges_partially) : merges_partially_(merges_partially) {}
  const char* Name() const override { return "PlainJoiner"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    out->op_failure_scope = OpFailureScope::kMustMerge;
    std::string joined = in.existing_value == nullptr ? "" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) {
      if (operand == Slice(kFails)) return false;
      joined += "." + operand.ToString();
    }
    out->new_value = joined;
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* joined,
                    Logger*) const override {
    if (!merges_partially_ || left == Slice(kFails) || right == Slice(kFails)) return false;
    *joined = StrCat(left.ToString(), ".", right.ToString());
    return true;
  }

 private:
  const bool merges_partially_;
};

// Returns one of its inputs, the newest operand.
class Newest : public MergeOperator {
 public:
  const char* Name() const override { return "Newest"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    out->op_failure_scope = OpFailureScope::kMustMerge;
    if (in.operand_list.back() == Slice(kFails)) return false;
    out->existing_operand = in.operand_list.back();
    return true;
  }
};

struct Version {
  uint64_t moment;
  char kind;  // put, delete, merge
  std::string text;
};

class RandomMerges : private TestDb {
 public:
  explicit RandomMerges(uint64_t seed) : random_(seed) {
    options_.disable_auto_compactions = Draw(2) == 0;
    options_.level0_file_num_compaction_trigger = 2;
    options_.target_file_size_base = 1024;
    options_.compression = kNoCompression;
    options_.max_sequential_skip_in_iterations = Draw(3) * 2;
    options_.max_successive_merges = Draw(3) == 0 ? 2 : 0;
    options_.strict_max_successive_merges = Draw(2) == 0;
    options_.min_tombstones_for_range_conversion = static_cast<uint32_t>(Draw(3));
    if (Draw(2) == 0) options_.row_cache = NewLRUCache(1 << 20);
    const bool merges_partially = Draw(2) == 0;
    joiner_ = std::make_shared<PlainJoiner>(merges_partially);
    OpenBoth();
  }
  ~RandomMerges() { CloseBoth(); }

  void Run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); i++) {
      Step();
      if (i % 4 == 0) CheckAll();
    }
    CheckAll();
  }

 private:
  using Keys = std::map<std::string, std::vector<Version>>;
  struct Moment {
    uint64_t number;
    const Snapshot* snapshot;  // null: now
  };

  size_t Draw(size_t below) { return random_() % below; }
  std::string Key() { return std::string(1, static_cast<char>('a' + Draw(6))); }

  void OpenBoth() {
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, options_},
                                                 {"newest", options_}};
    families[0].options.merge_operator = joiner_;
    families[1].options.merge_operator = std::make_shared<Newest>();
    OpenWith(families);
  }
  void CloseBoth() {
    for (const Moment& moment : snapshots_) db_->ReleaseSnapshot(moment.snapshot);
    snapshots_.clear();
    Close();
  }

  void AddTo(WriteBatch* batch) {
    const size_t family = Draw(2);
    const std::string key = Key();
    Version version{moment_, 'm', std::to_string(++last_text_)};
    const size_t kind = Draw(11);
    if (kind == 10) return DeleteRange(family, key, batch);
    if (kind == 0) {
      version.kind = 'd';
      ASSERT_OK(batch->Delete(handles_[family], key));
    } else if (kind == 1) {
      version.kind = 'p';
      ASSERT_OK(batch->Put(handles_[family], key, version.text));
    } else {
      if (Draw(12) == 0) version.text.append(1500, 'x');
      if (key >= "e" && Draw(4) == 0) version.text = kFails;
      ASSERT_OK(batch->Merge(handles_[family], key, version.text));
    }
    keys_[family][key].push_back(version);
  }

  void DeleteRange(size_t family, const std::string& begin, WriteBatch* batch) {
    const std::string end(1, static_cast<char>(begin[0] + Draw(4)));  // perhaps empty
    ASSERT_OK(batch->DeleteRange(handles_[family], begin, end));
    for (std::string key = begin; key < end; key[0]++) {
      keys_[family][key].push_back({moment_, 'd', ""});
    }
  }

  void WriteSome() {
    moment_++;
    WriteBatch batch;
    for (size_t n = Draw(4) == 0 ? 3 : 1; n > 0; n--) AddTo(&batch);
    Write(&batch);
  }

  void Step() {
    const size_t choice = Draw(40);
    ColumnFamilyHandle* const handle = handles_[Draw(2)];
    if (choice == 0) {
      CloseBoth();
      OpenBoth();
    } else if (choice == 9) {
      CheckCheckpoint();
    } else if (choice <= 2) {
      Flush(handle);
    } else if (choice <= 4) {
      const std::string a = Key(), b = Key();
      const Slice begin = std::min(a, b), end = std::max(a, b);
      CompactRangeOptions compact;
      if (Draw(2) == 0) compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      ASSERT_OK(db_->CompactRange(compact, handle, &begin, &end));
    } else if (choice <= 6 && snapshots_.size() < 3) {
      snapshots_.push_back({moment_, db_->GetSnapshot()});
    } else if (choice <= 8 && !snapshots_.empty()) {
      const size_t victim = Draw(snapshots_.size());
      db_->ReleaseSnapshot(snapshots_[victim].snapshot);
      snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(victim));
    } else {
      WriteSome();
    }
  }

  // A copy of the files has the same rows when it is opened.
  void CheckCheckpoint() {
    const std::string path = StrCat("/copy", ++checkpoints_), original_dir = dir_;
    Checkpoint* created = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &created));
    const std::unique_ptr<Checkpoint> checkpoint(created);
    ASSERT_OK(checkpoint->CreateCheckpoint(path));
    db_.swap(original_);
    handles_.swap(original_handles_);
    dir_ = path;
    OpenBoth();
    for (size_t family = 0; family < 2; family++) {
      CheckPoints(family, {moment_, nullptr});
      CheckScans(family, {moment_, nullptr});
    }
    Close();
    dir_ = original_dir;
    db_.swap(original_);
    handles_.swap(original_handles_);
  }

  // No value: there is no such key; "!": the merge operator fails.
  std::optional<std::string> Expected(size_t family, const std::string& key, uint64_t moment) {
    std::optional<std::string> value;
    bool fails = false;
    for (const Version& version : keys_[family][key]) {
      if (version.moment > moment) break;
      const bool is_failure = version.kind == 'm' && version.text == kFails;
      if (version.kind == 'd') value.reset();
      if (version.kind == 'p') value = version.text;
      if (version.kind == 'm') {
        value = family == 1 ? version.text : value.value_or("") + "." + version.text;
      }
      // The operator of the second family only uses the newest operand.
      fails = is_failure || (fails && family == 0 && version.kind == 'm');
    }
    return fails ? std::string(kFails) : value;
  }

  static std::optional<std::string> Found(const Status& status, const std::string& value) {
    if (status.IsNotFound()) return std::nullopt;
    if (status.subcode() == Status::kMergeOperatorFailed) return kFails;
    EXPECT_OK(status);
    return value;
  }

  void CheckAll() {
    std::vector<Moment> moments = snapshots_;
    moments.push_back({moment_, nullptr});
    for (size_t family = 0; family < 2; family++) {
      for (const Moment& moment : moments) {
        CheckPoints(family, moment);
        CheckScans(family, moment);
      }
    }
  }

  void CheckPoints(size_t family, const Moment& moment) {
    const ReadOptions read = AsOf(moment.snapshot);
    std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
    const std::vector<Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(
        read, std::vector<ColumnFamilyHandle*>(keys.size(), handles_[family]), keys, &values);
    for (size_t i = 0; i < names.size(); i++) {
      const auto expected = Expected(family, names[i], moment.number);
      std::string value;
      const Status status = db_->Get(read, handles_[family], names[i], &value);
      EXPECT_EQ(Found(status, value), expected) << names[i] << " of family " << family;
      EXPECT_EQ(Found(statuses[i], values[i]), expected) << names[i] << " of family " << family;
      if (family == 0) CheckOperands(read, names[i], expected);
    }
  }

  // The operands are the pieces of the joined value, in order.
  void CheckOperands(const ReadOptions& read, const std::string& key,
                     const std::optional<std::string>& expected) {
    constexpr int kMost = 200;
    std::vector<PinnableSlice> operands(kMost);
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = kMost;
    int count = 0;
    const Status status =
        db_->GetMergeOperands(read, handles_[0], key, operands.data(), &options, &count);
    EXPECT_EQ(status.IsNotFound(), !expected.has_value()) << key << ": " << status.ToString();
    if (!status.ok() || expected == kFails) return;
    std::string joined;
    for (int i = 0; i < count; i++) {
      StrAppend(&joined, joined.empty() ? "" : ".", operands[i].ToString());
    }
    const auto without_dot = [](const std::string& text) {
      return text.starts_with(".") ? text.substr(1) : text;
    };
    EXPECT_EQ(without_dot(joined), without_dot(*expected)) << key;
  }

  // In both directions over the keys that cannot fail, with turns at a random place; the others by
  // seeks.
  void CheckScans(size_t family, const Moment& moment) {
    const Slice upper("e");
    ReadOptions read = AsOf(moment.snapshot);
    read.iterate_upper_bound = &upper;
    std::vector<std::pair<std::string, std::string>> rows;
    for (const char* key : {"a", "b", "c", "d"}) {
      const auto value = Expected(family, key, moment.number);
      if (value.has_value()) rows.emplace_back(key, *value);
    }
    std::unique_ptr<Iterator> it(db_->NewIterator(read, handles_[family]));
    size_t i = 0;
    const auto is_at_row = [&] {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      EXPECT_EQ(it->key(), Slice(rows[i].first));
      EXPECT_EQ(it->value().ToString(), rows[i].second);
    };
    for (it->SeekToFirst(); i < rows.size(); i++, it->Next()) is_at_row();
    EXPECT_FALSE(it->Valid());
    for (it->SeekToLast(); i-- > 0; it->Prev()) is_at_row();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
    if (rows.size() < 2) return;
    i = Draw(rows.size());
    it->Seek(rows[i].first);
    is_at_row();
    for (int turn = 0; turn < 6; turn++) {
      if (i == 0 || (i + 1 < rows.size() && Draw(2) == 0)) {
        i++;
        it->Next();
      } else {
        i--;
        it->Prev();
      }
      is_at_row();
    }
    CheckSeeks(family, moment);
  }

  void CheckSeeks(size_t family, const Moment& moment) {
    std::unique_ptr<Iterator> it(db_->NewIterator(AsOf(moment.snapshot), handles_[family]));
    for (const char* key : {"e", "f"}) {
      const auto expected = Expected(family, key, moment.number);
      for (const bool is_forward : {true, false}) {
        is_forward ? it->Seek(key) : it->SeekForPrev(key);
        if (expected == kFails) {
          EXPECT_FALSE(it->Valid());
          EXPECT_EQ(it->status().subcode(), Status::kMergeOperatorFailed);
        } else if (expected.has_value()) {
          ASSERT_TRUE(it->Valid()) << it->status().ToString();
          EXPECT_EQ(it->key(), Slice(key));
          EXPECT_EQ(it->value().ToString(), *expected);
        }
      }
    }
  }

  std::mt19937_64 random_;
  std::shared_ptr<PlainJoiner> joiner_;
  Keys keys_[2];
  std::vector<Moment> snapshots_;
  uint64_t moment_ = 0;
  uint64_t last_text_ = 0;
  int checkpoints_ = 0;
  // The database while a checkpoint is open in its place.
  std::unique_ptr<DB> original_;
  std::vector<ColumnFamilyHandle*> original_handles_;
};

}  // namespace

TEST(RandomMerges, AnswerLikeTheListOfAllVersions) {
  for (uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); seed++) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomMerges(seed).Run(150);
  }
}

}  // namespace ashlar
