// SPDX-License-Identifier: Apache-2.0
//
// PacedDeleter deletes files no faster than a rate allows, so that a disk which frees large extents
// slowly keeps its speed for those who read and write meanwhile.
//
// A thread of its own takes them one by one, a large one from its end in pieces, and after each
// piece waits until the rate has caught up. What is left when the object goes stays on disk. What
// waits when the process forks is left to the parent.
//
// Threads: any. Crash: a file that was cut is one that nobody reads any more.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "ashlar/system_clock.h"
#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

struct PacedDeleterOptions {
  std::shared_ptr<FileSystem> fs;
  std::shared_ptr<SystemClock> clock;
  std::shared_ptr<Logger> info_log;  // null: nobody is told of what cannot be deleted
  int64_t bytes_per_second = 0;      // 0 or less: at once
  uint64_t most_chunk_bytes = 0;     // 0: files are deleted whole
};

class PacedDeleter {
 public:
  explicit PacedDeleter(PacedDeleterOptions options);
  ~PacedDeleter();
  PacedDeleter(const PacedDeleter&) = delete;
  PacedDeleter& operator=(const PacedDeleter&) = delete;

  // `on_gone` is called by the deleter's thread, without locks, when the file is no more its
  // business: deleted, or not to be deleted. False: there is no thread to do it; nothing happened.
  using OnGone = std::function<void(const Status& status)>;
  bool Add(const std::string& path, uint64_t bytes, OnGone on_gone);

  void SetRate(int64_t bytes_per_second);
  int64_t rate() const;
  uint64_t waiting_bytes() const;
  // Returns when nothing waits.
  void AwaitEmpty();

 private:
  struct File {
    std::string path;
    uint64_t bytes = 0;
    OnGone on_gone;
  };

  void Run();
  // Deletes the file, or a piece of its end. *deleted: how much is gone; *is_gone: all of it.
  Status DeletePiece(const File& file, uint64_t* deleted, bool* is_gone);
  bool CutPiece(const File& file, uint64_t* deleted);
  // Until the rate allows more than has been deleted.
  void AwaitTurn() REQUIRES(mutex_);
  void MendInChild();

  const std::shared_ptr<FileSystem> fs_;
  const std::shared_ptr<SystemClock> clock_;
  const std::shared_ptr<Logger> info_log_;
  const uint64_t most_chunk_bytes_;

  mutable Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  std::deque<File> files_ GUARDED_BY(mutex_);  // the first is being deleted
  uint64_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  int64_t rate_ GUARDED_BY(mutex_);
  // Since the rate was set or the queue was empty.
  uint64_t deleted_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t since_micros_ GUARDED_BY(mutex_) = 0;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);  // from the first file on
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
