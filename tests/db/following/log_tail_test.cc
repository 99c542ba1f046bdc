// SPDX-License-Identifier: Apache-2.0
//
// A log that grows while it is read: byte by byte, in files that are allocated ahead, and in files
// that another log takes over.
#include "db/following/log_tail.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env_encryption.h"
#include "ashlar/file_system_wrapper.h"
#include "db/wal/wal_compression.h"
#include "env/memory/memory_file_system.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/000005.log";

std::string Batch(SequenceNumber seqno, size_t bytes) {
  std::string batch;
  PutFixed64(&batch, seqno);
  PutFixed32(&batch, 1);
  return batch + std::string(bytes, static_cast<char>('a' + seqno));
}

class LogTailTest : public testing::Test {
 protected:
  LogTailTest() {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs_.NewWritableFile(kPath, FileOptions(), &file, nullptr));
    EXPECT_OK(fs_.NewRandomRWFile(kPath, FileOptions(), &file_, nullptr));
  }

  void Store(uint64_t offset, const Slice& bytes) {
    EXPECT_OK(file_->Write(offset, bytes, IOOptions(), nullptr));
  }
  void OpenTail() {
    auto opened = LogTail::Open(&fs_, kPath, FileNumber{5});
    ASSERT_OK(opened);
    tail_ = opened.Take();
  }
  // Appends the sequence numbers of the batches that are new.
  void Read() {
    Slice batch;
    while (tail_->Next(&batch)) {
      const SequenceNumber seqno = DecodeFixed64(batch.data());
      EXPECT_EQ(batch, Slice(Batch(seqno, batch.size() - 12)));
      seen_.push_back(seqno);
    }
    EXPECT_OK(tail_->status());
  }

  MemoryFileSystem fs_;
  std::unique_ptr<FSRandomRWFile> file_;
  std::unique_ptr<LogTail> tail_;
  std::vector<SequenceNumber> seen_;
};

// Files below an encrypting file system, with a hook before and one behind their creation.
class CreatedFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CreatedFiles"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    if (before) before();
    const IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, dbg);
    if (behind) behind();
    return status;
  }

  std::function<void()> before, behind;
};

class EncryptedLogTailTest : public LogTailTest {
 protected:
  void WriteLog(const LogImage& log) {
    std::unique_ptr<FSWritableFile> file;
    ASSERT_OK(encrypted_->NewWritableFile(kPath, FileOptions(), &file, nullptr));
    ASSERT_OK(file->Append(log.bytes, IOOptions(), nullptr));
    ASSERT_OK(file->Close(IOOptions(), nullptr));
  }
  // As a secondary does that catches up at this moment: nothing can be read yet.
  void OpenTooEarly() {
    auto opened = LogTail::Open(encrypted_.get(), kPath, FileNumber{5});
    ASSERT_OK(opened);
    tail_ = opened.Take();
    Read();
    EXPECT_TRUE(seen_.empty());
  }

  const std::shared_ptr<CreatedFiles> files_ =
      std::make_shared<CreatedFiles>(std::make_shared<MemoryFileSystem>());
  const std::shared_ptr<FileSystem> encrypted_ =
      NewEncryptedFS(files_, EncryptionProvider::NewCTRProvider(BlockCipher::NewROT13Cipher(32)));
};

// With pieces of records that end and begin at blocks.
LogImage SampleLog(FileNumber number = FileNumber{}) {
  LogImage log(number, number != 0);
  for (SequenceNumber seqno = 1; seqno <= 4; seqno++) log.Add(Batch(seqno, seqno * 9000));
  log.Add(Batch(5, 1));
  return log;
}

}  // namespace

TEST_F(LogTailTest, ReadsEachRecordOnceThoughTheFileGrowsByFewBytes) {
  for (const FileNumber number : {FileNumber{}, FileNumber{5}}) {
    const LogImage log = SampleLog(number);
    ASSERT_OK(fs_.Truncate(kPath, 0, IOOptions(), nullptr));
    seen_.clear();
    OpenTail();
    for (size_t end = 0; end < log.bytes.size(); end += 61) {
      Store(end, Slice(log.bytes.data() + end, std::min<size_t>(61, log.bytes.size() - end)));
      Read();
      EXPECT_EQ(tail_->unreadable(), nullptr);
    }
    EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3, 4, 5}));
    EXPECT_EQ(tail_->end_offset(), log.bytes.size());
  }
}

// A mapped log: records are stored in any order, each byte at any time.
TEST_F(LogTailTest, WaitsForARecordThatIsStoredInPartsBeforeOthers) {
  const LogImage log = SampleLog(FileNumber{5});
  Store(0, std::string(log.bytes.size() + 100000, '\0'));
  OpenTail();
  Read();
  EXPECT_TRUE(seen_.empty());
  const size_t hole = 40000;  // in the third record
  Store(0, Slice(log.bytes.data(), hole));
  Store(hole + 1000, Slice(log.bytes.data() + hole + 1000, log.bytes.size() - hole - 1000));
  Read();
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2}));
  EXPECT_NE(tail_->unreadable(), nullptr);
  Store(hole, Slice(log.bytes.data() + hole, 1000));
  Read();
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3, 4, 5}));
}

TEST_F(LogTailTest, EndsBeforeRecordsOfAnotherLog) {
  LogImage old(FileNumber{3}, true), log(FileNumber{5}, true);
  for (SequenceNumber seqno = 20; seqno < 30; seqno++) old.Add(Batch(seqno, 500));
  Store(0, old.bytes);
  OpenTail();
  Read();
  EXPECT_TRUE(seen_.empty());
  for (SequenceNumber seqno = 1; seqno <= 3; seqno++) {
    const size_t begin = log.bytes.size();
    log.Add(Batch(seqno, 500));
    Store(begin, Slice(log.bytes.data() + begin, log.bytes.size() - begin));
    Read();
  }
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3}));
  EXPECT_NE(tail_->unreadable(), nullptr);
}

TEST_F(LogTailTest, RemembersThatTheLogIsCompressed) {
  auto compressor = WalCompressor::Create();
  if (!compressor.ok()) return SkipAsImpossible("logs that are compressed with ZSTD");
  LogImage log;
  std::string kind;
  PutFixed32(&kind, kWalCompressionZstd);
  log.AddSpecial(LogRecordType::kSetCompression, kind);
  Store(0, log.bytes);
  OpenTail();
  Read();
  for (SequenceNumber seqno = 1; seqno <= 20; seqno++) {
    std::string frame;
    ASSERT_OK((*compressor)->Compress(Batch(seqno, 3000), &frame));
    const size_t begin = log.bytes.size();
    log.Add(frame);
    Store(begin, Slice(log.bytes.data() + begin, log.bytes.size() - begin));
    Read();
    ASSERT_EQ(seen_.size(), seqno);
  }
}

TEST_F(LogTailTest, APeekedRecordIsReturnedByTheNextCallToo) {
  const LogImage log = SampleLog();
  Store(0, log.bytes);
  OpenTail();
  Slice batch;
  ASSERT_TRUE(tail_->Peek(&batch));
  ASSERT_TRUE(tail_->Peek(&batch));
  EXPECT_EQ(tail_->end_offset(), 0u);
  Read();
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(tail_->Peek(&batch));
}

TEST_F(LogTailTest, ReadsADeletedLogToItsEnd) {
  const LogImage log = SampleLog();
  Store(0, Slice(log.bytes.data(), 20000));
  OpenTail();
  Read();
  ASSERT_OK(fs_.DeleteFile(kPath, IOOptions(), nullptr));
  Store(20000, Slice(log.bytes.data() + 20000, log.bytes.size() - 20000));
  Read();
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(LogTail::Open(&fs_, kPath, FileNumber{5}).status().IsPathNotFound());
}

TEST_F(LogTailTest, KnowsWhatTheLogSaysOfTheLogBefore) {
  LogImage log;
  log.Add(EncodeLogBeginning(7, {.number = FileNumber{4}, .end_bytes = 1234}));
  Store(0, log.bytes);
  OpenTail();
  Slice batch;
  ASSERT_TRUE(tail_->Peek(&batch));
  ASSERT_TRUE(tail_->predecessor().has_value());
  EXPECT_EQ(tail_->predecessor()->number, FileNumber{4});
  EXPECT_EQ(tail_->predecessor()->end_bytes, 1234u);
}

// The writer puts the prefix with the key into the file after it has created it.
TEST_F(EncryptedLogTailTest, ReadsALogThatWasOpenedBeforeItHadItsPrefix) {
  files_->behind = [this] { OpenTooEarly(); };
  WriteLog(SampleLog(FileNumber{5}));
  ASSERT_NE(tail_, nullptr);
  Read();
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3, 4, 5}));
}

// A log that takes over the file of an older one: at first that still has its contents and prefix.
TEST_F(EncryptedLogTailTest, ReadsALogThatWasOpenedWithThePrefixOfAnOlderOne) {
  WriteLog(SampleLog(FileNumber{3}));
  files_->before = [this] { OpenTooEarly(); };
  WriteLog(SampleLog(FileNumber{5}));
  ASSERT_NE(tail_, nullptr);
  Read();
  EXPECT_EQ(seen_, (std::vector<SequenceNumber>{1, 2, 3, 4, 5}));
}

TEST_F(EncryptedLogTailTest, ALogThatCannotBeOpenedAgainIsNoError) {
  WriteLog(SampleLog(FileNumber{3}));
  OpenTooEarly();
  ASSERT_OK(encrypted_->DeleteFile(kPath, IOOptions(), nullptr));
  Read();
  EXPECT_TRUE(seen_.empty());
  EXPECT_NE(tail_->unreadable(), nullptr);
}

}  // namespace ashlar
