// SPDX-License-Identifier: Apache-2.0
//
// The payloads of query traces: bytes of RocksDB 7.8.3, older versions, and damage.
#include "db/trace/query_records.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// What a record is, as text.
class Describe final : public TraceRecord::Handler {
 public:
  Status Handle(const WriteQueryTraceRecord& record, std::unique_ptr<TraceRecordResult>*) override {
    text = StrCat("write ", HexBytes(record.GetWriteBatchRep()));
    return Status::OK();
  }
  Status Handle(const GetQueryTraceRecord& record, std::unique_ptr<TraceRecordResult>*) override {
    text = StrCat("get ", record.GetColumnFamilyID(), " ", record.GetKey());
    return Status::OK();
  }
  Status Handle(const IteratorSeekQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>*) override {
    const bool is_seek = record.GetSeekType() == IteratorSeekQueryTraceRecord::kSeek;
    text = StrCat(is_seek ? "seek " : "seek for prev ", record.GetColumnFamilyID(), " ",
                  record.GetKey(), " [", record.GetLowerBound(), ", ", record.GetUpperBound(), ")");
    return Status::OK();
  }
  Status Handle(const MultiGetQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>*) override {
    text = "multi get";
    for (size_t i = 0; i < record.GetKeys().size(); i++) {
      StrAppend(&text, " ", record.GetColumnFamilyIDs()[i], ":", record.GetKeys()[i]);
    }
    return Status::OK();
  }
  std::string text;
};

// The description of the record, or the error.
std::string Parsed(TraceType type, const Slice& payload, int version = kQueryTraceVersion) {
  std::unique_ptr<TraceRecord> record;
  const Status status =
      ParseQueryRecord({.time = 17, .type = type, .payload = payload}, version, &record);
  if (!status.ok()) {
    EXPECT_EQ(record, nullptr);
    return status.ToString();
  }
  EXPECT_EQ(record->GetTraceType(), type);
  EXPECT_EQ(record->GetTimestamp(), 17u);
  Describe describe;
  EXPECT_OK(record->Accept(&describe, nullptr));
  return describe.text;
}

struct Sample {
  TraceType type;
  const char* hex;
  const char* text;
};
// Records of RocksDB 7.8.3.
constexpr Sample kSamples[] = {
    {kTraceWrite, "02000000000000001300000000000000000100000001026b31027631",
     "write 00000000000000000100000001026B31027631"},
    {kTraceGet, "0c0000000000000001000000026331", "get 1 c1"},
    {kTraceMultiGet, "00070000000000000200000008000000000100000006026b31026331",
     "multi get 0:k1 1:c1"},
    {kTraceIteratorSeek, "f00000000000000000000000016b0161017a", "seek 0 k [a, z)"},
    {kTraceIteratorSeek, "30000000000000000100000000", "seek 1  [, )"},
    {kTraceIteratorSeekForPrev, "3000000000000000010000000179", "seek for prev 1 y [, )"},
};

TEST(QueryRecords, RocksDbsRecordsAreReadAndWrittenByteByByte) {
  for (const Sample& sample : kSamples) {
    EXPECT_EQ(Parsed(sample.type, FromHex(sample.hex)), sample.text);
  }
  std::string payload;
  AppendWriteQuery(FromHex("00000000000000000100000001026b31027631"), &payload);
  EXPECT_EQ(payload, FromHex(kSamples[0].hex));
  payload.clear();
  AppendGetQuery(1, "c1", &payload);
  EXPECT_EQ(payload, FromHex(kSamples[1].hex));
  payload.clear();
  const uint32_t families[] = {0, 1};
  const Slice keys[] = {"k1", "c1"};
  AppendMultiGetQuery(families, keys, &payload);
  EXPECT_EQ(payload, FromHex(kSamples[2].hex));
  payload.clear();
  AppendSeekQuery({.family = 0, .target = "k", .lower = "a", .upper = "z"}, &payload);
  EXPECT_EQ(payload, FromHex(kSamples[3].hex));
  payload.clear();
  AppendSeekQuery({.family = 1, .target = "y"}, &payload);
  EXPECT_EQ(payload, FromHex(kSamples[5].hex));
}

TEST(QueryRecords, ACutRecordOrOneWithSurplusBytesIsCorruption) {
  for (const Sample& sample : kSamples) {
    const std::string whole = FromHex(sample.hex);
    for (size_t bytes = 0; bytes < whole.size(); bytes++) {
      EXPECT_TRUE(Parsed(sample.type, Slice(whole.data(), bytes)).starts_with("Corruption"))
          << sample.text << " cut at " << bytes;
    }
    EXPECT_TRUE(Parsed(sample.type, whole + "x").starts_with("Corruption")) << sample.text;
  }
}

TEST(QueryRecords, UnknownFieldsAndMissingOnesAreCorruption) {
  EXPECT_TRUE(Parsed(kTraceGet, FromHex("0d0000000000000001000000026331")).starts_with("Corrupt"));
  EXPECT_TRUE(Parsed(kTraceGet, FromHex("0c0800000000000001000000026331")).starts_with("Corrupt"));
  // The fields of a Get in a record of a write.
  EXPECT_TRUE(
      Parsed(kTraceWrite, FromHex("0c0000000000000001000000026331")).starts_with("Corruption"));
  // Four thousand million keys in eight bytes of families.
  EXPECT_TRUE(Parsed(kTraceMultiGet, FromHex("0007000000000000ffffffff08000000000100000006026b31026"
                                             "331"))
                  .starts_with("Corruption"));
}

TEST(QueryRecords, VersionsBeforeTheMapAreRead) {
  EXPECT_EQ(Parsed(kTraceWrite, FromHex("0102"), 1), "write 0102");
  EXPECT_EQ(Parsed(kTraceGet, FromHex("07000000026b31"), 0), "get 7 k1");
  EXPECT_EQ(Parsed(kTraceIteratorSeekForPrev, FromHex("07000000026b31"), 1),
            "seek for prev 7 k1 [, )");
  EXPECT_TRUE(Parsed(kTraceGet, FromHex("07000000036b31"), 0).starts_with("Corruption"));
  EXPECT_TRUE(Parsed(kTraceMultiGet, "", 1).starts_with("Not implemented"));
}

TEST(QueryRecords, RecordsOfOtherTracesAreNotSupported) {
  EXPECT_TRUE(Parsed(kBlockTraceDataBlock, "").starts_with("Not implemented"));
  EXPECT_TRUE(Parsed(kIOTracer, "").starts_with("Not implemented"));
}

TEST(QueryRecords, TheHeaderNamesTheVersion) {
  int version = -1;
  EXPECT_OK(ParseQueryTraceHeader(QueryTraceHeader(), &version));
  EXPECT_EQ(version, kQueryTraceVersion);
  EXPECT_EQ(QueryTraceHeader().substr(0, 36), "feedcafedeadbeef\tTrace Version: 0.2\t");
  const std::string old =
      "feedcafedeadbeef\tTrace Version: 0.1\tRocksDB Version: 6.20\tFormat: x\n";
  EXPECT_OK(ParseQueryTraceHeader(old, &version));
  EXPECT_EQ(version, 1);
  EXPECT_TRUE(
      ParseQueryTraceHeader("feedcafedeadbeef\tTrace Version: 1.0\t", &version).IsNotSupported());
  for (const char* damaged :
       {"", "feedcafe", "feedcafedeadbeef", "feedcafedeadbeef\tTrace Version: \t",
        "feedcafedeadbeef\tTrace Version: 1\t", "feedcafedeadbeef\tTrace Version: 0.",
        "feedcafedeadbeef\tTrace Version: 0.999999999999\t", "x\tTrace Version: 0.2\t"}) {
    EXPECT_TRUE(ParseQueryTraceHeader(damaged, &version).IsCorruption()) << damaged;
  }
}

}  // namespace
}  // namespace ashlar
