// SPDX-License-Identifier: Apache-2.0
//
// DB::OpenAndTrimHistory opens a database and then compacts each family with timestamps without the
// versions that are too new. DB::ClipColumnFamily does the same for keys outside of a range, if the
// family has timestamps.
//
// Crash: the trimmed tables replace the others level by level, so a part may be gone. The database
// can be opened, and another call completes the work.
#include <memory>
#include <optional>
#include <utility>

#include "db/db_impl.h"
#include "util/result.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Versions below full_history_ts_low may be gone, so the state at such a timestamp cannot be
// restored.
Status DBImpl::CheckTrim(ColumnFamilyHandle* handle, const std::string& trim_ts) {
  const InternalKeyComparator& order = FamilyOf(handle)->comparator();
  if (order.stamp_bytes() != trim_ts.size()) {
    return Status::InvalidArgument(StrCat("OpenAndTrimHistory: the column family ",
                                          handle->GetName(), " has timestamps of ",
                                          order.stamp_bytes(), " bytes, found ", trim_ts.size()));
  }
  std::string low;
  RETURN_IF_ERROR(GetFullHistoryTsLow(handle, &low));
  if (low.empty() || order.OrderOfStamps(trim_ts, low) >= 0) return Status::OK();
  return Status::InvalidArgument(StrCat(
      "OpenAndTrimHistory: ", Slice(trim_ts).ToString(/*hex=*/true), " is below the timestamp ",
      Slice(low).ToString(true), ", up to which versions of the column family ", handle->GetName(),
      " may have been dropped"));
}

Status DBImpl::TrimHistory(const std::vector<ColumnFamilyHandle*>& handles,
                           const std::string& trim_ts) {
  for (ColumnFamilyHandle* handle : handles) {
    if (IsStamped(handle)) RETURN_IF_ERROR(CheckTrim(handle, trim_ts));
  }
  for (ColumnFamilyHandle* handle : handles) {
    if (!IsStamped(handle)) continue;
    const HistoryTrim trim{.above = trim_ts, .kept_range = std::nullopt};
    RETURN_IF_ERROR(
        manual_compactions_.TrimHistory(FamilyOf(handle), trim, std::nullopt, std::nullopt));
  }
  return Status::OK();
}

// A range tombstone would leave older versions to readers of their timestamps, so the keys are
// dropped from the tables. Snapshots cannot keep them.
Status DBImpl::ClipStamped(ColumnFamilyHandle* handle, const Slice& begin, const Slice& end) {
  ColumnFamilyData* const family = FamilyOf(handle);
  const InternalKeyComparator& order = family->comparator();
  const std::string first = order.FirstStored(begin), limit = order.FirstStored(end);
  if (order.OrderWithoutTimestamp(first, limit) > 0) {
    return Status::InvalidArgument("ClipColumnFamily: the end comes before the begin");
  }
  if (!core_.snapshots.SequenceNumbers().empty()) {
    return Status::Busy(
        "ClipColumnFamily: of a column family with timestamps, while there are snapshots, which "
        "may need its keys");
  }
  RETURN_IF_ERROR(Flush(FlushOptions(), handle));
  // Whole tables are not dropped first: with a tombstone of one, a key of another would come back.
  const HistoryTrim trim{.above = "", .kept_range = HistoryTrim::Range{first, limit}};
  RETURN_IF_ERROR(
      manual_compactions_.TrimHistory(family, trim, std::nullopt, order.LastStored(begin)));
  return manual_compactions_.TrimHistory(family, trim, limit, std::nullopt);
}

// Memtables cannot be trimmed, so the options must not keep replayed entries in them. After an
// error the handles and the database are gone.
Status DB::OpenAndTrimHistory(const DBOptions& db_options, const std::string& dbname,
                              const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr,
                              std::string trim_ts) {
  dbptr->reset();
  if (db_options.avoid_flush_during_recovery) {
    return Status::InvalidArgument(
        "OpenAndTrimHistory: avoid_flush_during_recovery keeps entries that cannot be trimmed");
  }
  RETURN_IF_ERROR(Open(db_options, dbname, column_families, handles, dbptr));
  const Status trimmed = static_cast<DBImpl*>(dbptr->get())->TrimHistory(*handles, trim_ts);
  if (trimmed.ok()) return trimmed;
  for (ColumnFamilyHandle* handle : *handles) delete handle;
  handles->clear();
  dbptr->reset();
  return trimmed;
}

}  // namespace ashlar
