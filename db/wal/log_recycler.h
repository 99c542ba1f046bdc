// SPDX-License-Identifier: Apache-2.0
//
// LogRecycler keeps a limited number of files of obsolete logs for reuse by new logs. A write into
// such a file allocates no new space, so a sync need not write file system metadata.
//
//   Offer(): kept under its old number  ->  Take(): about to be renamed  ->  Done(): another log
//
// A reader that opens a log by its number pins the log first and for as long as it reads. A pinned
// file is never taken, and a file that is being taken cannot be pinned. A file with a second hard
// link (e.g. of a checkpoint) is not taken either. After a crash the kept files are ordinary
// obsolete logs.
//
// Threads: any. Take() and Drain() access the file system without holding a lock.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class LogRecycler {
 private:
  // A number is in at most one of `kept` and `taken`. Any log may be pinned, kept or not.
  struct State {
    Mutex mutex{LockRank::kLeaf};
    std::deque<FileNumber> kept GUARDED_BY(mutex);  // in the order they were offered
    std::set<FileNumber> taken GUARDED_BY(mutex);   // between Take() and Done()
    std::multiset<FileNumber> pinned GUARDED_BY(mutex);
    bool is_drained GUARDED_BY(mutex) = false;
  };

 public:
  // Keeps the file of one log from being overwritten. Move-only. A pin may outlive the recycler,
  // because applications may delete their log iterators after the database.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept = default;
    Pin& operator=(Pin&& other) noexcept {
      std::swap(state_, other.state_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Pin();

   private:
    friend class LogRecycler;
    Pin(std::shared_ptr<State> state, FileNumber number)
        : state_(std::move(state)), number_(number) {}
    std::shared_ptr<State> state_;
    FileNumber number_ = 0;
  };

  LogRecycler() = default;
  LogRecycler(const LogRecycler&) = delete;
  LogRecycler& operator=(const LogRecycler&) = delete;

  // Called before all other functions. With a limit of 0 no file is kept. `fs` outlives the
  // recycler.
  void Configure(FileSystem* fs, const std::string& wal_dir, size_t limit);
  bool is_on() const { return limit_ > 0; }

  // Precondition: the log is obsolete and closed, and all its records contain its number. Returns
  // false if enough files are kept; then the caller deletes the file.
  bool Offer(FileNumber number);
  // Returns the oldest file that may be overwritten; no value if there is none. Files that may not
  // be overwritten are dropped from the list and deleted; their readers have them open. The caller
  // renames or deletes the returned file and calls Done() in either case.
  std::optional<FileNumber> Take();
  // The file that Take() returned was renamed or deleted.
  void Done(FileNumber number);
  // Pins a log. nullopt if its file is being taken for another log.
  std::optional<Pin> PinLog(FileNumber number);
  // Stops keeping files. The caller deletes the returned ones.
  std::vector<FileNumber> Drain();

 private:
  std::optional<FileNumber> NextKept(bool* is_pinned);
  bool HasOtherNames(FileNumber number) const;

  FileSystem* fs_ = nullptr;
  std::string wal_dir_;
  size_t limit_ = 0;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ashlar
