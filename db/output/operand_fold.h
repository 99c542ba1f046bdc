// SPDX-License-Identifier: Apache-2.0
//
// OperandFold reduces the merge operands of one user key that the same readers see to fewer
// entries. With a value or tombstone below them, or if nothing can be below them, they become one
// value. Otherwise they become one operand, if the operator can merge operands. Otherwise they are
// kept.
//
// It gets one run of operands at a time, newest first, and then hands out the resulting entries.
// Operands whose memory may change are copied. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/read/merge_resolution.h"
#include "table/iterator/merge_operands.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class OperandFold {
 public:
  // What is below the operands.
  enum class Below : uint8_t {
    kUnknown,  // perhaps an entry that this job does not see, or a version for other readers
    kNothing,  // no entry at all, or a tombstone
    kValue,
    kEntity,  // `base` is its stored form
  };
  // What a failed merge does: a background job keeps the operands; a manual compaction fails unless
  // the operator allows to keep them.
  enum class OnFailure : uint8_t { kKeepOperands, kAsOperatorSays };

  OperandFold(const MergeTools& tools, OnFailure on_failure)
      : tools_(tools), on_failure_(on_failure) {}

  // Without an operator, operands are treated like other entries.
  bool has_operator() const { return tools_.merge_operator != nullptr; }

  // Begins a run with its newest operand.
  void Begin(const Slice& internal_key, const Slice& operand, const ValuePin& pin);
  // Adds the next older operand of the run.
  void Add(const Slice& internal_key, const Slice& operand, const ValuePin& pin);
  // Ends the run and makes the results. `base` is the value below if there is one. *took_base is
  // set if the entry below the run is part of the result. `drops_seqno`: a value may get the
  // sequence number 0. An error ends the job.
  Status Finish(Below below, const Slice& base, bool drops_seqno, bool* took_base);
  // Instead of Finish(): drops the run without results.
  void Abandon() {
    operands_.Clear();
    trailers_.clear();
  }

  // Iterates over the results, in the order of internal keys. Not valid after the last one.
  bool Valid() const { return position_ < trailers_.size(); }
  void Next() {
    assert(Valid());
    position_++;
  }
  size_t count() const { return trailers_.size(); }
  Slice key() const { return key_; }
  Slice value() const;
  // Builds key() for the current result; called once for each.
  void MakeKey();

 private:
  bool MergeAll(Below below, const Slice& base, Status* status);
  void MakeOne(uint64_t trailer);

  const MergeTools tools_;
  const OnFailure on_failure_;
  std::string user_key_;
  MergeOperands operands_;          // of the run
  std::vector<uint64_t> trailers_;  // of the operands before Finish(), of the results after it
  bool is_folded_ = false;          // there is a single result, which is in merged_
  Merged merged_;
  size_t position_ = 0;
  std::string key_;  // of the current result
};

}  // namespace ashlar
