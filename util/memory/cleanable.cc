// SPDX-License-Identifier: Apache-2.0
//
// A Cleanable has a list of cleanup functions. The first node is in the object, the others are on
// the heap. SharedCleanablePtr adds a reference count.
#include "ashlar/cleanable.h"

#include <atomic>
#include <cassert>
#include <utility>

namespace ashlar {

Cleanable::Cleanable(Cleanable&& other) noexcept : cleanup_(other.cleanup_) {
  other.cleanup_.function = nullptr;
  other.cleanup_.next = nullptr;
}

Cleanable& Cleanable::operator=(Cleanable&& other) noexcept {
  if (this == &other) return *this;
  DoCleanup();
  cleanup_ = other.cleanup_;
  other.cleanup_.function = nullptr;
  other.cleanup_.next = nullptr;
  return *this;
}

void Cleanable::RunCleanups() {
  cleanup_.function(cleanup_.arg1, cleanup_.arg2);
  for (Cleanup* node = cleanup_.next; node != nullptr;) {
    node->function(node->arg1, node->arg2);
    delete std::exchange(node, node->next);
  }
}

void Cleanable::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  assert(function != nullptr);
  if (cleanup_.function == nullptr) {
    cleanup_ = Cleanup{function, arg1, arg2, nullptr};
    return;
  }
  cleanup_.next = new Cleanup{function, arg1, arg2, cleanup_.next};
}

void Cleanable::RegisterCleanup(Cleanup* node) {
  assert(node != nullptr);
  assert(node->function != nullptr);
  if (cleanup_.function == nullptr) {
    cleanup_ = Cleanup{node->function, node->arg1, node->arg2, nullptr};
    delete node;
    return;
  }
  node->next = cleanup_.next;
  cleanup_.next = node;
}

void Cleanable::DelegateCleanupsTo(Cleanable* other) {
  assert(other != nullptr);
  assert(other != this);
  if (cleanup_.function == nullptr) return;
  other->RegisterCleanup(cleanup_.function, cleanup_.arg1, cleanup_.arg2);
  for (Cleanup* node = cleanup_.next; node != nullptr;) {
    other->RegisterCleanup(std::exchange(node, node->next));
  }
  cleanup_.function = nullptr;
  cleanup_.next = nullptr;
}

struct SharedCleanablePtr::Counted : public Cleanable {
  // Each decrement releases and the last one acquires, so that the cleanups see everything that the
  // other holders did.
  std::atomic<int> references{1};

  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  static void UnrefCleanup(void* counted, void*) { static_cast<Counted*>(counted)->Unref(); }
};

SharedCleanablePtr::~SharedCleanablePtr() { Reset(); }

SharedCleanablePtr::SharedCleanablePtr(const SharedCleanablePtr& from) : counted_(from.counted_) {
  if (counted_ != nullptr) counted_->Ref();
}

SharedCleanablePtr::SharedCleanablePtr(SharedCleanablePtr&& from) noexcept
    : counted_(std::exchange(from.counted_, nullptr)) {}

SharedCleanablePtr& SharedCleanablePtr::operator=(const SharedCleanablePtr& from) {
  if (this == &from) return *this;
  Reset();
  counted_ = from.counted_;
  if (counted_ != nullptr) counted_->Ref();
  return *this;
}

SharedCleanablePtr& SharedCleanablePtr::operator=(SharedCleanablePtr&& from) noexcept {
  if (this == &from) return *this;
  Reset();
  counted_ = std::exchange(from.counted_, nullptr);
  return *this;
}

void SharedCleanablePtr::Allocate() {
  Reset();
  counted_ = new Counted;
}

void SharedCleanablePtr::Reset() {
  if (counted_ != nullptr) std::exchange(counted_, nullptr)->Unref();
}

Cleanable& SharedCleanablePtr::operator*() { return *counted_; }
Cleanable* SharedCleanablePtr::operator->() { return counted_; }
Cleanable* SharedCleanablePtr::get() { return counted_; }
const Cleanable* SharedCleanablePtr::get() const { return counted_; }

void SharedCleanablePtr::RegisterCopyWith(Cleanable* target) {
  if (counted_ == nullptr) return;
  counted_->Ref();
  target->RegisterCleanup(&Counted::UnrefCleanup, counted_, nullptr);
}

void SharedCleanablePtr::MoveAsCleanupTo(Cleanable* target) {
  if (counted_ == nullptr) return;
  target->RegisterCleanup(&Counted::UnrefCleanup, std::exchange(counted_, nullptr), nullptr);
}

}  // namespace ashlar
