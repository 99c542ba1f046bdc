// SPDX-License-Identifier: Apache-2.0
//
// A map under one mutex; snapshots are released without it.
#include "db/transaction/pessimistic/timestamped_snapshots.h"

#include "util/text/str_cat.h"

namespace ashlar {

std::pair<Status, std::shared_ptr<const Snapshot>> TimestampedSnapshots::Create(
    TxnTimestamp ts, SequenceNumber visible, const Take& take) {
  MutexLock lock(&mutex_);
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
  snapshots_[ts] = taken;
  return {Status::OK(), std::move(taken)};
}

std::shared_ptr<const Snapshot> TimestampedSnapshots::Get(TxnTimestamp ts) const {
  MutexLock lock(&mutex_);
  if (snapshots_.empty()) return nullptr;
  if (ts == kMaxTxnTimestamp) return snapshots_.rbegin()->second;
  const auto found = snapshots_.find(ts);
  return found == snapshots_.end() ? nullptr : found->second;
}

void TimestampedSnapshots::ReleaseOlderThan(TxnTimestamp ts) {
  std::vector<std::shared_ptr<const Snapshot>> released;  // without the mutex held
  MutexLock lock(&mutex_);
  const auto end = snapshots_.lower_bound(ts);
  for (auto it = snapshots_.begin(); it != end; ++it) released.push_back(std::move(it->second));
  snapshots_.erase(snapshots_.begin(), end);
}

void TimestampedSnapshots::Collect(TxnTimestamp begin, TxnTimestamp end,
                                   std::vector<std::shared_ptr<const Snapshot>>* snapshots) const {
  MutexLock lock(&mutex_);
  const auto last = snapshots_.lower_bound(end);
  for (auto it = snapshots_.lower_bound(begin); it != last; ++it) snapshots->push_back(it->second);
}

}  // namespace ashlar
