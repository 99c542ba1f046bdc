// SPDX-License-Identifier: Apache-2.0
//
// Deletes first and waits afterwards: the first file of a burst costs no time.
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
  if (thread_.get_id() == std::this_thread::get_id()) return;  // an `on_gone` forked
  ForgetThread(&thread_);
  files_.clear();
  waiting_bytes_ = 0;
}

bool PacedDeleter::Add(const std::string& path, uint64_t bytes, OnGone on_gone) {
  MutexLock lock(&mutex_);
  assert(!is_stopping_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::exception&) {
      return false;
    }
  }
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
  while (!files_.empty()) changed_.Wait();
}

void PacedDeleter::Run() {
  MutexLock lock(&mutex_);
  while (!is_stopping_) {
    if (files_.empty()) {
      changed_.Wait();
      continue;
    }
    File& file = files_.front();  // a deque's elements stay where they are
    uint64_t deleted = 0;
    bool is_gone = false;
    {
      MutexUnlock unlock(&mutex_);
      const Status status = DeletePiece(file, &deleted, &is_gone);
      if (!status.ok()) {
        Warn(info_log_.get(), "cannot delete %s: %s", file.path.c_str(), status.ToString().c_str());
      }
      if (is_gone) file.on_gone(status);
    }
    deleted_bytes_ += deleted;
    const uint64_t counted = is_gone ? file.bytes : std::min(deleted, file.bytes);
    file.bytes -= counted;
    waiting_bytes_ -= counted;
    AwaitTurn();
    if (!is_gone) continue;
    files_.pop_front();
    changed_.SignalAll();
  }
}

void PacedDeleter::AwaitTurn() {
  while (!is_stopping_ && rate_ > 0) {
    const double earned = static_cast<double>(deleted_bytes_) * 1e6 / static_cast<double>(rate_);
    const uint64_t elapsed = clock_->NowNanos() / 1000 - since_micros_;
    if (static_cast<double>(elapsed) >= earned) return;
    // In steps that a clock and a double can express.
    const double wait = std::clamp(earned - static_cast<double>(elapsed), 1.0, 1e9);
    changed_.WaitFor(static_cast<uint64_t>(wait));
  }
}

Status PacedDeleter::DeletePiece(const File& file, uint64_t* deleted, bool* is_gone) {
  if (CutPiece(file, deleted)) return Status::OK();
  *is_gone = true;
  *deleted = file.bytes;
  return DeleteFileIfExists(fs_.get(), file.path);
}

// Not if the file has another name: a checkpoint, or whoever gave it, reads it by that.
bool PacedDeleter::CutPiece(const File& file, uint64_t* deleted) {
  if (most_chunk_bytes_ == 0) return false;
  uint64_t links = 0;
  const IOStatus counted = fs_->NumFileLinks(file.path, IOOptions(), &links, nullptr);
  if (!counted.ok() || links != 1) return false;
  Result<uint64_t> bytes = FileSizeOf(fs_.get(), file.path);
  if (!bytes.ok() || *bytes <= most_chunk_bytes_) return false;
  const uint64_t rest = *bytes - most_chunk_bytes_;
  if (!fs_->Truncate(file.path, rest, IOOptions(), nullptr).ok()) return false;
  // Now, and not with whatever the file system frees later in one go.
  IgnoreError(fs_->SyncFile(file.path, FileOptions(), IOOptions(), /*use_fsync=*/true, nullptr),
              "then it is freed later");
  *deleted = most_chunk_bytes_;
  return true;
}

}  // namespace ashlar
