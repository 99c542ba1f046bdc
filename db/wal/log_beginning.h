// SPDX-License-Identifier: Apache-2.0
//
// The first record of a log that follows another says where that one ends, so that a crash which
// took its end, and left the newer log, is noticed. Sequence numbers cannot tell: writes that skip
// the log, and failed ones, leave gaps in them.
//
// It is an empty write batch with a remark in it (kTypeLogData), as every version of RocksDB can
// read it; the record made for the purpose (kPredecessorInfo) is damage to older ones. Bytes:
// docs/formats/wal.md, section 8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct LogPredecessor {
  FileNumber number = 0;
  uint64_t end_bytes = 0;  // of its last record
};

// `first_seqno`: that of the next write.
std::string EncodeLogBeginning(SequenceNumber first_seqno, const LogPredecessor& predecessor);
// None if the batch is another one.
std::optional<LogPredecessor> DecodeLogBeginning(const Slice& batch);

}  // namespace ashlar
