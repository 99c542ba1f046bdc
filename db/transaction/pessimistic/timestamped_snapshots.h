// SPDX-License-Identifier: Apache-2.0
//
// Snapshots by timestamps of the program, which grow with their sequence numbers. The database
// holds a reference on each until it is told to release it. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/snapshot.h"
#include "ashlar/status.h"
#include "ashlar/utilities/transaction.h"
#include "util/threads/mutex.h"

namespace ashlar {

class TimestampedSnapshots {
 public:
  using Take = std::function<std::shared_ptr<const Snapshot>()>;
  // Takes one by take(), which answers null if the database has none. InvalidArgument for a
  // timestamp that is not above the newest one, unless it is the same and nothing was written
  // since: then that snapshot is returned. `visible`: the newest number that readers see.
  std::pair<Status, std::shared_ptr<const Snapshot>> Create(TxnTimestamp ts, SequenceNumber visible,
                                                            const Take& take);
  // kMaxTxnTimestamp: the newest. Null: none.
  std::shared_ptr<const Snapshot> Get(TxnTimestamp ts) const;
  // Lets go of all snapshots below `ts`. Snapshots that the program holds as well live on.
  void ReleaseOlderThan(TxnTimestamp ts);
  // Appends those with timestamps in [begin, end), in ascending order.
  void Collect(TxnTimestamp begin, TxnTimestamp end,
               std::vector<std::shared_ptr<const Snapshot>>* snapshots) const;

 private:
  mutable Mutex mutex_{LockRank::kUtility};
  // Invariant: with the timestamps the sequence numbers of the snapshots grow too.
  std::map<TxnTimestamp, std::shared_ptr<const Snapshot>> snapshots_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
