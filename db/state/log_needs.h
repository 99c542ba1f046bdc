// SPDX-License-Identifier: Apache-2.0
//
// Which logs are still needed, and how much log there may be before the families that hold the
// oldest of it are flushed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

// From which log on a family has writes that no table holds. FileNumber::None(): it needs no log.
// `prepared_log`: the oldest log with a prepare section whose data is in its memtables.
struct LogsOfFamily {
  const ColumnFamilyData* family;
  FileNumber log_number;
  FileNumber prepared_log = FileNumber::None();
};

// The oldest log that is still needed: because of writes that no table holds, because of a prepare
// section that is undecided, or because of a section whose committed data is in a memtable. A new
// record of the MANIFEST may release only logs below it. `after`: what families need once that
// record has taken effect, as far as it changes.
FileNumber OldestLogNeeded(const DbCore& core, std::span<const LogsOfFamily> after = {})
    REQUIRES(db_mutex);
// The same according to the MANIFEST on disk: the next opening reads no log below it. Knowledge
// that is only in memory must not release a log. Older than the logs of all families if a prepare
// section keeps a log; a MANIFEST without that number names the logs of the families only.
FileNumber OldestLogOfManifest(const VersionSet& versions) REQUIRES(db_mutex);

// `asked_for`: max_total_wal_size. If that is 0: four times what the families' memtables may hold
// (`budgets`, of each) but, however many families there are, no more than a gigabyte, or than the
// largest of them needs by itself. So a family that is written to now and then cannot make
// gigabytes of log be kept, and be replayed, for the sake of a few entries. In any case no more
// than `most_of_log`, which the current log could need alone. Pure.
uint64_t LogLimit(uint64_t asked_for, const std::vector<uint64_t>& budgets,
                  uint64_t most_of_log = UINT64_MAX);

}  // namespace ashlar
