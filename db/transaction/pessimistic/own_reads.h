// SPDX-License-Identifier: Apache-2.0
//
// OwnReads is the database as a transaction sees it that has written data before its decision:
// point reads find that data too. All other calls go to the database.
//
// Threads: those of the transaction.
#pragma once

#include <string>

#include "ashlar/utilities/stackable_db.h"
#include "db/transaction/visibility/undecided.h"

namespace ashlar {

class DBImpl;

class OwnReads final : public StackableDB {
 public:
  // Both outlive the object. `own` may be empty, and grow between two calls.
  OwnReads(DBImpl* db, const DecidedVersions::Own* own);
  ~OwnReads() override;
  OwnReads(const OwnReads&) = delete;
  OwnReads& operator=(const OwnReads&) = delete;

  using StackableDB::Get;
  using StackableDB::GetEntity;
  using StackableDB::MultiGet;
  using StackableDB::MultiGetEntity;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableWideColumns* columns) override;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                bool sorted_input) override;
  void MultiGetEntity(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;

 private:
  DBImpl* const engine_;
  const DecidedVersions::Own* const own_;
};

}  // namespace ashlar
