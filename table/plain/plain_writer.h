// SPDX-License-Identifier: Apache-2.0
//
// PlainTableWriter writes RocksDB's PlainTables: docs/formats/plain_table.md.
//
// A row is appended as soon as its entry comes. With store_index_in_file, the places of some rows
// and a hash for each entry are kept until the end. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/plain/bare_table_writer.h"

namespace ashlar {

// The index of a table by the hashes of prefixes, which finds the rows from which a search scans.
class PlainIndexBuilder {
 public:
  // A row in every `sparseness` of a prefix is indexed; 0: each one. `hash_table_ratio`: prefixes
  // per bucket; 0 or less: one bucket for all.
  PlainIndexBuilder(size_t sparseness, double hash_table_ratio)
      : sparseness_(sparseness), hash_table_ratio_(hash_table_ratio) {}

  // A row at this offset. Rows come in the order of the file.
  void Add(const Slice& prefix, uint32_t row_offset);
  std::string Finish() const;

 private:
  struct Place {
    uint32_t hash;  // of the prefix
    uint32_t row_offset;
  };

  const size_t sparseness_;
  const double hash_table_ratio_;
  std::vector<Place> places_;
  std::string prefix_;         // of the last row
  uint32_t prefix_count_ = 0;  // runs of rows with one prefix
  size_t rows_of_prefix_ = 0;
};

class PlainTableWriter final : public BareTableWriter {
 public:
  explicit PlainTableWriter(const BareTableFormat& format);

  Status Add(const Slice& internal_key, const Slice& value, std::string* rows) override;
  uint64_t held_bytes() const override { return 0; }
  Status Finish(std::string* rows, std::vector<BareMetaBlock>* blocks,
                TableProperties* properties) override;

 private:
  Slice PrefixOf(const Slice& user_key) const;
  void AppendKey(const Slice& user_key, const Slice& prefix, std::string* rows);
  void AppendSharedKey(const Slice& user_key, const Slice& prefix, std::string* rows);
  std::string BloomBlock(uint32_t* line_count) const;

  const BareTableFormat format_;
  uint64_t row_bytes_ = 0;  // of all rows so far
  PlainIndexBuilder index_;
  std::vector<uint32_t> hashes_;  // of prefixes, or of keys if there is no extractor
  std::string shared_prefix_;     // of the rows behind the last row with a whole key
  size_t rows_of_whole_key_ = 0;  // since then, that row included; 0: there is none
};

}  // namespace ashlar
