// SPDX-License-Identifier: Apache-2.0
//
// LogFacts is what is to be known about a log when it is read again, so that a log that is missing,
// too short or another one than its name says is noticed. The MANIFEST keeps it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ashlar/types.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct LogFacts {
  FileNumber number = 0;
  SequenceNumber first_seqno = 0;  // no record has a lower one; 0: unknown, another engine's log
  uint64_t synced_bytes = 0;       // the file is at least as long
  uint64_t end_bytes = 0;          // where the last record ends, once closed; 0: unknown

  // Of the same log; what is known grows.
  void Learn(const LogFacts& news) {
    number = news.number;
    if (news.first_seqno != 0) first_seqno = news.first_seqno;
    synced_bytes = std::max(synced_bytes, news.synced_bytes);
    end_bytes = std::max(end_bytes, news.end_bytes);
  }
};

}  // namespace ashlar
