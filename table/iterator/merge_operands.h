// SPDX-License-Identifier: Apache-2.0
//
// MergeOperands gathers the merge operands of one user key in the order in which a reader meets
// them: newest first, but for iterators that go backwards.
//
// Long operands stay where they are: the block or memtable behind them is pinned, once for all that
// follow each other from the same one. Short ones are copied. Not thread-safe.
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
  MergeOperands() {}  // inline_ stays as it is
  ~MergeOperands() { Truncate(0); }
  MergeOperands(const MergeOperands&) = delete;
  MergeOperands& operator=(const MergeOperands&) = delete;

  // It lives until it is truncated or the object dies.
  void Add(const Slice& operand, const ValuePin& pin);
  // Forgets those that came after the first `count`.
  void Truncate(size_t count);
  // Forgets all, and gives their memory back. Inline: iterators do it at each step back.
  void Clear() {
    if (!empty() || inline_bytes_ != 0 || copies_.has_value()) [[unlikely]]
      Reset();
    assert(pins_.empty());
  }

  size_t count() const { return operands_.size(); }
  bool empty() const { return operands_.empty(); }
  // In the order in which they were added, and the other way round.
  const std::vector<Slice>& all() const { return operands_; }
  std::vector<Slice> Reversed() const { return {operands_.rbegin(), operands_.rend()}; }
  // What keeps operand `index` alive; no `acquire` if it was copied.
  ValuePin PinOf(size_t index) const;

  // Asks the limit about those that it was not asked about yet. True: it ends the history at one of
  // them, and those added behind it are forgotten.
  bool EndAt(OperandLimit* limit);

 private:
  struct Pinned {
    ValuePin pin;
    size_t first;  // index of the operand for which it was taken
  };
  static constexpr uint32_t kCopied = UINT32_MAX;
  static constexpr size_t kInlineBytes = 256;

  Slice Copy(const Slice& operand);
  void Reset();

  std::vector<Slice> operands_;
  std::vector<uint32_t> pin_of_;  // for each operand an index of pins_, or kCopied
  std::vector<Pinned> pins_;      // ascending
  size_t inline_bytes_ = 0;       // of inline_ in use
  char inline_[kInlineBytes];     // of copies: often the only ones
  std::optional<Arena> copies_;   // the others
};

// OperandLimit ends a history early: what is older than the operand it says so of counts as absent.
class OperandLimit {
 public:
  virtual ~OperandLimit() = default;

 private:
  friend class MergeOperands;
  // Asked once for each operand, newest first, until it is true.
  virtual bool EndsWith(const Slice& operand) = 0;

  size_t asked_count_ = 0;
};

}  // namespace ashlar
