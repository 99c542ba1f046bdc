// SPDX-License-Identifier: Apache-2.0
//
// The properties of a table that do not come from counting its entries: who made it, when and how.
#pragma once

#include <cstdint>

#include "ashlar/types.h"
#include "table/sst/write/compression_sampler.h"

namespace ashlar {

struct TableBuilderOptions;
struct TableProperties;

// What is known when all blocks are written.
struct TableFacts {
  SequenceNumber smallest_seqno = 0;  // of all entries, if there are any
  SequenceNumber largest_seqno = 0;
  uint32_t used_compression_types = 0;  // as BlockWriter::used_types()
  SampledBytes sampled;                 // under other compressions
};

// To be called when the entries are counted.
void AddTableFacts(const TableBuilderOptions& options, const TableFacts& facts,
                   TableProperties* properties);

}  // namespace ashlar
