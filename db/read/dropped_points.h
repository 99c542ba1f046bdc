// SPDX-License-Identifier: Apache-2.0
//
// DroppedPoints are the keys of a MultiGet in one family that the process which writes the database
// has dropped. Readers see such a family as of its last number for ever, while they see all others
// as of the present. Without undecided transactions the view of the family limits the number
// (SuperVersion::newest_seqno); but which transactions are decided is looked up for one number, so
// the keys of a dropped family are read in a request of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/read/multi_get.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// Movable. Threads: one at a time.
class DroppedPoints {
 public:
  // One for each family of the request that is dropped, and that the snapshot `moment` does not
  // hold. `whole` was read as of `moment` and outlives the result. Outside of epochs.
  static std::vector<DroppedPoints> Of(const MultiGetRequest& whole, const SnapshotImpl& moment);

  // The last number of the family.
  SequenceNumber seqno() const { return seqno_; }
  // The keys and their own results; the caller sets the callback.
  MultiGetRequest* request() { return &request_; }
  // Replaces the results of these keys in the whole request.
  void PutBack();

 private:
  DroppedPoints(const MultiGetRequest& whole, ReadViewSource* family, SequenceNumber seqno);

  const MultiGetRequest* whole_;
  SequenceNumber seqno_;
  std::vector<size_t> indexes_;  // in the whole request
  std::vector<Slice> keys_;
  std::vector<ReadViewSource*> families_;
  std::vector<PinnableSlice> values_;
  std::vector<Status> statuses_;
  std::unique_ptr<bool[]> are_entities_;
  MultiGetRequest request_;  // refers to the members above
};

}  // namespace ashlar
