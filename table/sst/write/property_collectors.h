// SPDX-License-Identifier: Apache-2.0
//
// PropertyCollectors calls the program's table property collectors while one table is built.
//
// An error of a collector does not fail the table; a collector whose Finish() fails adds no
// properties. Threads: one at a time.
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
  // Creates one collector for each factory. `factories` may be null: no collectors.
  PropertyCollectors(const Factories* factories,
                     const TablePropertiesCollectorFactory::Context& context);

  bool empty() const { return collectors_.empty(); }
  // Passes one entry to all collectors. `file_bytes` is the size of the file so far.
  void AddEntry(const Slice& internal_key, const Slice& value, uint64_t file_bytes);
  // Passes the sizes of a data block to all collectors: uncompressed, and the sampled compressed
  // ones.
  void AddBlock(uint64_t raw_bytes, const SampledBytes& sampled);
  // Adds the collected properties and the names of the collectors to `properties`.
  void Finish(TableProperties* properties);
  // After Finish(): true if a collector asks for the table to be compacted soon.
  bool NeedCompact() const;

 private:
  std::string names_;  // in the form "[a,b]"
  std::vector<std::unique_ptr<TablePropertiesCollector>> collectors_;
};

}  // namespace ashlar
