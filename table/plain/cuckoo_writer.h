// SPDX-License-Identifier: Apache-2.0
//
// CuckooTableWriter writes RocksDB's CuckooTables: docs/formats/plain_table.md.
//
// The number of buckets depends on the number of entries, so all entries are kept in memory, and
// nothing is written before Finish(). Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/plain/bare_table_writer.h"
#include "util/result.h"

namespace ashlar {

class CuckooTableWriter final : public BareTableWriter {
 public:
  explicit CuckooTableWriter(const BareTableFormat& format) : format_(format) {}

  Status Add(const Slice& internal_key, const Slice& value, std::string* rows) override;
  uint64_t held_bytes() const override;
  Status Finish(std::string* rows, std::vector<BareMetaBlock>* blocks,
                TableProperties* properties) override;

 private:
  // Entries of one type, in the order in which they came.
  struct Group {
    std::string user_keys;  // one behind the other
    std::vector<uint64_t> trailers;
  };

  size_t count() const { return values_.trailers.size() + deletions_.trailers.size(); }
  Status CheckFits(const Slice& user_key, const Slice& value, ValueType type) const;
  // The number of hash values.
  uint64_t TableSize() const;
  // A user key of the same length that no entry has. `user_keys`: of all entries.
  Result<std::string> UnusedKey(const Slice& user_keys) const;

  const BareTableFormat format_;
  Group values_, deletions_;
  std::string value_bytes_;    // of all values, one behind the other
  std::string last_key_;       // the last user key; all have its length
  size_t value_length_ = 0;    // of each value
  bool has_user_keys_ = true;  // so far, all entries are values with sequence number 0
  uint64_t power_of_two_ = 2;  // TableSize() without use_module_hash
};

}  // namespace ashlar
