// SPDX-License-Identifier: Apache-2.0
//
// A map under one mutex; snapshots are released without it.
#include "db/transaction/pessimistic/timestamped_snapshots.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

std::pair<Status, std::shared_ptr<const Snapshot>> TimestampedSnapshots::Create(
    TxnTimestamp ts, SequenceNumber visible, const Take& take) {
  assert(take != nullptr);
  MutexLock lock(&mutex_);
  // Timestamps ascend with the snapshots, so the newest one decides which are acceptable.
  if (!snapshots_.empty() && ts <= snapshots_.rbegin()->first) {
    const auto& [newest_ts, newest] = *snapshots_.rbegin();
    if (ts == newest_ts && newest->GetSequenceNumber() == visible) return {Status::OK(), newest};
    return {
        Status::InvalidArgument(StrCat("timestamped snapshot: timestamp ", ts, " must be above ",
                                       newest_ts, ", that of the newest one")),
        nullptr};
  }
  std::shared_ptr<const Snapshot> taken = take();
  if (taken == nullptr) {
    return {Status::NotSupported("timestamped snapshot: the database has no snapshots"), nullptr};
  }
  assert(snapshots_.empty() || snapshots_.rbegin()->first < ts);
  snapshots_[ts] = taken;
  return {Status::OK(), std::move(taken)};
}

std::shared_ptr<const Snapshot> TimestampedSnapshots::Get(TxnTimestamp ts) const {
  MutexLock lock(&mutex_);
  if (snapshots_.empty()) return nullptr;
  // The greatest timestamp stands for the newest snapshot.
  if (ts == kMaxTxnTimestamp) return snapshots_.rbegin()->second;
  const auto found = snapshots_.find(ts);
  return found == snapshots_.end() ? nullptr : found->second;
}

void TimestampedSnapshots::ReleaseOlderThan(TxnTimestamp ts) {
  // Declared before the lock, so that its destructor runs after the mutex is free: releasing a
  // snapshot takes other locks.
  std::vector<std::shared_ptr<const Snapshot>> released;  // without the mutex held
  MutexLock lock(&mutex_);
  const auto end = snapshots_.lower_bound(ts);
  for (auto it = snapshots_.begin(); it != end; ++it) released.push_back(std::move(it->second));
  snapshots_.erase(snapshots_.begin(), end);
}

void TimestampedSnapshots::Collect(TxnTimestamp begin, TxnTimestamp end,
                                   std::vector<std::shared_ptr<const Snapshot>>* snapshots) const {
  assert(snapshots != nullptr);
  MutexLock lock(&mutex_);
  // The interval is half open: [begin, end).
  const auto last = snapshots_.lower_bound(end);
  for (auto it = snapshots_.lower_bound(begin); it != last; ++it) snapshots->push_back(it->second);
}

}  // namespace ashlar
