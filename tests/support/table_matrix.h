// SPDX-License-Identifier: Apache-2.0
//
// Tables written with options that a seed combines: every option of the block-based format with
// every other, over entries of several kinds. The same seed gives the same table.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/sample_table.h"
#include "util/keys/internal_key.h"
#include "util/random.h"

namespace ashlar {

// The chosen values, for messages and to count the combinations covered.
class MatrixChoices {
 public:
  explicit MatrixChoices(uint64_t seed) : random_(seed) {}
  // The value of an axis, from 0 to count - 1.
  int Pick(const char* axis, int count);
  bool Flip(const char* axis) { return Pick(axis, 2) != 0; }

  const std::vector<std::pair<std::string, int>>& all() const { return choices_; }
  std::string Describe() const;  // "format=3 index=2 ..."

 private:
  Random64 random_;
  std::vector<std::pair<std::string, int>> choices_;
};

struct MatrixTable {
  std::string description;
  MatrixChoices choices{0};
  std::unique_ptr<InternalKeyComparator> icmp;
  std::unique_ptr<const SliceTransform> extractor;  // null: none
  BlockBasedTableOptions table;
  TableBuilderOptions options;      // points to the members above
  std::vector<SampleEntry> points;  // in the order of the file
  std::vector<SampleEntry> tombstones;
  std::string bytes;           // the file
  TableProperties properties;  // as the builder returns them
  bool uses_cache = false;     // for the reader of the table
};

// `reader_of_7_8`: only options that RocksDB 7.8 can read.
std::unique_ptr<MatrixTable> MakeMatrixTable(uint64_t seed, bool reader_of_7_8);

// The combinations of values that a number of tables has covered.
class MatrixCoverage {
 public:
  void Add(const MatrixChoices& choices);
  size_t combinations() const { return combinations_.size(); }
  size_t pairs() const { return pairs_.size(); }
  size_t possible_pairs() const;

 private:
  std::set<std::string> combinations_;
  std::set<std::pair<std::string, std::string>> pairs_;  // pairs of values of two axes
  std::set<std::string> values_;                         // "axis=value"
};

}  // namespace ashlar
