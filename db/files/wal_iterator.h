// SPDX-License-Identifier: Apache-2.0
//
// WalIterator walks over the batches in the logs, those in the archive included, in the order of
// their sequence numbers (DB::GetUpdatesSince), while other threads write.
//
// It never shows a batch that readers of the database cannot see yet. At the end of the logs,
// Next() may be called again later. A gap in the sequence numbers gives NotFound: the logs lack
// some writes (made without a log, or ingested), or a log was deleted. Corruption means that a log
// cannot be read.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/wal_iterator.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// One log file, as it was when it was listed.
struct LogPlace {
  FileNumber number = 0;
  bool is_archived = false;
  bool has_failed = false;  // it may hold records of writes that failed
  uint64_t bytes = 0;
  SequenceNumber first_seqno = 0;  // of its first batch; 0: there is none yet
};

// Archived and live logs, the oldest first. Reads the beginning of each. File operations: without
// the DB mutex.
Result<std::vector<LogPlace>> ListLogs(const DbCore& core);

// The log that is being written.
Result<LogPlace> CurrentLog(const DbCore& core);

// Converts the place of a log to the class of the public interface.
std::unique_ptr<WalFile> WalFileOf(const LogPlace& log);

// Returns an iterator at the batch with this number or, if there is none, at the first batch behind
// it; NotFound if there is neither. The database outlives the iterator. The iterator is used by one
// thread at a time.
Result<std::unique_ptr<WalIterator>> NewWalIterator(const DbCore* core, SequenceNumber since);

}  // namespace ashlar
