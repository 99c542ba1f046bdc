// SPDX-License-Identifier: Apache-2.0
//
// LogSummary holds the facts about a log by which recovery detects a missing log, a log that is too
// short, or a file with the wrong log. The MANIFEST stores them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ashlar/types.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct LogSummary {
  FileNumber number = 0;
  // No record of the log has a lower sequence number. 0: unknown, e.g. for a log of another engine.
  SequenceNumber first_seqno = 0;
  uint64_t synced_bytes = 0;  // lower bound of the length of the file
  uint64_t end_bytes = 0;     // end of the last record if the log is complete; 0: unknown

  // Merges newer facts about the same log. Facts are only added, never removed.
  void Learn(const LogSummary& news) {
    number = news.number;
    if (news.first_seqno != 0) first_seqno = news.first_seqno;
    synced_bytes = std::max(synced_bytes, news.synced_bytes);
    end_bytes = std::max(end_bytes, news.end_bytes);
  }
};

}  // namespace ashlar
