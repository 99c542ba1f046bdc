// SPDX-License-Identifier: Apache-2.0
//
// FileWriter, RandomReader and SequentialReader: buffering, poisoning by errors, and exact reads.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "env/sequential_reader.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class FileWriterTest : public testing::Test {
 protected:
  FileWriterTest()
      : memory_(std::make_shared<MemoryFileSystem>()),
        fs_(std::make_shared<FaultFileSystem>(memory_)) {}

  std::unique_ptr<FileWriter> Create(const FileWriterOptions& options) {
    auto writer = FileWriter::Create(fs_.get(), "/f", FileOptions(), options);
    EXPECT_OK(writer);
    return writer.Take();
  }
  uint64_t Count(CallKind kind) const { return fs_->Stats().calls[static_cast<size_t>(kind)]; }
  void FailNext(CallKind kind, FaultEffect effect = FaultEffect::kNone) {
    FaultPlan plan;
    plan.first_call = fs_->CallCount();
    plan.kinds = KindBit(kind);
    plan.effect = effect;
    fs_->AddFault(plan);
  }

  const std::shared_ptr<MemoryFileSystem> memory_;
  const std::shared_ptr<FaultFileSystem> fs_;
};

TEST_F(FileWriterTest, SmallAppendsReachTheFileTogether) {
  auto writer = Create({.buffer_bytes = 100});
  ASSERT_OK(writer->Append("one "));
  ASSERT_OK(writer->Append("two"));
  EXPECT_EQ(writer->size(), 7u);
  EXPECT_EQ(writer->flushed_size(), 0u);
  EXPECT_EQ(memory_->AllFiles()["/f"], "");
  ASSERT_OK(writer->Flush());
  EXPECT_EQ(writer->flushed_size(), 7u);
  EXPECT_EQ(memory_->AllFiles()["/f"], "one two");
  EXPECT_EQ(Count(CallKind::kAppend), 1u);
}

TEST_F(FileWriterTest, LargeAppendsGoAroundTheBufferInOrder) {
  auto writer = Create({.buffer_bytes = 8});
  ASSERT_OK(writer->Append("abc"));
  ASSERT_OK(writer->Append("0123456789"));
  EXPECT_EQ(memory_->AllFiles()["/f"], "abc0123456789");
  ASSERT_OK(writer->Append("x"));
  ASSERT_OK(writer->Close());
  EXPECT_EQ(memory_->AllFiles()["/f"], "abc0123456789x");
}

TEST_F(FileWriterTest, WithoutABufferEachAppendIsOneCall) {
  auto writer = Create({.buffer_bytes = 0});
  ASSERT_OK(writer->Append("a"));
  ASSERT_OK(writer->Append("b"));
  EXPECT_EQ(Count(CallKind::kAppend), 2u);
  EXPECT_EQ(memory_->AllFiles()["/f"], "ab");
}

// Files of programs may have their own buffers.
class BufferingFile final : public FSWritableFileOwnerWrapper {
 public:
  BufferingFile(std::unique_ptr<FSWritableFile>&& file, int* flushes)
      : FSWritableFileOwnerWrapper(std::move(file)), flushes_(flushes) {}
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    return ++*flushes_ == 3 ? IOStatus::IOError("third flush") : IOStatus::OK();
  }

 private:
  int* const flushes_;
};
class BufferingFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "BufferingFileSystem"; }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    const IOStatus status = target_->NewWritableFile(f, options, r, dbg);
    if (status.ok()) *r = std::make_unique<BufferingFile>(std::move(*r), &flushes);
    return status;
  }
  int flushes = 0;
};

TEST_F(FileWriterTest, FlushesTheFileWhereverItHasWritten) {
  BufferingFileSystem fs(memory_);
  for (const size_t buffer_bytes : {size_t{0}, size_t{100}}) {
    fs.flushes = 0;
    auto created = FileWriter::Create(&fs, "/g", FileOptions(), {.buffer_bytes = buffer_bytes});
    ASSERT_OK(created);
    FileWriter& writer = **created;
    ASSERT_OK(writer.Append("a"));
    EXPECT_EQ(fs.flushes, 0);
    ASSERT_OK(writer.Flush());
    ASSERT_OK(writer.Flush());
    EXPECT_EQ(fs.flushes, 1) << "there was nothing new";
    ASSERT_OK(writer.Append("b"));
    ASSERT_OK(writer.Sync());
    EXPECT_EQ(fs.flushes, 2);
    ASSERT_OK(writer.Append("c"));
    EXPECT_TRUE(writer.Flush().IsIOError());
    EXPECT_TRUE(writer.Append("d").IsIOError());
    EXPECT_TRUE(writer.Close().IsIOError());
    EXPECT_EQ(fs.flushes, 3);
  }
}

TEST_F(FileWriterTest, AFailedAppendPoisonsTheWriter) {
  auto writer = Create({.buffer_bytes = 0});
  FailNext(CallKind::kAppend);
  const Status first = writer->Append("lost");
  ASSERT_TRUE(first.IsIOError());
  const uint64_t calls = fs_->CallCount();
  EXPECT_EQ(writer->Append("more").ToString(), first.ToString());
  EXPECT_EQ(writer->Flush().ToString(), first.ToString());
  EXPECT_EQ(writer->Sync().ToString(), first.ToString());
  EXPECT_EQ(writer->SyncFlushed().ToString(), first.ToString());
  EXPECT_EQ(fs_->CallCount(), calls) << "a poisoned writer must not touch the file";
  EXPECT_EQ(writer->Close().ToString(), first.ToString());
  EXPECT_EQ(memory_->AllFiles()["/f"], "");
}

TEST_F(FileWriterTest, AFailedSyncIsNeverRepeated) {
  auto writer = Create({});
  ASSERT_OK(writer->Append("data"));
  FailNext(CallKind::kSync);
  const Status first = writer->Sync();
  ASSERT_TRUE(first.IsIOError());
  EXPECT_EQ(writer->Sync().ToString(), first.ToString());
  EXPECT_EQ(writer->Append("x").ToString(), first.ToString());
  EXPECT_EQ(Count(CallKind::kSync), 1u);
}

TEST_F(FileWriterTest, ABufferedErrorShowsAtTheFlushThatFails) {
  auto writer = Create({.buffer_bytes = 100});
  FailNext(CallKind::kAppend, FaultEffect::kPartial);
  ASSERT_OK(writer->Append("0123456789"));
  EXPECT_TRUE(writer->Close().IsIOError());
  EXPECT_EQ(memory_->AllFiles()["/f"], "01234");
  EXPECT_TRUE(writer->Close().IsIOError()) << "closing again must not hide the loss";
}

TEST_F(FileWriterTest, SyncFlushedLeavesTheBufferAlone) {
  auto writer = Create({.buffer_bytes = 100});
  ASSERT_OK(writer->Append("a"));
  ASSERT_OK(writer->Flush());
  ASSERT_OK(writer->Append("b"));
  ASSERT_OK(writer->SyncFlushed());
  EXPECT_EQ(Count(CallKind::kSync), 1u);
  EXPECT_EQ(memory_->AllFiles()["/f"], "a");
}

TEST_F(FileWriterTest, WriteOutIsAskedForInSteps) {
  auto writer = Create({.buffer_bytes = 0, .bytes_per_sync = 1 << 20});
  const std::string chunk(1 << 20, 'x');
  for (int i = 0; i < 4; ++i) ASSERT_OK(writer->Append(chunk));
  EXPECT_EQ(Count(CallKind::kRangeSync), 3u);
}

TEST_F(FileWriterTest, SpaceIsAllocatedInBlocksAheadOfWrites) {
  auto writer = Create({.buffer_bytes = 0, .preallocate_bytes = 1000});
  for (int i = 0; i < 20; ++i) ASSERT_OK(writer->Append(std::string(100, 'x')));
  EXPECT_EQ(Count(CallKind::kAllocate), 2u);
}

TEST_F(FileWriterTest, AnOpenFileOfSomeSizeCanBeContinued) {
  memory_->PutFile("/f", "old");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReopenWritableFile("/f", FileOptions(), &file, nullptr));
  auto writer = FileWriter::Wrap(std::move(file), "/f", 3);
  EXPECT_EQ(writer->size(), 3u);
  ASSERT_OK(writer->Append("new"));
  ASSERT_OK(writer->Close());
  EXPECT_EQ(memory_->AllFiles()["/f"], "oldnew");
}

TEST(RandomReader, AShortReadIsCorruptionThatNamesEverything) {
  MemoryFileSystem fs;
  fs.PutFile("/dir/f", "0123456789");
  auto reader = RandomReader::Open(&fs, "/dir/f", FileOptions());
  ASSERT_OK(reader);
  EXPECT_EQ((*reader)->size(), 10u);
  char scratch[16];
  Slice result;
  ASSERT_OK((*reader)->ReadExactly(4, 6, scratch, &result));
  EXPECT_EQ(result.ToString(), "456789");
  const Status status = (*reader)->ReadExactly(4, 7, scratch, &result);
  EXPECT_EQ(status.ToString(),
            "Corruption: /dir/f: offset 4: expected 7 bytes, found 6 before the end of the file");
  EXPECT_TRUE((*reader)->ReadExactly(UINT64_MAX, 7, scratch, &result).IsCorruption());
}

// The file is changed meanwhile, which shows whether bytes come from memory or from the file.
TEST(RandomReader, AKeptTailAnswersWhatLiesInIt) {
  MemoryFileSystem fs;
  fs.PutFile("/f", "0123456789");
  auto reader = RandomReader::Open(&fs, "/f", FileOptions());
  ASSERT_OK(reader);
  ASSERT_OK((*reader)->KeepTail(4));
  {
    auto file = FileWriter::Create(&fs, "/f", FileOptions());
    ASSERT_OK(file);
    ASSERT_OK((*file)->Append("abcdefghij"));
    ASSERT_OK((*file)->Close());
  }
  char scratch[16];
  Slice result;
  const auto read = [&](uint64_t offset, size_t n) {
    const Status status = (*reader)->ReadExactly(offset, n, scratch, &result);
    return status.ok() ? result.ToString() : status.ToString();
  };
  EXPECT_EQ(read(6, 4), "6789");
  EXPECT_EQ(read(7, 2), "78");
  EXPECT_EQ(read(10, 0), "");
  EXPECT_EQ(read(5, 4), "fghi") << "begins in front of it";
  EXPECT_EQ(read(0, 3), "abc");
  EXPECT_EQ(read(8, 3).substr(0, 11), "Corruption:");
  ASSERT_OK((*reader)->ReadAgain(7, 2, scratch, &result));
  EXPECT_EQ(result.ToString(), "hi") << "whoever doubts what it read does not get it again";
  (*reader)->ForgetTail();
  EXPECT_EQ(read(6, 4), "ghij");
}

TEST(RandomReader, AFileThatShrankAfterOpeningIsCorruption) {
  MemoryFileSystem fs;
  fs.PutFile("/f", "0123456789");
  auto reader = RandomReader::Open(&fs, "/f", FileOptions());
  ASSERT_OK(reader);
  ASSERT_OK(fs.Truncate("/f", 5, IOOptions(), nullptr));
  char scratch[16];
  Slice result;
  EXPECT_TRUE((*reader)->ReadExactly(0, 10, scratch, &result).IsCorruption());
}

TEST(RandomReader, SeveralRangesGetAStatusEach) {
  MemoryFileSystem fs;
  fs.PutFile("/f", "0123456789");
  auto reader = RandomReader::Open(&fs, "/f", FileOptions());
  ASSERT_OK(reader);
  char scratch[2][8];
  FSReadRequest requests[2];
  requests[0].offset = 0, requests[0].len = 4, requests[0].scratch = scratch[0];
  requests[1].offset = 8, requests[1].len = 4, requests[1].scratch = scratch[1];
  EXPECT_TRUE((*reader)->MultiReadExactly(requests, 2).IsCorruption());
  EXPECT_OK(requests[0].status);
  EXPECT_EQ(requests[0].result.ToString(), "0123");
  EXPECT_TRUE(requests[1].status.IsCorruption());
}

TEST(SequentialReader, AShortAnswerOfTheFileSystemIsNotTheEnd) {
  auto memory = std::make_shared<MemoryFileSystem>();
  memory->PutFile("/f", "0123456789");
  FaultFileSystem fs(memory);
  auto reader = SequentialReader::Open(&fs, "/f", FileOptions());
  ASSERT_OK(reader);
  fs.FailAt(fs.CallCount(), FaultError::kShort);
  char scratch[16];
  Slice result;
  ASSERT_OK((*reader)->Read(8, scratch, &result));
  EXPECT_EQ(result.ToString(), "01234567");
  ASSERT_OK((*reader)->Read(8, scratch, &result));
  EXPECT_EQ(result.ToString(), "89");
  EXPECT_EQ((*reader)->offset(), 10u);
  ASSERT_OK((*reader)->Read(8, scratch, &result));
  EXPECT_TRUE(result.empty());
}

TEST(FileUtil, AFailedRenameLeavesTheOldFileAndNoTemporary) {
  auto memory = std::make_shared<MemoryFileSystem>();
  FaultFileSystem fs(memory);
  memory->PutFile("/d/CURRENT", "old");
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kRename);
  fs.AddFault(plan);
  EXPECT_TRUE(WriteFileAtomically(&fs, "/d", "tmp", "CURRENT", "new").IsIOError());
  EXPECT_EQ(memory->AllFiles(), (std::map<std::string, std::string>{{"/d/CURRENT", "old"}}));
}

TEST(FileUtil, DeletingWhatIsNotThereIsFine) {
  MemoryFileSystem fs;
  EXPECT_OK(DeleteFileIfExists(&fs, "/none"));
}

}  // namespace
}  // namespace ashlar
