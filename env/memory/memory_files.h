// SPDX-License-Identifier: Apache-2.0
//
// The content of a file in memory, and the file objects that read and write it. Contents may be
// used by many threads; writers of one file by one at a time, as everywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Bytes in use and how many there may be; shared by all files of one file system.
struct MemoryUsage {
  std::atomic<uint64_t> used_bytes{0};
  std::atomic<uint64_t> quota_bytes{UINT64_MAX};
};

// The content of one file; lives as long as it has a name or is open.
class MemoryFile {
 public:
  explicit MemoryFile(std::shared_ptr<MemoryUsage> usage) : usage_(std::move(usage)) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Up to n bytes from `offset`, copied.
  Slice Read(uint64_t offset, size_t n, char* scratch) const;
  // Writes as much as the quota allows; fills a gap with zeros. False = not all was written.
  bool Write(uint64_t offset, const Slice& data, uint64_t now_micros);
  bool Resize(uint64_t size, uint64_t now_micros);
  // Replaces everything, whatever the quota.
  void Fill(std::string contents, uint64_t now_micros);
  uint64_t size() const;
  uint64_t modified_micros() const;
  std::string Contents() const;

 private:
  // Grows the content as far as the quota allows.
  void GrowLocked(uint64_t size) REQUIRES(mutex_);

  const std::shared_ptr<MemoryUsage> usage_;  // what data_ holds is counted in it
  mutable Mutex mutex_{LockRank::kLeaf};
  std::string data_ GUARDED_BY(mutex_);
  uint64_t modified_micros_ GUARDED_BY(mutex_) = 0;
};

using MemoryFilePtr = std::shared_ptr<MemoryFile>;

std::unique_ptr<FSSequentialFile> NewMemorySequentialFile(MemoryFilePtr file);
std::unique_ptr<FSRandomAccessFile> NewMemoryRandomAccessFile(MemoryFilePtr file);
// The first append goes to `position`. `path` is for messages.
std::unique_ptr<FSWritableFile> NewMemoryWritableFile(MemoryFilePtr file, const std::string& path,
                                                      uint64_t position,
                                                      const std::shared_ptr<SystemClock>& clock);
std::unique_ptr<FSRandomRWFile> NewMemoryRandomRWFile(MemoryFilePtr file, const std::string& path,
                                                      const std::shared_ptr<SystemClock>& clock);
std::unique_ptr<FSDirectory> NewMemoryDirectory();

// What a write that met the quota answers.
IOStatus MemoryFull(const char* what, const std::string& path);

}  // namespace ashlar
