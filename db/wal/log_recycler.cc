// SPDX-License-Identifier: Apache-2.0
//
// Pins share the state with the recycler, because the last pin may be released after the recycler
// is destroyed.
#include "db/wal/log_recycler.h"

#include <cassert>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/result.h"

namespace ashlar {

void LogRecycler::Configure(FileSystem* fs, const std::string& wal_dir, size_t limit) {
  assert(fs != nullptr);
  assert(fs_ == nullptr);
  fs_ = fs;
  wal_dir_ = wal_dir;
  limit_ = limit;
}

// False: the log is not kept, and the caller deletes it.
bool LogRecycler::Offer(FileNumber number) {
  State& state = *state_;
  MutexLock lock(&state.mutex);
  assert(!state.taken.contains(number));
  if (state.is_drained || state.kept.size() >= limit_) return false;
  state.kept.push_back(number);
  return true;
}

// Logs that others still read or that have further links must not be overwritten; these are deleted
// instead.
std::optional<FileNumber> LogRecycler::Take() {
  bool is_pinned = false;
  while (const std::optional<FileNumber> number = NextKept(&is_pinned)) {
    if (!is_pinned && !HasOtherNames(*number)) return number;
    IgnoreError(DeleteFileIfExists(fs_, LogFileName(wal_dir_, *number)),
                "it is obsolete: the next open deletes it");
    Done(*number);
  }
  return std::nullopt;
}

// Moves the oldest kept number to `taken`, so that the file cannot be pinned while it is renamed.
std::optional<FileNumber> LogRecycler::NextKept(bool* is_pinned) {
  State& state = *state_;
  MutexLock lock(&state.mutex);
  if (state.kept.empty()) return std::nullopt;
  const FileNumber number = state.kept.front();
  state.taken.insert(number);  // if this runs out of memory, the file is still kept
  state.kept.pop_front();
  *is_pinned = state.pinned.contains(number);
  return number;
}

// A file system that cannot count links usually cannot make them either.
bool LogRecycler::HasOtherNames(FileNumber number) const {
  uint64_t names = 0;
  const IOStatus counted =
      fs_->NumFileLinks(LogFileName(wal_dir_, number), IOOptions(), &names, nullptr);
  return counted.ok() ? names > 1 : !counted.IsNotSupported();
}

void LogRecycler::Done(FileNumber number) {
  State& state = *state_;
  MutexLock lock(&state.mutex);
  [[maybe_unused]] const size_t erased = state.taken.erase(number);
  assert(erased == 1);
}

std::optional<LogRecycler::Pin> LogRecycler::PinLog(FileNumber number) {
  State& state = *state_;
  MutexLock lock(&state.mutex);
  if (state.taken.contains(number)) return std::nullopt;
  state.pinned.insert(number);
  return Pin(state_, number);
}

LogRecycler::Pin::~Pin() {
  if (state_ == nullptr) return;
  State& state = *state_;
  MutexLock lock(&state.mutex);
  const auto it = state.pinned.find(number_);
  assert(it != state.pinned.end());
  state.pinned.erase(it);
}

// At closing: no log is kept any more, and the caller deletes those that are left.
std::vector<FileNumber> LogRecycler::Drain() {
  State& state = *state_;
  MutexLock lock(&state.mutex);
  state.is_drained = true;
  std::vector<FileNumber> left(state.kept.begin(), state.kept.end());
  state.kept.clear();
  return left;
}

}  // namespace ashlar
