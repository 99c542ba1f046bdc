// SPDX-License-Identifier: Apache-2.0
//
// FilterPolicy: the kind of filter that tables contain, so that reads of absent keys can skip them.
//
//   table_options.filter_policy.reset(ashlar::NewBloomFilterPolicy(10));
//
// Policies are immutable and thread safe. Only the built-in policies can be used; a policy of the
// program's own is refused with NotSupported when the database is opened.
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

// Facts that are known when a filter is built.
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

// The kind of filter that tables contain.
class ASHLAR_EXPORT FilterPolicy : public Customizable {
 public:
  ~FilterPolicy() override {}
  static const char* Type() { return "FilterPolicy"; }
  // Creates a built-in policy from its name: "bloomfilter:BITS:false",
  // "ribbonfilter:BITS:BEFORE_LEVEL", "rocksdb.BuiltinBloomFilter", or "nullptr" for none.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<const FilterPolicy>* result);

  // Stored in tables to find the right reader: "rocksdb.BuiltinBloomFilter".
  virtual const char* CompatibilityName() const = 0;

  // Built-in policies return nullptr from both functions, because the engine builds and reads its
  // filters itself.
  virtual FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext&) const = 0;
  virtual FilterBitsReader* GetFilterBitsReader(const Slice& contents) const = 0;
};

// Creates a policy for Bloom filters. With 10 bits per key, about 1 % of the lookups of absent keys
// are false positives; each additional bit reduces that by a third. Fractions are allowed; below
// 0.5 there is no filter. The second argument is ignored. The caller owns the result.
ASHLAR_EXPORT const FilterPolicy* NewBloomFilterPolicy(
    double bits_per_key, bool IGNORED_use_block_based_builder = false);

// Creates a policy for Ribbon filters, which have the false positive rate of a Bloom filter with
// the given number of bits per key, but are 30 % smaller and slower to build. Tables on levels
// above bloom_before_level get a Bloom filter instead: 0 = only flushed tables, -1 = none, INT_MAX
// = all. With kCompactionStyleFIFO and kCompactionStyleNone, all tables count as tables of the last
// level. Tables with few keys, or with a format_version below 5, always get a Bloom filter. The
// caller owns the result.
ASHLAR_EXPORT FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                                  int bloom_before_level = 0);

}  // namespace ashlar
