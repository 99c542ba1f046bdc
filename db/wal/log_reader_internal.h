// SPDX-License-Identifier: Apache-2.0
//
// The results that the physical layer of the log reader passes to the logical layer. Private to the
// two layers.
#pragma once

#include <cstdint>
#include <optional>

#include "db/wal/log_reader.h"

namespace ashlar {

enum class LogReader::Kind : uint8_t {
  kRecord,
  kEof,
  // The file ends inside a header or a record, or in zeros where a record was being written.
  kIncompleteTail,
  kBadLength,
  kBadChecksum,
  kOldRecord,  // a record of the previous log in a recycled file
};

struct LogReader::Physical {
  Kind kind = Kind::kEof;
  uint8_t type = 0;                                 // of a record
  Slice payload = {};                               // of a record; points into block_
  uint64_t offset = 0;                              // offset of the header in the file
  uint64_t bytes = 0;                               // size of the record, or dropped bytes
  const char* what = "";                            // description of damage
  std::optional<uint64_t> good_record_behind = {};  // if it was searched for already
  bool is_unwritten = false;                        // of damage: see LogDamage
  bool is_stale = false;                            // of damage: may belong to the older log
};

}  // namespace ashlar
