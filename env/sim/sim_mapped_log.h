// SPDX-License-Identifier: Apache-2.0
//
// SimMappedLog is a mapped log of SimFS. The "mapping" is ordinary memory, and there is a copy of
// what SimFS has seen of it. Growing, syncing and closing are numbered calls, which may fail.
// Stores are found by comparison. The log grows in small steps, so that images stay small.
//
// Threads: as MappedLogFile. The functions for SimFS are called under its lock.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/fault/fault_files.h"
#include "env/mapped_file.h"
#include "util/memory/page_buffer.h"

namespace ashlar {

class SimFS;

// A log that a database on SimFS maps. Its owner is the log writer; SimFS knows it until it is
// closed.
class SimMappedLog final : public MappedLogFile {
 public:
  // Whether a file of this size can be mapped without change.
  static bool CanHold(uint64_t bytes);
  // `file` is the file in the memory of `fs`; its content is `content`.
  SimMappedLog(SimFS* fs, const FaultFileContext& context, std::unique_ptr<FSWritableFile> file,
               uint64_t capacity, const std::string& content = "");
  ~SimMappedLog() override;

  Status EnsureAllocated(uint64_t end) override;
  // Grows by one segment at most, so that writers sometimes find that their space is missing.
  Status PopulateAhead(uint64_t end) override;
  Status Close(uint64_t final_size) override;

  // The functions below are called only by SimFS, with its lock held.

  uint64_t file_id() const { return context_.file_id; }
  // Copies what was stored since the last time into the file, and reports it to `note`.
  void TakeStores(const std::function<void(const FileCall& call, const Slice& data)>& note);
  // Replaces the content, after a failed sync has dropped the unsynced bytes.
  void Overwrite(const std::string& content);

 private:
  // A numbered call that may fail. The stores before it were found when it got its number.
  Status SyncNow() override;
  // Extends file and memory to `new_end` by one numbered call.
  Status Grow(uint64_t new_end);
  FileCall CallOf(CallKind kind, uint64_t size) const;

  // Outlives this object.
  SimFS* const fs_;
  const FaultFileContext context_;
  // The file in the memory of SimFS, below the numbering.
  const std::unique_ptr<FSWritableFile> file_;
  PageBuffer memory_;  // capacity_ bytes; base_ points to them
  std::string seen_;   // the content up to allocated(); guarded by the lock of fs_
};

}  // namespace ashlar
