// SPDX-License-Identifier: Apache-2.0
//
// WAL files of a database, and the iterator over the batches in them (DB::GetUpdatesSince).
//
// Threads: one at a time per object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "ashlar/write_batch.h"

namespace ashlar {

class WalFile;
using VectorWalPtr = std::vector<std::unique_ptr<WalFile>>;

enum WalFileType {
  kArchivedLogFile = 0,  // no longer needed for recovery, kept by WAL_ttl_seconds or a size limit
  kAliveLogFile = 1,
};

// Facts about one WAL file at the time of the call that returned it.
class ASHLAR_EXPORT WalFile {
 public:
  WalFile() {}
  virtual ~WalFile() {}

  // Path relative to the WAL directory, with a leading '/'; archived files are in "/archive".
  virtual std::string PathName() const = 0;
  // The number in its name.
  virtual uint64_t LogNumber() const = 0;
  virtual WalFileType Type() const = 0;
  // Sequence number of the first batch; 0 for an empty file.
  virtual SequenceNumber StartSequence() const = 0;
  virtual uint64_t SizeFileBytes() const = 0;
};

// One batch and the sequence number of its first update.
struct BatchResult {
  SequenceNumber sequence = 0;
  std::unique_ptr<WriteBatch> writeBatchPtr;

  BatchResult() {}
  ~BatchResult() {}
  BatchResult(const BatchResult&) = delete;
  BatchResult& operator=(const BatchResult&) = delete;
  BatchResult(BatchResult&& bResult)
      : sequence(std::move(bResult.sequence)), writeBatchPtr(std::move(bResult.writeBatchPtr)) {}
  BatchResult& operator=(BatchResult&& bResult) {
    sequence = std::move(bResult.sequence);
    writeBatchPtr = std::move(bResult.writeBatchPtr);
    return *this;
  }
};

// Walks batches in the order of their sequence numbers, over file ends and while the database
// writes on. Not to be used once the database is closed, only deleted.
class ASHLAR_EXPORT WalIterator {
 public:
  WalIterator() {}
  virtual ~WalIterator() {}

  // False at the end of what has been written so far and after an error; see status().
  virtual bool Valid() = 0;
  // One batch further. At the end it looks whether more has been written since.
  virtual void Next() = 0;
  // NotFound for a gap in the sequence numbers and for a log that was deleted before it was read;
  // Corruption for a damaged log. After an error the iterator stays where it is.
  virtual Status status() = 0;
  // The present batch; once per position. Only while Valid().
  virtual BatchResult GetBatch() = 0;

  struct ReadOptions {
    // A hint: checksums are verified in any case.
    bool verify_checksums_;

    ReadOptions() : verify_checksums_(true) {}
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}
  };
};

// Old names.
using LogFile = WalFile;
using VectorLogPtr = VectorWalPtr;
using TransactionLogIterator = WalIterator;

}  // namespace ashlar
