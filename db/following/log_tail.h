// SPDX-License-Identifier: Apache-2.0
//
// LogTail reads one log that another process may be writing: each time the records that were
// written since.
//
// The place up to which records were read is all that it remembers. A record that cannot be read is
// not damage here: it may be half written, or the file may have become another log's. Whoever knows
// where the log ends compares that with end_offset(). The file stays open, so that a log which was
// deleted can be read to its end. But while nothing was readable, the file may have been opened
// before the writer had created it completely, and an encrypted file keeps what it found then of
// the prefix. So such a file is opened again. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/wal/log_beginning.h"
#include "db/wal/log_reader.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

class LogTail {
 public:
  // NotFound or PathNotFound if there is no such file. `fs` outlives the tail.
  static Result<std::unique_ptr<LogTail>> Open(FileSystem* fs, const std::string& path,
                                               FileNumber number);
  ~LogTail();

  // The next record, a write batch with its header, valid until the next call. False at the end for
  // now, or after an error: see status(). Called again, it looks for what was written since.
  bool Next(Slice* batch);
  // Like Next(), and the next call of Next() returns the same record.
  bool Peek(Slice* batch);
  // An error of the last call: of the file system, or NotSupported.
  const Status& status() const { return status_; }

  FileNumber number() const { return number_; }
  const std::string& path() const { return path_; }
  // Offset behind the last record that Next() returned, and behind what the log says of itself
  // there; and where the last record begins.
  uint64_t end_offset() const { return has_record_ ? end_offset_ : next_offset_; }
  uint64_t record_offset() const { return record_offset_; }
  // The reason why the last call found no record; null if the file ended there.
  const char* unreadable() const { return unreadable_; }
  // What the log says of the log before it, as far as Peek() or Next() have read.
  const std::optional<LogPredecessor>& predecessor() const { return predecessor_; }
  const std::vector<TimestampSize>& timestamp_sizes() const { return timestamp_sizes_; }

 private:
  LogTail(FileSystem* fs, std::unique_ptr<FSRandomAccessFile> file, const std::string& path,
          FileNumber number);
  bool Read();
  bool ReadOnce();
  bool OpenAgain();
  void NotePredecessor();

  class Source;
  FileSystem* const fs_;
  std::unique_ptr<FSRandomAccessFile> file_;
  const std::string path_;
  const FileNumber number_;
  std::unique_ptr<LogReader> reader_;  // null: the next read begins anew at next_offset_
  Slice record_;                       // read, and not returned by Next() yet
  bool has_record_ = false;
  bool has_read_record_ = false;  // the first record was read
  bool has_bytes_ = false;        // the last call has found bytes in the file
  bool is_compressed_ = false;
  uint64_t next_offset_ = 0;  // where reading continues
  uint64_t end_offset_ = 0;
  uint64_t record_offset_ = 0;
  const char* unreadable_ = nullptr;
  std::optional<LogPredecessor> predecessor_;
  std::vector<TimestampSize> timestamp_sizes_;
  Status status_;
};

}  // namespace ashlar
