// SPDX-License-Identifier: Apache-2.0
//
// ReplayInserter inserts the batches of logs into memtables, and skips what a family has already
// flushed. Long logs are inserted by several threads.
//
// The batches carry their sequence numbers, so the order of insertion does not matter. The thread
// that reads the log passes chunks of it to threads that decode and insert them. Only the switch of
// a full memtable waits for all chunks, because an immutable memtable must contain everything up to
// some position in the log. Threads: one caller. The additional threads take no lock of the
// database.
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

// The log from which batches come.
struct ReplaySource {
  FileNumber number = 0;
  std::string path;
  // A batch with a family ID above this one is corrupt. UINT32_MAX: there is no limit, and unknown
  // families are skipped.
  uint32_t max_family = UINT32_MAX;
  // Whether prepare sections may occur. Otherwise a batch with one is an error.
  bool allows_sections = false;
};

// Owns its threads; the families, the environment and the tools outlive it.
class ReplayInserter {
 public:
  // How the sequence number in the header of a batch is used: for the first record, with the next
  // ones for the others, or for all records.
  enum class Numbering : uint8_t { kByRecord, kShared };

  // Replaces the full active memtable of a family. The number is that of the log that is being
  // read. Called by the thread that calls Add(), while no other thread inserts.
  using SwitchFunction = std::function<void(ColumnFamilyData*, FileNumber log_number)>;

  // The set of families must not change meanwhile. With 0 threads every batch is inserted at once,
  // and a memtable is sealed as soon as it is full; updates in place need that. With more threads a
  // memtable may exceed its limit by kMaxInFlightBytes. `env` starts the threads.
  ReplayInserter(FamilySet* families, Env* env, size_t threads, const MergeTools& tools,
                 SwitchFunction switch_memtable) REQUIRES(db_mutex);
  // Batches that were not waited for with Finish() may not be inserted.
  ~ReplayInserter();
  ReplayInserter(const ReplayInserter&) = delete;
  ReplayInserter& operator=(const ReplayInserter&) = delete;

  static constexpr size_t kChunkBytes = 128 << 10;
  static constexpr size_t kMaxInFlightBytes = 1 << 20;

  // The following batches come from this log.
  void SetSource(const ReplaySource& source);
  // `batch` is a complete batch with its header, `offset` its position in the log. After an error,
  // which may be that of an earlier batch, the replay cannot continue. Corruption, or NotSupported
  // for records that this version does not know.
  Status Add(const Slice& batch, uint64_t offset, Numbering numbering = Numbering::kByRecord);
  // Waits until all batches are inserted and counted in their memtables.
  Status Finish();

 private:
  // A family and the first log that has unflushed entries for it.
  struct Target {
    ColumnFamilyData* family = nullptr;
    FileNumber first_log = 0;  // entries in older logs are in tables already
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
