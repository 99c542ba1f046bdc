// SPDX-License-Identifier: Apache-2.0
//
// EngineTurns makes operations of an engine wait for each other:
//
//            | read | append | write   (yes = they may run at the same time)
//     read   | yes  | yes    | no      reads use only complete backups
//     append | yes  | no     | no      creating a backup, garbage collection
//     write  | no   | no     | no      deleting backups, whose files a read may be using
//
// No mutex is held during an operation, so that a callback of the program may begin a read. Any
// thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "util/threads/mutex.h"

namespace ashlar {

class EngineTurns {
 public:
  enum class Kind : uint8_t { kRead, kAppend, kWrite };

  // Waits until an operation of this kind may begin. The operation ends with the object.
  class Turn {
   public:
    Turn(EngineTurns* turns, Kind kind) : turns_(turns), kind_(kind) { turns_->Begin(kind_); }
    ~Turn() { turns_->End(kind_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EngineTurns* const turns_;
    const Kind kind_;
  };

 private:
  void Begin(Kind kind) {
    MutexLock lock(&mutex_);
    while (!MayBeginLocked(kind)) changed_.Wait();
    if (kind == Kind::kRead) ++readers_;
    if (kind == Kind::kAppend) has_append_ = true;
    if (kind == Kind::kWrite) has_write_ = true;
  }
  void End(Kind kind) {
    MutexLock lock(&mutex_);
    assert(kind == Kind::kRead ? readers_ > 0 : kind == Kind::kAppend ? has_append_ : has_write_);
    if (kind == Kind::kRead) --readers_;
    if (kind == Kind::kAppend) has_append_ = false;
    if (kind == Kind::kWrite) has_write_ = false;
    changed_.SignalAll();
  }
  bool MayBeginLocked(Kind kind) const REQUIRES(mutex_) {
    // A write that waits does not hold up later reads, so reads that follow each other without a
    // gap can keep it waiting.
    if (has_write_) return false;
    if (kind == Kind::kRead) return true;
    return !has_append_ && (kind == Kind::kAppend || readers_ == 0);
  }

  Mutex mutex_{LockRank::kUtility};
  CondVar changed_{&mutex_};
  // Operations that run now.
  size_t readers_ GUARDED_BY(mutex_) = 0;
  bool has_append_ GUARDED_BY(mutex_) = false;
  bool has_write_ GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
