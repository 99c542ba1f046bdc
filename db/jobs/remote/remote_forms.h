// SPDX-License-Identifier: Apache-2.0
//
// The bytes that are exchanged between a database and the worker of its CompactionService, in our
// own format: the input describes the merge, and the result lists the new tables.
//
//   magic (8 bytes) | version (varint) | fields in their order | CRC-32C of all before it, masked
//
// Both come from outside, so they are verified and then parsed. Corruption names the malformed
// field; NotSupported means that another version of the engine wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/compaction/compaction_picker.h"
#include "db/manifest/file_metadata.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"
#include "util/keys/seqno_range.h"
#include "util/result.h"

namespace ashlar {

// The young_range of a plan.
struct RemoteYoungRange {
  std::string smallest, largest;  // user keys
  bool largest_is_exclusive = false;
};

// The description of a merge.
struct RemoteInput {
  std::string db_id;
  std::string family;
  FileNumber options_file = 0;  // the current OPTIONS file
  struct InputLevel {
    Level level = 0;
    std::vector<FileNumber> files;
  };
  std::vector<InputLevel> inputs;
  std::vector<SequenceNumber> snapshots;  // ascending
  SeqnoRanges undecided;
  bool fails_on_merge = false;  // false: operands that cannot be merged are kept
  // These fields are those of CompactionPlan.
  Level output_level = 0;
  Level base_level = 1;
  uint64_t target_file_bytes = 0;
  uint64_t max_grandparent_bytes = 0;
  bool is_bottommost = false;
  bool is_open_below = false;
  bool is_manual = false;
  CompressionType compression = kDisableCompressionOption;
  CompactionReason reason = CompactionReason::kUnknown;
  Temperature temperature = Temperature::kUnknown;
  std::optional<RemoteYoungRange> young_range;
  // What is young: the time at which the job began, in seconds since 1970, and when sequence
  // numbers were written, as tables record it. Empty: the database knows only what is in the
  // tables.
  uint64_t now_seconds = 0;
  std::string write_times;

  std::string Encode() const;
  static Result<RemoteInput> Decode(const Slice& bytes);
};

// The outcome of a merge.
struct RemoteResult {
  Status status;  // code and message of the worker's error
  std::string output_dir;
  // The tables of each level ascend; the file names in output_dir use their numbers.
  struct Table {
    FileMetadata meta;
    bool is_young = false;  // see OutputTable
  };
  std::vector<Table> tables;
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

// The plan that an input describes, with the tables of a version. Corruption if one of them is not
// on its level. The input outlives the plan.
Result<CompactionPlan> PlanFromInput(const RemoteInput& input, const Version& version);

}  // namespace ashlar
