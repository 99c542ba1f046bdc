// SPDX-License-Identifier: Apache-2.0
//
// The live snapshots of a database, ordered by sequence number. Taking one needs neither the DB
// mutex nor an allocation beyond the snapshot itself.
#pragma once

#include <cassert>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ashlar/snapshot.h"
#include "ashlar/types.h"
#include "util/threads/mutex.h"

namespace ashlar {

class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(SequenceNumber seqno, int64_t unix_time) : seqno_(seqno), unix_time_(unix_time) {}
  ~SnapshotImpl() override = default;

  SequenceNumber GetSequenceNumber() const override { return seqno_; }
  int64_t GetUnixTime() const override { return unix_time_; }
  uint64_t GetTimestamp() const override { return UINT64_MAX; }

 private:
  const SequenceNumber seqno_;
  const int64_t unix_time_;
};

// Thread-safe.
class SnapshotList {
 public:
  // `visible_seqno` is read under the list's mutex, so that a compaction that lists the snapshots
  // and then the visible number cannot miss one that is being taken.
  template <typename VisibleSeqno>
  const SnapshotImpl* Take(const VisibleSeqno& visible_seqno, int64_t unix_time) {
    MutexLock lock(&mutex_);
    while (holds_ > 0) let_go_.Wait();
    auto* snapshot = new SnapshotImpl(visible_seqno(), unix_time);
    // Numbers that readers may see only grow: nobody older is visible than to the newest snapshot.
    assert(live_.empty() ||
           (*live_.rbegin())->GetSequenceNumber() <= snapshot->GetSequenceNumber());
    live_.insert(snapshot);
    return snapshot;
  }
  // False if it is not a live snapshot of this list.
  bool Release(const Snapshot* snapshot);

  // Between the two calls nobody gets a snapshot: Take() waits. For a change that the visible
  // number alone does not hide from one.
  void Hold();
  void LetGo();

  // Sequence numbers, ascending, without repetition.
  std::vector<SequenceNumber> SequenceNumbers() const;
  size_t count() const;
  // Of the oldest one; 0 if there is none.
  int64_t OldestTime() const;
  SequenceNumber OldestSequenceNumber() const;
  // The same, kMaxSequenceNumber if there is none: every reader sees at least that much.
  SequenceNumber SeenByAll() const;
  // One line: how many, and their sequence numbers.
  std::string DebugString() const;

 private:
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
  int holds_ GUARDED_BY(mutex_) = 0;  // Hold() calls without their LetGo()
  CondVar let_go_{&mutex_};
};

}  // namespace ashlar
