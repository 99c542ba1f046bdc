// SPDX-License-Identifier: Apache-2.0
//
// ThreadMark says what the calling thread is doing, for as long as the object lives. Marks of a
// thread form a linked list, innermost first. A thread that works for another one, which waits for
// its end, takes over the marks of that one (ThreadMark::Adopted).
//
// Threads: each thread reads only its own marks.
#pragma once

#include <cassert>

namespace ashlar {

class ThreadMark {
 public:
  ThreadMark() : outer_(innermost_) { innermost_ = this; }
  ~ThreadMark() {
    assert(innermost_ == this);  // marks of a thread end in the reverse order
    innermost_ = outer_;
  }
  ThreadMark(const ThreadMark&) = delete;
  ThreadMark& operator=(const ThreadMark&) = delete;

  // Null: the thread has no mark.
  static const ThreadMark* Innermost() { return innermost_; }
  const ThreadMark* outer() const { return outer_; }

  // The calling thread has the marks of another thread, which outlive the object, and no others.
  class Adopted {
   public:
    explicit Adopted(const ThreadMark* marks) : before_(innermost_) { innermost_ = marks; }
    ~Adopted() { innermost_ = before_; }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;

   private:
    const ThreadMark* const before_;
  };

 private:
  static inline constinit thread_local const ThreadMark* innermost_ = nullptr;

  const ThreadMark* const outer_;
};

}  // namespace ashlar
