// SPDX-License-Identifier: Apache-2.0
//
// ManifestReader yields the version edits of one MANIFEST in order, each as soon as it counts: the
// edits of an atomic group together, an incomplete group at the end of the file never.
//
// What a crash leaves of the change that was being written is dropped and noted (torn_tail_bytes):
// a record cut off by the end of the file, or sectors that are zero, with nothing intact behind
// them but other records of that change (VersionEdit::change_begin). It is damage all the same if
// it was there before CURRENT named the file (VersionEdit::initial_records). All other damage is
// Corruption. Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "ashlar/file_system.h"
#include "db/version/version_edit.h"
#include "util/result.h"

namespace ashlar {

class LogReader;

// The name in CURRENT, e.g. "MANIFEST-000005". NotFound if there is no CURRENT.
Result<std::string> ReadCurrent(FileSystem* fs, const std::string& dir);

class ManifestReader {
 public:
  static Result<std::unique_ptr<ManifestReader>> Open(FileSystem* fs, const std::string& path);
  ~ManifestReader();

  // False at the end of the file or after an error: see status().
  bool Next(VersionEdit* edit);
  const Status& status() const { return status_; }
  // Bytes at the end of the file that do not form a whole record or a whole atomic group.
  uint64_t torn_tail_bytes() const { return torn_tail_bytes_; }

 private:
  ManifestReader(FileSystem* fs, const std::string& path);
  bool ReadRecord(VersionEdit* edit);
  bool CollectGroup(VersionEdit first);
  bool Fail(const std::string& what);
  void CheckInitialRecords();
  bool IsUnsyncedTail() const;

  class Reporter;
  FileSystem* const fs_;
  const std::string path_;
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<LogReader> log_;
  std::deque<VersionEdit> ready_;
  uint64_t records_ = 0;
  uint64_t initial_records_ = 0;
  uint64_t torn_tail_bytes_ = 0;
  Status status_;
};

}  // namespace ashlar
