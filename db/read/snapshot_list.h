// SPDX-License-Identifier: Apache-2.0
//
// SnapshotList holds the live snapshots of a database, ordered by sequence number. Taking a
// snapshot needs neither the DB mutex nor an allocation besides the snapshot itself.
#pragma once

#include <cassert>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/snapshot.h"
#include "ashlar/types.h"
#include "db/read/read_view.h"
#include "util/threads/mutex.h"

namespace ashlar {

// What a snapshot keeps of one family where another process writes the database, which knows of no
// snapshot here: its compactions drop what the snapshot would need. Elsewhere snapshots hold no
// view.
struct HeldView {
  SuperVersion* super_version = nullptr;  // that of the view
  ReadView view;
};

// One snapshot: a sequence number, and the time at which it was taken in seconds since 1970.
class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(SequenceNumber seqno, int64_t unix_time, uint64_t timestamp,
               std::vector<HeldView> held = {})
      : seqno_(seqno), unix_time_(unix_time), timestamp_(timestamp), held_(std::move(held)) {}
  ~SnapshotImpl() override = default;

  SequenceNumber GetSequenceNumber() const override { return seqno_; }
  int64_t GetUnixTime() const override { return unix_time_; }
  uint64_t GetTimestamp() const override { return timestamp_; }
  // The super version that this snapshot keeps alive for the family; null if it keeps none.
  SuperVersion* HeldOf(const ReadViewSource* family) const {
    for (const HeldView& held : held_) {
      if (held.view.source() == family) return held.super_version;
    }
    return nullptr;
  }

 private:
  const SequenceNumber seqno_;
  const int64_t unix_time_;
  const uint64_t timestamp_;
  const std::vector<HeldView> held_;
};

// Thread-safe.
class SnapshotList {
 public:
  // Adds a snapshot at the number that `visible_seqno` returns. The function is called under the
  // list's mutex, so that a compaction that lists the snapshots and then reads the visible number
  // cannot miss a snapshot that is being taken. The caller gives the snapshot back with Release().
  template <typename VisibleSeqno>
  const SnapshotImpl* Take(const VisibleSeqno& visible_seqno, int64_t unix_time,
                           uint64_t timestamp = UINT64_MAX, std::vector<HeldView> held = {}) {
    MutexLock lock(&mutex_);
    while (holds_ > 0) let_go_.Wait();
    auto* snapshot = new SnapshotImpl(visible_seqno(), unix_time, timestamp, std::move(held));
    // The visible number never decreases, so no snapshot in the list is newer than this one.
    assert(live_.empty() ||
           (*live_.rbegin())->GetSequenceNumber() <= snapshot->GetSequenceNumber());
    live_.insert(snapshot);
    return snapshot;
  }
  // Removes and deletes a snapshot. Returns false, and does nothing, if it is not in this list.
  bool Release(const Snapshot* snapshot);

  // Between the two calls Take() waits. For changes to the database that the visible number alone
  // does not hide from a snapshot taken in the middle.
  void Hold();
  void LetGo();

  // The numbers of the snapshots, ascending, without repetition.
  std::vector<SequenceNumber> SequenceNumbers() const;
  size_t count() const;
  // The time and the number of the oldest snapshot; 0 if there is none.
  int64_t OldestTime() const;
  SequenceNumber OldestSequenceNumber() const;
  // The number of the oldest snapshot, or kMaxSequenceNumber if there is none. Every snapshot sees
  // all versions up to it.
  SequenceNumber SeenByAll() const;
  // One line: the number of snapshots, and their sequence numbers.
  std::string DebugString() const;

 private:
  // Orders by sequence number; snapshots with the same number are told apart by their address.
  struct Older {
    bool operator()(const SnapshotImpl* a, const SnapshotImpl* b) const {
      if (a->GetSequenceNumber() != b->GetSequenceNumber()) {
        return a->GetSequenceNumber() < b->GetSequenceNumber();
      }
      return a < b;
    }
  };

  mutable Mutex mutex_{LockRank::kSnapshots};
  std::set<const SnapshotImpl*, Older> live_ GUARDED_BY(mutex_);
  int holds_ GUARDED_BY(mutex_) = 0;  // Hold() calls without their LetGo(); Take() waits for 0
  CondVar let_go_{&mutex_};
};

}  // namespace ashlar
