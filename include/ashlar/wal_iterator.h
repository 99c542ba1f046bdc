// SPDX-License-Identifier: Apache-2.0
//
// The WAL files of a database, and an iterator over the batches in them (DB::GetUpdatesSince()).
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

// State of a WAL file.
enum WalFileType {
  kArchivedLogFile = 0,  // not needed for recovery, but kept (WAL_ttl_seconds, WAL_size_limit_MB)
  kAliveLogFile = 1,     // needed for recovery
};

// Facts about one WAL file at the time of the call that returned it.
class ASHLAR_EXPORT WalFile {
 public:
  WalFile() {}
  virtual ~WalFile() {}

  // Path relative to the WAL directory, with a leading '/'. Archived files are in "/archive".
  virtual std::string PathName() const = 0;
  // The number in the name of the file.
  virtual uint64_t LogNumber() const = 0;
  virtual WalFileType Type() const = 0;
  // Sequence number of the first batch; 0 if the file is empty.
  virtual SequenceNumber StartSequence() const = 0;
  // Size of the file in bytes.
  virtual uint64_t SizeFileBytes() const = 0;
};

// A batch and the sequence number of its first update.
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

// Returns batches in the order of their sequence numbers, across WAL files and while the database
// is writing. After the database has been closed, the only permitted operation is to delete it.
class ASHLAR_EXPORT WalIterator {
 public:
  WalIterator() {}
  virtual ~WalIterator() {}

  // False after the last batch that has been written so far, and after an error; see status().
  virtual bool Valid() = 0;
  // Moves to the next batch. At the end, it checks whether batches have been written since.
  virtual void Next() = 0;
  // NotFound if sequence numbers are missing, or if a WAL was deleted before it was read;
  // Corruption if a WAL is damaged. After an error the iterator does not move any more.
  virtual Status status() = 0;
  // Returns the current batch; may be called once per position. Only allowed while Valid().
  virtual BatchResult GetBatch() = 0;

  // Options of DB::GetUpdatesSince().
  struct ReadOptions {
    // A hint without effect: checksums are always verified.
    bool verify_checksums_;

    ReadOptions() : verify_checksums_(true) {}
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}
  };
};

// Names of older releases.
using LogFile = WalFile;
using VectorLogPtr = VectorWalPtr;
using TransactionLogIterator = WalIterator;

}  // namespace ashlar
