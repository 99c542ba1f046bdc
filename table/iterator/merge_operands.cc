// SPDX-License-Identifier: Apache-2.0
//
// Memory for the bookkeeping is allocated before a reference is taken, so that no reference is lost
// if memory runs out.
#include "table/iterator/merge_operands.h"

#include <cassert>
#include <cstring>

namespace ashlar {

// A short operand is copied. A long one stays where it is, and the pin keeps that memory alive;
// neighbours in the same memory share one pin. Room is made before anything is pinned, so that an
// exception for lack of memory leaves no pin without an owner.
void MergeOperands::Add(const Slice& operand, const ValuePin& pin) {
  assert(pin_of_.size() == operands_.size());
  const size_t index = operands_.size();
  if (index == operands_.capacity()) {
    operands_.reserve(2 * index + 4);
    pin_of_.reserve(2 * index + 4);
  }
  if (operand.size() <= kCopiedValueBytes || pin.acquire == nullptr) {
    operands_.push_back(Copy(operand));
    pin_of_.push_back(kCopied);
    return;
  }
  if (pins_.empty() || pins_.back().pin.owner != pin.owner) {
    pins_.push_back({pin, index});
    pin.acquire(pin.owner);
  }
  operands_.push_back(operand);
  pin_of_.push_back(static_cast<uint32_t>(pins_.size() - 1));
}

// The first short operands are copied into the object itself, which needs no allocation.
Slice MergeOperands::Copy(const Slice& operand) {
  if (operand.empty()) return Slice("", 0);
  char* copy;
  if (operand.size() <= kInlineBytes - inline_bytes_) {
    copy = inline_ + inline_bytes_;
    inline_bytes_ += operand.size();
  } else {
    if (!copies_.has_value()) copies_.emplace();
    copy = copies_->Allocate(operand.size());
  }
  std::memcpy(copy, operand.data(), operand.size());
  return Slice(copy, operand.size());
}

void MergeOperands::Truncate(size_t count) {
  assert(count <= operands_.size());
  operands_.resize(count);
  pin_of_.resize(count);
  while (!pins_.empty() && pins_.back().first >= count) {
    const ValuePin& pin = pins_.back().pin;
    pin.release(pin.owner, nullptr);
    pins_.pop_back();
  }
}

void MergeOperands::Reset() {
  Truncate(0);
  inline_bytes_ = 0;
  copies_.reset();
}

ValuePin MergeOperands::PinOf(size_t index) const {
  assert(index < operands_.size());
  return pin_of_[index] == kCopied ? ValuePin() : pins_[pin_of_[index]].pin;
}

bool MergeOperands::EndAt(OperandLimit* limit) {
  assert(limit != nullptr);
  while (limit->asked_count_ < operands_.size()) {
    if (!limit->EndsWith(operands_[limit->asked_count_++])) continue;
    Truncate(limit->asked_count_);
    return true;
  }
  return false;
}

}  // namespace ashlar
