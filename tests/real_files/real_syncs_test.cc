// SPDX-License-Identifier: Apache-2.0
//
// The files and the logs that users have, not the simulated ones: what was acknowledged as durable
// must be in what the system calls made durable. A sync that does nothing, in the mapped or the
// buffered log, in the POSIX layer or in the engine, fails here.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "env/posix/sigbus_guard.h"
#include "tests/real_files/durable_files.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/opened_db.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Passes everything on, but for mappings.
class PlainFiles : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "PlainFiles"; }
};

class RealSyncs : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    dir_ = FreshMappableDir("real_syncs");
    if (dir_.empty()) return SkipAsMissing(kMappableFileSystem);
    if (!is_mapped())
      plain_env_ = NewCompositeEnv(std::make_shared<PlainFiles>(FileSystem::Default()));
    options_.create_if_missing = true;
    options_.env = is_mapped() ? Env::Default() : plain_env_.get();
    options_.write_buffer_size = 64 << 10;
    DurableFiles::Watch(dir_);
    ASSERT_OK(db_.Open(options_, dir_));
  }
  void TearDown() override { EXPECT_OK(db_.Close()); }

  static bool is_mapped() { return GetParam(); }
  DB* db() { return db_.db(); }

  void Put(const std::string& key, const std::string& value, bool sync) {
    WriteOptions write;
    write.sync = sync;
    ASSERT_OK(db()->Put(write, key, value));
    rows_[key] = value;
  }

  // The crash that loses most: everything so far has been acknowledged as durable.
  void ExpectAllDurable(const std::string& after) {
    const auto memory = std::make_shared<MemoryFileSystem>();
    for (const auto& [name, content] : DurableFiles::Image())
      memory->PutFile("/db/" + name, content);
    const std::unique_ptr<Env> env = NewCompositeEnv(memory);
    Options options = options_;
    options.env = env.get();
    options.create_if_missing = false;
    OpenedDb again;
    ASSERT_OK(again.Open(options, "/db")) << "after " << after;
    Contents contents;
    ASSERT_OK(again.ReadAll(&contents)) << "after " << after;
    ASSERT_EQ(contents["default"], rows_) << "after " << after;
  }

  // The newest one's. A mapped log is allocated ahead until it is closed.
  uint64_t LogFileBytes() const {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
    }
    return std::filesystem::file_size(newest);
  }

  std::string dir_;
  std::unique_ptr<Env> plain_env_;
  Options options_;
  OpenedDb db_;
  Rows rows_;
};

TEST_P(RealSyncs, TheLogIsOfTheKindThatIsMeant) {
  Put("k", "v", /*sync=*/false);
  EXPECT_EQ(LogFileBytes() > 4096, is_mapped());
}

TEST_P(RealSyncs, WhatIsAcknowledgedAsDurableIs) {
  Random64 random(7);
  for (int i = 0; i < 150; ++i) {
    const std::string key = "k" + std::to_string(random.Uniform(40));
    ASSERT_NO_FATAL_FAILURE(Put(key, std::to_string(i) + std::string(random.Uniform(2000), 'v'),
                                /*sync=*/false));
    switch (random.Uniform(8)) {
      case 0:
      case 1:
        ASSERT_NO_FATAL_FAILURE(Put("synced", std::to_string(i), /*sync=*/true));
        ASSERT_NO_FATAL_FAILURE(ExpectAllDurable("a synced write"));
        break;
      case 2:
        ASSERT_OK(db()->SyncWAL());
        ASSERT_NO_FATAL_FAILURE(ExpectAllDurable("SyncWAL"));
        break;
      case 3:
        ASSERT_OK(db()->FlushWAL(/*sync=*/true));
        ASSERT_NO_FATAL_FAILURE(ExpectAllDurable("FlushWAL"));
        break;
      case 4:
        if (!random.OneIn(4)) break;
        ASSERT_OK(db()->Flush(FlushOptions()));
        ASSERT_NO_FATAL_FAILURE(ExpectAllDurable("Flush"));
        break;
      case 5:
        if (!random.OneIn(8)) break;
        ASSERT_OK(db()->Flush(FlushOptions()));
        ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
        ASSERT_NO_FATAL_FAILURE(ExpectAllDurable("CompactRange"));
        break;
      default: break;
    }
  }
}

// Not fewer, and no more: a writer who is alone shares with nobody.
TEST_P(RealSyncs, EverySyncedWriteOfALoneWriterIsOneSystemCall) {
  const uint64_t before = DurableFiles::Fdatasyncs(".log") + DurableFiles::Fsyncs(".log");
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), "v", /*sync=*/false);
  EXPECT_EQ(DurableFiles::Fdatasyncs(".log") + DurableFiles::Fsyncs(".log"), before);
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), "v", /*sync=*/true);
  EXPECT_EQ(DurableFiles::Fdatasyncs(".log") + DurableFiles::Fsyncs(".log"), before + 20);
}

// As logrotate does with copytruncate, or somebody with "> 000002.log".
TEST_P(RealSyncs, ALogThatSomebodyCutsIsAnErrorThatResumeMends) {
  if (is_mapped() && !SigbusGuard::IsInstalled()) {
    return SkipAsImpossible("SIGBUS, which somebody else handles");
  }
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), "v", /*sync=*/false);
  for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
    if (entry.path().extension() == ".log") std::filesystem::resize_file(entry.path(), 0);
  }
  WriteOptions sync;
  sync.sync = true;
  const Status status = db()->Put(sync, "after", "v");
  if (is_mapped()) {
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_OK(db()->Resume());
  }
  ASSERT_OK(db()->Put(WriteOptions(), "after", "v"));
  rows_["after"] = "v";
  ASSERT_OK(db()->Flush(FlushOptions()));
  ExpectAllDurable("Flush");
}

INSTANTIATE_TEST_SUITE_P(Logs, RealSyncs, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "mapped" : "buffered");
});

// ---- The calls one by one

class SyncCalls : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = FreshMappableDir("sync_calls");
    if (dir_.empty()) return SkipAsMissing(kMappableFileSystem);
    path_ = dir_ + "/file";
    DurableFiles::Watch(dir_);
    // The name, so that the image shows the content.
    ASSERT_OK(fs_->NewWritableFile(path_, FileOptions(), &file_, nullptr));
    std::unique_ptr<FSDirectory> directory;
    ASSERT_OK(fs_->NewDirectory(dir_, IOOptions(), &directory, nullptr));
    ASSERT_OK(directory->Fsync(IOOptions(), nullptr));
    ASSERT_EQ(DurableFiles::Image(), (std::map<std::string, std::string>{{"file", ""}}));
  }
  static std::string Durable() { return DurableFiles::Image()["file"]; }

  FileSystem* const fs_ = FileSystem::Default().get();
  std::string dir_, path_;
  std::unique_ptr<FSWritableFile> file_;
};

TEST_F(SyncCalls, OfAWritableFile) {
  ASSERT_OK(file_->Append("one", IOOptions(), nullptr));
  ASSERT_OK(file_->Flush(IOOptions(), nullptr));
  EXPECT_EQ(Durable(), "");
  ASSERT_OK(file_->Sync(IOOptions(), nullptr));
  EXPECT_EQ(Durable(), "one");
  EXPECT_EQ(DurableFiles::Fdatasyncs("/file"), 1u);
  ASSERT_OK(file_->Append("two", IOOptions(), nullptr));
  ASSERT_OK(file_->Fsync(IOOptions(), nullptr));
  EXPECT_EQ(Durable(), "onetwo");
  EXPECT_EQ(DurableFiles::Fsyncs("/file"), 1u);
  ASSERT_OK(file_->Append("three", IOOptions(), nullptr));
  ASSERT_OK(file_->RangeSync(0, 11, IOOptions(), nullptr));
  ASSERT_OK(file_->Close(IOOptions(), nullptr));
  EXPECT_EQ(Durable(), "onetwo") << "neither writes out nor closing is a sync";
}

TEST_F(SyncCalls, OfAFileForReadingAndWriting) {
  std::unique_ptr<FSRandomRWFile> file;
  ASSERT_OK(fs_->NewRandomRWFile(path_, FileOptions(), &file, nullptr));
  ASSERT_OK(file->Write(0, "one", IOOptions(), nullptr));
  ASSERT_OK(file->Sync(IOOptions(), nullptr));
  EXPECT_EQ(Durable(), "one");
  ASSERT_OK(file->Write(0, "two", IOOptions(), nullptr));
  ASSERT_OK(file->Fsync(IOOptions(), nullptr));
  EXPECT_EQ(Durable(), "two");
  EXPECT_EQ(DurableFiles::Fsyncs("/file"), 1u);
}

TEST_F(SyncCalls, OfAFileByItsName) {
  ASSERT_OK(file_->Append("one", IOOptions(), nullptr));
  ASSERT_OK(file_->Flush(IOOptions(), nullptr));
  ASSERT_OK(fs_->SyncFile(path_, FileOptions(), IOOptions(), /*use_fsync=*/false, nullptr));
  EXPECT_EQ(Durable(), "one");
}

TEST_F(SyncCalls, OfADirectory) {
  ASSERT_OK(fs_->RenameFile(path_, dir_ + "/other", IOOptions(), nullptr));
  EXPECT_EQ(DurableFiles::Image().begin()->first, "file");
  std::unique_ptr<FSDirectory> directory;
  ASSERT_OK(fs_->NewDirectory(dir_, IOOptions(), &directory, nullptr));
  ASSERT_OK(directory->FsyncWithDirOptions(IOOptions(), nullptr, DirFsyncOptions("other")));
  EXPECT_EQ(DurableFiles::Image().begin()->first, "other");
}

TEST_F(SyncCalls, OfAMappedLog) {
  auto log = MappedLogFactory::Of(fs_)->NewMappedLog(path_, 1);
  ASSERT_OK(log);
  memcpy((*log)->At(0), "one", 3);
  EXPECT_EQ(Durable(), "");
  ASSERT_OK((*log)->Sync());
  EXPECT_EQ(Durable().substr(0, 4), std::string("one\0", 4));
  memcpy((*log)->At(3), "two", 3);
  ASSERT_OK((*log)->Close(6));
  EXPECT_EQ(Durable().substr(0, 4), std::string("one\0", 4)) << "closing is no sync";
}

}  // namespace
}  // namespace ashlar
