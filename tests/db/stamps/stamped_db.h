// SPDX-License-Identifier: Apache-2.0
//
// StampedTest: a database whose default family has timestamps of 64 bits, with short calls that
// take them as numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"

namespace ashlar {

inline std::string Stamp(uint64_t number) {
  std::string bytes;
  EncodeU64Ts(number, &bytes);
  return bytes;
}
inline uint64_t NumberOf(const Slice& stamp) {
  uint64_t number = 0;
  return DecodeU64Ts(stamp, &number).ok() ? number : UINT64_MAX;
}

// Read options that own their timestamps.
class ReadAt {
 public:
  explicit ReadAt(uint64_t ts, const Snapshot* snapshot = nullptr)
      : stamp_(Stamp(ts)), slice_(stamp_) {
    options.timestamp = &slice_;
    options.snapshot = snapshot;
  }
  ReadAt(uint64_t from, uint64_t ts) : ReadAt(ts) {
    start_ = Stamp(from);
    start_slice_ = start_;
    options.iter_start_ts = &start_slice_;
  }
  ReadAt(const ReadAt&) = delete;
  ReadAt& operator=(const ReadAt&) = delete;

  ReadOptions options;

 private:
  const std::string stamp_;
  const Slice slice_;
  std::string start_;
  Slice start_slice_;
};

class StampedTest : public DbTest {
 protected:
  explicit StampedTest(TestFiles files = TestFiles::kMemory) : DbTest(files) {
    options_.comparator = BytewiseComparatorWithU64Ts();
    options_.disable_auto_compactions = true;
  }

  void PutAt(const std::string& key, uint64_t ts, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, Stamp(ts), value));
  }
  void DeleteAt(const std::string& key, uint64_t ts) {
    ASSERT_OK(db_->Delete(WriteOptions(), key, Stamp(ts)));
  }
  void DeleteRangeAt(const std::string& begin, const std::string& end, uint64_t ts) {
    ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), begin, end, Stamp(ts)));
  }
  // The value, "-" if there is none, or the error.
  std::string GetAt(const std::string& key, uint64_t ts) {
    const ReadAt read(ts);
    std::string value;
    const Status status = db_->Get(read.options, key, &value);
    return status.ok() ? value : status.IsNotFound() ? "-" : status.ToString();
  }
  // "key=value@timestamp ..." of an iterator, forwards or backwards.
  static std::string Shown(Iterator* it) {
    return it->key().ToString() + "=" + it->value().ToString() + "@" +
           std::to_string(NumberOf(it->timestamp()));
  }
  std::string ScanAt(const ReadOptions& read, bool is_forward = true) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    std::string text;
    is_forward ? it->SeekToFirst() : it->SeekToLast();
    for (; it->Valid(); is_forward ? it->Next() : it->Prev()) {
      text += (text.empty() ? "" : " ") + Shown(it.get());
    }
    return it->status().ok() ? text : it->status().ToString();
  }
  std::string ScanAt(uint64_t ts, bool is_forward = true) {
    const ReadAt read(ts);
    return ScanAt(read.options, is_forward);
  }
  void RaiseLow(uint64_t ts) {
    ASSERT_OK(db_->IncreaseFullHistoryTsLow(db_->DefaultColumnFamily(), Stamp(ts)));
  }
};

}  // namespace ashlar
