// SPDX-License-Identifier: Apache-2.0
//
// Records of query traces: parsing any bytes ends with a Status, and a parsed record has the same
// bytes when it is written again.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/trace_record.h"
#include "db/trace/query_records.h"
#include "env/trace/trace_frame.h"

namespace ashlar {
namespace {

class WriteAgain final : public TraceRecord::Handler {
 public:
  Status Handle(const WriteQueryTraceRecord& record, std::unique_ptr<TraceRecordResult>*) override {
    AppendWriteQuery(record.GetWriteBatchRep(), &payload);
    return Status::OK();
  }
  Status Handle(const GetQueryTraceRecord& record, std::unique_ptr<TraceRecordResult>*) override {
    AppendGetQuery(record.GetColumnFamilyID(), record.GetKey(), &payload);
    return Status::OK();
  }
  Status Handle(const IteratorSeekQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>*) override {
    AppendSeekQuery({.family = record.GetColumnFamilyID(),
                     .target = record.GetKey(),
                     .lower = record.GetLowerBound(),
                     .upper = record.GetUpperBound()},
                    &payload);
    return Status::OK();
  }
  Status Handle(const MultiGetQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>*) override {
    AppendMultiGetQuery(record.GetColumnFamilyIDs(), record.GetKeys(), &payload);
    return Status::OK();
  }
  std::string payload;
};

// Parses a written record once more.
void ParseTwice(const TraceFrame& frame, int version) {
  std::unique_ptr<TraceRecord> record;
  if (!ParseQueryRecord(frame, version, &record).ok()) return;
  WriteAgain again;
  if (!record->Accept(&again, nullptr).ok()) std::abort();
  const TraceFrame written{.time = frame.time, .type = frame.type, .payload = again.payload};
  WriteAgain third;
  if (!ParseQueryRecord(written, kQueryTraceVersion, &record).ok() ||
      !record->Accept(&third, nullptr).ok() || third.payload != again.payload) {
    std::abort();
  }
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // The first byte chooses the version, and whether the length is repaired.
  const uint8_t control = data[0];
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((control & 4) != 0 && bytes.size() >= ashlar::kTraceFrameHeaderBytes) {
    ashlar::EndTraceFrame(&bytes, 0);
  }
  int version = 0;
  ashlar::ParseQueryTraceHeader(bytes, &version).PermitUncheckedError();
  ashlar::TraceFrame frame;
  if (ashlar::ParseTraceFrame(bytes, &frame).ok()) {
    ashlar::ParseTwice(frame, control % 3);
    ashlar::ParseQueryTraceHeader(frame.payload, &version).PermitUncheckedError();
  }
  return 0;
}
