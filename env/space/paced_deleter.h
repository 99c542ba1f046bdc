// SPDX-License-Identifier: Apache-2.0
//
// PacedDeleter deletes files no faster than a given rate. This keeps a disk that is slow at freeing
// large extents fast for its readers and writers.
//
// A thread of its own deletes the files one by one. It cuts a large file from the end in pieces,
// and after each piece it waits until the rate allows the next. Files that are still waiting when
// the object is destroyed stay on disk. When the process forks, they are left to the parent.
//
// Threads: any. Crash: a file may be left cut. No reader needs such a file any more, and the next
// opening deletes it by its name.
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

// All given once; only the rate changes later, by SetRate().
struct PacedDeleterOptions {
  std::shared_ptr<FileSystem> fs;
  std::shared_ptr<SystemClock> clock;
  std::shared_ptr<Logger> info_log;  // null: failed deletions are not logged
  int64_t bytes_per_second = 0;      // 0 or less: delete without waiting
  uint64_t most_chunk_bytes = 0;     // 0: delete each file in one piece
};

// See the head of this file. Its owner destroys it before the objects that the `on_gone` functions
// use.
class PacedDeleter {
 public:
  explicit PacedDeleter(PacedDeleterOptions options);
  ~PacedDeleter();
  PacedDeleter(const PacedDeleter&) = delete;
  PacedDeleter& operator=(const PacedDeleter&) = delete;

  // `on_gone` is called by the deleter's thread, without locks, when the deleter is finished with
  // the file: it is deleted, or cannot be deleted. Returns false, without any effect, if the thread
  // could not be started.
  using OnGone = std::function<void(const Status& status)>;
  bool Add(const std::string& path, uint64_t bytes, OnGone on_gone);

  // Bytes per second, from now on; 0 or less deletes without waiting.
  void SetRate(int64_t bytes_per_second);
  int64_t rate() const;
  // The sum of the sizes of the files that are still to be deleted, as they were given to Add(),
  // less the pieces that were cut.
  uint64_t waiting_bytes() const;
  // Waits until no file is left to delete.
  void AwaitEmpty();

 private:
  // One file of the queue. `bytes` becomes smaller as pieces are cut.
  struct File {
    std::string path;
    uint64_t bytes = 0;
    OnGone on_gone;
  };

  // The body of the thread: deletes the first file, piece by piece, until the object is destroyed.
  void Run();
  // Deletes the file, or a piece at its end. Sets *deleted to the bytes that were freed, and
  // *is_gone to whether the deleter is finished with the file.
  Status DeletePiece(const File& file, uint64_t* deleted, bool* is_gone);
  // Truncates the file by one piece, and syncs it. Returns false if the file must be unlinked as a
  // whole.
  bool CutPiece(const File& file, uint64_t* deleted);
  // Waits until the rate allows to delete more.
  void AwaitTurn() REQUIRES(mutex_);
  // Runs in a child after fork(): the queue belongs to the thread of the parent.
  void MendInChild();

  const std::shared_ptr<FileSystem> fs_;
  const std::shared_ptr<SystemClock> clock_;
  const std::shared_ptr<Logger> info_log_;
  const uint64_t most_chunk_bytes_;

  mutable Mutex mutex_{LockRank::kLeaf};
  // Signalled when a file is added or gone, when the rate changes, and at the end.
  CondVar changed_{&mutex_};
  std::deque<File> files_ GUARDED_BY(mutex_);  // the first is being deleted
  uint64_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  int64_t rate_ GUARDED_BY(mutex_);
  // Bytes deleted since the rate was set or a file came to the empty queue, and the time when that
  // was.
  uint64_t deleted_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t since_micros_ GUARDED_BY(mutex_) = 0;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);  // started for the first file
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
