// SPDX-License-Identifier: Apache-2.0
//
// A snapshot pins the state of a database at one moment, for any number of reads.
//
// Snapshots are immutable: many threads may use one at the same time. It must be released, by the
// database that made it, before that database is closed.
#pragma once

#include <cstdint>

#include "ashlar/export.h"
#include "ashlar/types.h"

namespace ashlar {

class DB;

class ASHLAR_EXPORT Snapshot {
 public:
  // The last update that readers of this snapshot see.
  virtual SequenceNumber GetSequenceNumber() const = 0;
  // When it was taken, in seconds since 1970.
  virtual int64_t GetUnixTime() const = 0;
  // The user timestamp it was taken with; the largest number for none.
  virtual uint64_t GetTimestamp() const = 0;

 protected:
  // Only DB::ReleaseSnapshot() ends a snapshot.
  virtual ~Snapshot() {}
};

// Takes a snapshot, or adopts one, and releases it at the end of its life. `db` must outlive it.
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
