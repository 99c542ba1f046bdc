// SPDX-License-Identifier: Apache-2.0
//
// The sample tables that RocksDB wrote, with the listings of what they hold; and tables that lie in
// memory instead of in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "env/random_reader.h"
#include "util/keys/internal_key.h"

namespace ashlar {

struct SampleEntry {
  std::string internal_key;  // with the effective sequence number
  std::string value;

  friend bool operator==(const SampleEntry&, const SampleEntry&) = default;
};

struct SampleTable {
  std::string name;
  std::string bytes;  // the whole file
  std::string comparator;
  std::vector<SampleEntry> entries;  // in file order, without range tombstones
  size_t range_tombstone_count = 0;
  SequenceNumber manifest_seqno = kMaxSequenceNumber;  // of ingested files
};

// All samples of the shared data, or the few of tests/data/sst where that is missing.
std::vector<std::string> SampleTableNames();
// Those of tests/data/sst: small ones of every kind.
std::vector<std::string> SmallSampleTableNames();
SampleTable LoadSampleTable(const std::string& name);

// A reader over bytes in memory. Reads go through `scratch`, as from a device.
std::unique_ptr<RandomReader> ReaderOverBytes(std::string bytes, const std::string& path);

}  // namespace ashlar
