// SPDX-License-Identifier: Apache-2.0
//
// What the WALs of a directory contain, without applying them: their sequence numbers, whether they
// can be read to their end, and the families of their entries.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/types.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// The facts about one log.
struct SurveyedLog {
  FileNumber number = 0;
  SequenceNumber first_seqno = 0;  // 0: no entry can be read
  SequenceNumber last_seqno = 0;
  bool is_whole = true;       // no damage, no incomplete end
  bool is_continuous = true;  // the sequence numbers in it have no gap
  // The last sequence number of each family that has entries in it, by family id. 0: only in a
  // prepare section, whose updates count where they are committed.
  std::map<uint32_t, SequenceNumber> last_by_family;
};

// The facts about all logs of a directory.
struct LogSurvey {
  std::vector<SurveyedLog> logs;  // ascending by number

  // The sequence number from which on the logs are complete: every entry that was written to a log
  // with this number or a greater one can be read. kMaxSequenceNumber: nothing is known to be
  // complete.
  SequenceNumber CompleteFrom() const;
  // The first log with an entry of the family behind `seqno`. If there is none, a number above all
  // logs.
  FileNumber FirstLogBehind(uint32_t family, SequenceNumber seqno) const;
  // The families that have entries, or prepared entries, in the logs.
  std::set<uint32_t> FamilyIds() const;
};

// Reads the logs with these numbers, which are in ascending order. Damaged records are skipped and
// noted. Only errors of the file system are returned.
Result<LogSurvey> SurveyLogs(FileSystem* fs, const FileOptions& options, const std::string& wal_dir,
                             const std::vector<FileNumber>& numbers);

}  // namespace ashlar
