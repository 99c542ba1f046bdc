// SPDX-License-Identifier: Apache-2.0
//
// FileCopier copies whole files from one file system to another. It limits the rate, can be
// stopped, counts bytes in statistics, and computes the CRC-32C of each file.
//
// The only operations on the target file are create, append, sync and close, so that the target can
// be in an object store. After an error the caller must delete the incomplete target.
//
// Threads: one copier may be used by any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/statistics.h"
#include "ashlar/status.h"
#include "util/result.h"

namespace ashlar {

class CopyProgress;
class RateLimiter;

// Settings of all copies of one operation. Pointers may be null; they must outlive the copier.
struct CopySettings {
  // Bytes per read and write; 0 = the burst size of the limiter, or 5 MiB without one.
  uint64_t buffer_bytes = 0;
  RateLimiter* limiter = nullptr;                 // limits reads too if its mode includes them
  const std::atomic<bool>* is_stopped = nullptr;  // true: copies end with Incomplete
  CopyProgress* progress = nullptr;               // told the bytes that are written
  Statistics* statistics = nullptr;               // counts bytes in the two tickers below
  uint32_t read_ticker = TICKER_ENUM_MAX;
  uint32_t write_ticker = TICKER_ENUM_MAX;
  bool sync = true;  // sync the file; the caller syncs its directory
};

struct CopySource {
  FileSystem* fs = nullptr;
  std::string path;
  uint64_t bytes = UINT64_MAX;                      // expected size; UINT64_MAX = unknown
  bool may_be_longer = false;                       // copy only the first `bytes` bytes
  Temperature temperature = Temperature::kUnknown;  // as known to the caller
  // Which temperature is used if those of the caller and of the file system are both known.
  bool prefers_reported_temperature = false;
  // Appended to the copy after the bytes of the file.
  std::string tail;
};

struct CopyTarget {
  FileSystem* fs = nullptr;
  std::string path;
};

// Facts about a copied file.
struct CopiedFile {
  uint64_t bytes = 0;  // including the tail
  uint32_t crc = 0;    // CRC-32C of these bytes
  // Chosen from the two temperatures of the source. The target was created with it.
  Temperature temperature = Temperature::kUnknown;
};

class FileCopier {
 public:
  explicit FileCopier(const CopySettings& settings);

  // Corruption if the source does not have the expected size; NotFound and I/O errors of both
  // sides. The message names the file.
  Result<CopiedFile> Copy(const CopySource& source, const CopyTarget& target) const;
  // Writes bytes that are in memory.
  Result<CopiedFile> Write(const Slice& contents, const CopyTarget& target) const;
  // Reads the file to compute its CRC.
  Result<CopiedFile> Read(const CopySource& source) const;

 private:
  struct Reading;
  // The steps of the three calls above. Reads, writes and waits of the limiter happen without any
  // lock.
  Result<Reading> Open(const CopySource& source) const;
  template <typename Sink>
  Status ReadAll(Reading* reading, const Sink& sink) const;
  template <typename Fill>
  Status WriteFile(const CopyTarget& target, Temperature temperature, const Fill& fill) const;
  // Incomplete if the operation was told to stop.
  Status CheckNotStopped() const;
  // Counts bytes that were written, and tells the progress.
  Status Passed(uint64_t bytes) const;

  const CopySettings settings_;
  // The most bytes of one read or write; greater than 0.
  const uint64_t buffer_bytes_;
};

// Corruption with the path in the message if the CRCs differ.
Status CheckCrc(const std::string& path, uint32_t expected, uint32_t found);

}  // namespace ashlar
