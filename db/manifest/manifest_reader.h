// SPDX-License-Identifier: Apache-2.0
//
// ManifestReader yields the version edits of one MANIFEST in order. The edits of an atomic group
// are yielded once the group is complete; an incomplete group at the end of the file is never
// yielded.
//
// A crash during a write may leave a part of the last change. The reader drops this part and counts
// it in torn_tail_bytes(): a record that is cut off by the end of the file, or zero sectors that
// are followed only by intact records of the same change (VersionEdit::change_begin). It is
// Corruption, however, if the records were in the file before CURRENT named it
// (VersionEdit::initial_records). All other damage is Corruption.
//
// A caller that follows a MANIFEST which another process writes may call Next() again after the end
// was reached: the reader continues where it stopped, even in the middle of an atomic group.
// Threads: one at a time.
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

// The file name in CURRENT, e.g. "MANIFEST-000005". NotFound if there is no CURRENT.
Result<std::string> ReadCurrent(FileSystem* fs, const std::string& dir);

// The numbers of all MANIFESTs in `dir`, descending.
Result<std::vector<FileNumber>> ListManifests(FileSystem* fs, const std::string& dir);

// Names of the column families in the live MANIFEST of `dir`, ordered by id. Another process may
// have the database open.
Result<std::vector<std::string>> ListFamilies(FileSystem* fs, const std::string& dir);

// Reads the MANIFEST at `path` in the same way as the next opening of the database. Corruption if
// it is damaged, torn, or shorter than the `written_bytes` that were appended to it.
Status CheckManifestFile(FileSystem* fs, const std::string& path, uint64_t written_bytes);

// Owns the open file. Memory use is limited by the largest atomic group.
class ManifestReader {
 public:
  // Meaning of the end of the file: the file is final (kForGood), or it may still grow (kForNow).
  enum class End : bool { kForGood, kForNow };

  // Corruption if the file is missing, because the caller has its name from CURRENT.
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
  // Reads one record and checks the damage before it. False at the end, or with an error in
  // status_.
  bool ReadRecord(VersionEdit* edit);
  // Adds an edit to the open group, and makes the group ready if it is complete. False for an edit
  // that does not belong to it.
  bool AddToGroup(VersionEdit edit);
  // Sets a Corruption with the place of the present record; returns false.
  bool Fail(const std::string& what);
  void CheckInitialRecords();
  bool IsUnsyncedTail() const;

  // Keeps the first damage of the log reader.
  class Reporter;
  FileSystem* const fs_;
  const std::string path_;
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<LogReader> log_;
  std::deque<VersionEdit> ready_;  // complete edits and groups that Next() has not returned yet
  std::deque<VersionEdit> group_;  // the edits read so far of an incomplete atomic group
  uint64_t group_offset_ = 0;      // offset of the group in the file
  uint64_t records_ = 0;           // read so far
  uint64_t initial_records_ = 0;  // number of records when CURRENT first named the file; 0: unknown
  uint64_t torn_tail_bytes_ = 0;
  Status status_;
};

}  // namespace ashlar
