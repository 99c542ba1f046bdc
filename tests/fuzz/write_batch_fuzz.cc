// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as a write batch: reading must end with OK or Corruption, and a batch that was
// read must be the same after writing it again. Also decodes the entities inside.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ashlar/write_batch.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/wide_column_encoding.h"

namespace ashlar {

namespace {

// Accepts everything, and copies the records whose encoding can be reproduced.
class Copier : public WriteBatch::Handler {
 public:
  explicit Copier(WriteBatch* copy) : copy_(copy) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return WriteBatchInternal::Put(copy_, family, key, value);
  }
  Status TimedPutCF(uint32_t family, const Slice& key, const Slice& value, uint64_t time) override {
    return WriteBatchInternal::TimedPut(copy_, family, key, value, time);
  }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override {
    WideColumns columns;
    const Status status = DecodeColumns(entity, &columns);
    if (!status.ok() && !status.IsCorruption() && !status.IsNotSupported()) std::abort();
    return WriteBatchInternal::PutEntity(copy_, family, key, entity);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return WriteBatchInternal::Delete(copy_, family, key);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return WriteBatchInternal::SingleDelete(copy_, family, key);
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return WriteBatchInternal::DeleteRange(copy_, family, begin, end);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return WriteBatchInternal::Merge(copy_, family, key, value);
  }
  Status PutBlobIndexCF(uint32_t family, const Slice& key, const Slice& index) override {
    return WriteBatchInternal::PutBlobIndex(copy_, family, key, index);
  }
  void LogData(const Slice& blob) override {
    if (!copy_->PutLogData(blob).ok()) std::abort();
  }
  Status MarkBeginPrepare(bool) override { return Status::OK(); }
  Status MarkEndPrepare(const Slice&) override { return Status::OK(); }
  Status MarkNoop(bool) override { return WriteBatchInternal::InsertNoop(copy_); }
  Status MarkRollback(const Slice& xid) override {
    return WriteBatchInternal::MarkRollback(copy_, xid);
  }
  Status MarkCommit(const Slice& xid) override {
    return WriteBatchInternal::MarkCommit(copy_, xid);
  }
  Status MarkCommitWithTimestamp(const Slice& xid, const Slice& ts) override {
    return WriteBatchInternal::MarkCommitWithTimestamp(copy_, xid, ts);
  }

 private:
  WriteBatch* copy_;
};

void CheckBatch(const std::string& bytes) {
  const WriteBatch batch(bytes);
  WriteBatch copy(0, 0, /*protection_bytes_per_key=*/8, 0);
  Copier copier(&copy);
  const Status status = batch.Iterate(&copier);
  if (!status.ok()) {
    if (!status.IsCorruption()) std::abort();
    return;
  }
  if (copy.Count() != batch.Count() || !copy.VerifyChecksum().ok()) std::abort();
  // Iterating over the copy gives the copy again, byte for byte.
  WriteBatch again;
  Copier second(&again);
  if (!copy.Iterate(&second).ok() || again.Data() != copy.Data()) std::abort();
}

}  // namespace

}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::CheckBatch(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
