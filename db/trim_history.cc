// SPDX-License-Identifier: Apache-2.0
//
// DB::OpenAndTrimHistory opens a database and then compacts each family with timestamps without the
// versions that are too new.
//
// Crash: the trimmed tables replace the others level by level, so a part of the newer versions may
// be gone. The database can be opened, and another call completes the work.
#include <memory>
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
    RETURN_IF_ERROR(manual_compactions_.TrimHistory(FamilyOf(handle), trim_ts));
  }
  return Status::OK();
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
