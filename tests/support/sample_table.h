// SPDX-License-Identifier: Apache-2.0
//
// The sample tables that RocksDB wrote, with listings of their contents; and table files in memory.
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

// All samples of the shared data, or the few in tests/data/sst if that is missing.
std::vector<std::string> SampleTableNames();
// The samples in tests/data/sst: small ones of every kind.
std::vector<std::string> SmallSampleTableNames();
SampleTable LoadSampleTable(const std::string& name);

// A file reader over bytes in memory. It copies reads into `scratch`, as reads from a device do.
std::unique_ptr<RandomReader> ReaderOverBytes(std::string bytes, const std::string& path);

}  // namespace ashlar
