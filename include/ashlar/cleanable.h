// SPDX-License-Identifier: Apache-2.0
//
// Cleanable is a list of functions to be run when an object dies or is reset. It is the base of
// Iterator and PinnableSlice, which keep memory of the database alive in this way.
//
// Threads: one at a time per object. SharedCleanablePtr's reference count is thread safe; the
// Cleanable behind it is not.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_EXPORT Cleanable {
 public:
  Cleanable() { cleanup_.function = nullptr, cleanup_.next = nullptr; }
  // Runs every registered function once. The order is unspecified.
  ~Cleanable() { DoCleanup(); }

  Cleanable(const Cleanable&) = delete;
  Cleanable& operator=(const Cleanable&) = delete;

  // The source keeps no cleanups. Assignment first runs those of the target.
  Cleanable(Cleanable&& other) noexcept;
  Cleanable& operator=(Cleanable&& other) noexcept;

  using CleanupFunction = void (*)(void* arg1, void* arg2);

  // Adds function(arg1, arg2) to the list. The first one costs no allocation.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);

  // Hands all cleanups to `other`, which must not be null or this object.
  void DelegateCleanupsTo(Cleanable* other);

  // Runs the cleanups now; the list is empty afterwards.
  void Reset() {
    DoCleanup();
    cleanup_.function = nullptr;
    cleanup_.next = nullptr;
  }

  bool HasCleanups() { return cleanup_.function != nullptr; }

 protected:
  struct Cleanup {
    CleanupFunction function;
    void* arg1;
    void* arg2;
    Cleanup* next;
  };

  // Adds a node made with new; the list owns it from here on.
  void RegisterCleanup(Cleanup* node);

  // The first entry lives in the object itself; function == nullptr means that the list is empty.
  Cleanup cleanup_;

 private:
  void DoCleanup() {
    if (cleanup_.function != nullptr) RunCleanups();
  }
  void RunCleanups();
};

// A reference-counted Cleanable: several slices can keep one resource, and the cleanups run when
// the last reference goes. A default constructed pointer refers to nothing.
class ASHLAR_EXPORT SharedCleanablePtr {
 public:
  SharedCleanablePtr() = default;
  ~SharedCleanablePtr();
  SharedCleanablePtr(const SharedCleanablePtr& from);
  SharedCleanablePtr(SharedCleanablePtr&& from) noexcept;
  SharedCleanablePtr& operator=(const SharedCleanablePtr& from);
  SharedCleanablePtr& operator=(SharedCleanablePtr&& from) noexcept;

  // Lets go of the present object and makes a new one.
  void Allocate();
  // Lets go of the present object; get() is null afterwards.
  void Reset();

  // Only when get() is not null.
  Cleanable& operator*();
  Cleanable* operator->();
  Cleanable* get();
  const Cleanable* get() const;

  // Makes `target` hold one more reference until its own cleanups run. No-op without an object.
  void RegisterCopyWith(Cleanable* target);
  // Hands this reference to `target`; get() is null afterwards. No-op without an object.
  void MoveAsCleanupTo(Cleanable* target);

 private:
  struct Counted;
  Counted* counted_ = nullptr;
};

}  // namespace ashlar
