// SPDX-License-Identifier: Apache-2.0
//
// The live snapshots in a set, ordered by sequence number and guarded by one mutex.
#include "db/read/snapshot_list.h"

#include <cassert>

#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

bool SnapshotList::Release(const Snapshot* snapshot) {
  const auto* impl = static_cast<const SnapshotImpl*>(snapshot);
  {
    MutexLock lock(&mutex_);
    if (live_.erase(impl) == 0) return false;
  }
  delete impl;
  return true;
}

void SnapshotList::Hold() {
  MutexLock lock(&mutex_);
  holds_++;
}

void SnapshotList::LetGo() {
  MutexLock lock(&mutex_);
  assert(holds_ > 0);
  if (--holds_ == 0) let_go_.SignalAll();
}

std::vector<SequenceNumber> SnapshotList::SequenceNumbers() const {
  MutexLock lock(&mutex_);
  std::vector<SequenceNumber> numbers;
  for (const SnapshotImpl* snapshot : live_) {
    const SequenceNumber number = snapshot->GetSequenceNumber();
    assert(numbers.empty() || numbers.back() <= number);  // the order of the set
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }
  return numbers;
}

size_t SnapshotList::count() const {
  MutexLock lock(&mutex_);
  return live_.size();
}

int64_t SnapshotList::OldestTime() const {
  MutexLock lock(&mutex_);
  return live_.empty() ? 0 : (*live_.begin())->GetUnixTime();
}

std::string SnapshotList::DebugString() const {
  std::string out = StrCat("snapshots: ", count());
  for (SequenceNumber number : SequenceNumbers()) StrAppend(&out, " @", number);
  return out + "\n";
}

SequenceNumber SnapshotList::SeenByAll() const {
  MutexLock lock(&mutex_);
  return live_.empty() ? kMaxSequenceNumber : (*live_.begin())->GetSequenceNumber();
}

SequenceNumber SnapshotList::OldestSequenceNumber() const {
  MutexLock lock(&mutex_);
  return live_.empty() ? 0 : (*live_.begin())->GetSequenceNumber();
}

}  // namespace ashlar
