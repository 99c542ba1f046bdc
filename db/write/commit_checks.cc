// SPDX-License-Identifier: Apache-2.0
//
// The checks of a commit before it takes its place in the order of writes.
#include <cassert>
#include <optional>

#include "ashlar/options.h"
#include "ashlar/write_batch.h"
#include "db/write/commit_pipeline.h"
#include "db/write/write_batch_internal.h"
#include "memtable/memtable.h"
#include "table/plain/bare_table_writer.h"
#include "util/keys/entry_limits.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Of a decision about prepared updates, which stay accepted although a family was dropped or takes
// no more writes since. Updates that come with a commit are all in its logged batch. Those of a
// rollback undo accepted ones.
bool HasNewUpdates(const CommitPlan& plan, const WriteBatch& batch) {
  return &batch == plan.logged && !batch.HasRollback();
}

// A log with a begin marker and no end marker could not be replayed, and one without the marker of
// a commit would undo it.
Status CheckLoggedWhole(const CommitPlan& plan, const WriteBatch& batch) {
  if (!plan.allows_markers || &batch != plan.logged) [[likely]]
    return Status::OK();
  if (batch.GetWalTerminationPoint().is_cleared()) return Status::OK();
  return Status::NotSupported(
      "Write: a WAL termination point in a batch with markers of two-phase commit: the log must "
      "have the whole batch");
}

[[gnu::cold]] Status RefuseMissing(uint32_t family) {
  return Status::InvalidArgument(
      StrCat("Invalid column family specified in write batch: ", family));
}
[[gnu::cold]] Status RefuseClosed(uint32_t family) {
  return Status::InvalidArgument(
      StrCat("Write: column family ", family,
             " takes data by ingestion only (option disallow_memtable_writes)"));
}
[[gnu::cold]] Status RefuseCount(const WriteBatch& batch, uint32_t counted) {
  return Status::Corruption(StrCat("WriteBatch has wrong count: ", WriteBatchInternal::Count(batch),
                                   " in its header, ", counted, " records"));
}

}  // namespace

// Verifies the checksums of updates that have them. Computes checksums here for updates without
// them if the options ask for protection. Insert() verifies them again.
Status CommitPipeline::Protect(const WriteOptions& options, WriteBatch* batch) {
  assert(batch != nullptr);
  if (batch->GetProtectionBytesPerKey() != 0) [[unlikely]]
    return batch->VerifyChecksum();
  if (options.protection_bytes_per_key == 0) [[likely]]
    return Status::OK();
  return WriteBatchInternal::AddProtection(batch);
}

// A batch with a record that cannot be applied must not reach the log: replaying it would fail too.
Status CommitPipeline::CheckBatch(const CommitPlan& plan, WriteBatch* batch) {
  assert(batch != nullptr);
  RETURN_IF_ERROR(CheckLoggedWhole(plan, *batch));
  RETURN_IF_ERROR(Protect(*plan.options, batch));
  std::optional<EpochGuard> guard(std::in_place);  // FindFamily() requires an epoch
  WriteBatchReader reader(WriteBatchInternal::Contents(*batch));
  WriteBatchRecord record;
  std::optional<uint32_t> known_family;
  CommitFamily family;
  uint32_t counted = 0;
  bool has_special = false;
  const bool is_decision = plan.prepared_log != nullptr;
  const bool was_accepted = is_decision && !HasNewUpdates(plan, *batch);
  while (reader.Next(&record)) {
    // Markers and log data are not updates: they take no sequence number, and the count in the
    // header does not include them. Only the transaction layer may write markers of two-phase
    // commit.
    if (!record.IsCounted()) {
      if (record.type == kTypeLogData || record.type == kTypeNoop || plan.allows_markers) continue;
      return Status::NotSupported("Write", "markers of two-phase commit in a batch of the program");
    }
    counted++;
    // Batches mostly write to one family, so it is looked up again only if the number changes.
    if (record.family != known_family || IsEpochOver(counted)) {
      if (IsEpochOver(counted)) [[unlikely]]
        RenewEpoch(&guard);
      family = host_->FindFamily(record.family);
      if (!family.is_plain) [[unlikely]]
        has_special |= family.exists;
      if (!family.exists && !was_accepted && !plan.options->ignore_missing_column_families) {
        return RefuseMissing(record.family);
      }
      if (!family.takes_writes && !was_accepted) [[unlikely]] {
        return RefuseClosed(record.family);
      }
      known_family = record.family;
    }
    // Together they must fit into one entry of a table.
    if (record.key.size() + record.value.size() > kMaxUserEntryBytes) [[unlikely]] {
      return WriteBatchInternal::RefuseEntrySize(record.key.size(), record.value.size());
    }
    switch (record.type) {
      case kTypeValue:
      case kTypeValuePreferredSeqno:
      case kTypeDeletion:
      case kTypeSingleDeletion: break;
      case kTypeMerge:
        if (family.exists && !family.can_merge) {
          // A rollback brings back operands that the family had before.
          if (is_decision && batch->HasRollback()) break;
          return Status::InvalidArgument(
              "Merge requires `ColumnFamilyOptions::merge_operator != nullptr`");
        }
        break;
      case kTypeRangeDeletion: RETURN_IF_ERROR(CheckRange(record, family)); break;
      case kTypeWideColumnEntity: RETURN_IF_ERROR(CheckEntity(record)); break;
      default:
        return Status::NotSupported(
            "Write", StrCat("records of kind ", int{record.type}, " are not supported"));
    }
  }
  RETURN_IF_ERROR(reader.status());
  // A batch made from bytes may claim any count. A wrong one would give two commits the same
  // sequence numbers.
  if (counted != WriteBatchInternal::Count(*batch)) return RefuseCount(*batch, counted);
  return has_special ? CheckSpecialFamilies(*batch) : Status::OK();
}

// A second time over a batch, only if it touches a family that does not take everything.
Status CommitPipeline::CheckSpecialFamilies(const WriteBatch& batch) {
  assert(InEpoch());
  WriteBatchReader reader(WriteBatchInternal::Contents(batch));
  bool has_stamped = false;
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    const CommitFamily family = host_->FindFamily(record.family);
    if (!family.exists || family.is_plain) continue;
    has_stamped |= family.comparator->stamp_bytes() != 0;
    if (family.bare == nullptr || !family.bare->is_bare()) continue;
    record.DropWriteTime();
    const Status fits = CheckBareEntry(*family.bare, record.type, record.key.size());
    if (fits.ok()) continue;
    return Status::CopyAppendMessage(fits, "; write to column family ",
                                     StrCat(record.family, ", key ", KeyInError(record.key)));
  }
  RETURN_IF_ERROR(reader.status());
  return has_stamped ? CheckStamps(batch) : Status::OK();
}

// Every key of a family with timestamps must end with a timestamp. A batch whose updates were added
// without the handle of the family cannot know this, so it is checked here.
Status CommitPipeline::CheckStamps(const WriteBatch& batch) {
  assert(InEpoch());
  if (WriteBatchInternal::HasPlaceholder(batch)) {
    return Status::InvalidArgument("write batch must have timestamp(s) set");
  }
  WriteBatchReader reader(WriteBatchInternal::Contents(batch));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    const CommitFamily family = host_->FindFamily(record.family);
    if (!family.exists || family.comparator->stamp_bytes() == 0) continue;
    const size_t stamp_bytes = family.comparator->stamp_bytes();
    const bool is_range = record.type == kTypeRangeDeletion;
    if (record.key.size() < stamp_bytes || (is_range && record.value.size() < stamp_bytes)) {
      return Status::InvalidArgument(
          StrCat("write batch: a key of column family ", record.family, " has ", record.key.size(),
                 " bytes, which leaves no room for a timestamp of ", stamp_bytes));
    }
    if (record.type == kTypeWideColumnEntity) {
      return Status::InvalidArgument("write batch: entities cannot have timestamps");
    }
  }
  return reader.status();
}

// The column API only builds well-formed entities. But a program may also construct a batch from
// bytes, and a malformed entity must not reach a memtable.
Status CommitPipeline::CheckEntity(const WriteBatchRecord& record) {
  assert(record.type == kTypeWideColumnEntity);
  Slice default_column;
  const Status status = DecodeDefaultColumn(record.value, &default_column);
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, "; of key ", KeyInError(record.key));
}

// An empty range is accepted and deletes nothing. A range whose end comes before its begin is an
// error of the caller.
Status CommitPipeline::CheckRange(const WriteBatchRecord& record, const CommitFamily& family) {
  assert(InEpoch());
  // The family does not exist, and the options say that updates of missing families are skipped.
  if (family.comparator == nullptr) return Status::OK();
  if (family.comparator->OrderWithoutTimestamp(record.key, record.value) <= 0) {
    return Status::OK();
  }
  return Status::InvalidArgument("end key comes before start key");
}

}  // namespace ashlar
