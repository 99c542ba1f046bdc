// SPDX-License-Identifier: Apache-2.0
//
// A file is deleted first and paid for afterwards, so that the first file of a burst is deleted
// without waiting.
#include "env/space/paced_deleter.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "env/file_util.h"
#include "env/info_log.h"
#include "util/result.h"

namespace ashlar {

PacedDeleter::PacedDeleter(PacedDeleterOptions options)
    : fs_(std::move(options.fs)),
      clock_(std::move(options.clock)),
      info_log_(std::move(options.info_log)),
      most_chunk_bytes_(options.most_chunk_bytes),
      rate_(options.bytes_per_second) {}

PacedDeleter::~PacedDeleter() {
  // The mutex must be free while the thread is awaited, because the thread takes it after each
  // file.
  std::thread thread;
  {
    MutexLock lock(&mutex_);
    is_stopping_ = true;
    changed_.SignalAll();
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

void PacedDeleter::MendInChild() NO_THREAD_SAFETY_ANALYSIS {
  changed_.ForgetWaiters();
  // An `on_gone` function called fork().
  // In the child of a fork() only the calling thread exists.
  if (thread_.get_id() == std::this_thread::get_id()) return;
  ForgetThread(&thread_);
  // The parent deletes these files.
  files_.clear();
  waiting_bytes_ = 0;
}

bool PacedDeleter::Add(const std::string& path, uint64_t bytes, OnGone on_gone) {
  MutexLock lock(&mutex_);
  assert(on_gone != nullptr);
  assert(!is_stopping_);
  // The thread starts with the first file, so managers that delete nothing have none.
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::exception&) {
      // Without a thread the caller deletes the file itself, at once.
      return false;
    }
  }
  // Time that the queue was empty does not count as a right to delete faster now.
  if (files_.empty()) {
    deleted_bytes_ = 0;
    since_micros_ = clock_->NowNanos() / 1000;
  }
  files_.push_back({path, bytes, std::move(on_gone)});
  waiting_bytes_ += bytes;
  changed_.SignalAll();
  return true;
}

void PacedDeleter::SetRate(int64_t bytes_per_second) {
  MutexLock lock(&mutex_);
  // Work that was done at the old rate does not count against the new one.
  rate_ = bytes_per_second;
  deleted_bytes_ = 0;
  since_micros_ = clock_->NowNanos() / 1000;
  changed_.SignalAll();
}

int64_t PacedDeleter::rate() const {
  MutexLock lock(&mutex_);
  return rate_;
}

uint64_t PacedDeleter::waiting_bytes() const {
  MutexLock lock(&mutex_);
  return waiting_bytes_;
}

void PacedDeleter::AwaitEmpty() {
  MutexLock lock(&mutex_);
  // Woken after each file, not only after the last one.
  while (!files_.empty()) changed_.Wait();
}

void PacedDeleter::Run() {
  MutexLock lock(&mutex_);
  while (!is_stopping_) {
    // Nothing to do: Add(), SetRate() and the destructor wake the thread.
    if (files_.empty()) {
      changed_.Wait();
      continue;
    }
    File& file =
        files_
            .front();  // stays valid: deques do not move elements, and only Run() removes the first
    uint64_t deleted = 0;
    bool is_gone = false;
    {
      MutexUnlock unlock(&mutex_);
      const Status status = DeletePiece(file, &deleted, &is_gone);
      if (!status.ok()) {
        // The file stays on disk. The next opening of the database finds it as trash.
        Warn(info_log_.get(), "cannot delete %s: %s", file.path.c_str(), status.ToString().c_str());
      }
      assert(file.on_gone != nullptr);
      if (is_gone) file.on_gone(status);
    }
    deleted_bytes_ += deleted;
    assert(waiting_bytes_ >= file.bytes);
    // The file may be larger or smaller on disk than it was said to be; the sum of the waiting
    // bytes uses the size of Add().
    const uint64_t counted = is_gone ? file.bytes : std::min(deleted, file.bytes);
    file.bytes -= counted;
    waiting_bytes_ -= counted;
    AwaitTurn();
    if (!is_gone) continue;
    files_.pop_front();
    changed_.SignalAll();
  }
}

// A burst pays by its average rate, so that one late wake-up does not slow the rest down.
void PacedDeleter::AwaitTurn() {
  while (!is_stopping_ && rate_ > 0) {
    assert(rate_ > 0);
    const double earned = static_cast<double>(deleted_bytes_) * 1e6 / static_cast<double>(rate_);
    // The steady clock, because a change of the time of day must not stop or hurry deletions.
    const uint64_t elapsed = clock_->NowNanos() / 1000 - since_micros_;
    if (static_cast<double>(elapsed) >= earned) return;
    // The wait is limited to a range that the clock and a double can represent.
    const double wait = std::clamp(earned - static_cast<double>(elapsed), 1.0, 1e9);
    changed_.WaitFor(static_cast<uint64_t>(wait));
  }
}

Status PacedDeleter::DeletePiece(const File& file, uint64_t* deleted, bool* is_gone) {
  assert(deleted != nullptr);
  assert(is_gone != nullptr);
  assert(*deleted == 0 && !*is_gone);
  if (CutPiece(file, deleted)) return Status::OK();
  *is_gone = true;
  // The whole rest counts, even if the file was already gone.
  *deleted = file.bytes;
  return DeleteFileIfExists(fs_.get(), file.path);
}

// A file with another name is not cut: a checkpoint, or the program that gave us the file, still
// reads it by that name.
bool PacedDeleter::CutPiece(const File& file, uint64_t* deleted) {
  assert(deleted != nullptr);
  if (most_chunk_bytes_ == 0) return false;
  uint64_t links = 0;
  const IOStatus counted = fs_->NumFileLinks(file.path, IOOptions(), &links, nullptr);
  if (!counted.ok() || links != 1) return false;
  Result<uint64_t> bytes = FileSizeOf(fs_.get(), file.path);
  // The rest is unlinked in one piece.
  if (!bytes.ok() || *bytes <= most_chunk_bytes_) return false;
  const uint64_t rest = *bytes - most_chunk_bytes_;
  assert(rest < *bytes);
  if (!fs_->Truncate(file.path, rest, IOOptions(), nullptr).ok()) return false;
  // Makes the file system free the space now, and not in one go with what it frees later.
  IgnoreError(fs_->SyncFile(file.path, FileOptions(), IOOptions(), /*use_fsync=*/true, nullptr),
              "then it is freed later");
  *deleted = most_chunk_bytes_;
  return true;
}

}  // namespace ashlar
