// SPDX-License-Identifier: Apache-2.0
//
// The forms of opening, expressed by the one that takes DBOptions and a list of families. They are
// here because db/api does not know a database that could be opened.
#include <memory>
#include <utility>

#include "ashlar/db.h"

namespace ashlar {
namespace {

// The older forms return a raw pointer, which the caller deletes. `fill` opens into a unique_ptr.
template <typename FillFunction>
Status OpenRaw(DB** dbptr, const FillFunction& fill) {
  std::unique_ptr<DB> db;
  Status status = fill(&db);
  *dbptr = status.ok() ? db.release() : nullptr;
  return status;
}

// The forms without a list of families open the default family with the same options.
std::vector<ColumnFamilyDescriptor> DefaultFamilyOnly(const Options& options) {
  return {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))};
}

// Deletes the handles of an opening. The database itself keeps one for the default family.
void DeleteHandles(const std::vector<ColumnFamilyHandle*>& handles) {
  for (ColumnFamilyHandle* handle : handles) delete handle;
}

}  // namespace

// The handles of the list are not wanted: the caller uses DefaultColumnFamily(). This holds for all
// forms with Options below.
Status DB::Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr) {
  std::vector<ColumnFamilyHandle*> handles;
  Status status = Open(DBOptions(options), name, DefaultFamilyOnly(options), &handles, dbptr);
  DeleteHandles(handles);
  return status;
}
Status DB::Open(const Options& options, const std::string& name, DB** dbptr) {
  return OpenRaw(dbptr, [&](auto* db) { return Open(options, name, db); });
}
Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) {
  return OpenRaw(dbptr,
                 [&](auto* db) { return Open(db_options, name, column_families, handles, db); });
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name,
                           std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists) {
  std::vector<ColumnFamilyHandle*> handles;
  Status status = OpenForReadOnly(DBOptions(options), name, DefaultFamilyOnly(options), &handles,
                                  dbptr, error_if_wal_file_exists);
  DeleteHandles(handles);
  return status;
}
Status DB::OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                           bool error_if_wal_file_exists) {
  return OpenRaw(dbptr, [&](auto* db) {
    return OpenForReadOnly(options, name, db, error_if_wal_file_exists);
  });
}
Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                           bool error_if_wal_file_exists) {
  return OpenRaw(dbptr, [&](auto* db) {
    return OpenForReadOnly(db_options, name, column_families, handles, db,
                           error_if_wal_file_exists);
  });
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, std::unique_ptr<DB>* dbptr) {
  std::vector<ColumnFamilyHandle*> handles;
  Status status = OpenAsSecondary(DBOptions(options), name, secondary_path,
                                  DefaultFamilyOnly(options), &handles, dbptr);
  DeleteHandles(handles);
  return status;
}
Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, DB** dbptr) {
  return OpenRaw(dbptr,
                 [&](auto* db) { return OpenAsSecondary(options, name, secondary_path, db); });
}
Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) {
  return OpenRaw(dbptr, [&](auto* db) {
    return OpenAsSecondary(db_options, name, secondary_path, column_families, handles, db);
  });
}

Status DB::OpenAsFollower(const Options& options, const std::string& name,
                          const std::string& leader_path, std::unique_ptr<DB>* dbptr) {
  std::vector<ColumnFamilyHandle*> handles;
  Status status = OpenAsFollower(DBOptions(options), name, leader_path, DefaultFamilyOnly(options),
                                 &handles, dbptr);
  DeleteHandles(handles);
  return status;
}

Status DB::OpenAndCompact(const std::string& name, const std::string& output_directory,
                          const std::string& input, std::string* output,
                          const CompactionServiceOptionsOverride& override_options) {
  return OpenAndCompact(OpenAndCompactOptions(), name, output_directory, input, output,
                        override_options);
}

Status DB::OpenAndTrimHistory(const DBOptions& db_options, const std::string& dbname,
                              const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                              std::string trim_ts) {
  return OpenRaw(dbptr, [&](auto* db) {
    return OpenAndTrimHistory(db_options, dbname, column_families, handles, db, std::move(trim_ts));
  });
}

}  // namespace ashlar
