// SPDX-License-Identifier: Apache-2.0
//
// The first record of a log contains the end of the previous log. With it recovery detects a crash
// that lost the end of the previous log but not the newer log. Sequence numbers cannot show this,
// because writes that skip the log and failed writes leave gaps.
//
// The record is a write batch with only a kTypeLogData entry, which every version of RocksDB can
// read. Older versions treat RocksDB's own record kind for this purpose (kPredecessorInfo) as
// damage. Bytes: docs/formats/wal.md, section 8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "util/keys/file_number.h"

namespace ashlar {

// The end of the previous log.
struct LogPredecessor {
  FileNumber number = 0;
  uint64_t end_bytes = 0;  // offset of the end of its last record
};

// Encodes the record. `first_seqno`: the sequence number of the next write.
std::string EncodeLogBeginning(SequenceNumber first_seqno, const LogPredecessor& predecessor);
// Decodes the record; nullopt if the batch is an ordinary one.
std::optional<LogPredecessor> DecodeLogBeginning(const Slice& batch);

}  // namespace ashlar
