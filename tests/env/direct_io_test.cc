// SPDX-License-Identifier: Apache-2.0
//
// Direct I/O: reads and appends of any number of bytes access the disk only in whole pages.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/rate_limiter.h"
#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "env/read_together.h"
#include "tests/support/direct_files.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

FileOptions Direct() {
  FileOptions options;
  options.use_direct_reads = true;
  options.use_direct_writes = true;
  return options;
}

std::string RandomBytes(size_t n, uint64_t seed) {
  Random64 random(seed);
  std::string bytes(n, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next() & 0xff);
  return bytes;
}

class DirectIoTest : public testing::Test {
 protected:
  std::string OnDisk(const std::string& path) { return memory_->AllFiles()[path]; }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  DirectFiles files_{memory_};
};

// Counts the requested bytes, and grants a few bytes at a time.
class StingyLimiter final : public RateLimiter {
 public:
  StingyLimiter() : RateLimiter(Mode::kAllIo) {}
  using RateLimiter::Request;
  void SetBytesPerSecond(int64_t) override {}
  void Request(int64_t bytes, Env::IOPriority priority, Statistics*) override {
    asked[priority] += bytes;
  }
  int64_t GetSingleBurstBytes() const override { return 6000; }
  int64_t GetTotalBytesThrough(Env::IOPriority) const override { return 0; }
  int64_t GetTotalRequests(Env::IOPriority) const override { return 0; }
  int64_t GetBytesPerSecond() const override { return 1; }

  std::map<Env::IOPriority, int64_t> asked;
};

}  // namespace

// Pieces of all sizes, with flushes and syncs between them, with buffers of one page and of many.
TEST_F(DirectIoTest, AppendsOfAnySizeComeOut) {
  for (const size_t buffer : {size_t{0}, size_t{4096}, size_t{40000}}) {
    SCOPED_TRACE(buffer);
    auto opened = FileWriter::Create(&files_, "/f", Direct(), {.buffer_bytes = buffer});
    ASSERT_OK(opened.status());
    const std::unique_ptr<FileWriter> writer = opened.Take();
    std::string expected;
    Random64 random(buffer + 1);
    for (int i = 0; i < 60; i++) {
      const std::string piece = RandomBytes(random.Next() % (i % 7 == 0 ? 20000 : 900), i + 1);
      ASSERT_OK(writer->Append(piece));
      expected += piece;
      EXPECT_EQ(writer->size(), expected.size());
      if (random.Next() % 5 == 0) {
        ASSERT_OK(writer->Flush());
        EXPECT_EQ(writer->flushed_size(), expected.size());
        EXPECT_EQ(OnDisk("/f").substr(0, expected.size()), expected);
      }
      if (random.Next() % 9 == 0) {
        ASSERT_OK(writer->Sync());
        EXPECT_EQ(OnDisk("/f"), expected);
      }
    }
    ASSERT_OK(writer->Close());
    EXPECT_EQ(OnDisk("/f"), expected);
  }
  EXPECT_GT(files_.writes, 100);
}

TEST_F(DirectIoTest, AFailedWriteOrCutPoisonsTheWriter) {
  const auto faults = std::make_shared<FaultFileSystem>(memory_);
  DirectFiles files(faults);
  bool has_failed = true;
  for (uint64_t n = 0; has_failed; n++) {
    faults->ClearFaults();
    faults->FailAt(faults->CallCount() + n, FaultError::kIO);
    const auto write = [&]() -> Status {
      ASSIGN_OR_RETURN(auto writer,
                       FileWriter::Create(&files, "/f", Direct(), {.buffer_bytes = 8192}));
      RETURN_IF_ERROR(writer->Append(std::string(10000, 'a')));
      Status status = writer->Sync();
      const Status next = writer->Append("b");
      EXPECT_EQ(next.ok(), status.ok());
      status.UpdateIfOk(writer->Close());
      return status;
    };
    const Status status = write();
    has_failed = !status.ok();
    if (has_failed) continue;
    EXPECT_GT(n, 4u);
    EXPECT_EQ(OnDisk("/f"), std::string(10000, 'a') + "b");
  }
}

TEST_F(DirectIoTest, ReadsOfAnyRangeComeOut) {
  const std::string bytes = RandomBytes(3 * 4096 + 1234, 7);
  memory_->PutFile("/f", bytes);
  auto opened = RandomReader::Open(&files_, "/f", Direct());
  ASSERT_OK(opened.status());
  const std::unique_ptr<RandomReader> reader = opened.Take();
  EXPECT_TRUE(reader->is_direct());
  Random64 random(3);
  std::string scratch(bytes.size(), '\0');
  for (int i = 0; i < 200; i++) {
    const uint64_t offset = random.Next() % bytes.size();
    const size_t n = 1 + random.Next() % (bytes.size() - offset);
    Slice found;
    ASSERT_OK(reader->ReadExactly(offset, n, scratch.data(), &found));
    ASSERT_EQ(found, Slice(bytes.data() + offset, n)) << offset << " " << n;
  }
  Slice found;
  EXPECT_TRUE(reader->ReadExactly(bytes.size() - 1, 2, scratch.data(), &found).IsCorruption());
  EXPECT_GE(files_.reads, 200);
}

TEST_F(DirectIoTest, SeveralReadsAtOnceComeOut) {
  const std::string a = RandomBytes(20000, 1), b = RandomBytes(9000, 2);
  memory_->PutFile("/a", a);
  memory_->PutFile("/b", b);
  const auto first = RandomReader::Open(&files_, "/a", Direct()).Take();
  const auto second = RandomReader::Open(&files_, "/b", Direct()).Take();
  std::string memory(4000, '\0');
  std::vector<FileRead> reads = {
      {.file = first.get(), .offset = 10, .n = 100, .scratch = memory.data()},
      {.file = first.get(), .offset = 4090, .n = 900, .scratch = memory.data() + 100},
      {.file = first.get(), .offset = 19999, .n = 1, .scratch = memory.data() + 1000},
      {.file = second.get(), .offset = 8000, .n = 1000, .scratch = memory.data() + 2000}};
  ReadTogether(reads, IOOptions());
  for (const FileRead& read : reads) {
    ASSERT_OK(read.status);
    const std::string& of = read.file == first.get() ? a : b;
    EXPECT_EQ(read.result, Slice(of.data() + read.offset, read.n));
  }
}

TEST_F(DirectIoTest, WritesArePacedInWholePages) {
  StingyLimiter limiter;
  auto opened = FileWriter::Create(
      &files_, "/f", Direct(),
      {.buffer_bytes = 16384, .rate_limiter = &limiter, .priority = Env::IO_HIGH});
  ASSERT_OK(opened.status());
  const std::unique_ptr<FileWriter> writer = opened.Take();
  ASSERT_OK(writer->Append(std::string(16384, 'x')));
  ASSERT_OK(writer->Close());
  EXPECT_EQ(files_.writes, 4);  // a page each, of 6000 bytes that may go at once
  EXPECT_EQ(limiter.asked[Env::IO_HIGH], 16384);
}

TEST_F(DirectIoTest, ReadsArePacedIfTheyHaveAPriority) {
  memory_->PutFile("/f", std::string(20000, 'x'));
  StingyLimiter limiter;
  FileOptions options;
  options.rate_limiter = &limiter;
  const auto reader = RandomReader::Open(&files_, "/f", options).Take();
  std::string scratch(20000, '\0');
  Slice found;
  ASSERT_OK(reader->ReadExactly(0, 20000, scratch.data(), &found));
  EXPECT_TRUE(limiter.asked.empty());
  IOOptions io;
  io.rate_limiter_priority = Env::IO_USER;
  ASSERT_OK(reader->ReadExactly(1, 13000, scratch.data(), &found, io));
  EXPECT_EQ(limiter.asked[Env::IO_USER], 13000);
  FSReadRequest requests[2];
  for (FSReadRequest& request : requests) {
    request.offset = 0;
    request.len = 100;
    request.scratch = scratch.data();
  }
  ASSERT_OK(reader->MultiReadExactly(requests, 2, io));
  EXPECT_EQ(limiter.asked[Env::IO_USER], 13200);
}

// On a real disk, if its file system supports direct I/O.
TEST(DirectIoOnDisk, ComesOutAsWritten) {
  const std::string path = FreshTempDir("direct_io") + "/f";
  FileSystem* const fs = FileSystem::Default().get();
  auto opened = FileWriter::Create(fs, path, Direct(), {.buffer_bytes = 8192});
  if (opened.status().IsNotSupported()) GTEST_SKIP() << opened.status().ToString();
  ASSERT_OK(opened.status());
  const std::unique_ptr<FileWriter> writer = opened.Take();
  const std::string bytes = RandomBytes(50001, 5);
  ASSERT_OK(writer->Append(Slice(bytes.data(), 20000)));
  ASSERT_OK(writer->Sync());
  ASSERT_OK(writer->Append(Slice(bytes.data() + 20000, 30001)));
  ASSERT_OK(writer->Close());
  auto whole = ReadWholeFile(fs, path);
  ASSERT_OK(whole.status());
  EXPECT_EQ(*whole, bytes);
  const auto reader = RandomReader::Open(fs, path, Direct()).Take();
  std::string scratch(50001, '\0');
  Slice found;
  for (const uint64_t offset : {0, 1, 4095, 4096, 49000}) {
    ASSERT_OK(reader->ReadExactly(offset, 1001, scratch.data(), &found));
    EXPECT_EQ(found, Slice(bytes.data() + offset, 1001));
  }
  EXPECT_TRUE(reader->Prefetch(0, 100).ok());  // a hint
}

TEST(MappedReads, PointIntoTheFile) {
  const std::string dir = FreshTempDir("mapped_reads");
  FileSystem* const fs = FileSystem::Default().get();
  ASSERT_OK(WriteStringToFile(fs, "0123456789", dir + "/f"));
  ASSERT_OK(WriteStringToFile(fs, "", dir + "/empty"));
  FileOptions mapped;
  mapped.use_mmap_reads = true;
  const auto reader = RandomReader::Open(fs, dir + "/f", mapped).Take();
  char scratch[10];
  Slice first, again;
  ASSERT_OK(reader->ReadExactly(3, 4, scratch, &first));
  EXPECT_EQ(first, Slice("3456"));
  EXPECT_NE(first.data(), scratch);
  ASSERT_OK(reader->ReadAgain(3, 4, scratch, &again));
  EXPECT_EQ(again.data(), first.data());
  EXPECT_TRUE(reader->ReadExactly(8, 3, scratch, &again).IsCorruption());
  EXPECT_OK(reader->Prefetch(0, 10));
  const auto empty = RandomReader::Open(fs, dir + "/empty", mapped).Take();
  EXPECT_EQ(empty->size(), 0u);
  std::unique_ptr<FSRandomAccessFile> missing;
  EXPECT_TRUE(fs->NewRandomAccessFile(dir + "/none", mapped, &missing, nullptr).IsPathNotFound());
}

}  // namespace ashlar
