// SPDX-License-Identifier: Apache-2.0
//
// JobRegistry counts the running background jobs, numbers them, and protects the files that they
// write from deletion.
//
// All functions need the DB mutex. The scheduler counts the jobs. The code that allocates a file
// number protects it until a version names the file, or until no version ever will.
#pragma once

#include <cassert>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class JobRegistry {
 public:
  // A number for a flush, compaction or deletion, for listeners and the event log. Begins with 1.
  int NewJobId() REQUIRES(db_mutex) { return next_job_id_++; }

  // A thread begins a flush; the flush has taken effect and only cleans up; the thread is free
  // again.
  void FlushBegins() REQUIRES(db_mutex) { flushes_++; }
  void FlushSettles() REQUIRES(db_mutex) {
    settled_flushes_++;
    assert(settled_flushes_ <= flushes_);
  }
  void FlushEnds(bool has_settled) REQUIRES(db_mutex) {
    flushes_--;
    if (has_settled) settled_flushes_--;
    assert(flushes_ >= 0);
    assert(settled_flushes_ >= 0);
    assert(settled_flushes_ <= flushes_);
  }
  void CompactionBegins() REQUIRES(db_mutex) { compactions_++; }
  void CompactionEnds() REQUIRES(db_mutex) {
    assert(compactions_ > 0);
    compactions_--;
  }
  // Grants a compaction a second thread, while fewer than `limit` threads are busy.
  bool TakeHelper(int limit) REQUIRES(db_mutex) {
    assert(settled_flushes_ <= flushes_);
    assert(helpers_ >= 0);
    if (flushes_ - settled_flushes_ + compactions_ + helpers_ >= limit) return false;
    helpers_++;
    return true;
  }
  void ReturnHelper() REQUIRES(db_mutex) {
    assert(helpers_ > 0);
    helpers_--;
  }
  int flushes() const REQUIRES(db_mutex) { return flushes_; }
  // Without those that only clean up: none after a flush that a program has waited for.
  int unsettled_flushes() const REQUIRES(db_mutex) { return flushes_ - settled_flushes_; }
  int compactions() const REQUIRES(db_mutex) { return compactions_; }

  // Files with this number are not deleted. Each Protect() is followed by Unprotect() or, if the
  // MANIFEST on disk may name the file after a failed write, by LeaveInDoubt().
  void Protect(FileNumber number) REQUIRES(db_mutex) { pending_outputs_.insert(number); }
  void Unprotect(FileNumber number) REQUIRES(db_mutex) {
    const auto found = pending_outputs_.find(number);
    assert(found != pending_outputs_.end());
    pending_outputs_.erase(found);
  }
  // Files of a failed job, which stay protected until the MANIFEST is certain not to name them
  // (VersionSet::is_in_doubt()). `paths` are those that exist.
  void LeaveInDoubt(const std::vector<FileNumber>& numbers, std::vector<std::string> paths)
      REQUIRES(db_mutex) {
    doubtful_numbers_.insert(doubtful_numbers_.end(), numbers.begin(), numbers.end());
    for (std::string& path : paths) doubtful_paths_.push_back(std::move(path));
  }
  const std::vector<std::string>& doubtful_paths() const REQUIRES(db_mutex) {
    return doubtful_paths_;
  }
  // Ends the protection of these files and returns their paths, for deletion.
  std::vector<std::string> TakeDoubtful() REQUIRES(db_mutex) {
    for (const FileNumber number : std::exchange(doubtful_numbers_, {})) Unprotect(number);
    return std::exchange(doubtful_paths_, {});
  }
  // Called at the end of opening, when no job runs.
  void UnprotectAll() REQUIRES(db_mutex) { pending_outputs_.clear(); }
  bool IsProtected(FileNumber number) const REQUIRES(db_mutex) {
    return pending_outputs_.contains(number);
  }
  // The numbers are in ascending order.
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
  std::vector<FileNumber> doubtful_numbers_ GUARDED_BY(db_mutex);
  std::vector<std::string> doubtful_paths_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
