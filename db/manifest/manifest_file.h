// SPDX-License-Identifier: Apache-2.0
//
// ManifestFile writes the MANIFEST: it appends records durably, and starts a new file and switches
// CURRENT to it. It knows nothing of what the records say. ManifestReader reads what it wrote.
//
// Crash: Append() returns after the sync. A new file is whole and synced, and so is its directory
// entry, before CURRENT names it. After an error the file is never written again.
// Threads: one at a time, unless a function says more.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "util/keys/file_number.h"

namespace ashlar {

class LogWriter;
class Statistics;

struct ManifestFileOptions {
  FileSystem* fs = nullptr;  // outlives the file
  FileOptions file_options;
  std::string dir;
  bool use_fsync = false;
  uint64_t max_bytes = uint64_t{1} << 30;
  size_t preallocate_bytes = 4 << 20;
  Statistics* statistics = nullptr;  // of the time that syncs take; outlive the file; null: none
};

// What can change of them, for files that are started later.
struct ManifestLimits {
  uint64_t max_bytes = 0;
  size_t preallocate_bytes = 0;
};

class ManifestFile {
 public:
  explicit ManifestFile(const ManifestFileOptions& options);
  ~ManifestFile();
  ManifestFile(const ManifestFile&) = delete;
  ManifestFile& operator=(const ManifestFile&) = delete;

  // There is none to append to, or it has grown too large: call Start(), not Append().
  bool WantsNewFile() const;
  // Any thread.
  void SetLimits(const ManifestLimits& limits);
  // Makes MANIFEST-`number` of these records and names it in CURRENT. After an error CURRENT may
  // name it or the one before.
  Status Start(FileNumber number, const std::vector<std::string>& records);
  Status Append(const std::vector<std::string>& records);
  // For the error that closing may bring, which the destructor drops.
  Status Close();
  // What is in the file is not known: it is not used again.
  void Abandon();
  // With everything appended.
  uint64_t bytes() const;

 private:
  Status WriteNew(FileNumber number, const std::vector<std::string>& records);

  const ManifestFileOptions options_;
  // Of the options, until SetLimits() was called; each is a number by itself.
  std::atomic<uint64_t> max_bytes_;
  std::atomic<size_t> preallocate_bytes_;
  std::unique_ptr<LogWriter> log_;  // null: the next change starts a new file
};

}  // namespace ashlar
