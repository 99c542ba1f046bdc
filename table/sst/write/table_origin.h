// SPDX-License-Identifier: Apache-2.0
//
// The properties of a table that do not come from counting its entries: its creator, time and
// settings.
#pragma once

#include <cstdint>

#include "ashlar/types.h"
#include "table/sst/write/compression_sampler.h"

namespace ashlar {

struct TableBuilderOptions;
struct TableProperties;

// Values that are known only when all blocks have been written.
struct TableOrigin {
  SequenceNumber smallest_seqno = 0;  // of all entries, if there are any
  SequenceNumber largest_seqno = 0;
  uint32_t used_compression_types = 0;  // as BlockWriter::used_types()
  SampledBytes sampled;                 // estimated sizes with other compressions
};

// Adds the properties that describe the origin of the table. The counts in `properties` must be
// complete.
void AddOriginProperties(const TableBuilderOptions& options, const TableOrigin& facts,
                         TableProperties* properties);

}  // namespace ashlar
