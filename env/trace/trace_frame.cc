// SPDX-License-Identifier: Apache-2.0
//
// Times and lengths have a fixed width, so a frame is begun before its length is known.
#include "env/trace/trace_frame.h"

#include <cassert>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr size_t kTypeOffset = 8;
constexpr size_t kLengthOffset = 9;

}  // namespace

TraceFrameHeader ParseTraceFrameHeader(const char* bytes) {
  assert(bytes != nullptr);
  return {.time = DecodeFixed64(bytes),
          .type = static_cast<TraceType>(bytes[kTypeOffset]),
          .payload_bytes = DecodeFixed32(bytes + kLengthOffset)};
}

// The length is 0 for now; EndTraceFrame() sets it when the payload is complete.
void BeginTraceFrame(std::string* bytes, uint64_t time, TraceType type) {
  assert(bytes != nullptr);
  PutFixed64(bytes, time);
  bytes->push_back(static_cast<char>(type));
  PutFixed32(bytes, 0);
}

void EndTraceFrame(std::string* bytes, size_t offset) {
  assert(bytes != nullptr);
  assert(bytes->size() >= offset + kTraceFrameHeaderBytes);
  const size_t payload_bytes = bytes->size() - offset - kTraceFrameHeaderBytes;
  EncodeFixed32(bytes->data() + offset + kLengthOffset, static_cast<uint32_t>(payload_bytes));
}

// *frame points into `bytes`. The length must be exact, because a frame is read as a whole.
Status ParseTraceFrame(const Slice& bytes, TraceFrame* frame) {
  assert(frame != nullptr);
  if (bytes.size() < kTraceFrameHeaderBytes) {
    return Status::Corruption(StrCat("trace record: expected a header of ", kTraceFrameHeaderBytes,
                                     " bytes, found ", bytes.size()));
  }
  const TraceFrameHeader header = ParseTraceFrameHeader(bytes.data());
  const size_t payload_bytes = bytes.size() - kTraceFrameHeaderBytes;
  if (header.payload_bytes != payload_bytes) {
    return Status::Corruption(StrCat("trace record: expected a payload of ", header.payload_bytes,
                                     " bytes, found ", payload_bytes));
  }
  if (header.type <= kTraceNone || header.type >= kTraceMax) {
    return Status::Corruption(StrCat("trace record: unknown type ", static_cast<int>(header.type)));
  }
  *frame = {.time = header.time,
            .type = header.type,
            .payload = Slice(bytes.data() + kTraceFrameHeaderBytes, payload_bytes)};
  return Status::OK();
}

}  // namespace ashlar
