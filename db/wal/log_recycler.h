// SPDX-License-Identifier: Apache-2.0
//
// LogRecycler keeps the files of logs that nobody needs any more, up to a number of them, for the
// logs that come next: what is written there needs no new space, so that a sync of it is one of the
// data alone.
//
//   Offer(): kept under its old number  ->  Take(): about to be renamed  ->  Done(): another log
//
// Who opens a log by its number pins it first and for as long as it reads: a pinned file is never
// taken, and one that is being taken cannot be pinned. Nor is one taken that has a second name
// somewhere (a checkpoint's). After a crash what was kept is an obsolete log like any other.
//
// Threads: any. Take() and Drain() ask the file system; no lock is held meanwhile.
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
  // A number is in at most one of `kept` and `taken`; a pin may be of any log, kept or not.
  struct State {
    Mutex mutex{LockRank::kLeaf};
    std::deque<FileNumber> kept GUARDED_BY(mutex);  // in the order they were offered
    std::set<FileNumber> taken GUARDED_BY(mutex);   // between Take() and Done()
    std::multiset<FileNumber> pinned GUARDED_BY(mutex);
    bool is_drained GUARDED_BY(mutex) = false;
  };

 public:
  // Keeps the file of one log from being overwritten. Move-only. May outlive the recycler: programs
  // delete their iterators over logs after the database, too.
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

  // Before anything else; with a limit of 0 nothing is kept. `fs` outlives the recycler.
  void Configure(FileSystem* fs, const std::string& wal_dir, size_t limit);
  bool is_on() const { return limit_ > 0; }

  // The log is obsolete and closed, and all its records name it. False: there are enough, and its
  // file is the caller's to delete.
  bool Offer(FileNumber number);
  // The oldest file that may be overwritten; nothing: there is none. Files that may not be are
  // forgotten and deleted: whoever reads them has them open. The caller renames it, or deletes it,
  // and says Done() in any case.
  std::optional<FileNumber> Take();
  void Done(FileNumber number);
  // Nothing: the file is about to become another log's.
  std::optional<Pin> PinLog(FileNumber number);
  // Keeps nothing any more, from here on; these are left for the caller to delete.
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
