// SPDX-License-Identifier: Apache-2.0
//
// Reads a new table back before it is installed, if options ask for it (paranoid_file_checks,
// verify_output_flags). Threads: any; the functions only read the file.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/manifest/file_metadata.h"
#include "db/output/table_output.h"
#include "util/hash/hash.h"

namespace ashlar {

struct OutputChecks {
  bool blocks = false;    // checksums of all blocks, and that the blocks are consistent
  bool entries = false;   // the entries are the ones that were added
  bool checksum = false;  // checksum of the whole file, if it has one

  bool any() const { return blocks || entries || checksum; }
};

// paranoid_file_checks applies to all tables, verify_output_flags to compactions only.
OutputChecks OutputChecksFor(const ColumnFamilyOptions& options, bool is_flush);

// A hash of a sequence of point entries; depends on each entry and on their order.
class EntriesHash {
 public:
  void Add(const Slice& internal_key, const Slice& value) {
    hash_ = HashBytes(value, HashBytes(internal_key, hash_));
    ++count_;
  }
  uint64_t hash() const { return hash_; }
  uint64_t count() const { return count_; }

 private:
  uint64_t hash_ = 0;
  uint64_t count_ = 0;
};

// Returns Corruption with the file, the expectation and the finding. `written`: the hash of the
// entries that were added.
Status CheckOutput(const OutputChecks& checks, const TableOutputOptions& options,
                   const FileMetadata& meta, const EntriesHash& written);

}  // namespace ashlar
