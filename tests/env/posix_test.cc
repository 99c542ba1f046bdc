// SPDX-License-Identifier: Apache-2.0
//
// What needs the real file system: locks between processes, errors with their names, preallocation,
// and mapped logs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <system_error>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "env/posix/posix_error.h"
#include "tests/support/forked_child.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const IOOptions kIo;

// Locks `path` in a child process until its standard input closes.
class LockHolder {
 public:
  explicit LockHolder(const std::string& path) {
    EXPECT_EQ(pipe(to_child_), 0);
    EXPECT_EQ(pipe(from_child_), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(to_child_[1]);
      FileLock* lock = nullptr;
      const bool ok = FileSystem::Default()->LockFile(path, kIo, &lock, nullptr).ok();
      char byte = ok ? 'y' : 'n';
      if (write(from_child_[1], &byte, 1) != 1) _exit(2);
      while (read(to_child_[0], &byte, 1) > 0) {
      }
      _exit(0);
    }
    close(to_child_[0]);
    char byte = 0;
    EXPECT_EQ(read(from_child_[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
  }
  ~LockHolder() { End(); }
  void End() {
    if (pid_ <= 0) return;
    close(to_child_[1]);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

 private:
  int to_child_[2], from_child_[2];
  pid_t pid_;
};

TEST(PosixLock, AnotherProcessIsNamedAsHolder) {
  const std::string path = FreshTempDir("lock") + "/LOCK";
  LockHolder holder(path);
  FileLock* lock = nullptr;
  const IOStatus status = FileSystem::Default()->LockFile(path, kIo, &lock, nullptr);
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(lock, nullptr);
  EXPECT_NE(status.ToString().find(StrCat("held by process ", holder.pid())), std::string::npos)
      << status.ToString();
  holder.End();
  ASSERT_OK(FileSystem::Default()->LockFile(path, kIo, &lock, nullptr));
  ASSERT_OK(FileSystem::Default()->UnlockFile(lock, kIo, nullptr));
}

TEST(PosixLock, ASecondNameOfTheFileIsRefusedAndTheLockIsKept) {
  const std::string dir = FreshTempDir("lock");
  FileSystem* fs = FileSystem::Default().get();
  FileLock* lock = nullptr;
  ASSERT_OK(fs->LockFile(dir + "/LOCK", kIo, &lock, nullptr));
  ASSERT_OK(fs->LinkFile(dir + "/LOCK", dir + "/OTHER", kIo, nullptr));
  FileLock* second = nullptr;
  EXPECT_FALSE(fs->LockFile(dir + "/OTHER", kIo, &second, nullptr).ok());
  // The refused attempt must not have released the lock, which closing a descriptor would do.
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open((dir + "/LOCK").c_str(), O_RDWR);
    struct flock range = {};
    range.l_type = F_WRLCK;
    _exit(fcntl(fd, F_SETLK, &range) == 0 ? 1 : 0);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);  // no signal either
  ASSERT_OK(fs->UnlockFile(lock, kIo, nullptr));
}

TEST(PosixLock, AReplacedLockFileDoesNotOpenASecondWay) {
  const std::string path = FreshTempDir("lock") + "/LOCK";
  FileSystem* fs = FileSystem::Default().get();
  FileLock* lock = nullptr;
  ASSERT_OK(fs->LockFile(path, kIo, &lock, nullptr));
  ASSERT_OK(fs->DeleteFile(path, kIo, nullptr));
  FileLock* second = nullptr;
  EXPECT_FALSE(fs->LockFile(path, kIo, &second, nullptr).ok());
  ASSERT_OK(fs->UnlockFile(lock, kIo, nullptr));
}

TEST(PosixError, KindsOfErrnoAreTold) {
  EXPECT_TRUE(PosixError("write", "/f", ENOSPC).IsNoSpace());
  EXPECT_TRUE(PosixError("write", "/f", EDQUOT).IsNoSpace());
  EXPECT_TRUE(PosixError("open", "/f", ENOENT).IsPathNotFound());
  EXPECT_TRUE(PosixError("open", "/f", EMFILE).GetRetryable());
  const IOStatus status = PosixError("pread", "/dir/f", EIO);
  EXPECT_TRUE(status.IsIOError());
  EXPECT_FALSE(status.GetRetryable());
  EXPECT_EQ(status.ToString(), "IO error: pread: /dir/f: Input/output error");
}

TEST(PosixFile, AFullDeviceIsNoSpace) {
  if (access("/dev/full", W_OK) != 0) return SkipAsImpossible("/dev/full");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(FileSystem::Default()->ReopenWritableFile("/dev/full", FileOptions(), &file, nullptr));
  EXPECT_TRUE(file->Append("x", kIo, nullptr).IsNoSpace());
}

TEST(PosixFile, PreallocationKeepsTheSizeAndIsGivenBack) {
  const std::string path = FreshTempDir("prealloc") + "/f";
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(FileSystem::Default()->NewWritableFile(path, FileOptions(), &file, nullptr));
  file->SetPreallocationBlockSize(1 << 20);
  file->PrepareWrite(0, 10, kIo, nullptr);
  ASSERT_OK(file->Append("0123456789", kIo, nullptr));
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 10);
  size_t block_size = 0, blocks = 0;
  file->GetPreallocationStatus(&block_size, &blocks);
  EXPECT_EQ(blocks, 1u);
  const bool was_allocated = info.st_blocks * 512 >= 1 << 20;
  ASSERT_OK(file->RangeSync(0, 10, kIo, nullptr));
  ASSERT_OK(file->Close(kIo, nullptr));
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  if (was_allocated) {
    EXPECT_LT(info.st_blocks * 512, 1 << 20);
  }
}

TEST(PosixFile, DirectIoIsRefusedByNameWhereThereIsNone) {
  FileOptions options;
  options.use_direct_reads = true;
  std::unique_ptr<FSRandomAccessFile> file;
  const IOStatus status =
      FileSystem::Default()->NewRandomAccessFile("/proc/self/status", options, &file, nullptr);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("use_direct_reads"), std::string::npos);
  EXPECT_TRUE(FileSystem::Default()
                  ->NewRandomAccessFile("/no/such/file", options, &file, nullptr)
                  .IsPathNotFound());
}

TEST(PosixFile, WholeFilesCanBeMapped) {
  const std::string path = FreshTempDir("map") + "/f";
  FileSystem* fs = FileSystem::Default().get();
  ASSERT_OK(WriteStringToFile(fs, "hello", path));
  std::unique_ptr<MemoryMappedFileBuffer> buffer;
  ASSERT_OK(fs->NewMemoryMappedFileBuffer(path, &buffer));
  ASSERT_EQ(buffer->GetLen(), 5u);
  static_cast<char*>(buffer->GetBase())[0] = 'J';
  buffer.reset();
  auto contents = ReadWholeFile(fs, path);
  ASSERT_OK(contents);
  EXPECT_EQ(*contents, "Jello");
}

TEST(PosixEnv, IdsAreUuidsAndDiffer) {
  const std::string first = Env::Default()->GenerateUniqueId();
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(first[14], '4');
  EXPECT_NE(first, Env::Default()->GenerateUniqueId());
}

// All children inherit the random state of the parent.
TEST(PosixEnv, ChildrenGetOtherIds) {
  std::set<std::string> ids = {Env::Default()->GenerateUniqueId()};
  for (int i = 0; i < 2; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_TRUE(PassesInChild([&ends] {
      const std::string id = Env::Default()->GenerateUniqueId();
      return write(ends[1], id.data(), id.size()) == static_cast<ssize_t>(id.size());
    }));
    close(ends[1]);
    char id[36] = {};
    EXPECT_EQ(read(ends[0], id, sizeof(id)), static_cast<ssize_t>(sizeof(id)));
    ids.emplace(id, sizeof(id));
    close(ends[0]);
  }
  ids.insert(Env::Default()->GenerateUniqueId());
  EXPECT_EQ(ids.size(), 4u);
}

TEST(PosixEnv, StartedThreadsAreJoined) {
  static std::atomic<int> sum{0};
  int three = 3;
  Env* env = Env::Default();
  env->StartThread([](void* arg) { sum += *static_cast<int*>(arg); }, &three);
  env->StartThreadTyped([](int value) { sum += value; }, 4);
  env->WaitForJoin();
  EXPECT_EQ(sum.load(), 7);
}

class MappedLogTest : public testing::Test {
 protected:
  void Create(uint64_t initial_bytes, uint64_t capacity) {
    path_ = FreshMappableDir("mapped");
    if (path_.empty()) return SkipAsMissing(kMappableFileSystem);
    path_ += "/log";
    MappedLogFactory* const factory = MappedLogFactory::Of(FileSystem::Default().get());
    auto file = factory->NewMappedLog(path_, initial_bytes, capacity);
    ASSERT_OK(file);
    file_ = file.Take();
  }
  std::string Contents() {
    auto contents = ReadWholeFile(FileSystem::Default().get(), path_);
    return contents.ok() ? contents.Take() : contents.status().ToString();
  }
  std::string path_;
  std::unique_ptr<MappedLogFile> file_;
};

TEST_F(MappedLogTest, BytesStoredAreInTheFileAtOnceAndZerosBehind) {
  Create(100, 8 << 20);
  if (file_ == nullptr) return;
  memcpy(file_->At(0), "record", 6);
  std::string contents = Contents();
  ASSERT_EQ(contents.size(), file_->allocated());
  EXPECT_EQ(contents.substr(0, 6), "record");
  EXPECT_EQ(contents.find_first_not_of('\0', 6), std::string::npos);
  ASSERT_OK(file_->Sync());
  ASSERT_OK(file_->Close(6));
  EXPECT_EQ(Contents(), "record");
}

TEST_F(MappedLogTest, GrowthKeepsAddressesAndRecordsMayStraddleSegments) {
  Create(1, 8 << 20);
  if (file_ == nullptr) return;
  const uint64_t border = file_->allocated();
  char* before = file_->At(border - 3);
  ASSERT_OK(file_->EnsureAllocated(border + 3));
  EXPECT_EQ(file_->At(border - 3), before);
  memcpy(before, "abcdef", 6);
  ASSERT_OK(file_->PopulateAhead(border * 3));
  EXPECT_GE(file_->allocated(), border * 3);
  EXPECT_EQ(std::string(file_->At(border - 3), 6), "abcdef");
  ASSERT_OK(file_->Close(border + 3));
  EXPECT_EQ(Contents().substr(border - 3), "abcdef");
}

TEST_F(MappedLogTest, BeyondTheCapacityIsRefusedAndTheRestStaysUsable) {
  Create(1, 1 << 20);
  if (file_ == nullptr) return;
  const Status status = file_->EnsureAllocated(file_->capacity() + 1);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find(path_), std::string::npos);
  *file_->At(file_->allocated() - 1) = 'x';
  ASSERT_OK(file_->Close(file_->allocated()));
}

// The number of address bytes that this process uses.
uint64_t AddressBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// A process has addresses for some hundred logs that may become large, but may have more logs than
// that.
TEST_F(MappedLogTest, AfterItsGrowthItTakesNoMoreAddressesThanBytes) {
  constexpr uint64_t kCapacity = uint64_t{8} << 30;
  Create(1, kCapacity);
  if (file_ == nullptr) return;
  *file_->At(0) = 'x';
  const uint64_t before = AddressBytes();
  file_->EndGrowth();
  EXPECT_LE(AddressBytes(), before - kCapacity / 2);
  EXPECT_TRUE(file_->EnsureAllocated(file_->allocated() + 1).IsInvalidArgument());
  EXPECT_EQ(*file_->At(0), 'x');
  ASSERT_OK(file_->Close(1));
  EXPECT_EQ(Contents(), "x");
}

TEST_F(MappedLogTest, WithoutAddressesLeftItIsNotSupported) {
  std::string path = FreshMappableDir("mapped");
  if (path.empty()) return SkipAsMissing(kMappableFileSystem);
  path += "/log";
  const auto file =
      MappedLogFactory::Of(FileSystem::Default().get())->NewMappedLog(path, 1, uint64_t{1} << 60);
  EXPECT_TRUE(file.status().IsNotSupported()) << file.status().ToString();
}

TEST_F(MappedLogTest, WithoutCloseTheZeroTailStays) {
  Create(1, 1 << 20);
  if (file_ == nullptr) return;
  *file_->At(0) = 'x';
  const uint64_t allocated = file_->allocated();
  file_.reset();
  EXPECT_EQ(Contents().size(), allocated);
  EXPECT_EQ(Contents()[0], 'x');
}

// Then a sync only writes data, and nothing that would need the journal of the file system.
TEST_F(MappedLogTest, AReusedFileKeepsItsBytesAndItsSpace) {
  Create(100, 8 << 20);
  if (file_ == nullptr) return;
  ASSERT_OK(file_->EnsureAllocated(2 << 20));
  memset(file_->At(0), 'o', 2 << 20);
  ASSERT_OK(file_->Sync());
  ASSERT_OK(file_->Close(MappedLogFile::kKeepsSize));
  struct stat before = {}, after = {};
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  MappedLogFactory* const factory = MappedLogFactory::Of(FileSystem::Default().get());
  const std::string new_path = path_ + "2";
  auto reused = factory->ReuseMappedLog(new_path, path_, 100, 8 << 20);
  ASSERT_OK(reused);
  file_ = reused.Take();
  EXPECT_NE(stat(path_.c_str(), &after), 0);
  path_ = new_path;
  EXPECT_EQ(file_->allocated(), 2u << 20);  // without a call of EnsureAllocated()
  for (int i = 0; i < 20; ++i) {
    memset(file_->At(static_cast<uint64_t>(i) * 1000), 'n', 1000);
    ASSERT_OK(file_->Sync());
  }
  ASSERT_EQ(stat(path_.c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_size, before.st_size);
  // The file system needs a few blocks for its own data about the file, and their number changes.
  EXPECT_NEAR(static_cast<double>(after.st_blocks), static_cast<double>(before.st_blocks), 64);
  const std::string contents = Contents();
  EXPECT_EQ(contents.substr(0, 20'000), std::string(20'000, 'n'));
  EXPECT_EQ(contents.find_first_not_of('o', 20'000), std::string::npos);
  ASSERT_OK(file_->EnsureAllocated(3 << 20));  // and it grows on as ever
  ASSERT_OK(file_->Close(20'000));
  EXPECT_EQ(Contents().size(), 20'000u);
}

TEST_F(MappedLogTest, WhatCannotBeReusedStaysWhereItIs) {
  Create(100, 8 << 20);
  if (file_ == nullptr) return;
  ASSERT_OK(file_->Close(MappedLogFile::kKeepsSize));
  MappedLogFactory* const factory = MappedLogFactory::Of(FileSystem::Default().get());
  EXPECT_FALSE(factory->ReuseMappedLog("/nowhere/log", path_, 100).ok());
  EXPECT_FALSE(factory->ReuseMappedLog(path_ + "3", path_ + "2", 100).ok());
  EXPECT_FALSE(Contents().empty());
}

TEST(MappedLog, OnlyForTheMachinesOwnFileSystem) {
  EXPECT_NE(MappedLogFactory::Of(FileSystem::Default().get()), nullptr);
  MemoryFileSystem memory;
  EXPECT_EQ(MappedLogFactory::Of(&memory), nullptr);
  // The wrapper counts or changes calls, and would not see stores into a mapping.
  FaultFileSystem wrapper(FileSystem::Default());
  EXPECT_EQ(MappedLogFactory::Of(&wrapper), nullptr);
}

size_t RunningThreads() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

// A compaction in parts starts threads again and again during the life of a database.
TEST(PosixEnv, ThreadsThatEndedGiveTheirStacksBack) {
  std::atomic<int> runs{0};
  const auto run_threads = [&runs](int count) {
    for (int i = 0; i < count; ++i) {
      const int before = runs.load();
      Env::Default()->StartThread(
          [](void* arg) { static_cast<std::atomic<int>*>(arg)->fetch_add(1); }, &runs);
      while (runs.load() == before) sched_yield();
    }
  };
  const size_t threads_before = RunningThreads();
  if (threads_before == 0) return SkipAsImpossible("/proc");
  run_threads(20);
  const uint64_t before = AddressBytes();
  run_threads(300);
  // A thread that has signalled its end may still be running for a moment.
  while (RunningThreads() > threads_before) sched_yield();
  const uint64_t after = AddressBytes();
  Env::Default()->WaitForJoin();
  EXPECT_EQ(runs.load(), 320);
  // 300 stacks of 8 MiB would be 2.4 GB. The heap may use more addresses for concurrent threads.
  EXPECT_LT(after, before + 200 * (uint64_t{8} << 20));
}

}  // namespace
}  // namespace ashlar
