// SPDX-License-Identifier: Apache-2.0
//
// What is looked at before a batch gets its place in the order of writes.
#include <cassert>
#include <optional>

#include "ashlar/options.h"
#include "ashlar/write_batch.h"
#include "db/write/commit_pipeline.h"
#include "db/write/write_batch_internal.h"
#include "memtable/memtable.h"
#include "util/keys/entry_limits.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

// What was added with checksums must still be what was added; what was not gets them now, if they
// are asked for, and Insert() compares again.
Status CommitPipeline::Protect(const WriteOptions& options, WriteBatch* batch) {
  if (batch->GetProtectionBytesPerKey() != 0) [[unlikely]]
    return batch->VerifyChecksum();
  if (options.protection_bytes_per_key == 0) [[likely]]
    return Status::OK();
  return WriteBatchInternal::AddProtection(batch);
}

// A batch with a record that cannot be applied must not reach the log: replaying it would fail too.
Status CommitPipeline::CheckBatch(const WriteBatch& batch, bool ignores_missing_families) {
  EpochGuard guard;  // families are looked up
  WriteBatchReader reader(WriteBatchInternal::Contents(batch));
  WriteBatchRecord record;
  std::optional<uint32_t> known_family;
  uint32_t counted = 0;
  while (reader.Next(&record)) {
    if (!record.IsCounted()) {
      if (record.type == kTypeLogData || record.type == kTypeNoop) continue;
      return Status::NotSupported("Write", "two-phase commit is not supported by this version");
    }
    counted++;
    if (record.family != known_family) {
      if (!ignores_missing_families && !host_->HasFamily(record.family)) {
        return Status::InvalidArgument(
            StrCat("Invalid column family specified in write batch: ", record.family));
      }
      known_family = record.family;
    }
    if (record.key.size() + record.value.size() > kMaxUserEntryBytes) [[unlikely]] {
      return WriteBatchInternal::RefuseEntrySize(record.key.size(), record.value.size());
    }
    switch (record.type) {
      case kTypeValue:
      case kTypeDeletion:
      case kTypeSingleDeletion: break;
      case kTypeMerge:
        if (!host_->CanMerge(record.family) && host_->HasFamily(record.family)) {
          return Status::InvalidArgument(
              "Merge requires `ColumnFamilyOptions::merge_operator != nullptr`");
        }
        break;
      case kTypeRangeDeletion: RETURN_IF_ERROR(CheckRange(record)); break;
      case kTypeWideColumnEntity: RETURN_IF_ERROR(CheckEntity(record)); break;
      default:
        return Status::NotSupported(
            "Write", StrCat("records of kind ", int{record.type}, " are not supported"));
    }
  }
  RETURN_IF_ERROR(reader.status());
  if (counted != WriteBatchInternal::Count(batch)) {
    return Status::Corruption(
        StrCat("WriteBatch has wrong count: ", WriteBatchInternal::Count(batch), " in its header, ",
               counted, " records"));
  }
  return Status::OK();
}

// Those that a batch was given by its columns are well-formed; a batch may also come as bytes.
Status CommitPipeline::CheckEntity(const WriteBatchRecord& record) {
  assert(record.type == kTypeWideColumnEntity);
  Slice default_column;
  const Status status = DecodeDefaultColumn(record.value, &default_column);
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, "; of key ", KeyInError(record.key));
}

// An empty range is accepted and hides nothing; a reversed one is a mistake of the caller. The
// memtable may be replaced meanwhile, but not freed inside the epoch.
Status CommitPipeline::CheckRange(const WriteBatchRecord& record) {
  assert(InEpoch());
  const MemTable* const memtable = host_->ActiveMemTable(record.family);
  if (memtable == nullptr) return Status::OK();  // a missing family that may be ignored
  if (memtable->comparator().OrderWithoutTimestamp(record.key, record.value) <= 0) {
    return Status::OK();
  }
  return Status::InvalidArgument("end key comes before start key");
}

}  // namespace ashlar
