// SPDX-License-Identifier: Apache-2.0
//
// Databases with timestamps that we write and RocksDB 7.8 reads, and the other way round, also from
// logs that were not flushed. Skipped without RocksDB's library.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "tests/interop/utilities_theirs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Stamp(uint64_t number) {
  std::string bytes;
  EncodeU64Ts(number, &bytes);
  return bytes;
}

// RocksDB 7.8 has no reverse comparator with timestamps.
class StampsInterop : public UtilitiesInterop {
 protected:
  StampsInterop() : UtilitiesInterop("stamps_interop") {}
  std::string TheirStamps(const std::string& words) { return Theirs("stamps", words); }
  void Open() {
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.write_compatible_with = "7.8";
    options.comparator = BytewiseComparatorWithU64Ts();
    DB* db = nullptr;
    ASSERT_OK(DB::Open(options, db_dir_, &db));
    db_.reset(db);
  }
  std::string Ours(uint64_t ts, uint64_t from = 0) {
    const std::string to_stamp = Stamp(ts), from_stamp = Stamp(from);
    const Slice to_slice = to_stamp, from_slice = from_stamp;
    ReadOptions read;
    read.timestamp = &to_slice;
    if (from != 0) read.iter_start_ts = &from_slice;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    std::string rows;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      uint64_t number = 0;
      EXPECT_OK(DecodeU64Ts(it->timestamp(), &number));
      std::string key = it->key().ToString(), kind;
      if (from != 0) {
        kind = StrCat("/", int{key[key.size() - 8]});
        key.resize(key.size() - 16);
      }
      StrAppend(&rows, key, " ", it->value().ToString(), "@", number, kind, "\n");
    }
    EXPECT_OK(it->status());
    return rows.empty() ? "none\n" : rows;
  }
  void ExpectSameRows() {
    std::string words;
    std::string ours;
    Open();
    for (uint64_t ts = low_; ts <= 12; ts++) {
      ours += Ours(ts) + Ours(ts, std::max<uint64_t>(low_, 1));
      StrAppend(&words, "rows ", ts, " versions ", std::max<uint64_t>(low_, 1), " ", ts, " ");
    }
    db_.reset();
    EXPECT_EQ(TheirStamps(words), ours);
  }
  // The same history by either side.
  static constexpr char kHistory[] =
      "put a 1 a1 put b 2 b2 put longer-key 2 l2 delete a 4 put c 5 c5 range b cc 6 put b 7 b7 "
      "put a 8 a8 put longer-key 9 l9 ";
  void WriteHistory() {
    const WriteOptions write;
    ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    ASSERT_OK(db_->Put(write, "a", Stamp(1), "a1"));
    ASSERT_OK(db_->Put(write, "b", Stamp(2), "b2"));
    ASSERT_OK(db_->Put(write, "longer-key", Stamp(2), "l2"));
    ASSERT_OK(db_->Delete(write, "a", Stamp(4)));
    ASSERT_OK(db_->Put(write, "c", Stamp(5), "c5"));
    ASSERT_OK(db_->DeleteRange(write, family, "b", "cc", Stamp(6)));
    ASSERT_OK(db_->Put(write, "b", Stamp(7), "b7"));
    ASSERT_OK(db_->Put(write, "a", Stamp(8), "a8"));
    ASSERT_OK(db_->Put(write, "longer-key", Stamp(9), "l9"));
  }
  uint64_t low_ = 1;
  std::unique_ptr<DB> db_;
};

TEST_F(StampsInterop, LogsOfEitherSideAreReadByTheOther) {
  if (IsSkipped()) return;
  TheirStamps(kHistory);
  ExpectSameRows();
  db_dir_ += "_ours";
  Open();
  WriteHistory();
  db_.reset();
  ExpectSameRows();
}

TEST_F(StampsInterop, TablesOfEitherSideAreReadByTheOther) {
  if (IsSkipped()) return;
  TheirStamps(std::string(kHistory) + "flush");
  ExpectSameRows();
  TheirStamps("put d 10 d10 flush");
  Open();
  ASSERT_OK(db_->Delete(WriteOptions(), "d", Stamp(11)));
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  db_.reset();
  ExpectSameRows();
  TheirStamps("compact");
  ExpectSameRows();
}

TEST_F(StampsInterop, HistoryBelowTheLimitGoesInTheSameWay) {
  if (IsSkipped()) return;
  const auto compact_ours = [&] {
    Open();
    ASSERT_OK(db_->IncreaseFullHistoryTsLow(nullptr, Stamp(8)));
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    db_.reset();
  };
  low_ = 8;
  TheirStamps(std::string(kHistory) + "low 8 compact");
  ExpectSameRows();
  Open();
  const std::string of_theirs = Ours(12, 8) + Ours(8);
  db_.reset();
  db_dir_ += "_ours";
  TheirStamps(kHistory);
  compact_ours();
  Open();
  EXPECT_EQ(Ours(12, 8) + Ours(8), of_theirs);
  db_.reset();
  ExpectSameRows();
}

}  // namespace
}  // namespace ashlar
