// SPDX-License-Identifier: Apache-2.0
//
// SimMappedLog: a mapped log of SimFS. The "mapping" is plain memory; beside it lies a copy of what
// SimFS has seen so far. Growing, syncing and closing are numbered calls, which may fail; stores
// are found by comparing. It grows by little at a time, so that images stay small.
//
// Threads: as MappedLogFile; the members for SimFS under its lock.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/fault/fault_files.h"
#include "env/mapped_file.h"
#include "util/memory/page_buffer.h"

namespace ashlar {

class SimFS;

class SimMappedLog final : public MappedLogFile {
 public:
  // Whether a file of this size can be mapped as it is.
  static bool CanHold(uint64_t bytes);
  // `file` is that in the memory of `fs`, which holds `content`.
  SimMappedLog(SimFS* fs, const FaultFileContext& context, std::unique_ptr<FSWritableFile> file,
               uint64_t capacity, const std::string& content = "");
  ~SimMappedLog() override;

  Status EnsureAllocated(uint64_t end) override;
  // Goes one segment ahead at most: what the writers need they shall find missing now and then.
  Status PopulateAhead(uint64_t end) override;
  Status Close(uint64_t final_size) override;

  // ---- For SimFS

  uint64_t file_id() const { return context_.file_id; }
  // Brings the file up to what is in the mapping, and says what was stored since the last time.
  void TakeStores(const std::function<void(const FileCall& call, const Slice& data)>& note);
  // The file has lost what was not synced.
  void Overwrite(const std::string& content);

 private:
  Status SyncNow() override;
  Status Grow(uint64_t new_end);
  FileCall CallOf(CallKind kind, uint64_t size) const;

  SimFS* const fs_;
  const FaultFileContext context_;
  const std::unique_ptr<FSWritableFile> file_;
  PageBuffer memory_;  // capacity_ bytes; base_ points to it
  std::string seen_;   // as far as allocated; guarded by the lock of fs_
};

}  // namespace ashlar
