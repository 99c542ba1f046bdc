// SPDX-License-Identifier: Apache-2.0
//
// A snapshot pins the state of a database at one moment, for any number of reads.
//
// Snapshots are immutable: many threads may use the same snapshot at the same time. Before the
// database is closed, the snapshot must be released with DB::ReleaseSnapshot() of the database that
// created it.
#pragma once

#include <cstdint>

#include "ashlar/export.h"
#include "ashlar/types.h"

namespace ashlar {

class DB;

// A pinned state of a database. Created by DB::GetSnapshot().
class ASHLAR_EXPORT Snapshot {
 public:
  // Sequence number of the last update that is visible in this snapshot.
  virtual SequenceNumber GetSequenceNumber() const = 0;
  // When the snapshot was created, in seconds since 1970.
  virtual int64_t GetUnixTime() const = 0;
  // The user timestamp that the snapshot was created with; the largest number if there is none.
  virtual uint64_t GetTimestamp() const = 0;

 protected:
  // Use DB::ReleaseSnapshot() instead.
  virtual ~Snapshot() {}
};

// Releases a snapshot in its destructor. The first constructor creates the snapshot, the second one
// takes over an existing one. `db` must outlive the object.
class ASHLAR_EXPORT ManagedSnapshot {
 public:
  explicit ManagedSnapshot(DB* db);
  ManagedSnapshot(DB* db, const Snapshot* _snapshot);
  ~ManagedSnapshot();

  ManagedSnapshot(const ManagedSnapshot&) = delete;
  ManagedSnapshot& operator=(const ManagedSnapshot&) = delete;

  const Snapshot* snapshot();

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace ashlar
