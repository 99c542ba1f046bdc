// SPDX-License-Identifier: Apache-2.0
//
// LogWriter appends records to a log file, one after the other. It serves for MANIFESTs and for
// WALs without concurrent writers. (Commits share a log through WalSink.)
//
// After the first error every call returns that error. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/wal/log_format.h"
#include "env/file_writer.h"

namespace ashlar {

class LogWriter {
 public:
  // Continues at file->size(). A MANIFEST is never recyclable.
  explicit LogWriter(std::unique_ptr<FileWriter> file,
                     const LogFraming& framing = LogFraming(0, /*is_recyclable=*/false));
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Appends the record and writes it to the kernel.
  Status AddRecord(const Slice& payload);
  // Appends a record of kind kSetCompression or above; the payload must fit into one block.
  Status AddSpecialRecord(LogRecordType legacy_type, const Slice& payload);
  Status Sync();
  Status Close();

  uint64_t size() const { return file_->size(); }
  FileWriter* file() { return file_.get(); }

 private:
  Status AppendScratch();

  const std::unique_ptr<FileWriter> file_;
  const LogFraming framing_;
  std::string scratch_;
};

}  // namespace ashlar
