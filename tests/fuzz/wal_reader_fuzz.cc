// SPDX-License-Identifier: Apache-2.0
//
// Logs: reading any bytes ends, in every recovery mode. The first byte chooses the mode and the
// kind of log; if its top bit is set, the checksums are repaired first, so that the code behind
// them is reached.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ashlar/slice.h"
#include "db/wal/log_format.h"
#include "db/wal/log_reader.h"

namespace ashlar {
namespace {

constexpr uint64_t kLogNumber = 3;

// Repairs the checksum of every record that can be reached.
void RepairChecksums(std::string* log) {
  for (size_t at = 0; at + kLogHeaderBytes <= log->size();) {
    const size_t left = std::min(kLogBlockBytes - at % kLogBlockBytes, log->size() - at);
    const size_t length = left < kLogHeaderBytes ? 0 : DecodeFixed16(log->data() + at + 4);
    const bool is_recyclable =
        left >= kLogHeaderBytes && IsRecyclableType(static_cast<uint8_t>((*log)[at + 6]));
    const size_t record = length + (is_recyclable ? kRecyclableLogHeaderBytes : kLogHeaderBytes);
    if (record > left) {
      at += left;
      continue;
    }
    EncodeFixed32(log->data() + at, crc32c::Mask(crc32c::Value(log->data() + at + 6, record - 6)));
    at += record;
  }
}

struct CountingReporter : LogReader::Reporter {
  void OnDamage(const LogDamage& damage) override {
    if (damage.reason.ok()) std::abort();
    ++count;
  }
  uint64_t count = 0;
};

void ReadAny(uint8_t control, std::string log) {
  if ((control & 0x80) != 0) RepairChecksums(&log);
  LogReader::Options options;
  options.mode = static_cast<WALRecoveryMode>(control & 3);
  options.log_number = kLogNumber;
  options.is_wal = (control & 4) != 0;
  options.continue_after_report = (control & 8) != 0;
  options.is_tailing = (control & 16) != 0;
  CountingReporter reporter;
  LogReader reader(NewMemoryLogSource(log, "fuzz.log"), options, &reporter);
  Slice record;
  uint64_t end = 0, count = 0;
  while (reader.ReadRecord(&record)) {
    if (reader.record_offset() < end || reader.record_end() > log.size()) std::abort();
    end = reader.record_end();
    if (++count > log.size()) std::abort();
  }
  // has_reported() agrees with the calls of the reporter.
  if (reader.has_reported() != (reporter.count > 0)) std::abort();
  if (reader.ReadRecord(&record) && !options.is_tailing) std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  ashlar::ReadAny(data[0], std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  return 0;
}
