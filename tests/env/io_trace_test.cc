// SPDX-License-Identifier: Apache-2.0
//
// The trace of file operations: RocksDB's bytes, and a file system that is the same without a
// trace.
#include "env/trace/io_trace.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/file_util.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "env/sim/sim_fs.h"
#include "tests/env/manual_clock.h"
#include "tests/support/memory_trace.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Described(const std::string& record) {
  TraceFrame frame;
  EXPECT_OK(ParseTraceFrame(record, &frame));
  if (frame.type == kTraceBegin) return "begin";
  EXPECT_EQ(frame.type, kIOTracer);
  Slice payload = frame.payload;
  uint64_t fields, nanos, trace_data;
  Slice name, status, file;
  EXPECT_TRUE(GetFixed64(&payload, &fields) && GetLengthPrefixedSlice(&payload, &name) &&
              GetFixed64(&payload, &nanos) && GetLengthPrefixedSlice(&payload, &status) &&
              GetLengthPrefixedSlice(&payload, &file));
  std::string text = StrCat(name, " ", file, " ", status);
  for (uint64_t bit = 0; bit < 3; bit++) {
    uint64_t number;
    if ((fields >> bit & 1) == 0) continue;
    EXPECT_TRUE(GetFixed64(&payload, &number));
    StrAppend(&text, " ", bit, "=", number);
  }
  EXPECT_TRUE(GetFixed64(&payload, &trace_data));
  if (trace_data != 0) {
    Slice id;
    EXPECT_TRUE(GetLengthPrefixedSlice(&payload, &id));
    StrAppend(&text, " id=", id);
  }
  EXPECT_TRUE(payload.empty());
  return text;
}

class IoTraceTest : public testing::Test {
 protected:
  IoTraceTest()
      : trace_(std::make_shared<IoTrace>(&clock_)),
        fs_(WithIoTrace(std::make_shared<MemoryFileSystem>(), trace_)) {}
  void Start(const TraceOptions& options = TraceOptions()) {
    ASSERT_OK(trace_->Start(std::make_unique<WriterInto>(&records_), options));
  }
  std::vector<std::string> Operations() const {
    std::vector<std::string> result;
    for (const std::string& record : records_.records) {
      const std::string text = Described(record);
      if (text != "begin") result.push_back(text);
    }
    return result;
  }

  ManualClock clock_{1'000'000};
  MemoryTrace records_;
  const std::shared_ptr<IoTrace> trace_;
  const std::shared_ptr<FileSystem> fs_;
};

TEST_F(IoTraceTest, ARecordHasTheBytesOfRocksDb) {
  std::string payload;
  AppendIoRecord({.name = "Append", .fields = IoOperation::kLength, .length = 126}, 0x1234, "OK",
                 "000004.log", nullptr, &payload);
  std::string expected = std::string("\x02\0\0\0\0\0\0\0", 8) + "\x06" + "Append" +
                         std::string("\x34\x12\0\0\0\0\0\0", 8) + "\x02OK" + "\x0a" + "000004.log" +
                         std::string("\x7e\0\0\0\0\0\0\0", 8) + std::string(8, '\0');
  EXPECT_EQ(HexBytes(payload), HexBytes(expected));
  std::string header = "\x10";
  header += "feedcafedeadbeef";
  EXPECT_EQ(BinaryTraceHeader().substr(0, 17), header);
  EXPECT_EQ(BinaryTraceHeader().size(), 25u);
}

TEST_F(IoTraceTest, FilesThatWereOpenBeforeAreTracedToo) {
  ASSERT_OK(fs_->CreateDir("/dir", IOOptions(), nullptr));
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->NewWritableFile("/dir/a", FileOptions(), &file, nullptr));
  ASSERT_OK(file->Append("12345", IOOptions(), nullptr));
  Start();
  ASSERT_OK(file->Append("678", IOOptions(), nullptr));
  ASSERT_OK(file->Sync(IOOptions(), nullptr));
  ASSERT_OK(file->Close(IOOptions(), nullptr));
  std::unique_ptr<FSRandomAccessFile> reader;
  ASSERT_OK(fs_->NewRandomAccessFile("/dir/a", FileOptions(), &reader, nullptr));
  char scratch[8];
  Slice result;
  const std::string request = "r7";
  IODebugContext dbg;
  dbg.SetRequestId(&request);
  ASSERT_OK(reader->Read(2, 3, IOOptions(), &result, scratch, &dbg));
  uint64_t size = 0;
  ASSERT_OK(fs_->GetFileSize("/dir/a", IOOptions(), &size, nullptr));
  EXPECT_FALSE(fs_->DeleteFile("/dir/none", IOOptions(), nullptr).ok());
  ASSERT_OK(trace_->End());
  ASSERT_OK(fs_->DeleteFile("/dir/a", IOOptions(), nullptr));
  const std::vector<std::string> operations = Operations();
  ASSERT_EQ(operations.size(), 7u);
  EXPECT_EQ(operations[0], "Append a OK 1=3");
  EXPECT_EQ(operations[1], "Sync a OK");
  EXPECT_EQ(operations[2], "Close a OK");
  EXPECT_EQ(operations[3], "NewRandomAccessFile a OK");
  EXPECT_EQ(operations[4], "Read a OK 1=3 2=2 id=r7");
  EXPECT_EQ(operations[5], "GetFileSize a OK 0=8");
  EXPECT_TRUE(operations[6].starts_with("DeleteFile none IO error")) << operations[6];
}

TEST_F(IoTraceTest, EveryNthOperationIsSampled) {
  TraceOptions options;
  options.sampling_frequency = 2;
  Start(options);
  for (int i = 0; i < 6; i++) {
    EXPECT_FALSE(fs_->DeleteFile(StrCat("/", i), IOOptions(), nullptr).ok());
  }
  ASSERT_OK(trace_->End());
  EXPECT_EQ(Operations().size(), 3u);
}

// The engine knows something of the operating system's file system, and maps logs of some others.
TEST(TracedFileSystem, OffersWhatTheOneBelowOffers) {
  ManualClock clock(1);
  const auto trace = std::make_shared<IoTrace>(&clock);
  EXPECT_EQ(WithoutIoTrace(WithIoTrace(FileSystem::Default(), trace).get()),
            FileSystem::Default().get());
  EXPECT_EQ(WithoutIoTrace(FileSystem::Default().get()), FileSystem::Default().get());
  const std::shared_ptr<FileSystem> system = WithIoTrace(FileSystem::Default(), trace);
  EXPECT_EQ(MappedLogFactory::Of(system.get()), MappedLogFactory::Of(FileSystem::Default().get()));
  EXPECT_NE(MappedLogFactory::Of(system.get()), nullptr);
  const std::string path = FreshTempDir("io_trace") + "/file";
  ASSERT_OK(WriteStringToFile(system.get(), "x", path));
  const auto reader = RandomReader::Open(system.get(), path, FileOptions());
  ASSERT_OK(reader.status());
  EXPECT_TRUE(reader.value()->IsCachedBySystem());
}

}  // namespace
}  // namespace ashlar
