// SPDX-License-Identifier: Apache-2.0
//
// The copy is made record by record, by family number, because a batch knows no handles.
#include "db/utilities/ttl/ttl_batch.h"

#include <cassert>
#include <string>

#include "db/utilities/ttl/write_time.h"
#include "db/write/write_batch_internal.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Appends each record to `to` with the time. The calls come from WriteBatch::Iterate().
class TimeAdder final : public WriteBatch::Handler {
 public:
  // `to` is not null and outlives the object.
  TimeAdder(int64_t seconds, WriteBatch* to) : seconds_(seconds), to_(to) {}

  // Written by family number, as the batch that is iterated has it.
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return WriteBatchInternal::Put(to_, family, key, Timed(value, seconds_));
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return WriteBatchInternal::Merge(to_, family, key, Timed(value, seconds_));
  }
  Status TimedPutCF(uint32_t family, const Slice& key, const Slice& value,
                    uint64_t write_time) override {
    // The time of a value that is put with a time is the one that the program gave, not the present
    // one.
    // A time that does not fit the stored form is replaced by that of the write.
    const bool can_be_stored = write_time >= uint64_t{kOldestWriteTime} && write_time <= UINT32_MAX;
    const int64_t seconds = can_be_stored ? static_cast<int64_t>(write_time) : seconds_;
    return WriteBatchInternal::TimedPut(to_, family, key, Timed(value, seconds), write_time);
  }
  Status PutEntityCF(uint32_t, const Slice&, const Slice&) override {
    return Status::NotSupported("DBWithTTL: PutEntity: wide columns have no place for a time");
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return WriteBatchInternal::Delete(to_, family, key);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return WriteBatchInternal::SingleDelete(to_, family, key);
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return WriteBatchInternal::DeleteRange(to_, family, begin, end);
  }
  // LogData() has no status, so that the first error is kept for the end.
  void LogData(const Slice& blob) override {
    if (log_data_status_.ok()) log_data_status_ = to_->PutLogData(blob);
  }

  const Status& log_data_status() const { return log_data_status_; }

 private:
  Slice Timed(const Slice& value, int64_t seconds) {
    // The buffer is used again for each value, so a slice of it is valid until the next call.
    buffer_.assign(value.data(), value.size());
    AppendWriteTime(&buffer_, seconds);
    assert(buffer_.size() == value.size() + kWriteTimeBytes);
    return buffer_;
  }

  const int64_t seconds_;
  WriteBatch* const to_;
  std::string buffer_;  // of the last value
  Status log_data_status_;
};

}  // namespace

// If the batch has a WAL termination point, the copy gets one behind the same records.
Status AddWriteTimes(const WriteBatch& from, int64_t seconds, WriteBatch* to) {
  assert(to != nullptr);
  assert(to->Count() == 0);
  // The copy computes new checksums, which would hide damage that the batch has already.
  if (from.GetProtectionBytesPerKey() > 0) RETURN_IF_ERROR(from.VerifyChecksum());
  TimeAdder adder(seconds, to);
  const SavePoint& point = from.GetWalTerminationPoint();
  if (point.is_cleared()) {
    RETURN_IF_ERROR(from.Iterate(&adder));
  } else {
    // Records begin behind the header.
    const size_t begin = WriteBatch().GetDataSize();
    RETURN_IF_ERROR(WriteBatchInternal::Iterate(from, &adder, begin, point.size));
    to->MarkWalTerminationPoint();
    RETURN_IF_ERROR(WriteBatchInternal::Iterate(from, &adder, point.size, from.GetDataSize()));
  }
  WriteBatchInternal::TakeOverPlaceholders(from, to);
  return adder.log_data_status();
}

}  // namespace ashlar
