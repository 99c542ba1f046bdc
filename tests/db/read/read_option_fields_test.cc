// SPDX-License-Identifier: Apache-2.0
//
// Every field of ReadOptions has the effect that its comment describes: each has a check in a table
// that is compared with the header, so a field without a check fails. Deadlines, cache tiers and
// filters have more tests elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <semaphore>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/statistics.h"
#include "ashlar/table_properties.h"
#include "tests/db/read/read_option_fixture.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

class ReadOptionFieldsTest : public ReadOptionFixture {
 protected:
  // The checks.
  void Snapshot_() {
    read_.snapshot = db_->GetSnapshot();
    Put(Key(1), "newer");
    EXPECT_EQ(Get(Key(1)), Value('v'));
    db_->ReleaseSnapshot(read_.snapshot);
    read_.snapshot = nullptr;
    EXPECT_EQ(Get(Key(1)), "newer");
  }
  void IsRefused(const std::string& name, Status::Code code = Status::kNotSupported) {
    EXPECT_NE(Get(Key(1)).find(name), std::string::npos) << Get(Key(1));
    EXPECT_EQ(MultiGet({Key(1)})[0].code(), code);
    EXPECT_EQ(Scan(), -1);
    EXPECT_EQ(scan_status_.code(), code);
  }
  void Timestamp() {
    const Slice timestamp("12345678");
    read_.timestamp = &timestamp;
    IsRefused("timestamp", Status::kInvalidArgument);  // the keys have none
  }
  void IterStartTs() {
    const Slice timestamp("12345678");
    read_.iter_start_ts = &timestamp;
    IsRefused("iter_start_ts", Status::kInvalidArgument);
  }
  void TableIndexFactory() {
    read_.table_index_factory = reinterpret_cast<const UserDefinedIndexFactory*>(this);
    IsRefused("table_index_factory");
  }
  void BlockBufferProvider() {
    read_.read_scoped_block_buffer_provider =
        reinterpret_cast<ReadScopedBlockBufferProvider*>(this);
    IsRefused("read_scoped_block_buffer_provider");
  }
  void Deadline() {
    read_.deadline = microseconds(1);  // long past
    EXPECT_EQ(Get("in memory"), "m");
    EXPECT_TRUE(MultiGet({Key(1)})[0].IsTimedOut());
    EXPECT_EQ(Scan(), -1);
    EXPECT_TRUE(scan_status_.IsTimedOut());
    EXPECT_TRUE(recorder_.Take().empty());
  }
  void IoTimeout() {
    EXPECT_EQ(Get(Key(1)), Value('v'));  // the open gets no deadline
    recorder_.Take();
    read_.io_timeout = hours(2);
    EXPECT_EQ(Get(Key(399)).substr(0, 2), "vv");
    for (const auto& read : ReadsOfScan()) {
      if (read.is_prefetch) continue;
      EXPECT_EQ(read.timeout, hours(2)) << read.path << read.offset;
    }
  }
  void Tier() {
    read_.read_tier = kBlockCacheTier;
    EXPECT_EQ(Get("in memory"), "m");
    EXPECT_TRUE(MultiGet({Key(1)})[0].IsIncomplete());
    EXPECT_EQ(Scan(), -1);
    EXPECT_EQ(recorder_.TakeOpens(), 0);
    EXPECT_TRUE(recorder_.Take().empty());
    read_.read_tier = kMemtableTier;
    EXPECT_EQ(Scan(), 1);
    EXPECT_TRUE(MultiGet({Key(1)})[0].IsNotFound());
  }
  // A field without effect changes neither results nor reads.
  template <typename T>
  void HasNoEffect(T ReadOptions::*field, const T& value) {
    ReadsOfScan();  // opens the tables
    const size_t reads = ReadsOfScan().size();
    EXPECT_GT(reads, 10u);
    read_.*field = value;
    EXPECT_EQ(ReadsOfScan().size(), reads);
    EXPECT_EQ(Scan(), kKeys - 10 + 1);
    EXPECT_EQ(Get(Key(10)), Value('w'));
  }
  void RateLimiterPriority() { HasNoEffect(&ReadOptions::rate_limiter_priority, Env::IO_USER); }
  void IoActivity() { HasNoEffect(&ReadOptions::io_activity, Env::IOActivity::kUnknown); }
  void RequestId() {
    static const std::string id = "some request";
    HasNoEffect(&ReadOptions::request_id, &id);
  }
  void Managed() { HasNoEffect(&ReadOptions::managed, true); }
  void UnpreparedValue() { HasNoEffect(&ReadOptions::allow_unprepared_value, true); }
  void ValueSizeSoftLimit() {
    read_.value_size_soft_limit = 600;
    const auto statuses = MultiGet({Key(1), Key(2), Key(3), "in memory"});
    EXPECT_OK(statuses[0]);
    EXPECT_OK(statuses[1]);
    EXPECT_TRUE(statuses[2].IsAborted());
    EXPECT_TRUE(statuses[3].IsAborted());
  }
  void OperandThreshold() {
    for (const char* operand : {"a", "b", "c"}) {
      ASSERT_OK(db_->Merge(WriteOptions(), "merged", operand));
    }
    std::string value;
    for (const size_t threshold : {2, 3}) {
      read_.merge_operand_count_threshold = threshold;
      const Status status = db_->Get(read_, "merged", &value);
      EXPECT_OK(status);
      EXPECT_EQ(status.subcode() == Status::kMergeOperandThresholdExceeded, threshold == 2);
    }
  }
  // A block that was changed on disk is found with every value of the option.
  void VerifyChecksums() {
    db_.reset();
    std::vector<std::string> names;
    ASSERT_OK(env_->GetChildren("/db", &names));
    for (const std::string& name : names) {
      if (!name.ends_with(".sst")) continue;
      std::string bytes;
      ASSERT_OK(ReadFileToString(env_.get(), "/db/" + name, &bytes));
      bytes[300] ^= 1;  // in a value of the first block
      ASSERT_OK(WriteStringToFile(env_.get(), bytes, "/db/" + name));
    }
    Open();
    for (const bool verifies : {true, false}) {
      read_.verify_checksums = verifies;
      EXPECT_TRUE(MultiGet({Key(0)})[0].IsCorruption());
      EXPECT_EQ(Scan(), -1);
      EXPECT_TRUE(scan_status_.IsCorruption());
    }
  }
  void FillCache() {
    for (const bool fills : {false, true}) {
      read_.fill_cache = fills;
      for (int round = 0; round < 2; round++) {
        recorder_.Take();
        EXPECT_EQ(Get(Key(5)), Value('v'));
        EXPECT_OK(MultiGet({Key(105), Key(305)})[1]);
        EXPECT_EQ(Scan(), kKeys - 10 + 1);
        EXPECT_EQ(recorder_.Take().empty(), fills && round == 1);
      }
    }
  }
  void IgnoreRangeDeletions() {
    EXPECT_EQ(Scan(), kKeys - 10 + 1);
    EXPECT_TRUE(MultiGet({Key(205)})[0].IsNotFound());
    read_.ignore_range_deletions = true;
    EXPECT_EQ(Scan(), kKeys + 1);
    EXPECT_OK(MultiGet({Key(205)})[0]);
    EXPECT_EQ(Get(Key(205)), Value('v'));
  }
  void AsyncIo() {
    const auto is_ahead = [](const ReadRecorder::Read& read) {
      return read.is_prefetch || read.is_async;
    };
    auto reads = ReadsOfScan();
    EXPECT_TRUE(std::none_of(reads.begin(), reads.end(), is_ahead));
    read_.async_io = true;
    reads = ReadsOfScan();
    EXPECT_TRUE(std::any_of(reads.begin(), reads.end(), is_ahead));
  }
  // A batch whose keys are on two levels: the reads of the lower level wait for the upper one, or
  // not.
  void OptimizeMultiGetForIo() {
    EXPECT_EQ(Get(Key(0)), Value('w'));
    EXPECT_EQ(Get(Key(399)), Value('v'));  // all files of the batch are open
    read_.fill_cache = false;
    for (const bool optimizes : {true, false}) {
      read_.optimize_multiget_for_io = optimizes;
      recorder_.Take();
      EXPECT_OK(MultiGet({Key(330), Key(393)})[0]);
      size_t together = 0;
      for (const auto& read : recorder_.Take()) together = std::max(together, read.batch);
      EXPECT_EQ(together > 1, optimizes);
    }
  }
  void ReadaheadSize() {
    EXPECT_LT(Longest(ReadsOfScan()), size_t{40} << 10);
    read_.readahead_size = 48 << 10;
    EXPECT_GE(Longest(ReadsOfScan()), size_t{48} << 10);
  }
  // The first reads of a file after it was opened.
  void AdaptiveReadahead() {
    ReadsOfScan();
    for (const bool adapts : {false, true}) {
      read_.adaptive_readahead = adapts;
      std::string path;
      int later_files = 0, long_beginnings = 0;
      for (const auto& read : ReadsOfScan()) {
        if (read.path == path || read.offset != 0) continue;
        if (!path.empty()) {
          later_files++;
          long_beginnings += read.n > 8000 ? 1 : 0;
        }
        path = read.path;
      }
      ASSERT_GE(later_files, 2);
      EXPECT_EQ(long_beginnings > 0, adapts) << long_beginnings << " of " << later_files;
    }
  }
  void AutoReadaheadSize() {
    const std::string end = Key(20);
    const Slice bound(end);
    read_.iterate_upper_bound = &bound;
    read_.readahead_size = 32 << 10;
    for (const bool trims : {false, true}) {
      read_.auto_readahead_size = trims;
      EXPECT_EQ(Longest(ReadsOfScan()) >= (size_t{32} << 10), !trims);
    }
    EXPECT_EQ(Scan(), 21);
  }
  void MaxSkippable() {
    for (int i = 50; i < 80; i++) Delete(Key(i));
    read_.max_skippable_internal_keys = 10;
    EXPECT_EQ(Scan(), -1);
    EXPECT_TRUE(scan_status_.IsIncomplete());
    read_.max_skippable_internal_keys = 100;
    EXPECT_EQ(Scan(), kKeys - 10 - 30 + 1);
  }
  void LowerBound() {
    const std::string begin = Key(300);
    const Slice bound(begin);
    read_.iterate_lower_bound = &bound;
    EXPECT_EQ(Scan(), 100);
    const auto it = NewIterator();
    it->Seek(Key(10));
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Key(300));
    it->Prev();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }
  void UpperBound() {
    const std::string end = Key(100);
    const Slice bound(end);
    read_.iterate_upper_bound = &bound;
    EXPECT_EQ(Scan(), 101);
    const auto it = NewIterator();
    it->SeekToLast();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Key(99));
    it->SeekForPrev(Key(300));
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Key(99));
  }
  void Tailing() {
    for (const bool tails : {false, true}) {
      read_.tailing = tails;
      const auto it = NewIterator();
      const std::string key = "zz" + std::to_string(tails);
      it->Seek(key);
      EXPECT_FALSE(it->Valid());
      Put(key, "new");
      it->Seek(key);
      EXPECT_EQ(it->Valid(), tails);
    }
  }
  // How often a seek to an absent prefix used filters.
  uint64_t Asked(const std::string& target) {
    TakeTicks(BLOOM_FILTER_PREFIX_CHECKED);
    const auto it = NewIterator();
    it->Seek(target);
    EXPECT_OK(it->status());
    return TakeTicks(BLOOM_FILTER_PREFIX_CHECKED);
  }
  void TotalOrderSeek() {
    read_.prefix_same_as_start = true;
    EXPECT_GT(Asked("key12x"), 0u);
    read_.total_order_seek = true;
    EXPECT_EQ(Asked("key12x"), 0u);
  }
  void AutoPrefixMode() {
    const Slice near("key12y"), far("key13");
    read_.iterate_upper_bound = &near;
    EXPECT_EQ(Asked("key12x"), 0u);
    read_.auto_prefix_mode = true;
    EXPECT_GT(Asked("key12x"), 0u);
    read_.iterate_upper_bound = &far;
    EXPECT_EQ(Asked("key12x"), 0u);
  }
  void PrefixSameAsStart() {
    for (const bool ends : {false, true}) {
      read_.prefix_same_as_start = ends;
      const auto it = NewIterator();
      int shown = 0;
      for (it->Seek(Key(105)); it->Valid(); it->Next()) shown++;
      EXPECT_EQ(shown, ends ? 5 : kKeys - 105 - 10);
    }
  }
  void PinData() {
    for (const bool pins : {false, true}) {
      read_.pin_data = pins;
      const auto it = NewIterator();
      std::vector<Slice> keys, values;
      std::vector<std::string> key_copies, value_copies;
      std::string key_pinned, value_pinned;
      const auto note = [&] {
        ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &key_pinned));
        ASSERT_OK(it->GetProperty("rocksdb.iterator.is-value-pinned", &value_pinned));
        EXPECT_EQ(key_pinned, pins ? "1" : "0");
        EXPECT_EQ(value_pinned, pins ? "1" : "0");
        keys.push_back(it->key());
        values.push_back(it->value());
        key_copies.push_back(it->key().ToString());
        value_copies.push_back(it->value().ToString());
      };
      for (it->SeekToFirst(); it->Valid(); it->Next()) note();
      for (it->SeekToLast(); it->Valid(); it->Prev()) note();
      EXPECT_EQ(keys.size(), 2u * (kKeys - 10 + 1));
      if (!pins) continue;  // memory of the previous position may not be read
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      ASSERT_OK(it->Refresh());
      for (size_t i = 0; i < keys.size(); i++) {
        ASSERT_EQ(keys[i], key_copies[i]);
        ASSERT_EQ(values[i], value_copies[i]);
      }
    }
  }
  // Files that only the iterator needs are deleted with it, or by a background thread later.
  void BackgroundPurge() {
    for (const bool in_background : {false, true}) {
      read_.background_purge_on_iterator_cleanup = in_background;
      auto it = NewIterator();
      it->SeekToFirst();
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      const int before = FilesOnDisk(".sst");
      std::binary_semaphore is_over{0};
      {
        const BlockedPool blocked(env_.get(), Env::Priority::HIGH);
        it.reset();
        EXPECT_EQ(FilesOnDisk(".sst") < before, !in_background);
        // The pool has one thread, so this job runs after that of the iterator.
        env_->Schedule([](void* over) { static_cast<std::binary_semaphore*>(over)->release(); },
                       &is_over, Env::Priority::HIGH);
      }
      is_over.acquire();
      EXPECT_LT(FilesOnDisk(".sst"), before);
      Put(Key(7), Value('x'));
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  void TableFilter() {
    const std::function<bool(const TableProperties&)> is_newer = [](const TableProperties& table) {
      return table.num_range_deletions > 0;
    };
    read_.table_filter = &is_newer;
    EXPECT_EQ(Scan(), kKeys / 10 - 1 + 1);
    EXPECT_EQ(Get(Key(1)), Value('v'));  // iterators only
  }
  void AutoRefresh() {
    for (const bool refreshes : {false, true}) {
      read_.snapshot = db_->GetSnapshot();
      read_.auto_refresh_iterator_with_snapshot = refreshes;
      auto it = NewIterator();
      it->Seek(Key(0));
      std::string before, after;
      ASSERT_OK(it->GetProperty("rocksdb.iterator.super-version-number", &before));
      Put(Key(3) + "x", "new");
      ASSERT_OK(db_->Flush(FlushOptions()));
      it->Seek(Key(3));
      ASSERT_TRUE(it->Valid());
      it->Next();
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), Key(4));
      ASSERT_OK(it->GetProperty("rocksdb.iterator.super-version-number", &after));
      EXPECT_EQ(before != after, refreshes);
      it.reset();
      db_->ReleaseSnapshot(read_.snapshot);
      Delete(Key(3) + "x");
    }
  }

  struct Field {
    const char* name;
    void (ReadOptionFieldsTest::*check)();
  };
  static const std::vector<Field>& Fields();
};

const std::vector<ReadOptionFieldsTest::Field>& ReadOptionFieldsTest::Fields() {
  using T = ReadOptionFieldsTest;
  static const std::vector<Field> fields = {
      {"snapshot", &T::Snapshot_},
      {"timestamp", &T::Timestamp},
      {"iter_start_ts", &T::IterStartTs},
      {"deadline", &T::Deadline},
      {"io_timeout", &T::IoTimeout},
      {"read_tier", &T::Tier},
      {"rate_limiter_priority", &T::RateLimiterPriority},
      {"value_size_soft_limit", &T::ValueSizeSoftLimit},
      {"merge_operand_count_threshold", &T::OperandThreshold},
      {"verify_checksums", &T::VerifyChecksums},
      {"fill_cache", &T::FillCache},
      {"ignore_range_deletions", &T::IgnoreRangeDeletions},
      {"async_io", &T::AsyncIo},
      {"optimize_multiget_for_io", &T::OptimizeMultiGetForIo},
      {"readahead_size", &T::ReadaheadSize},
      {"max_skippable_internal_keys", &T::MaxSkippable},
      {"iterate_lower_bound", &T::LowerBound},
      {"iterate_upper_bound", &T::UpperBound},
      {"tailing", &T::Tailing},
      {"total_order_seek", &T::TotalOrderSeek},
      {"auto_prefix_mode", &T::AutoPrefixMode},
      {"prefix_same_as_start", &T::PrefixSameAsStart},
      {"pin_data", &T::PinData},
      {"adaptive_readahead", &T::AdaptiveReadahead},
      {"background_purge_on_iterator_cleanup", &T::BackgroundPurge},
      {"table_filter", &T::TableFilter},
      {"auto_readahead_size", &T::AutoReadaheadSize},
      {"allow_unprepared_value", &T::UnpreparedValue},
      {"auto_refresh_iterator_with_snapshot", &T::AutoRefresh},
      {"table_index_factory", &T::TableIndexFactory},
      {"read_scoped_block_buffer_provider", &T::BlockBufferProvider},
      {"io_activity", &T::IoActivity},
      {"request_id", &T::RequestId},
      {"managed", &T::Managed},
  };
  return fields;
}

TEST_F(ReadOptionFieldsTest, EachFieldOfTheHeaderHasACheck) {
  std::ifstream file(SourcePath("include/ashlar/options.h"));
  const std::string header{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = header.find("\nstruct ReadOptions {");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream lines(header.substr(begin, header.find("\n};", begin) - begin));
  std::set<std::string> declared, checked;
  for (std::string line; std::getline(lines, line);) {
    // A line that declares one field and is neither a comment nor a function.
    const bool ends = line.find(';') != std::string::npos;
    if (!ends || !line.starts_with("  ") || std::isalpha(line[2]) == 0) continue;
    line.resize(std::min({line.find(" = "), line.find(';'), line.size()}));
    const size_t less = line.find('<');
    if (less != std::string::npos) line.erase(less, line.rfind('>') + 1 - less);
    if (line.find_first_of("()=") != std::string::npos) continue;
    declared.insert(line.substr(line.find_last_of(" *") + 1));
  }
  for (const Field& field : Fields()) checked.insert(field.name);
  EXPECT_EQ(declared, checked);
}

// A database for each field.
class EachReadOption : public ReadOptionFieldsTest, public testing::WithParamInterface<int> {
 public:
  static size_t Count() { return Fields().size(); }
  static std::string NameOf(const testing::TestParamInfo<int>& info) {
    return Fields()[static_cast<size_t>(info.param)].name;
  }
};

TEST_P(EachReadOption, DoesWhatItsCommentSays) {
  (this->*Fields()[static_cast<size_t>(GetParam())].check)();
}

INSTANTIATE_TEST_SUITE_P(, EachReadOption,
                         testing::Range(0, static_cast<int>(EachReadOption::Count())),
                         EachReadOption::NameOf);

}  // namespace
}  // namespace ashlar
