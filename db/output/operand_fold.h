// SPDX-License-Identifier: Apache-2.0
//
// OperandFold makes fewer entries of the merge operands of one user key that the same readers see:
// with the value or tombstone below them, or where nothing can be below them, one value; else one
// operand, if the operator can; else they stay.
//
// It is fed one run of operands at a time, newest first, and then hands out what came of them.
// Operands are copied where their memory does not stay. Threads: one at a time.
#pragma once

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
    kUnknown,  // perhaps something that this job does not see, or another reader's version
    kNothing,  // nothing at all, or a tombstone
    kValue,
    kEntity,  // whose stored form is the base
  };
  // What a failed fold does to whoever asked: a job in the background keeps the operands.
  enum class OnFailure : uint8_t { kKeepOperands, kAsOperatorSays };

  OperandFold(const MergeTools& tools, OnFailure on_failure)
      : tools_(tools), on_failure_(on_failure) {}

  // Without an operator operands are entries like any other.
  bool has_operator() const { return tools_.merge_operator != nullptr; }

  // A run begins with its newest operand.
  void Begin(const Slice& internal_key, const Slice& operand, const ValuePin& pin);
  void Add(const Slice& internal_key, const Slice& operand, const ValuePin& pin);
  // The run is complete. `base` is the value if there is one. *took_base: the entry below the run
  // is part of the result. `drops_seqno`: a value may lose its sequence number. An error ends the
  // job.
  Status Finish(Below below, const Slice& base, bool drops_seqno, bool* took_base);
  // Instead of Finish(): nothing comes of the run.
  void Abandon() {
    operands_.Clear();
    trailers_.clear();
  }

  // The results, in order; none are left when Next() has gone past the last.
  bool Valid() const { return position_ < trailers_.size(); }
  void Next() { position_++; }
  size_t count() const { return trailers_.size(); }
  Slice key() const { return key_; }
  Slice value() const;
  // Puts the current result's key together; once for each.
  void MakeKey();

 private:
  bool MergeAll(Below below, const Slice& base, Status* status);
  void MakeOne(uint64_t trailer);

  const MergeTools tools_;
  const OnFailure on_failure_;
  std::string user_key_;
  MergeOperands operands_;          // of the run
  std::vector<uint64_t> trailers_;  // of the results; of the operands before Finish()
  bool is_folded_ = false;          // there is one result, in merged_
  Merged merged_;
  size_t position_ = 0;
  std::string key_;  // of the current result
};

}  // namespace ashlar
