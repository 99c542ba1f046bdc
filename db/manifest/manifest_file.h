// SPDX-License-Identifier: Apache-2.0
//
// ManifestFile writes the MANIFEST: it appends records durably, and starts a new file and switches
// CURRENT to it. It does not interpret the records. ManifestReader reads the file.
//
// Crash: Append() returns after the sync. A new file is complete and synced, as is its directory
// entry, before CURRENT names it. After an error the file is never written again. Threads: one at a
// time, unless a function says otherwise.
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

// Constant for the life of the object, except for the limits.
struct ManifestFileOptions {
  FileSystem* fs = nullptr;  // outlives the file
  FileOptions file_options;
  std::string dir;
  // fsync instead of fdatasync.
  bool use_fsync = false;
  // From this size on, the next change starts a new file.
  uint64_t max_bytes = uint64_t{1} << 30;
  size_t preallocate_bytes = 4 << 20;  // space that is allocated ahead
  Statistics* statistics = nullptr;    // for the time of syncs; outlives the file; null: none
};

// The options that can change at run time; they apply to files that are started later.
struct ManifestLimits {
  uint64_t max_bytes = 0;
  size_t preallocate_bytes = 0;
};

// Its owner (VersionSet) ensures that one thread at a time writes.
class ManifestFile {
 public:
  // Opens no file. The first change calls Start().
  explicit ManifestFile(const ManifestFileOptions& options);
  ~ManifestFile();
  ManifestFile(const ManifestFile&) = delete;
  ManifestFile& operator=(const ManifestFile&) = delete;

  // True if there is no file to append to or the file has grown too large: the caller must use
  // Start() instead of Append().
  bool WantsNewFile() const;
  // Any thread.
  void SetLimits(const ManifestLimits& limits);
  // Writes a new file MANIFEST-`number`, which no other file ever was, with these records and names
  // it in CURRENT. After an error see may_be_current().
  Status Start(FileNumber number, const std::vector<std::string>& records);
  // After Start() has failed: CURRENT may name the new file or the previous one. False: it names
  // the previous one, and the new file was deleted.
  bool may_be_current() const { return may_be_current_; }
  // Appends records and syncs the file. After an error WantsNewFile() is true.
  Status Append(const std::vector<std::string>& records);
  // Closes the file and returns the error of closing, which the destructor would drop.
  Status Close();
  // The contents of the file are unknown after a failure: it is not written again.
  void Abandon();
  // Length of the file, including all appended records.
  uint64_t bytes() const;

 private:
  // Start() without the clean-up after an error.
  Status WriteNew(FileNumber number, const std::vector<std::string>& records);

  const ManifestFileOptions options_;
  // Initially from the options, changed by SetLimits(). The two need not be read consistently.
  std::atomic<uint64_t> max_bytes_;
  std::atomic<size_t> preallocate_bytes_;
  std::unique_ptr<LogWriter> log_;  // null: the next change starts a new file
  bool may_be_current_ = false;
};

}  // namespace ashlar
