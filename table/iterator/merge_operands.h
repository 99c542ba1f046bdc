// SPDX-License-Identifier: Apache-2.0
//
// MergeOperands collects the merge operands of one user key in the order in which a reader finds
// them: newest first, except for iterators that move backwards.
//
// Long operands are not copied: the block or memtable that holds them is pinned, once for all
// neighbouring operands from the same one. Short operands are copied. Not thread-safe.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ashlar/slice.h"
#include "table/iterator/value_pin.h"
#include "util/memory/arena.h"

namespace ashlar {

class OperandLimit;

class MergeOperands {
 public:
  MergeOperands() {}  // inline_ is not initialized, because that would cost time
  ~MergeOperands() { Truncate(0); }
  MergeOperands(const MergeOperands&) = delete;
  MergeOperands& operator=(const MergeOperands&) = delete;

  // Adds an operand and keeps it alive until it is truncated or this object is destroyed.
  void Add(const Slice& operand, const ValuePin& pin);
  // Removes all operands after the first `count`.
  void Truncate(size_t count);
  // Removes all operands and frees their memory. Inline, because iterators call it at each backward
  // step.
  void Clear() {
    if (!empty() || inline_bytes_ != 0 || copies_.has_value()) [[unlikely]]
      Reset();
    assert(pins_.empty());
  }

  size_t count() const { return operands_.size(); }
  bool empty() const { return operands_.empty(); }
  // The operands in the order in which they were added, and in the reverse order.
  const std::vector<Slice>& all() const { return operands_; }
  std::vector<Slice> Reversed() const { return {operands_.rbegin(), operands_.rend()}; }
  // The pin that keeps operand `index` alive; its `acquire` is null if the operand was copied.
  ValuePin PinOf(size_t index) const;

  // Asks the limit about the operands that it has not seen yet. True if the limit ends the history
  // at one of them; operands added after that one are removed.
  bool EndAt(OperandLimit* limit);

 private:
  // A pin and the operands that it serves.
  struct Pinned {
    ValuePin pin;
    size_t first;  // index of the first operand from this pin
  };
  // The value of pin_of_ for a copied operand.
  static constexpr uint32_t kCopied = UINT32_MAX;
  static constexpr size_t kInlineBytes = 256;

  // Copies an operand to inline_ or copies_.
  Slice Copy(const Slice& operand);
  void Reset();

  std::vector<Slice> operands_;
  std::vector<uint32_t> pin_of_;  // for each operand the index of its pin in pins_, or kCopied
  std::vector<Pinned> pins_;      // ascending by `first`
  size_t inline_bytes_ = 0;       // bytes of inline_ in use
  char inline_[kInlineBytes];     // memory for copies; often large enough for all of them
  std::optional<Arena> copies_;   // copies for which inline_ has no room; empty until needed
};

// OperandLimit ends the history of a key early: everything older than the operand at which it ends
// counts as absent.
class OperandLimit {
 public:
  virtual ~OperandLimit() = default;

 private:
  friend class MergeOperands;
  // Called once for each operand, newest first, until it returns true: the history ends at this
  // operand.
  virtual bool EndsWith(const Slice& operand) = 0;

  // How many operands were passed to EndsWith().
  size_t asked_count_ = 0;
};

}  // namespace ashlar
