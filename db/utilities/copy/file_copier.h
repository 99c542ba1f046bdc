// SPDX-License-Identifier: Apache-2.0
//
// FileCopier moves the bytes of whole files from one file system to another: paced, stoppable,
// counted, with the CRC-32C of what went through.
//
// The destination is created, appended to from its start to its end, synced and closed, and nothing
// else: an Env over a store of objects needs no more. What an error leaves of it is the caller's to
// delete.
//
// Threads: any number may use one copier.
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

// What the copies of one operation have in common. All pointers may be null and outlive the copier.
struct CopySettings {
  // Bytes per read and write; 0: what the limiter lets through at once, else 5 MiB.
  uint64_t buffer_bytes = 0;
  RateLimiter* limiter = nullptr;                 // of reads too, if its mode says so
  const std::atomic<bool>* is_stopped = nullptr;  // set: copies end with Incomplete
  CopyProgress* progress = nullptr;               // of what is written
  Statistics* statistics = nullptr;               // with the two tickers below
  uint32_t read_ticker = TICKER_ENUM_MAX;
  uint32_t write_ticker = TICKER_ENUM_MAX;
  bool sync = true;  // the content is durable when a copy returns; the name never is
};

struct CopySource {
  FileSystem* fs = nullptr;
  std::string path;
  uint64_t bytes = UINT64_MAX;  // how many the file has; UINT64_MAX: whatever it has
  bool may_be_longer = false;   // only the first `bytes` belong to it
  Temperature temperature = Temperature::kUnknown;  // as far as the caller knows
  // Which one counts if the file system says another than the caller, and both are known.
  bool prefers_reported_temperature = false;
  // What the copy has behind the bytes of the file.
  std::string tail;
};

struct CopyTarget {
  FileSystem* fs = nullptr;
  std::string path;
};

// What a copy has seen of its file.
struct CopiedFile {
  uint64_t bytes = 0;
  uint32_t crc = 0;  // CRC-32C of all bytes
  // Of the source, after both opinions were heard; the target was made with it.
  Temperature temperature = Temperature::kUnknown;
};

class FileCopier {
 public:
  explicit FileCopier(const CopySettings& settings);

  // Corruption if the source has another number of bytes than it should; NotFound or an I/O error
  // of either side, which names the file.
  Result<CopiedFile> Copy(const CopySource& source, const CopyTarget& target) const;
  // The same with bytes that are in memory.
  Result<CopiedFile> Write(const Slice& contents, const CopyTarget& target) const;
  // Reads only, for the CRC.
  Result<CopiedFile> Read(const CopySource& source) const;

 private:
  struct Reading;
  Result<Reading> Open(const CopySource& source) const;
  template <typename Sink>
  Status ReadAll(Reading* reading, const Sink& sink) const;
  template <typename Fill>
  Status WriteFile(const CopyTarget& target, Temperature temperature, const Fill& fill) const;
  Status CheckNotStopped() const;
  Status Passed(uint64_t bytes) const;

  const CopySettings settings_;
  const uint64_t buffer_bytes_;
};

// Corruption that names the file, if its CRC is not the expected one.
Status CheckCrc(const std::string& path, uint32_t expected, uint32_t found);

}  // namespace ashlar
