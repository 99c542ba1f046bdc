// SPDX-License-Identifier: Apache-2.0
//
// A number is in at most one of `kept_` and `taken_`; a pin may be of any log, kept or not.
#include "db/wal/log_recycler.h"

#include <cassert>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/result.h"

namespace ashlar {

void LogRecycler::Configure(FileSystem* fs, const std::string& wal_dir, size_t limit) {
  assert(fs != nullptr && fs_ == nullptr);
  fs_ = fs;
  wal_dir_ = wal_dir;
  limit_ = limit;
}

bool LogRecycler::Offer(FileNumber number) {
  MutexLock lock(&mutex_);
  assert(!taken_.contains(number));
  if (is_drained_ || kept_.size() >= limit_) return false;
  kept_.push_back(number);
  return true;
}

std::optional<FileNumber> LogRecycler::Take() {
  bool is_pinned = false;
  while (const std::optional<FileNumber> number = NextKept(&is_pinned)) {
    if (!is_pinned && !HasOtherNames(*number)) return number;
    IgnoreError(DeleteFileIfExists(fs_, LogFileName(wal_dir_, *number)),
                "it is obsolete: the next opening deletes it");
    Done(*number);
  }
  return std::nullopt;
}

std::optional<FileNumber> LogRecycler::NextKept(bool* is_pinned) {
  MutexLock lock(&mutex_);
  if (kept_.empty()) return std::nullopt;
  const FileNumber number = kept_.front();
  taken_.insert(number);  // it may run out of memory: then the file is still kept
  kept_.pop_front();
  *is_pinned = pinned_.contains(number);
  return number;
}

// A file system that cannot tell makes no links either, as a rule.
bool LogRecycler::HasOtherNames(FileNumber number) const {
  uint64_t names = 0;
  const IOStatus counted =
      fs_->NumFileLinks(LogFileName(wal_dir_, number), IOOptions(), &names, nullptr);
  return counted.ok() ? names > 1 : !counted.IsNotSupported();
}

void LogRecycler::Done(FileNumber number) {
  MutexLock lock(&mutex_);
  [[maybe_unused]] const size_t erased = taken_.erase(number);
  assert(erased == 1);
}

std::optional<LogRecycler::Pin> LogRecycler::PinLog(FileNumber number) {
  MutexLock lock(&mutex_);
  if (taken_.contains(number)) return std::nullopt;
  pinned_.insert(number);
  return Pin(this, number);
}

void LogRecycler::Unpin(FileNumber number) {
  MutexLock lock(&mutex_);
  const auto it = pinned_.find(number);
  assert(it != pinned_.end());
  pinned_.erase(it);
}

std::vector<FileNumber> LogRecycler::Drain() {
  MutexLock lock(&mutex_);
  is_drained_ = true;
  std::vector<FileNumber> left(kept_.begin(), kept_.end());
  kept_.clear();
  return left;
}

}  // namespace ashlar
