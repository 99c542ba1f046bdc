// SPDX-License-Identifier: Apache-2.0
//
// JobRegistry counts the background jobs that run, numbers them, and protects the files that they
// write from deletion.
//
// All functions need the DB mutex. The scheduler counts jobs; whoever gives a file its number
// protects it, until a version names the file or nobody will.
#pragma once

#include <cassert>
#include <cstdint>
#include <set>
#include <vector>

#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class JobRegistry {
 public:
  // Of flushes, compactions and deletions, for listeners and the event log. From 1 on.
  int NewJobId() REQUIRES(db_mutex) { return next_job_id_++; }

  // A thread flushes; the flush has taken effect and only tidies up; the thread is free again.
  void FlushBegins() REQUIRES(db_mutex) { flushes_++; }
  void FlushSettles() REQUIRES(db_mutex) {
    settled_flushes_++;
    assert(settled_flushes_ <= flushes_);
  }
  void FlushEnds(bool has_settled) REQUIRES(db_mutex) {
    flushes_--;
    if (has_settled) settled_flushes_--;
    assert(flushes_ >= 0 && settled_flushes_ >= 0 && settled_flushes_ <= flushes_);
  }
  void CompactionBegins() REQUIRES(db_mutex) { compactions_++; }
  void CompactionEnds() REQUIRES(db_mutex) {
    assert(compactions_ > 0);
    compactions_--;
  }
  // A thread beside its own for a compaction, while fewer than `limit` threads are busy.
  bool TakeHelper(int limit) REQUIRES(db_mutex) {
    if (flushes_ - settled_flushes_ + compactions_ + helpers_ >= limit) return false;
    helpers_++;
    return true;
  }
  void ReturnHelper() REQUIRES(db_mutex) {
    assert(helpers_ > 0);
    helpers_--;
  }
  int flushes() const REQUIRES(db_mutex) { return flushes_; }
  int compactions() const REQUIRES(db_mutex) { return compactions_; }

  // Files with this number are not deleted. Each Protect() has its Unprotect(), but for files that
  // a MANIFEST may name which could not be written: they stay for good.
  void Protect(FileNumber number) REQUIRES(db_mutex) { pending_outputs_.insert(number); }
  void Unprotect(FileNumber number) REQUIRES(db_mutex) {
    const auto found = pending_outputs_.find(number);
    assert(found != pending_outputs_.end());
    pending_outputs_.erase(found);
  }
  // At the end of opening, which has no jobs beside it.
  void UnprotectAll() REQUIRES(db_mutex) { pending_outputs_.clear(); }
  bool IsProtected(FileNumber number) const REQUIRES(db_mutex) {
    return pending_outputs_.contains(number);
  }
  // Ascending.
  std::vector<FileNumber> ProtectedFiles() const REQUIRES(db_mutex) {
    return {pending_outputs_.begin(), pending_outputs_.end()};
  }

 private:
  int next_job_id_ GUARDED_BY(db_mutex) = 1;
  int flushes_ GUARDED_BY(db_mutex) = 0;
  int settled_flushes_ GUARDED_BY(db_mutex) = 0;
  int compactions_ GUARDED_BY(db_mutex) = 0;
  int helpers_ GUARDED_BY(db_mutex) = 0;
  std::multiset<FileNumber> pending_outputs_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
