// SPDX-License-Identifier: Apache-2.0
//
// FilterPolicy: the filter that a table file carries, so that reads of absent keys can skip it.
//
//   table_options.filter_policy.reset(ashlar::NewBloomFilterPolicy(10));
//
// Objects of this kind are immutable and thread safe. The built-in policies are honoured; one of
// one's own is refused at open with NotSupported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/advanced_options.h"
#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

class FilterBitsBuilder;
class FilterBitsReader;
class Logger;
class Slice;
struct BlockBasedTableOptions;
struct ConfigOptions;

// What is known when a filter is built.
struct FilterBuildingContext {
  explicit FilterBuildingContext(const BlockBasedTableOptions& _table_options)
      : table_options(_table_options) {}

  const BlockBasedTableOptions& table_options;
  CompactionStyle compaction_style = kCompactionStyleLevel;
  // -1 = unknown.
  int num_levels = -1;
  Logger* info_log = nullptr;
  std::string column_family_name;
  // -1 = unknown.
  int level_at_creation = -1;
  bool is_bottommost = false;
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

class ASHLAR_EXPORT FilterPolicy : public Customizable {
 public:
  ~FilterPolicy() override {}
  static const char* Type() { return "FilterPolicy"; }
  // "bloomfilter:BITS:false", "ribbonfilter:BITS:BEFORE_LEVEL", "rocksdb.BuiltinBloomFilter", or
  // "nullptr".
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<const FilterPolicy>* result);

  // Stored in files to find the right reader: "rocksdb.BuiltinBloomFilter".
  virtual const char* CompatibilityName() const = 0;

  // The library builds and probes its filters elsewhere: built-in policies return nullptr from
  // both.
  virtual FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext&) const = 0;
  virtual FilterBitsReader* GetFilterBitsReader(const Slice& contents) const = 0;
};

// A Bloom filter: 10 bits per key give about 1 % false positives, each further bit takes a third
// away. Fractions work. Below 0.5 there is no filter. The second argument is ignored. The caller
// owns the result.
ASHLAR_EXPORT const FilterPolicy* NewBloomFilterPolicy(
    double bits_per_key, bool IGNORED_use_block_based_builder = false);

// A ribbon filter with the false positive rate of such a Bloom filter, 30 % smaller and slower to
// build. Files above level `bloom_before_level` get a Bloom filter instead (0: only flushed ones;
// -1: none; INT_MAX: all); with kCompactionStyleFIFO and kCompactionStyleNone files count as those
// of the last level. Those with few keys or of a format_version below 5 get one too. The caller
// owns the result.
ASHLAR_EXPORT FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                                  int bloom_before_level = 0);

}  // namespace ashlar
