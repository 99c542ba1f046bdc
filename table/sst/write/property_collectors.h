// SPDX-License-Identifier: Apache-2.0
//
// PropertyCollectors calls the user's table property collectors while one table is built.
//
// A collector's error is not the table's: what it then adds is its own affair.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/table_properties.h"
#include "table/sst/write/compression_sampler.h"

namespace ashlar {

class PropertyCollectors {
 public:
  using Factories = std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;
  // `factories` may be null.
  PropertyCollectors(const Factories* factories,
                     const TablePropertiesCollectorFactory::Context& context);

  bool empty() const { return collectors_.empty(); }
  void AddEntry(const Slice& internal_key, const Slice& value, uint64_t file_bytes);
  void AddBlock(uint64_t raw_bytes, const SampledBytes& sampled);
  // Adds what was collected to the table's user properties, and the collectors' names.
  void Finish(TableProperties* properties);
  // After Finish().
  bool NeedCompact() const;

 private:
  std::string names_;  // "[a,b]"
  std::vector<std::unique_ptr<TablePropertiesCollector>> collectors_;
};

}  // namespace ashlar
