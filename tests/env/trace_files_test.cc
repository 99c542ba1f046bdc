// SPDX-License-Identifier: Apache-2.0
//
// Traces in files: what is written is read, and a cut file says where.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/trace_reader_writer.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "env/trace/trace_frame.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Record(TraceType type, size_t payload_bytes) {
  std::string record;
  BeginTraceFrame(&record, 7, type);
  record.append(payload_bytes, 'p');
  EndTraceFrame(&record, 0);
  return record;
}

class TraceFiles : public testing::Test {
 protected:
  TraceFiles() : env_(NewCompositeEnv(std::make_shared<MemoryFileSystem>())) {
    for (const std::string& record : kRecords) bytes_ += record;
    std::unique_ptr<TraceWriter> writer;
    EXPECT_OK(NewFileTraceWriter(env_.get(), EnvOptions(), "/trace", &writer));
    for (const std::string& record : kRecords) EXPECT_OK(writer->Write(record));
    EXPECT_EQ(writer->GetFileSize(), bytes_.size());
    EXPECT_OK(writer->Close());
  }
  std::unique_ptr<TraceReader> Open() {
    std::unique_ptr<TraceReader> reader;
    EXPECT_OK(NewFileTraceReader(env_.get(), EnvOptions(), "/trace", &reader));
    return reader;
  }

  const std::string kRecords[3] = {Record(kTraceBegin, 5), Record(kTraceGet, 200'000),
                                   Record(kTraceEnd, 0)};
  std::string bytes_;
  const std::unique_ptr<Env> env_;
};

TEST_F(TraceFiles, RecordsAreReadAsTheyWereWritten) {
  const auto reader = Open();
  std::string record;
  for (int round = 0; round < 2; round++) {
    for (const std::string& expected : kRecords) {
      ASSERT_OK(reader->Read(&record));
      EXPECT_EQ(record, expected);
    }
    EXPECT_TRUE(reader->Read(&record).IsIncomplete());
    EXPECT_OK(reader->Reset());
  }
  EXPECT_OK(reader->Close());
  EXPECT_TRUE(reader->Read(&record).IsInvalidArgument());
  EXPECT_TRUE(reader->Reset().IsInvalidArgument());
  std::unique_ptr<TraceReader> missing;
  EXPECT_FALSE(NewFileTraceReader(env_.get(), EnvOptions(), "/none", &missing).ok());
}

TEST_F(TraceFiles, ACutRecordIsCorruptionWithItsOffset) {
  const size_t second = kRecords[0].size();
  const size_t third = second + kRecords[1].size();
  for (const size_t cut : {second + 1, second + 12, second + 13, third - 1, third + 5}) {
    ASSERT_OK(WriteStringToFile(env_.get(), Slice(bytes_.data(), cut), "/trace"));
    const auto reader = Open();
    std::string record;
    Status status;
    while (status.ok()) status = reader->Read(&record);
    EXPECT_TRUE(status.IsCorruption()) << cut;
    const std::string offset = StrCat("offset ", cut < third ? second : third);
    EXPECT_NE(status.ToString().find(offset), std::string::npos) << status.ToString();
    EXPECT_TRUE(reader->Read(&record).IsCorruption());
  }
}

// A damaged length of 4 GiB must not become an allocation.
TEST_F(TraceFiles, ALengthBeyondTheFileIsCorruption) {
  std::string damaged = kRecords[0];
  damaged[9] = damaged[10] = damaged[11] = damaged[12] = '\xff';
  ASSERT_OK(WriteStringToFile(env_.get(), damaged, "/trace"));
  std::string record;
  EXPECT_TRUE(Open()->Read(&record).IsCorruption());
  EXPECT_LT(record.capacity(), size_t{1} << 20);
}

TEST(TraceFrames, ARecordMustBeWholeAndOfAKnownType) {
  TraceFrame frame;
  const std::string record = Record(kTraceGet, 3);
  EXPECT_OK(ParseTraceFrame(record, &frame));
  EXPECT_EQ(frame.time, 7u);
  EXPECT_EQ(frame.payload.ToString(), "ppp");
  for (size_t bytes = 0; bytes < record.size(); bytes++) {
    EXPECT_TRUE(ParseTraceFrame(Slice(record.data(), bytes), &frame).IsCorruption()) << bytes;
  }
  EXPECT_TRUE(ParseTraceFrame(record + "p", &frame).IsCorruption());
  for (const char type : {0, 14, -1}) {
    std::string unknown = record;
    unknown[8] = type;
    EXPECT_TRUE(ParseTraceFrame(unknown, &frame).IsCorruption());
  }
}

}  // namespace
}  // namespace ashlar
