// SPDX-License-Identifier: Apache-2.0
//
// What is read back of a table that was just written, before anybody is told of it
// (paranoid_file_checks, verify_output_flags). Threads: pure, but for the file.
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
  bool blocks = false;    // their checksums, and that they fit each other
  bool entries = false;   // that they are those that were added
  bool checksum = false;  // of the whole file, if it has one

  bool any() const { return blocks || entries || checksum; }
};

// paranoid_file_checks is about all tables, verify_output_flags about compactions.
OutputChecks OutputChecksFor(const ColumnFamilyOptions& options, bool is_flush);

// Depends on every point entry and on their order.
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

// Corruption that names the file and what was expected. `written`: of the entries that were added.
Status CheckOutput(const OutputChecks& checks, const TableOutputOptions& options,
                   const FileMetadata& meta, const EntriesHash& written);

}  // namespace ashlar
