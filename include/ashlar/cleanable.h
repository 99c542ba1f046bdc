// SPDX-License-Identifier: Apache-2.0
//
// Cleanable is a list of functions that are called when the object is destroyed or reset. It is the
// base class of Iterator and PinnableSlice, which use it to keep memory of the database alive.
//
// Threads: one at a time per object. The reference count of SharedCleanablePtr is thread safe; the
// Cleanable that it refers to is not.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

// A list of functions that the destructor and Reset() call.
class ASHLAR_EXPORT Cleanable {
 public:
  Cleanable() { cleanup_.function = nullptr, cleanup_.next = nullptr; }
  // Calls each registered function once, in unspecified order.
  ~Cleanable() { DoCleanup(); }

  Cleanable(const Cleanable&) = delete;
  Cleanable& operator=(const Cleanable&) = delete;

  // Move the cleanups to this object. Assignment first calls the old cleanups of this object.
  Cleanable(Cleanable&& other) noexcept;
  Cleanable& operator=(Cleanable&& other) noexcept;

  using CleanupFunction = void (*)(void* arg1, void* arg2);

  // Adds function(arg1, arg2) to the list. The first one costs no allocation.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);

  // Moves all cleanups to `other`, which must not be null and must not be this object.
  void DelegateCleanupsTo(Cleanable* other);

  // Calls the cleanups now. Afterwards the list is empty.
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

  // Adds a node that was created with new. The list owns it.
  void RegisterCleanup(Cleanup* node);

  // The first node is part of the object. If its function is nullptr, the list is empty.
  Cleanup cleanup_;

 private:
  void DoCleanup() {
    if (cleanup_.function != nullptr) RunCleanups();
  }
  void RunCleanups();
};

// A reference-counted Cleanable: several slices can share a resource, and the cleanups are called
// when the last reference is released. A default-constructed pointer refers to no object.
class ASHLAR_EXPORT SharedCleanablePtr {
 public:
  SharedCleanablePtr() = default;
  ~SharedCleanablePtr();
  SharedCleanablePtr(const SharedCleanablePtr& from);
  SharedCleanablePtr(SharedCleanablePtr&& from) noexcept;
  SharedCleanablePtr& operator=(const SharedCleanablePtr& from);
  SharedCleanablePtr& operator=(SharedCleanablePtr&& from) noexcept;

  // Releases the current object and creates a new one.
  void Allocate();
  // Releases the current object. get() is nullptr afterwards.
  void Reset();

  // Must not be called while get() is nullptr.
  Cleanable& operator*();
  Cleanable* operator->();
  Cleanable* get();
  const Cleanable* get() const;

  // Gives `target` one more reference, which it holds until its own cleanups are called. Does
  // nothing if get() is nullptr.
  void RegisterCopyWith(Cleanable* target);
  // Moves this reference to `target`. get() is nullptr afterwards. Does nothing if it was nullptr
  // before.
  void MoveAsCleanupTo(Cleanable* target);

 private:
  struct Counted;
  Counted* counted_ = nullptr;
};

}  // namespace ashlar
