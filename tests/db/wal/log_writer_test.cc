// SPDX-License-Identifier: Apache-2.0
//
// The sequential writer: what it wrote can be read, also after it went on with an existing file,
// and an error is final.
#include "db/wal/log_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "env/sequential_reader.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() : fs_(std::make_shared<MemoryFileSystem>()) {}

  std::unique_ptr<LogWriter> Open() {
    auto file = FileWriter::Create(&fs_, kPath, FileOptions());
    EXPECT_OK(file);
    return std::make_unique<LogWriter>(file.Take());
  }
  std::vector<std::string> ReadBack() {
    auto file = SequentialReader::Open(&fs_, kPath, FileOptions());
    EXPECT_OK(file);
    LogReader::Options options;
    options.mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
    LogReader reader(NewFileLogSource(file.Take()), options, nullptr);
    std::vector<std::string> records;
    Slice record;
    while (reader.ReadRecord(&record)) records.push_back(record.ToString());
    EXPECT_OK(reader.status());
    EXPECT_FALSE(reader.has_reported());
    return records;
  }

  static constexpr const char* kPath = "/MANIFEST-000001";
  FaultFileSystem fs_;
};

TEST_F(LogWriterTest, HandsEachRecordToTheFile) {
  const auto writer = Open();
  std::vector<std::string> records;
  for (const size_t size : {0, 1, 40000, 12, 200000, 32761}) {
    records.emplace_back(size, static_cast<char>('a' + records.size()));
    ASSERT_OK(writer->AddRecord(records.back()));
    ASSERT_EQ(ReadBack(), records);
  }
  ASSERT_OK(writer->Sync());
  ASSERT_OK(writer->Close());
  EXPECT_EQ(ReadBack(), records);
}

TEST_F(LogWriterTest, WritesRecordsThatAreNeverCut) {
  const auto writer = Open();
  ASSERT_OK(writer->AddRecord(std::string(kLogBlockBytes - kLogHeaderBytes - 20, 'a')));
  ASSERT_OK(
      writer->AddSpecialRecord(LogRecordType::kPredecessorInfo, EncodePredecessorInfo({1, 2, 3})));
  ASSERT_OK(writer->AddRecord("end"));
  EXPECT_EQ(ReadBack().back(), "end");
  EXPECT_EQ(writer->size(), kLogBlockBytes + (7 + 24) + (7 + 3u));
}

TEST_F(LogWriterTest, StaysFailedAfterAnError) {
  const auto writer = Open();
  ASSERT_OK(writer->AddRecord("A"));
  fs_.FailAt(fs_.CallCount(), FaultError::kNoSpace);
  EXPECT_TRUE(writer->AddRecord("B").IsIOError());
  fs_.ClearFaults();
  EXPECT_TRUE(writer->AddRecord("C").IsIOError());
  EXPECT_FALSE(writer->Sync().ok());
  EXPECT_EQ(ReadBack(), std::vector<std::string>{"A"});
}

}  // namespace
}  // namespace ashlar
