// SPDX-License-Identifier: Apache-2.0
//
// The content of a file in memory, and the file objects that read and write it. Several threads may
// use one content. Of the objects that write a file, each is used by one thread at a time, as in
// every file system.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The bytes that the files use and the limit on them, shared by all files of one file system.
// Relaxed atomics: the sum need not agree with other state.
struct MemoryUsage {
  std::atomic<uint64_t> used_bytes{0};
  std::atomic<uint64_t> quota_bytes{UINT64_MAX};
};

// The content of one file. It exists as long as the file has a name or is open. Any thread.
class MemoryFile {
 public:
  explicit MemoryFile(std::shared_ptr<MemoryUsage> usage) : usage_(std::move(usage)) {
    assert(usage_ != nullptr);
  }
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Copies up to n bytes from `offset` into `scratch`, which must have room for n. The result
  // points to `scratch` and is shorter only at the end of the file.
  Slice Read(uint64_t offset, size_t n, char* scratch) const;
  // Writes as much as the quota allows, and fills a gap before `offset` with zeros. Returns false
  // if the quota did not allow all of `data`; the part that fits is written, as on a full disk.
  bool Write(uint64_t offset, const Slice& data, uint64_t now_micros);
  // Cuts the content, or extends it with zeros. Returns false if the quota did not allow the size.
  bool Resize(uint64_t size, uint64_t now_micros);
  // Replaces the content, regardless of the quota.
  void Fill(std::string contents, uint64_t now_micros);
  // The size of the file in bytes.
  uint64_t size() const;
  uint64_t modified_micros() const;
  // A copy of the whole content.
  std::string Contents() const;

 private:
  // Grows the content as far as the quota allows.
  void GrowLocked(uint64_t size) REQUIRES(mutex_);

  const std::shared_ptr<MemoryUsage> usage_;  // counts the bytes of data_
  mutable Mutex mutex_{LockRank::kLeaf};
  std::string data_ GUARDED_BY(mutex_);
  uint64_t modified_micros_ GUARDED_BY(mutex_) = 0;
};

using MemoryFilePtr = std::shared_ptr<MemoryFile>;

// The file objects share `file` with the table of names, so that they stay usable after an unlink.
// Each keeps its own position.
std::unique_ptr<FSSequentialFile> NewMemorySequentialFile(MemoryFilePtr file);
std::unique_ptr<FSRandomAccessFile> NewMemoryRandomAccessFile(MemoryFilePtr file);
// The first append is at offset `position`. `path` is for messages.
std::unique_ptr<FSWritableFile> NewMemoryWritableFile(MemoryFilePtr file, const std::string& path,
                                                      uint64_t position,
                                                      const std::shared_ptr<SystemClock>& clock);
std::unique_ptr<FSRandomRWFile> NewMemoryRandomRWFile(MemoryFilePtr file, const std::string& path,
                                                      const std::shared_ptr<SystemClock>& clock);
std::unique_ptr<FSDirectory> NewMemoryDirectory();

// The error of a write that exceeds the quota.
IOStatus MemoryFull(const char* what, const std::string& path);

}  // namespace ashlar
