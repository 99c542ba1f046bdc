// SPDX-License-Identifier: Apache-2.0
//
// What goes between a database and the worker of its CompactionService, in our own form: the input
// says what is to be merged, the result which tables came of it.
//
//   magic (8 bytes) | version (varint) | fields in their order | CRC-32C of all before it, masked
//
// Both come from elsewhere, so they are verified, then parsed: Corruption says what is wrong, and
// NotSupported that another version wrote them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/compaction/compaction_picker.h"
#include "db/manifest/file_metadata.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"
#include "util/result.h"

namespace ashlar {

struct RemoteInput {
  std::string db_id;
  std::string family;
  FileNumber options_file = 0;  // the OPTIONS in force
  struct InputLevel {
    Level level = 0;
    std::vector<FileNumber> files;
  };
  std::vector<InputLevel> inputs;
  std::vector<SequenceNumber> snapshots;  // ascending
  bool fails_on_merge = false;            // else operands that cannot be merged are kept
  // Of the plan.
  Level output_level = 0;
  Level base_level = 1;
  uint64_t target_file_bytes = 0;
  uint64_t max_grandparent_bytes = 0;
  bool is_bottommost = false;
  bool is_open_below = false;
  bool is_manual = false;
  CompressionType compression = kDisableCompressionOption;
  CompactionReason reason = CompactionReason::kUnknown;

  std::string Encode() const;
  static Result<RemoteInput> Decode(const Slice& bytes);
};

struct RemoteResult {
  Status status;  // code and message of what the worker met
  std::string output_dir;
  std::vector<FileMetadata> tables;  // ascending; their numbers are the names in output_dir
  uint64_t input_entries = 0;
  uint64_t output_entries = 0;
  uint64_t hidden_dropped = 0;
  uint64_t covered_dropped = 0;
  uint64_t tombstones_dropped = 0;
  uint64_t filtered = 0;
  uint64_t range_tombstones_dropped = 0;
  uint64_t bytes_written = 0;
  uint64_t cpu_micros = 0;

  std::string Encode() const;
  static Result<RemoteResult> Decode(const Slice& bytes);
};

// The plan that an input describes, of the tables of a version. Corruption if one of them is not
// where it was.
Result<CompactionPlan> PlanFromInput(const RemoteInput& input, const Version& version);

}  // namespace ashlar
