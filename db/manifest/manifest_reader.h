// SPDX-License-Identifier: Apache-2.0
//
// ManifestReader yields the version edits of one MANIFEST in order, each as soon as it counts: the
// edits of an atomic group together, an incomplete group at the end of the file never.
//
// What a crash leaves of the change that was being written is dropped and noted (torn_tail_bytes):
// a record cut off by the end of the file, or sectors that are zero, with nothing intact behind
// them but other records of that change (VersionEdit::change_begin). It is damage all the same if
// it was there before CURRENT named the file (VersionEdit::initial_records). All other damage is
// Corruption.
//
// Whoever follows a MANIFEST that another process writes asks again after the end was reached: the
// reader goes on where it stopped, in the middle of an atomic group too. Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/version_edit.h"
#include "util/result.h"

namespace ashlar {

class LogReader;

// The name in CURRENT, e.g. "MANIFEST-000005". NotFound if there is no CURRENT.
Result<std::string> ReadCurrent(FileSystem* fs, const std::string& dir);

// Names of the column families that the live MANIFEST of `dir` has, by id.
Result<std::vector<std::string>> ListFamilies(FileSystem* fs, const std::string& dir);

// Reads the MANIFEST at `path` as the next opening will. Corruption if it is damaged, torn, or
// shorter than the `written_bytes` that were appended to it.
Status CheckManifestFile(FileSystem* fs, const std::string& path, uint64_t written_bytes);

class ManifestReader {
 public:
  // What the end of the file means: that is all there will be; or all there is for now.
  enum class End : bool { kForGood, kForNow };

  static Result<std::unique_ptr<ManifestReader>> Open(FileSystem* fs, const std::string& path,
                                                      End end = End::kForGood);
  ~ManifestReader();

  // False at the end of the file or after an error: see status(). With kForNow it may be called
  // again at the end.
  bool Next(VersionEdit* edit);
  const Status& status() const { return status_; }
  // Bytes at the end of the file that do not form a whole record or a whole atomic group.
  uint64_t torn_tail_bytes() const { return torn_tail_bytes_; }

 private:
  ManifestReader(FileSystem* fs, const std::string& path);
  bool ReadRecord(VersionEdit* edit);
  bool AddToGroup(VersionEdit edit);
  bool Fail(const std::string& what);
  void CheckInitialRecords();
  bool IsUnsyncedTail() const;

  class Reporter;
  FileSystem* const fs_;
  const std::string path_;
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<LogReader> log_;
  std::deque<VersionEdit> ready_;  // edits that count, not yet handed out
  std::deque<VersionEdit> group_;  // an atomic group that is not complete
  uint64_t group_offset_ = 0;      // where it begins in the file
  uint64_t records_ = 0;           // read so far
  uint64_t initial_records_ = 0;   // that were there when CURRENT named the file; 0: not said
  uint64_t torn_tail_bytes_ = 0;
  Status status_;
};

}  // namespace ashlar
