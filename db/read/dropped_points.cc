// SPDX-License-Identifier: Apache-2.0
//
// The last number of a dropped family limits what is read there, and is also the number for which
// the decisions of transactions are looked up.
#include "db/read/dropped_points.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/read/snapshot_list.h"
#include "util/threads/epoch.h"

namespace ashlar {

// A dropped family gets no further super version, so its last number stays what it is.
std::vector<DroppedPoints> DroppedPoints::Of(const MultiGetRequest& whole,
                                             const SnapshotImpl& moment) {
  assert(!InEpoch());
  std::vector<ReadViewSource*> looked_at;
  std::vector<DroppedPoints> dropped;
  for (ReadViewSource* const family : whole.families) {
    if (std::find(looked_at.begin(), looked_at.end(), family) != looked_at.end()) continue;
    looked_at.push_back(family);
    if (moment.HeldOf(family) != nullptr) continue;
    SequenceNumber last = 0;
    {
      const EpochGuard guard;
      last = family->super_version()->newest_seqno();
    }
    if (last < moment.GetSequenceNumber()) dropped.push_back(DroppedPoints(whole, family, last));
  }
  return dropped;
}

// Keys behind ReadOptions::value_size_soft_limit stay unread. The traces of the call have the keys
// from the whole request.
DroppedPoints::DroppedPoints(const MultiGetRequest& whole, ReadViewSource* family,
                             SequenceNumber seqno)
    : whole_(&whole), seqno_(seqno), request_(whole) {
  for (size_t i = 0; i < whole.keys.size(); i++) {
    if (whole.families[i] != family || whole.statuses[i].IsAborted()) continue;
    indexes_.push_back(i);
    keys_.push_back(whole.keys[i]);
  }
  families_.assign(keys_.size(), family);
  values_ = std::vector<PinnableSlice>(keys_.size());
  statuses_ = std::vector<Status>(keys_.size());
  request_.watch = nullptr;
  request_.watches = {};
  request_.families = families_;
  request_.keys = keys_;
  request_.values = values_.data();
  request_.statuses = statuses_.data();
  if (whole.are_entities == nullptr) return;
  are_entities_ = std::make_unique<bool[]>(keys_.size());
  request_.are_entities = are_entities_.get();
}

void DroppedPoints::PutBack() {
  for (size_t k = 0; k < indexes_.size(); k++) {
    const size_t i = indexes_[k];
    whole_->values[i] = std::move(values_[k]);
    whole_->statuses[i] = std::move(statuses_[k]);
    if (are_entities_ != nullptr) whole_->are_entities[i] = are_entities_[k];
  }
}

}  // namespace ashlar
