// SPDX-License-Identifier: Apache-2.0
//
// ReplayInserter puts the batches of logs into the memtables of the families that have not flushed
// them, at once or, where logs are long, by several threads.
//
// The sequence numbers are in the batches, so their order of insertion does not matter: the thread
// that reads the log hands chunks of it to threads that decode and insert. Only the switch of a
// full memtable waits for all chunks, because an immutable memtable must be whole up to some place
// of the log. Threads: one calls; those of its own need no lock of the database.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/column_family/family_set.h"
#include "db/read/merge_resolution.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class Env;

// Of one log, for its batches.
struct ReplaySource {
  FileNumber number = 0;
  std::string path;
  // No batch in it may name a family above this one; UINT32_MAX: any may, those that do not exist
  // are passed over.
  uint32_t max_family = UINT32_MAX;
  // Prepare sections may come: their data is inserted. Otherwise they are refused.
  bool allows_sections = false;
};

class ReplayInserter {
 public:
  // Whether the number in the header of a batch is that of its first record, or that of all.
  enum class Numbering : uint8_t { kByRecord, kShared };

  // Replaces the active memtable of a family, which is full; the log is the one that is read.
  // Called by the thread that calls Add(), while no thread inserts.
  using SwitchFunction = std::function<void(ColumnFamilyData*, FileNumber log_number)>;

  // The families stay what they are. With `threads`, of this environment, of 0 every batch is
  // inserted at once, and a memtable is sealed as soon as it is full; so it must be where values
  // are updated in place. Otherwise it may become fuller by kMaxInFlightBytes. The tools are for
  // reads.
  ReplayInserter(FamilySet* families, Env* env, size_t threads, const MergeTools& tools,
                 SwitchFunction switch_memtable) REQUIRES(db_mutex);
  // Without Finish() the rest is left out.
  ~ReplayInserter();
  ReplayInserter(const ReplayInserter&) = delete;
  ReplayInserter& operator=(const ReplayInserter&) = delete;

  static constexpr size_t kChunkBytes = 128 << 10;
  static constexpr size_t kMaxInFlightBytes = 1 << 20;

  // What comes is from this log.
  void SetSource(const ReplaySource& source);
  // `batch` is whole, with its header; `offset` is its place in the log. An error, also of a batch
  // before, fails the replay: Corruption, or NotSupported for what this version does not know.
  Status Add(const Slice& batch, uint64_t offset, Numbering numbering = Numbering::kByRecord);
  // All that was added is inserted, and counted by its memtables.
  Status Finish();

 private:
  // A family as the threads know it.
  struct Target {
    ColumnFamilyData* family = nullptr;
    FileNumber first_log = 0;  // logs before it hold nothing for it
  };
  class Insertion;
  class Workers;

  Status SwitchFullMemTables();

  const MergeTools tools_;
  const SwitchFunction switch_;
  std::vector<Target> targets_;  // by the families' ids
  std::shared_ptr<const ReplaySource> source_;
  std::unique_ptr<Workers> workers_;  // null: batches are inserted at once
};

}  // namespace ashlar
