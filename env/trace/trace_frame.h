// SPDX-License-Identifier: Apache-2.0
//
// The frame of a record, the same in all three kinds of traces: docs/formats/traces.md.
//
//   fixed64 time | u8 type | fixed32 payload length | payload
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/trace_record.h"

namespace ashlar {

inline constexpr size_t kTraceFrameHeaderBytes = 13;
// The first record of each trace begins with this text.
inline constexpr char kTraceMagic[] = "feedcafedeadbeef";

// A record. Its payload points into the bytes that were parsed, and is valid as long as they are.
struct TraceFrame {
  uint64_t time = 0;  // microseconds since 1970; of I/O traces: nanoseconds of a monotonic clock
  TraceType type = kTraceNone;
  Slice payload;
};

// The header of a frame, without checking the type.
struct TraceFrameHeader {
  uint64_t time = 0;
  TraceType type = kTraceNone;
  uint32_t payload_bytes = 0;
};
// `bytes` points to at least kTraceFrameHeaderBytes bytes. Any content is accepted; the caller
// checks the type and the length.
TraceFrameHeader ParseTraceFrameHeader(const char* bytes);

// Appends the header of a frame whose payload follows; the length is 0 until EndTraceFrame().
void BeginTraceFrame(std::string* bytes, uint64_t time, TraceType type);
// Sets the length of the frame that begins at `offset` and ends at the end of the bytes.
void EndTraceFrame(std::string* bytes, size_t offset);

// Parses one whole record, as TraceReader::Read() returns it. Corruption: the bytes are cut, there
// are more of them, or no such type exists.
Status ParseTraceFrame(const Slice& bytes, TraceFrame* frame);

}  // namespace ashlar
