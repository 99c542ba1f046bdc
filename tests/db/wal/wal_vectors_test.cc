// SPDX-License-Identifier: Apache-2.0
//
// Golden logs that the reference engine wrote (tests/data/vectors/wal.txt): we read them, and frame
// the same records into the same bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/db/wal/log_test_util.h"
#include "tests/support/paths.h"

namespace ashlar {
namespace {

struct Vector {
  std::string description;
  FileNumber log_number;
  std::string bytes;
  std::vector<std::string> expected;  // lines
};

// "000019: 41*32739" or "000000: 0f 0a ef"
void AppendHexLine(const std::string& line, std::string* bytes) {
  std::istringstream in(line.substr(line.find(':') + 1));
  for (std::string token; in >> token;) {
    const char byte = static_cast<char>(std::stoi(token.substr(0, 2), nullptr, 16));
    const size_t count = token.size() > 2 ? std::stoul(token.substr(3)) : 1;
    bytes->append(count, byte);
  }
}

std::vector<Vector> LoadVectors() {
  std::ifstream in(SourcePath("tests/data/vectors/wal.txt"));
  std::vector<Vector> vectors;
  bool is_new = true, in_expect = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("====")) {
      is_new = true;
      continue;
    }
    if (is_new) {
      vectors.emplace_back();
      is_new = in_expect = false;
    }
    Vector& vector = vectors.back();
    if (line.starts_with("desc: ")) {
      vector.description = line.substr(6);
    } else if (line.starts_with("params: log_number=")) {
      vector.log_number = FileNumber{std::stoul(line.substr(19))};
    } else if (line == "expect:") {
      in_expect = true;
    } else if (in_expect) {
      vector.expected.push_back(line);
    } else if (line.size() > 7 && line[6] == ':') {
      AppendHexLine(line, &vector.bytes);
    }
  }
  return vectors;
}

// What the reader should give: "@offset size" per logical record, joined from physical lines.
std::vector<std::string> ExpectedRecords(const Vector& vector) {
  std::vector<std::string> records;
  size_t offset = 0, size = 0;
  for (const std::string& line : vector.expected) {
    if (line[0] != '@' || line.find("stop:") != std::string::npos) continue;
    std::istringstream in(line.substr(1));
    size_t at;
    std::string type, length;
    in >> at >> type >> length;
    if (type[0] == 'R') type = type.substr(1);
    const size_t bytes = std::stoul(length.substr(4));
    if (type == "Full" || type == "First") {
      offset = at;
      size = 0;
    }
    size += bytes;
    if (type == "Full" || type == "Last") {
      records.push_back("@" + std::to_string(offset) + " " + std::to_string(size));
    }
  }
  return records;
}

std::vector<std::string> ExpectedBatches(const Vector& vector) {
  std::vector<std::string> batches;
  for (const std::string& line : vector.expected) {
    if (line.starts_with("  batch ")) batches.push_back(line.substr(8));
  }
  return batches;
}

TEST(WalVectors, AreReadAsTheReferenceEngineWroteThem) {
  const std::vector<Vector> vectors = LoadVectors();
  ASSERT_EQ(vectors.size(), 7u);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.description);
    LogReader::Options options;
    options.is_wal = true;
    options.log_number = vector.log_number;
    options.mode = WALRecoveryMode::kPointInTimeRecovery;
    LogReader reader(NewMemoryLogSource(vector.bytes, "vector"), options, nullptr);
    std::vector<std::string> places, batches;
    Slice record;
    while (reader.ReadRecord(&record)) {
      places.push_back("@" + std::to_string(reader.record_offset()) + " " +
                       std::to_string(record.size()));
      batches.push_back("seq=" + std::to_string(DecodeFixed64(record.data())) +
                        " count=" + std::to_string(DecodeFixed32(record.data() + 8)));
    }
    EXPECT_FALSE(reader.has_reported());
    EXPECT_TRUE(reader.status().ok()) << reader.status().ToString();
    if (reader.is_compressed()) {
      EXPECT_EQ(places, (std::vector<std::string>{"@11 45", "@55 50018"}));
      continue;
    }
    EXPECT_EQ(places, ExpectedRecords(vector));
    EXPECT_EQ(batches, ExpectedBatches(vector));
  }
}

TEST(WalVectors, TellTheFactsAboutTheirLogs) {
  std::map<char, int> seen;
  for (const Vector& vector : LoadVectors()) {
    LogReader::Options options;
    options.log_number = vector.log_number;
    options.mode = WALRecoveryMode::kPointInTimeRecovery;
    LogReader reader(NewMemoryLogSource(vector.bytes, "vector"), options, nullptr);
    Slice record;
    while (reader.ReadRecord(&record)) {
    }
    seen['c'] += reader.is_compressed();
    seen['o'] += reader.ended_at_old_record();
    if (reader.predecessor().has_value()) {
      seen['p']++;
      EXPECT_EQ(reader.predecessor()->log_number.value(), 4u);
      EXPECT_EQ(reader.predecessor()->size_bytes, 24u);
      EXPECT_EQ(reader.predecessor()->last_seqno, 1u);
    }
    if (!reader.timestamp_sizes().empty()) {
      seen['t']++;
      EXPECT_EQ(reader.timestamp_sizes()[0].column_family, 1u);
      EXPECT_EQ(reader.timestamp_sizes()[0].bytes, 8);
    }
  }
  EXPECT_EQ(seen, (std::map<char, int>{{'c', 1}, {'o', 1}, {'p', 1}, {'t', 1}}));
}

// Payloads framed anew give the original bytes.
TEST(WalVectors, AreFramedIntoTheSameBytes) {
  for (const Vector& vector : LoadVectors()) {
    SCOPED_TRACE(vector.description);
    const bool is_recycled = vector.description.find("recycled") != std::string::npos;
    LogImage log(vector.log_number, is_recycled);
    LogReader::Options options;
    options.log_number = vector.log_number;
    LogReader reader(NewMemoryLogSource(vector.bytes, "vector"), options, nullptr);
    Slice record;
    bool is_first = true;
    while (reader.ReadRecord(&record)) {
      if (is_first && reader.predecessor().has_value()) {
        log.AddSpecial(LogRecordType::kPredecessorInfo,
                       EncodePredecessorInfo(*reader.predecessor()));
      }
      if (is_first && !reader.timestamp_sizes().empty()) {
        log.AddSpecial(LogRecordType::kTimestampSizes,
                       EncodeTimestampSizes(reader.timestamp_sizes()));
      }
      is_first = false;
      if (reader.is_compressed()) break;
      log.Add(record);
    }
    if (reader.is_compressed()) {
      std::string payload;
      PutFixed32(&payload, 7);
      log.AddSpecial(LogRecordType::kSetCompression, payload);
    }
    EXPECT_EQ(log.bytes, vector.bytes.substr(0, log.bytes.size()));
    const bool is_whole = !is_recycled && !reader.is_compressed();
    EXPECT_EQ(log.bytes.size() == vector.bytes.size(), is_whole);
  }
}

}  // namespace
}  // namespace ashlar
