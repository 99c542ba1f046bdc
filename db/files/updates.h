// SPDX-License-Identifier: Apache-2.0
//
// Updates walks the batches in the logs, those of the archive too, in the order of their sequence
// numbers (DB::GetUpdatesSince), while others write.
//
// It never shows what readers cannot see yet. At the end of what is there it may be asked again. A
// jump in the sequence numbers is NotFound: something was written that the logs do not hold
// (without a log, by ingestion), or a log is gone. Corruption is for logs that cannot be read.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/wal_iterator.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

struct LogPlace {
  FileNumber number = 0;
  bool is_archived = false;
  bool has_failed = false;  // it may hold records of writes that failed
  uint64_t bytes = 0;
  SequenceNumber first_seqno = 0;  // of its first batch; 0: there is none yet
};

// Archived and live ones, the oldest first. Reads the beginning of each.
Result<std::vector<LogPlace>> ListLogs(const DbCore& core);

// The one that is written.
Result<LogPlace> CurrentLog(const DbCore& core);

// As a program sees it.
std::unique_ptr<WalFile> WalFileOf(const LogPlace& log);

// At the batch with this number or, if there is none, at the first behind it. NotFound if there is
// neither. The database outlives the iterator.
Result<std::unique_ptr<WalIterator>> NewUpdates(const DbCore* core, SequenceNumber since);

}  // namespace ashlar
