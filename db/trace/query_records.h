// SPDX-License-Identifier: Apache-2.0
//
// The payloads of a query trace: docs/formats/traces.md.
//
// From version 0.2 on a payload is a map of fields (fixed64, bit i: field i is present), followed
// by these fields in the order of their bits. Older traces have the fields alone. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/trace_record.h"
#include "env/trace/trace_frame.h"

namespace ashlar {

// The version of a trace's format, as major * 100 + minor.
inline constexpr int kQueryTraceVersion = 2;

// The payload of the first record.
std::string QueryTraceHeader();
// Parses that payload. Corruption: it is no query trace. NotSupported: a newer version.
Status ParseQueryTraceHeader(const Slice& payload, int* version);

// Each function appends the payload of one call. Keys and batches are copied.
void AppendWriteQuery(const Slice& batch, std::string* payload);
void AppendGetQuery(uint32_t family, const Slice& key, std::string* payload);
// `families` and `keys` have the same length.
void AppendMultiGetQuery(std::span<const uint32_t> families, std::span<const Slice> keys,
                         std::string* payload);
// The slices are those of the caller.
struct SeekQuery {
  uint32_t family = 0;
  Slice target;
  Slice lower;  // empty: none
  Slice upper;
};
void AppendSeekQuery(const SeekQuery& seek, std::string* payload);

// Makes the record of a frame. Corruption: the payload is damaged. NotSupported: its type is none
// of a query.
Status ParseQueryRecord(const TraceFrame& frame, int version, std::unique_ptr<TraceRecord>* record);

}  // namespace ashlar
