// SPDX-License-Identifier: Apache-2.0
//
// Logs in memory for tests: built record by record, damaged at will, read back in one call.
#pragma once

#include <string>
#include <vector>

#include "db/wal/log_format.h"
#include "db/wal/log_reader.h"

namespace ashlar {

inline constexpr WALRecoveryMode kAllRecoveryModes[] = {
    WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
    WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords};

// The bytes of a log.
struct LogImage {
  explicit LogImage(FileNumber log_number = {}, bool is_recyclable = false,
                    bool is_compressed = false)
      : framing(log_number, is_recyclable, is_compressed) {}

  void Add(const Slice& payload) { AppendFramedRecord(framing, bytes.size(), payload, &bytes); }
  void AddSpecial(LogRecordType type, const Slice& payload) {
    AppendSpecialRecord(framing, bytes.size(), type, payload, &bytes);
  }
  // One physical record as it is given, with a good checksum.
  void AddPhysical(uint8_t type, const Slice& payload) {
    std::string checked(1, static_cast<char>(type));
    if (IsRecyclableType(type)) PutFixed32(&checked, framing.log_number());
    checked.append(payload.data(), payload.size());
    PutFixed32(&bytes, crc32c::Mask(crc32c::Value(checked.data(), checked.size())));
    PutFixed16(&bytes, static_cast<uint16_t>(payload.size()));
    bytes += checked;
  }

  const LogFraming framing;
  std::string bytes;
};

struct LogContents {
  std::vector<std::string> records;
  std::vector<LogDamage> damages;
  bool ended_at_old_record = false;
  uint64_t torn_tail_bytes = 0;
  Status status;

  // The records, then "!" per report: "A B !".
  std::string Show() const {
    std::string text;
    for (const std::string& record : records) text += record + " ";
    for (size_t i = 0; i < damages.size(); ++i) text += "! ";
    if (!text.empty()) text.pop_back();
    return text;
  }
};

inline LogContents ReadLog(const Slice& bytes, const LogReader::Options& options) {
  struct Collector : LogReader::Reporter {
    void OnDamage(const LogDamage& damage) override { damages.push_back(damage); }
    std::vector<LogDamage> damages;
  } collector;
  LogContents contents;
  LogReader reader(NewMemoryLogSource(bytes, "test.log"), options, &collector);
  Slice record;
  while (reader.ReadRecord(&record)) contents.records.push_back(record.ToString());
  contents.damages = collector.damages;
  contents.ended_at_old_record = reader.ended_at_old_record();
  contents.torn_tail_bytes = reader.torn_tail_bytes();
  contents.status = reader.status();
  return contents;
}

inline LogContents ReadLog(const Slice& bytes, WALRecoveryMode mode, FileNumber log_number = {}) {
  LogReader::Options options;
  options.mode = mode;
  options.log_number = log_number;
  return ReadLog(bytes, options);
}

// What each mode reads: records, then "!" per report. Modes in the order of their numbers.
inline std::vector<std::string> ShowAllModes(const Slice& bytes, FileNumber log_number = {}) {
  std::vector<std::string> shown;
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    shown.push_back(ReadLog(bytes, mode, log_number).Show());
  }
  return shown;
}
using Modes = std::vector<std::string>;

}  // namespace ashlar
